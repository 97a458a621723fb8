"""Rankers of other programs with their own defaults, stopped early by the same validation data."""

import warnings

import numpy as np

import rankwood as rw

PATIENCE = 50  # of every program


def of_rankwood(train, valid, test, seed, threads):
    """Return the scores of the test documents and the number of trees."""
    ranker = rw.Ranker(random_state=seed, n_jobs=threads, verbose=False).fit(train, valid=valid)
    return ranker.predict(test), ranker.best_iteration_


def of_lightgbm(train, valid, test, seed, threads):
    """Return the scores of the test documents and the number of trees."""
    import lightgbm as lgb

    model = lgb.LGBMRanker(random_state=seed, n_jobs=threads, verbosity=-1)
    (one, y, sizes), (two, valid_y, valid_sizes) = _by_query(train), _by_query(valid)
    fit = {"eval_set": [(two, valid_y)], "eval_group": [valid_sizes], "eval_at": [10]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later versions have another name for eval_set
        stop = lgb.early_stopping(PATIENCE, verbose=False)
        model.fit(one, y, group=sizes, callbacks=[stop], **fit)
    return model.predict(test.X), model.best_iteration_


def of_xgboost(train, valid, test, seed, threads):
    """Return the scores of the test documents and the number of trees."""
    import xgboost as xgb

    stop = {"early_stopping_rounds": PATIENCE, "eval_metric": "ndcg@10"}
    model = xgb.XGBRanker(random_state=seed, n_jobs=threads, **stop)
    (one, y, sizes), (two, valid_y, valid_sizes) = _by_query(train), _by_query(valid)
    fit = {"eval_set": [(two, valid_y)], "eval_group": [valid_sizes], "verbose": False}
    model.fit(one, y, group=sizes, **fit)
    return model.predict(test.X), model.best_iteration + 1


def of_catboost(train, valid, test, seed, threads):
    """Return the scores of the test documents and the number of trees."""
    import catboost as cb

    model = cb.CatBoostRanker(
        loss_function="YetiRank",
        eval_metric="NDCG:top=10;type=Exp",
        early_stopping_rounds=PATIENCE,
        random_seed=seed,
        thread_count=threads,
        logging_level="Silent",
        allow_writing_files=False,
    )
    parts = []
    for X, y, sizes in (_by_query(train), _by_query(valid)):
        parts.append(cb.Pool(X, y, group_id=np.repeat(np.arange(sizes.size), sizes)))
    model.fit(parts[0], eval_set=parts[1])
    return model.predict(test.X), model.tree_count_


def _by_query(data):
    """Return features, labels and sizes of queries; the rows of a query are consecutive."""
    rows = data.groups.rows
    return data.X[rows], data.y[rows], data.groups.sizes


PEERS = {
    "rw.Ranker()": of_rankwood,
    "LGBMRanker()": of_lightgbm,
    "XGBRanker()": of_xgboost,
    "CatBoostRanker(YetiRank)": of_catboost,
}
