"""A forest of trees on pairs, which predicts and is saved as text: a JSON object with arrays in base64."""

import base64
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.engines.pairtree import predictor
from rankwood.engines.pairtree.binning import as_float32
from rankwood.engines.pairtree.pair_layout import PairLayout
from rankwood.engines.pairtree.tree import Tree

_FORMAT, _VERSION = "rankwood-pairtree", 1
#: Arrays of a tree's inner nodes and of its leaves, as they are in the file.
_NODES = {
    **{"side": "<u1", "column": "<i4", "threshold": "<f4", "missing_left": "<u1"},
    **{"left": "<i4", "right": "<i4", "gain": "<f8", "node_count": "<i8"},
}
_LEAVES = {"value": "<f8", "leaf_count": "<i8", "leaf_hessian": "<f8"}


class PairForest:
    """Trees whose values are summed.

    Parameters
    ----------
    n_features : int
        Number of columns of X.
    trees : iterable of Tree
        The trees, with the learning rate in their leaf values.
    """

    def __init__(self, n_features: int, trees: Iterable[Tree] = ()) -> None:
        self.n_features = n_features
        self.trees = list(trees)
        self._bit_trees: tuple[int, predictor.BitTrees] | None = None  # of so many trees

    def add(self, tree: Tree, learning_rate: float = 1.0) -> Tree:
        """Append a tree with its leaf values times the learning rate, and return that tree."""
        self.trees.append(tree._replace(value=tree.value * learning_rate))
        return self.trees[-1]

    def first(self, count: int) -> "PairForest":
        """Return the forest of the first `count` trees."""
        return PairForest(self.n_features, self.trees[:count])

    def predict(self, X: Any, ptr: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per document.

        Parameters
        ----------
        X : array of shape (n_documents, n_features)
            The documents, list by list.
        ptr : array of int
            The documents of list q are ptr[q] to ptr[q + 1] - 1.
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        array
            The mean of s_ij - s_ji over the other documents j of the list.
        """
        X, ptr = self._matrix(X), np.ascontiguousarray(ptr, dtype=np.int64)
        if self._bit_trees is None or self._bit_trees[0] != len(self.trees):
            self._bit_trees = len(self.trees), predictor.bit_trees(self.trees)
        trees = self._bit_trees[1]
        scores = np.empty(X.shape[0])
        cost = np.diff(ptr).astype(np.float64) ** 2 + 1.0
        threads.run_ranges(
            lambda a, b: predictor.score_items(a, b, X, ptr, trees, scores), cost, n_jobs
        )
        return scores

    def add_pair_scores(
        self,
        scores: np.ndarray,
        X: Any,
        layout: PairLayout,
        begin: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        """Add the values of the trees from number `begin` on to the scores of a layout's pairs, in place."""
        X, trees = self._matrix(X), predictor.bit_trees(self.trees[begin:])
        ptr, pair_ptr = layout.ptr, layout.pair_ptr
        threads.run_ranges(
            lambda a, b: predictor.add_pair_scores(a, b, X, ptr, pair_ptr, trees, scores),
            layout.sizes.astype(np.float64) ** 2,
            n_jobs,
        )

    def importances(self) -> np.ndarray:
        """Return the total gain of splits by (side, column): the first document's, the second's, the difference."""
        out = np.zeros((3, self.n_features))
        for tree in self.trees:
            np.add.at(out, (tree.side, tree.column), tree.gain)
        return out

    def _matrix(self, X: Any) -> np.ndarray:
        """Return X as float32, or raise if it has other features than the training data."""
        X = as_float32(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise checks.InputError(
                f"X has shape {X.shape}, but the model was trained on {self.n_features} features."
            )
        return X

    @property
    def text(self) -> str:
        """The forest as one JSON object."""
        arrays = {}
        for name, kind in (_NODES | _LEAVES).items():
            parts = [getattr(tree, name) for tree in self.trees]
            flat = np.concatenate([np.zeros(0), *parts]).astype(kind)
            arrays[name] = {"dtype": kind, "base64": base64.b64encode(flat.tobytes()).decode()}
        return json.dumps(
            {
                "format": _FORMAT,
                "format_version": _VERSION,
                "n_features": self.n_features,
                "leaves": [int(tree.value.size) for tree in self.trees],
                "arrays": arrays,
            }
        )

    @classmethod
    def load(cls, text: str) -> "PairForest":
        """Return the forest that `text` holds; a damaged tree, which might have a cycle, raises an error."""
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT or content["format_version"] != _VERSION:
                raise checks.InputError(
                    f"the text is a model of format {content['format']!r}, version "
                    f"{content['format_version']!r}; expected {_FORMAT!r}, version {_VERSION}."
                )
            leaves = np.array(
                [checks.at_least(n, 1, "leaves") for n in content["leaves"]], np.int64
            )
            forest = cls(
                checks.at_least(content["n_features"], 1, "n_features"),
                _trees(content["arrays"], leaves),
            )
        except checks.InputError:
            raise
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise checks.InputError(f"there is no pair-tree model in the text: {error}.") from None
        for number, tree in enumerate(forest.trees):
            if not _is_valid(tree, forest.n_features):
                raise checks.InputError(f"the pair-tree model is damaged: tree {number}.")
        return forest


def _trees(arrays: dict[str, dict[str, str]], leaves: np.ndarray) -> list[Tree]:
    """Return trees with the given numbers of leaves from the arrays of all trees."""
    parts = {}
    for name, kind in (_NODES | _LEAVES).items():
        flat = np.frombuffer(base64.b64decode(arrays[name]["base64"], validate=True), kind)
        sizes = leaves if name in _LEAVES else leaves - 1
        total = sum(sizes.tolist())  # in Python's numbers, which don't overflow
        if flat.size != total:
            raise ValueError(f"{name} has {flat.size} values instead of {total}")
        native = flat.astype(flat.dtype.newbyteorder("="))
        parts[name] = np.split(native, np.cumsum(sizes)[:-1]) if leaves.size else []
    return [Tree(**{name: parts[name][k] for name in parts}) for k in range(leaves.size)]


def _is_valid(tree: Tree, n_features: int) -> bool:
    """Tell whether each node but the root has one parent, which precedes it, and all columns exist."""
    nodes, children = tree.side.size, np.concatenate([tree.left, tree.right])
    expected = [*range(-nodes - 1, 0), *range(1, nodes)] if nodes else []
    if sorted(children.tolist()) != expected:
        return False
    later = (children < 0) | (children > np.tile(np.arange(nodes), 2))
    known = (tree.side <= 2) & (tree.column >= 0) & (tree.column < n_features)
    return bool(later.all() and known.all() and np.isfinite(tree.value).all())
