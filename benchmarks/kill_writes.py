"""Kill a process with SIGKILL while it writes files, again and again, and look at what is left.

    python -m benchmarks.kill_writes --kills 300

Four things are written over a good file: a model (`save`), the binary copy of a LETOR file (`cache=True`), a model by
`rankwood train`, and a table by query (`Evaluation.to_csv`). A forked process writes until it is killed at a random
moment. After each kill the file must be the old one or the new one, whole; the next process writes over it.
"""

import argparse
import contextlib
import io
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rankwood as rw
from rankwood.cli import main as command_line

_TREES = 60


@dataclass
class Count:
    """Kills, files that were torn, and files that were left beside the real one."""

    kills: int = 0
    torn: int = 0
    left_over: int = 0


class Subject(NamedTuple):
    """A way to write a file in the current directory, and whether what is there is whole."""

    write: Callable[[], object]
    is_whole: Callable[[], bool]


def subjects() -> dict[str, Subject]:
    """Return what is written, by name."""
    data = rw.load_demo("train")
    ranker = rw.Ranker(n_estimators=_TREES, num_leaves=15, n_jobs=1).fit(data)
    evaluation = rw.evaluate(["ndcg@10", "map"], data, np.arange(len(data)) % 7)
    words = [
        "train",
        "train.txt",
        "--model",
        "trained.json",
        "--n-estimators",
        "1",
        "--threads",
        "1",
    ]

    def cache() -> None:
        os.utime("train.txt")  # so that the copy is out of date
        rw.load_letor("train.txt", cache=True, n_jobs=1)

    def cache_is_whole() -> bool:
        text, copy = (
            rw.load_letor("train.txt", cache=cached, n_jobs=1) for cached in (False, True)
        )
        return np.array_equal(text.X, copy.X, equal_nan=True)

    def train() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if command_line(words):
                raise SystemExit("the command line failed")

    def table_is_whole() -> bool:
        lines = Path("table.csv").read_text().splitlines()
        return len(lines) == data.groups.ids.size + 1 and len({n.count(",") for n in lines}) == 1

    return {
        "save": Subject(
            lambda: ranker.save("model.json"),
            lambda: rw.Ranker.load("model.json").best_iteration_ == _TREES,
        ),
        "cache": Subject(cache, cache_is_whole),
        "train": Subject(train, lambda: rw.Ranker.load("trained.json").best_iteration_ == 1),
        "per-query table": Subject(lambda: evaluation.to_csv("table.csv"), table_is_whole),
    }


def run(subject: Subject, kills: int, rng: random.Random) -> Count:
    """Kill a process that writes so many times."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        rw.save_letor(rw.load_demo("train"), "train.txt")
        began = time.perf_counter()
        subject.write()  # compiles, so that no moment is spent on that
        subject.write()
        longest = max(0.02, 2 * (time.perf_counter() - began))
        while count.kills < kills:
            process = os.fork()
            if process == 0:
                with contextlib.suppress(BaseException):
                    while True:
                        subject.write()
                os._exit(1)
            end = time.monotonic() + min(longest, 1.0) * rng.uniform(0.0, 1.0 + count.kills % 2)
            # Every second kill comes right after an unfinished file was seen, as writing is a small part of the time.
            while time.monotonic() < end and not (count.kills % 2 and any(Path().glob("*.tmp"))):
                time.sleep(0.0005)
            os.kill(process, signal.SIGKILL)
            if not os.WIFSIGNALED(os.waitpid(process, 0)[1]):
                raise SystemExit("the process ended before it was killed")
            count.kills += 1
            try:
                count.torn += not subject.is_whole()
            except rw.InputError:
                count.torn += 1
            spare = list(Path().glob("*.tmp"))
            count.left_over += len(spare)
            for path in spare:
                path.unlink()
    return count


def table(counts: dict[str, Count]) -> str:
    """Return the counts as a table in Markdown."""
    rows = ["| file | kills | torn | left over |", "|---|---|---|---|"]
    rows += [f"| {name} | {c.kills} | {c.torn} | {c.left_over} |" for name, c in counts.items()]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="in all, shared by the four files")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    known = subjects()
    share = -(-args.kills // len(known))
    counts = {}
    for name, one in known.items():
        counts[name] = run(one, share, random.Random(args.seed))
        print(name, counts[name], flush=True)
    print(table(counts))
    raise SystemExit(sum(count.torn for count in counts.values()) > 0)


if __name__ == "__main__":
    main()
