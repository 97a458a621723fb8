"""ONNX: one TreeEnsembleRegressor of ai.onnx.ml 3 with thresholds and leaves in float64."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood._version import __version__
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.reference import Semantics, sum_in_order
from rankwood.forest.export.target_trees import trees_of

#: Opsets of ai.onnx and ai.onnx.ml, and the file version: old ones, which every runtime of these years reads.
_OPSET, _ML_OPSET, _IR_VERSION = 15, 3, 8


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them; infinities are numbers for ONNX."""
    forest = model.forest
    t = cuts.before_rounding(forest.threshold) if forest.float32_input else forest.threshold
    no = np.zeros(t.size, bool)
    return trees_of(forest, cuts.Cuts(t, no, ~no))


def library() -> Any:
    """Return the package onnx, or raise if it isn't installed."""
    try:
        import onnx
    except ModuleNotFoundError:
        raise checks.InputError(
            "format='onnx' needs the package onnx: pip install 'rankwood[onnx]'."
        ) from None
    return onnx


def write(model: ExportedModel) -> Iterator[bytes]:
    """Yield the file: input `features` of doubles, rows by features; output `score` of floats."""
    onnx = library()
    helper, kinds = onnx.helper, onnx.TensorProto
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["score"],
        domain="ai.onnx.ml",
        **_attributes(onnx, trees(model), model.constant),
    )
    width = model.forest.n_features
    graph = helper.make_graph(
        [node],
        model.name,
        [helper.make_tensor_value_info("features", kinds.DOUBLE, [None, width])],
        [helper.make_tensor_value_info("score", kinds.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    content = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    content.producer_name, content.producer_version = "rankwood", __version__
    helper.set_model_props(content, {"feature_names": "\n".join(model.names)})
    yield content.SerializeToString(deterministic=True)


def _attributes(onnx: Any, arrays: TreeArrays, constant: float) -> dict[str, Any]:
    """Return the attributes of the node: each tree has its splits, followed by its leaves."""
    splits, leaves = np.diff(arrays.first_node), np.diff(arrays.first_leaf)
    tree = np.arange(arrays.n_trees)
    sizes = splits + leaves
    start = np.concatenate([[0], np.cumsum(sizes)])
    of_split, of_leaf = np.repeat(tree, splits), np.repeat(tree, leaves)
    split_id = np.arange(of_split.size) - arrays.first_node[of_split]
    leaf_id = np.arange(of_leaf.size) - arrays.first_leaf[of_leaf] + splits[of_leaf]
    at, leaf_at = start[of_split] + split_id, start[of_leaf] + leaf_id
    total = int(start[-1])

    def spread(values: np.ndarray, kind: type[Any]) -> np.ndarray:
        out = np.zeros(total, kind)
        out[at] = values
        return out

    def child(number: np.ndarray) -> np.ndarray:
        inner = number - arrays.first_node[of_split]
        leaf = ~number - arrays.first_leaf[of_split] + splits[of_split]
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
        "nodes_featureids": spread(arrays.feature, np.int64).tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values_as_tensor": tensor("nodes_values", spread(arrays.threshold, np.float64)),
        "nodes_missing_value_tracks_true": spread(arrays.missing_left, np.int64).tolist(),
        "nodes_truenodeids": child(arrays.left.astype(np.int64)).tolist(),
        "nodes_falsenodeids": child(arrays.right.astype(np.int64)).tolist(),
        "target_treeids": of_leaf.tolist(),
        "target_nodeids": leaf_id.tolist(),
        "target_ids": [0] * of_leaf.size,
        "target_weights_as_tensor": tensor("target_weights", arrays.leaf_value),
    }


def read(content: bytes, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file; the constant is one more tree of one leaf."""
    onnx = library()
    (node,) = onnx.load_from_string(content).graph.node
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    values = onnx.numpy_helper.to_array(attributes["nodes_values_as_tensor"])
    split = np.array([mode == b"BRANCH_LEQ" for mode in attributes["nodes_modes"]], bool)
    tree = np.array(attributes["nodes_treeids"], np.int64)
    count = int(tree.max(initial=-1)) + 1
    weight = onnx.numpy_helper.to_array(attributes["target_weights_as_tensor"])
    constant = onnx.numpy_helper.to_array(attributes["base_values_as_tensor"])
    number = np.where(split, np.cumsum(split) - 1, ~(np.cumsum(~split) - 1))
    place = {
        key: i for i, key in enumerate(zip(tree.tolist(), attributes["nodes_nodeids"], strict=True))
    }

    def child(name: str) -> np.ndarray:
        at = [place[t, n] for t, n in zip(tree.tolist(), attributes[name], strict=True)]
        return number[np.array(at, np.int64)][split].astype(np.int32)

    def firsts(members: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(tree[members], minlength=count))])

    nodes, leaves = firsts(split), firsts(~split)
    none = np.zeros(int(split.sum()) + 1, np.int64)
    return TreeArrays(
        feature=np.array(attributes["nodes_featureids"], np.int32)[split],
        threshold=values[split],
        missing_left=np.array(attributes["nodes_missing_value_tracks_true"], bool)[split],
        left=child("nodes_truenodeids"),
        right=child("nodes_falsenodeids"),
        leaf_value=np.concatenate([weight, constant]),
        first_node=np.append(nodes, nodes[-1]),
        first_leaf=np.append(leaves, leaves[-1] + 1),
        category_first=none,
        category=none[:0],
        categorical=np.zeros(int(split.sum()), bool),
    )


def _float32(leaves: np.ndarray) -> np.ndarray:
    """Return sums in float64, rounded to the float32 of the output."""
    return sum_in_order(leaves).astype(np.float32).astype(np.float64)


#: TreeEnsembleRegressor of ONNX Runtime on doubles: x <= threshold, or NaN where it tracks true.
_SEMANTICS = (Semantics("double", total=_float32),)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return the lines that score documents by the file."""
    return (
        f'session = onnxruntime.InferenceSession("{path}"); '
        'session.run(None, {"features": X.astype(np.float64)})[0][:, 0]'
    )
