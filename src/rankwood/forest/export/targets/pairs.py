"""JSON of models of pairs (``bi-...``)."""

import json
from collections.abc import Iterator

import numpy as np

from rankwood._version import __version__
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest.convert.from_pairs import PairTrees, without_categories
from rankwood.forest.export.reference import leaf_numbers, sum_in_order
from rankwood.forest.export.row_check import Check, Rows, other_ranks

_FORMAT, _VERSION = "rankwood-pairs", 1
_NUMBERS = 2**21  # features of pairs that are in memory at a time


def write_pair_trees(model: PairTrees, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the file."""
    trees, n = model
    content = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        "n_features": n,
        "feature_names": list(names),
        "side": (trees.feature // n).tolist(),
        "column": (trees.feature % n).tolist(),
        "threshold": [t if np.isfinite(t) else str(t) for t in trees.threshold.tolist()],
        "missing_left": trees.missing_left.tolist(),
        "left": trees.left.tolist(),
        "right": trees.right.tolist(),
        "leaf_value": trees.leaf_value.tolist(),
        "first_node": trees.first_node.tolist(),
        "first_leaf": trees.first_leaf.tolist(),
    }
    yield json.dumps(content, allow_nan=False)


def read_pair_trees(text: str) -> PairTrees:
    """Return the trees of a file."""
    content = json.loads(text)
    n = content["n_features"]
    trees = without_categories(
        feature=np.array(content["side"], np.int32) * n + np.array(content["column"], np.int32),
        threshold=np.array([float(t) for t in content["threshold"]], np.float64),
        missing_left=np.array(content["missing_left"], bool),
        left=np.array(content["left"], np.int32),
        right=np.array(content["right"], np.int32),
        leaf_value=np.array(content["leaf_value"], np.float64),
        first_node=np.array(content["first_node"], np.int64),
        first_leaf=np.array(content["first_leaf"], np.int64),
    )
    return PairTrees(trees, n)


def pair_scores(model: PairTrees, rows: Rows) -> np.ndarray:
    """Return the scores of rows, as the page about the format says.

    Parameters
    ----------
    model : PairTrees
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
            documents = rows.order[start:stop]
            if documents.size > 1:
                table = _pair_sums(model.trees, X[documents])
                out[documents] = (table - table.T).sum(axis=1) / (documents.size - 1)
    return out


def _pair_sums(trees: TreeArrays, X: np.ndarray) -> np.ndarray:
    """Return the sum of each pair of documents; the diagonal is the sum of a document with itself."""
    n, width = X.shape
    step = max(1, _NUMBERS // (3 * n * width))
    table = np.empty((n, n))
    for begin in range(0, n, step):
        part = slice(begin, min(begin + step, n))
        i, j = np.divmod(np.arange((part.stop - begin) * n), n)
        first, second = X[begin + i], X[j]
        values = np.concatenate([first, second, first - second], axis=1).astype(np.float64)
        sums = sum_in_order(trees.leaf_value[leaf_numbers(trees, values)])
        table[part] = sums.reshape(-1, n)
    return table


def check_pairs(model: PairTrees, rows: Rows, ours: np.ndarray) -> Check:
    """Compare scores of a model of pairs with those of its file."""
    theirs = pair_scores(model, rows)
    return Check(
        rows=len(rows.X),
        queries=rows.starts.size - 1,
        largest_difference=float(np.abs(ours - theirs).max(initial=0.0)),
        other_leaf=None,
        by_float32=None,
        other_rank=other_ranks(ours, theirs, rows),
    )
