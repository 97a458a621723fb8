"""What a checkpoint costs at the default interval, as part of whole training.

Digests of the data, at the start, and every write are timed within the run: wall times of two runs differ by more than
a hundredth on most machines. A run of 60 seconds or less writes once, when it ends.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import rankwood as rw
from benchmarks.bench_grid import LARGE, MIDDLE, SMALL, Case, data_of, ranker_for
from rankwood.fit import tree_fitting
from rankwood.fit.files import run_file

CASES = (SMALL, MIDDLE._replace(rounds=200), LARGE._replace(rounds=100))
BAR = 0.01


class Cost(NamedTuple):
    """Seconds of one run: in all, of the digests, and of the writes."""

    training: float
    digests: float
    writes: float

    @property
    def share(self) -> float:
        """The part of training that the checkpoint takes."""
        return (self.digests + self.writes) / self.training


def run(repeats: int = 3) -> list[dict[str, Any]]:
    return [one_case(case, repeats if case.documents < 500_000 else 1) for case in CASES]


def one_case(case: Case, repeats: int) -> dict[str, Any]:
    """Return the cost of the checkpoint of the run where it took the median share."""
    data, ranker = data_of(case), ranker_for("lightgbm", case)
    ranker_for("lightgbm", case._replace(rounds=2)).fit(data)  # kernels are compiled
    costs = sorted((timed(ranker, data) for _ in range(repeats)), key=lambda cost: cost.share)
    cost = costs[len(costs) // 2]
    shares = ", ".join(f"{100 * one.share:.2f} %" for one in costs)
    spent = f"digests {1e3 * cost.digests:.0f} ms, writes {1e3 * cost.writes:.0f} ms"
    return {
        "what": f"checkpoint every 60 s, lightgbm, {case.text}",
        "against": "the same training without",
        "ours": f"{cost.training:.2f} s",
        "other": f"{cost.training - cost.digests - cost.writes:.2f} s",
        "ratio": 1 / (1 - cost.share),
        "bar": "≤ 1.01",
        "met": cost.share <= BAR,
        "spread": f"shares {shares}; {spent}",
    }


def timed(ranker: rw.Ranker, data: rw.RankingData) -> Cost:
    """Train with a checkpoint, and return where the time went."""
    digests = _Clock(run_file.full_digest)
    writes = _Clock(tree_fitting._Writer.write)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(run_file, "full_digest", digests),
        mock.patch.object(tree_fitting._Writer, "write", lambda *given: writes(*given)),
    ):
        start = time.perf_counter()
        ranker.fit(data, checkpoint=Path(folder) / "run.ckpt")
        return Cost(time.perf_counter() - start, digests.seconds, writes.seconds)


class _Clock:
    """A function that adds up the time that it takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.seconds = 0.0
        self._function = function

    def __call__(self, *given: Any) -> Any:
        start = time.perf_counter()
        try:
            return self._function(*given)
        finally:
            self.seconds += time.perf_counter() - start


if __name__ == "__main__":
    for row in run():
        print(row, flush=True)
