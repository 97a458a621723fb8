"""Dask's side of a fit: the client, the tasks of the workers, and what happens if one is lost."""

import contextlib
import threading
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from rankwood._core import threads
from rankwood._core.checks import InputError
from rankwood._version import __version__
from rankwood.distributed.errors import PeerFailed, WorkerLost

_WORKERS = 4  # local processes, at most, if nothing else was given
_LOOK = 0.05  # seconds between two looks at the tasks
_LOOK_AT_WORKERS = 1.0
_GRACE = 10.0  # seconds in which the others notice that one failed
_ENDED = ("finished", "error", "cancelled", "lost")
#: What brings the workers of a run together, kept in the process of its first worker.
_TRACKERS: dict[str, Any] = {}


def _distributed() -> Any:
    """Return the package, or raise if it isn't installed."""
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise InputError(
            f"training on a cluster needs the package {error.name}: pip install 'rankwood[dask]'."
        ) from None
    return distributed


@contextlib.contextmanager
def client_for(cluster: Any) -> Iterator[Any]:
    """Return a client: the given one, the current one, or one of local processes that end with the context."""
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    if hasattr(cluster, "scheduler_address"):  # a cluster of Dask
        with distributed.Client(cluster) as client:
            yield client
        return
    if cluster is None:
        current = None
        with contextlib.suppress(ValueError):
            current = distributed.get_client()
        if current is not None:
            yield current
            return
    elif isinstance(cluster, bool) or not isinstance(cluster, int) or cluster < 1:
        raise InputError(
            f"cluster must be a distributed.Client or a number of local processes, got {cluster!r}."
        )
    cores = threads.threads(None)
    count = min(_WORKERS, cores) if cluster is None else cluster
    options = {"n_workers": count, "threads_per_worker": max(1, cores // count)}
    with (
        distributed.LocalCluster(**options, processes=True, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


def workers_of(client: Any) -> dict[str, int]:
    """Return the addresses of the workers, and their threads."""
    found = client.scheduler_info(n_workers=-1)["workers"]
    return {address: int(found[address]["nthreads"]) for address in sorted(found)}


def versions() -> dict[str, str]:
    """Return the versions of what decides about bits."""
    return {"rankwood": __version__, **{name: version(name) for name in ("numpy", "numba")}}


def check_versions(client: Any, workers: list[str]) -> None:
    """Raise unless workers have the versions that are here."""
    own = versions()
    # Tasks, as a message to a lost worker would be waited for.
    tasks = {worker: on_worker(client, worker, versions) for worker in workers}
    for address, theirs in results_of(client, tasks).items():
        for name in own:
            if own[name] != theirs[name]:
                raise InputError(
                    f"worker {address} has {name} {theirs[name]}, and here it is {own[name]}: install the same."
                )


def on_worker(client: Any, worker: str, function: Any, *arguments: Any) -> Any:
    """Return the future of a call on one worker and no other."""
    where = {"workers": [worker], "allow_other_workers": False}
    return client.submit(function, *arguments, **where, pure=False)


def open_tracker(run: str, workers: int, address: str) -> dict[str, Any]:
    """Start what brings workers together, in the process of the first of them; return the arguments that they need."""
    from rankwood.distributed.collective import start_tracker

    _TRACKERS[run], arguments = start_tracker(workers, urlsplit(address).hostname or "127.0.0.1")
    return arguments


def close_tracker(run: str) -> None:
    """Let it go, in a thread of its own: it waits for workers that may be lost."""
    tracker = _TRACKERS.pop(run, None)
    if tracker is not None:
        threading.Thread(target=tracker.free, daemon=True).start()


def results_of(client: Any, tasks: dict[str, Any]) -> dict[str, Any]:
    """Wait for the task of each worker; raise if one failed or was lost, and leave none running."""
    looked = 0.0
    lost: list[str] = []
    while not all(task.status in _ENDED for task in tasks.values()):
        if time.monotonic() - looked > _LOOK_AT_WORKERS:
            there = workers_of(client)
            lost = [address for address in tasks if address not in there]
            looked = time.monotonic()
        if lost or any(task.status == "error" for task in tasks.values()):
            break
        time.sleep(_LOOK)
    else:
        if all(task.status == "finished" for task in tasks.values()):
            return {address: task.result() for address, task in tasks.items()}
    end = time.monotonic() + _GRACE
    while time.monotonic() < end:
        there = workers_of(client)
        lost = [address for address in tasks if address not in there]
        waiting = [a for a, task in tasks.items() if a in there and task.status not in _ENDED]
        if not waiting and (lost or _own_errors(tasks)):
            break
        time.sleep(_LOOK_AT_WORKERS / 4)
    errors = _own_errors(tasks)
    _end(client, tasks, lost)
    if lost:
        raise WorkerLost(
            f"worker {lost[0]} was lost while it trained (its process or machine ended; too little memory is the most "
            "common reason). The cluster is free for another fit; retries=1 starts again by itself."
        )
    raise (
        errors[0]
        if errors
        else WorkerLost(
            "the workers lost contact with each other, but all of them are there: the network between them failed."
        )
    )


def _own_errors(tasks: dict[str, Any]) -> list[BaseException]:
    """Return the errors of tasks, other than that of another worker."""
    found = [task.exception() for task in tasks.values() if task.status == "error"]
    return [error for error in found if not isinstance(error, PeerFailed)]


def _end(client: Any, tasks: dict[str, Any], lost: list[str]) -> None:
    """Cancel what is left; restart workers that don't come back from a message."""
    stuck = [a for a, task in tasks.items() if a not in lost and task.status not in _ENDED]
    client.cancel(list(tasks.values()), force=True)
    if stuck:
        client.restart_workers(stuck, raise_for_error=False)
