"""Trees against an oracle in plain loops: the same splits, gains and values, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.engines.trees.binning import documents
from rankwood.engines.trees.binning.bins import BinRules
from rankwood.engines.trees.grower import Constraints, TreeGrower
from rankwood.engines.trees.parameters import TreeParams
from tests.oracles import naive_trees as naive


def matrix(seed, n=60):
    """Real, integer, zero-heavy, half-missing, constant and per-query features; two of few values share a column."""
    rng = np.random.default_rng(seed)
    sizes = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(1, 9)))
    n, query = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(n, 8)).astype(np.float32)
    X[:, 1] = rng.integers(-2, 3, n)
    X[:, 2] *= rng.random(n) < 0.2
    X[rng.random(n) < 0.3, 3] = np.nan
    X[:, 4] = 1.0 if seed % 2 else np.nan
    X[:, 5] = rng.integers(0, 2, n)
    X[:, 6] = rng.normal(size=len(sizes))[query]
    X[:, 7] = rng.integers(0, 4, n)
    return X, query


def gradients(seed, n, kind="dense"):
    rng = np.random.default_rng(seed + 1000)
    grad = rng.normal(size=n).astype(np.float32)
    hess = rng.random(n).astype(np.float32)
    if kind == "sparse":  # most documents have neither
        off = rng.random(n) < 0.6
        grad[off] = hess[off] = 0.0
    if kind == "heavy":  # one gradient is thousands of times the others
        grad[0], hess[0] = 40000.0, 30000.0
    return grad, hess


def binned(X, query, n_jobs=1):
    data = rw.RankingData(X, np.zeros(len(X)), qid=query)
    return documents.bin_documents(data, BinRules(min_data_in_bin=1), (), n_jobs)


def grown(bins, grad, hess, n_jobs=1, constraints=None, number=0, **params):
    grower = TreeGrower(bins, TreeParams(**params), 0, n_jobs, constraints or Constraints())
    scores = np.zeros(grad.size)
    tree = grower.grow(grad, hess, scores, number, 1.0)
    return tree, scores


def expected(X, bins, grad, hess, unused=(), **params):
    rules = bins.coder.bins
    codes = [
        [
            None if np.isnan(x) else naive.bin_of(x, rules[f].bounds.tolist())
            for f, x in enumerate(row)
        ]
        for row in X.astype(float).tolist()
    ]
    counts = [rule.n_bins if rule.n_codes > 1 else None for rule in rules]
    grower = naive.Grower(codes, counts, grad, hess, naive.Params(**params), unused)
    return grower, grower.grow()


def assert_equal(tree, grower, result):
    splits, leaves, values = result
    assert tree.leaves.size == len(leaves)
    names = ("feature", "bin", "missing_left", "left", "right")
    got = [[int(split[name]) for name in names] for split in tree.splits]
    assert got == [[int(x) for x in split[:5]] for split in splits]
    unit = grower.uh / (grower.ug * grower.ug)
    assert tree.splits["gain"].tolist() == [split[5] / unit for split in splits]
    assert tree.leaves["value"].tolist() == values
    assert tree.leaves["count"].tolist() == [len(leaf.rows) for leaf in leaves]


CASES = {
    "plain": {},
    "small leaves": {"min_data": 1, "num_leaves": 40},
    "l2": {"l2": 2.0, "min_data": 3},
    "l1": {"l1": 0.4, "min_data": 3},
    "depth": {"max_depth": 2, "min_data": 2},
    "gain": {"min_gain": 0.3, "min_data": 2},
    "step": {"max_step": 0.3, "min_data": 3},
    "hessian": {"min_hessian": 2.5, "min_data": 1},
}


@pytest.mark.parametrize("kind", ["dense", "sparse", "heavy"])
@pytest.mark.parametrize("case", CASES)
def test_the_oracle_grows_the_same_tree(case, kind):
    params = {"num_leaves": 12, "min_data": 5, **CASES[case]}
    for seed in range(3):
        X, query = matrix(seed)
        grad, hess = gradients(seed, len(X), kind)
        bins = binned(X, query)
        tree, _ = grown(bins, grad, hess, **params)
        assert_equal(tree, *expected(X, bins, grad, hess, **params))


def test_heavy_gradients_have_more_bits():
    X, query = matrix(1, 8000)
    grad, hess = gradients(1, len(X), "heavy")
    assert np.abs(grad).max() > 4096 * np.abs(grad).mean()
    tree, _ = grown(binned(X, query), grad, hess, num_leaves=4)
    sums = {}
    for bits in (17, 21):
        unit = naive.units(hess, bits)
        sums[bits] = sum(naive.whole(hess, unit)) * unit
    assert tree.leaves["hessian"].sum() == sums[21] != sums[17]


@pytest.mark.parametrize("seed", range(3))
def test_directions(seed):
    X, query = matrix(seed)
    grad, hess = gradients(seed, len(X))
    bins = binned(X, query)
    directions = [1, -1, 0, 1, 0, 0, -1, 0]
    params = {"num_leaves": 10, "min_data": 3}
    tree, _ = grown(bins, grad, hess, constraints=Constraints(directions), **params)
    by_feature = {f: d for f, d in enumerate(directions) if d}
    assert_equal(tree, *expected(X, bins, grad, hess, directions=by_feature, **params))


@pytest.mark.parametrize("seed", range(3))
def test_interactions(seed):
    X, query = matrix(seed)
    grad, hess = gradients(seed, len(X))
    bins = binned(X, query)
    groups = [[0, 1], [1, 2, 3], [5, 6]]
    params = {"num_leaves": 10, "min_data": 3}
    tree, _ = grown(bins, grad, hess, constraints=Constraints(None, groups), **params)
    assert_equal(tree, *expected(X, bins, grad, hess, groups=groups, **params))


@given(st.integers(0, 10**6), st.sampled_from(["dense", "sparse"]), st.integers(2, 20))
def test_any_data(seed, kind, leaves):
    X, query = matrix(seed, 30)
    grad, hess = gradients(seed, len(X), kind)
    bins = binned(X, query)
    params = {"num_leaves": leaves, "min_data": 1 + seed % 4, "l2": seed % 3 / 2}
    tree, _ = grown(bins, grad, hess, **params)
    assert_equal(tree, *expected(X, bins, grad, hess, **params))


@pytest.mark.parametrize("fewest", [1, 100])
def test_features_of_queries(fewest, monkeypatch):
    """A feature that is constant inside queries gives the same tree, stored once per query or once per document."""
    monkeypatch.setattr(documents, "_FEWEST_QUERY_COLUMNS", fewest)
    for seed in range(4):
        X, query = matrix(seed)
        X[:, 0] = np.random.default_rng(seed).normal(size=query.max() + 1)[query]
        grad, hess = gradients(seed, len(X), ["dense", "sparse"][seed % 2])
        bins = binned(X, query)
        assert (bins.queries.n_columns > 0) == (fewest == 1)
        params = {"num_leaves": 15, "min_data": 2}
        tree, _ = grown(bins, grad, hess, **params)
        assert_equal(tree, *expected(X, bins, grad, hess, **params))


def large(n=70_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    X[:, 1] = rng.integers(0, 3, n)
    X[:, 2] *= rng.random(n) < 0.1
    X[rng.random(n) < 0.1, 3] = np.nan
    query = np.repeat(np.arange(n // 10), 10)
    for f in range(10, 20):
        X[:, f] = rng.normal(size=n // 10)[query]
    grad = (rng.normal(size=n) + X[:, 0] + X[:, 10]).astype(np.float32)
    hess = (0.1 + rng.random(n)).astype(np.float32)
    return X, query, grad, hess


def test_any_number_of_threads():
    X, query, grad, hess = large()
    results = []
    for n_jobs in (1, 2, 3, 8):
        bins = binned(X, query, n_jobs)
        tree, scores = grown(bins, grad, hess, n_jobs, num_leaves=63)
        results.append((tree.splits.tobytes(), tree.leaves.tobytes(), scores.tobytes()))
    assert results.count(results[0]) == 4
    assert tree.leaves.size == 63


def test_the_order_of_rows_changes_nothing(monkeypatch):
    monkeypatch.setattr(documents, "SAMPLE", 5000)  # so that bins are made from a sample
    monkeypatch.setattr(documents.sampled, "__defaults__", (5000,))
    X, query, grad, hess = large(30_000)
    order = np.random.default_rng(1).permutation(len(X))
    tree, scores = grown(binned(X, query), grad, hess, num_leaves=31)
    shuffled = binned(X[order], query[order])
    place = order[rw.RankingData(X[order], grad * 0, qid=query[order]).groups.rows]
    other, other_scores = grown(shuffled, grad[place], hess[place], num_leaves=31)
    assert tree.leaves.tobytes() == other.leaves.tobytes()
    assert tree.splits["feature"].tolist() == other.splits["feature"].tolist()
    for name in ("bin", "gain", "left", "right", "count"):
        assert tree.splits[name].tobytes() == other.splits[name].tobytes()
    assert scores[place].tobytes() == other_scores.tobytes()


def test_wide_and_packed_sums_meet_at_the_limit():
    """Nodes of 2^14 rows are packed, those of one more are wide; both are exact."""
    for n in (2**14 - 1, 2**14, 2**14 + 1, 2**15 + 3):
        rng = np.random.default_rng(n)
        X = rng.integers(0, 5, (n, 3)).astype(np.float32)
        grad = np.where(X[:, 0] > 2, 1, -1).astype(np.float32) * np.float32(0.99999)
        hess = np.full(n, np.float32(0.9999))
        tree, _ = grown(binned(X, np.arange(n) // 20), grad, hess, num_leaves=2)
        left = X[:, 0] <= 2
        unit = naive.units(hess, 17)
        whole = naive.whole(hess[:1], unit)[0]
        assert tree.splits["feature"].tolist() == [0] and tree.splits["bin"].tolist() == [2]
        counts = tree.leaves["count"].tolist()
        assert counts == [left.sum(), n - left.sum()]
        assert tree.leaves["hessian"].tolist() == [whole * unit * c for c in counts]


def test_queries_that_are_left_out():
    X, query, grad, hess = large(20_000)
    bins = binned(X, query)
    tree, scores = grown(bins, grad, hess, num_leaves=20, query_fraction=0.3)
    used = tree.leaves["count"].sum()
    assert used == 0.3 * len(X)
    whole, _ = grown(bins, grad, hess, num_leaves=20)
    assert tree.splits.tobytes() != whole.splits.tobytes()
    assert (scores != 0).all()  # all documents have a score, those that were left out too
    again, _ = grown(bins, grad, hess, num_leaves=20, query_fraction=0.3)
    other, _ = grown(bins, grad, hess, num_leaves=20, query_fraction=0.3, number=1)
    assert tree.splits.tobytes() == again.splits.tobytes() != other.splits.tobytes()


def test_left_out_queries_equal_a_smaller_data_set():
    X, query = matrix(3)
    grad, hess = gradients(3, len(X))
    bins = binned(X, query)
    grower = TreeGrower(bins, TreeParams(num_leaves=8, min_data=2, query_fraction=0.5), 0, 1)
    unused = np.flatnonzero(grower._draw_queries(4))
    tree = grower.grow(grad, hess, np.zeros(grad.size), 4, 1.0)
    assert_equal(
        tree, *expected(X, bins, grad, hess, unused=unused.tolist(), num_leaves=8, min_data=2)
    )


def test_features_that_are_drawn():
    X, query, grad, hess = large(20_000)
    bins = binned(X, query)
    seen = set()
    for number in range(6):
        tree, _ = grown(bins, grad, hess, num_leaves=31, feature_fraction=0.2, number=number)
        used = set(tree.splits["feature"].tolist())
        assert 1 <= len(used) <= 4
        seen |= used
    assert len(seen) > 8
    by_node, _ = grown(bins, grad, hess, num_leaves=31, node_feature_fraction=0.2)
    assert len(set(by_node.splits["feature"].tolist())) > 4


def test_random_thresholds():
    X, query, grad, hess = large(20_000)
    bins = binned(X, query)
    tree, _ = grown(bins, grad, hess, num_leaves=31, extra=True)
    best, _ = grown(bins, grad, hess, num_leaves=31)
    assert tree.splits.size == 30
    assert tree.splits["gain"].sum() < best.splits["gain"].sum()
    roots = {
        int(grown(bins, grad, hess, num_leaves=2, extra=True, number=k)[0].splits["bin"][0])
        for k in range(12)
    }
    assert len(roots) > 6


def test_gradients_that_are_not_finite():
    X, query, grad, hess = large(2000)
    bins = binned(X, query)
    for bad in (np.nan, np.inf, -np.inf):
        broken = grad.copy()
        broken[77] = bad
        with pytest.raises(InputError, match="gradients must be finite"):
            grown(bins, broken, hess)


def test_nothing_to_split():
    X, query, grad, hess = large(2000)
    bins = binned(X, query)
    for g, h in ((grad * 0, hess), (grad * 0, hess * 0)):
        tree, scores = grown(bins, g, h)
        assert tree.splits.size == 0 and tree.leaves["value"].tolist() == [0.0]
        assert not scores.any()
    tree, _ = grown(bins, grad, hess, min_data=1500)
    assert tree.splits.size == 0
    flat = binned(np.ones((40, 2)), np.arange(40) // 4)
    tree, _ = grown(flat, grad[:40], hess[:40], min_data=1)
    assert tree.splits.size == 0


def test_negative_hessians_are_summed_too():
    X, query = matrix(5)
    grad, hess = gradients(5, len(X))
    hess[::4] *= -0.3
    bins = binned(X, query)
    tree, _ = grown(bins, grad, hess, num_leaves=6, min_data=2)
    assert_equal(tree, *expected(X, bins, grad, hess, num_leaves=6, min_data=2))
