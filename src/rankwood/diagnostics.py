"""What an objective does with a ranking: which pairs it uses, and in which direction it pushes documents.

This module computes numbers; `rankwood.report.plots` draws them.
"""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks
from rankwood._util.atomic import written
from rankwood._util.csv_text import csv_text
from rankwood._util.text import plural
from rankwood.data.groups import Groups
from rankwood.data.labels import beside_labels, labels_and_groups
from rankwood.data.ranking_data import RankingData
from rankwood.objectives.incoherence import IncoherenceCheck
from rankwood.objectives.inspection import PairCounter, pair_share, single_use_computer
from rankwood.objectives.position_weights import cutoff, heat, of_documents, pair_counts
from rankwood.objectives.units import has_pair_set, read_labels, reads_pairs

__all__ = ["Diagnosis", "cutoff", "diagnose", "heat", "pair_counts"]

# Relative to the largest push of a query: pushes that differ by rounding errors are not incoherent.
_TOLERANCE = 1e-9
_BLOCK = 4_000_000  # number of pairs compared at a time, to bound memory
_PAIR = [
    *(("upper_row", np.int64), ("lower_row", np.int64)),
    *(("upper_position", np.int64), ("lower_position", np.int64)),
    *(("upper_label", np.float64), ("lower_label", np.float64)),
    *(("upper_push", np.float64), ("lower_push", np.float64)),
]


def diagnose(
    objective: Any,
    y: ArrayLike | RankingData,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    k: int | None = None,
    definition: str = "program",
    seed: int = 0,
    round: int = 0,
    n_jobs: int | None = None,
) -> "Diagnosis":
    """Inspect an objective at given scores: the pairs it uses, and the pairs it pushes the wrong way.

    The push of a document is its gradient times -1. A pair is *incoherent* if the document with the higher label is
    ranked below the other one and is pushed up less, or down more [lambdaex2023, Definition 3.1]. Labels are those
    that the objective reads, so a binary objective has two. Objectives that are not made of pairs (``"softmax"``)
    are inspected in the same way, but have no number of pairs used. ``"ranknet-pairs"`` uses the pairs of the data,
    and a pair is incoherent by its labels, as everywhere.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"``, or a composition.
    y : array or RankingData
        Labels, or a data set with labels and queries.
    scores : array
        Current scores, in the order of `y`.
    qid, group : array, optional
        The query id of each row, in any order, or the sizes of consecutive queries. Without either, all rows belong
        to one query.
    k : int, optional
        Cutoff for the most harmful kind of incoherent pair: a *false* document within the first k and a *missed*
        one below. By default the cutoff of the objective; if it has none, no pair is of that kind.
    definition : {"program", "paper"}
        Which documents are false and missed. "program": documents with a label that is more frequent, or less
        frequent, among the first k than among the ideal first k. "paper": documents with a label that does not
        occur, or does occur, among the ideal first k.
    seed, round : int
        Where random numbers start: the seed, and the number of the round.
    n_jobs : int, optional
        Number of threads; None means every core.

    Returns
    -------
    Diagnosis
        One row per query, and the incoherent pairs of each query.

    Raises
    ------
    InputError
        If the objective is on pairs of documents (``"bi-ranknet"``), or the arrays do not match.

    Examples
    --------
    >>> import rankwood as rw
    >>> found = rw.diagnose("lambdarank-ndcg@1(norm=False)", [1, 2, 0, 0, 0], [0.04, 0.03, 0.02, 0.01, 0.0])
    >>> found.push.round(3).tolist()  # the best document is pushed less than the one above it
    [0.152, 0.124, -0.083, -0.093, -0.1]
    >>> found.per_query["incoherent_pairs"].tolist()
    [1]
    """
    objective = of_documents(objective)
    held = beside_labels(y)
    y, groups = labels_and_groups(y, qid, group)
    scores = checks.vector(scores, "scores", y.size)
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    k = cutoff(objective) if k is None else checks.at_least(k, 1, "k")
    checks.one_of(definition, ("program", "paper"), "definition")
    options = {"n_jobs": n_jobs, "seed": seed, **held}

    compute = single_use_computer(objective, y, groups, **options)
    push = -compute(scores, round)[0]
    used = None
    if has_pair_set(objective):
        count_pairs = PairCounter(objective, y, groups, single_use_computer, **options)
        used = count_pairs(scores, round)
    elif reads_pairs(objective):
        used = held["pairs"].counts(groups)
    label = read_labels(objective, y)
    find_incoherent = IncoherenceCheck(
        label, groups, k, definition, tolerance=_TOLERANCE, n_jobs=n_jobs
    )
    flags = find_incoherent(scores, -push)
    ranking = groups.rows[find_incoherent.order + np.repeat(groups.ptr[:-1], groups.sizes)]
    return Diagnosis(_Findings(objective, k, groups, ranking, label, push, used, flags))


class _Findings(NamedTuple):
    """What `diagnose` computes: by document unless stated otherwise, in the caller's order."""

    objective: Any
    k: int | None
    groups: Groups
    ranking: np.ndarray  # rows of all queries, each query from its first rank to its last
    label: np.ndarray
    push: np.ndarray
    used: np.ndarray | None  # by query: number of pairs, None if the objective is not made of pairs
    # By query: whether a pair is incoherent; whether such a pair is a false document over a missed one.
    flags: np.ndarray


class Diagnosis:
    """The result of `diagnose`.

    Attributes
    ----------
    objective : part
        The objective as a composition.
    k : int or None
        Cutoff of false and missed documents.
    per_query : structured array
        A row per query: `qid`; the number of `documents`; the number of `pairs` that the objective uses, and the
        same as the `effective` share of all pairs (both only if the objective is made of pairs); the number of
        `incoherent_pairs`; `false_over_missed`, whether one of them is a false document within the first k that is
        pushed more than a missed one below; and the `gradient_norm`.
    push : array
        How far each document is pushed up (down if negative), in the caller's order.
    effective_pairs : float or None
        The mean effective share over all queries; None if the objective is not made of pairs.
    incoherent : float
        The share of queries with an incoherent pair.
    false_over_missed : float
        The share of queries with an incoherent pair of a false and a missed document.

    Examples
    --------
    >>> import rankwood as rw
    >>> found = rw.diagnose("lambdarank-p@1", [0, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1], group=[3, 3])
    >>> found.per_query[["documents", "pairs"]].tolist(), round(found.effective_pairs, 3)
    ([(3, 1), (3, 2)], 0.5)
    """

    def __init__(self, findings: _Findings) -> None:
        self.objective, self.k, self.push = findings.objective, findings.k, findings.push
        groups = findings.groups
        self._ptr, self._ranking, self._label = groups.ptr, findings.ranking, findings.label
        self._query_of = {qid: q for q, qid in enumerate(groups.ids.tolist())}
        columns = self._columns(findings)
        self.per_query = np.empty(groups.ids.size, [(n, c.dtype) for n, c in columns.items()])
        for name, column in columns.items():
            self.per_query[name] = column
        shares = columns.get("effective")
        self.effective_pairs = None if shares is None else float(shares.mean())
        self.incoherent = float((self.per_query["incoherent_pairs"] > 0).mean())
        self.false_over_missed = float(self.per_query["false_over_missed"].mean())

    def _columns(self, findings: _Findings) -> dict[str, np.ndarray]:
        """Return the columns of `per_query`."""
        groups, used = findings.groups, findings.used
        pairs = {}
        if used is not None:
            pairs = {"pairs": used, "effective": pair_share(used, groups.sizes)}
        incoherent = np.zeros(groups.ids.size, np.int64)
        for q in np.flatnonzero(findings.flags[:, 0]):
            incoherent[q] = self._incoherent_ranks(int(q))[0].size
        squares = self.push[self._ranking] ** 2
        return {
            "qid": groups.ids,
            "documents": groups.sizes,
            **pairs,
            "incoherent_pairs": incoherent,
            "false_over_missed": findings.flags[:, 1],
            "gradient_norm": np.sqrt(np.add.reduceat(squares, groups.ptr[:-1])),
        }

    def pairs(self, qid: Any = None) -> np.ndarray:
        """Return the incoherent pairs of a query, largest difference of pushes first.

        Parameters
        ----------
        qid : query id, optional
            May be omitted if there is only one query.

        Returns
        -------
        structured array
            A row per pair: row (in the caller's order), position (from 1), label and push of the `upper` and the
            `lower` document. The upper document is ranked higher, has the lower label, and is pushed more.

        Raises
        ------
        InputError
            If there is no such query, or `qid` is missing and there are several.

        Examples
        --------
        >>> import rankwood as rw
        >>> found = rw.diagnose("lambdarank-ndcg@1(norm=False)", [1, 2, 0, 0, 0], [0.04, 0.03, 0.02, 0.01, 0.0])
        >>> found.pairs()[["upper_position", "lower_position", "upper_label", "lower_label"]].tolist()
        [(1, 2, 1.0, 2.0)]
        """
        q = 0 if qid is None and len(self._query_of) == 1 else self._query_of.get(qid, -1)
        if q < 0:
            raise checks.InputError(
                f"there is no query {qid!r}; known are {_first_few(self._query_of)}."
                if qid is not None
                else f"there are {len(self._query_of):,} queries: give the id of one, "
                f"such as {next(iter(self._query_of))!r}."
            )
        upper, lower = self._incoherent_ranks(q)
        rows = self._rows(q)
        table = np.empty(upper.size, dtype=_PAIR)
        for side, rank in (("upper", upper), ("lower", lower)):
            table[f"{side}_row"] = rows[rank]
            table[f"{side}_position"] = rank + 1
            table[f"{side}_label"] = self._label[rows[rank]]
            table[f"{side}_push"] = self.push[rows[rank]]
        return table[np.argsort(table["lower_push"] - table["upper_push"], kind="stable")]

    def _rows(self, q: int) -> np.ndarray:
        """Return the caller's rows of a query's documents, by rank."""
        return self._ranking[self._ptr[q] : self._ptr[q + 1]]

    def _incoherent_ranks(self, q: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranks of the upper and of the lower documents of a query's incoherent pairs."""
        rows = self._rows(q)
        label, push = self._label[rows], self.push[rows]
        margin = _TOLERANCE * np.abs(push).max()
        step = max(1, _BLOCK // rows.size)
        blocks = []
        for start in range(0, rows.size, step):
            stop = min(start + step, rows.size)
            above = np.arange(start, stop)[:, None] < np.arange(rows.size)
            incoherent = above & (label[start:stop, None] < label)
            incoherent &= push[start:stop, None] > push + margin
            upper, lower = np.nonzero(incoherent)
            blocks.append((upper + start, lower))
        uppers, lowers = zip(*blocks, strict=True)
        return np.concatenate(uppers), np.concatenate(lowers)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `per_query` as a CSV file.

        Parameters
        ----------
        path : path
            The file to write; an existing one is replaced.
        """
        written(csv_text(self.per_query.dtype.names or (), self.per_query.tolist()), path)

    def __repr__(self) -> str:
        documents = int(self.per_query["documents"].sum())
        used = self.effective_pairs
        share = "none, not made of pairs" if used is None else f"{used:.1%} of all"
        lines = [
            f"{self.objective!r}",
            f"{plural(self._ptr.size - 1, 'query')}, {plural(documents, 'document')}",
            f"effective pairs: {share}",
            f"queries with an incoherent pair: {self.incoherent:.1%}",
        ]
        if self.k is not None:
            share = f"{self.false_over_missed:.1%}"
            lines.append(f"queries with a false document over a missed one, at {self.k}: {share}")
        return "\n".join(lines)


def _first_few(ids: Iterable[Any]) -> str:
    """Return up to five ids, and how many more there are."""
    ids = list(ids)
    return ", ".join(map(repr, ids[:5])) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
