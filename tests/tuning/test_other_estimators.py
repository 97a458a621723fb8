"""Studies of networks and of two stages: trials are fits, the first stage is shared, and studies resume."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.neural.architectures.table import ARCHITECTURES
from rankwood.neural.presets import PRESETS
from rankwood.spaces import Choice, Float, Integer, Space
from rankwood.tuning import TuningInterrupt
from rankwood.tuning.parameters import configured, own_values
from tests.helpers.small_study import data, refused

STAGES = Space(
    {
        "second__learning_rate": Float(0.02, 0.5, log=True),
        "second__objective.sigma": Float(0.5, 2.0),
        "top": Choice(4, 6),
    }
)


def network(**params):
    pytest.importorskip("torch")
    known = {"hidden": (8,), "epochs": 4, "batch_documents": 256, "n_jobs": 1, "device": "cpu"}
    return rw.NeuralRanker("dnn", "softmax", eval_metric="ndcg@5", **{**known, **params})


def stages(**params):
    trees = rw.Ranker("lambdarank-ndcg@5", n_estimators=8, num_leaves=5, n_jobs=1)
    second = rw.Ranker(
        "lambdarank-ndcg@5", n_estimators=8, num_leaves=5, n_jobs=1, eval_metric="ndcg@5"
    )
    return rw.TwoStage(trees, second, **{"top": 6, "folds": 2, "verbose": False, **params})


def trials_of(tuning):
    names = [name for name in tuning.trials.dtype.names if name != "seconds"]
    return tuning.trials[names].tolist()


def test_trials_of_networks_are_fits():
    train, valid = data()
    space = {"hidden": Choice((8,), (16, 8)), "learning_rate": Float(1e-3, 0.1, log=True)}
    how = {"space": space, "tuner": "random", "trials": 4, "pruner": None}
    tuning = rw.tune(network(), train, valid, **how)
    assert tuning.records[0].params == {"hidden": (8,), "learning_rate": 0.001}
    assert {record.params["hidden"] for record in tuning.records} == {(8,), (16, 8)}
    for record in tuning.records:
        alone = configured(network(), record.params).fit(train, valid=valid)
        mean = rw.evaluate("ndcg@5", valid, alone.predict(valid)).mean()["ndcg@5"]
        assert (record.value, record.rounds) == (pytest.approx(mean), alone.best_iteration_)
    best = configured(network(), tuning.best_params).fit(train, valid=valid)
    assert np.array_equal(tuning.best.predict(valid), best.predict(valid))
    assert "number of epochs" in tuning.to_markdown()
    assert tuning.trials["hidden"].tolist() == [r.params["hidden"] for r in tuning.records]
    assert len(tuning.plot_slices().axes) == 2


def test_studies_of_networks_resume_from_a_file(tmp_path):
    train, valid = data()
    space = {"hidden": Choice((8,), (16, 8), (4,)), "dropout": Float(0.0, 0.5)}
    how = {"space": space, "tuner": "tpe", "pruner": None}
    whole = rw.tune(network(), train, valid, trials=4, **how)
    for trials in (2, 4):
        resumed = rw.tune(network(), train, valid, trials=trials, storage=tmp_path / "s.db", **how)
    assert trials_of(resumed) == trials_of(whole)
    with refused("another ranker"):
        rw.tune(network(epochs=5), train, valid, trials=5, storage=tmp_path / "s.db", **how)


def test_networks_are_tuned_by_folds_and_pruned():
    train, valid = data()
    space = {"learning_rate": Choice(0.05, 1e-9)}
    by_folds = rw.tune(network(), train, folds=2, space=space, tuner="random", trials=2)
    assert by_folds.best.epochs == by_folds.records[by_folds.best_trial].rounds
    given = network(epochs=20, early_stopping_rounds=None)
    pruned = rw.tune(given, train, valid, space=space, tuner="random", trials=12)
    states = pruned.trials[["state", "learning_rate"]].tolist()
    assert ("pruned", 1e-9) in states and ("pruned", 0.05) not in states


def test_trials_of_two_stages_are_fits():
    train, valid = data()
    tuning = rw.tune(stages(), train, valid, space=STAGES, tuner="random", trials=4)
    own = own_values(stages(), STAGES)
    assert tuning.records[0].params == own
    assert own == {"second__learning_rate": 0.05, "second__objective.sigma": 1.0, "top": 6}
    for record in tuning.records:
        model = configured(stages(), record.params).fit(train, valid=valid)
        scores = model._ranked_again(valid, model.cross_scores_[1])
        mean = rw.evaluate("ndcg@5", valid, scores).mean()["ndcg@5"]
        assert (record.value, record.rounds) == (
            pytest.approx(mean, abs=1e-12),
            model.second_.best_iteration_,
        )
    best = configured(stages(), tuning.best_params).fit(train, valid=valid)
    assert np.array_equal(tuning.best.predict(valid), best.predict(valid))
    assert (
        tuning.best.get_params()["second__learning_rate"]
        == tuning.best_params["second__learning_rate"]
    )


def test_first_stages_are_shared_until_a_trial_changes_them(monkeypatch):
    from rankwood.estimators.two_stage import estimator

    train, valid = data()
    real, calls = estimator.cross_fit, []

    def counted(*args):
        calls.append(1)
        return real(*args)

    monkeypatch.setattr(estimator, "cross_fit", counted)
    rw.tune(stages(), train, valid, space=STAGES, tuner="random", trials=3)
    assert len(calls) == 1
    calls.clear()
    space = {"first__num_leaves": Integer(2, 9)}
    tuning = rw.tune(stages(), train, valid, space=space, tuner="random", trials=3)
    assert len(calls) == len({record.params["first__num_leaves"] for record in tuning.records})
    assert tuning.best.first_[0].num_leaves == tuning.best_params["first__num_leaves"]


def test_studies_of_two_stages_resume_from_a_file(tmp_path, monkeypatch):
    train, valid = data()
    how = {"space": STAGES, "tuner": "tpe"}
    whole = rw.tune(stages(), train, valid, trials=3, **how)
    path = tmp_path / "study.db"
    real, calls = rw.TwoStage.fit_second, []

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(rw.TwoStage, "fit_second", interrupted)
        with pytest.raises(TuningInterrupt, match="2 finished trials kept"):
            rw.tune(stages(), train, valid, trials=3, storage=path, **how)
    resumed = rw.tune(stages(), train, valid, trials=3, storage=path, **how)
    assert trials_of(resumed) == trials_of(whole)
    assert np.array_equal(resumed.best.predict(valid), whole.best.predict(valid))
    other = stages()
    other.set_params(first__eval_metric="map")
    with refused("another ranker"):
        rw.tune(other, train, valid, trials=4, storage=path, **how)


def test_the_rules_of_the_study_hold_for_whole_lists():
    train, valid = data()
    rules = {"ties": "best", "empty": 1}
    space = {"second__num_leaves": Choice(2, 5)}
    tuning = rw.tune(stages(), train, valid, space=space, trials=2, metric="ndcg@3", **rules)
    best = tuning.best
    scores = best._ranked_again(valid, best.cross_scores_[1])
    mean = rw.evaluate("ndcg@3", valid, scores, **rules).mean()["ndcg@3"]
    assert tuning.best_value == pytest.approx(mean, abs=1e-12)
    assert best.second.eval_metric == "ndcg@3" and best.first.eval_metric == "ndcg@10"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_spaces_of_networks(name):
    made = rw.NeuralRanker(name)
    default, paper = rw.spaces.default(name), rw.spaces.named("bivariate-2024", engine=name)
    for space in (default, paper):
        assert Space.parse(repr(space)) == space
        start = own_values(made, space)
        for dimension in space:
            values = getattr(space[dimension], "values", None)
            for value in values or (space[dimension].low, space[dimension].high):
                configured(made, {**start, dimension: value})._check(False)
    # All that the paper chose, in its tables 6 and 7, is inside.
    chosen = [
        row for (_, data), row in PRESETS.items() if row["architecture"] == name and data != "small"
    ]
    assert chosen
    for row in chosen:
        assert all(one.nearest(row[key]) == row[key] for key, one in paper.items() if key in row)
    assert set(default) == set(paper)


def test_spaces_of_stages_are_those_of_the_second():
    train, valid = data()
    model = rw.TwoStage(stages().first, network(), top=5, folds=2, verbose=False)
    tuning = rw.tune(model, train, valid, tuner="random", trials=2)
    inner = rw.spaces.default("dnn")
    assert dict(tuning.space) == {f"second__{name}": one for name, one in inner.items()}
    assert "number of epochs" in tuning.to_markdown()
    pairs = rw.TwoStage(second=rw.Ranker("bi-ranknet"))
    from rankwood.tuning.spaces.named_spaces import resolve

    named = resolve("bivariate-2024", pairs)
    assert named["second__num_leaves"] == Integer(31, 2000, log=True)


@pytest.mark.parametrize(
    ("make", "space", "message"),
    [
        (network, {"num_leaves": Integer(2, 5)}, "NeuralRanker has no parameter 'num_leaves'"),
        (network, {"device": Choice("cpu", "cuda")}, "the same in all trials"),
        (network, {"second__dropout": Float(0, 1)}, "only TwoStage has stages"),
        (network, {"heads": Integer(2, 5)}, "this NeuralRanker has no parameter 'heads'"),
        (stages, {"objective.mu": Float(0, 1)}, "'second__objective.mu'"),
        (stages, {"second__objective.mue": Float(0, 1)}, "has no parameter 'mue'"),
        (stages, {"num_leaves": Integer(2, 5)}, "TwoStage has no parameter 'num_leaves'"),
        (stages, {"second__num_leafs": Integer(2, 5)}, "num_leafs"),
        (stages, {"second__n_jobs": Integer(1, 2)}, "the same in all trials"),
        (stages, {"second": Choice("a", "b")}, "the same in all trials"),
        (stages, {"top": Integer(0, 1)}, "top must be at least 1"),
    ],
)
def test_wrong_names(make, space, message):
    train, valid = data()
    given = make()
    if "top" in space:
        given.set_params(top=0)
    with refused(message):
        rw.tune(given, train, valid, space=space, trials=1)


def test_two_stages_need_validation_data():
    with refused("which has folds of its own: give valid="):
        rw.tune(stages(), data()[0], folds=3)


def test_tuples_are_choices():
    choice = Choice((64, 32), (8,))
    assert repr(choice) == "Choice((64, 32), (8,))"
    assert choice.nearest((8,)) == (8,) and choice.nearest((1, 2)) == (64, 32)
    with refused("or tuples of them, such as (64, 32), got ([1],)"):
        Choice(([1],))


def test_the_optimiser_proposes_all_trials_without_a_start(tmp_path):
    from tests.helpers.small_study import same, study

    for tuner in ("random", "random+gp", "cfo"):
        free = study(tuner=tuner, trials=4, start=None)
        own = study(tuner=tuner, trials=4)
        assert free.records[0].params != own.records[0].params
        for trials in (1, 4):
            kept = study(tuner=tuner, trials=trials, start=None, storage=tmp_path / f"{tuner}.db")
        if tuner != "random+gp":  # the number of its random trials is that of the first call
            assert same(free, kept)
        with refused("another start"):
            study(tuner=tuner, trials=5, storage=tmp_path / f"{tuner}.db")
    # Random trials don't depend on the start: those after the first are the same.
    random, started = study(trials=4, start=None), study(trials=4)
    assert [r.params for r in random.records[1:]] == [r.params for r in started.records[1:]]
    with refused("start must be one of"):
        study(start="best")


@pytest.mark.parametrize("engine", [{"engine": "xgboost", "grow_policy": "depthwise"}, {}])
def test_trials_train_on_files(engine, tmp_path):
    """A study on files is the study on the same data in memory."""
    train, valid = rw.make_ranking(20, seed=1), rw.make_ranking(10, seed=2)
    rw.save_letor(train, tmp_path / "train.txt")
    rw.save_letor(valid, tmp_path / "valid.txt")
    files = [rw.stream_files([tmp_path / f"{name}.txt"]) for name in ("train", "valid")]
    memory = [rw.load_letor(tmp_path / f"{name}.txt") for name in ("train", "valid")]
    ranker = rw.Ranker(**engine, n_estimators=3, n_jobs=1)
    space = {"learning_rate": rw.spaces.Float(0.05, 0.3)}
    tuned = [
        rw.tune(ranker, *both, space=space, tuner="random", trials=3, verbose=False)
        for both in (files, memory)
    ]
    assert [one.value for one in tuned[0].records] == [one.value for one in tuned[1].records]
    with pytest.raises(rw.InputError, match="in memory"):
        rw.tune(ranker, files[0], folds=2, trials=2)
