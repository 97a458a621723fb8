"""TreeGrower: grows trees on the same documents, round after round, in memory that they share."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.numeric.rng import generator_at, round_state
from rankwood._kernels.team import new_team, reset
from rankwood._util import checks
from rankwood.engines.trees.binning.documents import BinnedDocuments
from rankwood.engines.trees.growth import records
from rankwood.engines.trees.growth.kernel import grow_tree
from rankwood.engines.trees.growth.node_histograms import REALS, ROOM
from rankwood.engines.trees.growth.records import (
    CHUNK_ROWS,
    CODES,
    HALF_WORD,
    LANES,
    LINE,
    TREE,
    UNUSED,
    WIDE,
)
from rankwood.engines.trees.parameters import TreeParams

_FLUSH_BITS = 14
_SPARSE_BELOW = 0.75
#: Codes of documents below which one thread is as fast as several.
_FEW_CODES = 10**6
_QUERIES, _FEATURES = 0, 4  # streams of random numbers of a round


class GrownTree(NamedTuple):
    """A tree: its splits and leaves (see `records`), and which codes of each split's column go left."""

    splits: np.ndarray
    leaves: np.ndarray
    tables: np.ndarray

    def scaled(self, factor: float) -> "GrownTree":
        """Return the tree with all values multiplied by a factor."""
        splits, leaves = self.splits.copy(), self.leaves.copy()
        splits["value"] *= factor
        leaves["value"] *= factor
        return self._replace(splits=splits, leaves=leaves)


class Constraints(NamedTuple):
    """1 or -1 for features with which scores may only rise or fall, and groups of features that may interact."""

    directions: list[int] | None = None
    interactions: list[list[int]] | None = None


_FREE = Constraints()


class TreeGrower:
    """Grows trees on the same documents.

    Parameters
    ----------
    binned : BinnedDocuments
        The documents.
    params : TreeParams
        What each tree must respect.
    seed : int
        Seed of everything random.
    n_jobs : int, optional
        Number of threads; it doesn't change a bit of the trees.
    constraints : Constraints
        Constraints on features.
    """

    def __init__(
        self,
        binned: BinnedDocuments,
        params: TreeParams,
        seed: int = 0,
        n_jobs: int | None = None,
        constraints: Constraints = _FREE,
    ) -> None:
        self._binned, self._params, self._seed = binned, params, seed
        codes = binned.n_documents * binned.coder.plan.columns.size
        self._threads = 1 if codes < _FEW_CODES else threads.threads(n_jobs)
        features = binned.coder.plan.features.copy()
        if constraints.directions is not None:
            features["direction"] = constraints.directions
        self._can_split = features["column"] >= 0
        items, gathered = _items(binned, self._threads)
        self._team = new_team()
        self._memory = TREE.memory(
            **_documents(binned),
            **_room(binned, params.num_leaves, items.size, self._threads),
            **_interactions(constraints.interactions, features.size, params.num_leaves),
            **_limits(params, int(self._can_split.sum())),
            features=features,
            items=items,
            gathered_items=gathered,
            in_order_items=items.size - gathered,
            directed=int((features["direction"] != 0).any()),
            team=self._team,
        )

    def grow(
        self,
        grad: np.ndarray,
        hess: np.ndarray,
        scores: np.ndarray,
        number: int,
        learning_rate: float,
    ) -> GrownTree:
        """Grow a tree, and add its values to the scores.

        Parameters
        ----------
        grad, hess : array of float32
            Gradient and Hessian of each document.
        scores : array of float64
            Scores of the documents.
        number : int
            Number of the tree, on which everything random depends.
        learning_rate : float
            Weight of the tree.

        Returns
        -------
        GrownTree
            The tree.

        Raises
        ------
        InputError
            If a gradient isn't finite.
        """
        unused = self._draw_queries(number)
        reset(self._team)
        self._memory.set(
            grad=grad,
            hess=hess,
            scores=scores,
            unused=np.zeros(1, np.uint8) if unused is None else unused,
            samples=int(unused is not None),
            usable=self._draw_features(number),
            state=round_state(self._seed, number),
            learning_rate=learning_rate,
        )
        memory = self._memory
        leaves = threads.run_team(lambda member: grow_tree(member, memory.table), self._threads)
        if not leaves:
            raise checks.InputError("gradients must be finite numbers, and some aren't.")
        tables = memory.tables[: (leaves - 1) * CODES].reshape(-1, CODES)
        return GrownTree(
            memory.splits[: leaves - 1].copy(), memory.leaves[:leaves].copy(), tables.copy()
        )

    @property
    def is_random(self) -> bool:
        """Whether another tree may find a split where this one finds none."""
        params = self._params
        fractions = params.query_fraction, params.feature_fraction, params.node_feature_fraction
        return params.extra or min(fractions) < 1

    def _draw_queries(self, number: int) -> np.ndarray | None:
        """Return which documents a tree doesn't learn from: those of the queries that aren't drawn; None for none."""
        fraction, ptr = self._params.query_fraction, self._binned.ptr
        if fraction >= 1:
            return None
        sizes = np.diff(ptr)
        count = max(1, int(fraction * sizes.size + 0.5))
        unused = np.ones(sizes.size, np.uint8)
        drawn = generator_at(self._seed, number, _QUERIES).choice(sizes.size, count, replace=False)
        unused[drawn] = 0
        return np.repeat(unused, sizes)

    def _draw_features(self, number: int) -> np.ndarray:
        """Return which features a tree may split on, with room for those of two siblings."""
        usable = np.zeros((3, self._can_split.size), np.uint8)
        able = np.flatnonzero(self._can_split)
        count = max(1, int(self._params.feature_fraction * able.size + 0.5))
        if count < able.size:
            able = generator_at(self._seed, number, _FEATURES).choice(able, count, replace=False)
        usable[0, able] = 1
        return usable


def _documents(binned: BinnedDocuments) -> dict[str, Any]:
    """Return the fields of binned documents."""
    plan, sizes = binned.coder.plan, np.diff(binned.ptr)
    return {
        "codes": binned.documents.codes,
        "lines": binned.documents.lines,
        "query_codes": binned.queries.codes,
        "query_lines": binned.queries.lines,
        "query_of": binned.query_of,
        "columns": plan.columns,
        "listed": plan.listed,
        "n_documents": binned.n_documents,
        "n_queries": sizes.size,
        "longest": int(sizes.max()),
        "document_columns": plan.document_columns,
        "n_columns": plan.columns.size,
        "n_features": plan.features.size,
    }


def _items(binned: BinnedDocuments, n_threads: int) -> tuple[np.ndarray, int]:
    """Return the items of histograms, those of gathered rows first, and how many these are.

    Columns of one line are read together, unless that would leave a thread without work. A line of one word is read
    by half words, so that threads end at the same time.
    """
    plan = binned.coder.plan
    n_columns, n_query_columns = plan.document_columns, plan.columns.size - plan.document_columns
    size = LINE
    while size > HALF_WORD and -(-n_columns // size) < n_threads:
        size //= 2
    last = n_columns // LINE * LINE if n_columns % LINE == LANES and n_threads > 1 else n_columns
    of_queries = _ranges(n_columns, n_query_columns, LINE)
    gathered = _ranges(0, last, size) + _ranges(last, n_columns - last, HALF_WORD) + of_queries
    in_order = _ranges(0, n_columns, HALF_WORD) + of_queries
    items = np.zeros(len(gathered) + len(in_order), records.ITEM)
    items[:] = sorted(gathered, key=lambda item: item[0] - item[1]) + in_order
    return items, len(gathered)


def _ranges(first: int, count: int, size: int) -> list[tuple[int, int]]:
    """Return ranges of columns; none has columns of two lines."""
    return [(first + a, first + min(a + size, count)) for a in range(0, count, size)]


def _room(binned: BinnedDocuments, leaves: int, items: int, n_threads: int) -> dict[str, Any]:
    """Return memory for a tree."""
    plan, n, sizes = binned.coder.plan, binned.n_documents, np.diff(binned.ptr)
    sums = leaves * plan.columns.size * WIDE
    by_query = sizes.size if plan.columns.size > plan.document_columns else 1
    rows = np.empty((3, n), np.uint32)
    rows[records.IN_ORDER] = np.arange(n)
    nothing = np.zeros(1, np.float32)
    return {
        "grad": nothing,
        "hess": nothing,
        "scores": np.zeros(1),
        "unused": np.zeros(1, np.uint8),
        "numbers": np.empty(n, np.int64),
        "job": np.zeros(1, records.JOB),
        "chunks": np.zeros(n // CHUNK_ROWS + (UNUSED + 1) * leaves + 1, records.CHUNK),
        "goes_left": np.empty(n, np.uint8),
        "nodes": np.zeros(leaves, records.NODE),
        "ranges": np.zeros((leaves, UNUSED + 1), records.RANGE),
        "rows": rows,
        "siblings": np.zeros(2, records.SIBLING),
        "found": np.zeros((items, 2), records.SPLIT),
        "sums": np.zeros(sums + n_threads * ROOM, np.int64),
        "room_at": sums,
        "reals": np.zeros((n_threads, REALS)),
        "query_sums": np.zeros((n_threads, by_query), np.int64),
        "query_rows": np.zeros((n_threads, by_query), np.uint32),
        "usable": np.zeros((3, plan.features.size), np.uint8),
        "splits": np.zeros(leaves, records.TREE_SPLIT),
        "leaves": np.zeros(leaves, records.TREE_LEAF),
        "tables": np.zeros((leaves, CODES), np.uint8),
    }


def _interactions(groups: list[list[int]] | None, n_features: int, leaves: int) -> dict[str, Any]:
    """Return the fields of features that may interact."""
    members = np.zeros((len(groups or ()), n_features), np.uint8)
    for number, group in enumerate(groups or ()):
        members[number, group] = 1
    possible = np.zeros((leaves, members.shape[0]), np.uint8)
    return {"members": members, "possible": possible, "n_groups": members.shape[0]}


def _limits(params: TreeParams, n_features: int) -> dict[str, Any]:
    """Return the fields of limits and penalties."""
    of_node = max(1, int(params.node_feature_fraction * params.feature_fraction * n_features + 0.5))
    return {
        "num_leaves": params.num_leaves,
        "max_depth": params.max_depth,
        "min_data": params.min_data,
        "min_hessian": params.min_hessian,
        "l1": params.l1,
        "l2": params.l2,
        "max_step": params.max_step,
        "min_gain": params.min_gain,
        "learning_rate": 0.0,
        "flush_bits": _FLUSH_BITS,
        "sparse_below": _SPARSE_BELOW,
        "features_of_node": of_node if params.node_feature_fraction < 1 else 0,
        "samples": 0,
        "extra": int(params.extra),
        "state": 0,
        "cat_l2": params.cat_l2,
        "cat_smooth": params.cat_smooth,
        "max_cat_threshold": params.max_cat_threshold,
        "min_data_per_group": params.min_data_per_group,
        "max_cat_to_onehot": params.max_cat_to_onehot,
    }
