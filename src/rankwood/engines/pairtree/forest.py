"""A forest on pairs: it predicts, and goes into a file as text, a JSON object with arrays in base64."""

import base64
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood.engines.pairtree import predictor
from rankwood.engines.pairtree.binning import single
from rankwood.engines.pairtree.layout import Layout
from rankwood.engines.pairtree.tree import Tree

_FORMAT, _VERSION = "rankwood-pairtree", 1
#: Arrays of a tree's inner nodes and of its leaves, as they are in the file.
_NODES = {
    **{"side": "<u1", "column": "<i4", "threshold": "<f4", "missing_left": "<u1"},
    **{"left": "<i4", "right": "<i4", "gain": "<f8", "node_count": "<i8"},
}
_LEAVES = {"value": "<f8", "leaf_count": "<i8", "leaf_hessian": "<f8"}


class Forest:
    """Trees whose values are added up; leaf values have the learning rate in them."""

    def __init__(self, n_features: int, trees: Iterable[Tree] = ()) -> None:
        self.n_features = n_features
        self.trees = list(trees)
        self._words: tuple[int, predictor.Words] | None = None

    def add(self, tree: Tree, learning_rate: float = 1.0) -> Tree:
        """Keep a tree times the learning rate, and return it so: what is added to scores of pairs."""
        self.trees.append(tree._replace(value=tree.value * learning_rate))
        return self.trees[-1]

    def first(self, count: int) -> "Forest":
        """Return the forest of the first `count` trees."""
        return Forest(self.n_features, self.trees[:count])

    def predict(self, X: Any, ptr: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per document: the mean over the list's other documents j of s_ij - s_ji."""
        X, ptr = self._matrix(X), np.ascontiguousarray(ptr, dtype=np.int64)
        if self._words is None or self._words[0] != len(self.trees):
            self._words = len(self.trees), predictor.words(self.trees)
        model = self._words[1]
        scores = np.empty(X.shape[0])
        work = np.diff(ptr).astype(np.float64) ** 2 + 1.0
        threads.over(work, lambda a, b: predictor.item_scores(a, b, X, ptr, model, scores), n_jobs)
        return scores

    def add_pair_scores(
        self, scores: np.ndarray, X: Any, layout: Layout, begin: int = 0, n_jobs: int | None = None
    ) -> None:
        """Add the values of the trees from `begin` on to the scores of a layout's pairs."""
        X, model = self._matrix(X), predictor.words(self.trees[begin:])
        threads.over(
            layout.sizes.astype(np.float64) ** 2,
            lambda a, b: predictor.add_pair_scores(
                a, b, X, layout.ptr, layout.start, model, scores
            ),
            n_jobs,
        )

    def importances(self) -> np.ndarray:
        """Return what splits gained by (side, column): the first document's, the second's, the difference."""
        out = np.zeros((3, self.n_features))
        for tree in self.trees:
            np.add.at(out, (tree.side, tree.column), tree.gain)
        return out

    def _matrix(self, X: Any) -> np.ndarray:
        X = single(X)
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
    def load(cls, text: str) -> "Forest":
        """Return the forest of a text; its trees are checked, so that a damaged one can't be walked in circles."""
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT or content["format_version"] != _VERSION:
                raise checks.InputError(
                    f"the text is a model of format {content['format']!r}, version "
                    f"{content['format_version']!r}; expected {_FORMAT!r}, version {_VERSION}."
                )
            leaves = np.array(content["leaves"], np.int64)
            forest = cls(int(content["n_features"]), _trees(content["arrays"], leaves))
        except checks.InputError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise checks.InputError(f"the text is no pair-tree model: {error}.") from None
        for number, tree in enumerate(forest.trees):
            if not _sound(tree, forest.n_features):
                raise checks.InputError(f"the pair-tree model is damaged: tree {number}.")
        return forest


def _trees(arrays: dict[str, dict[str, str]], leaves: np.ndarray) -> list[Tree]:
    parts = {}
    for name, kind in (_NODES | _LEAVES).items():
        flat = np.frombuffer(base64.b64decode(arrays[name]["base64"], validate=True), kind)
        sizes = leaves if name in _LEAVES else leaves - 1
        if flat.size != sizes.sum() or (sizes < 0).any():
            raise ValueError(f"{name} has {flat.size} values instead of {sizes.sum()}")
        native = flat.astype(flat.dtype.newbyteorder("="))
        parts[name] = np.split(native, np.cumsum(sizes)[:-1]) if leaves.size else []
    return [Tree(**{name: parts[name][k] for name in parts}) for k in range(leaves.size)]


def _sound(tree: Tree, n_features: int) -> bool:
    """Tell whether each node but the first has one parent, before it, and splits look at columns there are."""
    nodes, children = tree.side.size, np.concatenate([tree.left, tree.right])
    expected = [*range(-nodes - 1, 0), *range(1, nodes)] if nodes else []
    if sorted(children.tolist()) != expected:
        return False
    later = (children < 0) | (children > np.tile(np.arange(nodes), 2))
    known = (tree.side <= 2) & (tree.column >= 0) & (tree.column < n_features)
    return bool(later.all() and known.all())
