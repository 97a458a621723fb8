"""Several validation sets by name, and the words that other programs have for arguments of `fit`."""

import json

import numpy as np
import pytest

import rankwood as rw
from rankwood.report import plots
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import signed


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(5)
    parts = (random_lists(rng, queries=20, longest=20, features=4) for _ in range(3))
    return [rw.RankingData(X, y, group=sizes) for X, y, sizes in parts]


def small(engine="lightgbm", objective="lambdarank-ndcg@10", **params):
    own = {"min_child_samples": 5} if engine == "lightgbm" else {}
    shared = {"n_estimators": 12, "num_leaves": 7, "n_jobs": 1, "early_stopping_rounds": 3}
    return rw.Ranker(objective, engine, **{**shared, **own, **params})


@pytest.mark.parametrize(
    ("engine", "objective"),
    [
        ("lightgbm", "lambdarank-ndcg@10"),
        ("xgboost", "lambdarank-ndcg@10"),
        ("catboost", "queryrmse"),
        ("pairtree", "bi-lambdarank-ndcg@5"),
    ],
)
def test_each_set_is_evaluated_as_if_alone(sets, engine, objective):
    """And the first one decides: the model is the one it would have stopped on its own."""
    train, valid, later = sets
    metrics = ["ndcg@10", "map"]

    def fit(data, **params):
        return small(engine, objective, eval_metric=metrics, **params).fit(train, valid=data)

    both = fit({"valid": valid, "later": later})
    first, second = fit(valid), fit(later, early_stopping_rounds=None)
    assert list(both.history_) == ["ndcg@10", "map", "later ndcg@10", "later map"]
    rounds = len(both.history_["map"])
    for name in metrics:
        assert both.history_[name] == first.history_[name]
        assert both.history_[f"later {name}"] == second.history_[name][:rounds]
    assert both.best_iteration_ == first.best_iteration_
    np.testing.assert_array_equal(both.predict(later), first.predict(later))


def test_the_names_of_sets_are_kept_the_first_too(sets, tmp_path):
    train, valid, later = sets
    path = tmp_path / "m.json"
    fitted = small(n_estimators=2).fit(train, valid={"near": valid, "far": later})
    fitted.save(path)
    for model in (fitted, rw.Ranker.load(path)):
        assert model.validation_sets_ == ["near", "far"]
        assert model.summary().to_dict()["validation"]["set"] == "near"
        assert "near: ndcg@10 0." in repr(model.summary())
        legend = plots.learning_curve(model).axes[0].get_legend().get_texts()
        assert [text.get_text().split(":")[0] for text in legend] == ["near", "far"]
    content = json.loads(path.read_text())
    path.write_text(signed({k: v for k, v in content.items() if k != "validation_sets"}))
    older = rw.Ranker.load(path)  # as earlier versions wrote
    assert older.summary().to_dict()["validation"]["set"] is None
    legend = plots.learning_curve(older).axes[0].get_legend().get_texts()
    assert "first validation set" in legend[0].get_text()
    path.write_text(signed({**content, "validation_sets": [3]}))
    with pytest.raises(rw.InputError, match="'validation_sets' must be a list of names"):
        rw.Ranker.load(path)
    assert small(n_estimators=1).fit(train).validation_sets_ == []
    pytest.importorskip("torch")
    net = rw.NeuralRanker("dnn", "softmax", hidden=(4,), epochs=1)
    assert net.fit(train, valid=[("near", valid)]).validation_sets_ == ["near"]


def test_pairs_tuples_and_sets_that_share_ids(sets, tmp_path):
    train, valid, later = sets
    assert set(valid.groups.ids) & set(later.groups.ids)
    pair = [("near", valid), ("far", (later.X, later.y, later.qid))]
    listed = small().fit(train, valid=pair)
    named = small().fit(train, valid=dict(pair))
    assert listed.history_ == named.history_
    assert set(listed.history_) == {"ndcg@10", "far ndcg@10"}
    listed.save(tmp_path / "m.json")
    assert rw.Ranker.load(tmp_path / "m.json").history_ == listed.history_


def test_unlisted_labels_and_sparse_features_of_some_sets(sets):
    from scipy import sparse

    train, valid, later = sets
    labels = [[4.0]] * later.groups.ids.size
    cut = rw.RankingData(sparse.csr_array(later.X), later.y, qid=later.qid, unlisted=labels)
    both = small().fit(train, valid={"valid": valid, "cut": cut})
    alone = small(early_stopping_rounds=None).fit(train, valid=cut)
    rounds = len(both.history_["ndcg@10"])
    assert both.history_["cut ndcg@10"] == alone.history_["ndcg@10"][:rounds]


@pytest.mark.parametrize(
    ("valid", "message"),
    [
        ({}, "valid has no set"),
        ({3: "x"}, "the name of a set must be text, got 3"),
        ([("a", "valid"), ("a", "valid")], "two sets of the name 'a'"),
        ({"late": "text"}, r"'late' must be a RankingData or \(X, y, qid\), got str"),
        ({"late": ([[1.0]], [1.0], [1])}, "validation data 'late' has 1 features"),
        ({"late": ([[1.0]], [-1.0], [1])}, "in the validation data 'late', y must not be negative"),
        ((rw.load_demo("valid"),) * 2, "several sets need names, as in valid="),
        (([[1.0]], [1.0]), r"valid must be \(X, y, qid\), got 2 values"),
    ],
)
def test_wrong_sets(sets, valid, message):
    if isinstance(valid, list):
        valid = [(name, sets[1]) for name, _ in valid]
    with pytest.raises(rw.InputError, match=message):
        small().fit(sets[0], valid=valid)


def test_words_of_other_programs_are_taken(sets):
    train, valid, _ = sets
    X, y, qid, sizes = valid.X, valid.y, valid.qid, valid.groups.sizes
    ours = small().fit(train.X, train.y, qid=train.qid, valid=(X, y, qid))
    for others in (
        {"qid": train.qid, "eval_set": [(X, y)], "eval_qid": [qid]},  # XGBoost
        {"group": train.groups.sizes, "eval_set": [(X, y)], "eval_group": [sizes]},  # LightGBM
        {"group_id": train.qid, "eval_set": (X, y), "eval_qid": qid},  # CatBoost
        {"qid": train.qid, "eval_set": [valid]},
    ):
        assert small().fit(train.X, train.y, **others).history_ == ours.history_


def test_words_of_other_programs_are_answered(sets):
    train, valid, _ = sets
    pair = (valid.X, valid.y)
    answers = [
        ({"eval_set": [pair, pair]}, r"valid=\{'recent': \(X, y, qid\), .* deciding one first"),
        ({"eval_set": [pair]}, r"give eval_qid=\[ids\] or eval_group=\[sizes\]"),
        ({"eval_set": [3]}, r"give valid=\(X, y, qid\)"),
        ({"eval_set": 3}, r"must be a list of \(X, y\), got int"),
        ({"eval_qid": [valid.qid]}, "give eval_set= too"),
        ({"eval_set": [valid], "valid": valid}, "eval_set and valid mean the same"),
        ({"group_id": train.qid, "qid": train.qid}, "group_id and qid mean the same"),
        ({"eval_at": [5]}, r"Ranker\(eval_metric=\['ndcg@5', 'ndcg@10'\]\)"),
        ({"eval_metric": "ndcg"}, r"Ranker\(eval_metric="),
        ({"early_stopping_rounds": 5}, r"Ranker\(early_stopping_rounds=50\)"),
        ({"verbose": True}, r"Ranker\(verbose=True\)"),
        ({"categorical_feature": [0]}, r"Ranker\(categorical_feature=\[0, 3\]\)"),
        ({"eval_names": ["a"]}, "valid={'recent'"),
        ({"feature_name": ["a"]}, "feature_names=names"),
        ({"init_model": 1}, "with warm_start=True and a larger n_estimators"),
        ({"plot": True}, r"callbacks.LiveCurve\(\)"),
        ({"calbacks": []}, "did you mean 'callbacks'"),
    ]
    for others, message in answers:
        rows = {"qid": train.qid} if "group_id" not in others else {}
        with pytest.raises(rw.InputError, match=message):
            small().fit(train.X, train.y, **{**rows, **others})
    with pytest.raises(rw.InputError, match=r"parameter of a stage, as in first=Ranker\(eval_met"):
        rw.TwoStage().fit(train, eval_at=[5])
    with pytest.raises(rw.InputError, match=r"NeuralRanker\(eval_metric="):
        rw.NeuralRanker().fit(train, eval_at=[5])
