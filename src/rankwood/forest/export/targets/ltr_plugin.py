"""Elasticsearch-LTR and OpenSearch-LTR: a list of trees in XGBoost's JSON, wrapped into the request that stores it."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.engines.model_trees.walking import BELOW
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


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them."""
    return trees_of(model.forest, cuts.below_float32(model.forest.threshold))


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the body of the request; the plugin takes the list of trees as a string."""
    content = {"type": "model/xgboost+json", "definition": ""}
    body = {"model": {"name": model.name, "model": content}}
    start, _, end = json.dumps(body, separators=(",", ":")).rpartition('""')
    yield f'{start}"'
    for piece in definition(model):
        yield json.dumps(piece)[1:-1]
    yield f'"{end}\n'


def definition(model: ExportedModel) -> Iterator[str]:
    """Yield the list of trees, a line each.

    Parameters
    ----------
    model : ExportedModel
        The model.

    Yields
    ------
    str
        Pieces of the text.
    """
    arrays = trees(model)
    check_nesting(arrays)
    start, end = array_text([])
    yield start
    lines = ("".join(_tree(arrays, model.names, tree)) for tree in range(arrays.n_trees))
    constant = {"nodeid": 0, "leaf": narrow(model.constant)}
    yield from tree_lines(
        lines, [json.dumps(constant)] if constant["leaf"] or not arrays.n_trees else []
    )
    yield end


def _tree(arrays: TreeArrays, names: tuple[str, ...], tree: int) -> Iterator[str]:
    """Yield a tree; keys other than these are refused, and `missing` must be in each split."""
    first, last = int(arrays.first_node[tree]), int(arrays.first_node[tree + 1])
    first_leaf = int(arrays.first_leaf[tree])
    depth = {first: 0}
    thresholds = cuts.as_written(arrays.threshold[first:last])
    leaves = cuts.as_written(arrays.leaf_value[first_leaf : int(arrays.first_leaf[tree + 1])])

    def number(child: int) -> int:
        return child - first if child >= 0 else last - first + ~child - first_leaf

    def opening(node: int) -> str:
        left, right = int(arrays.left[node]), int(arrays.right[node])
        depth[left] = depth[right] = depth[node] + 1
        split = {
            "nodeid": number(node),
            "depth": depth[node],
            "split": names[arrays.feature[node]],
            "split_condition": thresholds[node - first],
            "yes": number(left),
            "no": number(right),
            "missing": number(left if arrays.missing_left[node] else right),
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"children":['

    def leaf(index: int) -> str:
        return f'{{"nodeid":{number(~index)},"leaf":{leaves[index - first_leaf]!r}}}'

    return nested_text(arrays, tree, opening, leaf, ",", "]}")


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file, in float32."""
    column = {name: i for i, name in enumerate(names)}
    definition = json.loads(text)["model"]["model"]["definition"]

    def describe(node: dict[str, Any]) -> FileNode:
        if "leaf" in node:
            return FileNode(node["leaf"])
        yes, no = node["children"]
        return FileNode(
            feature=column[node["split"]],
            threshold=node["split_condition"],
            missing_left=node["missing"] == yes["nodeid"],
            children=(yes, no),
        )

    return read_trees(items_of(definition), describe, np.float32)


#: NaiveAdditiveDecisionTree and SparseFeatureVector of the plugins: float32 throughout, left if threshold > x.
_SEMANTICS = (Semantics("float", features=in_float32, comparison=BELOW),)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return the request that uploads a file."""
    return (
        'curl -X POST "$ELASTICSEARCH/_ltr/_featureset/FEATURE_SET/_createmodel" '
        f"-H 'Content-Type: application/json' --data-binary @{shlex.quote(path)}"
    )
