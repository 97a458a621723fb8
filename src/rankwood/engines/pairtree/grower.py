"""Grow one tree on pairs, best leaf first [ke2017]."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood.engines.pairtree import histograms as histogram
from rankwood.engines.pairtree import partition
from rankwood.engines.pairtree.binning import DIFFERENCE, QUERY, SECOND, Binned
from rankwood.engines.pairtree.histogram_layout import Plan, Split, sampled
from rankwood.engines.pairtree.splitting import Limits, Scale, leaf_gain, locate
from rankwood.engines.pairtree.tree import Params, Tree, leaf_value

__all__ = ["Grower", "Params", "Tree", "grow"]

_EXACT = 51  # bits of a sum: float64 holds it exactly, see splitting._real
_WORD = 62
_LARGEST = 300  # powers of two that sums may have: squares and products of them are still numbers
_CHUNKS = 4  # pieces of work for each thread


@dataclass
class Node:
    """A leaf so far: its pairs are order[begin:end]; `slot` is its histogram's, -1 once that is gone."""

    begin: int
    end: int
    depth: int
    total: np.ndarray  # g, and h with the count
    slot: int = -1
    gain: float = -1.0
    best: tuple[int, int, bool] = (-1, -1, True)
    left_total: tuple[int, int] = (0, 0)
    parent: int = -1
    is_left: bool = True


@dataclass
class _Record:
    """What is written down of inner nodes while the tree grows."""

    splits: list[Split] = field(default_factory=list)
    sides: list[int] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)


class Grower:
    """Grows trees on the same pairs, round after round; keeps what they share in memory."""

    def __init__(self, binned: Binned, params: Params, n_jobs: int | None = None) -> None:
        self.binned, self.params, self.n_jobs = binned, params, n_jobs
        layout = binned.layout
        self.layout = layout
        # Pairs in the order of nodes, with their gradients; room for those that go right.
        self.order = np.empty(layout.n_pairs, np.uint32)
        self.sums = histogram.aligned(2 * layout.n_pairs)
        self.rest = np.empty(layout.n_pairs, np.uint32), np.empty(2 * layout.n_pairs, np.int64)
        self.out = tuple(
            # One row more: a row is written before it is known whether it stays.
            (np.empty(rows + 1, np.uint32), histogram.aligned(2 * (rows + 1)))
            for rows in (layout.n_items, layout.n_items, layout.n_queries)
        )
        self.work = np.zeros(4 * layout.n_items, np.int64)
        self.plan: Plan | None = None
        self.updates = 0  # of histograms, for benchmarks

    def grow(
        self, grad: np.ndarray, hess: np.ndarray, round: int = 0, queries: np.ndarray | None = None
    ) -> tuple[Tree, np.ndarray]:
        """Return a tree and the leaf of each pair, -1 for pairs of queries that are masked out."""
        self._prepare(round)
        assert self.plan is not None
        self._quantise(grad, hess)
        root = self._root(queries)
        leaves, record = [root], _Record()
        self._search(root, None)
        while len(leaves) < self.params.num_leaves:
            at = int(np.argmax([node.gain for node in leaves]))
            if leaves[at].gain < 0:
                break
            left, right = self._split(leaves[at], at, len(leaves), record)
            leaves[at] = left
            leaves.append(right)
            open_splits = self.params.num_leaves - len(leaves)
            if open_splits:
                self._search(left, right)
            self._forget(leaves, open_splits)
        return self._finish(leaves, record)

    def _prepare(self, round: int) -> None:
        params = self.params
        if self.plan is None or params.feature_fraction < 1.0:
            tables = sampled(self.binned, params.feature_fraction, params.seed, round)
            self.plan = Plan(self.binned, tables)
            self.found = np.full((2, self.plan.n_splits), -1.0)
            self.slots: list[np.ndarray] = []
        self.free = list(range(len(self.slots)))

    def _quantise(self, grad: np.ndarray, hess: np.ndarray) -> None:
        """Choose the fixed point of this tree: no sum over any of its pairs overflows, all are exact in float64."""
        pairs = self.layout.n_pairs
        grad = np.ascontiguousarray(grad, dtype=np.float64)
        hess = np.ascontiguousarray(hess, dtype=np.float64)
        for name, a in (("grad", grad), ("hess", hess)):
            if a.shape != (pairs,):
                raise checks.InputError(f"{name} has shape {a.shape}, but there are {pairs} pairs.")
        low = min(_EXACT, _WORD - int(pairs).bit_length())
        shift_g = _shift(grad, "grad", _EXACT)
        shift_h = _shift(hess, "hess", low - 1)
        self.total = histogram.quantise(grad, hess, 2.0**shift_g, 2.0**shift_h, low, self.sums)
        self.scale = Scale(2.0**-shift_g, 2.0**-shift_h, low, 1 << (low - 1), (1 << low) - 1)
        params = self.params
        self.limits = Limits(
            params.min_data_in_leaf << low,
            # A side without curvature has no value.
            max(params.min_sum_hessian / self.scale.h, 0.0 if params.lambda_l2 else 1.0),
            params.lambda_l1 / self.scale.g if params.lambda_l1 else None,
            params.lambda_l2 / self.scale.h,
        )

    def _root(self, queries: np.ndarray | None) -> Node:
        layout = self.layout
        if queries is None:
            end, total = layout.n_pairs, np.array(self.total)
            self.order[:] = np.arange(end, dtype=np.uint32)
        else:
            chosen = np.repeat(np.asarray(queries, dtype=bool), layout.sizes * (layout.sizes - 1))
            pairs = np.flatnonzero(chosen)
            end = pairs.size
            self.order[:end] = pairs
            words = self.sums.reshape(-1, 2)
            words[:end] = words[pairs]
            total = words[:end].sum(axis=0)
        return Node(0, end, 0, total)

    def _may_split(self, node: Node) -> bool:
        params = self.params
        _, h, count = self.scale.numbers(node.total)
        deep = 0 < params.max_depth <= node.depth
        return not deep and count >= 2 * params.min_data_in_leaf and h >= 2 * params.min_sum_hessian

    def _search(self, left: Node, right: Node | None) -> None:
        """Find the best split of two siblings, or of the root; the left one holds the parent's histogram."""
        assert self.plan is not None
        small, large = left, right
        if right is not None and right.end - right.begin < left.end - left.begin:
            small, large = right, left
        wanted = np.array([self._may_split(small), large is not None and self._may_split(large)])
        parent = np.empty(0, np.int64)
        if right is not None:
            held, left.slot = left.slot, -1
            if not wanted.any():
                self.free.append(held)
                return
            assert large is not None
            large.slot, parent = held, self.slots[held]
        elif not wanted[0]:
            return
        small.slot = self._slot()
        data = self._collect(small)
        totals = np.stack([small.total, small.total if large is None else large.total])
        hist = self.slots[small.slot]
        plan, scale, limits, found = self.plan, self.scale, self.limits, self.found

        def kernel(first: int, last: int) -> None:
            histogram.blocks(
                *(first, last, plan.blocks, plan.words, data, hist, parent, totals),
                *(wanted, scale, limits, found),
            )

        threads.over(plan.work([part[0].size for part in data]), kernel, self.n_jobs, _CHUNKS)
        self._choose(small, 0, bool(wanted[0]))
        if large is not None:
            self._choose(large, 1, bool(wanted[1]))

    def _choose(self, node: Node, which: int, wanted: bool) -> None:
        """Keep the best of all features' splits; of equal ones the first feature's."""
        gains = self.found[which]
        if wanted and gains.size:
            assert self.plan is not None
            g, h, _ = self.scale.numbers(node.total)
            id = int(np.argmax(gains))
            own = leaf_gain(g, h, self.params.lambda_l1, self.params.lambda_l2)
            if gains[id] > own + self.params.min_gain:
                node.gain = float(gains[id] - own)
                base, signed, n = self.plan.place(id)
                g_total, h_total = node.total.tolist()
                bin, missing_left, *left = locate(
                    *(self.slots[node.slot], base, signed, n, g_total, h_total),
                    *(self.scale, self.limits),
                )
                node.best, node.left_total = (id, bin, missing_left), (left[0], left[1])
        if node.gain < 0:
            self._release(node)

    def _collect(self, node: Node) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Return rows and their sums: of first items, of second items, of queries, of pairs."""
        layout, order = self.layout, self.order[node.begin : node.end]
        sums = self.sums[2 * node.begin : 2 * node.end]
        counts = histogram.collect(
            *(order, sums, layout.ends, layout.ptr, layout.start, self.work, self.out)
        )
        data = *(part[0][:n] for part, n in zip(self.out, counts, strict=True)), order
        assert self.plan is not None
        self.updates += self.plan.updates([rows.size for rows in data])
        return tuple(zip(data, (*(sums for _, sums in self.out), sums), strict=True))

    def _split(self, node: Node, leaf: int, new_leaf: int, record: _Record) -> tuple[Node, Node]:
        """Part a node's pairs, and write the split down; the left child keeps the leaf's number."""
        assert self.plan is not None
        side, split = self.plan.split(*node.best)
        middle = node.begin + self._part(node, side, split)
        total = np.array(node.left_total)
        at = len(record.splits)
        if node.parent >= 0:
            record.children[node.parent][0 if node.is_left else 1] = at
        record.splits.append(split)
        record.sides.append(side)
        record.gains.append(node.gain)
        record.counts.append(node.end - node.begin)
        record.children.append([-1 - leaf, -1 - new_leaf])
        left = Node(node.begin, middle, node.depth + 1, total, node.slot, parent=at)
        right = Node(middle, node.end, node.depth + 1, node.total - total, parent=at)
        right.is_left = False
        return left, right

    def _part(self, node: Node, side: int, split: Split) -> int:
        layout, order = self.layout, self.order[node.begin : node.end]
        sums = self.sums[2 * node.begin : 2 * node.end]
        if side == DIFFERENCE:
            words = split.table.words[split.feature // 4]
            shift = np.uint64(8 * (split.feature % 4))
            return partition.by_difference(order, sums, words, shift, split.left, *self.rest)
        goes = np.take(split.left, split.table.codes(split.feature))
        if split.table.kind == QUERY:
            goes = goes[layout.query]
        second = np.uint64(side == SECOND)
        return partition.by_item(order, sums, goes, layout.ends, second, *self.rest)

    def _slot(self) -> int:
        if not self.free:
            assert self.plan is not None
            self.slots.append(histogram.aligned(self.plan.size))
            return len(self.slots) - 1
        return self.free.pop()

    def _release(self, node: Node) -> None:
        if node.slot >= 0:
            self.free.append(node.slot)
            node.slot = -1

    def _forget(self, leaves: list[Node], open_splits: int) -> None:
        """Free histograms of leaves whose turn can't come: enough others have a larger gain."""
        held = sorted((n for n in leaves if n.slot >= 0), key=lambda node: -node.gain)
        for node in held[open_splits:]:
            self._release(node)
            node.gain = -1.0

    def _finish(self, leaves: list[Node], record: _Record) -> tuple[Tree, np.ndarray]:
        params = self.params
        for node in leaves:
            self._release(node)
        numbers = [self.scale.numbers(node.total) for node in leaves]
        of_pair = np.full(self.layout.n_pairs, -1, np.int32)
        for k, node in enumerate(leaves):
            partition.mark(self.order[node.begin : node.end], k, of_pair)
        children = np.array(record.children, np.int32).reshape(-1, 2)
        columns = [
            self.binned.differences[s.column] if side == DIFFERENCE else s.column
            for s, side in zip(record.splits, record.sides, strict=True)
        ]
        tree = Tree(
            side=np.array(record.sides, np.uint8),
            column=np.array(columns, np.int32),
            threshold=np.array([s.threshold for s in record.splits], np.float32),
            missing_left=np.array([s.missing_left for s in record.splits], np.uint8),
            left=children[:, 0].copy(),
            right=children[:, 1].copy(),
            gain=np.array(record.gains),
            node_count=np.array(record.counts, np.int64),
            value=np.array([leaf_value(g, h, params) for g, h, _ in numbers]),
            leaf_count=np.array([c for _, _, c in numbers], np.int64),
            leaf_hessian=np.array([h for _, h, _ in numbers]),
        )
        return tree, of_pair


def grow(
    binned: Binned,
    grad: np.ndarray,
    hess: np.ndarray,
    params: Params | None = None,
    n_jobs: int | None = None,
    **how: Any,
) -> tuple[Tree, np.ndarray]:
    """Grow one tree: `Grower` once; `how` is round and queries."""
    return Grower(binned, params or Params(), n_jobs).grow(grad, hess, **how)


def _shift(values: np.ndarray, name: str, bits: int) -> int:
    """Return the largest power of two that keeps the sum of absolute values, rounded, below 2^bits."""
    total = float(np.abs(values).sum()) if values.size else 0.0
    if not math.isfinite(total):
        row = int(np.flatnonzero(~np.isfinite(values))[0]) if not np.isfinite(values).all() else 0
        raise checks.InputError(f"{name} must be finite numbers, got {values[row]} at pair {row}.")
    # Rounding adds at most half a unit per value, less than half of the sum's bits as long as there are pairs.
    size = math.frexp(total)[1] if total > 0 else 0
    if abs(size) > _LARGEST:
        raise checks.InputError(
            f"{name} must have a sum of absolute values between 2^-{_LARGEST} and 2^{_LARGEST}, got {total:g}."
        )
    return bits - 1 - size if total > 0 else 0
