"""What the workers of a run report: the first one sends rounds and checkpoints, and all hear whether to stop."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood.cluster.messages import WorkerChannel, check_not_cancelled
from rankwood.engines.sharing import ClusterMember, Compute
from rankwood.fit.context import Callback, Round
from rankwood.fit.files.checkpoint import Checkpoint, Clock
from rankwood.fit.files.model_file import content_of

_PROGRESS = 0.2  # seconds between two messages for the progress bar
STOP, MODEL = "stop", "model"


class Subscription(NamedTuple):
    """What the process that called `fit` wants to be told.

    Attributes
    ----------
    run : str
        The name of the run.
    progress : bool
        Whether there is a progress bar.
    callbacks : bool
        Whether there are callbacks: the workers then wait for them after each round.
    checkpoint : Checkpoint or None
        How often the run is kept.
    earlier : dict or None
        The content of the checkpoint from which the run resumes.
    """

    run: str
    progress: bool = False
    callbacks: bool = False
    checkpoint: Checkpoint | None = None
    earlier: dict[str, Any] | None = None

    @property
    def anything(self) -> bool:
        """Whether the first worker sends anything."""
        return self.progress or self.callbacks or self.checkpoint is not None

    @contextmanager
    def line_of(self, worker: int) -> Iterator[WorkerChannel | None]:
        """Return the line of a worker; None if it sends nothing."""
        if worker or not self.anything:
            yield None
            return
        line = WorkerChannel(self.run)
        try:
            yield line
        finally:
            line.close()


class RemoteCheckpoint:
    """Stands for the file of a run on a worker: the first worker sends its content, the others only read."""

    def __init__(self, subscription: Subscription, line: WorkerChannel | None) -> None:
        # Messages name the file, which is where `fit` was called.
        checkpoint = subscription.checkpoint
        self.path: str | Path = "the checkpoint" if checkpoint is None else checkpoint.path
        self.writes = line is not None
        self._earlier, self._line = subscription.earlier, line
        self._clock = None if checkpoint is None else Clock(checkpoint)

    def read(self) -> dict[str, Any] | None:
        """Return the content of a run to resume, None if the run starts anew."""
        return self._earlier

    def due(self, rounds_done: int) -> bool:
        """Return whether the run is to be sent after a round."""
        return self._clock is not None and self._clock.due(rounds_done)

    def write(self, content: dict[str, Any], run: dict[str, Any]) -> None:
        """Send a model, and what resumes the run."""
        if self._line is not None and self._clock is not None:
            self._line.send("checkpoint", {"content": content, "run": run})
            self._clock.restart()


class CancellableMember:
    """A member of the run that stops, with the others, once the run is cancelled."""

    def __init__(self, member: ClusterMember) -> None:
        self._member = member

    def __getattr__(self, name: str) -> Any:
        return getattr(self._member, name)

    def together(
        self, compute: Compute
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[float, float]]:
        """Return gradients and Hessians of this worker, and the largest ones of all; raise if any worker failed."""

        def checked() -> tuple[np.ndarray, np.ndarray]:
            check_not_cancelled()
            return compute()

        return self._member.together(checked)

    def any_of(self, own: bool) -> bool:
        """Return whether any worker has True."""
        one = np.array([float(own)])
        return self._member.together(lambda: (one, one))[1][0] > 0


def callbacks_of(
    subscription: Subscription, line: WorkerChannel | None, member: CancellableMember
) -> tuple[Callback, ...]:
    """Return what a worker calls after each round."""
    if subscription.callbacks:
        return (_Relay(line, member),)
    return (_Progress(line),) if subscription.progress and line is not None else ()


class _Progress:
    """Sends the number of the round, not too often."""

    def __init__(self, line: WorkerChannel) -> None:
        self._line, self._sent = line, 0.0

    def __call__(self, done: Round) -> None:
        now = time.monotonic()
        if done.ends or now - self._sent > _PROGRESS:
            self._line.send("progress", _plain(done))
            self._sent = now


class _Relay:
    """Lets the callbacks of the other process see a round; all workers stop if one of them wants it."""

    def __init__(self, line: WorkerChannel | None, member: CancellableMember) -> None:
        self._line, self._member = line, member

    def __call__(self, done: Round) -> bool:
        failed: Exception | None = None
        stop = False
        try:
            stop = self._line is not None and self._ask(done, self._line)
        except Exception as error:
            failed = error
        stop = self._member.any_of(stop or failed is not None)
        if failed is not None:
            raise failed
        return stop

    def _ask(self, done: Round, line: WorkerChannel) -> bool:
        answer = line.ask("round", _plain(done))
        while answer == MODEL:
            answer = line.ask("model", content_of(done.model()))
        return answer == STOP


def _plain(done: Round) -> dict[str, Any]:
    """Return a round as an object for JSON; parameters are known at the other end."""
    names = ("number", "rounds", "metrics", "history", "best", "seconds", "ends")
    return {name: getattr(done, name) for name in names}
