"""Elasticsearch's own learning to rank: an ensemble of trees in float64, the body of ``PUT _ml/trained_models``."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.engines.model_trees.walking import AT_MOST_IN_JAVA
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.json_text import array_text, items_of, tree_lines
from rankwood.forest.export.reference import Semantics
from rankwood.forest.export.target_trees import FileNode, read_trees, trees_of

#: A query that no server knows, so that a file whose queries weren't filled in is refused.
_NO_QUERY: dict[str, Any] = {"replace_me": {}}


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them."""
    forest = model.forest
    return trees_of(forest, cuts.at_most_float64(forest.threshold, forest.float32_input))


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the body of the request, a line for each tree."""
    arrays, used = trees(model), model.used
    names = [model.names[column] for column in used]
    queries = model.queries or {}
    extractors = [
        {"query_extractor": {"feature_name": name, "query": queries.get(name, _NO_QUERY)}}
        for name in names
    ]
    config = {"learning_to_rank": {"feature_extractors": extractors}}
    ensemble = {
        "feature_names": names,
        "target_type": "regression",
        "aggregate_output": {"weighted_sum": {}},
    }
    head = {
        "inference_config": config,
        "definition": {"trained_model": {"ensemble": {**ensemble, "trained_models": []}}},
    }
    start, end = array_text(head)
    yield start
    lines = (_tree(arrays, model, tree) for tree in range(arrays.n_trees))
    constant = [_constant(model, names)] if model.constant or not arrays.n_trees else []
    yield from tree_lines(lines, constant)
    yield end


def _tree(arrays: TreeArrays, model: ExportedModel, tree: int) -> str:
    """Return a tree; it names the features that it uses, which are numbered inside it."""
    nodes = slice(int(arrays.first_node[tree]), int(arrays.first_node[tree + 1]))
    leaves = slice(int(arrays.first_leaf[tree]), int(arrays.first_leaf[tree + 1]))
    used, feature = np.unique(arrays.feature[nodes], return_inverse=True)
    names = [model.names[column] for column in used.tolist()] or [model.names[0]]
    count = nodes.stop - nodes.start

    def numbered(children: np.ndarray) -> list[int]:
        inner = children - nodes.start
        return np.where(children >= 0, inner, count + ~children - leaves.start).tolist()

    splits = zip(
        feature.tolist(),
        arrays.threshold[nodes].tolist(),
        arrays.missing_left[nodes].tolist(),
        numbered(arrays.left[nodes]),
        numbered(arrays.right[nodes]),
        strict=True,
    )
    structure: list[dict[str, Any]] = [
        {
            "node_index": index,
            "decision_type": "lte",
            "split_feature": column,
            "threshold": threshold,
            "default_left": missing_left,
            "left_child": left,
            "right_child": right,
        }
        for index, (column, threshold, missing_left, left, right) in enumerate(splits)
    ]
    values = arrays.leaf_value[leaves].tolist()
    structure += [{"node_index": count + i, "leaf_value": value} for i, value in enumerate(values)]
    return _as_json(names, structure)


def _constant(model: ExportedModel, names: list[str]) -> str:
    """Return a tree of one leaf, which adds a constant to every score."""
    return _as_json(
        names[:1] or [model.names[0]], [{"node_index": 0, "leaf_value": model.constant}]
    )


def _as_json(names: list[str], structure: list[dict[str, Any]]) -> str:
    """Return a tree; names and target type are needed in each of them."""
    tree = {"feature_names": names, "tree_structure": structure, "target_type": "regression"}
    return json.dumps({"tree": tree}, separators=(",", ":"), allow_nan=False)


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file."""
    column = {name: i for i, name in enumerate(names)}

    def roots() -> Iterator[tuple[list[Any], list[int], int]]:
        for item in items_of(text, "trained_models"):
            tree = item["tree"]
            yield tree["tree_structure"], [column[name] for name in tree["feature_names"]], 0

    def describe(item: tuple[list[Any], list[int], int]) -> FileNode:
        structure, columns, index = item
        node = structure[index]
        if "leaf_value" in node:
            return FileNode(node["leaf_value"])
        return FileNode(
            feature=columns[node["split_feature"]],
            threshold=node["threshold"],
            missing_left=node["default_left"],
            children=(
                (structure, columns, node["left_child"]),
                (structure, columns, node["right_child"]),
            ),
        )

    return read_trees(roots(), describe)


def _finite_only(X: np.ndarray) -> np.ndarray:
    """Return features of which those that aren't finite are missing."""
    return np.where(np.isfinite(X), X, np.nan)


def _compensated(leaves: np.ndarray) -> np.ndarray:
    """Return sums as DoubleStream.sum adds them, rounded to the float32 that a score is."""
    total, rest = np.zeros(leaves.shape[0]), np.zeros(leaves.shape[0])
    for tree in range(leaves.shape[1]):
        term = leaves[:, tree] - rest
        new = total + term
        rest = (new - total) - term
        total = new
    return (total - rest).astype(np.float32).astype(np.float64)


#: TreeInferenceModel, EnsembleInferenceModel and Operator of x-pack: doubles; what isn't finite is missing.
_SEMANTICS = (
    Semantics(
        "double",
        features=_finite_only,
        comparison=AT_MOST_IN_JAVA,
        total=_compensated,
    ),
)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return the request that uploads a file."""
    return (
        f'curl -X PUT "$ELASTICSEARCH/_ml/trained_models/{model.name}" '
        f"-H 'Content-Type: application/json' --data-binary @{shlex.quote(path)}"
    )
