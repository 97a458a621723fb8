"""Run a compiled kernel over queries on several threads.

Kernels release the GIL and treat queries independently, so how the queries are split among threads
never changes a bit of the result.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np

from rankwood import _check

_CHUNKS = 8  # per thread: small enough to even out a busy core, large enough to cost nothing


def threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for: None or -1 means every core we may use."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None or n_jobs == 0:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise _check.InputError(f"n_jobs must be an integer or None, got {n_jobs!r}.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)


def over(
    work: np.ndarray,
    kernel: Callable[[int, int], None],
    n_jobs: int | None = None,
    chunks: int = _CHUNKS,
) -> None:
    """Call `kernel(first, last)` on ranges of items of about equal total `work`, `chunks` for each thread."""
    count = threads(n_jobs)
    if count == 1 or work.size < 2:
        kernel(0, work.size)
        return
    total = np.cumsum(work, dtype=np.float64)
    parts = min(count * chunks, work.size)
    cuts = np.searchsorted(total, total[-1] * np.arange(1, parts) / parts, side="right")
    edges = np.unique(np.concatenate([[0], cuts, [work.size]]))
    todo = list(zip(edges[-2::-1].tolist(), edges[:0:-1].tolist(), strict=True))  # from the end

    def worker() -> None:
        while todo:
            try:
                first, last = todo.pop()
            except IndexError:  # another thread was faster
                return
            kernel(first, last)

    # This thread works too: what no other one has begun when all is done needs no waiting for.
    others = [_pool(count - 1, os.getpid()).submit(worker) for _ in range(count - 1)]
    try:
        worker()
    finally:
        todo.clear()
        wait([other for other in others if not other.cancel()])
    for other in others:
        if not other.cancelled():
            other.result()


@cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Return threads that stay: starting them takes longer than a short kernel. A forked process has none."""
    return ThreadPoolExecutor(count, thread_name_prefix="rankwood")
