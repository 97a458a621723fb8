"""Judgments and a run, matched by query id and document id."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.groups import Groups, group_rows
from rankwood.data.trec.files import Qrels, Run


class JudgedRun(NamedTuple):
    """All documents that were judged or ranked; `ranked` says which are in the run."""

    y: np.ndarray
    scores: np.ndarray
    groups: Groups
    ranked: np.ndarray


def join_run(qrels: Qrels, run: Any, missing: Any = 0) -> JudgedRun:
    """Return the documents of judgments and of a run, matched by query id and document id.

    Queries come from the judgments, in their order; with ``missing="skip"`` only queries of the run
    count. A query's documents are by decreasing id, which is trec_eval's order of equal scores.
    """
    if not isinstance(run, Run):
        raise InputError(
            f"judgments go with a run, got {type(run).__name__}; read one with load_run, or give a dictionary "
            "{query: {document: score}}."
        )
    ids = dict.fromkeys(qrels.qid)
    if missing == "skip":
        retrieved = set(run.qid)
        ids = dict.fromkeys(q for q in ids if q in retrieved)
    elif not ids.keys() & set(run.qid):
        ids = {}
    if not ids:
        raise InputError(
            "the run has no query that the judgments have; give files that belong together."
        )
    query = {q: i for i, q in enumerate(ids)}
    names = sorted({*qrels.doc, *run.doc}, reverse=True)
    place = {doc: i for i, doc in enumerate(names)}
    judged_keys = _keys(qrels.qid, qrels.doc, query, place)
    retrieved_keys = _keys(run.qid, run.doc, query, place)
    keys = np.union1d(judged_keys[judged_keys >= 0], retrieved_keys[retrieved_keys >= 0])
    y, scores, ranked = np.zeros(keys.size), np.zeros(keys.size), np.zeros(keys.size, bool)
    in_judgments, in_run = judged_keys >= 0, retrieved_keys >= 0
    y[np.searchsorted(keys, judged_keys[in_judgments])] = np.maximum(
        np.asarray(qrels.label)[in_judgments], 0.0
    )
    rows = np.searchsorted(keys, retrieved_keys[in_run])
    scores[rows], ranked[rows] = np.asarray(run.score)[in_run], True
    groups = group_rows(keys.size, keys // len(names))
    return JudgedRun(y, scores, groups._replace(ids=np.array(list(ids))[groups.ids]), ranked)


def _keys(
    qid: list[str], doc: list[str], query: dict[str, int], place: dict[str, int]
) -> np.ndarray:
    """Return one number per row that orders by query, then by document; -1 for other queries."""
    q = np.array([query.get(x, -1) for x in qid], np.int64)
    d = np.array([place[x] for x in doc], np.int64)
    return np.where(q < 0, -1, q * len(place) + d)
