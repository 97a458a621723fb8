"""Twelve metrics of 750,000 documents against ranx and trec_eval, each from its own structures."""

from typing import Any

import numpy as np

import rankwood as rw
from benchmarks._timing import interleave, spread

OURS = [
    "ndcg@10",
    "ndcg",
    "dcg@10",
    "p@5",
    "p@10",
    "recall@10",
    "recall@100",
    "map",
    "map@10(divide_by='relevant')",
    "mrr",
    "rbp",
    "bndcg@10",
]
RANX = [
    "ndcg@10",
    "ndcg",
    "dcg@10",
    "precision@5",
    "precision@10",
    "recall@10",
    "recall@100",
    "map",
    "map@10",
    "mrr",
    "rbp.80",
    "ndcg_burges@10",
]
TREC = {
    "ndcg_cut.5,10,100",
    "ndcg",
    "P.5,10",
    "recall.10,100",
    "map",
    "map_cut.10",
    "recip_rank",
    "Rprec",
}


def run(rounds: int = 3) -> list[dict[str, Any]]:
    import pytrec_eval
    import ranx

    rng = np.random.default_rng(3)
    sizes = np.full(6250, 120)
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01])
    scores = rng.normal(size=y.size)
    judged, ranked = {}, {}
    names = [f"d{i}" for i in range(120)]
    for q, (a, b) in enumerate(zip(y.reshape(-1, 120), scores.reshape(-1, 120), strict=True)):
        judged[str(q)] = dict(zip(names, a.tolist(), strict=True))
        ranked[str(q)] = dict(zip(names, b.tolist(), strict=True))
    qrels, run_ = ranx.Qrels(judged), ranx.Run(ranked)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, TREC)
    labels = y.astype(float)

    def ours() -> dict[str, float]:
        ev = rw.evaluate(OURS, labels, scores, group=sizes, convention="trec_eval", n_jobs=2)
        return ev.mean()

    def theirs() -> Any:
        return ranx.evaluate(qrels, run_, RANX, threads=2)

    def trec() -> Any:
        return evaluator.evaluate(ranked)

    mean = np.mean([row["ndcg_cut_10"] for row in trec().values()])
    assert abs(ours()["ndcg@10"] - mean) < 1e-9
    seconds = interleave({"ours": ours, "ranx": theirs, "trec_eval": trec}, rounds)
    return [_row(name, seconds, against) for name, against in _OTHERS.items()]


_OTHERS = {"ranx": "ranx.evaluate, 2 threads", "trec_eval": "pytrec_eval, 12 values"}


def _row(name: str, seconds: dict[str, list[float]], against: str) -> dict[str, Any]:
    ratio = min(seconds[name]) / min(seconds["ours"])
    return {
        "what": "evaluate 12 metrics, 750,000 documents, from arrays",
        "against": against,
        "ours": f"{1e3 * min(seconds['ours']):.0f} ms",
        "other": f"{1e3 * min(seconds[name]):.0f} ms",
        "ratio": ratio,
        "bar": "≥ 10×",
        "met": ratio >= 10,
        "spread": "; ".join(f"{n} {spread(seconds[n])}" for n in ("ours", name)),
    }


if __name__ == "__main__":
    for row in run():
        print(row)
