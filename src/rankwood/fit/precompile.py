"""Compile the kernel of an objective in another process, while this one reads data.

Numba compiles under one lock, so threads can't do this. The child process leaves its result in Numba's cache on disk,
where this process finds it.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import JIT, has_cached_code
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import group_rows
from rankwood.objectives._kernels.pairwise import pairwise_kernel
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer

_PROGRAM = "import sys; from rankwood.fit.precompile import compile_objective; compile_objective(sys.argv[1])"


def compile_objective(objective: Any) -> None:
    """Compute gradients of three documents as training does: this compiles all that training needs."""
    y, groups = np.array([0.0, 1.0, 0.0]), group_rows(3)
    pairs = GivenPairs.by_labels(y, groups)
    computer = GradientComputer(to_objective(objective), y, groups, dtype=np.float32, pairs=pairs)
    computer(np.zeros(3))


@contextlib.contextmanager
def compiling(objective: Any) -> Iterator[None]:
    """Compile an objective in another process while the block runs, if none was compiled here before.

    Parameters
    ----------
    objective : str or part
        As in `Ranker`.
    """
    process = None
    if JIT and not has_cached_code(pairwise_kernel):
        command = [sys.executable, "-c", _PROGRAM, str(objective)]
        with contextlib.suppress(OSError):  # a process that can't be started leaves the work to us
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
    try:
        yield
    except BaseException:
        if process is not None:
            process.kill()
        raise
    finally:
        if process is not None:
            process.wait()
