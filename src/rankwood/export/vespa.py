"""Vespa: trees in the form of LightGBM's ``dump_model``, as its importer means them, which tests ``<``."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.export import rules
from rankwood.export.reference import Semantics, as_they_are, below, is_nan, sum_in_order
from rankwood.export.source import Source
from rankwood.export.text import array_text, items_of, tree_lines, value_of
from rankwood.export.trees import Node, Trees, check_depth, nested, read_trees, trees_of


def trees(source: Source) -> Trees:
    """Return the trees as the target has them."""
    return trees_of(source.forest, rules.below_float32(source.forest.threshold))


def write(source: Source) -> Iterator[str]:
    """Yield the model, a line for each tree."""
    made = trees(source)
    check_depth(made)
    head = {
        "name": "tree",
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "objective": "lambdarank",  # the importer needs one, and knows that this changes no score
        "pandas_categorical": _category_values(source) or None,
        "feature_names": [source.names[column] for column in source.used],
        "tree_info": [],
    }
    start, end = array_text(head)
    yield start
    place = {column: i for i, column in enumerate(source.used)}
    lines = ("".join(_tree(made, place, tree)) for tree in range(made.n_trees))
    constant = _numbered(made.n_trees, f'{{"leaf_value":{source.constant!r}}}')
    yield from tree_lines(lines, [constant] if source.constant or not made.n_trees else [])
    yield end


def _category_values(source: Source) -> list[list[str]]:
    """Return the values of each categorical feature that a split reads; all must be words, as Vespa compares those."""
    forest = source.forest
    found = []
    for column in np.unique(forest.feature[forest.categorical]).tolist():
        values = (source.categories or {}).get(column)
        name = source.names[column]
        if values is None or not all(isinstance(value, str) for value in values):
            raise checks.InputError(
                f"feature {name!r} is categorical, and Vespa compares words: train on a column of words with the type "
                "category, or export to c or json."
            )
        odd = next((value for value in values if '"' in value or "\\" in value), None)
        if odd is not None:
            raise checks.InputError(
                f"feature {name!r} has the category {odd!r}, and Vespa's expressions have no quotes or backslashes "
                "inside words: rename it."
            )
        found.append(list(values))
    return found


def _numbered(tree: int, structure: str) -> str:
    """Return a tree, given its root."""
    return f'{{"tree_index":{tree},"tree_structure":{structure}}}'


def _tree(made: Trees, place: dict[int, int], tree: int) -> Iterator[str]:
    """Yield a tree."""
    first, first_leaf = int(made.first_node[tree]), int(made.first_leaf[tree])
    thresholds = rules.as_written(made.threshold[first : int(made.first_node[tree + 1])])
    leaves = made.leaf_value[first_leaf : int(made.first_leaf[tree + 1])].tolist()

    def opening(node: int) -> str:
        listed = made.categorical[node]
        split = {
            "split_feature": place[int(made.feature[node])],
            "threshold": "||".join(map(str, made.categories(node)))
            if listed
            else thresholds[node - first],
            "decision_type": "==" if listed else "<=",
            "default_left": bool(made.missing_left[node]),
            "missing_type": "NaN",
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"left_child":'

    def leaf(index: int) -> str:
        return f'{{"leaf_value":{leaves[index - first_leaf]!r}}}'

    yield f'{{"tree_index":{tree},"tree_structure":'
    yield from nested(made, tree, opening, leaf, ',"right_child":', "}")
    yield "}"


def read(text: str, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file; thresholds are float32 numbers in any case."""
    column = {name: i for i, name in enumerate(names)}
    columns = [column[name] for name in value_of(text, "feature_names")]

    def describe(node: dict[str, Any]) -> Node:
        if "leaf_value" in node:
            return Node(node["leaf_value"])
        listed = node["decision_type"] == "=="
        return Node(
            feature=columns[node["split_feature"]],
            threshold=0.0 if listed else float(node["threshold"]),
            missing_left=node["default_left"],
            categories=tuple(map(int, node["threshold"].split("||"))) if listed else None,
            children=(node["left_child"], node["right_child"]),
        )

    roots = (tree["tree_structure"] for tree in items_of(text, "tree_info"))
    return read_trees(roots, describe)


def _sum_of_float32(leaves: np.ndarray) -> np.ndarray:
    """Return sums in float64 of leaves in float32."""
    return sum_in_order(leaves.astype(np.float32).astype(np.float64))


#: vm_forest.cpp (large forests: thresholds and leaves are float32), gbdt.cpp (small ones: doubles).
_SEMANTICS = (
    Semantics(
        "large forest",
        features=as_they_are,
        left=lambda x, t: below(x, t.astype(np.float32).astype(np.float64)),
        missing=is_nan,
        total=_sum_of_float32,
    ),
    Semantics("small forest", features=as_they_are, left=below, missing=is_nan, total=sum_in_order),
)


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(source: Source, path: str) -> str:
    """Return how a file gets into an application."""
    file = path.replace("\\", "/").rpartition("/")[2]
    return (
        f"cp {shlex.quote(path)} APPLICATION/models/{file} && vespa deploy; in the rank profile: "
        f'second-phase {{ expression: lightgbm("{file}") }}'
    )
