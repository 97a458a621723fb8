"""Judgments and a run, matched by query id and document id."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core.checks import InputError
from rankwood.data.groups import Groups, group_rows
from rankwood.data.trec import Qrels, Run


class JudgedRun(NamedTuple):
    """All documents that were judged or ranked; `ranked` says which are in the run."""

    y: np.ndarray
    scores: np.ndarray
    groups: Groups
    ranked: np.ndarray


def join_run(qrels: Qrels, run: Any, missing: Any = 0) -> JudgedRun:
    """Return the documents of judgments and of a run, matched by query id and document id.

    Queries are those of the judgments, in their order; with ``missing="skip"`` only those that the run
    has too. A query's documents are by decreasing id, which is trec_eval's order of equal scores.
    """
    if not isinstance(run, Run):
        raise InputError(
            f"judgments go with a run, got {type(run).__name__}; read one with load_run, or give a dictionary "
            "{query: {document: score}}."
        )
    wanted = dict.fromkeys(qrels.qid)
    if missing == "skip":
        retrieved = set(run.qid)
        wanted = dict.fromkeys(q for q in wanted if q in retrieved)
    elif not wanted.keys() & set(run.qid):
        wanted = {}
    if not wanted:
        raise InputError(
            "the run has no query that the judgments have; give files that belong together."
        )
    query = {q: i for i, q in enumerate(wanted)}
    names = sorted({*qrels.doc, *run.doc}, reverse=True)
    place = {doc: i for i, doc in enumerate(names)}
    judged = _keys(qrels.qid, qrels.doc, query, place)
    given = _keys(run.qid, run.doc, query, place)
    keys = np.union1d(judged[judged >= 0], given[given >= 0])
    y, scores, ranked = np.zeros(keys.size), np.zeros(keys.size), np.zeros(keys.size, bool)
    y[np.searchsorted(keys, judged[judged >= 0])] = np.maximum(
        np.asarray(qrels.label)[judged >= 0], 0.0
    )
    rows = np.searchsorted(keys, given[given >= 0])
    scores[rows], ranked[rows] = np.asarray(run.score)[given >= 0], True
    ids = np.array(list(wanted))
    groups = group_rows(keys.size, keys // len(names))
    return JudgedRun(y, scores, groups._replace(ids=ids[groups.ids]), ranked)


def _keys(
    qid: list[str], doc: list[str], query: dict[str, int], place: dict[str, int]
) -> np.ndarray:
    """Return one number per row that orders by query, then by document; -1 for other queries."""
    q = np.array([query.get(x, -1) for x in qid], np.int64)
    d = np.array([place[x] for x in doc], np.int64)
    return np.where(q < 0, -1, q * len(place) + d)
