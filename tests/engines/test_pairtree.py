"""The pair-tree learner against a learner on stored pairs, against LightGBM, and its predictor against plain loops."""

import json
import platform
from itertools import pairwise

import lightgbm as lgb
import numba
import numpy as np
import pytest

from rankwood._kernels.compile.jit import JIT, OPTIONS
from rankwood._kernels.numeric.intrinsics import add_pair
from rankwood._util.checks import InputError
from rankwood.engines.pairtree import (
    BinnedData,
    Grower,
    PairForest,
    PairLayout,
    Params,
    grow,
    splitting,
)
from rankwood.engines.pairtree.bin_kernels import find_edges
from rankwood.engines.pairtree.fixed_point import Scale, Sums
from rankwood.engines.pairtree.histogram_layout import sample_columns
from tests.oracles import naive_pairtree as naive

DIFFERENCES = [0, 1, 3, 2]


def layout_of(sizes):
    return PairLayout(np.concatenate([[0], np.cumsum(sizes)]))


def small(seed):
    """Queries of 1 to 5 documents: real, integer, per-query, half-missing, and useless features."""
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.integers(1, 6, 8), [1, 2])
    N = sizes.sum()
    X = rng.normal(size=(N, 6)).astype(np.float32)
    X[:, 1] = rng.integers(0, 3, N)
    X[:, 2] = np.repeat(rng.integers(0, 4, sizes.size), sizes)
    X[rng.random(N) < 0.3, 3] = np.nan
    X[:, 4] = 1.0 if seed % 2 else np.nan
    X[:, 5] = np.repeat(rng.choice([0.5, 0.7, np.nan], sizes.size), sizes)
    score = rng.normal(size=N)
    pairs = np.array(naive.pairs_of(sizes))
    grad = np.tanh(score[pairs[:, 0]] - score[pairs[:, 1]])
    hess = rng.random(len(pairs) // 2).repeat(2)
    return X, sizes, grad, hess


def thresholds(binned, tables=None):
    """What a split may be, for each column of the matrix of pairs: the edges, and all values against missing ones."""
    F, end = binned.n_features, np.float32(np.inf)
    items, queries, pairs = tables or binned.tables
    out = [[] for _ in range(2 * F + binned.differences.size)]
    for table, sides in ((items, (0, 1)), (queries, (0,))):
        for c in table.columns:
            for side in sides:
                out[c.number + side * F] = [*c.edges, end]
    for c in pairs.columns:  # bins of -x mirror those of x
        below = [np.nextafter(-e, -end) for e in c.edges]
        out[2 * F + c.number] = [*below, *c.edges, end]
    return out


def column_ids(tree, F):
    """Columns of the matrix of pairs."""
    of_difference = {c: k for k, c in enumerate(DIFFERENCES)}
    return [
        2 * F + of_difference[c] if side == 2 else F * side + c
        for side, c in zip(tree.side.tolist(), tree.column.tolist(), strict=True)
    ]


SETTINGS = [
    {"min_data": 3, "min_hessian": 0.1, "num_leaves": 8},
    {"min_data": 3, "l1": 0.3, "l2": 1.0, "max_depth": 3, "min_gain": 1.0, "num_leaves": 12},
    {"min_data": 1, "min_hessian": 0.0, "num_leaves": 20},
    {"min_data": 1, "min_hessian": 3.0, "num_leaves": 12},
]
OURS = {
    **{"min_data": "min_data_in_leaf", "min_hessian": "min_sum_hessian"},
    **{"l1": "lambda_l1", "l2": "lambda_l2"},
}


def grown_as_stored(binned, grad, hess, setting, own=None, tables=None, more=None, **how):
    """Grow a tree, see that it is the oracle's on the stored pairs `own` and the features of `tables`, return it."""
    own = np.arange(grad.size) if own is None else np.flatnonzero(own)
    params = Params(**{OURS.get(k, k): v for k, v in setting.items()}, **(more or {}))
    tree, leaf = grow(binned, grad, hess, params, n_jobs=1, **how)
    M = naive.pair_matrix(binned.X, binned.layout.sizes, DIFFERENCES)[own]
    allowed = thresholds(binned, tables)
    splits, leaves, values = naive.grow(M, allowed, grad[own], hess[own], **setting)
    leaves = [own[rows] for rows in leaves]
    assert len(splits) > 1
    _, gains, columns, cuts, missing = zip(*splits, strict=True)
    assert column_ids(tree, binned.n_features) == list(columns)
    assert tree.threshold.tolist() == list(cuts)
    assert tree.missing_left.tolist() == list(missing)
    np.testing.assert_allclose(tree.gain, gains, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tree.value, values, rtol=1e-9, atol=1e-12)
    for k, rows in enumerate(leaves):
        assert np.flatnonzero(leaf == k).tolist() == rows.tolist()
        assert tree.leaf_count[k] == len(rows)
        assert tree.leaf_hessian[k] == pytest.approx(hess[rows].sum(), rel=1e-9)
    assert (leaf >= 0).sum() == own.size
    return tree


@pytest.mark.parametrize("max_bin", [7, 255])
@pytest.mark.parametrize("setting", SETTINGS, ids=["plain", "regular", "deep", "curved"])
@pytest.mark.parametrize("seed", range(4))
def test_tree_is_that_of_stored_pairs(seed, setting, max_bin):
    X, sizes, grad, hess = small(seed)
    binned = BinnedData(X, layout_of(sizes), DIFFERENCES, max_bin)
    assert grown_as_stored(binned, grad, hess, setting).side.size > 2


def test_every_limit_changes_trees():
    # Or the comparison above would show nothing of it.
    _, regular, _, curved = SETTINGS
    changed = dict.fromkeys(("min_hessian", "l1", "l2", "max_depth", "min_gain"), 0)
    for seed in range(4):
        X, sizes, grad, hess = small(seed)
        M = naive.pair_matrix(X, sizes, DIFFERENCES)
        allowed = thresholds(BinnedData(X, layout_of(sizes), DIFFERENCES))
        for name in changed:
            setting = curved if name == "min_hessian" else regular
            without = {**setting, name: -1 if name == "max_depth" else 0.0}
            trees = [naive.grow(M, allowed, grad, hess, **s)[0] for s in (setting, without)]
            changed[name] += trees[0] != trees[1]
    assert min(changed.values()) >= 2, changed


@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_sides_without_curvature(seed, l2):
    X, sizes, grad, hess = small(seed)
    # No pair of half of the queries has a hessian, and the feature of queries tells them apart.
    flat = np.arange(sizes.size) % 2 == 0
    X[:, 2] = np.repeat(flat, sizes) * 2 + np.repeat(X[np.cumsum(sizes) - 1, 2] > 1, sizes)
    hess[np.repeat(flat, sizes * (sizes - 1))] = 0.0
    grad[:] = np.where(hess > 0, grad, 3 * grad + 1)  # worth a leaf of their own
    setting = {"min_data": 1, "min_hessian": 0.0, "num_leaves": 20, "l2": l2}
    tree = grown_as_stored(BinnedData(X, layout_of(sizes), DIFFERENCES), grad, hess, setting)
    assert (tree.leaf_hessian == 0).any() == (l2 > 0)


@pytest.mark.parametrize("seed", range(4))
def test_sampled_tree_is_that_of_its_pairs_and_features(seed):
    X, sizes, grad, hess = small(seed)
    layout = layout_of(sizes)
    binned = BinnedData(X, layout, DIFFERENCES)
    setting = {"min_data": 2, "num_leaves": 8}
    chosen = np.random.default_rng(seed).permutation(sizes.size) < 7
    own = np.repeat(chosen, sizes * (sizes - 1))
    some = grown_as_stored(binned, grad, hess, setting, own, queries=chosen)
    more = {"feature_fraction": 0.5, "seed": seed}
    tables = sample_columns(binned, 0.5, seed, 3)
    assert sum(len(t.columns) for t in tables) < sum(len(t.columns) for t in binned.tables)
    both = grown_as_stored(
        binned, grad, hess, setting, own, tables, more, queries=chosen, iteration=3
    )
    assert as_lists(both) != as_lists(some)


def test_settings_reach_every_kind_of_split():
    sides, missing = set(), set()
    for seed in range(4):
        X, sizes, grad, hess = small(seed)
        binned = BinnedData(X, layout_of(sizes), DIFFERENCES)
        tree, _ = grow(binned, grad, hess, Params(num_leaves=20, min_data_in_leaf=1), n_jobs=1)
        sides |= set(zip(tree.side.tolist(), tree.column.tolist(), strict=True))
        missing |= {(s, m) for s, m in zip(tree.side.tolist(), tree.missing_left, strict=True)}
    assert {(0, 2), (2, 0), (2, 3), (1, 3)} <= sides  # per query; differences; a missing partner
    assert len(missing) == 6
    assert not {(1, 2), (1, 5), (2, 2), (0, 4), (1, 4)} & sides


def lightgbm_tree(M, grad, hess, leaves, min_data):
    params = {
        **{"num_leaves": leaves, "min_data_in_leaf": min_data, "num_threads": 1, "max_bin": 255},
        **{"min_sum_hessian_in_leaf": 1e-3, "objective": "none", "verbosity": -1, "metric": "None"},
        **{"learning_rate": 1.0, "feature_pre_filter": False, "min_data_in_bin": 1},
        **{"force_col_wise": True, "deterministic": True, "enable_bundle": False},
    }
    booster = lgb.Booster(params, lgb.Dataset(M.astype(float), np.zeros(len(M)), params=params))
    booster.update(fobj=lambda *_: (grad.astype(np.float32), hess.astype(np.float32)))
    nodes, todo = [], [booster.dump_model()["tree_info"][0]["tree_structure"]]
    while todo:
        node = todo.pop()
        if "split_index" in node:
            nodes.append((node["split_index"], node["split_feature"], node["split_gain"]))
            todo += [node["left_child"], node["right_child"]]
    leaf = booster.predict(M.astype(float), pred_leaf=True).ravel().astype(int)
    return sorted(nodes), leaf, booster.predict(M.astype(float))


@pytest.mark.parametrize("seed", range(3))
def test_first_tree_is_lightgbms(seed):
    # Few values, so that both have the same bins; hessians are equal, since LightGBM counts by them.
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, 40)
    N, F = sizes.sum(), 5
    X = rng.integers(0, 12, (N, F)).astype(np.float32)
    X[:, 4] = np.repeat(rng.integers(0, 9, sizes.size), sizes)
    X[rng.random(N) < 0.1, 3] = np.nan
    layout = layout_of(sizes)
    target = X[:, 0] - X[:, 1] * X[:, 2] / 6 + rng.normal(size=N)
    # Multiples of 1/64, whose sums are exact: mirror images of a split tie, and ties go alike.
    grad = np.round(np.tanh(target[layout.second] - target[layout.first]) * 64) / 64
    hess = np.ones(grad.size)
    binned = BinnedData(X, layout, [0, 1, 2])
    tree, leaf = grow(binned, grad, hess, Params(num_leaves=15, min_data_in_leaf=10), n_jobs=1)
    M = naive.pair_matrix(X, sizes, [0, 1, 2])
    nodes, theirs, values = lightgbm_tree(M, grad, hess, 15, 10)
    ids = [2 * F + c if s == 2 else F * s + c for s, c in zip(tree.side, tree.column, strict=True)]
    assert ids == [column for _, column, _ in nodes]
    assert len(set(tree.side.tolist())) > 1
    np.testing.assert_allclose(tree.gain, [gain for *_, gain in nodes], rtol=1e-6)
    assert leaf.tolist() == theirs.tolist()
    np.testing.assert_allclose(tree.value[leaf], values, rtol=0, atol=1e-9)


def random_lists(seed, queries=30, longest=12, F=9):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, queries)
    X = rng.normal(size=(sizes.sum(), F)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, F - 1] = np.repeat(rng.normal(size=queries), sizes)
    layout = layout_of(sizes)
    y = np.nan_to_num(X[:, 0] - X[:, 1]) + rng.normal(size=sizes.sum())
    return X, layout, y


def boosted(X, layout, y, rounds=6, n_jobs=1, **params):
    """A forest fitted to differences of y, and its scores of pairs while it grew."""
    params = {"num_leaves": 12, "min_data_in_leaf": 5, **params}
    grower = Grower(BinnedData(X, layout, [0, 1, 2, 3, 4], n_jobs=n_jobs), Params(**params), n_jobs)
    forest, scores = PairForest(X.shape[1]), np.zeros(layout.n_pairs)
    target = y[layout.first] - y[layout.second]
    for t in range(rounds):
        tree, leaf = grower.grow(scores - target, np.ones(target.size), iteration=t)
        scores += forest.add(tree, 0.3).value[leaf]
    return forest, scores


def as_lists(tree):
    return {name: array.tolist() for name, array in tree._asdict().items()}


@pytest.mark.parametrize("leaves", [2, 12, 150])
def test_predictor_is_a_walk_through_the_trees(leaves):
    X, layout, y = random_lists(1, queries=12 if leaves < 100 else 30)
    forest, scores = boosted(X, layout, y, 3, num_leaves=leaves, min_data_in_leaf=2)
    assert max(tree.value.size for tree in forest.trees) == leaves
    rng = np.random.default_rng(0)
    new = rng.choice(X.ravel(), X.shape).astype(np.float32)  # other documents, other missing values
    new.flat[rng.choice(new.size, 25, replace=False)] = [*[np.inf, -np.inf, 3e38, -3e38, 1e-45] * 5]
    for Z, known in ((X, scores), (new, None)):
        found = np.zeros(layout.n_pairs)
        forest.add_pair_scores(found, Z, layout, n_jobs=1)
        trees = [as_lists(tree) for tree in forest.trees]
        with np.errstate(all="ignore"):
            walked = [
                naive.total(naive.predict(t, Z[i], Z[j]) for t in trees)
                for i, j in naive.pairs_of(layout.sizes)
            ]
        assert found.tolist() == walked
        if known is not None:
            assert found.tolist() == known.tolist()
        items = forest.predict(Z, layout.ptr, n_jobs=1)
        assert items.tolist() == layout.item_scores(found, n_jobs=1).tolist()
        for q in range(layout.n_queries):
            own = slice(layout.ptr[q], layout.ptr[q + 1])
            want = naive.item_scores(layout.matrix(found, q).tolist())
            np.testing.assert_allclose(items[own], want, rtol=0, atol=1e-12)
            assert layout.sizes[q] > 1 or items[own].tolist() == [0.0]


def test_order_of_documents_changes_no_bit():
    X, layout, y = random_lists(2)
    forest, _ = boosted(X, layout, y)
    base = forest.predict(X, layout.ptr)
    rng = np.random.default_rng(3)
    for _ in range(5):
        order = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in pairwise(layout.ptr)])
        assert forest.predict(X[order], layout.ptr).tolist() == base[order].tolist()
    assert np.unique(base).size > 50


def test_threads_change_no_bit():
    X, layout, y = random_lists(4)
    one, scores = boosted(X, layout, y, n_jobs=1)
    two, others = boosted(X, layout, y, n_jobs=3)
    assert one.text == two.text
    assert scores.tolist() == others.tolist()
    assert one.predict(X, layout.ptr, 1).tolist() == two.predict(X, layout.ptr, 3).tolist()


def test_text_gives_the_forest_back():
    X, layout, y = random_lists(5)
    forest, _ = boosted(X, layout, y)
    again = PairForest.load(forest.text)
    assert again.text == forest.text
    assert again.predict(X, layout.ptr).tolist() == forest.predict(X, layout.ptr).tolist()
    assert PairForest.load(PairForest(3).text).predict(np.zeros((2, 3)), [0, 2]).tolist() == [
        0.0,
        0.0,
    ]
    content = json.loads(forest.text)
    with pytest.raises(InputError, match="expected 'rankwood-pairtree'"):
        PairForest.load(json.dumps({**content, "format": "other"}))
    with pytest.raises(InputError, match="side has"):
        PairForest.load(json.dumps({**content, "leaves": [3]}))
    with pytest.raises(InputError, match="no pair-tree model"):
        PairForest.load("tree")
    forest.trees[2].left[0] = 0  # a circle
    with pytest.raises(InputError, match="damaged: tree 2"):
        PairForest.load(forest.text)
    with pytest.raises(InputError, match="trained on 9 features"):
        again.predict(X[:, :4], layout.ptr)


def test_features_are_drawn_by_tree():
    X, layout, y = random_lists(6)
    forest, scores = boosted(X, layout, y, rounds=12, feature_fraction=0.3, seed=5)
    same, _ = boosted(X, layout, y, rounds=12, feature_fraction=0.3, seed=5, n_jobs=2)
    other, _ = boosted(X, layout, y, rounds=12, feature_fraction=0.3, seed=6)
    assert forest.text == same.text != other.text
    # 9 columns and 5 differences: 5 of these 14 for each tree, a column's two sides count once.
    used = [
        {(s == 2, c) for s, c in zip(t.side.tolist(), t.column, strict=True)} for t in forest.trees
    ]
    assert max(map(len, used)) <= 5
    assert len(set.union(*used)) > 10
    found = np.zeros(layout.n_pairs)
    forest.add_pair_scores(found, X, layout)
    assert found.tolist() == scores.tolist()


def test_queries_left_out_count_nothing():
    X, layout, y = random_lists(7)
    chosen = np.random.default_rng(8).random(layout.n_queries) < 0.6
    grad, hess = y[layout.second] - y[layout.first], np.ones(layout.n_pairs)
    params = Params(num_leaves=10, min_data_in_leaf=5)
    binned = BinnedData(X, layout, [0, 1])
    tree, leaf = grow(binned, grad, hess, params, n_jobs=1, queries=chosen)
    own = np.repeat(chosen, layout.sizes * (layout.sizes - 1))
    assert ((leaf == -1) == ~own).all()
    assert tree.leaf_count.sum() == own.sum()
    # Gradients of the others don't matter.
    noisy = np.where(own, grad, 1e3)
    again, _ = grow(binned, noisy, hess, params, n_jobs=1, queries=chosen)
    assert as_lists(again)["column"] == as_lists(tree)["column"]
    np.testing.assert_allclose(again.value, tree.value, rtol=1e-9)
    for k in range(tree.value.size):
        rows = leaf == k
        assert tree.value[k] == pytest.approx(-grad[rows].sum() / rows.sum(), rel=1e-9)


def test_infinite_values_are_values():
    X, sizes, grad, hess = small(1)
    X = X.astype(float)
    X[::4, 0], X[1::5, 0], X[::3, 3] = 1e300, -np.inf, np.inf
    binned = BinnedData(X, layout_of(sizes), DIFFERENCES)
    setting = {"min_data": 1, "num_leaves": 15}
    tree, leaf = grow(binned, grad, hess, Params(num_leaves=15, min_data_in_leaf=1), n_jobs=1)
    with np.errstate(all="ignore"):
        M = naive.pair_matrix(X, sizes, DIFFERENCES)
    splits, leaves, _ = naive.grow(M, thresholds(binned), grad, hess, **setting)
    assert {0, 3, 6, 9, 12, 14} & {
        column for _, _, column, *_ in splits
    }  # those of columns 0 and 3
    assert column_ids(tree, 6) == [column for _, _, column, *_ in splits]
    for k, rows in enumerate(leaves):
        assert np.flatnonzero(leaf == k).tolist() == rows.tolist()


def test_nothing_to_split():
    X = np.array([[1.0, np.nan], [1.0, np.nan], [1.0, np.nan]], np.float32)
    for sizes in ([3], [1, 1, 1], [2, 1]):
        layout = layout_of(sizes)
        tree, leaf = grow(
            BinnedData(X, layout, [0, 1]),
            np.ones(layout.n_pairs),
            np.ones(layout.n_pairs),
            n_jobs=1,
        )
        assert tree.side.size == 0
        assert leaf.tolist() == [0] * layout.n_pairs
        assert tree.value.tolist() == [-1.0 if layout.n_pairs else 0.0]
        forest = PairForest(2, [tree])
        assert forest.predict(X, layout.ptr).tolist() == [0.0] * 3


def test_long_list():
    # 2,000 documents have 4 million pairs; a split at the middle of a feature is all there is to find.
    n = 2000
    x = np.random.default_rng(9).permutation(n).astype(np.float32)
    layout = PairLayout([0, n])
    high = x >= n // 2
    grad = high[layout.second].astype(float) - high[layout.first]
    binned = BinnedData(x[:, None], layout)
    # Bins have about 8 values each; each side of the split has all but some of a bin right.
    tree, _ = grow(binned, grad, np.ones(grad.size), Params(num_leaves=2), n_jobs=1)
    assert layout.n_pairs == n * (n - 1)
    assert abs(tree.threshold[0] - n / 2) < 8
    scores = PairForest(1, [tree]).predict(x[:, None], layout.ptr, n_jobs=1)
    below = scores[x <= tree.threshold[0]]
    assert np.unique(below).size == 1
    assert below[0] < scores[x > tree.threshold[0]].min()


def test_limits_have_a_sentence():
    with pytest.raises(InputError, match=r"number 1, has 60,000 documents.*TwoStage\(top=\.\.\.\)"):
        PairLayout([0, 5, 60_005])
    with pytest.raises(InputError, match="must not fall"):
        PairLayout([0, 5, 3])
    layout = PairLayout([0, 3])
    with pytest.raises(InputError, match="the layout has 3 documents"):
        BinnedData(np.zeros((4, 1)), layout)
    with pytest.raises(InputError, match="columns from 0 to 0"):
        BinnedData(np.zeros((3, 1)), layout, [1])
    binned = BinnedData(np.arange(3.0)[:, None], layout)
    with pytest.raises(InputError, match="there are 6 pairs"):
        grow(binned, np.ones(5), np.ones(6))
    with pytest.raises(InputError, match="got nan at pair 2"):
        grow(binned, np.array([1, 1, np.nan, 1, 1, 1]), np.ones(6))
    with pytest.raises(InputError, match="num_leaves must be at least 2"):
        Params(num_leaves=1)


def test_memory_of_bins_is_that_of_items_and_unordered_pairs():
    X, layout, _ = random_lists(10, queries=50)
    binned = BinnedData(X, layout, range(9))
    # Four bins a word: 8 columns vary inside queries, one is kept per query; its differences are none.
    assert [t.words.nbytes for t in binned.tables] == [
        8 * layout.n_items,
        4 * layout.n_queries,
        8 * layout.n_pairs // 2,
    ]


@pytest.mark.parametrize("limit", [1, 2, 5, 40])
def test_bins_have_about_equal_weight(limit):
    rng = np.random.default_rng(11)
    values = np.sort(rng.normal(size=1000).astype(np.float32).round(2))
    edges = find_edges(values, limit)
    assert edges.size <= limit - 1
    counts = np.bincount(np.searchsorted(edges, values), minlength=limit)
    heaviest = np.unique(values, return_counts=True)[1].max()
    assert counts.max() <= 1000 / limit + heaviest
    assert counts[: edges.size + 1].min() > 0


def gains(left, n, total):
    scale = Scale(1.0, 1.0, 20, 2**19, 2**20 - 1)
    limits = splitting.Limits(1, 0.0, 0.0, 0.0)
    left_sums = splitting.LeftSums(left, left)
    return splitting.largest_gain(left_sums, n, Sums(total, total), scale, limits)


def sums(to, source, k):
    add_pair(to, k, source, k)


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not JIT,
    reason="looks for x86 vector instructions in machine code",
)
@pytest.mark.parametrize(("run", "packed"), [(gains, "divpd"), (sums, "paddq")])
def test_gains_and_sums_run_in_vectors(run, packed):
    numbers = np.arange(300) << 20 | 1
    # Compiled here: code that was found on disk can't be inspected.
    compiled = numba.njit(**OPTIONS)(run)
    compiled(numbers, 255, 299) if run is gains else compiled(numbers, numbers, np.uint64(4))
    (code,) = compiled.inspect_asm().values()
    wide = [line for line in code.splitlines() if packed in line]
    assert any("mm" in line for line in wide)


@pytest.mark.parametrize("l2", [1e-9, 0.4, 0.5, 1.4, 3.0])
def test_l2_may_be_any_part_of_a_unit(l2):
    layout = layout_of([4])
    grad = np.where(layout.first < layout.second, 1.0, -1.0)
    params = Params(min_data_in_leaf=1, min_sum_hessian=0.0, lambda_l2=l2, num_leaves=2)
    binned = BinnedData(np.arange(4.0)[:, None], layout, [0])
    tree, _ = grow(binned, grad, np.zeros(12), params, n_jobs=1)
    assert (tree.side.tolist(), tree.gain.tolist()) == ([2], [pytest.approx(72 / l2, rel=1e-12)])


@pytest.mark.parametrize("size", [1e-300, 1e200])
def test_gradients_beyond_any_unit_are_refused(size):
    layout = layout_of([3])
    with pytest.raises(InputError, match="grad must have a sum of absolute values between"):
        grow(BinnedData(np.arange(3.0)[:, None], layout), np.full(6, size), np.ones(6), n_jobs=1)
