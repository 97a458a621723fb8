"""A study is what it computes: files in which a name meant something else are refused."""

import json
import sqlite3

import pytest

import rankwood as rw
from rankwood import extend, objectives
from rankwood._kernels.parts import computed_text
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.spaces import Choice, Integer, Space
from tests.helpers.small_study import data, refused

SPACE = Space({"num_leaves": Integer(2, 15, log=True)})
#: What 0.4.0 wrote about a study of `OBJECTIVE` with the arguments of `resume`, to the letter.
OF_0_4 = {
    "about": {
        "space": "Space({\n    'num_leaves': Integer(2, 15, log=True),\n})",
        "data": '["5222e1634107a764ee4bd5f576b09f0a", "0f92f06298d347b1434f2b6d55f92617"]',
        "metric": '[["NDCG(k=10)"], "worst", {"ndcg@10": 0}, false]',
        "ranker": (
            '{"colsample_bytree": 1.0, "early_stopping_rounds": 50, "engine": "lightgbm", "extra_trees": true, '
            '"feature_pre_filter": false, "learning_rate": 0.05, "max_depth": -1, "min_child_samples": 20, '
            '"min_child_weight": 0.001, "n_estimators": 10, "objective": "OBJECTIVE", "random_state": 0, '
            '"reg_alpha": 0.0, "reg_lambda": 0.0, "shuffle": true, "subsample": 1.0, "warm_start": false}'
        ),
        "tuner": '"random"',
        "seed": "0",
        "pruner": "null",
        "folds": "null",
    },
    "settings": {"random_trials": 1},
}


def resume(path, objective, trials=1, **how):
    train, valid = data()
    ranker = rw.Ranker(objective, n_estimators=10, n_jobs=1)
    known = {"space": SPACE, "tuner": "random", "pruner": None}
    return rw.tune(ranker, train, valid, trials=trials, storage=path, **{**known, **how})


def kept(path):
    with sqlite3.connect(path) as file:
        [[text]] = file.execute("select value_json from study_user_attributes")
    return json.loads(text)


def rewritten(path, known):
    with sqlite3.connect(path) as file:
        file.execute("update study_user_attributes set value_json = ?", [json.dumps(known)])


def file_of_0_4(path, objective):
    """Make the file of a study as 0.4.0 wrote it."""
    resume(path, objective)
    about = {**OF_0_4["about"]}
    about["ranker"] = about["ranker"].replace("OBJECTIVE", objective)
    rewritten(path, {**OF_0_4, "about": about})


def test_files_keep_what_is_computed_and_not_its_name(tmp_path):
    path = tmp_path / "study.db"
    resume(path, "lambdarank-ndcg@5")
    ranker = json.loads(kept(path)["about"]["ranker"])
    assert ranker["objective"] == repr(rw.objective("lambdarank-ndcg@5"))
    assert ranker["engine"] == "lightgbm"
    assert kept(path)["rankwood"] == rw.__version__
    # The composition itself is the same study.
    assert len(resume(path, rw.objective("lambdarank-ndcg@5"), 2).trials) == 2


@pytest.fixture
def own_name():
    """A name that a test may register."""
    yield "study-own"
    OBJECTIVES.pop("study-own", None)


def test_a_name_that_means_something_else_is_refused(tmp_path, own_name):
    path = tmp_path / "study.db"

    @extend.register_objective(own_name, replace=True)
    def before():
        return rw.objective("lambdarank-ndcg@5")

    resume(path, own_name)

    @extend.register_objective(own_name, replace=True)
    def after():
        return rw.objective("lambdarank-ndcg@3")

    bytes_before = path.read_bytes()
    with pytest.raises(
        rw.InputError, match=r"another ranker \(objective is .*5.* there and .*3.* here"
    ):
        resume(path, own_name, 2)
    assert path.read_bytes() == bytes_before


def test_own_parts_are_recognised_by_their_code():
    def make(power):
        @extend.part
        class StudyGap:
            def weight(self, a, b):
                return (a.label - b.label) ** power

        return objectives.Lambda(StudyGap())

    texts = [computed_text(make(power)) for power in (2, 2, 3)]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].startswith("Lambda(weight=StudyGap()) with StudyGap=")
    own = rw.objective("lambdaloss-ndcg@5")
    assert computed_text(own) == repr(own)  # the package's own parts print all that matters


def test_studies_of_0_4_resume_where_names_mean_the_same(tmp_path):
    path = tmp_path / "study.db"
    file_of_0_4(path, "lambdarank-ndcg@10")
    assert len(resume(path, "lambdarank-ndcg@10", 2).trials) == 2


def test_studies_of_0_4_are_refused_where_names_mean_something_else(tmp_path):
    path, name = tmp_path / "study.db", "lambdaloss-ex-random@5"
    file_of_0_4(path, name)
    before = path.read_bytes()
    with pytest.raises(
        rw.InputError, match=r"another ranker \(objective is .* here\); give another"
    ) as error:
        resume(path, name, 2)
    there, here = str(error.value).split(" there and ")
    assert "delta='shifted'" not in there and "delta='shifted'" in here
    assert path.read_bytes() == before
    assert len(resume(path, f"{name}(delta='exact')", 2).trials) == 2  # what it was begun with


def test_names_stay_where_their_parameters_are_tuned(tmp_path):
    path, space = tmp_path / "study.db", Space({"objective.k": Choice(3, 5)})
    resume(path, "lambdarank-ndcg@5", space=space)
    with refused("another ranker (objective is"):
        resume(path, "lambdarank-bndcg@5", space=space)
    ranker = json.loads(kept(path)["about"]["ranker"])
    assert ranker["objective"].startswith("lambdarank-ndcg@5: Lambda(")


def test_networks_of_another_revision_are_refused(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from rankwood.tuning import parameters

    path = tmp_path / "study.db"
    train, valid = data()
    network = rw.NeuralRanker(hidden=(4,), epochs=1, n_jobs=1, verbose=False)
    how = {"space": {"dropout": Choice(0.0, 0.1)}, "tuner": "random", "pruner": None}
    rw.tune(network, train, valid, trials=1, storage=path, **how)
    monkeypatch.setattr(parameters, "REVISION", parameters.REVISION + 1)
    with refused("another ranker (revision of networks is"):
        rw.tune(network, train, valid, trials=2, storage=path, **how)
