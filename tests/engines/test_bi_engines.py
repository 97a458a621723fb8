"""What the engine pairtree makes of its parameters, samples and rows, and what it says about memory."""

import platform
import subprocess
import sys

import numpy as np
import pytest

import rankwood as rw
from rankwood import InputError
from rankwood.engines import base, pair_memory
from rankwood.engines.pairtree import BinnedData, PairLayout, Params, grow
from tests.oracles import naive_stored_pairs as naive


def lists(seed=0, queries=25, features=5):
    """Queries of 1 to 9 documents, rows in any order; features of few values, one is half missing."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, queries)
    X = rng.integers(0, 9, (sizes.sum(), features)).astype(float)
    X[rng.random(len(X)) < 0.5, 3] = np.nan
    y = np.clip(np.round(X[:, 0] / 2 - X[:, 1] / 4 + rng.normal(size=len(X))), 0, 4)
    order = rng.permutation(len(X))
    return rw.RankingData(X[order], y[order], qid=np.repeat(np.arange(sizes.size), sizes)[order])


def run(data, rounds=1, valid=None, **params):
    """Train with squared distances from label differences; return the engine, the gradients and the scores seen."""
    task = base.TrainingTask(data, data.groups, valid, rw.objective("bi-ranknet"), rounds)
    engine, layout, seen = base.start("pairtree", params, task), PairLayout(data.groups.ptr), []

    def gradients(scores):
        seen.append(scores)
        left = (scores - data.y)[data.groups.rows]
        return left[layout.first] - left[layout.second], np.linspace(0.5, 2.0, layout.n_pairs)

    for _ in range(rounds):
        engine.step(gradients)
    return engine, gradients, seen


def first_tree(data, **params):
    engine, *_ = run(data, **params)
    return as_lists(engine.model(1)._forest.trees[0])


def as_lists(tree):
    return {name: array.tolist() for name, array in tree._asdict().items()}


@pytest.mark.parametrize(
    ("given", "meant", "binned"),
    [
        ({"num_leaves": 4}, {"num_leaves": 4}, {}),
        ({"max_depth": 2}, {"max_depth": 2}, {}),
        ({"min_child_samples": 40}, {"min_data_in_leaf": 40}, {}),
        ({"min_child_samples": 0}, {"min_data_in_leaf": 1}, {}),
        ({"min_child_weight": 50.0}, {"min_sum_hessian": 50.0}, {}),
        ({"reg_alpha": 30.0}, {"lambda_l1": 30.0}, {}),
        ({"reg_lambda": 30.0}, {"lambda_l2": 30.0}, {}),
        ({"min_split_gain": 30.0}, {"min_gain": 30.0}, {}),
        ({"colsample_bytree": 0.4}, {"feature_fraction": 0.4}, {}),
        (
            {"colsample_bytree": 0.4, "random_state": 7},
            {"feature_fraction": 0.4, "seed": 7},
            {},
        ),
        ({"max_bin": 4}, {}, {"max_bin": 4}),
        ({"differences": [2]}, {}, {"differences": [2]}),
        ({"learning_rate": 0.25}, {}, {}),
    ],
)
def test_parameters_reach_the_tree(given, meant, binned):
    data = lists()
    X, layout = data.X[data.groups.rows], PairLayout(data.groups.ptr)
    _, gradients, _ = run(data, n_jobs=1)
    how = {"differences": range(5), "max_bin": 255, **binned}
    tree, _ = grow(
        BinnedData(X, layout, **how), *gradients(np.zeros(len(data))), Params(**meant), n_jobs=1
    )
    rate = given.get("learning_rate", 0.1)
    found = first_tree(data, n_jobs=1, **given)
    assert found == as_lists(tree._replace(value=tree.value * rate))
    assert found != first_tree(data, n_jobs=1)


def test_a_sample_changes_the_scores_of_all():
    data, valid = lists(), lists(1)
    rounds = 6
    engine, _, seen = run(data, rounds, valid, subsample=0.3, min_child_samples=3, n_jobs=1)
    for t in range(1, rounds):
        assert seen[t].tolist() == engine.model(t).predict(data.X, data.groups, n_jobs=1).tolist()
    known = engine.model(rounds).predict(valid.X, valid.groups, n_jobs=1)
    assert engine.valid_scores().tolist() == known.tolist()
    # Queries that no tree was grown on have scores as well.
    trees = engine.model(1)._forest.trees
    drawn = trees[0].leaf_count.sum()
    assert 0 < drawn < PairLayout(data.groups.ptr).n_pairs / 2
    many = np.array(
        [np.unique(seen[1][data.groups.per_row(np.arange(25)) == q]).size for q in range(25)]
    )
    assert (many > 1).sum() > 15


def lightgbm_splits(booster):
    """Columns of the matrix of pairs that the first tree looks at, and gains."""
    todo, nodes = [booster.dump_model()["tree_info"][0]["tree_structure"]], []
    while todo:
        node = todo.pop()
        if "split_index" in node:
            nodes.append((node["split_feature"], node["split_gain"]))
            todo += [node["left_child"], node["right_child"]]
    return nodes


@pytest.mark.parametrize("seed", range(3))
def test_first_tree_is_that_of_lightgbm_on_stored_pairs(seed):
    # Few values, so that both have the same bins.
    data = lists(seed, queries=40)
    rows, sizes, differences = data.groups.rows, data.groups.sizes, [1, 3]
    shared = {"num_leaves": 8, "learning_rate": 1.0, "min_sum_hessian_in_leaf": 1.0}
    own = {"min_data_in_leaf": 0, "min_data_in_bin": 1, "feature_pre_filter": False}
    engine, gradients, _ = run(
        data,
        **{"num_leaves": 8, "learning_rate": 1.0, "min_child_samples": 0, "min_child_weight": 1.0},
        differences=differences,
        n_jobs=1,
    )

    def of_lists(scores):
        by_row = np.empty(scores.size)
        by_row[rows] = scores
        return gradients(by_row)

    booster = naive.train(
        data.X[rows], sizes, differences, of_lists, 1, **shared, **own, enable_bundle=False
    )
    tree = engine.model(1)._forest.trees[0]
    of_difference = {1: 10, 3: 11}
    columns = [
        of_difference[c] if side == 2 else 5 * side + c
        for side, c in zip(tree.side.tolist(), tree.column.tolist(), strict=True)
    ]
    # Leaves that mirror each other have equal gains, but for LightGBM's rounding: either may come first.
    nodes = lightgbm_splits(booster)
    assert sorted(columns) == sorted(column for column, _ in nodes)
    assert len(columns) == 7 and set(tree.side.tolist()) == {0, 1, 2}
    gains = sorted(gain for _, gain in nodes)
    np.testing.assert_allclose(sorted(tree.gain), gains, rtol=1e-5)
    # LightGBM has gradients in single precision.
    known = naive.predict(booster, data.X[rows], sizes, differences)
    scores = engine.model(1).predict(data.X, data.groups, n_jobs=1)[rows]
    np.testing.assert_allclose(scores, known, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("leaves", "text"),
    [
        (2, r"on [\d,]+ ordered pairs .* about .* of memory, .*TwoStage\(top=\.\.\.\)"),
        (400, r"memory, .* histograms of [\d]+ leaves: set num_leaves lower"),
    ],
)
def test_what_would_not_fit_is_refused(leaves, text, monkeypatch):
    monkeypatch.setattr(pair_memory, "available", lambda: 1e5)
    monkeypatch.setattr("rankwood.engines.pair_lists.PairLayout", None)  # before pairs are made
    with pytest.raises(InputError, match=text):
        rw.Ranker("bi-ranknet", num_leaves=leaves, min_child_samples=1).fit(lists(queries=100))


def test_leaves_that_no_tree_can_have_take_no_memory(monkeypatch):
    monkeypatch.setattr(pair_memory, "available", lambda: 1e8)
    many = rw.Ranker("bi-ranknet", "pairtree", n_estimators=1, num_leaves=2**20)
    many.fit(lists())
    with pytest.raises(InputError, match="set num_leaves lower"):
        many.set_params(min_child_samples=0).fit(lists(queries=200))
    many.set_params(max_depth=4).fit(lists(queries=200))


GROWTH = """
import ctypes
import numpy as np
import rankwood as rw
from rankwood.engines import pair_memory

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def data(queries, documents, features):
    X = np.random.default_rng(0).normal(size=(queries * documents, features)).astype(np.float32)
    return rw.RankingData(X, X[:, 0] > 0, qid=np.repeat(np.arange(queries), documents))

def fit(train, valid):
    rw.Ranker("bi-ranknet", n_estimators=2, n_jobs=1).fit(train, valid=valid)

estimates = []
pair_memory._check_room = lambda needed, *_: estimates.append(needed)
fit(data(9, 9, 3), data(9, 9, 3))  # what is compiled and loaded isn't counted
train, valid = data(3, 600, 8), data(3, 600, 8)
ctypes.CDLL(None).malloc_trim(0)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
fit(train, valid)
print(estimates[-1], status("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="measures memory by Linux's /proc and glibc's malloc_trim",
)
def test_estimates_are_near_what_is_taken():
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    estimate, taken = map(float, done.stdout.split())
    assert 0.8 < pair_memory._MARGIN * estimate / taken < 2, (estimate, taken)


@pytest.mark.parametrize("engine", ["xgboost", "catboost"])
def test_engines_that_cannot_help_need_no_installing(engine, monkeypatch):
    monkeypatch.setitem(sys.modules, engine, None)
    for module in [m for m in sys.modules if m.startswith(f"rankwood.engines.{engine}")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(InputError, match=r"can't train objectives of pairs .*engine='pairtree'"):
        rw.Ranker("bi-softmax", engine).fit(lists())
    with pytest.raises(InputError, match=rf"pip install 'rankwood\[{engine}\]'"):
        rw.Ranker("ranknet", engine).fit(lists())
