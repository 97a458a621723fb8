"""The beginning of a tree: gradients in fixed point, rows by kind, and the sums of the root."""

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import float_of, larger
from rankwood.engines.trees.growth.fixed_point import power_of_two, shift_for
from rankwood.engines.trees.growth.loops import LARGEST, LIST_ROWS, QUANTISE, share
from rankwood.engines.trees.growth.partition import list_chunks
from rankwood.engines.trees.growth.records import IN_ORDER, LIVE, SUM_BITS, UNUSED

_INFINITE = 0x7F800000  # bits of a float32
# If the largest gradient is more than 2^12 times the mean one, the others would be coarse: they get more bits.
_HEAVY, _MORE_BITS = 4096, 4


@uncounted
def make_root(tree):
    """Make the root; return False if gradients aren't finite."""
    n = tree.n_documents
    n_chunks = list_chunks(0, n, IN_ORDER, 0, tree.chunks, 0)
    share(LARGEST, n_chunks, tree)
    g_bits, h_bits = np.int64(0), np.int64(0)
    for k in range(n_chunks):
        g_bits, h_bits = larger(g_bits, tree.chunks[k].g), larger(h_bits, tree.chunks[k].h)
    if larger(g_bits, h_bits) >= _INFINITE:
        return False
    g_top, h_top, bits = float_of(np.int32(g_bits)), float_of(np.int32(h_bits)), tree.flush_bits
    size = _quantise(tree, n_chunks, g_top, h_top, bits)
    if g_top * tree.job[0].g_factor * n > _HEAVY * np.float64(size):
        size = _quantise(tree, n_chunks, g_top, h_top, bits - _MORE_BITS)
    live, dead, unused = _place_kinds(tree.chunks, n_chunks)
    root = tree.nodes[0]
    root.buffer = IN_ORDER
    if unused > 0 or live < tree.sparse_below * n:
        root.buffer = 0
        share(LIST_ROWS, n_chunks, tree)
    else:
        live, dead = np.int64(n), np.int64(0)
    ends = live, live + dead, np.int64(n)
    begin = np.int64(0)
    for kind in range(LIVE, UNUSED + 1):
        end = ends[kind]
        tree.ranges[kind].begin, tree.ranges[kind].end = begin, end
        begin = end
    root.count = live + dead
    return True


@uncounted
def _quantise(tree, n_chunks, g_top, h_top, flush_bits):
    """Write gradients in fixed point, and the sums of the root; return the sum of absolute gradients."""
    job, root, size = tree.job[0], tree.nodes[0], np.int64(0)
    job.g_factor = power_of_two(shift_for(g_top, SUM_BITS - flush_bits))
    job.h_factor = power_of_two(shift_for(h_top, SUM_BITS - flush_bits))
    job.flush_rows = np.int64(1) << flush_bits
    share(QUANTISE, n_chunks, tree)
    root.g, root.h = 0, 0
    for k in range(n_chunks):
        root.g += tree.chunks[k].g
        root.h += tree.chunks[k].h
        size += tree.chunks[k].size
    return size


@uncounted
def _place_kinds(chunks, n_chunks):
    """Count the rows by kind, and give each chunk its places among them; return the counts."""
    live, dead, unused = np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_chunks):
        chunk = chunks[k]
        live, dead, unused = live + chunk.live, dead + chunk.dead, unused + chunk.unused
    at_live, at_dead, at_unused = np.int64(0), live, live + dead
    for k in range(n_chunks):
        chunk = chunks[k]
        n_live, n_dead, n_unused = chunk.live, chunk.dead, chunk.unused
        chunk.live, chunk.dead, chunk.unused = at_live, at_dead, at_unused
        at_live, at_dead, at_unused = at_live + n_live, at_dead + n_dead, at_unused + n_unused
    return live, dead, unused
