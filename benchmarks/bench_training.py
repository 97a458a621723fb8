"""A whole training run against LightGBM's native lambdarank with the same parameters."""

import time
from typing import Any

import numpy as np

import rankwood as rw
from benchmarks.bench_objective import THREADS, queries
from rankwood.engines.lightgbm.engine import lgb
from rankwood.engines.lightgbm.parameters import translate

ROUNDS = 20


def run(repeats: int = 3) -> list[dict[str, Any]]:
    y, sizes = queries()
    rng = np.random.default_rng(2)
    X = rng.normal(size=(y.size, 136)).astype(np.float32)
    X[:, :10] += 0.4 * y[:, None].astype(np.float32)
    params = {"num_leaves": 63, "learning_rate": 0.1, "n_jobs": THREADS, "random_state": 0}
    data = rw.RankingData(X, y, group=sizes)
    native = {
        **translate(params),
        "objective": "lambdarank",
        "lambdarank_truncation_level": 30,
    }

    def ours() -> dict[str, float]:
        ranker = rw.Ranker("lambdarank-ndcg@30", n_estimators=ROUNDS, **params).fit(data)
        return ranker.seconds_

    def theirs() -> None:
        lgb.train(native, lgb.Dataset(X, y, group=sizes), num_boost_round=ROUNDS)

    rw.gradients("lambdarank-ndcg@30", y[:100], y[:100])  # compiled beforehand
    seconds: dict[str, list[float]] = {"ours": [], "native": []}
    split: dict[str, float] = {}
    for _ in range(repeats):
        start = time.perf_counter()
        split = ours()
        seconds["ours"].append(time.perf_counter() - start)
        start = time.perf_counter()
        theirs()
        seconds["native"].append(time.perf_counter() - start)
    ratio = min(seconds["ours"]) / min(seconds["native"])
    return [
        {
            "what": f"whole training, {ROUNDS} rounds, truncation 30, 720,000 × 136, 63 leaves",
            "against": "LightGBM lambdarank, same parameters",
            "ours": f"{min(seconds['ours']):.2f} s",
            "other": f"{min(seconds['native']):.2f} s",
            "ratio": ratio,
            "bar": "≤ 1.0",
            "met": ratio <= 1.0,
            "spread": "; ".join(
                f"{n} {', '.join(f'{s:.2f}' for s in v)}" for n, v in seconds.items()
            )
            + f"; ours split: {', '.join(f'{k} {v:.2f}' for k, v in split.items())}",
        }
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
