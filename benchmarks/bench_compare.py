"""Permutation test of 6,000 queries with 10,000 draws: seconds, and ratios to SciPy and to a loop in NumPy."""

from typing import Any

import numpy as np
from scipy.stats import permutation_test

from benchmarks._timing import interleave, spread
from rankwood import Evaluation
from rankwood.report.comparison.compare import compare

QUERIES, DRAWS, BAR = 6000, 10_000, 1.0
FEWER = 20  # SciPy takes a twentieth of the draws, and its time is multiplied


def run(rounds: int = 5) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    ids = rng.permutation(QUERIES)
    a = rng.integers(0, 11, QUERIES) / 10
    b = np.clip(a + rng.integers(-2, 3, QUERIES) / 10, 0, 1)
    one = Evaluation(ids, {"p@10": a}, {})
    order = rng.permutation(QUERIES)
    other = Evaluation(ids[order], {"p@10": b[order]}, {})
    d = b - a

    def ours() -> float:
        found = compare({"a": one, "b": other}, draws=DRAWS, n_jobs=2)
        return float(found.tests["p"][0])

    def scipys() -> float:
        return float(
            permutation_test(
                (b, a),
                lambda x, y, axis: (x - y).mean(axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=DRAWS // FEWER,
                batch=100,
                rng=np.random.default_rng(1),
            ).pvalue
        )

    def loop() -> float:
        chance = np.random.default_rng(1)
        seen = abs(d.mean())
        signs = (chance.choice((-1.0, 1.0), QUERIES) for _ in range(DRAWS // FEWER))
        return sum(abs((s * d).mean()) >= seen for s in signs) / (DRAWS // FEWER)

    assert abs(ours() - scipys()) < 0.15 and abs(ours() - loop()) < 0.15
    seconds = interleave({"ours": ours, "scipy": scipys, "loop": loop}, rounds)
    best = min(seconds["ours"])
    others = {
        "scipy.stats.permutation_test, vectorised": FEWER * min(seconds["scipy"]),
        "a loop of NumPy calls": FEWER * min(seconds["loop"]),
    }
    return [
        {
            "what": f"compare two models: permutation test, {DRAWS:,} draws, {QUERIES:,} queries",
            "against": name,
            "ours": f"{1e3 * best:.0f} ms",
            "other": f"{other:.2f} s ({FEWER} times a {FEWER}th of the draws)",
            "ratio": other / best,
            "bar": f"< {BAR:g} s",
            "met": best < BAR,
            "spread": "; ".join(f"{n} {spread(s)}" for n, s in seconds.items()),
        }
        for name, other in others.items()
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
