"""ONNX: one TreeEnsembleRegressor of ai.onnx.ml 3 with thresholds and leaves in float64."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._version import __version__
from rankwood.export import rules
from rankwood.export.reference import Semantics, as_they_are, at_most, is_nan, sum_in_order
from rankwood.export.source import Source
from rankwood.export.trees import Trees, trees_of

#: Opsets of ai.onnx and ai.onnx.ml, and the file version: old ones, which every runtime of these years reads.
_OPSET, _ML_OPSET, _IR_VERSION = 15, 3, 8


def trees(source: Source) -> Trees:
    """Return the trees as the target has them; infinities are numbers for ONNX."""
    forest = source.forest
    t = rules.before_rounding(forest.threshold) if forest.float32_input else forest.threshold
    no = np.zeros(t.size, bool)
    return trees_of(forest, rules.Cuts(t, no, ~no))


def library() -> Any:
    """Return the package onnx, or raise if it isn't installed."""
    try:
        import onnx
    except ModuleNotFoundError:
        raise checks.InputError(
            "format='onnx' needs the package onnx: pip install 'rankwood[onnx]'."
        ) from None
    return onnx


def write(source: Source) -> Iterator[bytes]:
    """Yield the file: input `features` of doubles, rows by features; output `score` of floats."""
    onnx = library()
    helper, kinds = onnx.helper, onnx.TensorProto
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["score"],
        domain="ai.onnx.ml",
        **attributes(onnx, trees(source), source.constant),
    )
    width = source.forest.n_features
    graph = helper.make_graph(
        [node],
        source.name,
        [helper.make_tensor_value_info("features", kinds.DOUBLE, [None, width])],
        [helper.make_tensor_value_info("score", kinds.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    model.producer_name, model.producer_version = "rankwood", __version__
    helper.set_model_props(model, {"feature_names": "\n".join(source.names)})
    yield model.SerializeToString(deterministic=True)


def attributes(onnx: Any, made: Trees, constant: float) -> dict[str, Any]:
    """Return the attributes of the node: each tree has its splits, followed by its leaves."""
    splits, leaves = np.diff(made.first_node), np.diff(made.first_leaf)
    tree = np.arange(made.n_trees)
    sizes = splits + leaves
    start = np.concatenate([[0], np.cumsum(sizes)])
    of_split, of_leaf = np.repeat(tree, splits), np.repeat(tree, leaves)
    split_id = np.arange(of_split.size) - made.first_node[of_split]
    leaf_id = np.arange(of_leaf.size) - made.first_leaf[of_leaf] + splits[of_leaf]
    at, leaf_at = start[of_split] + split_id, start[of_leaf] + leaf_id
    total = int(start[-1])

    def spread(values: np.ndarray, kind: type[Any]) -> np.ndarray:
        out = np.zeros(total, kind)
        out[at] = values
        return out

    def child(number: np.ndarray) -> np.ndarray:
        inner = number - made.first_node[of_split]
        leaf = ~number - made.first_leaf[of_split] + splits[of_split]
        return spread(np.where(number >= 0, inner, leaf), np.int64)

    modes = np.full(total, "LEAF", object)
    modes[at] = "BRANCH_LEQ"
    ids = np.zeros(total, np.int64)
    ids[at], ids[leaf_at] = split_id, leaf_id
    double = onnx.TensorProto.DOUBLE

    def tensor(name: str, values: np.ndarray) -> Any:
        return onnx.helper.make_tensor(name, double, [values.size], values)

    return {
        "n_targets": 1,
        "post_transform": "NONE",
        "aggregate_function": "SUM",
        "base_values_as_tensor": tensor("base_values", np.array([constant])),
        "nodes_treeids": np.repeat(tree, sizes).tolist(),
        "nodes_nodeids": ids.tolist(),
        "nodes_featureids": spread(made.feature, np.int64).tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values_as_tensor": tensor("nodes_values", spread(made.threshold, np.float64)),
        "nodes_missing_value_tracks_true": spread(made.missing_left, np.int64).tolist(),
        "nodes_truenodeids": child(made.left.astype(np.int64)).tolist(),
        "nodes_falsenodeids": child(made.right.astype(np.int64)).tolist(),
        "target_treeids": of_leaf.tolist(),
        "target_nodeids": leaf_id.tolist(),
        "target_ids": [0] * of_leaf.size,
        "target_weights_as_tensor": tensor("target_weights", made.leaf_value),
    }


def read(content: bytes, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file; the constant is one more tree of one leaf."""
    onnx = library()
    (node,) = onnx.load_from_string(content).graph.node
    found = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    values = onnx.numpy_helper.to_array(found["nodes_values_as_tensor"])
    split = np.array([mode == b"BRANCH_LEQ" for mode in found["nodes_modes"]], bool)
    tree = np.array(found["nodes_treeids"], np.int64)
    count = int(tree.max(initial=-1)) + 1
    weight = onnx.numpy_helper.to_array(found["target_weights_as_tensor"])
    constant = onnx.numpy_helper.to_array(found["base_values_as_tensor"])
    number = np.where(split, np.cumsum(split) - 1, ~(np.cumsum(~split) - 1))
    place = {
        key: i for i, key in enumerate(zip(tree.tolist(), found["nodes_nodeids"], strict=True))
    }

    def child(name: str) -> np.ndarray:
        at = [place[t, n] for t, n in zip(tree.tolist(), found[name], strict=True)]
        return number[np.array(at, np.int64)][split].astype(np.int32)

    def firsts(mine: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(tree[mine], minlength=count))])

    nodes, leaves = firsts(split), firsts(~split)
    none = np.zeros(int(split.sum()) + 1, np.int64)
    return Trees(
        np.array(found["nodes_featureids"], np.int32)[split],
        values[split],
        np.array(found["nodes_missing_value_tracks_true"], bool)[split],
        child("nodes_truenodeids"),
        child("nodes_falsenodeids"),
        np.concatenate([weight, constant]),
        np.append(nodes, nodes[-1]),
        np.append(leaves, leaves[-1] + 1),
        np.zeros(int(split.sum()), bool),
        none,
        none[:0],
    )


def _float32(leaves: np.ndarray) -> np.ndarray:
    """Return sums in float64, rounded to the float32 of the output."""
    return sum_in_order(leaves).astype(np.float32).astype(np.float64)


#: TreeEnsembleRegressor of ONNX Runtime on doubles: x <= threshold, or NaN where it tracks true.
_SEMANTICS = (
    Semantics("double", features=as_they_are, left=at_most, missing=is_nan, total=_float32),
)


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(source: Source, path: str) -> str:
    """Return the lines that score documents by the file."""
    return (
        f'session = onnxruntime.InferenceSession("{path}"); '
        'session.run(None, {"features": X.astype(np.float64)})[0][:, 0]'
    )
