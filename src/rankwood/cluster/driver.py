"""What the process that called `fit` does with the messages of a run: a progress bar, callbacks, the checkpoint."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rankwood._util import interrupts
from rankwood._util.checks import InputError
from rankwood._util.progress import Advance, bar
from rankwood.cluster.messages import DriverChannel, Message, WorkerLost
from rankwood.cluster.reporting import MODEL, STOP, Subscription
from rankwood.fit.context import FitContext, Round, call_all
from rankwood.fit.files.checkpoint import CheckpointStore
from rankwood.fit.files.model_file import content_of
from rankwood.fit.result import FitResult
from rankwood.fit.spec import FitSpec

_LOOK = 0.01  # seconds between two looks for a model
_PATIENCE = 60.0  # seconds in which the model of a round must come
#: Called while workers train.
Look = Callable[[], None]


class DriverMonitor:
    """Follows a run where `fit` was called.

    Parameters
    ----------
    spec : FitSpec
        Its parameters are shown to callbacks.
    context : FitContext
        Has the callbacks, which are called here after each round.
    file : CheckpointStore or None
        The checkpoint, which is written here.
    complete : callable
        Makes a result of the content that a worker sends.
    """

    def __init__(
        self,
        spec: FitSpec,
        context: FitContext,
        file: CheckpointStore | None,
        complete: Callable[[dict[str, Any]], FitResult],
    ) -> None:
        self._spec, self._context, self._file = spec, context, file
        self._complete = complete

    def subscription(self, run: str) -> Subscription:
        """Return what the workers send."""
        show = self._spec.verbose
        progress = sys.stderr.isatty() if show is None else bool(show)
        earlier = None if self._file is None else self._file.read()
        callbacks = bool(self._context.callbacks)
        return Subscription(run, progress, callbacks, self._context.checkpoint, earlier)

    @contextmanager
    def following(self, client: Any, subscription: Subscription) -> Iterator[Look]:
        """Return what looks at the messages of a run; at the end, it looks once more."""
        if not subscription.anything:
            yield lambda: None
            return
        channel = DriverChannel(client, subscription.run)
        with bar(self._spec.rounds, "Training", subscription.progress) as advance:
            follower = _Follower(self, channel, advance)
            try:
                yield follower.look
            finally:
                follower.look_last()
                channel.close()

    def write(self, sent: dict[str, Any]) -> None:
        """Write a checkpoint."""
        if self._file is not None:
            self._file.write(content_of(self._complete(sent["content"])), sent["run"])

    def call(self, sent: dict[str, Any], model: Callable[[int], Any]) -> bool:
        """Call the callbacks; return whether one of them stops training."""
        settings = self._spec.settings
        params = {**settings.params, **settings.chosen, self._spec.rounds_name: sent["rounds"]}
        with interrupts.released():
            return call_all(self._context.callbacks, Round(**sent, params=params, _make=model))

    def fitted(self, content: dict[str, Any]) -> Any:
        """Return an estimator with the model of a round."""
        result = self._complete(content)
        return result if self._context.fitted is None else self._context.fitted(result)


class _Follower:
    """Handles the messages of one run."""

    def __init__(self, monitor: DriverMonitor, channel: DriverChannel, advance: Advance) -> None:
        self._monitor, self._channel, self._advance = monitor, channel, advance
        self._shown, self._current = 0, 0

    def look(self) -> None:
        """Handle the messages that have come."""
        for message in self._channel.messages():
            self._handle(message)

    def look_last(self) -> None:
        """Write the last checkpoint, if there is one; nobody waits for answers any more."""
        for message in self._channel.messages():
            if message.kind in ("checkpoint", "progress"):
                self._handle(message)

    def _handle(self, message: Message) -> None:
        if message.kind == "checkpoint":
            self._monitor.write(message.content)
            return
        found = message.content
        self._show(found)
        if message.kind == "round":
            self._current = found["number"]
            stop = self._monitor.call(found, self._model)
            self._current = 0
            self._channel.answer(STOP if stop else "go")

    def _show(self, found: dict[str, Any]) -> None:
        """Move the progress bar on."""
        value = next((v for values in found["metrics"].values() for v in values.values()), None)
        name = next((name for values in found["metrics"].values() for name in values), "")
        note = "" if value is None else f"{name} {value:.4f}"
        if found["best"] is not None and name:
            note += f" (best {found['history'][name][found['best'] - 1]:.4f} at {found['best']})"
        self._advance(note, found["number"] - self._shown)
        self._shown = found["number"]

    def _model(self, number: int) -> Any:
        """Return the model of the round that callbacks see."""
        if number != self._current:
            raise InputError(f"round {number} is over: call model() before the callback returns.")
        self._channel.answer(MODEL)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for message in self._channel.messages():
                if message.kind == "model":
                    return self._monitor.fitted(message.content)
                self._handle(message)
            time.sleep(_LOOK)
        raise WorkerLost("the first worker doesn't answer: it was lost, or the network failed.")
