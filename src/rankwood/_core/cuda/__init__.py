"""Numba's CUDA target: teams of threads, their memory, and how kernels are started.

This package needs numba-cuda; `rankwood._core.device.load_cuda` raises an error that says so if it is missing. A team
is a block of threads, and computes one query. `team` has the functions that a kernel calls for its team, `columns` the
team's memory, `sorting` its sorts, and `launch` the host's side. `compiled` and `compiled_columns` implement `team` and
`columns` for a GPU; Numba's simulator runs the plain functions instead.
"""

from importlib import import_module
from typing import Any

import numpy as np


def _import_cuda() -> Any:
    """Import Numba's CUDA target with three names that it looks up while it is imported, and NumPy 2.5 has removed."""
    gone = {"row_stack": np.vstack, "in1d": np.isin, "trapz": np.trapezoid}
    added = [name for name in gone if name not in vars(np)]
    vars(np).update({name: gone[name] for name in added})
    try:
        return import_module("numba.cuda")
    finally:
        for name in added:
            del vars(np)[name]


_cuda = _import_cuda()

#: Whether Numba simulates a GPU (NUMBA_ENABLE_CUDASIM=1).
SIMULATED = "simulator" in _cuda.api.__name__
