"""What the kernels that grow a tree read and write, as records.

    column    a byte per document: the code of one feature, or of several with few bins (a joint column)
    word      eight columns, in 64 bits
    line      eight words of a document, a cache line: 64 columns; the last line has 1, 2, 4 or 8 words
    item      what one thread does at a time: some columns of a node's histogram, or a chunk of rows

Codes are stored twice: by column, for documents in order and for partitions, and by line, for documents in any order.
A column belongs to documents or to queries: a feature that is constant inside each query is stored once per query.
"""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.pointers import MemoryLayout

CODES = 256  # that a column can have
LANES = 8  # columns of a word
HALF_WORD = 4  # columns
WORDS = 8  # words of a line
LINE = LANES * WORDS  # columns of a line
#: Numbers of a column in a histogram of wide sums: those of gradients and those of Hessians, by code.
WIDE = 2 * CODES
#: Bits of a sum in one half of a packed number, without its sign.
SUM_BITS = 31
#: Rows that one thread partitions at a time.
CHUNK_ROWS = 16384
#: Kinds of rows: those with a gradient, those without one, and those that the tree doesn't learn from.
LIVE, DEAD, UNUSED = range(3)
#: The last buffer of rows has all of them in order; nodes use the other two in turn.
IN_ORDER = 2

_LINE_SHIFT = 3
_INT, _REAL, _WORD = np.int64, np.float64, np.uint64


@uncounted
def line_shift(n_words: Any, first: Any) -> Any:
    """Return the logarithm of the number of words that the line of word `first` is stored with, of `n_words` in all."""
    words = n_words - first // WORDS * WORDS
    shift = 0
    while shift < _LINE_SHIFT and words > 1 << shift:
        shift += 1
    return shift


def _record(integers: str, reals: str = "", words: str = "") -> np.dtype[np.void]:
    """Return the type of a record with these fields, whose kinds are those of 64 bits."""
    kinds = ((integers, _INT), (reals, _REAL), (words, _WORD))
    return np.dtype([(name, kind) for names, kind in kinds for name in names.split()])


#: A column: the place of its first feature in `Binned.listed` and the number of its features; the number of codes
#: without aliases; the number of aliases, which are the codes after them, and the code that all of these stand for.
COLUMN = _record("first features codes aliases alias_of")

#: A feature: its column; its bin is `code // divisor % (bins + missing)`, where `missing` is 1 if missing values have
#: a bin, after the last one; whether it is categorical; 1 or -1 if scores may only rise or fall with it.
FEATURE = _record("column divisor bins missing categorical direction")

_SPLIT_INTEGERS = "feature bin missing_left left_g left_h"
_SPLIT_WORDS = "set_0 set_1 set_2 set_3"  # bins that go left, if the feature is categorical

#: A leaf so far. Sums are in units of the tree; `count` is the number of documents that the tree learns from, with or
#: without a gradient; `slot` is where its histogram is, and `packed` whether that has packed sums; `parent` is twice
#: the number of the split that made it, plus 1 for the right side, -1 for the root; `path` is a hash of the way from
#: the root. `low` and `high` bound its value (directions of features). The rest is its best split, whose gain is 0 if
#: there is none; `penalty` is added to l2 in the values of its children.
NODE = _record(
    f"buffer depth g h count slot packed parent {_SPLIT_INTEGERS}",
    "low high value gain penalty",
    f"path {_SPLIT_WORDS}",
)

#: The best split that an item has found for one of two siblings; `gain` has the bits of a float64, or is -1.
SPLIT = _record(f"gain {_SPLIT_INTEGERS}", "penalty", _SPLIT_WORDS)

#: One of two siblings whose best splits are searched: where its histogram begins, the row of `TREE.usable`, its sums
#: and its count, and what both sides of a split must respect, in units of the tree: the smallest sum of Hessians of the
#: left side and the largest one, penalties, the largest value, bounds of values. `bounded`: not l2 alone.
SIBLING = _record(
    "wanted at packed usable bounded", "g h count least most l1 l2 step low high", "path"
)

#: The loop that is announced: its kind; for histograms, the rows of the smaller sibling, whether they are all rows in
#: order, and how many of them fit in packed sums; for partitions, where the column of the split is; for scores, the
#: number of leaves.
JOB = _record("kind begin end buffer in_order flush_rows split column leaves", "g_factor h_factor")

#: Rows `begin` to `end` of a buffer and, as loops go over them, sums of gradients and Hessians, and numbers of rows,
#: which then become places to write to: rows by kind, or rows that go left and right.
CHUNK = _record("begin end buffer leaf g h size live dead unused left right")

#: A split of the finished tree, in the caller's units; children are numbers of splits, or -1 minus the number of a
#: leaf. `value` is the one that a leaf in its place would have, with the learning rate.
TREE_SPLIT = _record(
    "feature bin missing_left left right count column", "gain value hessian", _SPLIT_WORDS
)

#: A leaf of the finished tree, in the caller's units; the value has the learning rate in it.
TREE_LEAF = _record("count", "value hessian")

#: Columns `first` to `end` of a histogram: four, or whole words. Columns of queries come after those of documents.
ITEM = _record("first end")

#: Places `begin` to `end` of a buffer of rows.
RANGE = _record("begin end")


#: Everything that the threads of a tree share. Arrays of several dimensions have these in brackets.
TREE = MemoryLayout(
    "tree",
    arrays={
        # Binned documents.
        "codes": np.uint8,  # [column, document]
        "lines": np.uint64,  # [line, document, word]
        "query_codes": np.uint8,  # the same of queries
        "query_lines": np.uint64,
        "query_of": np.uint32,  # the query of each document
        "columns": COLUMN,
        "listed": np.int64,  # numbers of features, column by column
        "features": FEATURE,
        "items": ITEM,  # those of gathered rows, then those of rows in order
        # What the tree is grown from, by document.
        "grad": np.float32,
        "hess": np.float32,
        "scores": np.float64,
        "unused": np.uint8,  # documents that the tree doesn't learn from, if `samples`
        "numbers": np.int64,  # packed gradient and Hessian
        # The loop that all threads work on.
        "team": np.int64,
        "job": JOB,
        "chunks": CHUNK,
        "goes_left": np.uint8,  # by place, for the node that is split
        # Leaves so far.
        "nodes": NODE,
        "ranges": RANGE,  # [leaf, kind of rows]
        "rows": np.uint32,  # [buffer, place]
        "siblings": SIBLING,  # the smaller one, whose histogram is built, and the larger one
        "found": SPLIT,  # [item, sibling]
        "sums": np.int64,  # histograms, and then the room of each thread
        "reals": np.float64,  # [thread]: running sums of a feature
        "query_sums": np.int64,  # [thread, query]: packed gradients and Hessians of a node's documents
        "query_rows": np.uint32,  # [thread]: the node's queries
        "usable": np.uint8,  # [all leaves, smaller or larger sibling; feature]: features that may be split on
        "members": np.uint8,  # [group, feature]: features that may interact
        "possible": np.uint8,  # [leaf, group]: groups that have all features on the way to the leaf
        # The tree.
        "splits": TREE_SPLIT,
        "leaves": TREE_LEAF,
        "tables": np.uint8,  # [split, code]: 1 if the code of the split's column goes left
    },
    integers=(
        *("n_documents", "n_queries", "document_columns", "n_columns", "n_features", "n_groups"),
        "longest",  # documents of the longest query
        *("gathered_items", "in_order_items"),
        "room_at",  # where the room of threads begins in `sums`
        *("num_leaves", "max_depth"),
        "flush_bits",  # 2 to this power rows have sums that fit in one half of a packed number
        "features_of_node",  # that may be split on; 0 means all
        "samples",  # 1 if some documents are left out
        "directed",  # 1 if scores may only rise or fall with some feature
        "extra",  # 1 if a feature has one random threshold
        "state",  # random state of the tree
        *("max_cat_threshold", "max_cat_to_onehot"),  # LightGBM's, for categories
    ),
    reals=(
        *("min_data", "min_hessian", "l1", "l2", "max_step", "min_gain", "learning_rate"),
        "sparse_below",  # share of documents with a gradient below which the others are set apart
        *("cat_l2", "cat_smooth", "min_data_per_group"),
    ),
)
open_tree = TREE.opened
