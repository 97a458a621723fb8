"""What early exit saves and what it loses, on a LETOR file: `python -m benchmarks.bench_early_exit FILE`.

A third of the queries is for testing. Times are CPU time of one thread, the best of several rounds over test queries,
in which every query is a call of its own.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.forest import EarlyExit

TREES, ROUNDS, TOP, LONG = 1000, 7, 10, 1000
RULES: dict[str, EarlyExit | None] = {
    "none": None,
    "margin 1 (exact)": EarlyExit(TOP),
    **{f"margin {m:g}": EarlyExit(TOP, m) for m in (0.05, 0.02, 0.01, 0.005)},
}


def parts_of(data: Any) -> list[Any]:
    """Return two thirds of the queries for training, and the rest."""
    order = np.random.default_rng(0).permutation(data.groups.ids.size)
    number, ids = np.empty(len(data), np.int64), np.empty(len(data), object)
    number[data.groups.rows] = np.repeat(order, data.groups.sizes)
    ids[data.groups.rows] = np.repeat(data.groups.ids, data.groups.sizes)
    test = number % 3 == 0
    return [rw.RankingData(data.X[rows], data.y[rows], qid=ids[rows]) for rows in (~test, test)]


def seconds(scorers: dict[str, Any], queries: list[np.ndarray]) -> dict[str, float]:
    """Return the CPU time of all queries by each scorer, in turn: of each query the best of several rounds."""
    best = {name: np.full(len(queries), np.inf) for name in scorers}
    for _ in range(ROUNDS):
        for name, scorer in scorers.items():
            for i, query in enumerate(queries):
                start = time.thread_time()
                scorer(query)
                best[name][i] = min(best[name][i], time.thread_time() - start)
    return {name: float(found.sum()) for name, found in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    train, test = parts_of(rw.load_letor(parser.parse_args().file))
    ranker = rw.Ranker(n_estimators=TREES, early_stopping_rounds=None, num_leaves=64)
    ranker.fit(train).set_params(n_jobs=1)
    groups = test.groups
    X, ends = test.X[groups.rows], np.cumsum(groups.sizes)[:-1]
    print(f"{groups.ids.size} queries, {len(test)} documents, {ranker.forest()}")
    queries = np.split(X, ends)
    shuffled = X[np.random.default_rng(0).permutation(len(X))]
    lists = [shuffled[i : i + LONG] for i in range(0, len(X) - LONG + 1, LONG)]
    print(
        f"| early exit | NDCG@{TOP} | same {TOP} | dropped | time | lists of {LONG}: same | dropped | time |"
    )
    print("|---|---|---|---|---|---|---|---|")
    scorers = {name: ranker.scorer(stop=rule) for name, rule in RULES.items()}
    times = [seconds(scorers, some) for some in (queries, lists)]
    for name, scorer in scorers.items():
        value = rw.evaluate(f"ndcg@{TOP}", test, scorer(test)).mean()[f"ndcg@{TOP}"]
        cells = [f"{value:.4f}"]
        for took, some in zip(times, (queries, lists), strict=True):
            same, dropped = agreement(scorers["none"], scorer, some)
            cells += [f"{same:.2f}", f"{dropped:.2f}", f"{took[name] / took['none']:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def agreement(whole: Any, scorer: Any, queries: list[np.ndarray]) -> tuple[float, float]:
    """Return the share of queries whose first documents are the same, and the share of dropped documents."""
    same, dropped = [], 0
    for query in queries:
        a, b = whole(query), scorer(query)
        same.append(np.array_equal(*(np.argsort(-s, kind="stable")[:TOP] for s in (a, b))))
        dropped += int((a != b).sum())
    return float(np.mean(same)), dropped / sum(map(len, queries))


if __name__ == "__main__":
    main()
