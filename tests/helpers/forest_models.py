"""Small models of every kind that a forest can hold, and data with features of every kind."""

from functools import cache

import numpy as np

import rankwood as rw

SMALL = {"n_jobs": 1, "verbose": False, "early_stopping_rounds": None, "n_estimators": 12}
MODELS = {
    "lightgbm": {},
    "lightgbm-large": {"num_leaves": 255, "min_child_samples": 1, "n_estimators": 3},
    "lightgbm-stumps": {"num_leaves": 2},
    "lightgbm-dart": {"boosting": "dart", "drop_rate": 0.5},
    "lightgbm-langevin": {"langevin": True, "model_shrink_rate": 0.1},
    "lightgbm-categorical": {"categorical_feature": [5], "min_data_per_group": 5, "cat_smooth": 1},
    "xgboost": {"engine": "xgboost"},
    "xgboost-exact": {"engine": "xgboost", "tree_method": "exact", "max_depth": 5, "gamma": 0.05},
    "xgboost-dart": {"engine": "xgboost", "booster": "dart", "rate_drop": 0.5},
    "xgboost-categorical": {"engine": "xgboost", "categorical_feature": [5]},
    "catboost": {"engine": "catboost", "objective": "queryrmse", "max_depth": 4},
    "catboost-max": {"engine": "catboost", "objective": "queryrmse", "nan_mode": "Max"},
}


def features(rows=600, seed=0):
    """Columns of every kind: normal, few values, huge, tiny, missing, categories, constant, mostly missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 10))
    X[:, 1] = np.round(X[:, 1] * 2)
    X[:, 2] = np.exp(X[:, 2] * 20)
    X[:, 3] *= 1e-34
    X[:, 5] = rng.integers(0, 12, rows)
    X[:, 6] = 1.0
    X[:, 7] = rng.integers(0, 2, rows)
    X[rng.random(rows) < 0.3, 0] = np.nan
    X[rng.random(rows) < 0.1, 3] = 0.0
    X[rng.random(rows) < 0.7, 8] = np.nan
    X[rng.random(rows) < 0.5, 9] = np.nan
    return X


def data():
    X = features()
    Z = np.nan_to_num(X)
    own = Z[:, 0] + Z[:, 1] + np.isnan(X[:, 9]) + (Z[:, 5] % 3) + np.sign(Z[:, 3]) + np.log(Z[:, 2])
    y = np.digitize(own, np.quantile(own, [0.5, 0.75, 0.9]))
    return rw.RankingData(X, y, group=[20] * 30)


@cache
def fitted():
    """Return a ranker for each of `MODELS`; nobody may change them."""
    train = data()
    return {name: rw.Ranker(**{**SMALL, **given}).fit(train) for name, given in MODELS.items()}
