"""What one worker does: from its parts of the data to the model, together with the others."""

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwood.cluster.collective import ClusterEvaluator, WorkerMember, joined, no_queries
from rankwood.cluster.partitions import row_weights
from rankwood.cluster.reporting import (
    CancellableMember,
    RemoteCheckpoint,
    Subscription,
    callbacks_of,
)
from rankwood.data.concatenation import join_matrices, join_sample_weights, join_weights
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.engines import base
from rankwood.fit.context import FitContext
from rankwood.fit.files.model_file import content_of, load_trees
from rankwood.fit.loop import FitData, fit
from rankwood.fit.result import FitResult
from rankwood.fit.spec import FitSpec
from rankwood.fit.validation import ValidationSets


class PartPlace(NamedTuple):
    """Where a part begins in the whole data: its first row and its first query."""

    row: int
    query: int


@dataclass(frozen=True)
class WorkerJob:
    """What a worker needs besides its parts.

    Attributes
    ----------
    spec : FitSpec
        What is trained, with the threads of this worker.
    number : int
        The worker, from 0.
    documents : int
        Number of all training documents.
    places : list of PartPlace
        Places of the parts of the training data.
    valid_places : dict
        Those of each validation set, by name.
    valid_queries : dict
        Number of all queries of each validation set.
    subscription : Subscription
        What the first worker sends.
    """

    spec: FitSpec
    number: int
    documents: int
    places: list[PartPlace]
    valid_places: dict[str, list[PartPlace]]
    valid_queries: dict[str, int]
    subscription: Subscription


class LocalData(NamedTuple):
    """The parts of one worker in one piece, and where they are in the whole data."""

    data: RankingData
    rows: np.ndarray
    queries: np.ndarray


def train_on_worker(
    job: WorkerJob,
    communicator: dict[str, Any],
    sample: Any,
    train: list[RankingData],
    valid: dict[str, list[RankingData]],
) -> dict[str, Any] | None:
    """Train with the other workers; return the model, which all of them have, as an object for JSON, from the first.

    By `communicator` they find each other; `sample` has the rows from which all workers make the same bins.
    """
    spec, subscription = job.spec, job.subscription
    local = in_one_piece(train, job.places)
    # Bins are made before the workers join: afterwards an engine would make them of the rows of all.
    reference = base.find(spec.settings.learner).reference(dict(spec.params), sample)
    results: list[FitResult] = []
    with joined(communicator, job.number) as me, subscription.line_of(job.number) as line:
        member = CancellableMember(
            WorkerMember(me, reference, job.documents, local.rows, local.queries)
        )
        sets, evaluators = _validation(job, valid, local.data)
        context = FitContext(
            evaluators=evaluators,
            store=RemoteCheckpoint(subscription, line) if subscription.checkpoint else None,
            callbacks=callbacks_of(subscription, line, member),
        )
        source = copy(_weighted_as_a_whole(local.data, member))
        source.place = member
        fit(spec, FitData(source, sets), context, load_trees, results.append)
    return content_of(results[-1]) if job.number == 0 else None


def _validation(
    job: WorkerJob, valid: dict[str, list[RankingData]], like: RankingData
) -> tuple[ValidationSets | None, dict[str, ClusterEvaluator]]:
    """Return this worker's parts of the validation sets, and what evaluates the sets as a whole."""
    sets: dict[str, Source] = {}
    evaluators = {}
    for name, places in job.valid_places.items():
        part = in_one_piece(valid[name], places) if places else _nothing(like)
        sets[name] = part.data
        evaluators[name] = ClusterEvaluator(
            dict(job.spec.metrics),
            part.data,
            part.queries,
            job.valid_queries[name],
            job.spec.n_jobs,
        )
    return ValidationSets.of(sets) if sets else None, evaluators


def _weighted_as_a_whole(data: RankingData, member: CancellableMember) -> RankingData:
    """Return data with weights of rows if any worker has some: on one machine all queries would have them then."""
    if not member.any_of(data.sample_weight is not None):
        return data
    data = copy(data)
    weights = row_weights([data])
    data.weight, data.sample_weight = None, np.ones(len(data)) if weights is None else weights
    return data


def in_one_piece(parts: list[RankingData], places: list[PartPlace]) -> LocalData:
    """Join parts in the order of the whole data."""
    order = sorted(range(len(parts)), key=lambda i: places[i].row)
    parts, places = [parts[i] for i in order], [places[i] for i in order]
    rows = [(place.row, place.row + len(part)) for part, place in zip(parts, places, strict=True)]
    numbers = np.concatenate(
        [p.query + np.arange(part.groups.ids.size) for part, p in zip(parts, places, strict=True)]
    )
    data = parts[0]
    if len(parts) > 1:
        sizes = np.concatenate([part.groups.sizes for part in parts])
        data = RankingData(
            join_matrices(parts),
            np.concatenate([part.y for part in parts]),
            group=sizes,
            feature_names=parts[0].feature_names,
            weight=join_weights(parts),
            sample_weight=join_sample_weights(parts),
        )
    return LocalData(data, np.array(rows), numbers)


def _nothing(like: RankingData) -> LocalData:
    """Return the share of a worker without any part of a validation set."""
    data = copy(like)
    data.X, data.y, data.groups = like.X[:0], like.y[:0], no_queries()
    data.weight = data.sample_weight = None
    return LocalData(data, np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
