"""Whole fits and first calls of this commit against those of an earlier one, interleaved in one run.

    python -m benchmarks.bench_fit_before b4306e2                       # fits on generated data, first calls
    python -m benchmarks.bench_fit_before b4306e2 --letor S1.txt S2.txt # and a fit on LETOR files

Each fit and each first call has a process of its own, and the two commits take turns. A fit is timed after a short one
has compiled what it needs. "round" is the time of a fit without binning and compilation, divided by its rounds.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_before import ROOT, unpack
from benchmarks.bench_start import demo, measure

FIT = """
import sys, time
import numpy as np, rankwood as rw
paths, rounds = sys.argv[2:], int(sys.argv[1])
if paths:
    data = rw.RankingData.concat([rw.load_letor(path) for path in paths])
else:
    rng = np.random.default_rng(0)
    sizes = rng.integers(100, 141, 6000)
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    X = rng.normal(size=(y.size, 136)).astype(np.float32)
    X[:, :10] += 0.4 * y[:, None].astype(np.float32)
    data = rw.RankingData(X, y, group=sizes)
small = rw.load_demo("train")
rw.Ranker(n_estimators=2, verbose=False).fit(small)
ranker = rw.Ranker(n_estimators=rounds, verbose=False)
start = time.perf_counter()
ranker.fit(data)
whole = time.perf_counter() - start
print(whole, (ranker.seconds_["gradients"] + ranker.seconds_["trees"]) / rounds)
"""


def fit(sources: Path, cache: str, rounds: int, paths: list[str]) -> tuple[float, float]:
    """Return the seconds of a fit, and those of one of its rounds."""
    env = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": cache}
    call = [sys.executable, "-c", FIT, str(rounds), *paths]
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=True)
    whole, one_round = map(float, done.stdout.split())
    return whole, one_round


def first_calls(sources: Path) -> dict[str, float]:
    """Return the seconds of first calls, each with an empty cache."""
    os.environ["PYTHONPATH"] = str(sources)
    with tempfile.TemporaryDirectory() as cache:
        gradients = measure(cache)[1]
    with tempfile.TemporaryDirectory() as cache:
        return {"first gradients, empty cache": gradients, "demo, empty cache": demo(cache)}


def one_turn(sources: Path, cache: str, letor: list[str]) -> dict[str, float]:
    """Return the seconds of everything, by what was measured."""
    whole, one_round = fit(sources, cache, 20, [])
    seconds = {"fit, 720,000 × 136, 20 rounds": whole, "a round of it": one_round}
    if letor:
        whole, one_round = fit(sources, cache, 100, letor)
        seconds |= {"fit, LETOR files, 100 rounds": whole, "a round of that": one_round}
    return seconds | first_calls(sources)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commit", help="what to compare with")
    parser.add_argument("--letor", nargs="*", default=[], help="files to train on as well")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    letor = [str(Path(path).resolve()) for path in options.letor]
    folder = tempfile.mkdtemp()
    sources = {"before": unpack(options.commit), "now": ROOT / "src"}
    found: dict[str, dict[str, list[float]]] = {}
    for turn in range(-1, options.rounds):  # the first turn compiles
        for which in sorted(sources, reverse=bool(turn % 2)):
            for what, spent in one_turn(sources[which], f"{folder}/{which}", letor).items():
                if turn >= 0:
                    rows = found.setdefault(what, {"before": [], "now": []})
                    rows[which].append(spent)
    print("| what | before, s (best / median / worst) | now | ratio of best | of medians |")
    print("|---|---|---|---|---|")
    for what, rows in found.items():
        print(f"| {what} | {_spread(rows['before'])} | {_spread(rows['now'])} {_ratios(rows)}")


def _spread(seconds: list[float]) -> str:
    chosen = (min(seconds), float(np.median(seconds)), max(seconds))
    return " / ".join(f"{s:.3f}" for s in chosen)


def _ratios(rows: dict[str, list[float]]) -> str:
    ratios: Any = (f(rows["now"]) / f(rows["before"]) for f in (min, np.median))
    return "".join(f"| {ratio:.3f} " for ratio in ratios) + "|"


if __name__ == "__main__":
    main()
