"""Vespa: trees in the form of LightGBM's ``dump_model``, as its importer means them, which tests ``<``."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.engines.model_trees.walking import BELOW
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.json_text import array_text, items_of, tree_lines, value_of
from rankwood.forest.export.reference import Semantics, sum_in_order
from rankwood.forest.export.target_trees import (
    FileNode,
    check_nesting,
    nested_text,
    read_trees,
    trees_of,
)


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them."""
    return trees_of(model.forest, cuts.below_float32(model.forest.threshold))


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the model, a line for each tree."""
    arrays = trees(model)
    check_nesting(arrays)
    head = {
        "name": "tree",
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "objective": "lambdarank",  # the importer needs one, and knows that this changes no score
        "pandas_categorical": _category_values(model) or None,
        "feature_names": [model.names[column] for column in model.used],
        "tree_info": [],
    }
    start, end = array_text(head)
    yield start
    place = {column: i for i, column in enumerate(model.used)}
    lines = ("".join(_tree(arrays, place, tree)) for tree in range(arrays.n_trees))
    constant = _numbered(arrays.n_trees, f'{{"leaf_value":{model.constant!r}}}')
    yield from tree_lines(lines, [constant] if model.constant or not arrays.n_trees else [])
    yield end


def _category_values(model: ExportedModel) -> list[list[str]]:
    """Return the values of each categorical feature that a split reads; all must be words, as Vespa compares those."""
    forest = model.forest
    words = []
    for column in np.unique(forest.feature[forest.categorical]).tolist():
        values = (model.categories or {}).get(column)
        name = model.names[column]
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
        words.append(list(values))
    return words


def _numbered(tree: int, structure: str) -> str:
    """Return a tree, given its root."""
    return f'{{"tree_index":{tree},"tree_structure":{structure}}}'


def _tree(arrays: TreeArrays, place: dict[int, int], tree: int) -> Iterator[str]:
    """Yield a tree."""
    first, first_leaf = int(arrays.first_node[tree]), int(arrays.first_leaf[tree])
    thresholds = cuts.as_written(arrays.threshold[first : int(arrays.first_node[tree + 1])])
    leaves = arrays.leaf_value[first_leaf : int(arrays.first_leaf[tree + 1])].tolist()

    def opening(node: int) -> str:
        listed = arrays.categorical[node]
        split = {
            "split_feature": place[int(arrays.feature[node])],
            "threshold": "||".join(map(str, arrays.categories(node)))
            if listed
            else thresholds[node - first],
            "decision_type": "==" if listed else "<=",
            "default_left": bool(arrays.missing_left[node]),
            "missing_type": "NaN",
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"left_child":'

    def leaf(index: int) -> str:
        return f'{{"leaf_value":{leaves[index - first_leaf]!r}}}'

    yield f'{{"tree_index":{tree},"tree_structure":'
    yield from nested_text(arrays, tree, opening, leaf, ',"right_child":', "}")
    yield "}"


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file; thresholds are float32 numbers in any case."""
    column = {name: i for i, name in enumerate(names)}
    columns = [column[name] for name in value_of(text, "feature_names")]

    def describe(node: dict[str, Any]) -> FileNode:
        if "leaf_value" in node:
            return FileNode(node["leaf_value"])
        listed = node["decision_type"] == "=="
        return FileNode(
            feature=columns[node["split_feature"]],
            threshold=0.0 if listed else float(node["threshold"]),
            missing_left=node["default_left"],
            categories=tuple(map(int, node["threshold"].split("||"))) if listed else None,
            children=(node["left_child"], node["right_child"]),
        )

    roots = (tree["tree_structure"] for tree in items_of(text, "tree_info"))
    return read_trees(roots, describe)


def _rounded_to_float32(values: np.ndarray) -> np.ndarray:
    """Return float64 numbers that a float32 has."""
    return values.astype(np.float32).astype(np.float64)


def _sum_of_float32(leaves: np.ndarray) -> np.ndarray:
    """Return sums in float64 of leaves in float32."""
    return sum_in_order(_rounded_to_float32(leaves))


#: vm_forest.cpp (large forests: thresholds and leaves are float32), gbdt.cpp (small ones: doubles).
_SEMANTICS = (
    Semantics(
        "large forest", comparison=BELOW, total=_sum_of_float32, thresholds=_rounded_to_float32
    ),
    Semantics("small forest", comparison=BELOW),
)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return how a file gets into an application."""
    file = path.replace("\\", "/").rpartition("/")[2]
    return (
        f"cp {shlex.quote(path)} APPLICATION/models/{file} && vespa deploy; in the rank profile: "
        f'second-phase {{ expression: lightgbm("{file}") }}'
    )
