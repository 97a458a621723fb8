"""Objectives of this commit against those of an earlier one, interleaved in one run.

    python -m benchmarks.bench_before b4306e2                      # all names, long and short lists
    python -m benchmarks.bench_before b4306e2 lambdarank-ndcg@10   # some names
    NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES="" python -m benchmarks.bench_before b4306e2   # for another processor

The earlier sources are unpacked from git. Each commit has a process of its own, and the two take turns: in one process,
the package that was loaded second was up to 1.6 times as slow as the same package loaded first. Scores move by 0.02
standard deviations between calls; gradients are in float32. "long" lists have 100 to 140 documents, "short" ones 8 to
12. Times are wall times on two threads, or with --cpu the CPU time of one thread, which is steadier on a machine that
does other work at the same time. "compiling" is the first call, with an empty cache.
"""

import argparse
import gc
import importlib
import inspect
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
LISTS = {"long": (100, 141, 6_000), "short": (8, 13, 72_000)}
GRADES = [0.52, 0.32, 0.13, 0.02, 0.01]


def unpack(commit: str) -> Path:
    """Return the folder with the sources of a commit."""
    folder = ROOT / "build" / f"sources-{commit}"
    if not folder.is_dir():
        command = ["git", "archive", commit, "src/rankwood"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
    return folder / "src"


class Contender:
    """A process that computes gradients with one version of the sources."""

    def __init__(self, sources: Path, cache: str) -> None:
        with Listener() as listener:
            call = [sys.executable, __file__, "--serve", str(listener.address)]
            env = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": cache}
            self.process = subprocess.Popen(call, env=env)
            self.line = listener.accept()

    def prepare(self, name: str, lists: str, cpu: bool) -> tuple[float, np.ndarray]:
        """Make the lists; return the seconds of the first call and its gradients."""
        self.line.send(("prepare", name, lists, cpu))
        return self.line.recv()

    def seconds(self, turn: int) -> float:
        """Return the seconds of one call, at scores that are a function of the turn."""
        self.line.send(("call", turn))
        return self.line.recv()

    def close(self) -> None:
        """End the process."""
        self.line.send(None)
        self.process.wait()


class Served:
    """The other end of a `Contender`."""

    def prepare(self, name: str, lists: str, cpu: bool) -> tuple[float, np.ndarray]:
        """Do as `Contender.prepare`."""
        low, high, queries = LISTS[lists]
        rng = np.random.default_rng(0)
        sizes = rng.integers(low, high, queries)
        y = rng.choice(5, sizes.sum(), p=GRADES).astype(float)
        self.scores = np.random.default_rng(1).normal(size=y.size)
        self.clock = time.thread_time if cpu else time.perf_counter
        start = time.perf_counter()
        self.compute = computer(name, y, sizes, 1 if cpu else 2)
        grad, _ = self.compute(self.scores)
        return time.perf_counter() - start, grad.copy()

    def call(self, turn: int) -> float:
        """Do as `Contender.seconds`."""
        moved = self.scores + 0.02 * np.random.default_rng([2, turn]).normal(size=self.scores.size)
        gc.collect()
        gc.disable()
        start = self.clock()
        self.compute(moved)
        seconds = self.clock() - start
        gc.enable()
        return seconds


def serve(address: str) -> None:
    """Answer the messages of a `Contender` until the last one."""
    served, line = Served(), Client(address)
    while message := line.recv():
        method, *args = message
        line.send(getattr(served, method)(*args))


def computer(name: str, y: np.ndarray, sizes: np.ndarray, n_jobs: int) -> Any:
    """Return what computes gradients, whatever it is called in these sources."""
    group_rows = importlib.import_module("rankwood.data.groups").group_rows
    objective = importlib.import_module("rankwood").objective(name)
    try:
        make = importlib.import_module("rankwood.objectives.gradients").GradientComputer
    except ModuleNotFoundError:
        make = importlib.import_module("rankwood.objectives.drive").Drive
    precision = "dtype" if "dtype" in inspect.signature(make).parameters else "real"
    groups = group_rows(y.size, group=sizes)
    return make(objective, y, groups, n_jobs=n_jobs, **{precision: np.float32})


def compare(
    contenders: dict[str, Contender], name: str, lists: str, options: Any
) -> dict[str, Any]:
    """Return the times of both, and their ratio."""
    first = {which: one.prepare(name, lists, options.cpu) for which, one in contenders.items()}
    seconds: dict[str, list[float]] = {which: [] for which in contenders}
    for turn in range(options.rounds):
        for which in sorted(contenders, reverse=bool(turn % 2)):
            seconds[which].append(contenders[which].seconds(turn))
    before, now = seconds["before"], seconds["now"]
    grads = {which: grad for which, (_, grad) in first.items()}
    far = np.abs(grads["before"] - grads["now"]) > 1e-3 * np.abs(grads["before"]).max()
    return {
        "before": before,
        "now": now,
        "ratio": min(now) / min(before),
        "median": float(np.median(now) / np.median(before)),
        "compiling": {which: seconds for which, (seconds, _) in first.items()},
        # Noise that differs in its last digit may swap two documents.
        "different": float(far.mean()),
    }


def _spread(seconds: list[float]) -> str:
    chosen = (min(seconds), float(np.median(seconds)), max(seconds))
    return " / ".join(f"{1e3 * s:.1f}" for s in chosen)


def _all_names() -> list[str]:
    from rankwood.objectives.families.registry import OBJECTIVES

    known = {name: inspect.signature(OBJECTIVES[name]).parameters for name in OBJECTIVES}
    # Pairs that come with the data aren't in the lists of this benchmark.
    names = [name for name in known if name != "ranknet-pairs"]
    return [f"{name}@10" if "k" in known[name] else name for name in names]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commit", help="what to compare with")
    parser.add_argument("names", nargs="*", help="objectives (default: all)")
    parser.add_argument("--lists", choices=list(LISTS), nargs="*", default=list(LISTS))
    parser.add_argument("--rounds", type=int, default=14)
    parser.add_argument("--cpu", action="store_true", help="CPU time of one thread")
    parser.add_argument("--caches", help="a folder for compiled code that stays")
    options = parser.parse_args()
    folder = options.caches or tempfile.mkdtemp()
    sources = {"before": unpack(options.commit), "now": ROOT / "src"}
    contenders = {which: Contender(path, f"{folder}/{which}") for which, path in sources.items()}
    print(f"against {options.commit}, for {os.environ.get('NUMBA_CPU_NAME', 'this processor')}")
    print(
        "| objective | lists | before, ms (best / median / worst) | now | ratio of best | of medians | compiling, s |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in options.names or _all_names():
        for lists in options.lists:
            row = compare(contenders, name, lists, options)
            share = row["different"]
            assert share < 1e-4, f"{name}: {share:.2%} of the gradients are far from those before"
            print(
                f"| `{name}` | {lists} | {_spread(row['before'])} | {_spread(row['now'])} "
                f"| {row['ratio']:.2f} | {row['median']:.2f} "
                f"| {row['compiling']['before']:.1f}, {row['compiling']['now']:.1f} |",
                flush=True,
            )
    for contender in contenders.values():
        contender.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
