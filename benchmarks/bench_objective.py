"""One objective call against LightGBM's native lambdarank.

A boosting round with one feature and two leaves, minus the same round with a custom objective that
does nothing: what is left is the objective.
"""

from functools import partial
from typing import Any

import numpy as np

import rankwood as rw
from benchmarks._timing import interleave, spread
from rankwood.data.groups import group_rows
from rankwood.engines.lightgbm.engine import (
    lgb,  # loaded as the engine loads it, for both contenders
)
from rankwood.objectives.gradients import GradientComputer

THREADS = 2
BARS = {10: 2.0, 30: 2.5, None: 3.5}


def queries(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as skewed as those of web search, and sizes: 6,000 queries of about 120 documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(100, 141, 6000)
    return rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float), sizes


def booster(X: np.ndarray, y: np.ndarray, sizes: np.ndarray, params: dict[str, Any]) -> lgb.Booster:
    shared = {"num_leaves": 2, "num_threads": THREADS, "verbose": -1, "metric": "None"}
    return lgb.Booster({**shared, **params}, lgb.Dataset(X, y, group=sizes))


def run(rounds: int = 15) -> list[dict[str, Any]]:
    y, sizes = queries()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(y.size, 1))
    groups = group_rows(y.size, group=sizes)
    idle = rng.normal(size=y.size).astype(np.float32), np.ones(y.size, np.float32)
    rows = []
    for k, bar in BARS.items():
        for norm in (True, False):
            native = {
                "objective": "lambdarank",
                "lambdarank_truncation_level": k or 10_000,
                "lambdarank_norm": norm,
            }
            objective = rw.objective("lambdarank-ndcg", k=k, norm=norm)
            drive = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=THREADS)
            make = partial(booster, X, y, sizes)
            null, ours = make({"objective": "none"}), make({"objective": "none"})
            seconds = interleave(
                {
                    "null": partial(null.update, fobj=lambda *_: idle),
                    "ours": partial(ours.update, fobj=lambda scores, _, call=drive: call(scores)),
                    "native": make(native).update,
                },
                rounds,
            )
            best = {name: min(s) for name, s in seconds.items()}
            own, other = best["ours"] - best["null"], best["native"] - best["null"]
            rows.append(
                {
                    "what": f"objective call, truncation {k or 'none'}, norm {'on' if norm else 'off'}",
                    "against": "LightGBM lambdarank",
                    "ours": f"{1e3 * own:.1f} ms",
                    "other": f"{1e3 * other:.1f} ms",
                    "ratio": other / own,
                    "bar": f"≥ {bar}×",
                    "met": other / own >= bar,
                    "spread": "; ".join(f"{n} {spread(s)}" for n, s in seconds.items()),
                }
            )
    return rows


if __name__ == "__main__":
    for row in run():
        print(row)
