"""Checks of a model's text before XGBoost sees it: its reader trusts the shape of trees and the indices in them.

The text is JSON as XGBoost writes it, without escapes, so that there is only one way to read it.
"""

import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.engines._parameters import MOST_FEATURES

_NONE = 2_147_483_647  # the parent of a root, and the feature of a node that was deleted
_MOST_CATEGORY = 2**24
_LARGEST_SCORE, _LARGEST_WEIGHT = 1e30, 1e3  # of a leaf and of a tree: sums stay finite
_NUMBER = re.compile(r"\[?-?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?\]?")
_LEARNER = {
    *("attributes", "feature_names", "feature_types", "gradient_booster"),
    *("learner_model_param", "objective"),
}
_OBJECTIVE = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
_MODEL = {"gbtree_model_param", "iteration_indptr", "tree_info", "trees"}
_NO_CATEGORIES: dict[str, list[Any]] = {"enc": [], "feature_segments": [], "sorted_idx": []}
#: Arrays with a number for each node of a tree: whole numbers, and real ones.
_WHOLE = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_type",
    "default_left",
)
_REAL = ("split_conditions", "base_weights", "loss_changes", "sum_hessian")
#: Sets of categories: the categories of all sets, and by set the node, where its categories begin, and their number.
_SETS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
_TREE = {"id", "tree_param", *_WHOLE, *_REAL, *_SETS}


def check(text: str) -> int:
    """Return the number of features of a model, or raise unless its text can be given to XGBoost."""
    if "\\" in text or not text.isascii():
        raise _broken("it has characters that XGBoost doesn't write")
    try:
        content = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        if isinstance(error, checks.InputError):
            raise
        raise _broken("it isn't JSON") from None
    _keys(content, {"learner", "version"}, "the text")
    version = _whole(content["version"], "version", 0, 10_000)
    if version.size != 3 or version[0] < 3:
        raise _broken("version must be at least 3.0")
    learner = content["learner"]
    _keys(learner, _LEARNER, "learner")
    width = _check_learner(learner)
    model = _booster(learner["gradient_booster"])
    _check_model(model, width)
    return width


def _broken(why: str) -> checks.InputError:
    return checks.InputError(f"the text of the XGBoost model is damaged: {why}.")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a name that is there twice would be read as the first or the second."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _broken("an object has a name twice")
    return found


def _keys(content: Any, wanted: set[str], where: str, too: Iterable[str] = ()) -> None:
    """Raise unless an object has the wanted names, and no others than those of `too`."""
    if not isinstance(content, dict) or not wanted <= set(content) <= {*wanted, *too}:
        raise _broken(f"{where} must have {', '.join(sorted(wanted))} and no more")


def _number(content: Any, name: str, low: int, high: int) -> int:
    """Return a whole number, which XGBoost writes as a string here."""
    value = content[name]
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,9}", value):
        raise _broken(f"{name} must be a number")
    if not low <= int(value) <= high:
        raise _broken(f"{name} must be from {low} to {high}")
    return int(value)


def _whole(values: Any, name: str, low: int, high: int) -> np.ndarray:
    """Return a list of whole numbers from `low` to `high`."""
    found = _array(values, name)
    if found.size and found.dtype.kind != "i":
        raise _broken(f"{name} must be whole numbers")
    if found.size and not (low <= found.min() and found.max() <= high):
        raise _broken(f"{name} must be from {low} to {high}")
    return found.astype(np.int64)


def _array(values: Any, name: str) -> np.ndarray:
    """Return a list of numbers as an array."""
    try:
        found = np.array(values)
    except (ValueError, OverflowError):
        found = np.array(None)
    if not isinstance(values, list) or found.ndim != 1 or found.dtype.kind not in "if":
        raise _broken(f"{name} must be a list of numbers")
    return found


def _check_learner(learner: dict[str, Any]) -> int:
    """Return the number of features; raise unless the model is one of scores, as ours are."""
    params = learner["learner_model_param"]
    names = {"base_score", "boost_from_average", "num_class", "num_feature", "num_target"}
    _keys(params, names, "learner_model_param")
    width = _number(params, "num_feature", 0, MOST_FEATURES)
    _number(params, "num_class", 0, 0)
    _number(params, "num_target", 1, 1)
    _number(params, "boost_from_average", 0, 1)
    base = params["base_score"]
    if not isinstance(base, str) or not _NUMBER.fullmatch(base):
        raise _broken("base_score must be a number")
    if abs(float(base.strip("[]"))) > _LARGEST_SCORE:
        raise _broken(f"base_score must be at most {_LARGEST_SCORE:g}")
    if learner["objective"] != _OBJECTIVE or learner["attributes"] != {}:
        raise _broken("its objective or its attributes aren't those of a ranker")
    for name in ("feature_names", "feature_types"):
        words = learner[name]
        if not isinstance(words, list) or len(words) not in (0, width):
            raise _broken(f"{name} must be a list of {width} words")
        if not all(isinstance(word, str) for word in words):
            raise _broken(f"{name} must be words")
    if not set(learner["feature_types"]) <= {"q", "c", "i", "int", "float"}:
        raise _broken("feature_types must be those that XGBoost has")
    return width


def _booster(booster: Any) -> Any:
    """Return the trees of a booster, which may be of the kind that drops trees."""
    if isinstance(booster, dict) and booster.get("name") == "dart":
        _keys(booster, {"gbtree", "name", "weight_drop"}, "gradient_booster")
        weights, inside = booster["weight_drop"], booster["gbtree"]
        _keys(inside, {"model", "name"}, "gbtree")
        trees = inside["model"].get("trees") if isinstance(inside["model"], dict) else None
        found = _array(weights, "weight_drop") if weights != [] else np.zeros(0)
        if not isinstance(trees, list) or found.size != len(trees):
            raise _broken("weight_drop must have a number for each tree")
        if not (np.abs(found) <= _LARGEST_WEIGHT).all():
            raise _broken(f"weight_drop must be at most {_LARGEST_WEIGHT:g}")
        booster = inside
    _keys(booster, {"model", "name"}, "gradient_booster")
    if booster["name"] != "gbtree":
        raise _broken("its booster must be gbtree or dart")
    return booster["model"]


def _check_model(model: Any, width: int) -> None:
    """Raise unless a model's trees are trees, on features below `width`."""
    _keys(model, _MODEL, "model", ("cats",))
    if model.get("cats", _NO_CATEGORIES) != _NO_CATEGORIES:
        raise _broken("cats must be empty")
    trees, params = model["trees"], model["gbtree_model_param"]
    if not isinstance(trees, list):
        raise _broken("trees must be a list")
    _keys(params, {"num_parallel_tree", "num_trees"}, "gbtree_model_param")
    _number(params, "num_parallel_tree", 0, max(1, len(trees)))
    _number(params, "num_trees", len(trees), len(trees))
    ends = _whole(model["iteration_indptr"], "iteration_indptr", 0, len(trees))
    if not ends.size or ends[0] or ends[-1] != len(trees) or (np.diff(ends) < 0).any():
        raise _broken("iteration_indptr must rise from 0 to the number of trees")
    if trees:
        if _whole(model["tree_info"], "tree_info", 0, 0).size != len(trees):
            raise _broken("tree_info must have a 0 for each tree")
        _check_trees(trees, width)
    elif model["tree_info"] != []:
        raise _broken("tree_info must have a 0 for each tree")


def _check_trees(trees: list[Any], width: int) -> None:
    """Raise unless every node of a tree is reached from its root in one way."""
    sizes = []
    for number, tree in enumerate(trees):
        _keys(tree, _TREE, f"tree {number}")
        sizes.append(_size(tree, number, width))
        if tree["categories_nodes"] != [] or 1 in tree["split_type"]:
            _check_categories(tree)
        elif any(tree[name] != [] for name in _SETS):
            raise _broken(f"tree {number} has categories and no splits on them")
    joined = {name: list(chain.from_iterable(tree[name] for tree in trees)) for name in _WHOLE}
    nodes = np.array(sizes, np.int64)
    starts = np.repeat(np.cumsum(nodes) - nodes, nodes)
    size = np.repeat(nodes, nodes)
    whole = {name: _whole(joined[name], name, -1, _NONE) for name in _WHOLE}
    for name in ("split_type", "default_left"):
        if not np.isin(whole[name], (0, 1)).all():
            raise _broken(f"{name} must be 0 or 1")
    _check_shape(whole, starts, size, width)
    limit = np.where(whole["left_children"] >= 0, 3.5e38, _LARGEST_SCORE)
    for name in _REAL:
        values = _array(list(chain.from_iterable(tree[name] for tree in trees)), name)
        if name == "split_conditions" and not (np.abs(values) < limit).all():
            raise _broken(f"{name} must be finite, and at most {_LARGEST_SCORE:g} in leaves")


def _size(tree: dict[str, Any], number: int, width: int) -> int:
    """Return the number of nodes of a tree; all its arrays must have as many numbers."""
    params = tree["tree_param"]
    _keys(params, {"num_deleted", "num_feature", "num_nodes", "size_leaf_vector"}, "tree_param")
    size = _number(params, "num_nodes", 1, 2**27)
    _number(params, "num_feature", width, width)
    _number(params, "size_leaf_vector", 0, 1)
    if type(tree["id"]) is not int or tree["id"] != number:
        raise _broken(f"tree {number} must have its number as id")
    for name in (*_WHOLE, *_REAL):
        if not isinstance(tree[name], list) or len(tree[name]) != size:
            raise _broken(f"{name} of tree {number} must have {size} numbers")
    if tree["split_indices"].count(_NONE) != _number(params, "num_deleted", 0, size - 1):
        raise _broken(f"num_deleted of tree {number} must be the number of deleted nodes")
    return size


def _check_shape(
    whole: dict[str, np.ndarray], starts: np.ndarray, size: np.ndarray, width: int
) -> None:
    """Raise unless a root has no parent, all nodes that aren't deleted have one, and children know theirs."""
    left, right, parents = whole["left_children"], whole["right_children"], whole["parents"]
    feature = whole["split_indices"]
    at = np.arange(size.size)
    root, deleted, inner = at == starts, feature == _NONE, left >= 0
    if not ((feature < width) | deleted).all() or (feature < 0).any():
        raise _broken(f"split_indices must be from 0 to {width - 1}")
    if (inner != (right >= 0)).any() or (left >= size).any() or (right >= size).any():
        raise _broken("a child of a node is out of range")
    if ((parents >= size) & (parents != _NONE)).any() or (parents < 0).any():
        raise _broken("the parent of a node is out of range")
    children = np.concatenate([starts[inner] + left[inner], starts[inner] + right[inner]])
    seen = np.bincount(children, minlength=size.size)
    if (seen != ~(root | deleted)).any() or (deleted & (root | inner)).any():
        raise _broken("a node of a tree has no parent or two")
    above = np.tile(at[inner] - starts[inner], 2)
    if (parents[children] != above).any() or (parents[root] != _NONE).any():
        raise _broken("parents must agree with the children of nodes")


def _check_categories(tree: dict[str, Any]) -> None:
    """Raise unless each split on categories has a set of them."""
    if tree["categories"] == []:
        raise _broken("a split on categories has none")
    most = len(tree["categories"])
    categories = _whole(tree["categories"], "categories", 0, _MOST_CATEGORY)
    nodes = _whole(tree["categories_nodes"], "categories_nodes", 0, len(tree["split_type"]) - 1)
    begins = _whole(tree["categories_segments"], "categories_segments", 0, most)
    sizes = _whole(tree["categories_sizes"], "categories_sizes", 1, most)
    splits = np.flatnonzero(np.array(tree["split_type"]) == 1)
    if not np.array_equal(nodes, splits) or nodes.size != sizes.size or begins.size != sizes.size:
        raise _broken("categories_nodes must be the splits on categories")
    if not np.array_equal(begins, np.cumsum(sizes) - sizes) or sizes.sum() != categories.size:
        raise _broken("categories_segments and categories_sizes must divide the categories")
