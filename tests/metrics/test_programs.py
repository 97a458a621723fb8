"""Conventions against the programs themselves: LightGBM, XGBoost, CatBoost, trec_eval, scikit-learn."""

import lightgbm as lgb
import numpy as np
import pytest
import pytrec_eval
import xgboost as xgb
from catboost.utils import eval_metric
from sklearn.metrics import dcg_score, ndcg_score

import rankwood as rw


def many(rng, queries=200, grades=5):
    """Lists with ties in labels and scores, and some queries without relevant documents."""
    sizes = rng.integers(2, 40, queries)
    y = rng.integers(0, grades, sizes.sum()) * (rng.random(sizes.sum()) < 0.3)
    s = np.round(rng.normal(size=sizes.sum()), 1)
    y[: sizes[0]] = 0
    return y.astype(float), s, sizes


def split(sizes, *arrays):
    cuts = np.cumsum(sizes)[:-1]
    return zip(*(np.split(a, cuts) for a in arrays), strict=True)


def test_sklearn(rng):
    y, s, sizes = many(rng)
    ev = rw.evaluate(["ndcg@10", "ndcg", "dcg@5"], y, s, group=sizes, convention="sklearn")
    for row, (a, b) in zip(ev.per_query, split(sizes, y, s), strict=True):
        assert row["ndcg@10"] == pytest.approx(ndcg_score([a], [b], k=10), abs=1e-14)
        assert row["ndcg"] == pytest.approx(ndcg_score([a], [b]), abs=1e-14)
        assert row["dcg@5"] == pytest.approx(dcg_score([a], [b], k=5), abs=1e-12)


@pytest.mark.parametrize("labels", ["graded", "halves"])
def test_lightgbm(rng, labels):
    y, s, sizes = many(rng)
    names = ["map@1", "map@5", "map@10", "map@100"]
    if labels == "graded":
        names += [name.replace("map", "ndcg") for name in names]
    else:  # 0.5 is not relevant, what is above is
        y = np.where(rng.random(y.size) < 0.2, y + 0.5, y)
    # LightGBM evaluates these very scores when they are the initial ones and the tree is a stump of 0.
    data = lgb.Dataset(rng.normal(size=(y.size, 2)), y, group=sizes, init_score=s)
    objective = "lambdarank" if labels == "graded" else "regression"
    params = {"objective": objective, "eval_at": [1, 5, 10, 100], "verbose": -1}
    metrics = sorted({name.split("@")[0] for name in names})
    booster = lgb.Booster({**params, "metric": metrics, "learning_rate": 1e-300}, data)
    booster.update()
    ours = rw.evaluate(names, y, s, group=sizes, convention="lightgbm").mean()
    theirs = {name: value for _, name, value, _ in booster.eval_train()}
    for name in names:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-12)


def xgboost_value(name, y, s, sizes):
    data = xgb.DMatrix(np.zeros((y.size, 1)), label=y, base_margin=s)
    data.set_group(sizes)
    params = {"objective": "rank:ndcg", "eval_metric": name, "disable_default_eval_metric": 1}
    return float(xgb.Booster(params, [data]).eval(data).split(":")[1])


def test_xgboost(rng):
    y, s, sizes = many(rng)
    s += 1e-9 * rng.normal(size=s.size)  # a difference that float32 doesn't see
    binary = np.minimum(y, 1.0)
    for labels, names in ((y, ["ndcg", "ndcg@3"]), (binary, ["map", "map@3", "p@3", "p@100", "p"])):
        got = rw.evaluate(names, labels, s, group=sizes, convention="xgboost").mean()
        none = rw.evaluate(names, labels, s, group=sizes, convention="xgboost", empty=0).mean()
        for name in names:
            theirs = name.replace("p@", "pre@") if name.startswith("p@") else name
            theirs = "pre" if name == "p" else theirs
            expected = xgboost_value(theirs, labels, s, sizes)
            assert got[name] == pytest.approx(expected, abs=1e-12), name
            # A minus sign in XGBoost: queries without relevant documents count as 0.
            expected = xgboost_value(theirs + "-", labels, s, sizes)
            assert none[name] == pytest.approx(expected, abs=1e-12), name


CATBOOST = {
    "ndcg": "NDCG",
    "ndcg@3": "NDCG:top=3",
    "ndcg@3(gain='exp')": "NDCG:top=3;type=Exp",
    "dcg": "DCG",
    "dcg@3": "DCG:top=3",
    "dcg(gain='exp')": "DCG:type=Exp",
    "map": "MAP",
    "map@3": "MAP:top=3",
    "mrr": "MRR",
    "mrr@3": "MRR:top=3",
    "err": "ERR",
    "err@3": "ERR:top=3",
    "pfound": "PFound",
    "pfound@3": "PFound:top=3",
    "pfound(decay=0.5)": "PFound:decay=0.5",
    "p@3": "PrecisionAt:top=3",
    "p@100": "PrecisionAt:top=100",
    "recall@3": "RecallAt:top=3",
}


def test_catboost(rng):
    y, s, sizes = many(rng)
    qid = np.repeat(np.arange(sizes.size), sizes)
    for labels, names in (
        (y, [n for n in CATBOOST if n.startswith(("ndcg", "dcg", "map", "mrr", "p@", "recall"))]),
        # Its ERR and PFound read the label as a probability; relevant is what is above 0.5.
        (y / 4, [n for n in CATBOOST if "exp" not in n]),
    ):
        ours = rw.evaluate(names, labels, s, qid=qid, convention="catboost").mean()
        for name in names:
            (theirs,) = eval_metric(labels, s, CATBOOST[name], group_id=qid)
            assert ours[name] == pytest.approx(theirs, abs=1e-9), name
    with pytest.raises(rw.InputError, match="max_label is 1, but there is a label"):
        rw.evaluate("err", y, s, qid=qid, convention="catboost")


TREC = {
    "ndcg": "ndcg",
    "ndcg@3": "ndcg_cut_3",
    "map": "map",
    "map@3": "map_cut_3",
    "mrr": "recip_rank",
    "p@3": "P_3",
    "p@100": "P_100",
    "recall@3": "recall_3",
}


def trec_values(qrels, run, **options):
    measures = {"ndcg", "ndcg_cut.3", "map", "map_cut.3", "recip_rank", "P.3,100", "recall.3"}
    return pytrec_eval.RelevanceEvaluator(qrels, measures, **options).evaluate(run)


@pytest.mark.parametrize("rel", [1, 2])
def test_trec_eval(rng, rel):
    y, s, sizes = many(rng)
    s += 1e-9 * rng.normal(size=s.size)  # a difference that float32 doesn't see
    names = {
        name if rel == 1 or "ndcg" in name else f"{name}(rel=2)": theirs
        for name, theirs in TREC.items()
    }
    ev = rw.evaluate(list(names), y, s, group=sizes, convention="trec_eval")
    # Without document names our ties are in the order of rows; theirs are by decreasing name.
    parts = (
        [{f"{999 - i:03d}": float(v) for i, v in enumerate(a)} for (a,) in split(sizes, y)],
        [{f"{999 - i:03d}": float(v) for i, v in enumerate(b)} for (b,) in split(sizes, s)],
    )
    qrels = {str(q): {d: int(v) for d, v in docs.items()} for q, docs in enumerate(parts[0])}
    run = {str(q): docs for q, docs in enumerate(parts[1])}
    theirs = trec_values(qrels, run, relevance_level=rel)
    for q, row in enumerate(ev.per_query):
        for name, measure in names.items():
            assert row[name] == pytest.approx(theirs[str(q)][measure], abs=1e-12), name


def test_ranklib():
    """RankLib is not here: its rules, written out."""
    y, s = [0, 2, 1, 0.5], [4.0, 3.0, 2.0, 1.0]
    names = ["map", "mrr", "p@2", "p@10"]
    got = rw.evaluate(names, y, s, convention="ranklib").mean()
    # Whatever is above 0 is relevant; average precision is over all relevant documents.
    assert got["map"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)
    assert got["mrr"] == 0.5
    assert got["p@2"] == 0.5
    assert got["p@10"] == 0.75  # divided by the four documents there are
    got = rw.evaluate(["err@2", "ndcg", "dcg"], [0, 2, 1], s[:3], convention="ranklib").mean()
    assert got["err@2"] == pytest.approx(3 / 16 / 2)  # the largest grade is 4: 2^4 = 16
    assert got["dcg"] == pytest.approx(3 / np.log2(3) + 1 / 2)
    assert got["ndcg"] == pytest.approx(got["dcg"] / (3 + 1 / np.log2(3)))
    empty = rw.evaluate(["ndcg", "map", "mrr"], [0, 0], [1.0, 2.0], convention="ranklib").mean()
    assert empty == {"ndcg": 0.0, "map": 0.0, "mrr": 0.0}
    tied = rw.evaluate("mrr", [0, 1, 1], [1.0, 1.0, 1.0], convention="ranklib").mean()
    assert tied == {"mrr": 0.5}  # as in the file
