"""Run a compiled kernel over queries on several threads.

Kernels release the GIL and treat queries independently, so how the queries are split among threads
never changes a bit of the result.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import TypeVar

import numpy as np

from rankwood._util import checks

T = TypeVar("T")

MOST = 1024  # threads: more than any machine has use for, and few enough to start
_CHUNKS = 8  # even shares of a thread; the smallest range is a third of one, which is still no cost


def threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for: None or -1 means every core we may use."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None or n_jobs == 0:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise checks.InputError(f"n_jobs must be an integer or None, got {n_jobs!r}.")
    if n_jobs > MOST:
        raise checks.InputError(
            f"n_jobs must be at most {MOST}, got {n_jobs}; -1 takes every core."
        )
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)


def run_ranges(
    kernel: Callable[[int, int], None],
    cost: np.ndarray,
    n_jobs: int | None = None,
    chunks: int = _CHUNKS,
) -> None:
    """Call `kernel(first, last)` on ranges of items, by threads.

    Ranges become smaller towards the end, so that threads finish at about the same time; `cost` has the cost of each
    item.
    """
    count = threads(n_jobs)
    if count == 1 or cost.size < 2:
        kernel(0, cost.size)
        return
    total = np.cumsum(cost, dtype=np.float64)
    cuts = np.searchsorted(total, total[-1] * _shares(count, chunks), side="right")
    edges = np.unique(np.concatenate([[0], cuts, [cost.size]]))
    todo = list(zip(edges[-2::-1].tolist(), edges[:0:-1].tolist(), strict=True))  # from the end

    def worker() -> None:
        while todo:
            try:
                first, last = todo.pop()
            except IndexError:  # another thread was faster
                return
            kernel(first, last)

    # This thread works too: what no other one has begun when all is done needs no waiting for.
    others: list[Future[None]] = []
    try:
        # No thread can be had while the interpreter shuts down.
        with suppress(RuntimeError):
            others += [_pool(os.getpid()).submit(worker) for _ in range(count - 1)]
        worker()
    finally:
        todo.clear()
        wait([other for other in others if not other.cancel()])
    for other in others:
        if not other.cancelled():
            other.result()


def run_team(work: Callable[[int], T], count: int) -> T:
    """Call `work(member)` on `count` threads at once, of which this one is member 0; return what it returns for 0.

    Member 0 must be able to do everything: others may start late, or never.
    """
    others: list[Future[T]] = []
    try:
        with suppress(RuntimeError):
            others += [_pool(os.getpid()).submit(work, member) for member in range(1, count)]
        result = work(0)
    finally:
        wait([other for other in others if not other.cancel()])
    for other in others:
        if not other.cancelled():
            other.result()
    return result


@cache
def _shares(count: int, chunks: int) -> np.ndarray:
    """Return range ends as fractions of the total work; ranges shrink geometrically to a minimum size."""
    ends, smallest = [0.0], 1 / (3 * count * chunks)
    while ends[-1] < 1.0 - smallest:
        ends.append(ends[-1] + max(smallest, (1.0 - ends[-1]) / (1.5 * count)))
    return np.array(ends[1:])


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return threads that stay: starting them takes longer than a short kernel. A forked process has none.

    A thread is started only if all others are busy, so there are never more than the largest number in use at once.
    """
    return ThreadPoolExecutor(MOST, thread_name_prefix="rankwood")
