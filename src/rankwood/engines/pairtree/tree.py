"""A tree's parameters, and the tree."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.engines.pairtree.fixed_point import RealSums


@dataclass(frozen=True)
class Params:
    """Limits and regularisation of a tree, whose data are pairs.

    Parameters
    ----------
    num_leaves, max_depth : int
        The largest number of leaves, and the largest depth; a depth of 0 or less means no limit.
    min_data_in_leaf, min_sum_hessian : int, float
        The smallest number of pairs in a leaf, and the smallest sum of their Hessians.
    lambda_l1, lambda_l2 : float
        Regularisation of leaf values.
    min_gain : float
        A split must gain more than this.
    feature_fraction : float
        The fraction of features that a tree may split on, above 0 and at most 1.
    seed : int
        Seed of the draw of features.
    """

    num_leaves: int = 31
    max_depth: int = -1
    min_data_in_leaf: int = 20
    min_sum_hessian: float = 1e-3
    lambda_l1: float = 0.0
    lambda_l2: float = 0.0
    min_gain: float = 0.0
    feature_fraction: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        checks.at_least(self.num_leaves, 2, "num_leaves")
        checks.at_least(self.max_depth, -(2**31), "max_depth")
        checks.at_least(self.min_data_in_leaf, 1, "min_data_in_leaf")
        for name in ("min_sum_hessian", "lambda_l1", "lambda_l2", "min_gain"):
            if checks.finite(getattr(self, name), name) < 0:
                raise checks.InputError(f"{name} must be at least 0, got {getattr(self, name)}.")
        if not 0 < checks.finite(self.feature_fraction, "feature_fraction") <= 1:
            raise checks.InputError(
                f"feature_fraction must be above 0 and at most 1, got {self.feature_fraction}."
            )

    def max_leaves(self, n_pairs: int) -> int:
        """Return how many leaves a tree on `n_pairs` pairs can have."""
        by_depth = 2**self.max_depth if 0 < self.max_depth < 62 else self.num_leaves
        return max(2, min(self.num_leaves, by_depth, n_pairs // self.min_data_in_leaf))


class Tree(NamedTuple):
    """Inner nodes and leaves in arrays; child c >= 0 is inner node c, c < 0 is leaf -1 - c.

    A pair goes left if its value is at most the threshold. `side` says whose value it is (0: the first document's,
    1: the second document's, 2: the difference), and `column` which column of X.
    """

    side: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gain: np.ndarray
    node_count: np.ndarray
    value: np.ndarray
    leaf_count: np.ndarray
    leaf_hessian: np.ndarray


def leaf_value(leaf: RealSums, params: Params) -> float:
    """Return -sign(G) max(|G| - l1, 0) / (H + l2), or 0 if the divisor is 0."""
    size = max(abs(leaf.g) - params.lambda_l1, 0.0)
    divisor = leaf.h + params.lambda_l2
    return -math.copysign(size, leaf.g) / divisor if divisor > 0 and size > 0 else 0.0
