"""What exact sums cost, as part of whole training, and which of LightGBM's histograms is the faster one with them."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import rankwood as rw
from benchmarks._timing import interleave
from benchmarks._without import no_grid
from benchmarks.bench_objective import THREADS, queries
from rankwood.engines import exact_sums

NAME = "lambdarank-ndcg@10"


class Case(NamedTuple):
    """A size of data, and how long to train on it."""

    documents: int
    features: int
    rounds: int

    @property
    def text(self) -> str:
        """The size in words."""
        return f"{self.rounds} rounds, {self.documents:,} × {self.features}"


LARGE, MIDDLE, SMALL, NARROW = (
    Case(720_000, 136, 20),
    Case(100_000, 46, 40),
    Case(10_000, 46, 100),
    Case(720_000, 8, 40),
)
GRID = (("lightgbm", LARGE), ("xgboost", MIDDLE), ("lightgbm", SMALL), ("lightgbm", NARROW))


def data_of(case: Case) -> rw.RankingData:
    """Return labels as in the benchmarks of objectives, and features of which some tell about them."""
    y, sizes = queries()
    count = int(np.searchsorted(np.cumsum(sizes), case.documents)) + 1
    sizes = sizes[:count]
    y = y[: sizes.sum()]
    X = np.random.default_rng(2).normal(size=(y.size, case.features)).astype(np.float32)
    X[:, :8] += 0.4 * y[:, None].astype(np.float32)
    return rw.RankingData(X, y, group=sizes)


def ranker_for(engine: str, case: Case, **params: Any) -> rw.Ranker:
    """Return a ranker of two threads with the default parameters."""
    settings = {"engine": engine, "n_jobs": THREADS, "verbose": False, **params}
    return rw.Ranker(NAME, n_estimators=case.rounds, **settings)


def run(repeats: int = 5) -> list[dict[str, Any]]:
    few = max(repeats // 3, 1)  # of long runs
    rows = [grid_row(*both, few if both[1] is LARGE else repeats) for both in GRID]
    return rows + [
        histogram_row(case, few if case is LARGE else repeats) for case in (LARGE, MIDDLE, SMALL)
    ]


def grid_row(engine: str, case: Case, repeats: int) -> dict[str, Any]:
    """Return the time of whole training with and without exact sums."""
    data, ranker = data_of(case), ranker_for(engine, case)

    def plain() -> None:
        with no_grid():
            ranker.fit(data)

    seconds = interleave({"with": lambda: ranker.fit(data), "without": plain}, repeats)
    share = share_of_grid(ranker, data, repeats)
    return {
        **_row(f"whole training with exact sums, {engine}, {case.text}", "without", seconds),
        # Less noisy than the ratio: the time of the rounding itself within the same run.
        "bar": "rounding ≤ 2 % of training",
        "met": share <= 0.02,
        "spread": f"{_spread(seconds)}; rounding itself {100 * share:.2f} % of training",
    }


def share_of_grid(ranker: rw.Ranker, data: rw.RankingData, repeats: int) -> float:
    """Return the share of training that is spent on rounding, the median of several runs."""
    shares = []
    for _ in range(repeats):
        clock = _Clock(exact_sums.on_grid)
        with mock.patch.object(exact_sums, "on_grid", clock):
            start = time.perf_counter()
            ranker.fit(data)
            shares.append(clock.seconds / (time.perf_counter() - start))
    return float(np.median(shares))


class _Clock:
    """A function that adds up the time that it takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.seconds = 0.0
        self._function = function

    def __call__(self, *arguments: Any, **others: Any) -> Any:
        start = time.perf_counter()
        try:
            return self._function(*arguments, **others)
        finally:
            self.seconds += time.perf_counter() - start


def histogram_row(case: Case, repeats: int) -> dict[str, Any]:
    """Return the time of whole training if LightGBM chooses its histograms, and by column only."""
    data = data_of(case)
    free = ranker_for("lightgbm", case)
    column, row = (
        ranker_for("lightgbm", case, **{name: True})
        for name in ("force_col_wise", "force_row_wise")
    )
    contenders = {"automatic": free, "by column": column, "by row": row}
    fits = {name: (lambda one=one: one.fit(data)) for name, one in contenders.items()}
    seconds = interleave(fits, repeats)
    return _row(
        f"whole training, histograms chosen by LightGBM, {case.text}",
        "histograms by column",
        seconds,
    )


def _row(what: str, against: str, seconds: dict[str, list[float]]) -> dict[str, Any]:
    ours, other = (min(seconds[name]) for name in list(seconds)[:2])
    ratio = ours / other
    return {
        "what": what,
        "against": against,
        "ours": f"{ours:.2f} s",
        "other": f"{other:.2f} s",
        "ratio": ratio,
        "bar": "≤ 1.02",
        "met": ratio <= 1.02,
        "spread": _spread(seconds),
    }


def _spread(seconds: dict[str, list[float]]) -> str:
    return "; ".join(f"{n} {', '.join(f'{s:.2f}' for s in v)}" for n, v in seconds.items())


if __name__ == "__main__":
    for row in run():
        print(row, flush=True)
