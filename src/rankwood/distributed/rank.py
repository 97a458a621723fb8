"""What one worker does: from its parts of the data to the model, together with the others."""

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwood.data.concatenation import join_matrices, join_sample_weights, join_weights
from rankwood.data.ranking_data import RankingData
from rankwood.distributed.collective import ClusterEvaluator, ClusterShare, joined, no_queries
from rankwood.distributed.parts import row_weights
from rankwood.distributed.reporting import RankKeeper, Wanted, WatchedShare, callbacks_of
from rankwood.engines import base
from rankwood.metrics.evaluate import named_metrics
from rankwood.training import model_file
from rankwood.training.context import FitContext
from rankwood.training.inputs import ValidationSets, joined_sets
from rankwood.training.parameters import engine_params


class Place(NamedTuple):
    """Where a part begins in the whole data: its first row and its first query."""

    row: int
    query: int


@dataclass(frozen=True)
class RankJob:
    """What a worker needs besides its parts.

    Attributes
    ----------
    ranker : Ranker
        The parameters.
    number : int
        The worker, from 0.
    documents : int
        Number of all training documents.
    places : list of Place
        Of the parts of the training data.
    valid_places : dict
        Those of each validation set, by name.
    valid_queries : dict
        Number of all queries of each validation set.
    n_jobs : int
        Threads.
    wanted : Wanted
        What the first worker sends.
    """

    ranker: Any
    number: int
    documents: int
    places: list[Place]
    valid_places: dict[str, list[Place]]
    valid_queries: dict[str, int]
    n_jobs: int
    wanted: Wanted


class LocalData(NamedTuple):
    """The parts of one worker in one piece, and where they are in the whole data."""

    data: RankingData
    rows: np.ndarray
    queries: np.ndarray


def run_rank(
    job: RankJob,
    communicator: dict[str, Any],
    sample: Any,
    train: list[RankingData],
    valid: dict[str, list[RankingData]],
) -> dict[str, Any] | None:
    """Train with the other workers; return the model, which all of them have, as an object for JSON, from the first.

    By `communicator` they find each other; `sample` has the rows from which all workers make the same bins.
    """
    ranker = clone(job.ranker).set_params(n_jobs=job.n_jobs, verbose=False)
    own = in_one_piece(train, job.places)
    # Bins are made before the workers join: afterwards an engine would make them of the rows of all.
    reference = base.find(ranker.engine).reference(engine_params(ranker), sample)
    with joined(communicator, job.number) as me, job.wanted.line_of(job.number) as line:
        share = ClusterShare(me, reference, job.documents, own.rows, own.queries)
        metrics = named_metrics(ranker.eval_metric)
        sets, evaluators = {}, {}
        for name, places in job.valid_places.items():
            part = in_one_piece(valid[name], places) if places else _nothing(own.data)
            sets[name] = part.data
            queries = job.valid_queries[name]
            evaluators[name] = ClusterEvaluator(
                metrics, part.data, part.queries, queries, job.n_jobs
            )
        watched: Any = WatchedShare(share)
        train_data = _weighted_as_a_whole(own.data, watched)
        known = ValidationSets(sets, joined_sets(list(sets.values()))) if sets else None
        context = FitContext(
            evaluators=evaluators,
            share=watched,
            keeper=RankKeeper(job.wanted, line) if job.wanted.checkpoint else None,
            callbacks=callbacks_of(job.wanted, line, watched),
        )
        ranker._fit(train_data, known, context)
    return model_file.content_of(ranker) if job.number == 0 else None


def _weighted_as_a_whole(data: RankingData, share: WatchedShare) -> RankingData:
    """Return data with weights of rows if any worker has some: on one machine all queries would have them then."""
    if not share.any_of(data.sample_weight is not None):
        return data
    data = copy(data)
    weights = row_weights([data])
    data.weight, data.sample_weight = None, np.ones(len(data)) if weights is None else weights
    return data


def in_one_piece(parts: list[RankingData], places: list[Place]) -> LocalData:
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
