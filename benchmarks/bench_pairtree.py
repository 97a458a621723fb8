"""Trees on pairs: our learner on documents against LightGBM on a stored matrix of pairs.

1,000 queries of 20 documents, 137 features expanded to 685 (values, means, deviations, ranks, standardised values),
137 differences, 64 leaves, gradients of Bi-LambdaMART's first round: 380,000 × 1507. Trees of both sides grow in turn
in one process. Peak memory is measured before, in processes of their own; data, which both need, are counted with
both. The last rows are ours alone: how the time of a tree grows with the number of pairs.
"""

import json
import os
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np

THREADS = 2
BASE, LIST, LEAVES = 137, 20, 64
TREES = 5
LARGE = 6000  # queries


def documents(queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the expanded features and labels of lists with some signal."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(queries, LIST, BASE)).astype(np.float32)
    signal = 0.3 * values[:, :, :10].sum(axis=2) + 0.3 * values[:, :, 1] * values[:, :, 2]
    noisy = signal + rng.normal(size=signal.shape)
    y = np.digitize(noisy, [0.3, 1.2, 2.0, 2.6]).astype(float)
    mean = np.broadcast_to(values.mean(axis=1, keepdims=True), values.shape)
    sd = np.broadcast_to(values.std(axis=1, keepdims=True), values.shape)
    ranks = (-values).argsort(axis=1).argsort(axis=1).astype(np.float32) + 1
    X = np.concatenate([values, mean, sd, ranks, (values - mean) / sd], axis=2)
    return X.reshape(queries * LIST, 5 * BASE), y


def gradients(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return g_ij = (g_i - g_j) / (n - 1) and h_ij = (H_ii - 2 H_ij + H_jj) / (n - 1)^2 of LambdaRank, scores all 0."""
    n = LIST
    discount = 1 / np.log2(2 + np.arange(n))
    gain = 2.0**y
    weight = np.abs(gain[:, :, None] - gain[:, None, :])
    weight *= np.abs(discount[:, None] - discount[None, :])
    higher = y[:, :, None] > y[:, None, :]
    push = 0.5 * weight * higher
    g = push.sum(axis=1) - push.sum(axis=2)
    curve = 0.25 * weight
    h = curve.sum(axis=2)
    a, b = np.triu_indices(n, 1)
    grad = (g[:, a] - g[:, b]) / (n - 1)
    hess = (h[:, a] + 2 * curve[:, a, b] + h[:, b]) / (n - 1) ** 2
    return np.stack([grad, -grad], axis=2).ravel(), np.repeat(hess.ravel(), 2)


def seconds(work: Any) -> tuple[Any, float, float]:
    """Return what `work` returns, its time, and its processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    out = work()
    return out, time.perf_counter() - wall, time.process_time() - cpu


def learner(X: np.ndarray, threads: int) -> Any:
    """Return our learner on the documents X."""
    from rankwood.engines.pairtree import BinnedData, Grower, PairLayout, Params

    layout = PairLayout(np.arange(0, len(X) + 1, LIST))
    binned = BinnedData(X, layout, range(BASE), n_jobs=threads)
    return Grower(binned, Params(num_leaves=LEAVES), threads)


def compile_first(threads: int) -> None:
    """Grow a small tree and predict with it."""
    from rankwood.engines.pairtree import PairForest

    X, y = documents(30)
    small = learner(X, threads)
    tree, _ = small.grow(*gradients(y))
    PairForest(5 * BASE, [tree]).predict(X, small.layout.ptr)


def ours(queries: int, threads: int) -> dict[str, Any]:
    from rankwood.engines.pairtree import PairForest

    compile_first(threads)
    X, y = documents(queries)
    grad, hess = gradients(y)
    before = peak()
    grower, *setup = seconds(lambda: learner(X, threads))
    times = [seconds(lambda: grower.grow(grad, hess)) for _ in range(TREES)]
    memory = peak()
    tree, _ = times[-1][0]
    forest, one = PairForest(5 * BASE, [tree] * 1000), np.array([0, LIST])
    forest.predict(X[:LIST], one, 1)
    predict = [seconds(lambda: forest.predict(X[:LIST], one, 1))[1] for _ in range(20)]
    return {
        **{"setup": setup, "memory": memory, "data": before, "predict": predict},
        **{"updates": grower.updates / TREES, "trees": [spent for _, *spent in times]},
    }


def growth(queries: int, threads: int) -> dict[str, Any]:
    """Trees on 1,000 queries and on `queries`, in turn."""
    compile_first(threads)
    contenders = {}
    for count in (1000, queries):
        X, y = documents(count)
        contenders[str(count)] = partial(learner(X, threads).grow, *gradients(y))
    return interleaved(contenders)


def ranker(queries: int, threads: int) -> dict[str, Any]:
    """The whole of training: 100 trees by Ranker."""
    import rankwood as rw

    X, y = documents(queries)
    data = rw.RankingData(X, y.ravel(), qid=np.repeat(np.arange(queries), LIST))
    model = rw.Ranker(
        objective="bi-lambdarank-ndcg@5",
        engine="pairtree",
        n_estimators=100,
        num_leaves=LEAVES,
        learning_rate=0.01,
        n_jobs=threads,
        differences=list(range(BASE)),
    )
    _, *spent = seconds(lambda: model.fit(data))
    return {"fit": spent, "memory": peak()}


def stored_pairs(X: np.ndarray) -> np.ndarray:
    """Return the features of all ordered pairs."""
    a, b = np.triu_indices(LIST, 1)
    base = np.arange(0, len(X), LIST)[:, None]
    first = (np.stack([a, b], axis=1).ravel()[None, :] + base).ravel()
    second = (np.stack([b, a], axis=1).ravel()[None, :] + base).ravel()
    M = np.empty((first.size, 11 * BASE), np.float32)
    M[:, : 5 * BASE], M[:, 5 * BASE : 10 * BASE] = X[first], X[second]
    M[:, 10 * BASE :] = M[:, :BASE] - M[:, 5 * BASE : 6 * BASE]
    return M


def lightgbm(queries: int, threads: int) -> dict[str, Any]:
    """LightGBM's memory and set-up; then trees of both sides in turn."""
    import lightgbm as lgb

    X, y = documents(queries)
    grad, hess = gradients(y)
    single = grad.astype(np.float32), hess.astype(np.float32)
    before = peak()
    M = stored_pairs(X)
    params = {
        **{"num_leaves": LEAVES, "num_threads": threads, "verbose": -1, "objective": "none"},
        **{"metric": "None", "min_data_in_leaf": 20},
    }
    data = lgb.Dataset(M, np.zeros(len(M)), params=params)
    _, *setup = seconds(data.construct)
    del M
    contenders = {
        name: partial(lgb.Booster({**params, **more}, data).update, fobj=lambda *_: single)
        for name, more in {"plain": {}, "quantised": {"use_quantized_grad": True}}.items()
    }
    for grow in contenders.values():
        grow()
    memory = peak()
    compile_first(threads)
    contenders["ours"] = partial(learner(X, threads).grow, grad, hess)
    times = interleaved(contenders)
    return {**times, "setup": setup, "data": before, "memory": memory}


def interleaved(contenders: dict[str, Any]) -> dict[str, list[Any]]:
    """Return (time, processor time) of each round of each contender; they take turns."""
    times: dict[str, list[Any]] = {name: [] for name in contenders}
    for work in contenders.values():
        work()
    for _ in range(TREES):
        for name, work in contenders.items():
            times[name].append(seconds(work)[1:])
    return times


def peak() -> float:
    """Return the most memory that this process had, in MB; `ru_maxrss` would count that of the parent too."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


#: What runs in a process of its own.
PARTS = {"ours": ours, "lightgbm": lightgbm, "growth": growth, "ranker": ranker}


def measured(side: str, queries: int, threads: int) -> dict[str, Any]:
    """Run a part in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_pairtree", side, str(queries), str(threads)]
    env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(queries: int = 1000, threads: int = THREADS) -> list[dict[str, Any]]:
    mine, other = (measured(side, queries, threads) for side in ("ours", "lightgbm"))
    what = (
        f"{queries * LIST * (LIST - 1):,} pairs × {11 * BASE}, {LEAVES} leaves, {threads} threads"
    )
    trees, plain, quantised = (
        [wall for wall, _ in other[name]] for name in ("ours", "plain", "quantised")
    )
    spread = f"ours {_range(trees)}, LightGBM {_range(plain)}, quantised {_range(quantised)} s"
    spread += (
        f"; {1e9 * min(trees) / mine['updates']:.2f} ns × {mine['updates'] / 1e6:.0f} M updates"
    )
    rows = [
        _row(f"one tree, {what}", min(trees), min(plain + quantised), 6.0, "s", spread),
        _row(f"set-up, {what}", mine["setup"][0], other["setup"][0], 50.0, "s", ""),
        _row(f"peak memory, {what}", mine["memory"], other["memory"], 8.0, "MB", "data in both"),
    ]
    walls = [1e3 * s for s in mine["predict"]]
    rows.append(
        {
            "what": "20 documents, 1,000 trees of 64 leaves, one core",
            "against": "-",
            "ours": f"{min(walls):.1f} ms",
            "other": "-",
            "ratio": None,
            "bar": "≤ 30 ms",
            "met": min(walls) <= 30,
            "spread": _range(walls),
        }
    )
    return rows + _large(LARGE, threads)


def _large(queries: int, threads: int) -> list[dict[str, Any]]:
    """Rows of six times the pairs: a tree's time, and all of a training run."""
    grown = measured("growth", queries, threads)
    few, many = ([wall for wall, _ in grown[count]] for count in ("1000", str(queries)))
    times = queries / 1000
    whole = measured("ranker", queries, threads)
    minutes, memory = whole["fit"][0] / 60, whole["memory"] / 1024
    pairs = f"{queries * LIST * (LIST - 1):,} pairs × {11 * BASE}"
    return [
        {
            "what": f"one tree, {pairs}",
            "against": f"{times:g} times the time of a {times:g}th of the pairs",
            "ours": f"{min(many):.3g} s",
            "other": f"{times * min(few):.3g} s",
            "ratio": times * min(few) / min(many),
            "bar": "≈ 1×",
            "met": times * min(few) / min(many) >= 0.8,
            "spread": f"1,000 queries {_range(few)}, {queries:,} {_range(many)} s",
        },
        {
            "what": f"100 trees of 64 leaves, {pairs}, by Ranker",
            "against": "-",
            "ours": f"{minutes:.1f} min",
            "other": "-",
            "ratio": None,
            "bar": "≤ 25 min and 4 GB",
            "met": minutes <= 25 and memory <= 4,
            "spread": f"one run; {memory:.1f} GB",
        },
    ]


def _row(
    what: str, mine: float, other: float, bar: float, unit: str, spread: str
) -> dict[str, Any]:
    return {
        "what": what,
        "against": "LightGBM on stored pairs",
        "ours": f"{mine:.3g} {unit}",
        "other": f"{other:.3g} {unit}",
        "ratio": other / mine,
        "bar": f"≥ {bar:g}×",
        "met": other / mine >= bar,
        "spread": spread,
    }


def _range(values: list[float]) -> str:
    return " / ".join(f"{x:.3g}" for x in (min(values), float(np.median(values)), max(values)))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        side, queries, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        print(json.dumps(PARTS[side](queries, threads)))
    else:
        for each in run():
            print(each)
