"""JSON of models of pairs (``bi-...``): trees whose splits look at one document, the other, or their difference."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._version import __version__
from rankwood.export.checking import Check, Rows, other_ranks
from rankwood.export.reference import Semantics, as_they_are, at_most, is_nan, sum_in_order, walk
from rankwood.export.trees import Trees

_FORMAT, _VERSION = "rankwood-pairs", 1
_NUMBERS = 2**21  # features of pairs that are in memory at a time


class PairTrees(NamedTuple):
    """Trees on pairs; the fields are those of a `Forest`, but `feature` is 3 times as long.

    Columns of the first document come first, then those of the second one, then their differences.
    """

    trees: Trees
    n_features: int


def pair_trees(model: Any, n_features: int) -> PairTrees:
    """Return the trees of a model of pairs.

    Parameters
    ----------
    model : model of an engine
        That of the engine pairtree, or of LightGBM on stored pairs.
    n_features : int
        Number of features of a document.

    Returns
    -------
    PairTrees
        The trees.
    """
    if type(model).__name__ == "PairTreeModel":
        return PairTrees(_of_pairtree(model.booster), n_features)
    from rankwood.forest import from_lightgbm

    content = json.loads(model.text)
    forest = from_lightgbm.convert(content["lightgbm"], None)
    # Columns of differences, by the order in which LightGBM has them.
    column = np.concatenate(
        [np.arange(2 * n_features), 2 * n_features + np.array(content["differences"], np.int64)]
    )
    no = forest.categorical
    return PairTrees(
        Trees(
            column[forest.feature].astype(np.int32),
            forest.threshold,
            forest.missing_left,
            forest.left,
            forest.right,
            forest.leaf_value,
            forest.first_node,
            forest.first_leaf,
            no,
            forest.category_first,
            forest.category,
        ),
        n_features,
    )


def _of_pairtree(forest: Any) -> Trees:
    """Return the trees of our own engine, with numbers of nodes and leaves that count through all trees."""
    nodes = np.cumsum([0, *(tree.left.size for tree in forest.trees)])
    leaves = np.cumsum([0, *(tree.value.size for tree in forest.trees)])

    def joined(name: str, kind: type) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(getattr(t, name) for t in forest.trees)]).astype(kind)

    def children(name: str) -> np.ndarray:
        own = joined(name, np.int64)
        tree = np.repeat(np.arange(len(forest.trees)), np.diff(nodes))
        return np.where(own >= 0, own + nodes[tree], ~(~own + leaves[tree])).astype(np.int32)

    count = int(nodes[-1])
    return Trees(
        (joined("side", np.int64) * forest.n_features + joined("column", np.int64)).astype(
            np.int32
        ),
        joined("threshold", np.float64),
        joined("missing_left", bool),
        children("left"),
        children("right"),
        joined("value", np.float64),
        nodes,
        leaves,
        np.zeros(count, bool),
        np.zeros(count + 1, np.int64),
        np.zeros(0, np.int64),
    )


def write(found: PairTrees, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the file."""
    made, n = found
    content = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        "n_features": n,
        "feature_names": list(names),
        "side": (made.feature // n).tolist(),
        "column": (made.feature % n).tolist(),
        "threshold": [t if np.isfinite(t) else str(t) for t in made.threshold.tolist()],
        "missing_left": made.missing_left.tolist(),
        "left": made.left.tolist(),
        "right": made.right.tolist(),
        "leaf_value": made.leaf_value.tolist(),
        "first_node": made.first_node.tolist(),
        "first_leaf": made.first_leaf.tolist(),
    }
    yield json.dumps(content, allow_nan=False)


def read(text: str) -> PairTrees:
    """Return the trees of a file."""
    found = json.loads(text)
    n, count = found["n_features"], len(found["side"])
    made = Trees(
        np.array(found["side"], np.int32) * n + np.array(found["column"], np.int32),
        np.array([float(t) for t in found["threshold"]], np.float64),
        np.array(found["missing_left"], bool),
        np.array(found["left"], np.int32),
        np.array(found["right"], np.int32),
        np.array(found["leaf_value"], np.float64),
        np.array(found["first_node"], np.int64),
        np.array(found["first_leaf"], np.int64),
        np.zeros(count, bool),
        np.zeros(count + 1, np.int64),
        np.zeros(0, np.int64),
    )
    return PairTrees(made, n)


_PLAIN = Semantics("float", as_they_are, at_most, is_nan, sum_in_order)


def scores_of(found: PairTrees, rows: Rows) -> np.ndarray:
    """Return the scores of rows, as the page about the format says.

    Parameters
    ----------
    found : PairTrees
        The trees of a file.
    rows : Rows
        Documents by query.

    Returns
    -------
    array
        The mean, over the other documents j of the query, of s_ij - s_ji.
    """
    out = np.zeros(len(rows.X))
    with np.errstate(all="ignore"):
        X = rows.X.astype(np.float32)
        for start, stop in zip(rows.starts[:-1], rows.starts[1:], strict=True):
            own = rows.order[start:stop]
            if own.size > 1:
                table = _pair_sums(found.trees, X[own])
                out[own] = (table - table.T).sum(axis=1) / (own.size - 1)
    return out


def _pair_sums(trees: Trees, X: np.ndarray) -> np.ndarray:
    """Return the sum of each pair of documents; the diagonal is the sum of a document with itself."""
    n, width = X.shape
    step = max(1, _NUMBERS // (3 * n * width))
    table = np.empty((n, n))
    for begin in range(0, n, step):
        part = slice(begin, min(begin + step, n))
        i, j = np.divmod(np.arange((part.stop - begin) * n), n)
        first, second = X[begin + i], X[j]
        values = np.concatenate([first, second, first - second], axis=1).astype(np.float64)
        sums = sum_in_order(trees.leaf_value[walk(trees, values, _PLAIN)])
        table[part] = sums.reshape(-1, n)
    return table


def check_pairs(found: PairTrees, rows: Rows, ours: np.ndarray) -> Check:
    """Compare scores of a model of pairs with those of its file."""
    theirs = scores_of(found, rows)
    return Check(
        rows=len(rows.X),
        queries=rows.starts.size - 1,
        largest_difference=float(np.abs(ours - theirs).max(initial=0.0)),
        other_leaf=None,
        by_float32=None,
        other_rank=other_ranks(ours, theirs, rows),
    )
