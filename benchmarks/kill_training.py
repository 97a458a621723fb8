"""Kill `rankwood train --checkpoint` with SIGKILL at random moments, start it again until it ends, and compare.

    python -m benchmarks.kill_training --kills 30

The model file must equal that of a run that nobody disturbed, but for its seconds, and the checkpoint must be readable
after every kill.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import rankwood as rw

_SHARED = "--n-estimators 60 --num-leaves 15 --early-stopping-rounds none --threads 1 --quiet"
_WRITES = 20  # a run is killed after fewer writes of its checkpoint than these
_LOOK = 0.001  # seconds between two looks at the checkpoint
_LONGER = 0.1  # seconds, at most, from a write to a kill
KINDS = {
    "lightgbm": "--objective lambdarank-ndcg@10 --param subsample=0.8 --param colsample_bytree=0.8",
    "xgboost": "--objective yetirank --engine xgboost --param subsample=0.8",
    "pairtree": "--objective bi-lambdarank-ndcg@5 --engine pairtree",
    "two stages": "--objective lambdarank-ndcg@10 --second bi-lambdarank-ndcg@5 --top 10 --folds 3",
}


class Outcome(NamedTuple):
    """What became of the run of one kind."""

    kills: int
    midway: int
    unreadable: int
    equal: bool


def command(kind: str, folder: Path, name: str) -> list[str]:
    """Return the words of a training run."""
    files = f"{folder}/train.txt --valid {folder}/valid.txt --model {folder}/{name}.json"
    words = f"-m rankwood train {files} {_SHARED} {KINDS[kind]}"
    words += f" --checkpoint {folder}/{name}.ckpt --checkpoint-seconds 0"
    return [sys.executable, *words.split()]


def start(kind: str, folder: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a run that writes its checkpoint after every round."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command(kind, folder, name), env=environment, stdout=subprocess.DEVNULL)


def content(path: Path) -> Any:
    """Return a model file without seconds and checksums, at any depth."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in ("seconds", "sha256")}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return plain(json.loads(path.read_text()))


def unreadable(folder: Path, name: str) -> int:
    """Return the number of checkpoints that can't be read."""
    bad = 0
    for path in folder.glob(f"{name}.ckpt*"):
        if path.suffix not in (".lock", ".tmp"):
            kind = json.loads(path.read_text()).get("kind", "Ranker")
            try:
                getattr(rw, kind).load(path)
            except rw.InputError as error:
                print(error)
                bad += 1
    return bad


def written(folder: Path) -> int:
    """Return when a checkpoint was written last, in nanoseconds."""
    files = [path for path in folder.glob("killed.ckpt*") if path.suffix != ".lock"]
    times = [0]
    for path in files:
        with contextlib.suppress(FileNotFoundError):  # a temporary file, renamed meanwhile
            times.append(path.stat().st_mtime_ns)
    return max(times)


def lives_until(process: subprocess.Popen[bytes], folder: Path, rng: random.Random) -> bool:
    """Wait for a random number of writes and a little longer; return whether the process still runs.

    Writes and not seconds: other programs on the machine change how far a run comes in a second.
    """
    left, last = rng.randrange(_WRITES), written(folder)
    while left and process.poll() is None:
        time.sleep(_LOOK)
        now = written(folder)
        left, last = left - (now != last), now
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(0.0, _LONGER))
    return process.poll() is None


def run(kind: str, folder: Path, kills: int, rng: random.Random) -> Outcome:
    """Kill the run of one kind `kills` times, and let it end."""
    if start(kind, folder, "whole").wait():
        raise SystemExit(f"{kind}: the undisturbed run failed")
    done = midway = bad = 0
    while done < kills:
        process = start(kind, folder, "killed")
        if lives_until(process, folder, rng):
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            midway += written(folder) > 0
            bad += unreadable(folder, "killed")
        else:  # it has ended: the next run starts from nothing
            bad += content(folder / "killed.json") != content(folder / "whole.json")
            for path in folder.glob("killed*"):
                path.unlink()
    if start(kind, folder, "killed").wait():
        raise SystemExit(f"{kind}: the last run failed")
    return Outcome(
        done, midway, bad, content(folder / "killed.json") == content(folder / "whole.json")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="in all, over the kinds of models")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print("| model | kills | with a checkpoint | unreadable or different | equal at the end |")
    print("|---|---:|---:|---:|---|")
    wrong = 0
    for number, kind in enumerate(KINDS):
        share = args.kills // len(KINDS) + (number < args.kills % len(KINDS))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            train, valid = rw.make_ranking(80, seed=1).split(0.3, seed=1)
            rw.save_letor(train, folder / "train.txt")
            rw.save_letor(valid, folder / "valid.txt")
            found = run(kind, folder, share, rng)
        print(
            f"| {kind} | {found.kills} | {found.midway} | {found.unreadable} | {found.equal} |",
            flush=True,
        )
        wrong += found.unreadable + (not found.equal)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
