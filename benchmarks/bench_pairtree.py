"""Trees on pairs: our learner on documents against LightGBM on a stored matrix of pairs.

1,000 queries of 20 documents, 137 features expanded to 685 (values, means, deviations, ranks, standardised values),
137 differences, 64 leaves, gradients of Bi-LambdaMART's first round: 380,000 × 1507. Each side runs in a process of
its own, so that peak memory is its own; data, which both need, are counted with both.
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


def ours(queries: int, threads: int) -> dict[str, Any]:
    from rankwood.engines.pairtree import Binned, Forest, Layout, Params
    from rankwood.engines.pairtree.grower import Grower

    def prepare(X: np.ndarray) -> Any:
        layout = Layout(np.arange(0, len(X) + 1, LIST))
        return Binned(X, layout, range(BASE), n_jobs=threads)

    small, y = documents(30)  # compiles
    binned = prepare(small)
    tree, _ = Grower(binned, Params(num_leaves=LEAVES), threads).grow(*gradients(y))
    Forest(5 * BASE, [tree]).predict(small, binned.layout.ptr)
    X, y = documents(queries)
    grad, hess = gradients(y)
    before = peak()
    binned, *setup = seconds(lambda: prepare(X))
    grower = Grower(binned, Params(num_leaves=LEAVES), threads)
    times = []
    for _ in range(TREES):
        grower.updates = 0
        (tree, _), *spent = seconds(lambda: grower.grow(grad, hess))
        times.append(spent)
    memory = peak()
    forest, one = Forest(5 * BASE, [tree] * 1000), np.array([0, LIST])
    forest.predict(X[:LIST], one, 1)
    predict = [seconds(lambda: forest.predict(X[:LIST], one, 1))[1] for _ in range(20)]
    return {
        **{"setup": setup, "trees": times, "memory": memory, "data": before},
        **{"updates": grower.updates, "predict": predict},
    }


def lightgbm(queries: int, threads: int) -> dict[str, Any]:
    import lightgbm as lgb

    X, y = documents(queries)
    grad, hess = (a.astype(np.float32) for a in gradients(y))
    before = peak()
    a, b = np.triu_indices(LIST, 1)
    first = np.stack([a, b], axis=1).ravel()[None, :] + LIST * np.arange(queries)[:, None]
    second = np.stack([b, a], axis=1).ravel()[None, :] + LIST * np.arange(queries)[:, None]
    M = np.empty((first.size, 11 * BASE), np.float32)
    M[:, : 5 * BASE], M[:, 5 * BASE : 10 * BASE] = X[first.ravel()], X[second.ravel()]
    M[:, 10 * BASE :] = M[:, :BASE] - M[:, 5 * BASE : 6 * BASE]
    params = {
        **{"num_leaves": LEAVES, "num_threads": threads, "verbose": -1, "objective": "none"},
        **{"metric": "None", "min_data_in_leaf": 20},
    }
    data = lgb.Dataset(M, np.zeros(len(M)), params=params)
    _, *setup = seconds(data.construct)
    del M
    out: dict[str, Any] = {"setup": setup, "data": before}
    for name, more in {"plain": {}, "quantised": {"use_quantized_grad": True}}.items():
        booster = lgb.Booster({**params, **more}, data)
        round_ = partial(booster.update, fobj=lambda *_: (grad, hess))
        out[name] = [seconds(round_)[1:] for _ in range(TREES)]
    return {**out, "memory": peak()}


def peak() -> float:
    """Return the most memory that this process had, in MB; `ru_maxrss` would count that of the parent too."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def measured(side: str, queries: int, threads: int) -> dict[str, Any]:
    """Run one side in a process of its own."""
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
    trees = [wall for wall, _ in mine["trees"]]
    plain, quantised = ([wall for wall, _ in other[name]] for name in ("plain", "quantised"))
    best = min(plain + quantised)
    spread = f"ours {_range(trees)}, LightGBM {_range(plain)}, quantised {_range(quantised)} s"
    spread += (
        f"; {1e9 * min(trees) / mine['updates']:.2f} ns × {mine['updates'] / 1e6:.0f} M updates"
    )
    rows = [
        _row(f"one tree, {what}", min(trees), best, 6.0, "s", spread),
        _row(f"set-up, {what}", mine["setup"][0], other["setup"][0], 50.0, "s", ""),
        _row(f"peak memory, {what}", mine["memory"], other["memory"], 8.0, "MB", "data in both"),
    ]
    walls = [1e3 * s for s in mine["predict"]]
    return [
        *rows,
        {
            "what": "20 documents, 1,000 trees of 64 leaves, one core",
            "against": "30 ms",
            "ours": f"{min(walls):.1f} ms",
            "other": "30 ms",
            "ratio": 30 / min(walls),
            "bar": "≥ 1×",
            "met": min(walls) <= 30,
            "spread": _range(walls),
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
        print(json.dumps({"ours": ours, "lightgbm": lightgbm}[side](queries, threads)))
    else:
        for each in run():
            print(each)
