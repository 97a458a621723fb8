"""PyTorch, imported when it is needed: its threads, its seed, its devices."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from rankwood._util.checks import InputError

_GENERATOR = RLock()


def need_torch() -> Any:
    """Return PyTorch, or raise if it or safetensors isn't installed."""
    try:
        import safetensors  # noqa: F401
        import torch
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise InputError(
            f"NeuralRanker needs the package {error.name}: pip install 'rankwood[torch]'."
        ) from None
    return torch


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Compute with so many threads of PyTorch: sums are split among them, so their number changes bits.

    The number is that of the calling thread and of those that start meanwhile.
    """
    torch = need_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def own_seed(device: Any) -> Iterator[Any]:
    """Restore the caller's random state at the end, so that the code inside may seed PyTorch.

    Inside, gradients are recorded and numbers are float32, whatever the caller has set. All threads of a process share
    PyTorch's generator, so one thread at a time is let in.
    """
    torch = need_torch()
    devices = [device] if device.type == "cuda" else []
    state = torch.random.fork_rng(devices=devices)
    recorded, single = torch.enable_grad(), torch.autocast(device.type, enabled=False)
    with _GENERATOR, state, torch.inference_mode(False), recorded, single:
        yield torch


def find_device(name: Any) -> Any:
    """Return the device of a name; "auto" is a GPU if there is one."""
    torch = need_torch()
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise InputError(
            f"device must be 'auto', 'cpu' or 'cuda', or one of several such as 'cuda:1', got {name!r}."
        ) from None
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={name!r}: PyTorch finds no GPU here; use device='cpu'.")
    return device
