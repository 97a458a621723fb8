"""Solr: a MultipleAdditiveTreesModel, whose numbers are strings and whose splits say where missing values go."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.json_text import array_text, items_of, narrow, tree_lines
from rankwood.forest.export.reference import Semantics, in_float32
from rankwood.forest.export.target_trees import (
    FileNode,
    check_nesting,
    nested_text,
    read_trees,
    trees_of,
)

_CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them."""
    return trees_of(model.forest, cuts.at_most_solr(model.forest.threshold))


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the model, a line for each tree."""
    arrays = trees(model)
    check_nesting(arrays)
    head = {
        "class": _CLASS,
        "name": model.name,
        "features": [{"name": model.names[column]} for column in model.used],
        "params": {"isNullSameAsZero": False, "trees": []},
    }
    start, end = array_text(head)
    yield start
    lines = ("".join(_tree(arrays, model.names, tree)) for tree in range(arrays.n_trees))
    constant = narrow(model.constant)
    more = (
        [_weighted(json.dumps({"value": repr(constant)}))] if constant or not arrays.n_trees else []
    )
    yield from tree_lines(lines, more)
    yield end


def _weighted(root: str) -> str:
    """Return a tree, given its root."""
    return f'{{"weight":"1","root":{root}}}'


def _tree(arrays: TreeArrays, names: tuple[str, ...], tree: int) -> Iterator[str]:
    """Yield a tree."""
    first, first_leaf = int(arrays.first_node[tree]), int(arrays.first_leaf[tree])
    thresholds = cuts.as_written(arrays.threshold[first : int(arrays.first_node[tree + 1])])
    leaves = cuts.as_written(arrays.leaf_value[first_leaf : int(arrays.first_leaf[tree + 1])])

    def opening(node: int) -> str:
        split = {
            "feature": names[arrays.feature[node]],
            "threshold": repr(thresholds[node - first]),
            "missing": "left" if arrays.missing_left[node] else "right",
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"left":'

    def leaf(index: int) -> str:
        return f'{{"value":"{leaves[index - first_leaf]!r}"}}'

    yield _weighted("").removesuffix("}")
    yield from nested_text(arrays, tree, opening, leaf, ',"right":', "}")
    yield "}"


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file, with the sums that Solr compares with, in float32."""
    column = {name: i for i, name in enumerate(names)}

    def describe(node: dict[str, Any]) -> FileNode:
        if "feature" not in node:
            return FileNode(float(node["value"]))
        return FileNode(
            feature=column[node["feature"]],
            threshold=float(np.float32(node["threshold"]) + cuts.SLACK),
            missing_left=node["missing"] == "left",
            children=(node["left"], node["right"]),
        )

    roots = (tree["root"] for tree in items_of(text, "trees"))
    return read_trees(roots, describe, np.float32)


#: MultipleAdditiveTreesModel of Solr since 9.2: float32 throughout, left if x <= threshold + 1e-6f.
_SEMANTICS = (Semantics("float", features=in_float32),)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return the request that uploads a file."""
    return (
        'curl -X PUT "$SOLR/solr/COLLECTION/schema/model-store" '
        f"-H 'Content-Type: application/json' --data-binary @{shlex.quote(path)}"
    )
