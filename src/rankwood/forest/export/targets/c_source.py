"""C: static arrays and a function that walks them; no allocation, no library but the standard headers."""

import re
import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from rankwood._version import __version__
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.reference import Semantics, engine_semantics

_HEAD = """\
/* Model {name}: {trees} trees on {width} features, written by Rankwood {version}.

   double rankwood_score(const double *x);

   x has the {width} features in the order of rankwood_feature_name; a missing value is NAN. It may be called from
   several threads at once. Compile as C99 or later, without -ffast-math, which forgets what NAN is. */

#include <math.h>

#define RANKWOOD_FEATURES {width}
#define RANKWOOD_TREES {trees}

"""
_WALK = """\
double rankwood_score(const double *x)
{{
    {real} sum = ({real}){constant};
    int tree;
    for (tree = 0; tree < RANKWOOD_TREES; tree++) {{
        int node = root[tree];
        while (node >= 0) {{
            double value = {value};
            int go_left;
            if (isnan(value))
                go_left = missing_left[node];
            else if (category_first[node] == category_first[node + 1])
                go_left = value <= threshold[node];
            else
                go_left = has_category(node, value);
            node = go_left ? left[node] : right[node];
        }}
        sum += ({real})leaf_value[~node];
    }}
    return sum;
}}
"""
_CATEGORY = """\
static int has_category(int node, double value)
{{
    int i, wanted;
    if (!(value > {lowest} && value < 2147483648.0))
        return 0;
    wanted = (int)value;
    for (i = category_first[node]; i < category_first[node + 1]; i++)
        if (category[i] == wanted)
            return 1;
    return 0;
}}

"""
_LINE = 12  # numbers on a line


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as they are."""
    return model.forest.arrays


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the file."""
    forest, arrays = model.forest, trees(model)
    roots = [arrays.root(tree) for tree in range(arrays.n_trees)]
    yield _HEAD.format(
        name=_comment(model.name),
        trees=arrays.n_trees,
        width=forest.n_features,
        version=__version__,
    )
    names = ", ".join(f'"{_escaped(name)}"' for name in model.names)
    yield f"const char *const rankwood_feature_name[{forest.n_features}] = {{{names}}};\n\n"
    yield from _array("int", "root", map(str, roots))
    yield from _array("int", "feature", map(str, arrays.feature.tolist()))
    yield from _array("double", "threshold", map(_double, arrays.threshold.tolist()))
    yield from _array("unsigned char", "missing_left", map(str, arrays.missing_left.astype(int)))
    yield from _array("int", "left", map(str, arrays.left.tolist()))
    yield from _array("int", "right", map(str, arrays.right.tolist()))
    yield from _array("double", "leaf_value", map(_double, arrays.leaf_value.tolist()))
    yield from _array("int", "category_first", map(str, arrays.category_first.tolist()))
    yield from _array("int", "category", map(str, arrays.category.tolist()))
    yield _CATEGORY.format(lowest=_double(forest.min_category))
    yield _WALK.format(
        real="float" if forest.float32_sum else "double",
        constant=_double(model.constant),
        value=f"{'(float)' if forest.float32_input else ''}x[feature[node]]",
    )


def _array(kind: str, name: str, words: Iterable[str]) -> Iterator[str]:
    """Yield a static array; an empty one has a 0, as C has none without numbers."""
    numbers = list(words) or ["0"]
    yield f"static const {kind} {name}[{len(numbers)}] = {{\n"
    for start in range(0, len(numbers), _LINE):
        yield f"    {', '.join(numbers[start : start + _LINE])},\n"
    yield "};\n\n"


def _double(value: float) -> str:
    """Return a number as C reads it back, bit for bit."""
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _comment(text: str) -> str:
    """Return a text that doesn't end a comment."""
    return text.replace("*/", "* /").replace("\n", " ")


def _escaped(text: str) -> str:
    """Return a text as it stands in a string of C; other signs than ASCII's are bytes of UTF-8, in octal digits."""
    plain = (
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    )
    return "".join(plain)


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file, and the constant as one more tree of one leaf."""

    def numbers(name: str) -> list[str]:
        array = re.search(rf"static const [a-z ]+ {name}\[\d+\] = {{(.*?)}};", text, re.DOTALL)
        if array is None:
            return []
        return array[1].replace("INFINITY", "inf").replace(",", " ").split()

    def integers(name: str) -> np.ndarray:
        return np.array(numbers(name), np.int64)

    roots = integers("root") if "RANKWOOD_TREES 0\n" not in text else np.zeros(0, np.int64)
    constant = re.search(r"sum = \((?:float|double)\)(\S+);", text)
    leaf_value = np.array(numbers("leaf_value"), np.float64)
    left, right = integers("left"), integers("right")
    splits = integers("category_first").size - 1
    first_node, first_leaf = _firsts(roots, splits, 0 if not roots.size else leaf_value.size)
    leaves = np.append(leaf_value[: first_leaf[-1]], float(constant[1]) if constant else 0.0)
    first = integers("category_first")
    lowest = re.search(r"value > (\S+) &&", text)
    return TreeArrays(
        feature=integers("feature")[:splits].astype(np.int32),
        threshold=np.array(numbers("threshold"), np.float64)[:splits],
        missing_left=integers("missing_left")[:splits].astype(bool),
        left=left[:splits].astype(np.int32),
        right=right[:splits].astype(np.int32),
        leaf_value=leaves,
        first_node=np.append(first_node, first_node[-1]),
        first_leaf=np.append(first_leaf, first_leaf[-1] + 1),
        category_first=first,
        category=integers("category")[: first[-1]],
        categorical=np.diff(first) > 0,
        min_category=float(lowest[1]) if lowest else -1.0,
    )


def _firsts(roots: np.ndarray, nodes: int, leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first node and the first leaf of each tree: a tree has one leaf more than nodes."""
    first_node = np.append(roots, nodes)
    for tree in range(roots.size - 1, -1, -1):
        if roots[tree] < 0:
            first_node[tree] = first_node[tree + 1]
    first_leaf = first_node + np.arange(first_node.size)
    assert first_leaf[-1] == leaves
    return first_node, first_leaf


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the function scores."""
    return engine_semantics(model.forest)


def upload(model: ExportedModel, path: str) -> str:
    """Return the command that compiles a file."""
    return f"cc -O2 -shared -fPIC {shlex.quote(path)} -o librankwood_model.so -lm"
