"""Dask's side of a fit: the client, the tasks of the workers, and what happens if one is lost."""

import contextlib
import logging
import multiprocessing
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

from rankwood._kernels import threads
from rankwood._util import interrupts
from rankwood._util.checks import InputError
from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.cluster.messages import PeerFailed, WorkerLost

_WORKERS = 4  # local processes, at most, if nothing else was given
_LOOK = 0.05  # seconds between two looks at the tasks
_WAIT = (
    0.2  # seconds between two looks for an interrupt, which is held while a fit has locks and tasks
)
_GRACE = 15.0  # seconds in which workers notice that another one failed
_RETURN = 20.0  # seconds in which a lost worker may come back before another attempt
_ENDED = ("finished", "error", "cancelled", "lost")


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
    options: dict[str, Any] = {"n_workers": count, "threads_per_worker": max(1, cores // count)}
    options["silence_logs"] = logging.CRITICAL  # errors arrive by themselves
    with (
        _patience(),
        _local_cluster({**options, "processes": True, "dashboard_address": None}) as local,
        distributed.Client(local) as client,
    ):
        yield client


def _local_cluster(options: dict[str, Any]) -> Any:
    """Start local processes; if they don't start, say what the reason is in most scripts."""
    try:
        return _distributed().LocalCluster(**options)
    except RuntimeError as error:
        raise InputError(
            f"the local processes of the cluster did not start ({error}). Each of them imports the script that was "
            'started: in a script, call fit inside `if __name__ == "__main__":` only.'
        ) from None


def end_second_import() -> None:
    """End a process of a local cluster quietly if it imports a script that calls `fit` without a guard.

    Its parent then raises the error. The attribute is that by which `multiprocessing` itself finds this out.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False) and process.name.startswith("Dask Worker"):
        raise SystemExit(1)


def _patience() -> Any:
    """Let a local cluster wait longer than its 15 s until a lost worker is back: machines may be busy."""
    import dask

    return dask.config.set({"distributed.deploy.lost-worker-timeout": "120 s"})


def workers_of(client: Any) -> dict[str, int]:
    """Return the addresses of the workers, and their threads."""
    # Not scheduler_info, which may return what was true some time ago.
    return dict(sorted(client.nthreads().items()))


def wait_for_workers(client: Any, count: int) -> bool:
    """Wait for a while until so many workers are there again; return whether there are any."""
    end = time.monotonic() + _RETURN
    while time.monotonic() < end and len(workers_of(client)) < count:
        time.sleep(_LOOK)
    return bool(workers_of(client))


@contextlib.contextmanager
def only_fit(client: Any) -> Iterator[None]:
    """Wait until no other fit runs on a cluster, and keep others waiting; the lock ends with its process."""
    from distributed import Lock

    lock = Lock("rankwood-fit", scheduler_rpc=client.scheduler, loop=client.loop)
    while not lock.acquire(timeout=_WAIT):
        interrupts.deliver()
    try:
        yield
    finally:
        lock.release()


def versions(engine: str) -> dict[str, str | None]:
    """Return the versions of what decides about bits; None for what isn't installed."""
    python = ".".join(platform.python_version_tuple()[:2])
    others = {name: version_of(name) for name in ("numpy", "numba", engine)}
    return {"python": python, "rankwood": __version__, **others}


def check_versions(client: Any, workers: list[str], engine: str) -> None:
    """Raise unless workers have the versions that are here; `engine` is a package."""
    own = versions(engine)
    # Tasks, as a message to a lost worker would be waited for.
    tasks = {worker: on_worker(client, worker, versions, engine) for worker in workers}
    try:
        found = results_of(client, tasks)
    except ModuleNotFoundError as error:
        raise InputError(
            f"a worker has no package {error.name}: install 'rankwood[dask]' {__version__} where the workers run."
        ) from None
    for address, theirs in found.items():
        for name in own:
            if own[name] != theirs[name]:
                has = f"has no {name}" if theirs[name] is None else f"has {name} {theirs[name]}"
                raise InputError(
                    f"worker {address} {has}, and here it is {own[name]}: install the same."
                )


def on_worker(client: Any, worker: str, function: Any, *arguments: Any) -> Any:
    """Return the future of a call on one worker and no other."""
    where = {"workers": [worker], "allow_other_workers": False}
    return client.submit(function, *arguments, **where, pure=False)


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Return the results of tasks."""
    from distributed import wait

    while futures:
        interrupts.deliver()
        try:
            wait(futures, timeout=_WAIT)
            break
        except TimeoutError:
            continue
    return list(client.gather(futures))


def results_of(
    client: Any, tasks: dict[str, Any], look: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Wait for the task of each worker; raise if one failed or was lost, and leave none running.

    `look` is called again and again while they run.
    """
    try:
        while not _ended(tasks):
            if _lost(client, tasks) or any(task.status == "error" for task in tasks.values()):
                _wait_for_the_reason(client, tasks)
                break
            look()
            interrupts.deliver()
            time.sleep(_LOOK)
        if not _finished(tasks):
            raise _reason(client, tasks)
        return {address: task.result() for address, task in tasks.items()}
    finally:
        if not _finished(tasks):
            _end(client, tasks)


def _ended(tasks: dict[str, Any]) -> bool:
    return all(task.status in _ENDED for task in tasks.values())


def _finished(tasks: dict[str, Any]) -> bool:
    return all(task.status == "finished" for task in tasks.values())


def _lost(client: Any, tasks: dict[str, Any]) -> list[str]:
    """Return the workers that are gone."""
    there = workers_of(client)
    return [address for address in tasks if address not in there]


def _wait_for_the_reason(client: Any, tasks: dict[str, Any]) -> None:
    """Wait until it is known which worker is gone or failed: others may notice it first."""
    end = time.monotonic() + _GRACE
    while time.monotonic() < end and not _finished(tasks):
        if _lost(client, tasks) or _own_errors(tasks):
            return
        time.sleep(_LOOK)


def _reason(client: Any, tasks: dict[str, Any]) -> BaseException:
    """Return what to raise: the loss of a worker, or the error of one."""
    lost = _lost(client, tasks)
    if lost:
        first = _first_lost(client, lost)
        return WorkerLost(
            f"worker {first} was lost while it trained (its process or machine ended; too little memory is the most "
            "common reason). The cluster is free for another fit; retries=1 starts again by itself."
        )
    errors = _own_errors(tasks)
    if errors:
        return errors[0]
    states = ", ".join(f"{address} {task.status}" for address, task in tasks.items())
    return WorkerLost(
        "the workers lost contact with each other, but all of them are there: the network between them failed "
        f"({states})."
    )


def _first_lost(client: Any, lost: list[str]) -> str:
    """Return the worker that went first: others may follow it."""
    for _, event in client.get_events("all"):
        if event.get("action") == "remove-worker" and event.get("worker") in lost:
            return str(event["worker"])
    return lost[0]


def _own_errors(tasks: dict[str, Any]) -> list[BaseException]:
    """Return the errors of tasks, other than that of another worker."""
    found = [task.exception() for task in tasks.values() if task.status == "error"]
    return [error for error in found if not isinstance(error, PeerFailed)]


def _end(client: Any, tasks: dict[str, Any]) -> None:
    """Cancel what is left; restart workers that don't come back from a message to another."""
    client.cancel(list(tasks.values()), force=True)
    end = time.monotonic() + _GRACE
    while time.monotonic() < end:
        busy = _busy(client, tasks)
        if not busy:
            return
        time.sleep(_LOOK)
    with contextlib.suppress(ValueError):  # a worker without a nanny can't be restarted
        client.restart_workers(busy, raise_for_error=False)


def _busy(client: Any, tasks: dict[str, Any]) -> list[str]:
    """Return the workers that still run one of the tasks, though it was cancelled."""
    keys = {task.key for task in tasks.values()}
    there = workers_of(client)
    asked = [address for address in tasks if address in there]
    found = client.run(_executing, workers=asked, on_error="ignore", nanny=False)
    return [address for address, running in found.items() if keys & set(running)]


def _executing(dask_worker: Any) -> list[str]:
    return [str(task.key) for task in dask_worker.state.executing]
