"""Finding the best splits of two siblings, and splitting a leaf."""

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import float_of, larger, smaller
from rankwood._kernels.numeric.rng import splitmix64
from rankwood._kernels.pointers import behind
from rankwood.engines.trees.growth.gains import NodeTerms, bounded_value, gain_at
from rankwood.engines.trees.growth.loops import HISTOGRAMS, MARK, MOVE, share
from rankwood.engines.trees.growth.partition import list_chunks, next_buffer
from rankwood.engines.trees.growth.records import CODES, DEAD, IN_ORDER, LIVE, UNUSED, WIDE

_U = np.uint64
_SMALL, _LARGE = 0, 1
_KINDS = UNUSED + 1
_ALL = 0  # the row of `TREE.usable` for all leaves; those of two siblings come after it


@uncounted
def complete_root(tree):
    """Fill in what other nodes have from their parents."""
    root = tree.nodes[0]
    root.depth, root.slot, root.parent, root.path = 0, 0, -1, _U(tree.state)
    root.low, root.high = -np.inf, np.inf
    root.packed = np.int64(_rows(tree, 0, LIVE) <= tree.job[0].flush_rows)
    node = _node_of(tree, root)
    root.value = bounded_value(node.g, node.h, node, node.l2)
    for group in range(tree.n_groups):
        tree.possible[group] = 1


@uncounted
def _rows(tree, leaf, kind):
    """Return the number of rows of a kind in a leaf."""
    rows = tree.ranges[_KINDS * leaf + kind]
    return rows.end - rows.begin


@uncounted
def _node_of(tree, record):
    """Return what gains and values of a node depend on, in units of the tree."""
    job = tree.job[0]
    g, h = np.float64(record.g), np.float64(record.h)
    # LightGBM's estimate of a count: a side has as large a part of the documents as it has of the Hessian.
    least = (tree.min_data - 0.5) * (h / larger(record.count, 1))
    least = larger(least, larger(tree.min_hessian * job.h_factor, 1.0))
    step = tree.max_step * job.g_factor / job.h_factor if tree.max_step > 0.0 else np.inf
    l1, l2 = tree.l1 * job.g_factor, tree.l2 * job.h_factor
    bounded = tree.directed or l1 > 0.0 or tree.max_step > 0.0
    return NodeTerms(g, h, least, h - least, l1, l2, step, record.low, record.high, bounded)


@uncounted
def _may_split(tree, record):
    """Tell whether a node isn't too deep or too small for two children."""
    if 0 < tree.max_depth <= record.depth:
        return False
    node = _node_of(tree, record)
    return record.count >= 2 * tree.min_data and node.h >= 2.0 * node.least


@uncounted
def find_splits(tree, left, right):
    """Find the best splits of two siblings, of which the left one has the parent's histogram; or of the root alone."""
    job = tree.job[0]
    small, large = left, right
    if right >= 0 and _rows(tree, right, LIVE) < _rows(tree, left, LIVE):
        small, large = right, left
    wanted = _may_split(tree, tree.nodes[small])
    if right >= 0:
        one, other = tree.nodes[small], tree.nodes[large]
        other.slot, other.packed = tree.nodes[left].slot, tree.nodes[left].packed
        one.slot = right  # no other node has had it
        one.packed = np.int64(_rows(tree, small, LIVE) <= job.flush_rows)
        wanted |= _may_split(tree, other)
    if wanted:
        _describe(tree, small, _SMALL)
        _describe(tree, large, _LARGE)
        rows = tree.ranges[_KINDS * small + LIVE]
        job.begin, job.end, job.buffer = rows.begin, rows.end, tree.nodes[small].buffer
        job.in_order = np.int64(job.buffer == IN_ORDER)
        items = tree.in_order_items if job.in_order else tree.gathered_items
        share(HISTOGRAMS, items, tree)
        _choose(tree, small, _SMALL, items)
        if right >= 0:
            _choose(tree, large, _LARGE, items)


@uncounted
def _describe(tree, leaf, sibling):
    """Write what the search knows of a sibling; `leaf` is -1 if there is none."""
    record = tree.siblings[sibling]
    record.at, record.wanted = -1, 0
    if leaf < 0:
        return
    node, source = _node_of(tree, tree.nodes[leaf]), tree.nodes[leaf]
    record.at = source.slot * tree.n_columns * WIDE
    record.wanted = np.int64(_may_split(tree, source))
    record.packed, record.path, record.count = source.packed, source.path, source.count
    record.g, record.h, record.least, record.most = node.g, node.h, node.least, node.most
    record.l1, record.l2, record.step = node.l1, node.l2, node.step
    record.low, record.high, record.bounded = node.low, node.high, np.int64(node.bounded)
    record.usable = _ALL
    if tree.n_groups or tree.features_of_node:
        record.usable = 1 + sibling
        _choose_features(tree, leaf, record.usable)


@uncounted
def _choose_features(tree, leaf, row):
    """Write which features a leaf may split on: those that may interact with the ones above it, or a sample of them."""
    n_groups, size = tree.n_groups, tree.n_features
    usable, allowed = behind(tree.usable, row * size), 0
    for f in range(size):
        usable[f] = tree.usable[f]
        if n_groups:
            together = np.uint8(0)
            for group in range(n_groups):
                together |= tree.possible[leaf * n_groups + group] & tree.members[group * size + f]
            usable[f] &= together
        allowed += usable[f]
    if tree.features_of_node:
        left = smaller(tree.features_of_node, allowed)
        for f in range(size):
            if usable[f]:  # each one is drawn with the same probability (selection sampling)
                word = splitmix64(tree.nodes[leaf].path + _U(f) * _U(0x9E3779B97F4A7C15))
                drawn = np.int64((word >> _U(32)) * _U(allowed) >> _U(32)) < left
                usable[f] = np.uint8(drawn)
                left -= np.int64(drawn)
                allowed -= 1


@uncounted
def _choose(tree, leaf, sibling, items):
    """Keep the best of the splits that the items have found for a leaf."""
    node = tree.nodes[leaf]
    node.gain = 0.0
    best = tree.found[sibling]
    for item in range(1, items):
        split = tree.found[2 * item + sibling]
        first = split.gain == best.gain and split.feature < best.feature
        if split.gain > best.gain or first:
            best = split
    if best.gain < 0 or not tree.siblings[sibling].wanted:
        return
    split, terms, job = best, _node_of(tree, node), tree.job[0]
    alone = bounded_value(terms.g, terms.h, terms, terms.l2)
    own = gain_at(terms.g, terms.h, alone, terms.l1, terms.l2)
    gain = float_of(split.gain) - own
    if gain > tree.min_gain * job.g_factor * job.g_factor / job.h_factor:
        node.gain, node.penalty = gain, split.penalty
        node.feature, node.bin, node.missing_left = split.feature, split.bin, split.missing_left
        node.left_g, node.left_h = split.left_g, split.left_h
        node.set_0, node.set_1 = split.set_0, split.set_1
        node.set_2, node.set_3 = split.set_2, split.set_3


@uncounted
def split_leaf(tree, leaf, right):
    """Split a leaf by its best split; the left child keeps its number, and the right one has the number `right`."""
    _record_split(tree, leaf, right)
    _partition(tree, leaf, right)
    _make_children(tree, leaf, right)


@uncounted
def _record_split(tree, leaf, right):
    """Add a split to the tree, and write which codes of its column go left."""
    node, number = tree.nodes[leaf], right - 1
    split, feature = tree.splits[number], tree.features[node.feature]
    split.feature, split.bin, split.missing_left = node.feature, node.bin, node.missing_left
    split.left, split.right, split.column = -1 - leaf, -1 - right, feature.column
    split.count, split.hessian = node.count, np.float64(node.h)
    split.gain, split.value = node.gain, node.value
    split.set_0, split.set_1, split.set_2, split.set_3 = (
        node.set_0,
        node.set_1,
        node.set_2,
        node.set_3,
    )
    if node.parent >= 0:
        above = tree.splits[node.parent >> 1]
        if node.parent & 1:
            above.right = number
        else:
            above.left = number
    column = tree.columns[feature.column]
    for code in range(CODES):
        real = column.alias_of if code >= column.codes else code
        b = real // feature.divisor % (feature.bins + feature.missing)
        goes_left = node.missing_left if b >= feature.bins else np.int64(b <= node.bin)
        if feature.categorical:
            goes_left = _has(node, b)
        tree.tables[number * CODES + code] = goes_left


@uncounted
def _has(node, b):
    """Return 1 if the categories of a bin go left, else 0."""
    word = node.set_0
    if b >= 64:
        word = node.set_1
    if b >= 128:
        word = node.set_2
    if b >= 192:
        word = node.set_3
    return np.int64((word >> _U(b & 63)) & _U(1))


@uncounted
def _partition(tree, leaf, right):
    """Move the rows of a leaf to its children."""
    node, job = tree.nodes[leaf], tree.job[0]
    job.split, job.column = right - 1, tree.splits[right - 1].column
    n_chunks = 0
    for kind in range(_KINDS):
        rows = tree.ranges[_KINDS * leaf + kind]
        n_chunks = list_chunks(rows.begin, rows.end, node.buffer, kind, tree.chunks, n_chunks)
    share(MARK, n_chunks, tree)
    k = 0
    for kind in range(_KINDS):
        rows, others = tree.ranges[_KINDS * leaf + kind], tree.ranges[_KINDS * right + kind]
        first, middle = k, rows.begin
        while k < n_chunks and tree.chunks[k].leaf == kind:
            middle += tree.chunks[k].left
            k += 1
        at_left, at_right = rows.begin, middle
        for i in range(first, k):
            chunk = tree.chunks[i]
            n_left = chunk.left
            chunk.left, chunk.right = at_left, at_right
            at_left += n_left
            at_right += chunk.end - chunk.begin - n_left
        others.begin, others.end = middle, rows.end
        rows.end = middle
    share(MOVE, n_chunks, tree)


@uncounted
def _make_children(tree, leaf, right):
    """Turn a leaf into its left child, and make the right one."""
    node, other = tree.nodes[leaf], tree.nodes[right]
    terms, direction = _node_of(tree, node), tree.features[node.feature].direction
    l2 = terms.l2 + node.penalty
    other.g, other.h = node.g - node.left_g, node.h - node.left_h
    node.g, node.h = node.left_g, node.left_h
    node.value = bounded_value(np.float64(node.g), np.float64(node.h), terms, l2)
    other.value = bounded_value(np.float64(other.g), np.float64(other.h), terms, l2)
    other.low, other.high = node.low, node.high
    middle = 0.5 * (node.value + other.value)
    if direction > 0:
        node.high, other.low = smaller(node.high, middle), larger(node.low, middle)
    elif direction < 0:
        node.low, other.high = larger(node.low, middle), smaller(node.high, middle)
    for group in range(tree.n_groups):
        at = leaf * tree.n_groups + group
        tree.possible[at] &= tree.members[group * tree.n_features + node.feature]
        tree.possible[right * tree.n_groups + group] = tree.possible[at]
    path, buffer, depth = node.path, next_buffer(node.buffer), node.depth + 1
    for side in range(2):
        k = right if side else leaf
        child = tree.nodes[k]
        child.buffer, child.depth, child.gain = buffer, depth, 0.0
        child.parent = 2 * (right - 1) + side
        child.path = splitmix64(path * _U(2) + _U(1 + side))
        child.count = _rows(tree, k, LIVE) + _rows(tree, k, DEAD)
