"""XGBoost's JSON as a forest."""

import json
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.forest.record import Forest


class _Nodes(NamedTuple):
    """Inner nodes and leaves of all trees, as XGBoost has them: one list, tree by tree."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    condition: np.ndarray
    default_left: np.ndarray
    categorical: np.ndarray
    gain: np.ndarray
    cover: np.ndarray
    start: np.ndarray  # of each node: the first node of its tree
    tree: np.ndarray


def to_forest(text: str, names: tuple[str, ...] | None) -> Forest:
    """Return the trees of a model's text."""
    learner = json.loads(text)["learner"]
    booster = learner["gradient_booster"]
    weights = np.array(booster.get("weight_drop", ()), np.float32)
    trees = booster.get("gbtree", booster)["model"]["trees"]
    params = learner["learner_model_param"]
    base = float(np.float32(params["base_score"].strip("[]")))
    nodes = _joined(trees)
    if not _is_ordered(nodes, trees):
        trees = [_in_order(tree) for tree in trees]
        nodes = _joined(trees)
    inner = nodes.left >= 0
    leaf = ~inner
    number = np.where(inner, np.cumsum(inner) - 1, ~(np.cumsum(leaf) - 1))
    left, right = (number[nodes.start[inner] + child[inner]] for child in (nodes.left, nodes.right))
    value = nodes.condition[leaf].astype(np.float32)
    if weights.size:
        value = value * weights[nodes.tree[leaf]]
    categorical = nodes.categorical[inner]
    category_first, category = _categories(trees, categorical)
    # XGBoost's categories go right, and ours left.
    swapped = np.where(categorical, right, left), np.where(categorical, left, right)
    threshold = np.nextafter(nodes.condition[inner].astype(np.float32), np.float32(-np.inf))
    return Forest(
        engine="xgboost",
        feature=nodes.feature[inner],
        threshold=np.where(categorical, 0.0, threshold.astype(np.float64)),
        missing_left=nodes.default_left[inner] != categorical,
        left=swapped[0],
        right=swapped[1],
        leaf_value=value.astype(np.float64),
        first_node=_starts(nodes.tree[inner], len(trees)),
        first_leaf=_starts(nodes.tree[leaf], len(trees)),
        cover=nodes.cover[inner],
        leaf_cover=nodes.cover[leaf],
        gain=nodes.gain[inner],
        category_first=category_first,
        category=category,
        categorical=categorical,
        base=base,
        float32_input=True,
        float32_sum=True,
        n_features=int(params["num_feature"]),
        feature_names=names,
    )


def _starts(tree: np.ndarray, trees: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(tree, minlength=trees))]).astype(np.int64)


def _joined(trees: list[dict[str, Any]]) -> _Nodes:
    """Return the nodes of all trees."""

    def whole(name: str) -> np.ndarray:
        return np.array(list(chain.from_iterable(tree[name] for tree in trees)), np.int64)

    def real(name: str) -> np.ndarray:
        return np.array(list(chain.from_iterable(tree[name] for tree in trees)), np.float64)

    sizes = np.array([len(tree["left_children"]) for tree in trees], np.int64)
    gain, cover = real("loss_changes"), real("sum_hessian")
    return _Nodes(
        whole("left_children"),
        whole("right_children"),
        whole("split_indices"),
        real("split_conditions"),
        whole("default_left") == 1,
        whole("split_type") == 1,
        np.where(np.isfinite(gain), gain, 0.0),
        np.where(np.isfinite(cover), cover, 0.0),
        np.repeat(np.cumsum(sizes) - sizes, sizes),
        np.repeat(np.arange(sizes.size), sizes),
    )


def _is_ordered(nodes: _Nodes, trees: list[dict[str, Any]]) -> bool:
    """Tell whether no node was deleted, and all children come after their parents."""
    number = np.arange(nodes.left.size) - nodes.start
    inner = nodes.left >= 0
    later = (nodes.left > number) & (nodes.right > number)
    return bool(later[inner].all()) and all(
        tree["tree_param"]["num_deleted"] == "0" for tree in trees
    )


def _in_order(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a tree without deleted nodes, whose children come after their parents."""
    left, right = tree["left_children"], tree["right_children"]
    reached, at = [0], 0
    while at < len(reached):
        if left[reached[at]] >= 0:
            reached += [left[reached[at]], right[reached[at]]]
        at += 1
    if len(reached) > len(left):
        raise checks.InputError("the text of the XGBoost model is damaged: a tree has a cycle.")
    parents = [i for i in reached if left[i] >= 0]
    later = all(left[i] > i and right[i] > i for i in parents)
    order = sorted(reached) if later else reached
    if order == list(range(len(left))):
        return tree
    place = {old: new for new, old in enumerate(order)}
    out = dict(tree)
    for name in ("split_indices", "split_conditions", "default_left", "split_type"):
        out[name] = [tree[name][old] for old in order]
    for name in ("loss_changes", "sum_hessian"):
        out[name] = [tree[name][old] for old in order]
    for name in ("left_children", "right_children"):
        out[name] = [place.get(tree[name][old], -1) for old in order]
    sets = {node: i for i, node in enumerate(tree["categories_nodes"])}
    chosen = [(place[old], i) for old, i in sets.items() if old in place]
    out["categories_nodes"] = [node for node, _ in sorted(chosen)]
    out["_sets"] = [i for _, i in sorted(chosen)]
    return out


def _categories(
    trees: list[dict[str, Any]], categorical: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node's categories begin, and the categories."""
    sets = []
    for tree in trees:
        for i in tree.get("_sets", range(len(tree["categories_nodes"]))):
            begin, size = tree["categories_segments"][i], tree["categories_sizes"][i]
            sets.append(np.unique(np.array(tree["categories"][begin : begin + size], np.int64)))
    counts = np.zeros(categorical.size, np.int64)
    counts[categorical] = [members.size for members in sets]
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return first, np.concatenate([np.zeros(0, np.int64), *sets])
