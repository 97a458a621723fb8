"""Messages between the first worker of a run and the process that called `fit`, by queues of Dask's scheduler."""

import json
import time
from typing import Any, NamedTuple

_PATIENCE = 0.005  # seconds between two looks for an answer


class WorkerLost(RuntimeError):
    """A worker of a cluster was lost while it trained; the message names it.

    Examples
    --------
    >>> from rankwood.distributed import WorkerLost
    >>> str(WorkerLost("worker tcp://10.0.0.7:4000 was lost."))
    'worker tcp://10.0.0.7:4000 was lost.'
    """


class PeerFailed(RuntimeError):
    """Another worker failed, so this one stopped; the error of the other is the one to show."""


class Message(NamedTuple):
    """What the worker sends: "progress", "round", "model" or "checkpoint", and an object for JSON."""

    kind: str
    content: Any


class DriverChannel:
    """The end of the line at the process that called `fit`."""

    def __init__(self, client: Any, run: str) -> None:
        from distributed import Queue

        self._messages, self._answers = (Queue(name, client=client) for name in _names(run))

    def messages(self) -> list[Message]:
        """Return what has come since the last look."""
        return [Message(kind, json.loads(text)) for kind, text in self._messages.get(batch=True)]

    def answer(self, text: str) -> None:
        """Answer the worker, which waits for it."""
        self._answers.put(text)

    def close(self) -> None:
        """Let the queues go."""
        for queue in (self._messages, self._answers):
            queue.close()


class WorkerChannel:
    """The end of the line at the first worker."""

    def __init__(self, run: str) -> None:
        from distributed import Queue

        self._messages, self._answers = (Queue(name) for name in _names(run))

    def send(self, kind: str, content: Any) -> None:
        """Send a message; nobody answers."""
        self._messages.put([kind, json.dumps(content)])

    def ask(self, kind: str, content: Any) -> str:
        """Send a message, and wait for the answer; raise if nobody wants this run any more."""
        self.send(kind, content)
        while True:
            answers = self._answers.get(batch=True)
            if answers:
                return str(answers[0])
            check_not_cancelled()
            time.sleep(_PATIENCE)

    def close(self) -> None:
        """Let the queues go."""
        for queue in (self._messages, self._answers):
            queue.close()


class Cancelled(RuntimeError):
    """The process that called `fit` has given up, or ended."""


def check_not_cancelled() -> None:
    """Raise if the task that calls this was cancelled, or its client is gone."""
    from distributed.worker import get_worker, thread_state

    key = getattr(thread_state, "key", None)
    if key is None:  # no task
        return
    task = get_worker().state.tasks.get(key)
    if task is None or task.state in ("cancelled", "released", "forgotten"):
        raise Cancelled("the process that called fit has given up, or ended.")


def _names(run: str) -> tuple[str, str]:
    return f"rankwood-messages-{run}", f"rankwood-answers-{run}"
