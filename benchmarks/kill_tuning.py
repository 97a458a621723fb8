"""Kill a study with SIGKILL at random moments, resume it, and compare with one that nobody disturbed.

    python -m benchmarks.kill_tuning --moments 10 --tuner tpe

The result of the study that was killed must be the same: all trials but for their times, and the model, bit by bit.
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

PROGRAM = """
import hashlib, json, sys
import rankwood as rw
from rankwood.spaces import Float, Integer

train, valid = rw.make_ranking(60, seed=3).split(0.4, seed=1)
ranker = rw.Ranker(n_estimators=30, num_leaves=7, n_jobs=1)
space = {"learning_rate": Float(0.02, 0.5, log=True), "num_leaves": Integer(2, 15, log=True)}
found = rw.tune(ranker, train, valid, space=space, tuner=sys.argv[2], trials=int(sys.argv[3]), storage=sys.argv[1])
names = [name for name in found.trials.dtype.names if name != "seconds"]
rows = found.trials[names].tolist()
print(json.dumps([rows, hashlib.sha256(found.best.model_.text.encode()).hexdigest()]))
"""


def start(path: Path, tuner: str, trials: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(path), tuner, str(trials)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def finished(path: Path, tuner: str, trials: int) -> str:
    process = start(path, tuner, trials)
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"the study failed with code {process.returncode}")
    return out


def run(moments: int, tuner: str, trials: int, seed: int) -> bool:
    """Return whether the study that was killed `moments` times ends as the undisturbed one."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        expected = finished(Path(folder) / "undisturbed.db", tuner, trials)
        whole = time.perf_counter() - began
        path, killed = Path(folder) / "killed.db", 0
        while killed < moments:
            process = start(path, tuner, trials)
            try:
                process.wait(rng.uniform(0.2, 1.0) * whole)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed += 1
            else:  # the study is finished: kill the next one from its beginning
                path.unlink()
            process.communicate()
            print(f"{killed} of {moments} kills, {size(path)} bytes kept", flush=True)
        found = finished(path, tuner, trials)
    print(f"{len(json.loads(expected)[0])} trials; equal: {found == expected}")
    return found == expected


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--tuner", default="tpe")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    raise SystemExit(not run(args.moments, args.tuner, args.trials, args.seed))


if __name__ == "__main__":
    main()
