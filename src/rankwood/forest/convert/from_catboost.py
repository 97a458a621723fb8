"""CatBoost's symmetric trees as a forest: a tree of depth d becomes one of 2^d - 1 nodes."""

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.forest.record import Forest


class _Columns(NamedTuple):
    """Columns of X, and where their missing values go, by CatBoost's number of a numerical feature."""

    column: np.ndarray
    missing_left: np.ndarray


def to_forest(model: Any, names: tuple[str, ...] | None) -> Forest:
    """Return the trees of a model."""
    booster, trees, categorical = model.loaded()
    if categorical:
        raise checks.InputError(
            "CatBoost turns categorical features into numbers by tables of its own, which a forest can't hold."
        )
    content = _json(booster)
    if "oblivious_trees" not in content:
        raise checks.InputError(
            "a forest holds CatBoost's symmetric trees only, not those of grow_policy='Depthwise' or 'Lossguide'."
        )
    symmetric = content["oblivious_trees"][:trees]
    scale, bias = content["scale_and_bias"]
    columns = _columns(content["features_info"].get("float_features", []))
    levels = [tree["splits"] or [] for tree in symmetric]
    if any(split["split_type"] != "FloatFeature" for tree in levels for split in tree):
        raise checks.InputError("a forest holds splits of CatBoost on numbers only.")
    depth = np.array([len(tree) for tree in levels], np.int64)
    leaves = 2**depth
    first_leaf = np.concatenate([[0], np.cumsum(leaves)])
    first_node = np.concatenate([[0], np.cumsum(leaves - 1)])
    shape = [_shape(d, n, m) for d, n, m in zip(depth, first_node, first_leaf, strict=False)]
    level = np.concatenate([np.zeros(0, np.int64), *(tree.level for tree in shape)])
    first_split = np.repeat(np.cumsum(depth) - depth, leaves - 1)
    split = [split for tree in levels for split in tree]
    chosen = first_split + level  # of each node, its place in `split`
    feature = np.array([s["float_feature_index"] for s in split], np.int64)[chosen]
    border = np.array([s["border"] for s in split], np.float32)[chosen]
    weights = [np.array(tree["leaf_weights"], np.float64) for tree in symmetric]
    return Forest(
        engine="catboost",
        feature=columns.column[feature],
        threshold=border.astype(np.float64),
        missing_left=columns.missing_left[feature],
        left=np.concatenate([np.zeros(0, np.int64), *(tree.left for tree in shape)]),
        right=np.concatenate([np.zeros(0, np.int64), *(tree.right for tree in shape)]),
        leaf_value=np.concatenate([np.zeros(0), *(tree["leaf_values"] for tree in symmetric)])
        * scale,
        first_node=first_node,
        first_leaf=first_leaf,
        cover=np.concatenate([np.zeros(0), *map(_covers, weights)]),
        leaf_cover=np.concatenate([np.zeros(0), *weights]),
        gain=np.zeros(chosen.size),
        category_first=np.zeros(chosen.size + 1, np.int64),
        category=np.zeros(0, np.int64),
        categorical=np.zeros(chosen.size, np.bool_),
        base=float(np.ravel(bias)[0]) if np.size(bias) else 0.0,
        float32_input=True,
        float32_sum=False,
        n_features=len(booster.feature_names_),
        feature_names=names,
    )


def _json(booster: Any) -> dict[str, Any]:
    """Return a model as CatBoost writes it for people; it writes to files only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        booster.save_model(str(path), format="json")
        content: dict[str, Any] = json.loads(path.read_text())
    return content


def _columns(features: list[dict[str, Any]]) -> _Columns:
    """Return what CatBoost knows of numerical features."""
    by_number = {feature["feature_index"]: feature for feature in features}
    count = max(by_number, default=-1) + 1
    column, left = np.zeros(count, np.int64), np.ones(count, np.bool_)
    for number, feature in by_number.items():
        column[number] = feature["flat_feature_index"]
        left[number] = feature["nan_value_treatment"] != "AsTrue"
    return _Columns(column, left)


class _Shape(NamedTuple):
    """Nodes of a symmetric tree, level by level: the level of each, and its children."""

    level: np.ndarray
    left: np.ndarray
    right: np.ndarray


def _shape(depth: int, first_node: int, first_leaf: int) -> _Shape:
    """Return the nodes of a tree; bit i of a leaf's number is the answer of level i."""
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    bits = np.arange(level.size) - (2**level - 1)  # the answers above a node
    children = []
    for answer in (0, 1):
        below = bits | answer << level
        node = first_node + 2 ** (level + 1) - 1 + below
        children.append(np.where(level + 1 < depth, node, ~(first_leaf + below)))
    return _Shape(level, children[0], children[1])


def _covers(weights: np.ndarray) -> np.ndarray:
    """Return the weight that reached each node, level by level, from the weights of leaves."""
    depth = weights.size.bit_length() - 1
    # Leaves whose lowest bits are equal are below the same node of a level.
    return np.concatenate([np.zeros(0), *(weights.reshape(-1, 2**d).sum(0) for d in range(depth))])
