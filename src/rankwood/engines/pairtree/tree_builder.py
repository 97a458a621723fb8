"""The record of a tree while it grows."""

import numpy as np

from rankwood.engines.pairtree.fixed_point import RealSums
from rankwood.engines.pairtree.histogram_layout import SplitRule
from rankwood.engines.pairtree.tree import Params, Tree, leaf_value


class TreeBuilder:
    """Records splits, one after the other; of a leaf's two children the left one keeps its number."""

    def __init__(self) -> None:
        self._rules: list[SplitRule] = []
        self._gains: list[float] = []
        self._counts: list[int] = []
        self._children: list[list[int]] = []
        self._siblings: dict[int, list[int]] = {}  # the children that each leaf is one of

    def split(self, leaf: int, rule: SplitRule, gain: float, n_pairs: int) -> None:
        """Replace a leaf by an inner node with two leaves."""
        node, new_leaf = len(self._rules), len(self._rules) + 1
        if node:
            siblings = self._siblings[leaf]
            siblings[siblings.index(-1 - leaf)] = node
        children = [-1 - leaf, -1 - new_leaf]
        self._siblings[leaf] = self._siblings[new_leaf] = children
        self._children.append(children)
        self._rules.append(rule)
        self._gains.append(gain)
        self._counts.append(n_pairs)

    def build(self, leaves: list[RealSums], params: Params) -> Tree:
        """Return the tree, given the sums of its leaves."""
        children = np.array(self._children, np.int32).reshape(-1, 2)
        return Tree(
            side=np.array([rule.side for rule in self._rules], np.uint8),
            column=np.array([rule.column for rule in self._rules], np.int32),
            threshold=np.array([rule.threshold for rule in self._rules], np.float32),
            missing_left=np.array([rule.missing_left for rule in self._rules], np.uint8),
            left=children[:, 0].copy(),
            right=children[:, 1].copy(),
            gain=np.array(self._gains),
            node_count=np.array(self._counts, np.int64),
            value=np.array([leaf_value(leaf, params) for leaf in leaves]),
            leaf_count=np.array([leaf.n_pairs for leaf in leaves], np.int64),
            leaf_hessian=np.array([leaf.h for leaf in leaves]),
        )
