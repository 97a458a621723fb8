"""Trees of our own against LightGBM's on the same gradients, binning, and whole training runs against all engines.

Contenders take turns in one process with two threads; each row has the best wall time of several rounds and the spread.
LightGBM's histogram is the better one of both layouts.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rankwood as rw
from benchmarks._timing import interleave
from rankwood.engines.lightgbm.engine import lgb
from rankwood.engines.trees.binning.bins import BinRules
from rankwood.engines.trees.binning.documents import bin_documents
from rankwood.engines.trees.grower import TreeGrower
from rankwood.engines.trees.parameters import TreeParams

THREADS = 2
LISTS = 120  # documents of a query
ROUNDS = 7


def features(n: int, width: int, zero_heavy: bool = False) -> np.ndarray:
    """Return normal features; if `zero_heavy`, 40 % are mostly 0 and 30 % are small integers, as in MSLR."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, width), dtype=np.float32)
    if zero_heavy:
        many = int(0.4 * width)
        for j in range(many):
            zero = rng.random(n) < rng.uniform(0.7, 0.95)
            size = np.abs(X[:, j])
            X[:, j] = np.floor(size * rng.integers(2, 40)) + 1 if j % 2 else size
            X[zero, j] = 0
        for j in range(many, many + int(0.3 * width)):
            X[:, j] = np.floor(np.abs(X[:, j]) * rng.integers(1, 12))
    return X


def labelled(X: np.ndarray) -> rw.RankingData:
    """Return documents whose labels depend on some features."""
    rng = np.random.default_rng(1)
    signal = X[:, -1] + X[:, -2] * X[:, -3] + 0.5 * X[:, 0] + 0.3 * X[:, X.shape[1] // 2]
    noisy = signal + 1.5 * rng.standard_normal(X.shape[0], dtype=np.float32)
    y = np.digitize(noisy, [0.5, 1.5, 2.5, 3.5]).astype(float)
    return rw.RankingData(X, y, qid=np.arange(X.shape[0]) // LISTS)


def gradients(data: rw.RankingData) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients of LambdaRank at scores that know something."""
    rng = np.random.default_rng(2)
    scores = 0.3 * data.y + rng.normal(size=len(data))
    grad, hess = rw.gradients("lambdarank-ndcg@10", data, scores, n_jobs=THREADS)
    return grad.astype(np.float32), hess.astype(np.float32)


def row(what: str, times: dict[str, list[float]], bar: float, unit: float = 1e3) -> dict[str, Any]:
    """Return a row: ours against the fastest of the others."""
    best = {name: min(spent) for name, spent in times.items()}
    ours = best.pop("ours")
    other = min(best, key=lambda name: best[name])
    spread = "; ".join(
        f"{name} {min(t) * unit:.3g} / {float(np.median(t)) * unit:.3g} / {max(t) * unit:.3g}"
        for name, t in times.items()
    )
    return {
        "what": what,
        "against": other,
        "ours": f"{ours * unit:.3g} {'ms' if unit == 1e3 else 's'}",
        "other": f"{best[other] * unit:.3g} {'ms' if unit == 1e3 else 's'}",
        "ratio": best[other] / ours,
        "bar": f"≥ {bar:g}×",
        "met": best[other] / ours >= bar,
        "spread": spread,
    }


def boosters(data: rw.RankingData, leaves: int) -> dict[str, Any]:
    """Return LightGBM's boosters with both layouts of histograms, and with its own choice."""
    params = {
        **{"num_leaves": leaves, "num_threads": THREADS, "verbosity": -1, "objective": "none"},
        **{"min_data_in_leaf": 20, "feature_pre_filter": False},
    }
    layouts = {"row": {"force_row_wise": True}, "column": {"force_col_wise": True}}
    return {
        name: lgb.Booster(
            {**params, **more}, lgb.Dataset(data.X, data.y, params={**params, **more})
        )
        for name, more in layouts.items()
    }


def one_tree(what: str, data: rw.RankingData, leaves: int, bar: float) -> dict[str, Any]:
    """Return the time of a tree: fixed point, growth and scores, or what LightGBM does with given gradients."""
    grad, hess = gradients(data)
    grower = TreeGrower(
        bin_documents(data, BinRules(), (), THREADS), TreeParams(leaves), 0, THREADS
    )
    scores = np.zeros(len(data))
    contenders: dict[str, Callable[[], Any]] = {
        "ours": lambda: grower.grow(grad, hess, scores, 0, 0.1),
        **{
            f"LightGBM by {name}": partial(booster.update, fobj=lambda *_: (grad, hess))
            for name, booster in boosters(data, leaves).items()
        },
    }
    return row(f"one tree, {what}, {leaves} leaves", interleave(contenders, ROUNDS), bar)


def binning(data: rw.RankingData) -> dict[str, Any]:
    """Return the time of binning."""
    params = {"num_threads": THREADS, "verbosity": -1}
    contenders: dict[str, Callable[[], Any]] = {
        "ours": lambda: bin_documents(data, BinRules(), (), THREADS),
        "LightGBM": lambda: lgb.Dataset(data.X, data.y, params=params).construct(),
    }
    size = f"{len(data):,} × {data.n_features}"
    return row(f"binning, {size}", interleave(contenders, 3), 4.0, 1.0)


def whole_fit(train: rw.RankingData, valid: rw.RankingData, rounds: int) -> dict[str, Any]:
    """Return the time of a whole run with validation, against the programs with objectives of their own."""
    import catboost
    import xgboost as xgb

    shared = {"n_estimators": rounds, "num_leaves": 63, "n_jobs": THREADS, "extra_trees": False}

    def ours() -> None:
        ranker = rw.Ranker(
            engine="rankwood", early_stopping_rounds=None, learning_rate=0.1, **shared
        )
        ranker.fit(train, valid=valid)

    def lightgbm() -> None:
        params = {
            **{"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_leaves": 63},
            **{"lambdarank_truncation_level": 10, "num_threads": THREADS, "verbosity": -1},
        }
        data = lgb.Dataset(train.X, train.y, group=train.groups.sizes)
        other = data.create_valid(valid.X, valid.y, group=valid.groups.sizes)
        lgb.train(params, data, rounds, valid_sets=[other])

    def xgboost() -> None:
        params = {
            **{
                "objective": "rank:ndcg",
                "eval_metric": "ndcg@10",
                "max_leaves": 63,
                "nthread": THREADS,
            },
            **{
                "grow_policy": "lossguide",
                "max_depth": 0,
                "eta": 0.1,
                "lambdarank_num_pair_per_sample": 10,
            },
        }
        data = xgb.QuantileDMatrix(train.X, train.y, group=train.groups.sizes)
        other = xgb.QuantileDMatrix(valid.X, valid.y, group=valid.groups.sizes, ref=data)
        xgb.train(params, data, rounds, evals=[(other, "valid")], verbose_eval=False)

    def cat() -> None:
        model = catboost.CatBoostRanker(
            iterations=rounds,
            thread_count=THREADS,
            verbose=False,
            loss_function="YetiRank",
            allow_writing_files=False,
        )
        queries = [
            np.repeat(np.arange(d.groups.sizes.size), d.groups.sizes) for d in (train, valid)
        ]
        model.fit(
            train.X,
            train.y,
            group_id=queries[0],
            eval_set=catboost.Pool(valid.X, valid.y, group_id=queries[1]),
        )

    contenders = {"ours": ours, "LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": cat}
    size = f"{len(train):,} × {train.n_features}"
    times = interleave(contenders, 1)
    return row(f"whole fit, {rounds} rounds, {size}, 63 leaves, validation", times, 3.5, 1.0)


def peak_memory(engine: str) -> float:
    """Return the most memory of a process that trains 5 rounds, in MB."""
    code = (
        "import benchmarks.bench_trees as b, rankwood as rw, resource\n"
        "d = b.labelled(b.features(720_000, 136))\n"
        f"rw.Ranker(engine={engine!r}, n_estimators=5, num_leaves=63, n_jobs=2, extra_trees=False).fit(d)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def oversubscribed(data: rw.RankingData) -> dict[str, Any]:
    """Return the time of a tree with eight threads against two, on the same two cores."""
    grad, hess = gradients(data)
    binned, scores = bin_documents(data, BinRules(), (), THREADS), np.zeros(len(data))
    growers = {count: TreeGrower(binned, TreeParams(63), 0, count) for count in (2, 8)}
    contenders: dict[str, Callable[[], Any]] = {
        "two threads": lambda: growers[2].grow(grad, hess, scores, 0, 0.1),
        "eight": lambda: growers[8].grow(grad, hess, scores, 0, 0.1),
    }
    times = interleave(contenders, ROUNDS)
    ratio = min(times["eight"]) / min(times["two threads"])
    return {
        "what": "eight threads on two cores",
        "ratio": ratio,
        "bar": "≤ 1.5",
        "met": ratio <= 1.5,
    }


def run(rounds: int = 200) -> list[dict[str, Any]]:
    rows = []
    dense = labelled(features(720_000, 136))
    for leaves, bar in ((31, 3.3), (63, 3.5), (255, 4.0)):
        rows.append(one_tree("720,000 × 136", dense, leaves, bar))
    rows += [binning(dense), oversubscribed(dense)]
    rows.append(
        one_tree("720,000 × 136, zero-heavy", labelled(features(720_000, 136, True)), 63, 3.0)
    )
    rows.append(one_tree("100,080 × 46", labelled(features(100_080, 46)), 63, 2.7))
    valid = labelled(features(99_960, 136))
    rows.append(whole_fit(dense, valid, rounds))
    return rows


def mq2008(path: str) -> dict[str, Any]:
    """Return the time of a tree on a fold of MQ2008, from the folder of its five parts."""
    parts = [rw.load_letor(os.path.join(path, f"S{i}.txt")) for i in (1, 2, 3)]
    return one_tree("MQ2008", rw.RankingData.concat(parts), 31, 2.5)


if __name__ == "__main__":
    what = sys.argv[1:]
    if what[:1] == ["mq2008"]:
        print(mq2008(what[1]))
    elif what[:1] == ["memory"]:
        print({engine: peak_memory(engine) for engine in ("rankwood", "lightgbm")})
    else:
        for one in run(int(what[0]) if what else 200):
            print(one, flush=True)
