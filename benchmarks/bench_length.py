"""Cost of an objective per document, by the length of the lists: 10 to 10,000 documents.

    python -m benchmarks.bench_length

Gradients are in float32 on two threads; each length has about a quarter of a million documents, scores move by 0.02
standard deviations between calls, and the best of several calls counts. Lengths take turns.
"""

import sys
import time
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.objectives.gradients import GradientComputer

LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
DOCUMENTS = 240_000
NAMES = (
    *("lambdarank-ndcg@10", "lambdarank-p@10", "lambdagap-s@10", "lambdamart-ex-static@10"),
    *("yetirank", "yetiloss-ndcg@10", "stochasticrank-ndcg@10", "softmax"),
)
#: A sum over all pairs of documents, whose cost is quadratic by definition: shorter lists, fewer documents.
QUADRATIC = ("ranknet", "stochasticrank-ndcg")


def contender(name: str, length: int, documents: int) -> Any:
    """Return a function that computes gradients at scores that have moved a little."""
    rng = np.random.default_rng(0)
    sizes = np.full(max(1, documents // length), length)
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    groups = group_rows(y.size, group=sizes)
    compute = GradientComputer(rw.objective(name), y, groups, dtype=np.float32, n_jobs=2)
    scores = rng.normal(size=y.size)
    compute(scores)

    def call() -> float:
        moved = scores + 0.02 * rng.normal(size=y.size)
        start = time.perf_counter()
        compute(moved)
        return (time.perf_counter() - start) / y.size

    return call


def costs(name: str, rounds: int = 7) -> dict[int, float]:
    """Return the nanoseconds a document, by length."""
    quadratic = name in QUADRATIC
    lengths = LENGTHS[:-1] if quadratic else LENGTHS
    documents = DOCUMENTS // 8 if quadratic else DOCUMENTS
    calls = {length: contender(name, length, documents) for length in lengths}
    seconds: dict[int, list[float]] = {length: [] for length in lengths}
    for _ in range(rounds):
        for length, call in calls.items():
            seconds[length].append(call())
    return {length: 1e9 * min(found) for length, found in seconds.items()}


def main() -> None:
    print("| ns a document | " + " | ".join(f"{n:,}" for n in LENGTHS) + " |")
    print("|---|" + "---|" * len(LENGTHS), flush=True)
    for name in sys.argv[1:] or [*NAMES, *QUADRATIC]:
        found = costs(name)
        cells = (f"{found[n]:.0f}" if n in found else "" for n in LENGTHS)
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
