"""What fitted estimators offer: the engine's own object, a summary, ranked documents, and how they print."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rankwood as rw
from rankwood.data.synthetic import make_ranking
from rankwood.engines.pairtree.forest import PairForest

SMALL = {"n_estimators": 4, "num_leaves": 4, "n_jobs": 1}
ENGINES = {
    "lightgbm": ("lambdarank-ndcg@10", "lightgbm.basic", "Booster"),
    "xgboost": ("lambdarank-ndcg@10", "xgboost.core", "Booster"),
    "catboost": ("yetirank", "catboost.core", "CatBoost"),
    "pairtree": ("bi-lambdarank-ndcg@5", PairForest.__module__, "PairForest"),
}


@pytest.fixture(scope="module")
def data():
    everything = make_ranking(24, documents=8, features=9, seed=1)
    return everything.select(list(range(16))), everything.select(list(range(16, 24)))


@pytest.fixture(scope="module")
def ranker(data):
    train, valid = data
    return rw.Ranker(**SMALL).fit(train, valid=valid)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engines_own_object_predicts_the_same(engine, data, tmp_path):
    train, test = data
    objective, module, name = ENGINES[engine]
    fitted = rw.Ranker(objective, engine, **SMALL).fit(train)
    fitted.save(tmp_path / "m.json")
    for model in (fitted, rw.Ranker.load(tmp_path / "m.json")):
        booster = model.booster_
        assert (type(booster).__module__, type(booster).__name__) == (module, name)
        assert not hasattr(model, "module_")
    if engine == "lightgbm":
        assert (booster.predict(test.X) == fitted.predict(test)).all()
        assert booster.num_trees() == fitted.best_iteration_
    assert model.summary().to_dict() == fitted.summary().to_dict()


def test_objects_that_there_are_not(ranker, data):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        rw.Ranker().booster_  # noqa: B018
    with pytest.raises(AttributeError, match="Ranker has no module_: read booster_"):
        ranker.module_  # noqa: B018
    two = rw.TwoStage(rw.Ranker(**SMALL), rw.Ranker(**SMALL), top=4, folds=2).fit(data[0])
    with pytest.raises(AttributeError, match=r"read first_\[0\].booster_ and second_.booster_"):
        two.booster_  # noqa: B018
    assert two.second_.booster_.num_trees() == 4
    found = two.summary().to_dict()
    assert (found["folds"], found["top"], found["second"]["trees"]) == (2, 4, 4)
    assert found["data"] == {"queries": 16, "documents": len(data[0])}
    assert "2 models of 4 trees" in repr(two.summary())
    assert str(two).endswith("fitted: 2 models in the first stage, second stage 4 trees")
    assert two.rank(data[1], top=1).rows["row"].tolist() == [
        max(rows, key=two.predict(data[1]).__getitem__)
        for rows in np.split(data[1].groups.rows, data[1].groups.ptr[1:-1])
    ]


def test_a_network_has_a_module(data):
    torch = pytest.importorskip("torch")
    model = rw.NeuralRanker("dnn", "softmax", hidden=(4,), epochs=1).fit(data[0])
    assert isinstance(model.module_, torch.nn.Module) and not model.module_.training
    assert not hasattr(model, "booster_")
    assert "1 epoch" in str(model) and "neural, dnn" in repr(model.summary())
    found = model.summary().to_dict()
    assert found["epochs"] == 1 and "trees" not in found


def test_summary(ranker, data):
    train, _ = data
    found = ranker.summary(top=2).to_dict()
    json.dumps(found, allow_nan=False)
    curve, kept = ranker.history_["ndcg@10"], ranker.best_iteration_
    measured = {"metric": "ndcg@10", "round": kept, "value": curve[kept - 1]}
    assert found["validation"] == {"set": "valid", **measured}
    assert (found["objective"], found["engine"]) == ("lambdarank-ndcg@10", "lightgbm")
    assert (found["trees"], found["rounds"]) == (kept, len(curve))
    assert found["data"] == {"queries": 16, "documents": len(train)}
    shares = ranker.feature_importances_
    best = np.argsort(-shares, kind="stable")[:2]
    assert found["importances"] == {f"f{i + 1}": shares[i] for i in best}
    assert found["features_used"] == (shares > 0).sum()
    text = repr(ranker.summary())
    assert f"ndcg@10 {curve[kept - 1]:.4f} in round {kept}" in text
    assert "16 queries, 128 documents" in text
    assert "<table>" in ranker.summary()._repr_html_()


def test_names_in_a_summary_are_escaped(data):
    train, _ = data
    names = ["<b>\x1b[31m", *"bcdefghi"]
    frame = pd.DataFrame(np.asarray(train.X), columns=names)
    model = rw.Ranker(**{**SMALL, "n_estimators": 1}).fit(frame, train.y, qid=train.qid)
    page, text = model.summary()._repr_html_(), repr(model.summary())
    assert "&lt;b&gt;\\x1b[31m" in page and "<b>" not in page
    assert "\x1b" not in page + text


def test_printing(ranker):
    plain = "Ranker(n_estimators=4, n_jobs=1, num_leaves=4)"
    assert repr(ranker) == repr(clone(ranker)) == str(clone(ranker)) == plain
    assert str(ranker).splitlines()[0] == plain
    assert str(ranker).splitlines()[1].startswith(f"fitted: {ranker.best_iteration_} tree")
    assert repr(rw.Ranker(extra_trees=False)) == "Ranker(extra_trees=False)"
    assert "n_estimators" in ranker._repr_html_()


def test_rank_is_the_order_of_the_scores(ranker, data, rng):
    _, test = data
    shuffled = rng.permutation(len(test))
    X, qid = np.asarray(test.X)[shuffled], test.qid[shuffled]
    scores = ranker.predict(X)
    ranked = ranker.rank(X, qid=qid).rows
    expected = [
        (q, place, row, scores[row])
        for q in dict.fromkeys(qid.tolist())
        for place, row in enumerate(
            sorted(np.flatnonzero(qid == q).tolist(), key=lambda i: -scores[i]), 1
        )
    ]
    assert ranked.tolist() == expected
    best = ranker.rank(X, qid, 2)
    assert best.rows.tolist() == [row for row in expected if row[1] <= 2]
    assert best.to_frame().columns.tolist() == ["qid", "rank", "row", "score"]
    assert best.to_csv().splitlines()[1] == ",".join(map(str, expected[0]))
    assert f"{len(best)} documents of 8 queries" in repr(best)
    frame = pd.DataFrame(X, columns=list("abcdefghi")).assign(query=qid)
    named = rw.Ranker(**SMALL).fit(frame.assign(y=test.y[shuffled]), "y", qid="query")
    assert len(named.rank(frame, "query", top=1)) == 8


def test_rank_keeps_document_ids_and_the_order_of_ties(ranker, data):
    _, test = data
    some = test.select([0])
    named = rw.RankingData(
        some.X, some.y, qid=some.qid, comments=[f"docid = d{i}" for i in range(len(some))]
    )
    ranked = ranker.rank(named, top=3).rows
    assert ranked["document"].tolist() == [f"d{i}" for i in ranked["row"]]
    tied = ranker.rank(np.zeros((4, 9)))
    assert tied.rows["row"].tolist() == [0, 1, 2, 3]
    assert "4 documents of 1 query" in tied._repr_html_()
    for top in (0, 1.5):
        with pytest.raises(rw.InputError, match="top must be"):
            ranker.rank(named, top=top)
