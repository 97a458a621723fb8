"""Leaf-wise growth of a tree on pairs: the leaf whose split gains most is split first [ke2017]."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.engines.pairtree import partition
from rankwood.engines.pairtree.binning import (
    DIFFERENCE,
    LANE_BITS,
    LANES,
    QUERY,
    SECOND,
    BinnedData,
)
from rankwood.engines.pairtree.fixed_point import Scale, Sums, choose_scale, quantise
from rankwood.engines.pairtree.histogram_layout import HistogramLayout, SplitRule, sample_columns
from rankwood.engines.pairtree.histograms import (
    NodeSums,
    Search,
    Siblings,
    aggregate,
    build_histograms,
)
from rankwood.engines.pairtree.row_sums import aligned, empty_rows
from rankwood.engines.pairtree.splitting import (
    NodeSplit,
    best_threshold,
    leaf_gain,
    limits_of,
)
from rankwood.engines.pairtree.tree import Params, Tree
from rankwood.engines.pairtree.tree_builder import TreeBuilder

_CHUNKS = 4  # pieces of work per thread


@dataclass
class Node:
    """A leaf so far, with the pairs `Grower.pairs` from `begin` to `end`.

    `split` is its best split; a node without one, or whose turn can't come, has none and no histogram either.
    """

    begin: int
    end: int
    depth: int
    sums: Sums
    histogram: np.ndarray | None = None
    split: NodeSplit | None = None
    gain: float = -1.0

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.end - self.begin


class Grower:
    """Grows trees on the same pairs, round after round, in memory that they share.

    Parameters
    ----------
    binned : BinnedData
        The documents.
    params : Params
        What each tree must respect.
    n_jobs : int, optional
        Number of threads; it doesn't change a bit of the trees.
    """

    def __init__(self, binned: BinnedData, params: Params, n_jobs: int | None = None) -> None:
        self.binned, self.params, self.n_jobs = binned, params, n_jobs
        self.layout = layout = binned.layout
        # Each node has a range of these, sorted; `_spare` has room for the pairs that go right.
        self.pairs, self._spare = empty_rows(layout.n_pairs), empty_rows(layout.n_pairs)
        # One row more than needed: `aggregate` writes a row before it knows whether the row stays.
        self._rows = NodeSums(
            firsts=empty_rows(layout.n_items + 1),
            seconds=empty_rows(layout.n_items + 1),
            queries=empty_rows(layout.n_queries + 1),
            pairs=self.pairs,
        )
        self._work = np.zeros(4 * layout.n_items, np.int64)
        self._iteration = 0  # the iteration whose columns are in use
        self._histograms = self._make_layout()
        self._free: list[np.ndarray] = []  # histograms that no node has
        self.updates = 0  # of histograms, for benchmarks

    def grow(
        self,
        grad: np.ndarray,
        hess: np.ndarray,
        iteration: int = 0,
        queries: np.ndarray | None = None,
    ) -> tuple[Tree, np.ndarray]:
        """Grow a tree.

        Parameters
        ----------
        grad, hess : array
            Gradient and Hessian of each pair.
        iteration : int
            Number of the tree; with the seed it decides which features are drawn.
        queries : array of bool, optional
            The queries to use; all by default.

        Returns
        -------
        Tree
            The tree.
        array
            The leaf of each pair, -1 for pairs of queries that aren't used.
        """
        if self.params.feature_fraction < 1.0 and iteration != self._iteration:
            self._iteration = iteration
            self._histograms = self._make_layout()
            self._free = []
        search, total = self._start(grad, hess)
        leaves, builder = [self._root(total, queries)], TreeBuilder()
        self._find_splits(leaves[0], None, search)
        while len(leaves) < self.params.num_leaves:
            best = int(np.argmax([node.gain for node in leaves]))
            if leaves[best].split is None:
                break
            left, right = self._split(leaves[best], best, builder)
            leaves[best] = left
            leaves.append(right)
            splits_left = self.params.num_leaves - len(leaves)
            if splits_left:
                self._find_splits(left, right, search)
            self._release_hopeless(leaves, splits_left)
        tree = builder.build([search.scale.unpack(node.sums) for node in leaves], self.params)
        return tree, self._leaf_of_pair(leaves)

    def _make_layout(self) -> HistogramLayout:
        """Return the histograms of the features that the current iteration may use."""
        params = self.params
        tables = sample_columns(self.binned, params.feature_fraction, params.seed, self._iteration)
        return HistogramLayout(self.binned, tables)

    def _start(self, grad: np.ndarray, hess: np.ndarray) -> tuple[Search, Sums]:
        """Write gradients in fixed point beside the pairs; return how splits are found, and the sums of all pairs."""
        n_pairs = self.layout.n_pairs
        grad = np.ascontiguousarray(grad, dtype=np.float64)
        hess = np.ascontiguousarray(hess, dtype=np.float64)
        for name, values in (("grad", grad), ("hess", hess)):
            if values.shape != (n_pairs,):
                raise checks.InputError(
                    f"{name} has shape {values.shape}, but there are {n_pairs} pairs."
                )
        scale = choose_scale(grad, hess)
        search = Search(
            totals=np.zeros((2, 2), np.int64),
            wanted=np.zeros(2, bool),
            scale=scale,
            limits=limits_of(self.params, scale),
            gains=np.full((2, self._histograms.n_splits), -1.0),
        )
        return search, quantise(grad, hess, scale, self.pairs.sums)

    def _root(self, total: Sums, queries: np.ndarray | None) -> Node:
        """Return the node of all pairs, or of those of the given queries."""
        layout, rows = self.layout, self.pairs.rows
        if queries is None:
            rows[:] = np.arange(rows.size, dtype=np.uint32)
            return Node(0, rows.size, 0, total)
        used = np.repeat(np.asarray(queries, dtype=bool), layout.sizes * (layout.sizes - 1))
        pairs = np.flatnonzero(used)
        rows[: pairs.size] = pairs
        sums = self.pairs.sums.reshape(-1, 2)
        sums[: pairs.size] = sums[pairs]
        return Node(0, pairs.size, 0, Sums(*sums[: pairs.size].sum(axis=0).tolist()))

    def _may_split(self, node: Node, scale: Scale) -> bool:
        """Tell whether a node isn't too deep or too small for two children."""
        params = self.params
        _, h, n_pairs = scale.unpack(node.sums)
        if 0 < params.max_depth <= node.depth:
            return False
        return n_pairs >= 2 * params.min_data_in_leaf and h >= 2 * params.min_sum_hessian

    def _find_splits(self, left: Node, right: Node | None, search: Search) -> None:
        """Find the best splits of two siblings, of which the left one has the parent's histogram, or of the root."""
        parent, left.histogram = left.histogram, None
        small, large = left, right
        if right is not None and right.n_pairs < left.n_pairs:
            small, large = right, left
        nodes = [small] if large is None else [small, large]
        for k, node in enumerate(nodes):
            search.totals[k] = node.sums
            search.wanted[k] = self._may_split(node, search.scale)
        if not search.wanted[: len(nodes)].any():
            self._release(parent)
            return
        if large is not None:
            large.histogram = parent
        small.histogram = self._free.pop() if self._free else aligned(self._histograms.size)
        siblings = Siblings(small.histogram, np.empty(0, np.int64) if parent is None else parent)
        node_sums = self._aggregate(small)
        blocks = self._histograms.blocks
        threads.run_ranges(
            lambda first, last: build_histograms(first, last, blocks, node_sums, siblings, search),
            self._histograms.cost([part.rows.size for part in node_sums]),
            self.n_jobs,
            _CHUNKS,
        )
        for k, node in enumerate(nodes):
            self._choose(node, k, search)

    def _aggregate(self, node: Node) -> NodeSums:
        """Sum a node's gradients by first document, by second document and by query."""
        layout, pairs = self.layout, self.pairs.between(node.begin, node.end)
        sums = aggregate(pairs, layout.ptr, layout.pair_ptr, layout.items, self._work, self._rows)
        self.updates += self._histograms.updates([part.rows.size for part in sums])
        return sums

    def _choose(self, node: Node, sibling: int, search: Search) -> None:
        """Choose the best of all features' splits, or release the histogram; of equal ones the first feature's."""
        gains = search.gains[sibling]
        if search.wanted[sibling] and gains.size:
            split_id = int(np.argmax(gains))
            g, h, _ = search.scale.unpack(node.sums)
            own = leaf_gain(g, h, self.params.lambda_l1, self.params.lambda_l2)
            if gains[split_id] > own + self.params.min_gain:
                node.gain = float(gains[split_id] - own)
                feature = self._histograms.histogram(split_id)
                node.split = best_threshold(
                    node.histogram, feature, node.sums, search.scale, search.limits
                )
        if node.split is None:
            self._give_up(node)

    def _split(self, node: Node, leaf: int, builder: TreeBuilder) -> tuple[Node, Node]:
        """Partition a node's pairs and record the split; the left child takes the histogram."""
        assert node.split is not None
        rule, left = self._histograms.rule(node.split), node.split.left
        middle = node.begin + self._partition(node, rule)
        builder.split(leaf, rule, node.gain, node.n_pairs)
        right = Sums(node.sums.g - left.g, node.sums.packed - left.packed)
        return (
            Node(node.begin, middle, node.depth + 1, left, node.histogram),
            Node(middle, node.end, node.depth + 1, right),
        )

    def _partition(self, node: Node, rule: SplitRule) -> int:
        """Move the pairs that go left before the others; return how many they are."""
        pairs, table = self.pairs.between(node.begin, node.end), rule.table
        if rule.side == DIFFERENCE:
            word, lane = divmod(rule.feature, LANES)
            shift = np.uint64(LANE_BITS * lane)
            return partition.by_difference(
                pairs, table.words[word], shift, rule.goes_left, self._spare
            )
        goes_left = np.take(rule.goes_left, table.bins(rule.feature))
        if table.kind == QUERY:
            goes_left = goes_left[self.layout.query_of_item]
        second = np.uint64(rule.side == SECOND)
        return partition.by_item(pairs, self.layout.items, second, goes_left, self._spare)

    def _release(self, histogram: np.ndarray | None) -> None:
        """Keep a histogram's memory for the next node."""
        if histogram is not None:
            self._free.append(histogram)

    def _give_up(self, node: Node) -> None:
        """Let a node stay a leaf."""
        self._release(node.histogram)
        node.histogram, node.split, node.gain = None, None, -1.0

    def _release_hopeless(self, leaves: list[Node], splits_left: int) -> None:
        """Give up leaves that won't be split any more: enough others have a larger gain (early release)."""
        able = sorted((node for node in leaves if node.split), key=lambda node: -node.gain)
        for node in able[splits_left:]:
            self._give_up(node)

    def _leaf_of_pair(self, leaves: list[Node]) -> np.ndarray:
        """Return the leaf of each pair, -1 if it has none."""
        leaf_of_pair = np.full(self.layout.n_pairs, -1, np.int32)
        for number, node in enumerate(leaves):
            self._give_up(node)
            partition.mark_leaf(self.pairs.rows[node.begin : node.end], number, leaf_of_pair)
        return leaf_of_pair


def grow(
    binned: BinnedData,
    grad: np.ndarray,
    hess: np.ndarray,
    params: Params | None = None,
    n_jobs: int | None = None,
    **how: Any,
) -> tuple[Tree, np.ndarray]:
    """Grow one tree; `how` is `iteration` and `queries` of `Grower.grow`."""
    return Grower(binned, params or Params(), n_jobs).grow(grad, hess, **how)
