"""Fitted models on the demo data, one per engine and one of two stages; each is trained once per process."""

from functools import cache

import rankwood as rw

KINDS = ("lightgbm", "xgboost", "catboost", "pairtree", "two-stage")
_SMALL = {
    "n_estimators": 5,
    "num_leaves": 7,
    "n_jobs": 1,
    "verbose": False,
    "early_stopping_rounds": None,
}
_OBJECTIVE = {"catboost": "queryrmse", "pairtree": "bi-ranknet"}


@cache
def demo_data(part="train"):
    """Return the first queries of a part of the demo data."""
    return rw.load_demo(part).select(list(range(20)))


@cache
def demo_model(kind):
    """Return the fitted model of a kind in `KINDS`. Nobody may change it: copy it, or save and load it, for that."""
    if kind == "two-stage":
        stage = rw.Ranker(**_SMALL)
        model = rw.TwoStage(stage, rw.Ranker("ranknet", **_SMALL), top=5, folds=2, verbose=False)
    else:
        options = {k: v for k, v in _SMALL.items() if (kind, k) != ("catboost", "num_leaves")}
        model = rw.Ranker(_OBJECTIVE.get(kind, "lambdarank-ndcg@10"), kind, **options)
    return model.fit(demo_data(), valid=demo_data("valid"))
