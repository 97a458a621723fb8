"""`fit` on a cluster: the part of it that runs where it is called."""

import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from rankwood._util import interrupts
from rankwood._util.checks import InputError
from rankwood.cluster import clients, digests
from rankwood.cluster.arguments import Placed
from rankwood.cluster.driver import DriverMonitor
from rankwood.cluster.launching import Plan, trained
from rankwood.cluster.messages import WorkerLost
from rankwood.cluster.placing import place
from rankwood.cluster.sources import given_sets
from rankwood.engines import base
from rankwood.fit.context import FitContext
from rankwood.fit.files.checkpoint import locked
from rankwood.fit.files.model_file import load_trees, result_of
from rankwood.fit.files.run_file import RunFile
from rankwood.fit.origin import package_of
from rankwood.fit.result import VALID, DataSize, FitResult
from rankwood.fit.run import Keep
from rankwood.fit.spec import FitSpec

_ENGINES = ("lightgbm", "xgboost")
_PARTS = 4  # parts of plain data per worker
#: Makes the specification of a fit, given whether there is validation data.
MakeSpec = Callable[[bool], FitSpec]


@interrupts.held()
def fit_on_cluster(make_spec: MakeSpec, placed: Placed, context: FitContext, keep: Keep) -> None:
    """Train on the workers of a cluster."""
    clients.end_second_import()
    spec = make_spec(placed.given.valid is not None)
    _check(spec)
    left, file = placed.retries, context.checkpoint
    with ExitStack() as stack:
        if file is not None:
            stack.enter_context(locked(file.path))
        client = stack.enter_context(clients.client_for(placed.cluster))
        while not _attempt(spec, placed, context, client, keep, last=left == 0):
            left -= 1
            if file is not None and file.resume != "force":
                # What this run has written is its own, whatever there was before.
                context = replace(context, checkpoint=replace(file, resume="auto"))


def _attempt(
    spec: FitSpec, placed: Placed, context: FitContext, client: Any, keep: Keep, last: bool
) -> bool:
    """Train on the workers that are there; return False if one was lost, and raise if this was the last attempt."""
    there = clients.workers_of(client)
    if not there:
        raise InputError("the cluster has no workers: start some first.")
    try:
        _fit(spec, placed, context, client, keep)
    except WorkerLost:
        if last or not clients.wait_for_workers(client, len(there)):
            raise
        return False
    return True


def _check(spec: FitSpec) -> None:
    """Raise unless a cluster can train this."""
    engine = spec.settings.learner
    if engine not in _ENGINES:
        raise InputError(
            f"engine={engine!r} trains on one machine: on a cluster use engine='lightgbm' or 'xgboost', or "
            "give fit the data of one machine, without cluster."
        )
    base.find(engine).check_share(dict(spec.params), spec.objective)


def _fit(spec: FitSpec, placed: Placed, context: FitContext, client: Any, keep: Keep) -> None:
    """Train once, and keep the result."""
    there = clients.workers_of(client)
    clients.check_versions(client, list(there), package_of(spec.settings.learner))
    pieces = _PARTS * len(there)
    train = place(client, placed.given, pieces, placed.shuffle)
    sets = {}
    for name, given in given_sets(placed.given).items():
        try:
            sets[name] = place(client, given, pieces, placed.shuffle, train)
        except InputError as error:
            raise InputError(f"in the validation data{_called(name)}, {error}") from None
    file = None
    if context.checkpoint is not None:
        every = [digests.full_digest(client, data) for data in (train, *sets.values())]
        file = RunFile(context.checkpoint, spec, every)
    digest = digests.fingerprint(client, train)

    def complete(content: dict[str, Any]) -> FitResult:
        """Return the result of a worker with what one worker doesn't know: size and digest of all data."""
        result = result_of(content, "the model of the cluster", load_trees, spec.settings.kind)
        assert result.origin is not None  # workers have this version
        seconds = dict(result.seconds)
        if not context.callbacks:
            seconds.pop("callbacks", None)  # those of the progress bar
        return replace(
            result,
            settings=spec.settings,
            seconds=seconds,
            data_size=DataSize(train.queries, train.documents),
            origin=result.origin._replace(fingerprint=digest),
        )

    monitor = DriverMonitor(spec, context, file, complete)
    subscription = monitor.subscription(uuid.uuid4().hex)
    plan = Plan(client, there, train, sets)
    with monitor.following(client, subscription) as look:
        content = trained(spec, plan, subscription, look)
    earlier = subscription.earlier
    done = 0 if earlier is None else earlier["run"]["rounds"]
    keep(replace(complete(content), resumed_after=done))


def _called(name: str) -> str:
    return "" if name == VALID else f" {name!r}"
