"""Two local workers of one thread against one process of two threads: the same cores, with and without messages.

    python -m benchmarks.bench_cluster [--documents 200000 --features 100 --rounds 20]

All train the same model, bit for bit, which is checked; the data has at most 200,000 rows for that, since a cluster
makes its bins from so many. A whole fit deals the data to the workers, checks queries and makes bins; a round is what
repeats. The cluster is started before, and its start is timed by itself.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster

import rankwood as rw

NAME = "lambdarank-ndcg@10"
QUERY = 100  # documents of a query


class Timing(NamedTuple):
    """Seconds of a whole fit, and of one round of it."""

    fit: float
    round: float
    gradients: float


def data_of(documents: int, features: int) -> rw.RankingData:
    """Return queries of 100 documents; a tenth of the features tell about the labels."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(documents, features)).astype(np.float32)
    few = max(features // 10, 1)
    signal = X[:, :few] @ np.linspace(1, 0.2, few) + rng.normal(0, 2, documents)
    y = np.digitize(signal, np.quantile(signal, [0.6, 0.8, 0.93, 0.98])).astype(float)
    return rw.RankingData(X, y, group=np.full(documents // QUERY, QUERY))


def ranker_of(rounds: int, n_jobs: int) -> rw.Ranker:
    """Return a ranker with the default parameters of XGBoost's engine."""
    return rw.Ranker(NAME, engine="xgboost", n_estimators=rounds, n_jobs=n_jobs, verbose=False)


def timed(ranker: rw.Ranker, data: rw.RankingData, cluster: Any = None) -> Timing:
    """Train, and return the seconds."""
    start = time.perf_counter()
    ranker.fit(data, cluster=cluster)
    whole = time.perf_counter() - start
    spent = ranker.seconds_
    rounds = ranker.best_iteration_
    return Timing(
        whole, (spent["gradients"] + spent["trees"]) / rounds, spent["gradients"] / rounds
    )


class Contender(NamedTuple):
    """Processes and threads."""

    what: str
    workers: int
    threads: int


CONTENDERS = (
    Contender("one process, two threads", 0, 2),
    Contender("two workers, one thread each", 2, 1),
    Contender("one process, one thread", 0, 1),
)


def measure(
    data: rw.RankingData, rounds: int, repeats: int, contenders: Any = CONTENDERS
) -> dict[str, list[Timing]]:
    """Return the timings of all contenders, taken in turn; the first of each only warms up."""
    found: dict[str, list[Timing]] = {one.what: [] for one in contenders}
    models: dict[str, np.ndarray] = {}
    clusters = {one.what: _cluster(one) for one in contenders if one.workers}
    try:
        for turn in range(repeats + 1):
            for one in contenders:
                ranker = ranker_of(rounds, one.threads)
                client = clusters.get(one.what)
                timing = timed(ranker, data, None if client is None else client)
                models[one.what] = ranker.predict(data)
                if turn:
                    found[one.what].append(timing)
    finally:
        for client in clusters.values():
            client.close()
            client.cluster.close()
    if len({scores.tobytes() for scores in models.values()}) > 1:
        raise SystemExit("the models differ")
    return found


def _cluster(one: Contender) -> Client:
    """Start workers; return their client."""
    options = {"n_workers": one.workers, "threads_per_worker": one.threads}
    return Client(LocalCluster(**options, processes=True, dashboard_address=None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    data = data_of(args.documents, args.features)
    start = time.perf_counter()
    client = _cluster(CONTENDERS[1])
    began = time.perf_counter() - start
    client.close()
    client.cluster.close()
    found = measure(data, args.rounds, args.repeats)
    print(
        f"{args.documents:,} documents × {args.features} features, {args.rounds} rounds; "
        f"starting two workers took {began:.1f} s. Best (worst) of {args.repeats}.\n"
    )
    print("| | whole fit, s | one round, ms | documents × rounds / s |")
    print("|---|---|---|---|")
    for what, timings in found.items():
        fits, rounds = [t.fit for t in timings], [t.round for t in timings]
        rate = args.documents / min(rounds)
        print(
            f"| {what} | {min(fits):.1f} ({max(fits):.1f}) | {1e3 * min(rounds):.0f} ({1e3 * max(rounds):.0f}) "
            f"| {rate:,.0f} |"
        )


if __name__ == "__main__":
    main()
