"""Objectives of this commit against those of an earlier one, interleaved in one process.

    python -m benchmarks.bench_before b4306e2                      # all names, long and short lists
    python -m benchmarks.bench_before b4306e2 lambdarank-ndcg@10   # some names

The earlier sources are unpacked from git under another package name, so that both can be imported. Scores move by 0.02
standard deviations between calls; gradients are in float32 on two threads. "long" lists have 100 to 140 documents,
"short" ones 8 to 12. On a machine that does other work at the same time, --cpu is steadier: the CPU time of one thread.
"""

import argparse
import gc
import importlib
import inspect
import io
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankwood
from rankwood.objectives.families.registry import OBJECTIVES

ROOT = Path(__file__).parents[1]
BEFORE = "rankwood_before"
LISTS = {"long": (100, 141, 6_000), "short": (8, 13, 72_000)}
GRADES = [0.52, 0.32, 0.13, 0.02, 0.01]


def unpack(commit: str) -> None:
    """Make the package of a commit importable as `rankwood_before`."""
    folder = ROOT / "build" / f"before-{commit}"
    if not folder.is_dir():
        command = ["git", "archive", commit, "src/rankwood"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        (folder / "src" / "rankwood").rename(folder / "src" / BEFORE)
        for path in (folder / "src" / BEFORE).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            text = text.replace("from rankwood", f"from {BEFORE}").replace(
                '"rankwood.', f'"{BEFORE}.'
            )
            path.write_text(text.replace("import rankwood", f"import {BEFORE}"), encoding="utf-8")
    sys.path.insert(0, str(folder / "src"))


def computer(package: str, name: str, y: np.ndarray, sizes: np.ndarray, n_jobs: int = 2) -> Any:
    """Return what computes gradients in a package, whatever it is called there."""
    group_rows = importlib.import_module(f"{package}.data.groups").group_rows
    objective = importlib.import_module(package).objective(name)
    try:
        make = importlib.import_module(f"{package}.objectives.gradients").GradientComputer
    except ModuleNotFoundError:
        make = importlib.import_module(f"{package}.objectives.drive").Drive
    return make(objective, y, group_rows(y.size, group=sizes), real=np.float32, n_jobs=n_jobs)


def compare(name: str, lists: str, rounds: int, cpu: bool) -> dict[str, Any]:
    """Return the times of both, and their ratio."""
    low, high, queries = LISTS[lists]
    rng = np.random.default_rng(0)
    sizes = rng.integers(low, high, queries)
    y = rng.choice(5, sizes.sum(), p=GRADES).astype(float)
    scores = np.random.default_rng(1).normal(size=y.size)
    n_jobs, clock = (1, time.thread_time) if cpu else (2, time.perf_counter)
    packages = (BEFORE, "rankwood")
    calls = {package: computer(package, name, y, sizes, n_jobs) for package in packages}
    found = {package: call(scores) for package, call in calls.items()}
    seconds: dict[str, list[float]] = {package: [] for package in calls}
    gc.collect()
    gc.disable()
    for turn in range(rounds):
        moved = scores + 0.02 * rng.normal(size=y.size)
        for package in sorted(calls, reverse=bool(turn % 2)):
            start = clock()
            calls[package](moved)
            seconds[package].append(clock() - start)
    gc.enable()
    scale = np.abs(found[BEFORE][0]).max()
    return {
        "name": name,
        "lists": lists,
        "before": seconds[BEFORE],
        "now": seconds["rankwood"],
        "ratio": min(seconds["rankwood"]) / min(seconds[BEFORE]),
        "median": float(np.median(seconds["rankwood"]) / np.median(seconds[BEFORE])),
        "difference": float(np.abs(found[BEFORE][0] - found["rankwood"][0]).max() / scale),
    }


def _spread(seconds: list[float]) -> str:
    chosen = (min(seconds), float(np.median(seconds)), max(seconds))
    return " / ".join(f"{1e3 * s:.1f}" for s in chosen)


def _all_names() -> list[str]:
    known = {name: inspect.signature(OBJECTIVES[name]).parameters for name in OBJECTIVES}
    return [f"{name}@10" if "k" in known[name] else name for name in known]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commit")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--lists", choices=list(LISTS), nargs="*", default=list(LISTS))
    parser.add_argument("--rounds", type=int, default=14)
    parser.add_argument("--cpu", action="store_true", help="CPU time of one thread")
    args = parser.parse_args()
    unpack(args.commit)
    print(f"rankwood {rankwood.__version__} against {args.commit}")
    print(
        "| objective | lists | before, ms (best / median / worst) | now | ratio of best | of medians |"
    )
    print("|---|---|---|---|---|---|", flush=True)
    for name in args.names or _all_names():
        for lists in args.lists:
            row = compare(name, lists, args.rounds, args.cpu)
            assert row["difference"] < 1e-3, row
            print(
                f"| `{name}` | {lists} | {_spread(row['before'])} | {_spread(row['now'])} "
                f"| {row['ratio']:.2f} | {row['median']:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
