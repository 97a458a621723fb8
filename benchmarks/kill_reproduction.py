"""Kill a reproduction with SIGKILL at random moments, resume it, and compare with one that nobody disturbed.

    python -m benchmarks.kill_reproduction --moments 10

A table, a figure and a tuned table of two papers are reproduced with the demonstration data. What the reproduction
that was killed leaves must be the same: all pages and pictures byte by byte, and all cells but for their times.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rankwood import load_demo, save_letor

PROGRAM = """
import sys
from rankwood import reproduce
data, out, jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
plain = ["lambdaloss/table4", "lambdaloss/figure3"]
reproduce.run(plain, {"mslr30k": data}, out, jobs=jobs, trees=60, verbose=False)
tuned = {"trees": 10, "trials": 8, "rows": "LambdaRank-P@k"}
reproduce.run("lambdagap/table8", {"mslr30k": data}, out, jobs=jobs, verbose=False, **tuned)
"""


def start(data: Path, out: Path, jobs: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(data), str(out), str(jobs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    # A session of its own, so that a kill reaches the processes of `jobs` too.
    return subprocess.Popen(command, env=environment, start_new_session=True)


def finish(data: Path, out: Path, jobs: int) -> None:
    code = start(data, out, jobs).wait()
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


def run(moments: int, jobs: int, seed: int) -> bool:
    """Return whether the reproduction that was killed `moments` times ends as the undisturbed one."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        data, calm, hurt = (Path(folder) / name for name in ("data", "undisturbed", "killed"))
        data.mkdir()
        for part in ("train", "valid", "test"):
            save_letor(load_demo(part), data / f"{part}.txt")
        finish(data, Path(folder) / "first", jobs)  # compiles, so that no moment is spent on that
        began = time.perf_counter()
        finish(data, calm, jobs)
        whole = time.perf_counter() - began
        killed = 0
        while killed < moments:
            process = start(data, hurt, jobs)
            try:
                process.wait(rng.uniform(0.15, 0.6) * whole)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
                print(f"{killed} of {moments} kills, {count(hurt)} cells kept", flush=True)
            else:  # the reproduction is finished: kill the next one from its beginning
                hurt = Path(folder) / f"killed-{killed}"
        finish(data, hurt, jobs)
        (pages, cells), found = left(calm), left(hurt)
    equal = found == (pages, cells)
    print(f"{len(pages)} pages and pictures, {len(cells)} cells; equal: {equal}")
    return equal


def count(out: Path) -> int:
    return len(list((out / "cells").glob("*/*.json")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    raise SystemExit(not run(args.moments, args.jobs, args.seed))


if __name__ == "__main__":
    main()
