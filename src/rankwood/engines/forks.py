"""Forked processes: threads of OpenMP don't survive a fork, and a loop that waits for them never ends.

So engines on OpenMP use one thread in a process that was forked after they were imported: the same bits, as with any
number of threads. Spawned processes, and those of joblib's loky, aren't forked in this sense and use all of them.
"""

import os
from collections.abc import Callable

from rankwood._kernels import threads


class _Process:
    watched = False
    forked = False


def _note() -> None:
    _Process.forked = True


def watch(after: Callable[[], object] | None = None) -> None:
    """Notice forks from now on, and call `after` in each child; an engine calls this once, when it is imported."""
    if not hasattr(os, "register_at_fork"):  # Windows has no fork
        return
    if not _Process.watched:
        os.register_at_fork(after_in_child=_note)
        _Process.watched = True
    if after is not None:
        os.register_at_fork(after_in_child=after)


def in_child() -> bool:
    """Return whether this process was forked after an engine on OpenMP was imported."""
    return _Process.forked


def engine_threads(n_jobs: int | None) -> int:
    """Return the number of threads of an engine on OpenMP: what `n_jobs` means, or 1 in a forked process."""
    count = threads.threads(n_jobs)
    return 1 if in_child() else count
