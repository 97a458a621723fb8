"""What an objective does with a ranking: which pairs it uses, how strongly, and whether its pushes are coherent.

Numbers only; `rankwood.report.plots` draws them.
"""

import csv
import inspect
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import is_part
from rankwood.data.groups import Groups
from rankwood.data.labels import labels_and_groups
from rankwood.objectives.bi import Bivariate
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.inspection import Coherency, Used, drive, effective, weighing
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import read as read_labels
from rankwood.objectives.parts.noise import NoNoise

_TOLERANCE = 1e-9  # relative to the largest push of a query: rounding is no incoherency
_BLOCK = 4_000_000  # pairs that are looked at together
_PAIR = [
    *(("upper_row", np.int64), ("lower_row", np.int64)),
    *(("upper_position", np.int64), ("lower_position", np.int64)),
    *(("upper_label", np.float64), ("lower_label", np.float64)),
    *(("upper_push", np.float64), ("lower_push", np.float64)),
]


def diagnose(
    objective: Any,
    y: Any,
    scores: Any,
    *,
    qid: Any = None,
    group: Any = None,
    k: int | None = None,
    missed: str = "code",
    seed: int = 0,
    round: int = 0,
    n_jobs: int | None = None,
) -> "Diagnosis":
    """Look at what an objective does with these scores: pairs used, and pairs that are pushed the wrong way.

    A pair is *incoherent* if the document with the higher label is ranked below the other and is pushed up
    less, or down more [lambdaex2023, Definition 3.1]. The push of a document is its gradient times -1.
    Labels are taken as the objective reads them, so a binary one has two. An objective without pairs of its own
    (``"softmax"``) is looked at in the same way; it only has no number of pairs used.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition.
    y : array or RankingData
        Labels, or a data set that knows labels and queries.
    scores : array
        Current scores, in the order of `y`.
    qid, group : array, optional
        Query id of each row, in any order, or sizes of consecutive queries; one query without both.
    k : int, optional
        Cutoff of the worst kind of incoherent pair: of a *false* document among the first k and a *missed* one
        behind. By default the objective's own; without one there is no such kind.
    missed : "code" or "text"
        Which documents are false and missed: those of labels that the first k have too often and not often
        enough compared with the ideal, or of labels that the ideal first k do not have and have.
    seed, round : int
        What objectives that draw at random draw from.
    n_jobs : int, optional
        Threads; None means every core.

    Returns
    -------
    Diagnosis
        One row per query, and the incoherent pairs of a query.

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
    beyond = getattr(y, "beyond", None)
    y, groups = labels_and_groups(y, qid, group)
    scores = checks.vector(scores, "scores", y.size)
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    k = cutoff(objective) if k is None else checks.at_least(k, 1, "k")
    checks.one_of(missed, ("code", "text"), "missed")
    options = {"n_jobs": n_jobs, "seed": seed, "beyond": beyond}
    push = -drive(objective, y, groups, **options)(scores, round)[0]
    paired = isinstance(objective, Lambda)
    used = Used(objective, y, groups, drive, **options)(scores, round) if paired else None
    read = read_labels(objective, y)
    coherency = Coherency(read, groups, k, missed, _TOLERANCE, n_jobs)
    found = coherency(scores, -push)
    rows = groups.rows[coherency.order + np.repeat(groups.ptr[:-1], groups.sizes)]
    return Diagnosis(objective, k, groups, rows, read, push, used, found)


class Diagnosis:
    """What `diagnose` found.

    Attributes
    ----------
    objective : part
        The objective as a composition.
    k : int or None
        Cutoff of false and missed documents.
    per_query : structured array
        By query: `qid`, number of `documents`, `pairs` the objective uses, that number as the `effective` share
        of all pairs (neither if the objective is not made of pairs), number of `incoherent_pairs`, whether a
        `false_over_missed` pair is among them (a false document of the top k is pushed more than a missed one
        below), and the `gradient_norm`.
    push : array
        What each document is pushed up (or, if negative, down), in the caller's order.
    effective_pairs : float or None
        Mean effective share over all queries; None if the objective is not made of pairs.
    incoherent : float
        Share of the queries with an incoherent pair.
    false_over_missed : float
        Share of the queries with an incoherent pair of a false and a missed document.
    """

    def __init__(
        self,
        objective: Any,
        k: int | None,
        groups: Groups,
        rows: np.ndarray,
        label: np.ndarray,
        push: np.ndarray,
        used: np.ndarray | None,
        found: np.ndarray,
    ) -> None:
        self.objective, self.k, self.push = objective, k, push
        self._ptr, self._rows, self._label = groups.ptr, rows, label
        self._at = {qid: q for q, qid in enumerate(groups.ids.tolist())}
        pairs = {}
        if used is not None:
            pairs = {"pairs": used, "effective": effective(used, groups.sizes)}
        columns = {
            "qid": groups.ids,
            "documents": groups.sizes,
            **pairs,
            "incoherent_pairs": np.zeros(groups.ids.size, np.int64),
            "false_over_missed": found[:, 1],
            "gradient_norm": np.sqrt(np.add.reduceat(push[rows] ** 2, groups.ptr[:-1])),
        }
        for q in np.flatnonzero(found[:, 0]):
            columns["incoherent_pairs"][q] = self._incoherent(int(q))[0].size
        kinds = [(name, column.dtype) for name, column in columns.items()]
        self.per_query = np.empty(groups.ids.size, dtype=kinds)
        for name, column in columns.items():
            self.per_query[name] = column
        self.effective_pairs = float(pairs["effective"].mean()) if pairs else None
        self.incoherent = float((self.per_query["incoherent_pairs"] > 0).mean())
        self.false_over_missed = float(found[:, 1].mean())

    def pairs(self, qid: Any = None) -> np.ndarray:
        """Return the incoherent pairs of one query as a table, the most lopsided first.

        The upper document is ranked higher, has the lower label, and is pushed more. Rows are the caller's, positions
        count from 1. `qid` may be left out if there is one query only.
        """
        q = 0 if qid is None and len(self._at) == 1 else self._at.get(qid, -1)
        if q < 0:
            raise checks.InputError(
                f"there is no query {qid!r}; known are {_some(self._at)}."
                if qid is not None
                else f"there are {len(self._at):,} queries: give the id of one, such as {next(iter(self._at))!r}."
            )
        upper, lower = self._incoherent(q)
        rows = self._rows[self._ptr[q] : self._ptr[q + 1]]
        table = np.empty(upper.size, dtype=_PAIR)
        for side, rank in (("upper", upper), ("lower", lower)):
            table[f"{side}_row"] = rows[rank]
            table[f"{side}_position"] = rank + 1
            table[f"{side}_label"] = self._label[rows[rank]]
            table[f"{side}_push"] = self.push[rows[rank]]
        worst = table["lower_push"] - table["upper_push"]
        return table[np.argsort(worst, kind="stable")]

    def _incoherent(self, q: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranks of the upper and the lower documents of a query's incoherent pairs."""
        rows = self._rows[self._ptr[q] : self._ptr[q + 1]]
        label, push = self._label[rows], self.push[rows]
        bound = _TOLERANCE * np.abs(push).max()
        step = max(1, _BLOCK // rows.size)
        found = []
        for start in range(0, rows.size, step):
            stop = min(start + step, rows.size)
            up, down = np.arange(start, stop)[:, None], np.arange(rows.size)
            wrong = (up < down) & (label[start:stop, None] < label)
            wrong &= push[start:stop, None] > push + bound
            upper, lower = np.nonzero(wrong)
            found.append((upper + start, lower))
        uppers, lowers = zip(*found, strict=True)
        return np.concatenate(uppers), np.concatenate(lowers)

    def to_csv(self, path: str | Path) -> None:
        """Write the table of queries as CSV."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.per_query.dtype.names or ())
            writer.writerows(self.per_query.tolist())

    def __repr__(self) -> str:
        documents = int(self.per_query["documents"].sum())
        used = self.effective_pairs
        lines = [
            f"{self.objective!r}",
            f"{_counted(self._ptr.size - 1, 'query', 'queries')}, {_counted(documents, 'document')}",
            "effective pairs: "
            + ("none, not made of pairs" if used is None else f"{used:.1%} of all"),
            f"queries with an incoherent pair: {self.incoherent:.1%}",
        ]
        if self.k is not None:
            share = f"{self.false_over_missed:.1%}"
            lines.append(f"queries with a false document over a missed one, at {self.k}: {share}")
        return "\n".join(lines)


def of_documents(objective: Any) -> Any:
    """Return an objective on documents, or say that those on pairs are looked at by what they lift."""
    made = to_objective(objective)
    if isinstance(made, Bivariate):
        named = isinstance(objective, str) and objective.strip().startswith("bi-")
        base = objective.strip().removeprefix("bi-") if named else made.base
        raise checks.InputError(
            f"diagnosis is for objectives on documents, and {objective!r} lifts one to pairs: look at that, {base!r}."
        )
    return made


def cutoff(objective: Any) -> int | None:
    """Return the cutoff k of an objective: that of its weight, else that of its pair set, else None."""
    if not isinstance(objective, Lambda):
        return _cutoff(objective)
    return _cutoff(objective.weight) or _cutoff(objective.pairs)


def _cutoff(part: Any) -> int | None:
    for name in ("k", "ideal"):
        value = getattr(part, name, None)
        if isinstance(value, int):
            return value
    inner = (getattr(part, f.name) for f in fields(part))
    return next((k for k in map(_cutoff, filter(is_part, inner)) if k is not None), None)


def heat(objective: Any, n: int = 10) -> np.ndarray:
    r"""Return the weight of each pair of positions: :math:`\delta(i, j)` as in Figure 1 of [lambdagap2025].

    Row i, column j is the weight of the pair of a relevant document at position i and an irrelevant one at j in
    a list of n documents that has no other relevant document (label 1, or the lowest relevant label); 0 if the
    objective does not use the pair. Normalisations by scores and sums are left out.

    For binary objectives whose weight depends on positions alone that is all there is to know. Weights with gains are
    those of one relevant document in an ideal list (an NDCG of 1 at best). Pair sets that look at labels, as
    Lambda-eX's do, are those of such a list, and weights that have a direction (`NDCGLoss1`) are those of
    the wish to see the relevant document above: then the table is not symmetric.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdagap-x@3"`` or a composition.
    n : int
        Documents in the list.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> heat("lambdagap-s@2", 4)
    array([[0., 0., 1., 0.],
           [0., 0., 0., 1.],
           [1., 0., 0., 0.],
           [0., 1., 0., 0.]])
    """
    # Positions are those of the ranking, not of rankings that noise might make of it.
    objective = replace(weighing(of_documents(objective)), noise=NoNoise(), draws=1)
    n = checks.at_least(n, 1, "n")
    relevant = getattr(objective.labels, "rel", 1.0)
    y, groups = labels_and_groups((relevant * np.eye(n)).ravel(), None, np.full(n, n))
    scores = np.tile(np.arange(n, 0.0, -1.0), n)
    weights = drive(objective, y, groups)(scores)[1].reshape(n, n)
    np.fill_diagonal(weights, 0.0)  # the sum of the row: a document's hessian adds up its pairs
    return weights


def pair_counts(objective: Any, n: int = 10, ks: Iterable[int] | None = None) -> np.ndarray:
    """Return how many pairs of positions have a weight, by cutoff: Figure 2 of [lambdagap2025].

    Parameters
    ----------
    objective : str or part
        A name, with or without ``@k``. A name that has no cutoff, and a composition, are the same at every k.
    n : int
        Documents in the list.
    ks : integers, optional
        Cutoffs; by default 1 to n.

    Examples
    --------
    >>> from rankwood.diagnostics import pair_counts
    >>> pair_counts("lambdagap-x", 10, [1, 3, 5]).tolist()
    [45, 28, 15]
    """
    ks = range(1, n + 1) if ks is None else list(ks)
    if not has_cutoff(objective):
        return np.full(len(ks), _count(heat(objective, n)))
    made = [to_objective(objective, k=checks.at_least(k, 1, "ks")) for k in ks]
    return np.array([_count(heat(one, n)) for one in made], np.int64)


def has_cutoff(objective: Any) -> bool:
    """Tell whether an objective is given by a name with a parameter k."""
    if not isinstance(objective, str):
        return False
    plain = objective.split("(")[0].split("@")[0].strip()
    return plain in OBJECTIVES and "k" in inspect.signature(OBJECTIVES[plain]).parameters


def _count(weights: np.ndarray) -> int:
    return int(np.triu((weights != 0) | (weights.T != 0)).sum())


def _some(ids: Iterable[Any]) -> str:
    ids = list(ids)
    return ", ".join(map(repr, ids[:5])) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
