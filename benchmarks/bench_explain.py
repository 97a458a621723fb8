"""SHAP values of 100 documents against LightGBM's, XGBoost's and CatBoost's own, on one thread.

Models have 1,000 trees: of 64 leaves on LightGBM and XGBoost, of depth 6 on CatBoost; 136 features, 5 % missing.
A model is made once before; queries are in turn, as the same documents again would flatter branch predictors.
"""

import os
from itertools import cycle
from typing import Any

import numpy as np

import rankwood as rw
from benchmarks._timing import interleave, spread

_FEATURES, _DOCUMENTS, _QUERIES = 136, 100, 8
_MODELS = {
    "lightgbm": {"num_leaves": 64},
    "xgboost": {"num_leaves": 64, "max_depth": 0, "grow_policy": "lossguide"},
    "catboost": {"objective": "queryrmse", "max_depth": 6},
}


def _rows(rng: np.random.Generator, count: int) -> np.ndarray:
    X = rng.normal(size=(count, _FEATURES))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def _data(rng: np.random.Generator) -> rw.RankingData:
    X = _rows(rng, 3000)
    Z = np.nan_to_num(X)
    own = Z[:, :20].sum(axis=1) + 3 * Z[:, 3] * Z[:, 5] + 2 * rng.normal(size=len(X))
    return rw.RankingData(X, np.digitize(own, np.quantile(own, [0.5, 0.75, 0.9])), group=[60] * 50)


def _own(engine: str, booster: Any, X: np.ndarray) -> np.ndarray:
    """Return the engine's own SHAP values."""
    if engine == "lightgbm":
        return booster.predict(X, pred_contrib=True, num_threads=1)
    if engine == "xgboost":
        import xgboost

        return booster.predict(xgboost.DMatrix(X, nthread=1), pred_contribs=True)
    import catboost

    return booster.get_feature_importance(catboost.Pool(X), type="ShapValues", thread_count=1)


def run(rounds: int = 5, trees: int = 0) -> list[dict[str, Any]]:
    trees = trees or int(os.environ.get("RANKWOOD_BENCH_TREES", "1000"))
    rng = np.random.default_rng(3)
    data, rows = _data(rng), []
    for engine, params in _MODELS.items():
        ranker = rw.Ranker(**{"engine": engine, "n_estimators": trees, "n_jobs": 1, **params})
        ranker.fit(data)
        queries = [_rows(rng, _DOCUMENTS) for _ in range(_QUERIES)]
        mine, theirs = cycle(queries), cycle(queries)
        ranker.explain(queries[0])  # compiles, and prepares the trees
        seconds = interleave(
            {
                "ours": lambda r=ranker, q=mine: r.explain(next(q)),
                engine: lambda r=ranker, q=theirs, e=engine: _own(e, r.booster_, next(q)),
            },
            rounds,
        )
        found, own = ranker.explain(queries[0]), _own(engine, ranker.booster_, queries[0])
        total = found.base + found.values.sum(axis=1)
        ratio = min(seconds[engine]) / min(seconds["ours"])
        rows.append(
            {
                "what": f"explain 100 documents, {trees:,} trees, {engine}",
                "against": f"SHAP values of {engine} itself",
                "ours": f"{1e3 * min(seconds['ours']):.0f} ms",
                "other": f"{1e3 * min(seconds[engine]):.0f} ms",
                "ratio": ratio,
                "bar": "≥ 1×",
                "met": ratio >= 1,
                "spread": "; ".join(f"{n} {spread(s)}" for n, s in seconds.items()),
                "error": float(np.abs(total - found.scores).max()),
                "own_error": float(np.abs(own.sum(axis=1) - ranker.predict(queries[0])).max()),
                "difference": float(np.abs(own[:, :-1] - found.values).max()),
            }
        )
    return rows


if __name__ == "__main__":
    for row in run():
        print(row)
