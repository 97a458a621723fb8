"""Kill `rankwood train --checkpoint` with SIGKILL at random moments, start it again until it ends, and compare.

    python -m benchmarks.kill_training --kills 30

The model file must equal that of a run that nobody disturbed, but for its seconds, and the checkpoint must be readable
after every kill.
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
from typing import Any, NamedTuple

import rankwood as rw

_SHARED = "--n-estimators 60 --num-leaves 15 --early-stopping-rounds none --threads 1 --quiet"
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


def run(kind: str, folder: Path, kills: int, rng: random.Random) -> Outcome:
    """Kill the run of one kind `kills` times, and let it end."""
    began = time.perf_counter()
    if start(kind, folder, "whole").wait():
        raise SystemExit(f"{kind}: the undisturbed run failed")
    whole = time.perf_counter() - began
    done = midway = bad = 0
    while done < kills:
        began = time.perf_counter()
        fresh = not any(folder.glob("killed.ckpt*"))
        process = start(kind, folder, "killed")
        try:
            process.wait(rng.uniform(0.3, 1.0) * whole)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            midway += any(folder.glob("killed.ckpt*"))
            bad += unreadable(folder, "killed")
        else:  # it has ended: the next run starts from nothing
            if fresh:  # others may have slowed down the undisturbed run
                whole = min(whole, time.perf_counter() - began)
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
