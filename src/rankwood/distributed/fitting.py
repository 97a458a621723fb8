"""`fit` on a cluster: the part of it that runs where it is called."""

import uuid
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from rankwood._core import checks
from rankwood._core.checks import InputError
from rankwood.distributed import clients, digests
from rankwood.distributed.errors import WorkerLost
from rankwood.distributed.following import Watch
from rankwood.distributed.launching import Plan, trained
from rankwood.distributed.placing import place
from rankwood.distributed.sources import given_data, given_sets
from rankwood.engines import base
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.training import model_file
from rankwood.training.checkpoint import locked
from rankwood.training.context import close_callbacks
from rankwood.training.inputs import VALID
from rankwood.training.parameters import engine_params
from rankwood.training.run_file import RunFile
from rankwood.training.tree_fitting import check_can_go_on, take

_ENGINES = ("lightgbm", "xgboost")
_PARTS = 4  # parts of plain data for each worker


def fit(ranker: Any, given: dict[str, Any], cluster: Any) -> None:
    """Train a ranker on a cluster, with the arguments of `fit` by name."""
    clients.end_second_import()
    _check(ranker, given)
    left = checks.at_least(given["retries"], 0, "retries")
    kept = given["checkpoint"]
    try:
        with ExitStack() as stack:
            if kept is not None:
                stack.enter_context(locked(kept.path))
            client = stack.enter_context(clients.client_for(cluster))
            while not _attempt(ranker, given, client, last=left == 0):
                left -= 1
                if kept is not None and kept.resume != "force":
                    # What this run has written is its own, whatever there was before.
                    given = {**given, "checkpoint": replace(kept, resume="auto")}
    finally:
        close_callbacks(given["callbacks"])


def _attempt(ranker: Any, given: dict[str, Any], client: Any, last: bool) -> bool:
    """Train on the workers that are there; return False if one was lost, and raise if this was the last attempt."""
    there = clients.workers_of(client)
    if not there:
        raise InputError("the cluster has no workers: start some first.")
    try:
        _fit(ranker, given, client, there)
    except WorkerLost:
        if last or not clients.wait_for_workers(client, len(there)):
            raise
        return False
    return True


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
    if given["stream"]:
        raise InputError(
            "stream reads files on one machine, and a cluster has its data in memory: give one of the two."
        )
    if given["checkpoint"] is not None:
        check_can_go_on(ranker)
    if ranker.record or ranker.warm_start:
        raise InputError(
            "record and warm_start can't be used on a cluster yet: leave them at their defaults."
        )
    base.find(ranker.engine).check_share(engine_params(ranker), to_objective(ranker.objective))


def _fit(ranker: Any, given: dict[str, Any], client: Any, there: dict[str, int]) -> None:
    """Train once, and set the fitted attributes of the ranker."""
    clients.check_versions(client, list(there), str(base.abilities_of(ranker.engine).package))
    pieces, shuffle = _PARTS * len(there), given["shuffle_parts"]
    train = place(client, given_data(given), pieces, shuffle)
    sets = {}
    for name, one in given_sets(given).items():
        try:
            sets[name] = place(client, one, pieces, shuffle, train)
        except InputError as error:
            raise InputError(f"in the validation data{_called(name)}, {error}") from None
    kept = given["checkpoint"]
    file = None
    if kept is not None:
        every = [digests.full_digest(client, data) for data in (train, *sets.values())]
        file = RunFile(kept, ranker, every)
    known = {
        "params": model_file.params_of(ranker),
        "data_size": {"queries": train.queries, "documents": train.documents},
    }
    digest, called = digests.fingerprint(client, train), given["callbacks"]

    def complete(content: dict[str, Any]) -> dict[str, Any]:
        seconds = dict(content["seconds"])
        if not called:
            seconds.pop("callbacks", None)  # those of the progress bar
        origin = {**content["origin"], "fingerprint": digest}
        return {**content, **known, "seconds": seconds, "origin": origin}

    watch = Watch(ranker, called, file, complete)
    wanted = watch.wanted(uuid.uuid4().hex, kept)
    plan = Plan(client, there, train, sets)
    with watch.following(client, wanted, bool(sets)) as look:
        content = trained(ranker, plan, wanted, look)
    take(ranker, complete(content), "the model of the cluster")
    earlier = wanted.earlier
    ranker.resumed_after_ = 0 if earlier is None else earlier["run"]["rounds"]


def _called(name: str) -> str:
    return "" if name == VALID else f" {name!r}"
