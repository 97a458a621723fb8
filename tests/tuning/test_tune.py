"""Studies: what is recorded is what fits alone give, and the study survives what goes wrong."""

import sys

import numpy as np
import pytest

import rankwood as rw
from rankwood.spaces import Choice, Float, Integer, Space
from rankwood.tuning import TuningInterrupt
from rankwood.tuning.parameters import configured
from tests.helpers import small_study
from tests.helpers.small_study import SPACE, data, interrupt_fit, ranker, refused, same, study


def fitted_alone(tuning, params):
    train, valid = data()
    return configured(tuning.ranker, params).fit(train, valid=valid), valid


@pytest.mark.parametrize("tuner", ["random", "tpe", "cfo", "random+gp"])
def test_trials_are_fits(tuner):
    trials = 12 if tuner == "tpe" else 6  # TPE's first ten are random
    tuning = study(tuner=tuner, trials=trials)
    assert [record.number for record in tuning.records] == list(range(trials))
    own = {"learning_rate": 0.1, "num_leaves": 7, "min_child_samples": 20}
    assert tuning.records[0].params == own
    for record in tuning.records[:3] + tuning.records[-1:]:
        alone, valid = fitted_alone(tuning, record.params)
        mean = rw.evaluate("ndcg@5", valid, alone.predict(valid)).mean()["ndcg@5"]
        assert (record.value, record.rounds) == (pytest.approx(mean), alone.best_iteration_)
        assert all(SPACE[name].nearest(value) == value for name, value in record.params.items())
    values = [record.value for record in tuning.records]
    assert tuning.best_value == max(values)
    assert tuning.best_trial == values.index(max(values))
    alone, _ = fitted_alone(tuning, tuning.best_params)
    assert tuning.best.model_.text == alone.model_.text
    assert len({str(record.params) for record in tuning.records}) == trials
    assert same(tuning, study(tuner=tuner, trials=trials))


def test_the_first_of_several_validation_sets_decides():
    train, valid = data()
    far = rw.make_ranking(10, seed=9)
    rules = {"space": SPACE, "tuner": "random", "trials": 3, "pruner": None, "ties": "best"}
    alone = rw.tune(ranker(num_leaves=2), train, valid, **rules)
    both = rw.tune(ranker(num_leaves=2), train, {"near": valid, "far": far}, **rules)
    assert same(alone, both) and both.best.validation_sets_ == ["near", "far"]
    best = both.best
    # The rules of the study hold for all sets: few leaves have many ties.
    mean = rw.evaluate("ndcg@5", far, best.predict(far), ties="best").mean()["ndcg@5"]
    assert best.history_["far ndcg@5"][best.best_iteration_ - 1] == pytest.approx(mean, abs=1e-12)
    with refused("valid has no set: give at least one"):
        rw.tune(ranker(), train, {}, **rules)


def test_seeds_and_arguments_are_kept():
    train, valid = data()
    given = ranker()
    before = given.get_params()
    tuning = rw.tune(given, train, valid, space=dict(SPACE), tuner="random", trials=3, seed=5)
    assert given.get_params() == before
    assert not hasattr(given, "model_")
    assert tuning.trials["num_leaves"].tolist() != study(trials=3).trials["num_leaves"].tolist()


def test_less_is_better_and_ties():
    tuning = study(metric="arp", space={"num_leaves": Choice(2, 7)})
    values = tuning.trials["value"]
    assert not tuning.higher_is_better
    assert tuning.best_value == values.min() < values.max()
    assert tuning.ties == np.flatnonzero(values == values.min()).tolist()
    assert len(tuning.ties) > 1  # two values in six trials
    assert tuning.best_trial == tuning.ties[0]
    assert "tie at the best value" in tuning.to_markdown()


@pytest.mark.parametrize(
    "rules", [{"convention": "xgboost"}, {"ties": "best", "empty": 1}, {"empty": "skip"}]
)
def test_conventions(rules):
    tuning = study(trials=2, metric=["ndcg@3", "map"], **rules)
    assert tuning.metric == "ndcg@3"
    alone, valid = tuning.best, data()[1]
    mean = rw.evaluate("ndcg@3", valid, alone.predict(valid), **rules).mean()["ndcg@3"]
    assert tuning.best_value == pytest.approx(mean)
    assert alone.eval_metric == ["ndcg@3", "map"]
    assert list(alone.history_) == ["ndcg@3", "map"]


def test_folds_are_whole_queries():
    train, _ = data()
    tuning = rw.tune(ranker(), train, folds=3, space=SPACE, tuner="random", trials=3, seed=7)
    for record in tuning.records:
        values, rounds = [], []
        for rest, part in train.folds(3, 7):
            one = configured(tuning.ranker, record.params).fit(rest, valid=part)
            values.append(rw.evaluate("ndcg@5", part, one.predict(part)).mean()["ndcg@5"])
            rounds.append(one.best_iteration_)
        assert record.value == pytest.approx(np.mean(values))
        assert record.rounds == round(np.mean(rounds))
    best = tuning.records[tuning.best_trial]
    whole = configured(tuning.ranker, best.params)
    whole.set_params(n_estimators=best.rounds, early_stopping_rounds=None).fit(train)
    assert tuning.best.model_.text == whole.model_.text
    assert "mean number of trees of 3 folds" in tuning.to_markdown()


@pytest.mark.parametrize("pruner", ["median", "hyperband"])
def test_hopeless_trials_stop_early(pruner):
    # A rate of 1e-9 leaves all documents nearly tied.
    space = Space({"learning_rate": Choice(0.3, 1e-9), "num_leaves": Integer(2, 9)})
    train, valid = data()
    given = ranker(n_estimators=20, early_stopping_rounds=None)
    how = {"space": space, "tuner": "random", "trials": 16}
    tuning = rw.tune(given, train, valid, pruner=pruner, **how)
    whole = rw.tune(given, train, valid, pruner=None, **how)
    pruned = tuning.trials[tuning.trials["state"] == "pruned"]
    assert pruned.size
    assert (pruned["rounds"] < 20).all()
    if pruner == "median":
        assert (pruned["learning_rate"] == 1e-9).any()
    assert set(whole.trials["state"]) == {"complete"}
    complete = tuning.trials["state"] == "complete"
    for name in ("value", "num_leaves"):  # random search is not led by what others found
        assert tuning.trials[name][complete].tolist() == whole.trials[name][complete].tolist()
    assert tuning.best_value == tuning.trials["value"][complete].max()


def test_crashes_are_recorded(monkeypatch):
    space = {"max_bin": Choice(63, -1), "num_leaves": Integer(2, 9)}
    for tuner in ("random", "cfo"):
        tuning = study(space=space, tuner=tuner, trials=8)
        table = tuning.trials
        bad = table["max_bin"] == -1
        assert bad.any() and not bad.all()
        assert (table["state"] == np.where(bad, "failed", "complete")).all()
        assert all("max_bin" in text for text in table["message"][bad])
        assert np.isnan(table["value"][bad]).all()

    real, calls = rw.Ranker._fit, []

    def sometimes(*args):
        calls.append(1)
        if len(calls) in (1, 3):
            raise MemoryError("no more")
        real(*args)

    for tuner in ("random", "cfo"):
        calls.clear()
        monkeypatch.setattr(rw.Ranker, "_fit", sometimes)
        states = study(tuner=tuner, trials=6).trials[["state", "message"]].tolist()
        failed = ("failed", "MemoryError: no more")
        assert [states[0], states[2]] == [failed, failed]
        assert [state for state, _ in states].count("complete") == 4

    def never(*args):
        raise rw.InputError("this can't be.")

    monkeypatch.setattr(rw.Ranker, "_fit", never)
    with refused("3 trials failed and none is complete; the first said: this can't be."):
        study(trials=3)


def test_interrupts_keep_what_is_done(monkeypatch, tmp_path):
    path = tmp_path / "study.db"
    with monkeypatch.context() as patch:
        interrupt_fit(patch, 3)
        with pytest.raises(
            TuningInterrupt, match=r"2 finished trials kept in .*best ndcg@5"
        ) as stop:
            study(storage=path)
    partial = stop.value.tuning
    assert len(partial.trials) == 2
    assert partial.best.best_iteration_ == partial.records[partial.best_trial].rounds
    assert same(study(storage=path), study())


def test_seconds_limit_trials():
    assert len(study(seconds=1e-9).trials) == 1
    assert len(study(seconds=1e9).trials) == 6


def test_small_spaces_end():
    tuning = study(space={"num_leaves": Integer(2, 4)}, tuner="cfo", trials=9)
    assert sorted(set(tuning.trials["num_leaves"])) == [2, 3, 4]
    fixed = study(space={"num_leaves": Integer(2, 4), "max_bin": Choice(15)}, trials=2)
    assert fixed.best.get_params()["max_bin"] == 15
    assert fixed.trials["max_bin"].tolist() == [15, 15]


@pytest.mark.parametrize("seed", [0, 1])
def test_cfo_tries_all_choices_before_it_ends(seed, tmp_path):
    space = {"num_leaves": Choice(4, 8), "boosting": Choice("gbdt", "goss"), "max_bin": Choice(63)}
    how = {"space": space, "tuner": "cfo", "seed": seed}
    tuning = study(trials=9, **how)
    tried = tuning.trials[["num_leaves", "boosting"]].tolist()
    assert sorted(tried) == [(4, "gbdt"), (4, "goss"), (8, "gbdt"), (8, "goss")]
    for trials in (2, 3, 9):
        resumed = study(trials=trials, storage=tmp_path / "study.db", **how)
    assert same(resumed, tuning)


def test_parameters_of_the_objective_are_tuned():
    space = {"objective.sigma": Float(0.5, 4.0), "objective.truncation": Choice(5, 8)}
    tuning = study(space=space, trials=3)
    assert tuning.records[0].params == {"objective.sigma": 1.0, "objective.truncation": 5}
    last = tuning.records[-1].params
    made = configured(tuning.ranker, last).objective
    expected = rw.objective(
        "lambdarank-ndcg@10", sigma=last["objective.sigma"], truncation=last["objective.truncation"]
    )
    assert rw.objective(made) == expected
    assert tuning.records[0].value != tuning.records[-1].value


def test_other_engines():
    train, valid = data()
    for engine, objective in (("xgboost", "ranknet"), ("catboost", "queryrmse")):
        given = rw.Ranker(objective, engine, n_estimators=5, n_jobs=1)
        tuning = rw.tune(given, train, valid, trials=3, tuner="random")
        assert set(tuning.trials["state"]) <= {"complete"}, tuning.trials["message"]
        alone = configured(tuning.ranker, tuning.best_params).fit(train, valid=valid)
        assert np.array_equal(tuning.best.predict(valid), alone.predict(valid))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"tuner": "tpee"}, "tuner must be one of"),
        ({"trials": 0}, "trials must be at least 1"),
        ({"seconds": 0}, "seconds must be positive"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"metric": "ndcq@5"}, "did you mean 'ndcg'"),
        ({"ties": "none"}, "ties must be one of"),
        ({"pruner": "medium"}, "pruner must be one of"),
        ({"folds": 3}, "either validation data"),
        ({"space": "which"}, "did you mean 'which-tricks-2023'"),
        ({"space": 5}, "space must be a Space, a dict or a name"),
        ({"space": {"num_leafs": Integer(2, 5)}}, "num_leafs"),
        ({"space": {"n_jobs": Integer(1, 5)}}, "the same in all trials"),
        ({"space": {"objective.mue": Float(1, 5)}}, "has no parameter 'mue'"),
        ({"storage": "no/such/folder.db"}, "there is no directory"),
    ],
)
def test_wrong_arguments(how, message):
    with refused(message):
        study(**how)


def test_wrong_data_and_compositions():
    train, valid = data()
    with refused("tune takes a Ranker, a NeuralRanker or a TwoStage, got str"):
        rw.tune("ranker", train, valid)
    with refused("tune needs labels"):
        rw.tune(ranker(), train.X, valid)
    with refused("if it is given by name"):
        part = rw.objective("lambdarank-ndcg@10")
        rw.tune(rw.Ranker(part), train, valid, space={"objective.mu": Float(0, 1)})


@pytest.mark.parametrize(
    ("package", "tuner", "extra"),
    [("optuna", "random", "tune"), ("flaml", "cfo", "tune"), ("torch", "random+gp", "gp")],
)
def test_missing_packages(monkeypatch, package, tuner, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with refused(f"needs the package {package}: pip install 'rankwood[{extra}]'"):
        study(tuner=tuner)


def test_optuna_is_silent_and_left_as_it_was(capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    for tuner in ("tpe", "cfo"):
        small_study.study(tuner=tuner, trials=2)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_the_threads_of_pytorch_stay_as_they_were(monkeypatch):
    torch = pytest.importorskip("torch")
    real, seen = torch.set_num_threads, []
    monkeypatch.setattr(torch, "set_num_threads", lambda n: (seen.append(n), real(n)))
    before = torch.get_num_threads()
    study(tuner="random+gp", trials=2)
    # Some versions of Optuna set the threads inside of this, too.
    assert seen[0] == 1 and seen[-1] == before and set(seen) <= {1, before}
    assert torch.get_num_threads() == before
