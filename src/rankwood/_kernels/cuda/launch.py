"""The host's side of a GPU: arrays are copied there and back, and kernels are started."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, typeof, types

from rankwood._kernels.cuda import FASTMATH, SIMULATED, team

if SIMULATED:
    team.simulate()
else:
    from cuda.core import LaunchConfig, launch
    from numba.cuda.cudadrv import driver
    from numba.np.numpy_support import from_dtype

    from rankwood._kernels.cuda import compiled_columns  # noqa: F401  (kernels need it)

_KERNELS: dict[Any, Any] = {}
_STREAMS: dict[int, Any] = {}  # by address: making one takes as long as a small kernel
_SIMULATED_THREADS = 2  # Python's threads are slow, and results must be right for any number


class Vector(NamedTuple):
    """A vector on the GPU: the array that owns it, its address, size and dtype, and whether it has no gaps."""

    owner: Any
    pointer: int
    size: int
    dtype: Any
    contiguous: bool


def is_available() -> bool:
    """Tell whether there is a GPU, or a simulated one."""
    return bool(cuda.is_available())


def current_device() -> int:
    """Return the number of the GPU that kernels are started on."""
    return 0 if SIMULATED or _device_count() == 1 else int(cuda.get_current_device().id)


@cache
def _device_count() -> int:
    return len(cuda.gpus)


def device_vector(x: Any) -> Vector | None:
    """Return an array on the GPU as a `Vector`, or None if it has more dimensions."""
    if SIMULATED:
        x = getattr(x, "_ary", x)
        return Vector(x, 0, x.size, x.dtype, True) if x.ndim == 1 else None
    interface = x.__cuda_array_interface__
    dtype, shape = np.dtype(interface["typestr"]), interface["shape"]
    if len(shape) != 1:
        return None
    strides = interface.get("strides")
    contiguous = strides is None or shape[0] < 2 or strides[0] == dtype.itemsize
    return Vector(x, int(interface["data"][0] or 0), int(shape[0]), dtype, contiguous)


def empty(size: int, dtype: Any = np.float32) -> Any:
    """Return a vector on the GPU."""
    return cuda.device_array(size, dtype)


def scratch(size: int, dtype: Any) -> Any:
    """Return a vector on the GPU for the records of a kernel."""
    return np.empty(size, dtype) if SIMULATED else cuda.device_array(size, dtype)


def to_device(x: np.ndarray) -> Any:
    """Return a copy of an array on the GPU."""
    return np.array(x) if SIMULATED else cuda.to_device(np.ascontiguousarray(x))


def to_host(x: Any, stream: int = 0) -> np.ndarray:
    """Return a copy of an array on the GPU, once the work before it on its stream is done."""
    if SIMULATED:
        return np.array(getattr(x, "_ary", x))
    array = x if hasattr(x, "copy_to_host") else cuda.as_cuda_array(x, sync=False)
    if not stream:
        return np.asarray(array.copy_to_host())
    at = cuda.external_stream(stream)
    host = array.copy_to_host(stream=at)
    at.synchronize()
    return np.asarray(host)


class Kernel:
    """A Python function, compiled for the GPU.

    Parameters
    ----------
    function : function
        The kernel: it takes the fixed arguments, then an integer, then vectors.
    fixed : tuple
        Arguments that are the same at every start, such as nested records of arrays. Numba converts them once, as
        the conversion takes longer than most kernels.
    dtypes : tuple
        Precision of each vector.
    """

    def __init__(self, function: Any, fixed: tuple[Any, ...], dtypes: tuple[Any, ...]) -> None:
        if function not in _KERNELS:
            options = {} if SIMULATED else {"fastmath": FASTMATH}
            _KERNELS[function] = cuda.jit(**options)(function)
        self._fixed, self._flat = fixed, []  # type: ignore[var-annotated]
        self._configs: dict[tuple[int, int, int], Any] = {}
        if not SIMULATED:
            vectors = [types.Array(from_dtype(np.dtype(dtype)), 1, "C") for dtype in dtypes]
            kinds = [*(typeof(x) for x in fixed), types.int64, *vectors]
            self._compiled = _KERNELS[function].compile(tuple(kinds))
            for kind, value in zip(kinds, fixed, strict=False):
                self._compiled._prepare_args(kind, value, 0, [], self._flat)
            self._function = self._compiled._codelibrary.get_cufunc().kernel
        self._kernel = _KERNELS[function]

    def start(
        self, teams: tuple[int, int, int], stream: int, number: int, vectors: tuple[Vector, ...]
    ) -> None:
        """Start the kernel.

        Parameters
        ----------
        teams : tuple of int
            Number of teams, threads of each, and bytes of shared memory of each.
        stream : int
            Address of the CUDA stream.
        number : int
            The kernel's integer.
        vectors : tuple of Vector
            The kernel's vectors.
        """
        blocks, threads, shared_bytes = teams
        if SIMULATED:
            team.SIMULATED_BYTES[0] = shared_bytes
            owners = [x.owner for x in vectors]
            threads = min(threads, _SIMULATED_THREADS)
            self._kernel[blocks, threads](*self._fixed, number, *owners)
            return
        # Numba passes an array as: meminfo, parent, size, bytes of an item, address, shape, strides.
        arrays = [
            (0, 0, x.size, x.dtype.itemsize, x.pointer, x.size, x.dtype.itemsize) for x in vectors
        ]
        if teams not in self._configs:
            self._configs[teams] = LaunchConfig(grid=blocks, block=threads, shmem_size=shared_bytes)
        if stream not in _STREAMS:
            _STREAMS[stream] = driver._to_core_stream(cuda.external_stream(stream) if stream else 0)
        flat = [*self._flat, number, *(word for array in arrays for word in array)]
        launch(_STREAMS[stream], self._configs[teams], self._function, *flat)
