"""Numba's CUDA target: teams of threads, their memory, and how kernels are started.

This package needs numba-cuda; `_kernels.device.load_cuda` raises an error that says so if it is missing. A team
is a block of threads, and computes one query. `team` has the functions that a kernel calls for its team, `columns` the
team's memory, `sorting` its sorts, and `launch` the host's side. `compiled` and `compiled_columns` implement `team` and
`columns` for a GPU; Numba's simulator runs the plain functions instead.
"""

import numpy as np

# NumPy 2.5 has removed three names that numba-cuda 0.30 looks up, some of them only when it first compiles a kernel.
for _gone, _now in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if not hasattr(np, _gone):
        setattr(np, _gone, getattr(np, _now))

from numba import cuda as _cuda  # noqa: E402

#: Fast-math options of kernels, without nnan and ninf: NaN and infinity keep their meaning. The bits of a GPU are not
#: those of a CPU anyway: a team of threads adds in an order of its own.
FASTMATH = {"nsz", "arcp", "contract", "reassoc"}
#: Whether Numba simulates a GPU (NUMBA_ENABLE_CUDASIM=1).
SIMULATED = "simulator" in _cuda.api.__name__
