"""NDCG@10 of 750,000 documents against scikit-learn's ndcg_score, query by query."""

from typing import Any

import numpy as np
from sklearn.metrics import ndcg_score

import rankwood as rw
from benchmarks._timing import interleave, spread


def run(rounds: int = 5) -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    sizes = np.full(6250, 120)
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    scores = rng.normal(size=y.size)
    qid = np.repeat(np.arange(sizes.size), sizes)
    cuts = list(zip(np.cumsum(sizes) - sizes, np.cumsum(sizes), strict=True))

    def theirs() -> float:
        return float(np.mean([ndcg_score([y[a:b]], [scores[a:b]], k=10) for a, b in cuts]))

    def ours() -> float:
        return rw.evaluate("ndcg@10", y, scores, qid=qid, convention="sklearn", n_jobs=2).mean()[
            "ndcg@10"
        ]

    assert abs(ours() - theirs()) < 1e-12
    seconds = interleave({"ours": ours, "sklearn": theirs}, rounds)
    ratio = min(seconds["sklearn"]) / min(seconds["ours"])
    return [
        {
            "what": "evaluate NDCG@10, 750,000 documents, query ids to value",
            "against": "sklearn.metrics.ndcg_score per query",
            "ours": f"{1e3 * min(seconds['ours']):.1f} ms",
            "other": f"{1e3 * min(seconds['sklearn']):.0f} ms",
            "ratio": ratio,
            "bar": "≥ 20×",
            "met": ratio >= 20,
            "spread": "; ".join(f"{n} {spread(s)}" for n, s in seconds.items()),
        }
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
