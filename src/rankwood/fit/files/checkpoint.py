"""Checkpoints: what users write, and the lock that keeps two runs from one file."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rankwood._util import checks
from rankwood.engines.base import RunState
from rankwood.fit.result import FitResult, History, flat_history

try:
    import fcntl
except ImportError:  # on Windows nothing stops two runs from sharing a file
    fcntl = None  # type: ignore[assignment]

_RESUME = ("auto", "must", "never", "force")


@dataclass(frozen=True)
class Checkpoint:
    """A file from which a killed training run resumes, bit-identically.

    Parameters
    ----------
    path : str or Path
        The file. If it exists, training resumes from it; otherwise training starts, and writes it.
    seconds : float
        The time between two writes; the file is also written when training ends or is interrupted.
    rounds : int, optional
        Write after this many rounds, in place of `seconds`.
    resume : {"auto", "must", "never", "force"}
        ``"auto"`` resumes if the file exists; ``"must"`` raises if it doesn't; ``"never"`` starts anew and replaces
        it; ``"force"`` resumes even if it was written by other versions of the libraries.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.Checkpoint("run.ckpt", rounds=10).resume
    'auto'
    """

    path: str | Path
    seconds: float = 60.0
    rounds: int | None = None
    resume: str = "auto"

    def __post_init__(self) -> None:
        checks.one_of(self.resume, _RESUME, "resume")
        if self.rounds is not None:
            checks.at_least(self.rounds, 1, "rounds")
        if checks.finite(self.seconds, "seconds") < 0:
            raise checks.InputError(f"seconds must not be negative, got {self.seconds:g}.")


class CheckpointStore(Protocol):
    """Reads and writes the content of a run: a file, or what stands for it on the worker of a cluster."""

    #: What messages call it.
    path: str | Path
    #: Whether this process writes.
    writes: bool

    def read(self) -> dict[str, Any] | None:
        """Return the content of a run to resume, None if the run starts anew."""

    def due(self, rounds_done: int) -> bool:
        """Return whether the run is to be written after a round."""

    def write(self, content: dict[str, Any], run: dict[str, Any]) -> None:
        """Write a model, and what resumes the run."""


class EarlierRounds(NamedTuple):
    """Rounds that are done already: those of a checkpoint, or of a model that is trained further."""

    state: RunState
    #: The result so far.
    result: FitResult
    #: What messages begin with.
    name: str
    #: What to do instead, if they can't be used.
    advice: str
    #: Why the run ended; "" if it was interrupted.
    ends: str = ""

    def check_history(self, history: History) -> None:
        """Raise if the rounds were evaluated on other validation sets, or by other metrics."""
        if _named(self.result.history) != _named(history):
            before = ", ".join(flat_history(self.result.history)) or "no validation data"
            raise checks.InputError(f"{self.name} {before}{self.advice}")


def _named(history: History) -> list[tuple[str, list[str]]]:
    """Return the names of sets and metrics."""
    return [(name, list(metrics)) for name, metrics in history.items()]


class Clock:
    """Knows when a checkpoint is due."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._written = time.monotonic()

    def due(self, rounds_done: int) -> bool:
        """Return whether the run is to be written after a round."""
        every = self._checkpoint.rounds
        if every is not None:
            return rounds_done % every == 0
        return time.monotonic() - self._written >= self._checkpoint.seconds

    def restart(self) -> None:
        """Note that the run was written now."""
        self._written = time.monotonic()


def as_checkpoint(checkpoint: Any) -> Checkpoint:
    """Return a checkpoint from the argument of `fit`: a path or a `Checkpoint`."""
    if isinstance(checkpoint, (str, os.PathLike)):
        checkpoint = Checkpoint(os.fspath(checkpoint))
    if isinstance(checkpoint, Checkpoint):
        # The working directory may change during a run.
        return replace(checkpoint, path=os.path.abspath(checkpoint.path))
    raise checks.InputError(
        f"checkpoint must be a file name or a rankwood.Checkpoint, got {type(checkpoint).__name__}."
    )


@contextlib.contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keep other processes from a checkpoint, by a lock that ends with this process."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise checks.InputError(f"{path} can't be written: there is no directory {folder.name}.")
    if fcntl is None:
        yield
        return
    name = f"{os.fspath(path)}.lock"
    lock = _lock(name, path)
    try:
        os.ftruncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
        os.close(lock)


def _lock(name: str, path: str | Path) -> int:
    """Return the descriptor of a locked file; raise if another process has the lock."""
    while True:
        try:
            lock = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise checks.InputError(f"{name} can't be written: {error.strerror}.") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 20).decode(errors="replace").strip()
            os.close(lock)
            raise checks.InputError(
                f"another run (process {holder or 'unknown'}) trains with the checkpoint {path}: wait for it, or give "
                "another file."
            ) from None
        except OSError as error:
            os.close(lock)
            raise checks.InputError(
                f"{name} can't be locked ({error.strerror}), so that another run could write the same checkpoint: give "
                "a file on a local disk."
            ) from None
        if _is_named(lock, name):
            return lock
        os.close(lock)  # its owner removed the file between our two calls: the lock excludes nobody


def _is_named(lock: int, name: str) -> bool:
    """Return whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(name))
    except FileNotFoundError:
        return False
