"""Kill a reproduction with SIGKILL at random moments, resume it, and compare with one that nobody disturbed.

    python -m benchmarks.kill_reproduction --moments 10
    python -m benchmarks.kill_reproduction --moments 1 --data MQ2008 --trials 100 --trees 30 --rows "L*"

A table, a figure and a tuned table of two papers are reproduced with the demonstration data; with --data, the tuned
table 2 of Which Tricks with data of your own. What the reproduction that was killed leaves must be the same: all pages
and pictures byte by byte, and all cells but for their times.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from rankwood import load_demo, save_letor

PROGRAM = """
import json, sys
from rankwood import reproduce
out, jobs = sys.argv[1], int(sys.argv[2])
for items, data, limits in json.loads(sys.argv[3]):
    reproduce.run(items, data, out, jobs=jobs, verbose=False, **limits)
"""


class Reproduction(NamedTuple):
    """Calls of `reproduce.run`: items, folders by role, and limits; and the number of processes."""

    calls: list[tuple[list[str], dict[str, str], dict[str, object]]]
    jobs: int


def of_demonstration(folder: Path, jobs: int) -> Reproduction:
    """Return a table, a figure and a tuned table with the demonstration data."""
    folder.mkdir()
    for part in ("train", "valid", "test"):
        save_letor(load_demo(part), folder / f"{part}.txt")
    data = {"mslr30k": str(folder)}
    tuned = {"trees": 10, "trials": 8, "rows": "LambdaRank-P@k"}
    plain = ["lambdaloss/table4", "lambdaloss/figure3"]
    return Reproduction([(plain, data, {"trees": 60}), (["lambdagap/table8"], data, tuned)], jobs)


def start(what: Reproduction, out: Path) -> subprocess.Popen[bytes]:
    words = [str(out), str(what.jobs), json.dumps(what.calls)]
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    # A session of its own, so that a kill reaches the processes of `jobs` too.
    return subprocess.Popen(command, env=environment, start_new_session=True)


def finish(what: Reproduction, out: Path) -> None:
    code = start(what, out).wait()
    if code:
        raise SystemExit(f"the reproduction failed with code {code}")


def left(out: Path) -> tuple[dict[str, bytes], dict[str, object]]:
    """Return the pages and pictures, and the cells without their times."""
    pages = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    cells = {}
    for path in (out / "cells").glob("*/*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["result"].pop("seconds", None)
        cells[path.name] = content
    return pages, cells


def run(what: Reproduction, moments: int, seed: int, folder: Path) -> bool:
    """Return whether the reproduction that was killed `moments` times ends as the undisturbed one."""
    rng = random.Random(seed)
    calm, hurt = folder / "undisturbed", folder / "killed"
    began = time.perf_counter()
    finish(what, calm)
    whole = time.perf_counter() - began
    killed = 0
    while killed < moments:
        process = start(what, hurt)
        try:
            process.wait(rng.uniform(0.15, 0.6) * whole)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
            kept = f"{count(hurt)} cells kept, {trials(hurt)} trials of searches"
            print(f"{killed} of {moments} kills, {kept}", flush=True)
        else:  # the reproduction is finished: kill the next one from its beginning
            hurt = folder / f"killed-{killed}"
    finish(what, hurt)
    (pages, cells), found = left(calm), left(hurt)
    equal = found == (pages, cells)
    print(
        f"{len(pages)} pages and pictures, {len(cells)} cells, {trials(hurt)} trials of searches; equal: {equal}"
    )
    return equal


def count(out: Path) -> int:
    return len(list((out / "cells").glob("*/*.json")))


def trials(out: Path) -> int:
    """Return how many trials the files of searches have."""
    found = 0
    for path in (out / "tuning").glob("*.db"):
        with closing(sqlite3.connect(path)) as file:
            found += file.execute("select count(*) from trials").fetchone()[0]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="folder for the tuned table 2 of Which Tricks")
    for name in ("trials", "trees", "folds"):
        parser.add_argument(f"--{name}", type=int, help=f"{name} of that table")
    parser.add_argument("--rows", help="its rows")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.data is None:
            what = of_demonstration(folder / "data", args.jobs)
            finish(what, folder / "first")  # compiles, so that no moment is spent on that
        else:
            limits = {n: getattr(args, n) for n in ("trials", "trees", "folds", "rows")}
            data = {"mslr10k": os.path.abspath(args.data)}
            what = Reproduction([(["which-tricks/table2"], data, limits)], args.jobs)
        equal = run(what, args.moments, args.seed, folder)
    raise SystemExit(not equal)


if __name__ == "__main__":
    main()
