"""What depends on labels, and on pairs that come with the data: computed once per data set, used every round."""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel
from rankwood._kernels.numeric.lanes import LANES
from rankwood._kernels.parts import all_parts, lower, named_record, parts_inside
from rankwood._kernels.records import Table
from rankwood._util import checks
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.metrics.kernels import fill_values
from rankwood.metrics.ranked import discounts
from rankwood.metrics.verbs import label_values, value

#: Documents grouped by query: query q has the positions `ptr[q]` to `ptr[q + 1]`, and `rows[p]` is the caller's row of
#: position p. `values` is the record of what parts made of the labels, `discount` the discounts by rank.
Plan = namedtuple("Plan", "ptr rows label values discount")
#: Pairs that come with the data: the document at position p has the entries `first[p]` to `end[p]` of two tables;
#: `partner` is the slot of the other document, `push` the weight of the pair, negative if the other one is the winner.
PairsByDocument = namedtuple("PairsByDocument", "first end partner push")


class LabelledLists(NamedTuple):
    """Labels of queries; `unlisted` are labels of documents that belong to the queries and are not listed.

    `pairs` are those that come with the data, for parts with `needs_pairs`.
    """

    y: np.ndarray
    groups: Groups
    unlisted: UnlistedLabels | None = None
    pairs: GivenPairs | None = None


class _Labels(NamedTuple):
    """Labels by query, and which of the documents are listed, if not all are."""

    label: np.ndarray
    ptr: np.ndarray
    listed: np.ndarray | None


def make_plan(objective: Any, lists: LabelledLists, real: type, n_jobs: int | None = None) -> Plan:
    """Group labels by query and let every part inside an objective compute its `label_values`."""
    return Planner(objective, real).plan(lists, n_jobs)


class Planner:
    """Makes plans for one objective in one precision: its parts are looked through once.

    Metrics see the unlisted labels too: their ideal is that of all documents of a query.
    """

    def __init__(self, objective: Any, real: type) -> None:
        self.real = real
        self._checking = [part for part in all_parts(objective) if hasattr(part, "check_labels")]
        self._recipe = _recipe(objective)

    def plan(self, lists: LabelledLists, n_jobs: int | None = None) -> Plan:
        """Return the plan of labelled queries."""
        y, groups, unlisted, _ = lists
        listed = _Labels(y[groups.rows], groups.ptr, None)
        every = listed
        if unlisted is not None:
            full = unlisted.extend(groups)
            y = np.append(y, unlisted.y)
            every = _Labels(y[full.rows], full.ptr, full.rows < groups.rows.size)
        seen = listed.label if groups.rows.size < lists.y.size else y  # padding may hold anything
        for part in self._checking:
            part.check_labels(seen)
        discount = discounts(int(groups.sizes.max(initial=0)) + 2 * LANES)
        values = self._recipe.make(_Sources(listed, every, discount, self.real, n_jobs, lists))
        label: np.ndarray = listed.label.astype(self.real)
        return Plan(groups.ptr, groups.rows, label, values, discount.astype(self.real))


class _Sources(NamedTuple):
    """What `label_values` is computed from, and the lists themselves."""

    listed: _Labels
    every: _Labels
    discount: np.ndarray
    real: type
    n_jobs: int | None
    lists: LabelledLists


def _recipe(part: Any) -> Any:
    """Return how the values of a part are made."""
    if label_values.verb.able(part):
        return _Values(part, lower(part), _has_own_ideal(part))
    if getattr(part, "needs_pairs", False):
        return _Pairs(part)
    return _Record(part, {name: _recipe(inside) for name, inside in parts_inside(part).items()})


class _Record(NamedTuple):
    """A record of the values of the parts inside a part, by field.

    What the method `tables` of a part makes of the discounts joins the record, the same for every query.
    """

    part: Any
    inside: dict[str, Any]

    def make(self, sources: _Sources) -> Any:
        inside = {name: recipe.make(sources) for name, recipe in self.inside.items()}
        tables = self.part.tables(sources.discount) if hasattr(self.part, "tables") else {}
        of_discounts = {name: Table(table.astype(sources.real)) for name, table in tables.items()}
        return named_record({**inside, **of_discounts})


class _Pairs(NamedTuple):
    """The pairs that come with the data, by document."""

    part: Any

    def make(self, sources: _Sources) -> Any:
        if sources.lists.pairs is None:
            raise checks.InputError(
                f"{self.part!r} is a sum over the pairs that come with the data, and this data has none: give "
                "RankingData(X, y, qid=qid, pairs=[[winner, loser], ...]), or use 'ranknet', which pairs different "
                "labels."
            )
        return _pairs_by_document(sources.lists.pairs, sources.lists.groups, sources.real)


def _pairs_by_document(pairs: GivenPairs, groups: Groups, real: type) -> PairsByDocument:
    """Return the pairs with a weight by document; every pair is there twice.

    The entries of a document are sorted, so that the order in which pairs were given changes no bit of a sum.
    """
    n = groups.rows.size
    place = np.empty(n, np.int64)
    place[groups.rows] = np.arange(n)
    counted = pairs.weight > 0
    winner, loser = place[pairs.winner[counted]], place[pairs.loser[counted]]
    document, partner = np.append(winner, loser), np.append(loser, winner)
    push = np.append(pairs.weight[counted], -pairs.weight[counted])
    order = np.lexsort((push, partner, document))
    counts = np.bincount(document, minlength=n)
    end = np.cumsum(counts)
    slot = np.arange(n) - np.repeat(groups.ptr[:-1], groups.sizes)
    with np.errstate(over="ignore"):  # a weight beyond the precision is reported with the gradients
        pushes: np.ndarray = push[order].astype(real)
    return PairsByDocument(end - counts, end, Table(slot[partner[order]]), Table(pushes))


class _Values(NamedTuple):
    """The `label_values` of one part: a column, or a record of those that it names in `label_columns`."""

    part: Any
    lowered: Any
    own_ideal: bool

    def make(self, sources: _Sources) -> Any:
        labels = sources.every if self.own_ideal else sources.listed
        names, n = getattr(self.part, "label_columns", ()), labels.label.size
        out: Any = named_record({name: np.empty(n) for name in names}) if names else np.empty(n)
        sizes = np.diff(labels.ptr)
        discount = discounts(int(sizes.max(initial=0)))
        fill = callable_kernel(fill_values)

        def run(first: int, last: int) -> None:
            fill(self.lowered, labels.label, labels.ptr, discount, out, first, last)

        threads.run_ranges(run, sizes, sources.n_jobs)
        if not names:
            return self._column(out, labels.listed, sources.real)
        return type(out)(*[self._column(x, labels.listed, sources.real) for x in out])

    def _column(self, values: np.ndarray, listed: np.ndarray | None, real: type) -> np.ndarray:
        """Return a column of the listed documents in the kernel's precision; raise if that can't hold it."""
        values = values if listed is None else values[listed]
        with np.errstate(over="ignore"):
            column: np.ndarray = values.astype(real, copy=False)
        if not np.isfinite(column).all():
            raise checks.InputError(
                f"{self.part!r} has values of up to {values.max():g} for these labels, beyond {np.dtype(real)}, "
                "in which training runs; use NDCG or a linear gain."
            )
        return column


def has_ideal(objective: Any) -> bool:
    """Tell whether a part inside an objective compares a list with all documents of its query."""
    return any(_has_own_ideal(part) for part in all_parts(objective))


def _has_own_ideal(part: Any) -> bool:
    """Tell whether a part counts unlisted documents: metrics do, and parts with `ideal_of_all`.

    Pair sets and the targets of a loss see the list only.
    """
    return value.verb.able(part) or getattr(part, "ideal_of_all", False)


def most_labels(objective: Any, lists: LabelledLists) -> int:
    """Return the largest number of different labels in a query, if a part keeps a table by label."""
    if not any(hasattr(part, "tables_by_label") for part in all_parts(objective)):
        return 1
    by_query = np.split(lists.y[lists.groups.rows], lists.groups.ptr[1:-1])
    return max(np.unique(labels).size for labels in by_query)
