"""The trees in the text of a LightGBM model, as arrays; LightGBM itself isn't needed."""

import re
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks

# LightGBM reads numbers as near to 0 as this as 0 before any tree sees them.
NEARLY_ZERO = float(np.float32(1e-35))
_BEFORE_ZERO = float(np.nextafter(-NEARLY_ZERO, -np.inf))
_CATEGORICAL, _DEFAULT_LEFT = (
    1,
    2,
)  # bits of decision_type; the next two are the kind of missing values
_ZERO, _NAN = 1, 2
_WORD = 32  # categories are bits of words

Fields = dict[str, str]


class _Splits(NamedTuple):
    """What `decision_type` and `threshold` say of each node."""

    categorical: np.ndarray
    missing_left: np.ndarray
    threshold: np.ndarray


class TextTrees(NamedTuple):
    """Arrays of trees, by the names of a forest's, and the number of features."""

    arrays: dict[str, np.ndarray]
    n_features: int


def trees_of_text(text: str) -> TextTrees:
    """Return the trees of a model's text."""
    head, _, rest = text.partition("\nTree=")
    width = re.search(r"^max_feature_idx=(\d+)$", head, re.MULTILINE)
    if width is None:
        raise checks.InputError("there is no model of LightGBM in the text.")
    if re.search(r"^average_output$", head, re.MULTILINE):
        raise checks.InputError(
            "boosting='rf' takes the mean of its trees and not their sum, which a forest can't hold."
        )
    body = rest.partition("\nend of trees")[0]
    blocks = body.split("\nTree=") if rest else []
    trees = [_fields(block) for block in blocks]
    if any(tree.get("is_linear", "0") == "1" for tree in trees):
        raise checks.InputError(
            "linear_tree=True puts linear functions into leaves, which a forest can't hold."
        )
    leaves = np.array([int(tree["num_leaves"]) for tree in trees], np.int64)
    first_leaf, first_node = _starts(leaves), _starts(leaves - 1)
    leaf_of_tree = np.repeat(first_leaf[:-1], leaves - 1)
    node_of_tree = np.repeat(first_node[:-1], leaves - 1)
    kinds = _numbers(trees, "decision_type", np.int64)
    splits = _splits(kinds, _numbers(trees, "threshold", np.float64))
    category_first, category = _categories(trees, leaves - 1, splits)
    left, right = (
        _children(_numbers(trees, name, np.int64), node_of_tree, leaf_of_tree)
        for name in ("left_child", "right_child")
    )
    arrays = {
        "feature": _numbers(trees, "split_feature", np.int64),
        "threshold": np.where(splits.categorical, 0.0, splits.threshold),
        "missing_left": splits.missing_left,
        "left": left,
        "right": right,
        "leaf_value": _numbers(trees, "leaf_value", np.float64),
        "first_node": first_node,
        "first_leaf": first_leaf,
        "cover": _counts(trees, "internal_count", leaves - 1),
        "leaf_cover": _counts(trees, "leaf_count", leaves),
        "gain": _counts(trees, "split_gain", leaves - 1),
        "category_first": category_first,
        "category": category,
        "categorical": splits.categorical,
    }
    return TextTrees(arrays, int(width[1]) + 1)


def _fields(block: str) -> Fields:
    """Return the lines of a tree by name."""
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _numbers(trees: list[Fields], name: str, kind: Any) -> np.ndarray:
    """Return a line of all trees; trees of one leaf have empty lines for nodes."""
    return np.fromstring(" ".join(tree[name] for tree in trees if tree.get(name)), kind, sep=" ")


def _counts(trees: list[Fields], name: str, sizes: np.ndarray) -> np.ndarray:
    """Return numbers that no prediction reads: trees without them have zeros, and so have infinite gains."""
    out = []
    for tree, size in zip(trees, sizes.tolist(), strict=True):
        line = np.fromstring(tree.get(name, ""), np.float64, sep=" ")
        out.append(line if line.size == size else np.zeros(size))
    numbers = np.concatenate([np.zeros(0), *out])
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _children(child: np.ndarray, first_node: np.ndarray, first_leaf: np.ndarray) -> np.ndarray:
    """Return children with numbers that count through all trees, given the first numbers of each node's tree."""
    return np.where(child >= 0, child + first_node, ~(~child + first_leaf))


def _splits(kinds: np.ndarray, threshold: np.ndarray) -> _Splits:
    """Return splits whose thresholds hold for numbers as they are, and not only for numbers that are nearly 0."""
    categorical = (kinds & _CATEGORICAL) > 0
    missing = kinds >> 2 & 3
    if ((missing == _ZERO) & ~categorical).any():
        raise checks.InputError(
            "zero_as_missing=True sends 0 where missing values go, which a forest can't hold."
        )
    zero_left = threshold >= 0.0
    threshold = np.where(zero_left & (threshold <= NEARLY_ZERO), NEARLY_ZERO, threshold)
    threshold = np.where(~zero_left & (threshold >= -NEARLY_ZERO), _BEFORE_ZERO, threshold)
    # Without missing values in training, NaN is 0. No category of a split is NaN.
    default = np.where(missing == _NAN, (kinds & _DEFAULT_LEFT) > 0, zero_left)
    return _Splits(categorical, default & ~categorical, threshold)


def _categories(
    trees: list[Fields], nodes: np.ndarray, splits: _Splits
) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node's categories begin, and the categories."""
    counts = np.zeros(splits.categorical.size, np.int64)
    categories: list[np.ndarray] = []
    tree_of = np.repeat(np.arange(nodes.size), nodes)
    last, bounds, words = -1, np.zeros(0, np.int64), np.zeros(0, np.uint32)
    for node in np.flatnonzero(splits.categorical):
        if tree_of[node] != last:
            last = tree_of[node]
            bounds = np.array(trees[last]["cat_boundaries"].split(), np.int64)
            words = np.array(trees[last]["cat_threshold"].split(), np.uint32)
        chosen = int(splits.threshold[node])
        bits = words[bounds[chosen] : bounds[chosen + 1]]
        members = np.flatnonzero(bits[:, None] >> np.arange(_WORD, dtype=np.uint32) & np.uint32(1))
        counts[node] = members.size
        categories.append(members)
    return _starts(counts), np.concatenate([np.zeros(0, np.int64), *categories])
