"""Solr: a MultipleAdditiveTreesModel, whose numbers are strings and whose splits say where missing values go."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood.export import rules
from rankwood.export.reference import Semantics, as_float32, at_most, is_nan, sum_in_order
from rankwood.export.source import Source
from rankwood.export.text import array_text, items_of, narrow, tree_lines
from rankwood.export.trees import Node, Trees, check_depth, nested, read_trees, trees_of

_CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"


def trees(source: Source) -> Trees:
    """Return the trees as the target has them."""
    return trees_of(source.forest, rules.at_most_solr(source.forest.threshold))


def write(source: Source) -> Iterator[str]:
    """Yield the model, a line for each tree."""
    made = trees(source)
    check_depth(made)
    head = {
        "class": _CLASS,
        "name": source.name,
        "features": [{"name": source.names[column]} for column in source.used],
        "params": {"isNullSameAsZero": False, "trees": []},
    }
    start, end = array_text(head)
    yield start
    lines = ("".join(_tree(made, source.names, tree)) for tree in range(made.n_trees))
    constant = narrow(source.constant)
    more = (
        [_weighted(json.dumps({"value": repr(constant)}))] if constant or not made.n_trees else []
    )
    yield from tree_lines(lines, more)
    yield end


def _weighted(root: str) -> str:
    """Return a tree, given its root."""
    return f'{{"weight":"1","root":{root}}}'


def _tree(made: Trees, names: tuple[str, ...], tree: int) -> Iterator[str]:
    """Yield a tree."""
    first, first_leaf = int(made.first_node[tree]), int(made.first_leaf[tree])
    thresholds = rules.as_written(made.threshold[first : int(made.first_node[tree + 1])])
    leaves = rules.as_written(made.leaf_value[first_leaf : int(made.first_leaf[tree + 1])])

    def opening(node: int) -> str:
        split = {
            "feature": names[made.feature[node]],
            "threshold": repr(thresholds[node - first]),
            "missing": "left" if made.missing_left[node] else "right",
        }
        return f'{json.dumps(split, separators=(",", ":"))[:-1]},"left":'

    def leaf(index: int) -> str:
        return f'{{"value":"{leaves[index - first_leaf]!r}"}}'

    yield _weighted("").removesuffix("}")
    yield from nested(made, tree, opening, leaf, ',"right":', "}")
    yield "}"


def read(text: str, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file, with the sums that Solr compares with, in float32."""
    column = {name: i for i, name in enumerate(names)}

    def describe(node: dict[str, Any]) -> Node:
        if "feature" not in node:
            return Node(float(node["value"]))
        return Node(
            feature=column[node["feature"]],
            threshold=float(np.float32(node["threshold"]) + rules.SLACK),
            missing_left=node["missing"] == "left",
            children=(node["left"], node["right"]),
        )

    roots = (tree["root"] for tree in items_of(text, "trees"))
    return read_trees(roots, describe, np.float32)


#: MultipleAdditiveTreesModel of Solr since 9.2: float32 throughout, left if x <= threshold + 1e-6f.
_SEMANTICS = (
    Semantics("float", features=as_float32, left=at_most, missing=is_nan, total=sum_in_order),
)


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(source: Source, path: str) -> str:
    """Return the request that uploads a file."""
    return (
        'curl -X PUT "$SOLR/solr/COLLECTION/schema/model-store" '
        f"-H 'Content-Type: application/json' --data-binary @{shlex.quote(path)}"
    )
