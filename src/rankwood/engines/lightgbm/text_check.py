"""Checks of a model's text before LightGBM sees it.

LightGBM's reader and its prediction trust every number: a child out of range is a read of foreign memory, a cycle an
endless loop, and a text that is cut ends the process. So what isn't written as LightGBM writes it is refused.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.engines._parameters import MOST_FEATURES

_MOST_LEAVES = 131_072  # LightGBM's own limit
_LARGEST = 1e150  # value of a leaf: sums stay finite
_CONTROL = bytes([*range(10), *range(11, 32), 127])
_INTEGER, _REAL = b"-0123456789 ", b"+-.eE0123456789 "
_REAL_OR_INF = _REAL + b"inf"  # a split of missing values from all others has the threshold inf
# Numbers that no prediction reads are looked at, and not converted, which would take most of the time.
_WRITTEN = re.compile(rb"(?:-?(?:\d++(?:\.\d++)?(?:e[+-]\d++)?|inf|nan) )*+")
#: Lines of the header: those that must be there, and others that may be.
_HEADER = {
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx"),
    *("feature_names", "tree_sizes"),
}
_HEADER_TOO = {"monotone_constraints", "feature_infos"}
_TAIL = re.compile(
    rb"\n(?:feature_importances:\n(?:[^\n]*=\d+\n)*\n)?"
    rb"parameters:\n(?:\[\w+: [^\n]*\]\n)*\nend of parameters\n\npandas_categorical:(?:null|\[\])\n"
)


#: Arrays with a number for each inner node of a tree, and with one for each leaf.
_NODES = {
    **dict.fromkeys(("split_feature", "decision_type", "left_child", "right_child"), _INTEGER),
    "threshold": _REAL_OR_INF,
}
_LEAVES = {"leaf_value": _REAL}
#: The same, of lines that may be missing or, in a tree of one leaf, empty: no prediction reads them.
_UNREAD_NODES = ("split_gain", "internal_value", "internal_weight", "internal_count")
_UNREAD_LEAVES = ("leaf_weight", "leaf_count")
_CATEGORIES = {"cat_boundaries", "cat_threshold"}
_LINEAR = {"leaf_const", "num_features", "leaf_features", "leaf_coeff"}
_TREE = {
    *("num_leaves", "num_cat", "is_linear", "shrinkage", *_NODES, *_LEAVES),
    *(*_UNREAD_NODES, *_UNREAD_LEAVES, *_CATEGORIES, *_LINEAR),
}

Fields = dict[str, bytes]


def check(text: str) -> int:
    """Return the number of features of a model, or raise unless its text can be given to LightGBM."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise _broken("it has characters that can't be written") from None
    if len(data.translate(None, _CONTROL)) != len(data):
        raise _broken("it has control characters")
    head, _, rest = data.partition(b"\n\n")
    trees, end, tail = rest.partition(b"end of trees\n")
    if not end or _TAIL.fullmatch(tail) is None:
        raise _broken("it is cut, or its end isn't as LightGBM writes it")
    header = _header(head)
    width = _integer(header, "max_feature_idx", MOST_FEATURES) + 1
    _check_columns(header, width)
    _check_trees(_trees(header["tree_sizes"], trees), width)
    return width


def _broken(why: str) -> checks.InputError:
    return checks.InputError(f"the text of the LightGBM model is damaged: {why}.")


def _fields(lines: list[bytes], known: set[str], place: str) -> Fields:
    """Return lines `name=value` by name; raise if a name is unknown or there twice."""
    found: Fields = {}
    for line in lines:
        name, equals, value = line.partition(b"=")
        key = name.decode(errors="replace")
        if not equals or key not in known or key in found:
            raise _broken(f"{place} has a line that doesn't belong there, {key[:40]!r}")
        found[key] = value
    return found


def _integer(fields: Fields, name: str, most: int) -> int:
    """Return a line's number, from 0 to `most`."""
    value = fields.get(name, b"")
    if not re.fullmatch(rb"\d{1,9}", value) or int(value) > most:
        raise _broken(f"{name} must be a number from 0 to {most}")
    return int(value)


def _header(head: bytes) -> Fields:
    """Return the lines before the trees."""
    first, *lines = head.split(b"\n")
    if first != b"tree":
        raise _broken("it doesn't begin as LightGBM's models do")
    found = _fields(lines, _HEADER | _HEADER_TOO, "the header")
    missing = sorted(_HEADER - set(found))
    if missing:
        raise _broken(f"{missing[0]} is missing")
    for name, wanted in (("num_class", 1), ("num_tree_per_iteration", 1), ("label_index", 0)):
        if _integer(found, name, 1) != wanted:
            raise _broken(f"{name} must be {wanted}")
    return found


def _check_columns(header: Fields, width: int) -> None:
    """Raise unless lines with a word for each feature have as many."""
    for name in ("feature_names", *sorted(_HEADER_TOO & set(header))):
        if len(header[name].split(b" ")) != width or b"  " in b" " + header[name] + b" ":
            raise _broken(f"{name} must have a word for each of {width} features")
    if "monotone_constraints" in header:
        _numbers([header["monotone_constraints"]], _INTEGER, -1, 1, "monotone_constraints")


def _trees(sizes: bytes, text: bytes) -> list[Fields]:
    """Return the lines of each tree; trees must begin where the header says."""
    found, at = [], 0
    for number, size in enumerate(sizes.split()):
        if not re.fullmatch(rb"\d{1,12}", size):
            raise _broken("tree_sizes must be numbers")
        block = text[at : at + int(size)]
        at += int(size)
        start = b"Tree=%d\n" % number
        if not block.startswith(start) or not block.endswith(b"\n\n\n"):
            raise _broken(f"tree {number} doesn't begin and end where tree_sizes says")
        lines = block[len(start) : -3].split(b"\n")
        found.append(_fields(lines, _TREE, f"tree {number}"))
    if text[at:].strip(b"\n"):
        raise _broken("there are more trees than tree_sizes says")
    return found


class _Sizes(NamedTuple):
    """Numbers of leaves and of inner nodes of all trees, and where each tree's begin in arrays of all trees."""

    leaves: np.ndarray
    nodes: np.ndarray

    def tree_of_node(self) -> np.ndarray:
        """Return the tree of each inner node."""
        return np.repeat(np.arange(self.nodes.size), self.nodes)


def _check_trees(trees: list[Fields], width: int) -> None:
    """Raise unless every tree is one, on features below `width`."""
    leaves = [_integer(tree, "num_leaves", _MOST_LEAVES) for tree in trees]
    if 0 in leaves:
        raise _broken("num_leaves must be at least 1")
    sizes = _Sizes(np.array(leaves, np.int64), np.array(leaves, np.int64) - 1)
    arrays = {
        **{name: _array(trees, name, kind, sizes.nodes) for name, kind in _NODES.items()},
        **{name: _array(trees, name, kind, sizes.leaves) for name, kind in _LEAVES.items()},
    }
    for name in _UNREAD_NODES:
        _check_written(trees, name, sizes.nodes)
    for name in _UNREAD_LEAVES:
        _check_written(trees, name, sizes.leaves)
    _check_range(arrays["split_feature"], 0, width - 1, "split_feature")
    _check_range(arrays["decision_type"], 0, 11, "decision_type")
    _check_range(arrays["leaf_value"], -_LARGEST, _LARGEST, "leaf_value")
    _check_shape(arrays["left_child"], arrays["right_child"], sizes)
    factors = [tree.get("shrinkage", b"1") for tree in trees]
    if _numbers(factors, _REAL, -_LARGEST, _LARGEST, "shrinkage").size != len(trees):
        raise _broken("shrinkage must be one number")
    _check_categories(trees, arrays, sizes)
    for number, tree in enumerate(trees):
        if _integer({"is_linear": b"0", **tree}, "is_linear", 1):
            _check_linear(tree, leaves[number], width)


def _lines(
    trees: list[Fields], name: str, sizes: np.ndarray, may_be_empty: bool = False
) -> list[bytes]:
    """Return a line of each tree; it must have as many numbers as `sizes` says."""
    lines = []
    for number, (tree, size) in enumerate(zip(trees, sizes.tolist(), strict=True)):
        line = tree.get(name, b"")
        count = line.count(b" ") + 1 if line else 0
        if count != size and not (may_be_empty and (name not in tree or size < 2)):
            raise _broken(f"{name} of tree {number} must have {size} numbers, it has {count}")
        if line:
            lines.append(line)
    return lines


def _array(trees: list[Fields], name: str, characters: bytes, sizes: np.ndarray) -> np.ndarray:
    """Return the numbers of a line of all trees; each tree must have as many as `sizes` says."""
    return _parse(_lines(trees, name, sizes), characters, name)


def _check_written(trees: list[Fields], name: str, sizes: np.ndarray) -> None:
    """Raise unless a line of all trees has numbers as LightGBM writes them."""
    lines = _lines(trees, name, sizes, may_be_empty=True)
    if lines and not _WRITTEN.fullmatch(b" ".join([*lines, b""])):
        raise _broken(f"{name} must be numbers")


def _parse(lines: Sequence[bytes], characters: bytes, name: str) -> np.ndarray:
    """Return the numbers of lines, separated by single spaces, as int64 or float64."""
    joined = b" ".join(lines)
    try:
        if joined.translate(None, characters):
            raise ValueError
        words = joined.decode("ascii").split(" ") if joined else []
        if characters is _INTEGER:
            return np.array(list(map(int, words)), np.int64)
        return np.array(words or [], np.float64)
    except (ValueError, OverflowError):
        raise _broken(f"{name} must be numbers") from None


def _check_range(values: np.ndarray, low: float, high: float, name: str) -> None:
    """Raise unless all values are from `low` to `high`."""
    if values.size and not (low <= values.min() and values.max() <= high):
        raise _broken(f"{name} must be from {low:g} to {high:g}")


def _numbers(
    lines: Sequence[bytes], characters: bytes, low: float, high: float, name: str
) -> np.ndarray:
    """Return the numbers of lines, which must be from `low` to `high`."""
    found = _parse(lines, characters, name)
    _check_range(found, low, high, name)
    return found


def _check_shape(left: np.ndarray, right: np.ndarray, sizes: _Sizes) -> None:
    """Raise unless each node and leaf of a tree but its root is the child of one node, which precedes it."""
    tree = sizes.tree_of_node()
    starts = np.cumsum(sizes.nodes) - sizes.nodes
    own = np.arange(tree.size) - starts[tree]
    nodes, leaves = sizes.nodes[tree], sizes.leaves[tree]
    seen_nodes, seen_leaves = [], []
    for child in (left, right):
        inner = child >= 0
        if not np.where(inner, (child > own) & (child < nodes), child >= -leaves).all():
            raise _broken("a child of a node is out of range")
        seen_nodes.append(starts[tree[inner]] + child[inner])
        first = np.cumsum(sizes.leaves) - sizes.leaves
        seen_leaves.append(first[tree[~inner]] - 1 - child[~inner])
    for seen in (np.concatenate(seen_nodes), np.concatenate(seen_leaves)):
        if seen.size and np.bincount(seen).max() > 1:
            raise _broken("a node of a tree has two parents")


def _check_categories(trees: list[Fields], arrays: dict[str, np.ndarray], sizes: _Sizes) -> None:
    """Raise unless splits on categories refer to sets of categories that are there."""
    sets = np.array([_integer(tree, "num_cat", _MOST_LEAVES) for tree in trees], np.int64)
    categorical = arrays["decision_type"] % 2 == 1
    if not sets.any() and not categorical.any():
        return
    chosen, limit = arrays["threshold"][categorical], sets[sizes.tree_of_node()[categorical]]
    if not ((chosen >= 0) & (chosen < limit) & (chosen == np.floor(chosen))).all():
        raise _broken("a split on categories must have one of the sets of num_cat as its threshold")
    for number in np.flatnonzero(sets):
        tree, count = trees[number], int(sets[number])
        ends = _parse([tree.get("cat_boundaries", b"")], _INTEGER, "cat_boundaries")
        words = [tree.get("cat_threshold", b"")]
        bits = _numbers(words, _INTEGER, 0, 2**32 - 1, "cat_threshold")
        rises = ends.size == count + 1 and ends[0] == 0 and bool((np.diff(ends) > 0).all())
        if not rises or ends[-1] != bits.size:
            raise _broken(
                f"cat_boundaries of tree {number} must rise from 0 to the size of cat_threshold"
            )


def _check_linear(tree: Fields, leaves: int, width: int) -> None:
    """Raise unless the linear functions in a tree's leaves are on features below `width`."""
    most = leaves * width
    counts = _numbers([tree.get("num_features", b"")], _INTEGER, 0, width, "num_features")
    constants = _numbers([tree.get("leaf_const", b"")], _REAL, -_LARGEST, _LARGEST, "leaf_const")
    if counts.size != leaves or constants.size != leaves or counts.sum() > most:
        raise _broken("num_features and leaf_const must have a number for each leaf")
    for name, kind, low, high in (
        ("leaf_features", _INTEGER, 0, width - 1),
        ("leaf_coeff", _REAL, -_LARGEST, _LARGEST),
    ):
        line = tree.get(name, b"")
        words = line.split()
        # LightGBM writes a space after each number, and one after each leaf.
        ends = np.cumsum(counts).tolist()
        parts = [words[end - n : end] for n, end in zip(counts.tolist(), ends, strict=True)]
        written = b"".join(b"".join(word + b" " for word in part) + b" " for part in parts)
        if len(words) != counts.sum() or line != written:
            raise _broken(f"{name} must have as many numbers as num_features says")
        _numbers([b" ".join(words)] if words else [], kind, low, high, name)
