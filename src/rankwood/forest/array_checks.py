"""Checks of a forest's arrays: kernels trust every index in them, and a child out of range reads foreign memory."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks

if TYPE_CHECKING:
    from rankwood.forest.record import Forest

ENGINES = ("rankwood", "lightgbm", "xgboost", "catboost")
_BY_NODE = (
    *("feature", "threshold", "missing_left", "left", "right", "cover", "gain", "categorical"),
)
_MOST_FEATURES = 10**7
_MOST_CATEGORY = 2**31 - 1
_LARGEST = 1e150  # value of a leaf: sums stay finite
_KINDS: dict[str, str] = {"i": "iu", "f": "iuf", "b": "b"}


def broken(why: str) -> checks.InputError:
    """Return the error for arrays that aren't those of a forest."""
    return checks.InputError(f"these arrays are no forest: {why}.")


def array_of(values: Any, kind: Any, name: str) -> np.ndarray:
    """Return values as an array of this type that can't be changed; raise if it can't hold them."""
    dtype = np.dtype(kind)
    try:
        raw = np.asarray(values)
    except (ValueError, OverflowError):
        raw = np.array(None)
    if raw.ndim != 1 or (raw.size and raw.dtype.kind not in _KINDS[dtype.kind]):
        raise broken(f"{name} must be a list of {_words(dtype)}")
    if raw.size and dtype.kind == "i" and not _fits(raw, dtype):
        raise broken(f"{name} has a number beyond {dtype}")
    array = np.array(raw, dtype)  # a copy: the caller's array stays writable
    array.setflags(write=False)
    return array


def _words(kind: np.dtype[Any]) -> str:
    return {"i": "whole numbers", "f": "numbers", "b": "truth values"}[kind.kind]


def _fits(numbers: np.ndarray, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return int(numbers.min()) >= limits.min and int(numbers.max()) <= limits.max


def check_arrays(forest: "Forest") -> None:
    """Raise unless arrays have the right lengths and numbers, and every tree is one."""
    _check_numbers(forest)
    nodes, leaves = forest.left.size, forest.leaf_value.size
    for name in _BY_NODE:
        if getattr(forest, name).size != nodes:
            raise broken(f"{name} must have {nodes} values, one for each node")
    if forest.leaf_cover.size != leaves:
        raise broken(f"leaf_cover must have {leaves} values, one for each leaf")
    _check_starts(forest.first_node, nodes, "first_node")
    _check_starts(forest.first_leaf, leaves, "first_leaf")
    if forest.first_node.size != forest.first_leaf.size:
        raise broken("first_node and first_leaf must have a value for each tree, and one more")
    if (np.diff(forest.first_leaf) != np.diff(forest.first_node) + 1).any():
        raise broken("a tree must have one leaf more than nodes")
    _check_values(forest)
    _check_shape(forest)
    _check_categories(forest)


def _check_numbers(forest: "Forest") -> None:
    """Raise unless the fields that are no arrays can be used."""
    if forest.engine not in ENGINES:
        raise broken(f"engine must be one of {', '.join(ENGINES)}")
    width = forest.n_features
    if isinstance(width, bool) or not isinstance(width, int) or not 0 <= width <= _MOST_FEATURES:
        raise broken(f"n_features must be a whole number from 0 to {_MOST_FEATURES}")
    if isinstance(forest.base, bool) or not isinstance(forest.base, (int, float)):
        raise broken("base must be a number")
    if not -_LARGEST <= forest.base <= _LARGEST:
        raise broken(f"base must be from {-_LARGEST:g} to {_LARGEST:g}")
    for name in ("float32_input", "float32_sum"):
        if not isinstance(getattr(forest, name), bool):
            raise broken(f"{name} must be true or false")
    names = forest.feature_names
    if names is not None and (
        len(names) != width or not all(isinstance(name, str) for name in names)
    ):
        raise broken(f"feature_names must be {width} names")


def _check_starts(starts: np.ndarray, total: int, name: str) -> None:
    """Raise unless starts rise from 0 to the number of all."""
    if not starts.size or starts[0] or starts[-1] != total or (np.diff(starts) < 0).any():
        raise broken(f"{name} must rise from 0 to {total}")


def _check_values(forest: "Forest") -> None:
    """Raise unless columns exist, and numbers are finite where they must be."""
    feature = forest.feature
    if feature.size and not (feature.min() >= 0 and feature.max() < forest.n_features):
        raise broken(f"feature must be from 0 to {forest.n_features - 1}")
    if np.isnan(forest.threshold).any():
        raise broken("threshold must not be NaN")
    if not (np.abs(forest.leaf_value) <= _LARGEST).all():
        raise broken(f"leaf_value must be from {-_LARGEST:g} to {_LARGEST:g}")
    for name in ("cover", "leaf_cover", "gain"):
        if not np.isfinite(getattr(forest, name)).all():
            raise broken(f"{name} must be finite")


def _check_shape(forest: "Forest") -> None:
    """Raise unless each node and leaf but a root is the child of one node of its tree, which precedes it.

    Then no path is endless, and every node is reached from the root of its tree.
    """
    sizes = np.diff(forest.first_node)
    tree = np.repeat(np.arange(sizes.size), sizes)
    number = np.arange(tree.size)
    last_node, first_leaf = forest.first_node[tree + 1], forest.first_leaf[tree]
    last_leaf = forest.first_leaf[tree + 1]
    for name in ("left", "right"):
        child = getattr(forest, name).astype(np.int64)
        node = (child > number) & (child < last_node)
        leaf = (~child >= first_leaf) & (~child < last_leaf)
        if not np.where(child >= 0, node, leaf).all():
            raise broken(f"{name} has a child that isn't a later node or a leaf of the same tree")
    children = np.concatenate([forest.left, forest.right])
    for numbers in (children[children >= 0], ~children[children < 0]):
        if numbers.size and np.bincount(numbers).max() > 1:
            raise broken("a node or a leaf has two parents")


def _check_categories(forest: "Forest") -> None:
    """Raise unless splits on categories have some, which rise within each, and others have none."""
    first, category = forest.category_first, forest.category
    if first.size != forest.left.size + 1:
        raise broken(f"category_first must have {forest.left.size + 1} values")
    _check_starts(first, category.size, "category_first")
    counts = np.diff(first)
    if ((counts > 0) != forest.categorical).any():
        raise broken("splits on categories, and no others, must have categories")
    if category.size and not (category.min() >= 0 and category.max() <= _MOST_CATEGORY):
        raise broken(f"category must be from 0 to {_MOST_CATEGORY}")
    begins = np.zeros(category.size, np.bool_)
    begins[first[:-1][counts > 0]] = True
    if (np.diff(category) <= 0)[~begins[1:]].any():
        raise broken("categories of a split must rise")
