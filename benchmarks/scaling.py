"""Time of a round on many workers, from pieces that are measured on this machine.

    python -m benchmarks.scaling --measure benchmarks/scaling.json    # the pieces, and runs to compare the model with
    python -m benchmarks.scaling benchmarks/scaling.json              # the tables

The model of a round of XGBoost, with D documents of F features, V validation queries, and n workers of c cores:

    compute  = (D (g + F h) / n + F s) / c
    messages = L ring(16 F B) + ring(24) + ring(8 V)
    ring(b)  = 2 (n - 1) / n  b / w + 2 (n - 1) l

g: gradients of a document; h: histograms of a value; s: finding splits, for a feature; L: leaves of a tree, each of
which but one takes a histogram that is summed over workers, as the root does; B: bins; w, l: bytes a second and latency
of the network.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels import threads

LEAVES, BINS = 31, 256
QUERY = 100  # documents of a query
SIZES = (24, 4_096, 65_536, 409_600, 4_096_000)


class Pieces(NamedTuple):
    """What a core does, in seconds."""

    gradient: float
    value: float
    feature: float


class Network(NamedTuple):
    """What messages cost: bytes a second, and seconds a message."""

    what: str
    speed: float
    latency: float


class Job(NamedTuple):
    """Data, and the cores of one worker."""

    documents: int
    features: int
    cores: int = 1
    valid_queries: int = 0


#: Latencies of messages between two programs, by TCP.
GIGABIT = Network("1 Gbit/s", 125e6, 100e-6)
TEN_GIGABIT = Network("10 Gbit/s", 1250e6, 50e-6)


def ring(size: float, workers: int, network: Network) -> float:
    """Return the seconds of a sum of `size` bytes over workers in a ring."""
    if workers == 1:
        return 0.0
    steps = 2 * (workers - 1)
    return steps * (size / workers / network.speed + network.latency)


def round_seconds(job: Job, workers: int, pieces: Pieces, network: Network) -> tuple[float, float]:
    """Return the seconds of computing and of messages in one round."""
    document = pieces.gradient + job.features * pieces.value
    compute = (job.documents * document / workers + job.features * pieces.feature) / job.cores
    histogram = 16 * job.features * BINS
    sizes = [histogram] * LEAVES + [24, 8 * job.valid_queries]
    return compute, sum(ring(size, workers, network) for size in sizes)


# Measuring the pieces


def measure(documents: int, features: int, rounds: int, repeats: int) -> dict[str, Any]:
    """Return the pieces, the local network, and times of real rounds to compare the model with."""
    from benchmarks.bench_cluster import Contender, data_of
    from benchmarks.bench_cluster import measure as times

    pieces = measure_pieces(documents, features, rounds, repeats)
    sums = {str(n): allreduce_seconds(n) for n in (2, 4)}
    many = [Contender("1", 0, 1), Contender("2", 2, 1), Contender("4", 4, 1)]
    found = times(data_of(documents, features), rounds, repeats, many)
    return {
        "documents": documents,
        "features": features,
        "cores": threads.threads(None),
        "pieces": pieces._asdict(),
        "sums": sums,
        "rounds": {what: min(one.round for one in timings) for what, timings in found.items()},
    }


def measure_pieces(documents: int, features: int, rounds: int, repeats: int) -> Pieces:
    """Return what one core does, from CPU time: other programs on the machine hardly change it."""
    from benchmarks.bench_cluster import data_of

    small, large = data_of(documents // 4, features), data_of(documents, features)
    gradients, most = round_cpu(large, rounds * repeats)
    trees = most - gradients
    own, whole = round_cpu(small, rounds * repeats)
    per_document = (trees - (whole - own)) / (len(large) - len(small))
    fixed = max(trees - per_document * len(large), 0.0)
    return Pieces(gradients / len(large), per_document / features, fixed / features)


def round_cpu(data: Any, rounds: int) -> tuple[float, float]:
    """Return the seconds of the gradients of a round, and the CPU seconds of a whole round: the median of many."""
    from benchmarks.bench_cluster import ranker_of

    clock: list[float] = []
    ranker = ranker_of(rounds + 1, 1)
    ranker.fit(data, callbacks=[lambda done: clock.append(time.process_time())])
    return ranker.seconds_["gradients"] / (rounds + 1), float(np.median(np.diff(clock)))


def allreduce_seconds(workers: int) -> dict[str, float]:
    """Return the seconds of a sum over local processes, by its size in bytes."""
    from rankwood.cluster.collective import start_tracker

    tracker, arguments = start_tracker(workers, "127.0.0.1")
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    ranks = [context.Process(target=_sum, args=(arguments, i, out)) for i in range(workers)]
    for rank in ranks:
        rank.start()
    found: dict[str, float] = out.get(timeout=120)
    for rank in ranks:
        rank.join()
    tracker.free()
    return found


def _sum(arguments: dict[str, Any], number: int, out: Any) -> None:
    """Sum arrays with the other processes, many times; the first one reports the best times."""
    from xgboost import collective

    from rankwood.cluster.collective import joined

    found = {}
    with joined(arguments, number):
        for size in SIZES:
            values, seconds = np.ones(size // 8), []
            for _ in range(40):
                start = time.perf_counter()
                collective.allreduce(values, collective.Op.SUM)
                seconds.append(time.perf_counter() - start)
            found[str(size)] = min(seconds)
    if number == 0:
        out.put(found)


def local_network(sums: dict[str, float], workers: int) -> Network:
    """Return the speed and latency that explain measured sums, by least squares of relative errors."""
    sizes = np.array([float(size) for size in sums])
    seconds = np.array(list(sums.values()))
    steps = 2 * (workers - 1)
    columns = np.stack([steps * sizes / workers, np.full(sizes.size, steps)], 1) / seconds[:, None]
    per_byte, latency = np.linalg.lstsq(columns, np.ones(sizes.size), rcond=None)[0]
    return Network("this machine", 1 / per_byte, latency)


# Tables


def check_table(known: dict[str, Any]) -> str:
    """Return rounds that were run beside what the model says."""
    pieces, job = Pieces(**known["pieces"]), Job(known["documents"], known["features"])
    lines = ["| workers of one thread | measured, ms | model, ms | of it messages | model off by |"]
    lines.append("|---|---|---|---|---|")
    for workers in (1, 2, 4):
        network = local_network(known["sums"][str(max(workers, 2))], max(workers, 2))
        compute, messages = round_seconds(job, workers, pieces, network)
        compute *= max(workers / known["cores"], 1)  # workers share cores
        real, model = known["rounds"][str(workers)], compute + messages
        lines.append(
            f"| {workers} | {1e3 * real:.0f} | {1e3 * model:.0f} | {1e3 * messages:.0f} "
            f"| {100 * (model / real - 1):+.0f} % |"
        )
    return "\n".join(lines)


def scaling_table(pieces: Pieces, job: Job) -> str:
    """Return the time of a round for up to 64 workers, on two networks."""
    networks = (GIGABIT, TEN_GIGABIT)
    names = [
        f"{what}, {network.what}" for network in networks for what in ("messages, s", "round, s")
    ]
    lines = ["| workers | computing, s | " + " | ".join(names) + " |", "|---" * 6 + "|"]
    for workers in (1, 2, 4, 8, 16, 32, 64):
        cells = [str(workers), f"{round_seconds(job, workers, pieces, GIGABIT)[0]:.2f}"]
        for network in networks:
            both = round_seconds(job, workers, pieces, network)
            cells += [f"{both[1]:.2f}", f"{sum(both):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.measure:
        found = measure(args.documents, args.features, args.rounds, args.repeats)
        args.file.write_text(json.dumps(found, indent=1) + "\n")
    known = json.loads(args.file.read_text())
    pieces = Pieces(**known["pieces"])
    print(f"{pieces}\n{local_network(known['sums']['2'], 2)}\n\n{check_table(known)}")
    for documents in (1_000_000, 10_000_000, 100_000_000):
        job = Job(documents, 136, cores=8, valid_queries=documents // QUERY // 10)
        print(f"\n{documents:,} documents × 136 features, 8 cores a worker\n")
        print(scaling_table(pieces, job))


if __name__ == "__main__":
    main()
