"""One run on the workers of a cluster: who trains on which part, and the tasks."""

import contextlib
import threading
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rankwood.cluster import clients
from rankwood.cluster.driver import Look
from rankwood.cluster.placing import PlacedData, deal, holders, sample_of
from rankwood.cluster.reporting import Subscription
from rankwood.cluster.worker import WorkerJob, train_on_worker
from rankwood.fit.spec import FitSpec

_CLOSING = 1.0  # seconds in which a tracker is closed, unless its worker is busy
#: What brings the workers of a run together, kept in the process of its first worker.
_TRACKERS: dict[str, Any] = {}


class Plan(NamedTuple):
    """The data of a run, and the workers that are there, with their threads."""

    client: Any
    there: dict[str, int]
    train: PlacedData
    sets: dict[str, PlacedData]


class Owners(NamedTuple):
    """The workers of a run, and the one of each part of the training and the validation data."""

    workers: list[str]
    train: list[str]
    sets: dict[str, list[str]]


def trained(spec: FitSpec, plan: Plan, subscription: Subscription, look: Look) -> dict[str, Any]:
    """Train on the workers; return the model as an object for JSON."""
    client, run = plan.client, subscription.run
    owners = _owners(plan)
    sample = sample_of(client, plan.train, single=spec.settings.learner == "xgboost")
    first, count = owners.workers[0], len(owners.workers)
    # Two fits at once would wait for each other's threads.
    with clients.only_fit(client):
        try:
            opened = clients.on_worker(client, first, open_tracker, run, count, first)
            communicator = clients.results_of(client, {first: opened})[first]
            tasks = {}
            for number, worker in enumerate(owners.workers):
                job, parts = _job(spec, plan, owners, number, subscription)
                task = (train_on_worker, job, communicator, sample, *parts)
                tasks[worker] = clients.on_worker(client, worker, *task)
            found = clients.results_of(client, tasks, look)
        finally:
            forget_tracker(client, first, run)
    return dict(found[first])


def _owners(plan: Plan) -> Owners:
    """Deal the parts to workers; those without training data take no part."""
    client, train = plan.client, plan.train
    workers = list(plan.there)[: len(train.futures)]
    owner = deal(train.rows, holders(client, train.futures), workers)
    workers = [worker for worker in workers if worker in owner]
    sets = {
        name: deal(data.rows, holders(client, data.futures), workers)
        for name, data in plan.sets.items()
    }
    return Owners(workers, owner, sets)


def _job(
    spec: FitSpec, plan: Plan, owners: Owners, number: int, subscription: Subscription
) -> tuple[WorkerJob, tuple[list[Any], dict[str, list[Any]]]]:
    """Return what a worker has to do, and the futures of its parts."""
    worker = owners.workers[number]
    mine = _parts_of(plan.train, owners.train, worker)
    valid = {name: _parts_of(data, owners.sets[name], worker) for name, data in plan.sets.items()}
    job = WorkerJob(
        spec=spec.on_worker(spec.n_jobs or plan.there[worker]),
        number=number,
        documents=plan.train.documents,
        places=mine[1],
        valid_places={name: two[1] for name, two in valid.items()},
        valid_queries={name: data.queries for name, data in plan.sets.items()},
        subscription=subscription,
    )
    return job, (mine[0], {name: two[0] for name, two in valid.items()})


def _parts_of(data: PlacedData, owner: list[str], worker: str) -> tuple[list[Any], list[Any]]:
    """Return the parts of a worker, and their places."""
    own = [number for number, name in enumerate(owner) if name == worker]
    return [data.futures[i] for i in own], [data.places[i] for i in own]


def open_tracker(run: str, workers: int, address: str) -> dict[str, Any]:
    """Start what brings workers together, in the process of the first of them; return the arguments that they need."""
    from rankwood.cluster.collective import start_tracker

    _TRACKERS[run], arguments = start_tracker(workers, urlsplit(address).hostname or "127.0.0.1")
    return arguments


def forget_tracker(client: Any, worker: str, run: str) -> None:
    """Close the tracker, if its worker is still there."""
    from distributed import wait

    if worker in clients.workers_of(client):
        closing = clients.on_worker(client, worker, close_tracker, run)
        try:
            wait(closing, timeout=_CLOSING)
        except TimeoutError:  # the worker is busy: keep the future until it is done
            closing.add_done_callback(lambda _: None)


def close_tracker(run: str) -> None:
    """Let it go, in a thread of its own: it waits for workers that may be lost."""
    tracker = _TRACKERS.pop(run, None)
    if tracker is not None:
        threading.Thread(target=_free, args=[tracker], daemon=True).start()


def _free(tracker: Any) -> None:
    with contextlib.suppress(Exception):  # it complains of workers that are gone
        tracker.free()
