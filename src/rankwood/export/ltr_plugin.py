"""Elasticsearch-LTR and OpenSearch-LTR: a list of trees in XGBoost's JSON, wrapped into the request that stores it."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood.export import rules
from rankwood.export.reference import Semantics, as_float32, below, is_nan, sum_in_order
from rankwood.export.source import Source
from rankwood.export.text import array_text, items_of, narrow, tree_lines
from rankwood.export.trees import Node, Trees, check_depth, nested, read_trees, trees_of


def trees(source: Source) -> Trees:
    """Return the trees as the target has them."""
    return trees_of(source.forest, rules.below_float32(source.forest.threshold))


def write(source: Source) -> Iterator[str]:
    """Yield the body of the request; the plugin takes the list of trees as a string."""
    model = {"type": "model/xgboost+json", "definition": ""}
    body = {"model": {"name": source.name, "model": model}}
    start, _, end = json.dumps(body, separators=(",", ":")).rpartition('""')
    yield f'{start}"'
    for piece in definition(source):
        yield json.dumps(piece)[1:-1]
    yield f'"{end}\n'


def definition(source: Source) -> Iterator[str]:
    """Yield the list of trees, a line each.

    Parameters
    ----------
    source : Source
        The model.

    Yields
    ------
    str
        Pieces of the text.
    """
    made = trees(source)
    check_depth(made)
    start, end = array_text([])
    yield start
    lines = ("".join(_tree(made, source.names, tree)) for tree in range(made.n_trees))
    constant = {"nodeid": 0, "leaf": narrow(source.constant)}
    yield from tree_lines(
        lines, [json.dumps(constant)] if constant["leaf"] or not made.n_trees else []
    )
    yield end


def _tree(made: Trees, names: tuple[str, ...], tree: int) -> Iterator[str]:
    """Yield a tree; keys other than these are refused, and `missing` must be in each split."""
    first, last = int(made.first_node[tree]), int(made.first_node[tree + 1])
    first_leaf = int(made.first_leaf[tree])
    depth = {first: 0}
    thresholds = rules.as_written(made.threshold[first:last])
    leaves = rules.as_written(made.leaf_value[first_leaf : int(made.first_leaf[tree + 1])])

    def number(child: int) -> int:
        return child - first if child >= 0 else last - first + ~child - first_leaf

    def opening(node: int) -> str:
        left, right = int(made.left[node]), int(made.right[node])
        depth[left] = depth[right] = depth[node] + 1
        split = {
            "nodeid": number(node),
            "depth": depth[node],
            "split": names[made.feature[node]],
            "split_condition": thresholds[node - first],
            "yes": number(left),
            "no": number(right),
            "missing": number(left if made.missing_left[node] else right),
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"children":['

    def leaf(index: int) -> str:
        return f'{{"nodeid":{number(~index)},"leaf":{leaves[index - first_leaf]!r}}}'

    return nested(made, tree, opening, leaf, ",", "]}")


def read(text: str, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file, in float32."""
    column = {name: i for i, name in enumerate(names)}
    definition = json.loads(text)["model"]["model"]["definition"]

    def describe(node: dict[str, Any]) -> Node:
        if "leaf" in node:
            return Node(node["leaf"])
        yes, no = node["children"]
        return Node(
            feature=column[node["split"]],
            threshold=node["split_condition"],
            missing_left=node["missing"] == yes["nodeid"],
            children=(yes, no),
        )

    return read_trees(items_of(definition), describe, np.float32)


#: NaiveAdditiveDecisionTree and SparseFeatureVector of the plugins: float32 throughout, left if threshold > x.
_SEMANTICS = (
    Semantics("float", features=as_float32, left=below, missing=is_nan, total=sum_in_order),
)


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(source: Source, path: str) -> str:
    """Return the request that uploads a file."""
    return (
        'curl -X POST "$ELASTICSEARCH/_ltr/_featureset/FEATURE_SET/_createmodel" '
        f"-H 'Content-Type: application/json' --data-binary @{shlex.quote(path)}"
    )
