"""What Python does with a GPU: arrays there and back, and the start of kernels."""

from typing import Any

import numpy as np
from numba import cuda

from rankwood._core.compile import OPTIONS
from rankwood._core.cuda import SIMULATED, team

if SIMULATED:
    team.simulate()
else:
    from rankwood._core.cuda import compiled_columns  # noqa: F401  (kernels need it)

_KERNELS: dict[Any, Any] = {}


def is_available() -> bool:
    """Tell whether there is a GPU, or a simulated one."""
    return bool(cuda.is_available())


def as_array(x: Any) -> Any:
    """Return Numba's view of an array on the GPU; nothing is copied."""
    if SIMULATED:
        return getattr(x, "_ary", x)
    return x if cuda.is_cuda_array(x) and hasattr(x, "copy_to_host") else cuda.as_cuda_array(x, sync=False)


def is_contiguous(x: Any) -> bool:
    """Tell whether a vector has no gaps."""
    return bool(x.flags["C_CONTIGUOUS"] if SIMULATED else x.is_c_contiguous())


def empty(size: int, dtype: Any = np.float32) -> Any:
    """Return a vector on the GPU."""
    return cuda.device_array(size, dtype)


def to_device(x: np.ndarray) -> Any:
    """Return a copy of an array on the GPU."""
    return np.array(x) if SIMULATED else cuda.to_device(np.ascontiguousarray(x))


def to_host(x: Any) -> np.ndarray:
    """Return a copy of an array of the GPU."""
    found = as_array(x)
    return np.array(found if SIMULATED else found.copy_to_host())


class Kernel:
    """A Python function, compiled for the GPU and for the types of one set of arguments.

    Parameters
    ----------
    function : function
        The kernel.
    args : tuple
        Arguments, whose types it is compiled for.
    """

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        if function not in _KERNELS:
            options = {} if SIMULATED else {"fastmath": OPTIONS["fastmath"]}
            _KERNELS[function] = cuda.jit(**options)(function)
        # Nested records of arguments have types that take long to find out: once is enough.
        self._kernel = _KERNELS[function].specialize(*args)

    def start(self, blocks: int, threads: int, shared_bytes: int, stream: int, args: Any) -> None:
        """Start the kernel on a stream, given by its address."""
        if SIMULATED:
            team.SIMULATED_BYTES[0] = shared_bytes
        at = cuda.external_stream(stream) if stream else 0
        self._kernel[blocks, threads, at, shared_bytes](*args)
