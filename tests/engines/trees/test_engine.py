"""The engine as Ranker sees it: scores, files, constraints, boosting, and errors."""

import os
import subprocess
import sys
import textwrap
import threading

import lightgbm as lgb
import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels import threads
from rankwood._util.checks import InputError
from rankwood.engines.base import ENGINES
from rankwood.engines.trees.dart import draw_round
from rankwood.engines.trees.model import TreesModel
from rankwood.engines.trees.parameters import DartParams, parse

PARAMS = {"engine": "rankwood", "n_estimators": 8, "n_jobs": 2}


def data(seed=0, n_queries=150, size=12):
    """Documents with missing values, a categorical feature, and labels that depend on both."""
    rng = np.random.default_rng(seed)
    n = n_queries * size
    X = rng.normal(size=(n, 8)).astype(np.float32)
    X[:, 1] = rng.integers(0, 3, n)
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = rng.integers(0, 30, n)
    signal_ = X[:, 0] + 0.5 * X[:, 1] + np.isnan(X[:, 2]) + np.isin(X[:, 3], [3, 7, 20, 21])
    y = np.clip(np.round(signal_ + 0.5 * rng.normal(size=n)), 0, 4)
    return rw.RankingData(X, y, qid=np.repeat(np.arange(n_queries), size))


DATA, VALID = data(), data(1, 40)


def fitted(train=DATA, **params):
    return rw.Ranker(**{**PARAMS, **params}).fit(train)


CASES = {
    "default": {},
    "extra": {"extra_trees": True},
    "plain": {"extra_trees": False},
    "categories": {"categorical_feature": [3]},
    "sampled": {"subsample": 0.5, "colsample_bytree": 0.6, "colsample_bynode": 0.7},
    "penalties": {
        "reg_alpha": 0.2,
        "reg_lambda": 1.0,
        "min_split_gain": 0.01,
        "max_delta_step": 0.5,
    },
    "directions": {"monotone": {0: 1, 4: -1}},
    "interactions": {"interactions": [[0, 1], [2, 3]]},
    "dart": {"boosting": "dart", "skip_drop": 0.2, "drop_rate": 0.4},
    "langevin": {"langevin": True, "diffusion_temperature": 100.0},
    "shrinking": {"model_shrink_rate": 0.1},
    "few bins": {"max_bin": 7, "min_data_in_bin": 20},
    "deep": {"num_leaves": 200, "min_child_samples": 1, "max_depth": 9},
}


@pytest.mark.parametrize("case", CASES)
def test_everything_predicts_the_same_bits(case, tmp_path):
    ranker = fitted(**CASES[case])
    scores = ranker.predict(DATA)
    assert np.unique(scores).size > 50
    assert (ranker.forest().predict(DATA) == scores).all()
    assert (ranker.scorer()(DATA) == scores).all()
    assert (lgb.Booster(model_str=ranker.model_.text).predict(DATA.X) == scores).all()
    ranker.save(tmp_path / "m.json")
    assert (rw.Ranker.load(tmp_path / "m.json").predict(DATA) == scores).all()
    assert (fitted(**CASES[case], n_jobs=1).predict(DATA) == scores).all()


@pytest.mark.parametrize("case", [name for name in CASES if name != "dart"])
def test_scores_in_training_are_those_of_the_model(case):
    """Metrics after the last round are those of the model, to the last bit."""
    params = {**CASES[case], "early_stopping_rounds": None}
    ranker = rw.Ranker(**PARAMS, **params)
    ranker.fit(DATA, valid=VALID)
    metric = rw.evaluate("ndcg@10", VALID, ranker.predict(VALID)).mean()["ndcg@10"]
    last = ranker.history_["ndcg@10"][-1]
    assert metric == (pytest.approx(last, abs=1e-12) if case == "shrinking" else last)


def test_quality_is_lightgbms():
    """The first trees are LightGBM's, so that scores of few rounds are nearly the same."""
    params = {"extra_trees": False, "min_child_samples": 0, "shuffle": False, "n_estimators": 1}
    ours = fitted(**params).predict(DATA)
    theirs = fitted(**params, engine="lightgbm").predict(DATA)
    assert np.abs(ours - theirs).max() < 1e-4 * np.abs(theirs).max()


@pytest.mark.parametrize("categories", [3, 12, 60])
def test_categories_are_split_as_in_lightgbm(categories):
    """One category against all others if there are few; otherwise sorted categories, from both ends."""
    rng = np.random.default_rng(categories)
    n = 3000
    X = np.stack([rng.integers(0, categories, n), rng.normal(size=n)], axis=1)
    effect = rng.normal(size=categories)
    y = np.clip(np.round(effect[X[:, 0].astype(int)] + 0.3 * X[:, 1] + 1), 0, 3)
    train = rw.RankingData(X, y, qid=np.arange(n) // 15)
    params = {
        **{"extra_trees": False, "min_child_samples": 0, "shuffle": False, "n_estimators": 1},
        **{"categorical_feature": [0], "cat_smooth": 1.0, "min_data_per_group": 1, "num_leaves": 6},
    }
    ours, theirs = (
        fitted(train, **params, engine=engine).forest() for engine in ("rankwood", "lightgbm")
    )
    assert ours.categorical.any()
    for name in ("categorical", "feature", "category", "left", "right"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    assert np.allclose(ours.leaf_value, theirs.leaf_value, rtol=1e-3)
    assert np.allclose(ours.gain, theirs.gain, rtol=1e-3)


def test_scores_rise_and_fall_with_directions():
    ranker = fitted(monotone={0: 1, 4: -1}, n_estimators=20)
    X = DATA.X[:300].copy()
    for feature, sign in ((0, 1), (4, -1)):
        moved, before = X.copy(), None
        for value in np.linspace(-3, 3, 25):
            moved[:, feature] = value
            scores = ranker.predict(moved)
            assert before is None or (sign * (scores - before) >= -1e-12).all()
            before = scores


def test_features_of_one_tree_path_may_interact():
    forest = fitted(interactions=[[0, 1], [2, 3]]).forest()
    groups = [{0, 1}, {2, 3}, {4, 5, 6, 7}]
    for tree in range(forest.n_trees):
        paths = [(int(forest.first_node[tree]), set())]
        while paths:
            node, above = paths.pop()
            if node >= 0:
                above = above | {int(forest.feature[node])}
                assert any(above <= group for group in groups)
                paths += [(int(forest.left[node]), above), (int(forest.right[node]), above)]


def test_rows_in_any_order():
    """Bins, sums and trees don't depend on the order of rows; only ties of the first round do, which are shuffled."""
    order = np.random.default_rng(0).permutation(len(DATA))
    other = rw.RankingData(DATA.X[order], DATA.y[order], qid=np.repeat(np.arange(150), 12)[order])
    params = {"objective": "rmse", "shuffle": False, "n_estimators": 5}
    assert (fitted(**params).predict(DATA) == fitted(other, **params).predict(DATA)).all()
    assert (fitted(other, **params).predict(other) == fitted(**params).predict(other)).all()


@pytest.mark.parametrize("case", ["default", "sampled", "categories", "langevin", "shrinking"])
def test_resumed_runs(case, tmp_path):
    whole = fitted(**CASES[case]).predict(DATA)
    path = tmp_path / "run.ckpt"
    rw.Ranker(**{**PARAMS, **CASES[case], "n_estimators": 3}).fit(DATA, checkpoint=path)
    resumed = rw.Ranker(**PARAMS, **CASES[case]).fit(DATA, checkpoint=path)
    assert resumed.resumed_after_ == 3 and (resumed.predict(DATA) == whole).all()
    if case not in ("langevin", "shrinking"):  # whose trees shrink after each round
        warm = rw.Ranker(**{**PARAMS, **CASES[case], "n_estimators": 3}, warm_start=True).fit(DATA)
        assert (warm.set_params(n_estimators=8).fit(DATA).predict(DATA) == whole).all()


def test_files_that_do_not_fit_in_memory(tmp_path):
    X = np.nan_to_num(DATA.X)
    part = rw.RankingData(X, DATA.y, qid=np.repeat(np.arange(150), 12))
    rw.save_letor(part, tmp_path / "a.txt")
    loaded = rw.load_letor(tmp_path / "a.txt")
    streamed = rw.Ranker(**PARAMS).fit(str(tmp_path / "a.txt"), stream=True)
    assert (streamed.predict(loaded) == fitted(loaded).predict(loaded)).all()


def test_dart_drops_as_lightgbm_does():
    """Shares of dropped trees: each tree with the drop rate, unless the round drops none (skip_drop)."""
    params = DartParams(drop_rate=0.3, skip_drop=0.25, max_drop=0)
    counts = [len(draw_round(params, seed, 40, [0.1] * 40, 0.1).dropped) for seed in range(800)]
    none = np.mean([count == 0 for count in counts])
    assert abs(none - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 800)
    assert abs(np.mean(counts) - 0.75 * 0.3 * 40) < 4 * np.std(counts) / np.sqrt(800)
    round_ = next(
        r for r in (draw_round(params, s, 40, [0.1] * 40, 0.1) for s in range(9)) if r.dropped
    )
    k = len(round_.dropped)
    assert (round_.rate, round_.factor) == (0.1 / (1 + k), k / (k + 1))
    xgboost = draw_round(DartParams(0.3, 0, 0.0, False, True), 1, 40, [0.1] * 40, 0.1)
    k = len(xgboost.dropped)
    assert (xgboost.rate, xgboost.factor) == (0.1 / (0.1 + k), k / (k + 0.1))
    assert len(draw_round(DartParams(1.0, 3, 0.0), 1, 40, [0.1] * 40, 0.1).dropped) <= 3


def test_dart_scores_add_up():
    ranker = rw.Ranker(**PARAMS, **CASES["dart"], early_stopping_rounds=None).fit(DATA, valid=VALID)
    metric = rw.evaluate("ndcg@10", VALID, ranker.predict(VALID)).mean()["ndcg@10"]
    assert metric == pytest.approx(ranker.history_["ndcg@10"][-1], abs=1e-6)
    shrinkage = [line for line in ranker.model_.text.splitlines() if line.startswith("shrinkage")]
    assert len(set(shrinkage)) > 2
    with pytest.raises(InputError, match="can't be resumed"):
        rw.Ranker(**PARAMS, boosting="dart").fit(DATA, checkpoint="x.ckpt")


def test_pairs_have_trees_of_their_own():
    pairs, same = (
        rw.Ranker("bi-lambdarank-ndcg@5", engine=engine, n_estimators=3, n_jobs=1).fit(VALID)
        for engine in ("rankwood", "pairtree")
    )
    assert (pairs.predict(VALID) == same.predict(VALID)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"linear_tree": True}, "engine='rankwood' has no linear_tree: use engine='lightgbm'"),
        ({"path_smooth": 1.0}, "use engine='lightgbm'"),
        ({"max_bin": 300}, "at most 255, got 300: use engine='lightgbm'"),
        ({"max_bins": 1}, "max_bin must be at least 2"),
        ({"colsample_bynode": 0}, "colsample_bynode must be above 0"),
        (
            {"feature_fraction_bynode": 2.0},
            "colsample_bynode must be above 0 and at most 1, got 2.0",
        ),
        ({"max_delta_step": -1}, "max_delta_step must be at least 0, got -1"),
        ({"boosting": "rf"}, "boosting"),
        ({"drop_rate": 1.5}, "drop_rate must be from 0 to 1, got 1.5"),
        ({"extra_treez": True}, "did you mean 'extra_trees'"),
        ({"eta": 0.1, "learning_rate": 0.2}, "learning_rate"),
        ({"boosting": "dart", "langevin": True}, "can't be combined"),
    ],
)
def test_parameters_that_cannot_be(params, message):
    with pytest.raises(InputError, match=message):
        fitted(**params)


def test_names_of_lightgbm():
    both = {"min_gain_to_split": 0.5, "feature_fraction_bynode": 0.5, "max_leaf_output": 2.0}
    parsed = parse(both | {"boosting_type": "dart"})
    assert parsed.trees.min_gain == 0.5 and parsed.trees.node_feature_fraction == 0.5
    assert parsed.trees.max_step == 2.0 and parsed.dart is not None


def test_damaged_texts_are_refused():
    text = fitted(n_estimators=2).model_.text
    module = __import__("rankwood.engines.trees.engine", fromlist=["load"])
    assert isinstance(module.load(text), TreesModel)
    for broken in (
        text[:-20],
        text.replace("left_child=", "left_child=9 ", 1),
        text.replace("tree\n", "", 1),
    ):
        with pytest.raises(InputError):
            module.load(broken)


def test_abilities():
    assert ENGINES["rankwood"].package == ""
    assert ENGINES["rankwood"].units == ("documents", "pairs")


def test_members_that_never_start(monkeypatch):
    """A team whose other members are late, or don't come at all, grows the same tree."""
    expected = fitted(n_jobs=1).predict(DATA)
    monkeypatch.setattr("rankwood.engines.trees.grower._FEW_CODES", 0)
    real = threads._pool(os.getpid())
    release = threading.Event()

    class Busy:
        def submit(self, work, *args):
            return real.submit(lambda: (release.wait(0.01), work(*args))[1])

    class Never:
        def submit(self, work, *args):
            from concurrent.futures import Future

            return Future()

    for pool in (Busy(), Never()):
        monkeypatch.setattr(threads, "_pool", lambda _, pool=pool: pool)
        assert (fitted(n_jobs=4).predict(DATA) == expected).all()


def test_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr("rankwood.engines.trees.grower._FEW_CODES", 0)
    assert (fitted(n_jobs=16).predict(DATA) == fitted(n_jobs=1).predict(DATA)).all()


PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import rankwood as rw
import rankwood.engines.trees.grower as grower
grower._FEW_CODES = 0
from tests.engines.trees.test_engine import DATA, PARAMS
ranker = rw.Ranker(**{**PARAMS, "n_estimators": 3}).fit(DATA)
expected = ranker.predict(DATA)
"""


def run_program(code):
    text = PROGRAM + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_forked_processes():
    assert run_program("""
        pid = os.fork()
        if pid == 0:
            same = (rw.Ranker(**{**PARAMS, "n_estimators": 3}).fit(DATA).predict(DATA) == expected).all()
            os._exit(0 if same else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """) == ["0"]


@pytest.mark.slow
def test_an_interrupt_keeps_the_trees():
    found = run_program("""
        big = rw.Ranker(**{**PARAMS, "n_estimators": 100000})
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            big.fit(DATA)
        except KeyboardInterrupt:
            print("interrupted", big.best_iteration_ > 0)
        again = rw.Ranker(**{**PARAMS, "n_estimators": big.best_iteration_}).fit(DATA)
        print((again.predict(DATA) == big.predict(DATA)).all())
        print((rw.Ranker(**{**PARAMS, "n_estimators": 3}).fit(DATA).predict(DATA) == expected).all())
    """)
    assert found == ["interrupted", "True", "True", "True"]
