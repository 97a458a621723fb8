"""What a tree must respect, and what it is once it has grown."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwood._core import checks


@dataclass(frozen=True)
class Params:
    """What a tree must respect; data are counted in pairs. A depth of 0 or less means no limit."""

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

    def most_leaves(self, pairs: int) -> int:
        """Return how many leaves a tree on so many pairs can have."""
        deep = 2**self.max_depth if 0 < self.max_depth < 62 else self.num_leaves
        return max(2, min(self.num_leaves, deep, pairs // self.min_data_in_leaf))


class Tree(NamedTuple):
    """Inner nodes and leaves in arrays; child c >= 0 is inner node c, c < 0 is leaf -1 - c.

    A pair goes left if its value is at most the threshold; `side` says whose value it is (0 the first document's,
    1 the second's, 2 the difference), and `column` which column of X.
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


def leaf_value(g: float, h: float, params: Params) -> float:
    """Return -sign(G) max(|G| - l1, 0) / (H + l2), 0 where nothing is to be divided by."""
    size = max(abs(g) - params.lambda_l1, 0.0)
    below = h + params.lambda_l2
    return -math.copysign(size, g) / below if below > 0 and size > 0 else 0.0
