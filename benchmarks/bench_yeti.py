"""YetiRank against CatBoost's own: rounds of training side by side, what of them the gradients are, and the NDCG@10.

CatBoost's gradients are its YetiRank round minus its QueryRMSE round, whose gradients cost next to nothing. Rounds
are timed one by one, in its callback and by our record; trees have 64 leaves (depth 6 there).
"""

import time
from typing import Any

import catboost
import numpy as np

import rankwood as rw
from benchmarks.bench_objective import THREADS, queries

ROUNDS = 10
MODES = {"yetirank": "Classic", "yetiloss-ndcg": "NDCG"}
VALID = 600  # queries


class Data:
    """Documents to train on and to validate on, the same for all."""

    def __init__(self) -> None:
        y, sizes = queries()
        rng = np.random.default_rng(2)
        held = rng.choice(5, VALID * 120, p=np.bincount(y.astype(int), minlength=5) / y.size)
        self.train = rw.RankingData(self.features(rng, y), y, group=sizes)
        self.valid = rw.RankingData(self.features(rng, held), held, group=np.full(VALID, 120))
        qid = np.repeat(np.arange(sizes.size), sizes)
        self.pool = catboost.Pool(self.train.X, y, group_id=qid)
        self.pool.quantize()

    @staticmethod
    def features(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        X = rng.normal(size=(y.size, 136)).astype(np.float32)
        X[:, :10] += 0.1 * y[:, None].astype(np.float32)
        return X

    def ndcg(self, scores: np.ndarray) -> float:
        return rw.evaluate("ndcg@10", self.valid, scores).mean()["ndcg@10"]


class Clock:
    """CatBoost's callback: when each round ended."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def after_iteration(self, info: Any) -> bool:
        self.ends.append(time.perf_counter())
        return True


def theirs(data: Data, loss: str) -> tuple[list[float], float]:
    clock = Clock()
    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": ROUNDS + 1,
            "depth": 6,
            "learning_rate": 0.1,
            "thread_count": THREADS,
            "random_seed": 0,
            "verbose": False,
            "allow_writing_files": False,
        }
    )
    model.fit(data.pool, callbacks=[clock])
    return np.diff(clock.ends).tolist(), data.ndcg(model.predict(data.valid.X, ntree_end=ROUNDS))


def ours(data: Data, name: str) -> tuple[list[float], list[float], float]:
    shared = {"num_leaves": 64, "learning_rate": 0.1, "n_jobs": THREADS, "extra_trees": False}
    ranker = rw.Ranker(name, n_estimators=ROUNDS, record=["seconds"], **shared).fit(data.train)
    gradients, trees = (ranker.record_[f"seconds_{part}"] for part in ("gradients", "trees"))
    rounds = [a + b for a, b in zip(gradients, trees, strict=True)]
    return rounds, gradients, data.ndcg(ranker.predict(data.valid.X))


def run(repeats: int = 2) -> list[dict[str, Any]]:
    data = Data()
    for name in MODES:  # compiled beforehand
        rw.Ranker(name, n_estimators=1, verbose=False).fit(data.valid)
    seconds: dict[str, list[float]] = {}
    reached: dict[str, float] = {}
    for _ in range(repeats):
        for name, mode in MODES.items():
            rounds, gradients, reached[name] = ours(data, name)
            seconds.setdefault(name, []).extend(rounds)
            seconds.setdefault(f"{name} gradients", []).extend(gradients)
            rounds, reached[mode] = theirs(data, f"YetiRank:mode={mode};permutations=10")
            seconds.setdefault(mode, []).extend(rounds)
        seconds.setdefault("QueryRMSE", []).extend(theirs(data, "QueryRMSE")[0])
    rows = []
    for name, mode in MODES.items():
        found = f"NDCG@10 after {ROUNDS} rounds {reached[name]:.4f} and {reached[mode]:.4f}"
        pairs = {
            "gradients": (seconds[f"{name} gradients"], seconds[mode], 5.0),
            "whole round": (seconds[name], seconds[mode], 2.5),
        }
        for part, (mine, other, bar) in pairs.items():
            base = min(seconds["QueryRMSE"]) if part == "gradients" else 0.0
            rows.append(row(f"{name}, {part}", mode, mine, [s - base for s in other], bar, found))
    return rows


def row(
    what: str, mode: str, mine: list[float], other: list[float], bar: float, found: str
) -> dict[str, Any]:
    ratio = min(other) / min(mine)
    spread = [
        " / ".join(f"{1e3 * x:.0f}" for x in (min(s), float(np.median(s)), max(s)))
        for s in (mine, other)
    ]
    return {
        "what": f"{what}, 10 permutations, 720,000 × 136, 64 leaves",
        "against": f"CatBoost YetiRank, mode {mode}",
        "ours": f"{1e3 * min(mine):.0f} ms",
        "other": f"{1e3 * min(other):.0f} ms",
        "ratio": ratio,
        "bar": f"≥ {bar}",
        "met": ratio >= bar,
        "spread": f"ours {spread[0]} ms, CatBoost {spread[1]} ms; {found}",
    }


if __name__ == "__main__":
    for each in run():
        print(each)
