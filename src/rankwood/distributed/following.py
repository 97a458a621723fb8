"""What the process that called `fit` does with the news of a run: a progress bar, callbacks, the checkpoint."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone

from rankwood._core.checks import InputError
from rankwood._core.progress import Advance, bar
from rankwood.distributed.errors import WorkerLost
from rankwood.distributed.news import Inbox, Message
from rankwood.distributed.reporting import MODEL, STOP, Wanted
from rankwood.training import model_file
from rankwood.training.checkpoint import Keeper
from rankwood.training.context import Callback, Round, call_all
from rankwood.training.parameters import chosen, rounds_of

_LOOK = 0.01  # seconds between two looks for a model
_PATIENCE = 60.0  # seconds in which the model of a round must come
#: Called while workers train.
Look = Callable[[], None]


class Watch:
    """Who watches a run.

    Parameters
    ----------
    ranker : Ranker
        Its parameters are shown to callbacks.
    callbacks : sequence of callables
        Called here after each round.
    file : Keeper or None
        The checkpoint, which is written here.
    complete : callable
        Adds to the content of a model what one worker doesn't know: size and digest of all data.
    """

    def __init__(
        self,
        ranker: Any,
        callbacks: Sequence[Callback],
        file: Keeper | None,
        complete: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> None:
        self._ranker, self._callbacks, self._file = ranker, callbacks, file
        self._complete = complete

    def wanted(self, run: str, checkpoint: Any) -> Wanted:
        """Return what the workers send."""
        show = self._ranker.verbose
        progress = sys.stderr.isatty() if show is None else bool(show)
        earlier = None if self._file is None else self._file.read()
        return Wanted(run, progress, bool(self._callbacks), checkpoint, earlier)

    @contextmanager
    def following(self, client: Any, wanted: Wanted, validated: bool) -> Iterator[Look]:
        """Return what looks at the news of a run; at the end, it looks once more."""
        if not wanted.anything:
            yield lambda: None
            return
        rounds = rounds_of(self._ranker, validated)
        inbox = Inbox(client, wanted.run)
        with bar(rounds, "Training", wanted.progress) as advance:
            follower = _Follower(self, inbox, advance)
            try:
                yield follower.look
            finally:
                follower.look_last()
                inbox.close()

    def write(self, found: dict[str, Any]) -> None:
        """Write a checkpoint."""
        if self._file is not None:
            self._file.write(self._complete(found["content"]), found["run"])

    def call(self, found: dict[str, Any], model: Callable[[int], Any]) -> bool:
        """Call the callbacks; return whether one of them stops training."""
        params = {**self._ranker.get_params(deep=False), **chosen(self._ranker)}
        params["n_estimators"] = found["rounds"]
        return call_all(self._callbacks, Round(**found, params=params, _make=model))

    def fitted(self, content: dict[str, Any]) -> Any:
        """Return a copy of the ranker with the model of a round."""
        other = clone(self._ranker)
        model_file.fill(other, self._complete(content), "the model of the cluster")
        return other


class _Follower:
    """Handles the messages of one run."""

    def __init__(self, watch: Watch, inbox: Inbox, advance: Advance) -> None:
        self._watch, self._inbox, self._advance = watch, inbox, advance
        self._shown, self._current = 0, 0

    def look(self) -> None:
        """Handle the messages that have come."""
        for message in self._inbox.messages():
            self._handle(message)

    def look_last(self) -> None:
        """Write the last checkpoint, if there is one; nobody waits for answers any more."""
        for message in self._inbox.messages():
            if message.kind != "round":
                self._handle(message)

    def _handle(self, message: Message) -> None:
        if message.kind == "checkpoint":
            self._watch.write(message.content)
            return
        found = message.content
        self._show(found)
        if message.kind == "round":
            self._current = found["number"]
            stop = self._watch.call(found, self._model)
            self._current = 0
            self._inbox.answer(STOP if stop else "go")

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
        self._inbox.answer(MODEL)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for message in self._inbox.messages():
                if message.kind == "model":
                    return self._watch.fitted(message.content)
                self._handle(message)
            time.sleep(_LOOK)
        raise WorkerLost("the first worker doesn't answer: it was lost, or the network failed.")
