"""A whole training run against LightGBM's native lambdarank with the same parameters."""

import time
from typing import Any, NamedTuple

import numpy as np

import rankwood as rw
from benchmarks.bench_objective import THREADS, queries
from rankwood.engines.lightgbm.engine import lgb
from rankwood.engines.lightgbm.parameters import translate
from rankwood.estimators.parameters import engine_params

ROUNDS = 20


class Case(NamedTuple):
    """Parameters of both, in words and as values."""

    what: str
    truncation: int
    params: dict[str, Any]


CASES = (
    Case("63 leaves", 30, {"num_leaves": 63, "learning_rate": 0.1, "extra_trees": False}),
    Case("the defaults of Ranker", 10, {}),
)


def run(repeats: int = 3) -> list[dict[str, Any]]:
    y, sizes = queries()
    rng = np.random.default_rng(2)
    X = rng.normal(size=(y.size, 136)).astype(np.float32)
    X[:, :10] += 0.4 * y[:, None].astype(np.float32)
    data = rw.RankingData(X, y, group=sizes)
    return [one_case(case, data, repeats) for case in CASES]


def one_case(case: Case, data: rw.RankingData, repeats: int) -> dict[str, Any]:
    """Return the times of both, taken in turn."""
    name = f"lambdarank-ndcg@{case.truncation}"
    ranker = rw.Ranker(name, n_estimators=ROUNDS, n_jobs=THREADS, verbose=False, **case.params)
    native = {
        **translate(engine_params(ranker)),
        "objective": "lambdarank",
        "lambdarank_truncation_level": case.truncation,
    }

    def theirs() -> None:
        binned = lgb.Dataset(data.X, data.y, group=data.groups.sizes)
        lgb.train(native, binned, num_boost_round=ROUNDS)

    rw.gradients(name, data.y[:100], data.y[:100])  # compiled beforehand
    seconds: dict[str, list[float]] = {"ours": [], "native": []}
    for _ in range(repeats):
        for key, train in (("ours", lambda: ranker.fit(data)), ("native", theirs)):
            start = time.perf_counter()
            train()
            seconds[key].append(time.perf_counter() - start)
    ratio = min(seconds["ours"]) / min(seconds["native"])
    size = f"{ROUNDS} rounds, truncation {case.truncation}, 720,000 × 136"
    spread = "; ".join(f"{n} {', '.join(f'{s:.2f}' for s in v)}" for n, v in seconds.items())
    split = ", ".join(f"{k} {v:.2f}" for k, v in ranker.seconds_.items())
    return {
        "what": f"whole training, {size}, {case.what}",
        "against": "LightGBM lambdarank, same parameters",
        "ours": f"{min(seconds['ours']):.2f} s",
        "other": f"{min(seconds['native']):.2f} s",
        "ratio": ratio,
        "bar": "≤ 1.0",
        "met": ratio <= 1.0,
        "spread": f"{spread}; ours split: {split}",
    }


if __name__ == "__main__":
    for row in run():
        print(row)
