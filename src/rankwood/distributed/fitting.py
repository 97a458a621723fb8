"""`fit` on a cluster: the part of it that runs where it is called."""

import uuid
from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.checks import InputError
from rankwood.distributed import clients
from rankwood.distributed.errors import WorkerLost
from rankwood.distributed.placing import Placed, deal, holders, place, sample_of
from rankwood.distributed.rank import RankJob, run_rank
from rankwood.engines import base
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.training.inputs import VALID
from rankwood.training.parameters import engine_params
from rankwood.training.tree_fitting import take

_ENGINES = ("lightgbm", "xgboost")
_PARTS = 4  # parts of plain data for each worker


def fit(ranker: Any, given: dict[str, Any], cluster: Any) -> None:
    """Train a ranker on a cluster, with the arguments of `fit` by name."""
    _check(ranker, given)
    left = checks.at_least(given["retries"], 0, "retries")
    with clients.client_for(cluster) as client:
        while True:
            try:
                _attempt(ranker, given, client)
                return
            except WorkerLost:
                if left == 0:
                    raise
                left -= 1


def _check(ranker: Any, given: dict[str, Any]) -> None:
    """Raise unless a cluster can train this."""
    if getattr(ranker, "_kind", "") != "Ranker":
        raise InputError(
            f"{type(ranker).__name__} trains on one machine: leave out cluster, or take Ranker(engine='xgboost')."
        )
    if ranker.engine not in _ENGINES:
        base.abilities_of(ranker.engine)
        raise InputError(
            f"engine={ranker.engine!r} trains on one machine: on a cluster take engine='lightgbm' or 'xgboost', or "
            "give fit the data of one machine, without cluster."
        )
    ranker._check(False)
    for name in ("group", "weight", "sample_weight", "callbacks", "checkpoint"):
        if given[name] is not None and (name != "callbacks" or len(given[name])):
            raise InputError(f"{name} can't be used on a cluster yet: leave it out.")
    if ranker.record or ranker.warm_start:
        raise InputError(
            "record and warm_start can't be used on a cluster yet: leave them at their defaults."
        )
    base.find(ranker.engine).check_share(engine_params(ranker), to_objective(ranker.objective))


def _attempt(ranker: Any, given: dict[str, Any], client: Any) -> None:
    """Train once, on the workers that are there."""
    there = clients.workers_of(client)
    if not there:
        raise InputError("the cluster has no workers: start some first.")
    pieces, shuffle = _PARTS * len(there), given["shuffle_parts"]
    train = place(client, (given["X"], given["y"], given["qid"]), pieces, shuffle)
    sets = {}
    for name, one in _named(given["valid"]).items():
        try:
            sets[name] = place(client, one, pieces, shuffle)
        except InputError as error:
            raise InputError(f"in the validation data, {error}") from None
        _check_features(train, sets[name])
    content = _trained(ranker, train, sets, client, there)
    take(ranker, content, "the model of the cluster")
    ranker.data_size_ = {"queries": train.queries, "documents": train.documents}


def _named(valid: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Return validation sets as (X, y, qid) by name."""
    if valid is None:
        return {}
    if isinstance(valid, Mapping):
        return {name: _three(one) for name, one in valid.items()}
    return {VALID: _three(valid)}


def _three(one: Any) -> tuple[Any, Any, Any]:
    if isinstance(one, tuple) and len(one) == 3 and not isinstance(one[0], str):
        return one
    return one, None, None


def _check_features(train: Placed, valid: Placed) -> None:
    if (train.features, train.names) != (valid.features, valid.names):
        raise InputError(
            f"the validation data has {valid.features} features, the training data {train.features}, or they have "
            "other names or another order; they must agree."
        )


def _trained(
    ranker: Any, train: Placed, sets: dict[str, Placed], client: Any, there: dict[str, int]
) -> dict[str, Any]:
    """Train on the workers; return the model as an object for JSON."""
    from distributed import MultiLock, fire_and_forget

    workers = list(there)[: len(train.futures)]
    owner = deal(train.rows, holders(client, train.futures), workers)
    workers = [worker for worker in workers if worker in owner]
    owners = {name: deal(d.rows, holders(client, d.futures), workers) for name, d in sets.items()}
    clients.check_versions(client, workers)
    sample = sample_of(client, train, single=ranker.engine == "xgboost")
    plain = clone(ranker).set_params(objective=to_objective(ranker.objective))
    run = uuid.uuid4().hex
    # Two fits at once would wait for each other's threads.
    with MultiLock(workers, client=client):
        first = workers[0]
        opened = clients.on_worker(client, first, clients.open_tracker, run, len(workers), first)
        communicator = clients.results_of(client, {first: opened})[first]
        tasks: dict[str, Any] = {}
        try:
            for number, worker in enumerate(workers):
                mine = _parts_of(train, owner, worker)
                valid = {name: _parts_of(sets[name], owners[name], worker) for name in sets}
                job = RankJob(
                    ranker=plain,
                    number=number,
                    communicator=communicator,
                    documents=train.documents,
                    places=mine[1],
                    valid_places={name: two[1] for name, two in valid.items()},
                    valid_queries={name: data.queries for name, data in sets.items()},
                    n_jobs=ranker.n_jobs or there[worker],
                )
                futures = {name: two[0] for name, two in valid.items()}
                tasks[worker] = clients.on_worker(
                    client, worker, run_rank, job, sample, mine[0], futures
                )
            found = clients.results_of(client, tasks)
        finally:
            if first in clients.workers_of(client):
                fire_and_forget(clients.on_worker(client, first, clients.close_tracker, run))
    return found[first]


def _parts_of(data: Placed, owner: list[str], worker: str) -> tuple[list[Any], list[Any]]:
    """Return the parts of a worker, and their places."""
    own = [number for number, name in enumerate(owner) if name == worker]
    return [data.futures[i] for i in own], [data.places[i] for i in own]
