"""Arrays on a GPU: their library, their address, and the stream they belong to.

Arrays of CuPy, PyTorch and any library with `__cuda_array_interface__` or DLPack are taken where they are. This module
imports none of these libraries: the library of an array has been imported before, to make the array.
"""

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from rankwood._util.checks import InputError

_CUDA_DEVICE = 2  # DLPack's number
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f"}


class _Tensor(ctypes.Structure):
    """DLPack's description of an array; device and dtype are written out."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Described:
    """An array that has DLPack only, as `__cuda_array_interface__`; it keeps its owner alive."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner, self.__cuda_array_interface__ = owner, interface


def is_device_array(x: Any) -> bool:
    """Tell whether an array is on a GPU.

    Parameters
    ----------
    x : anything
        Whatever a caller has given.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood._kernels.device import is_device_array
    >>> is_device_array(np.zeros(3)), is_device_array([1, 2])
    (False, False)
    """
    if isinstance(x, (np.ndarray, list, tuple, float, int)) or x is None:
        return False
    if hasattr(x, "is_cuda"):  # a tensor with a gradient has no interface
        return bool(x.is_cuda)
    if hasattr(type(x), "__cuda_array_interface__") or _is_numbas(x):
        return True
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == _CUDA_DEVICE


def _is_numbas(x: Any) -> bool:
    """Tell whether an array is Numba's own; simulated ones have no interface."""
    return hasattr(type(x), "copy_to_host")


def _library(x: Any) -> str:
    return type(x).__module__.split(".")[0]


@cache  # an error is not kept, and a call of the driver takes as long as a small kernel
def load_cuda() -> Any:
    """Return `rankwood._kernels.cuda.launch`, or raise if there is no numba-cuda or no GPU."""
    try:
        from rankwood._kernels.cuda import launch as cuda
    except ImportError as error:
        raise InputError(
            "a GPU needs numba-cuda, which isn't installed (or is too old): pip install 'rankwood[cuda]'."
        ) from error
    if not cuda.is_available():
        raise InputError(
            "there is no CUDA GPU that numba-cuda can use here: call the same function with NumPy arrays."
        )
    return cuda


def as_vector(x: Any, name: str, size: int | None = None) -> Any:
    """Return an array on the GPU as a `Vector`, without a copy.

    Parameters
    ----------
    x : array on a GPU
        It must be a contiguous vector of float32 or float64.
    name : str
        What errors call it.
    size : int, optional
        The number of entries that it must have.
    """
    cuda = load_cuda()
    if hasattr(x, "detach"):
        x = x.detach()
    # The class comes first: a tensor computes the property anew in each call.
    described = hasattr(type(x), "__cuda_array_interface__") or _is_numbas(x)
    described = described or hasattr(x, "__cuda_array_interface__")
    described_vector = cuda.device_vector(x if described else _describe(x))
    if described_vector is None or described_vector.dtype not in (np.float32, np.float64):
        raise InputError(
            f"{name} on a GPU must be a vector of float32 or float64, got {getattr(x, 'dtype', type(x).__name__)} "
            f"of shape {tuple(x.shape)}."
        )
    if not described_vector.contiguous:
        raise InputError(f"{name} on a GPU must be contiguous: make a contiguous copy of it first.")
    here = cuda.current_device()
    if _device_number(x) not in (None, here):
        raise InputError(
            f"{name} are on GPU {_device_number(x)}, and Numba works on GPU {here}: call "
            f"numba.cuda.select_device({_device_number(x)}) first, or move them."
        )
    if size is not None and described_vector.size != size:
        raise InputError(
            f"{name} must have {size} entries, one for each label, got {described_vector.size}."
        )
    return described_vector


def _device_number(x: Any) -> int | None:
    """Return the number of the GPU that an array is on, if its library says so."""
    device = getattr(x, "device", None)
    number = (
        getattr(device, "index", None) if _library(x) == "torch" else getattr(device, "id", None)
    )
    return int(number) if isinstance(number, int) else None


def _describe(x: Any) -> _Described:
    """Return an array with DLPack as one with `__cuda_array_interface__`."""
    capsule = x.__dlpack__()
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[: tensor.ndim])
    step = tensor.bits // 8
    strides = tuple(s * step for s in tensor.strides[: tensor.ndim]) if tensor.strides else None
    interface = {
        "shape": shape,
        "strides": strides,
        "typestr": f"<{_DLPACK_KINDS.get(tensor.code, 'V')}{step}",
        "data": (tensor.data + tensor.byte_offset, False),
        "version": 3,
    }
    return _Described((x, capsule), interface)


def on_host(x: Any) -> Any:
    """Return an array on a GPU as a NumPy array, and anything else as it is."""
    return load_cuda().to_host(x, stream_of(x)) if is_device_array(x) else x


def stream_of(x: Any) -> int:
    """Return the address of the stream that the library of an array is working on; 0 is the default stream."""
    library = _library(x)
    if library == "torch":
        return int(sys.modules["torch"].cuda.current_stream(x.device).cuda_stream)
    if library == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    interface = getattr(x, "__cuda_array_interface__", {})
    return int(interface.get("stream") or 0)


def empty_like(x: Any, size: int) -> Any:
    """Return a float32 vector of the library of `x`, on its device, to fill in."""
    library = _library(x)
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.empty(size, dtype=torch.float32, device=x.device)
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with x.device:
            return cupy.empty(size, cupy.float32)
    return load_cuda().empty(size)
