"""Files of other programs scored in plain loops, by the rules in those programs' sources, without the package.

Each function takes a file's content, the names of the columns and a row, and returns the values of the leaves that the
row reaches, tree by tree, and the score.
"""

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from functools import lru_cache

import numpy as np

f32 = np.float32
read = lru_cache(json.loads)
read_xml = lru_cache(ElementTree.fromstring)


def quiet(function):
    """Overflow and NaN are part of the game."""

    def wrapped(*args):
        with np.errstate(all="ignore"):
            return function(*args)

    return wrapped


def sum32(values):
    total = f32(0)
    for value in values:
        total = f32(total + f32(value))
    return float(total)


@quiet
def elasticsearch(text, names, row):
    """TreeInferenceModel: Double.compare(x, t) <= 0; what isn't finite goes by default_left; the sum is compensated."""
    ensemble = read(text)["definition"]["trained_model"]["ensemble"]
    values = []
    for model in ensemble["trained_models"]:
        tree = model["tree"]
        nodes = {node["node_index"]: node for node in tree["tree_structure"]}
        node = nodes[0]
        while "leaf_value" not in node:
            assert node["decision_type"] == "lte"
            x = float(row[names.index(tree["feature_names"][node["split_feature"]])])
            t = node["threshold"]
            if not math.isfinite(x):
                left = node["default_left"]
            elif x == t == 0:
                left = math.copysign(1, x) <= math.copysign(1, t)
            else:
                left = x <= t
            node = nodes[node["left_child" if left else "right_child"]]
        values.append(node["leaf_value"])
    return values, float(f32(math.fsum(values)))


@quiet
def ltr_plugin(text, names, row):
    """NaiveAdditiveDecisionTree: float32, left if threshold > x, NaN by `missing`."""
    trees = read(read(text)["model"]["model"]["definition"])
    values = []
    for node in trees:
        while "leaf" not in node:
            assert set(node) == {
                *("nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children")
            }
            yes, no = node["children"]
            assert (yes["nodeid"], no["nodeid"]) == (node["yes"], node["no"])
            x = f32(row[names.index(node["split"])])
            if np.isnan(x):
                node = yes if node["missing"] == node["yes"] else no
            else:
                node = yes if f32(node["split_condition"]) > x else no
        values.append(node["leaf"])
    return values, sum32(values)


@quiet
def solr(text, names, row):
    """MultipleAdditiveTreesModel: float32, left if x <= threshold + 1e-6f; neither that nor above: by `missing`."""
    model = read(text)
    assert model["params"]["isNullSameAsZero"] is False
    listed = {feature["name"] for feature in model["features"]}
    values, total = [], f32(0)
    for tree in model["params"]["trees"]:
        node = tree["root"]
        while "feature" in node:
            assert node["feature"] in listed
            x = f32(row[names.index(node["feature"])])
            t = f32(f32(node["threshold"].rstrip("f")) + f32(1e-6))
            node = node["left"] if x <= t else node["right"] if x > t else node[node["missing"]]
        assert isinstance(node["value"], str)
        values.append(float(node["value"]))
        total = f32(total + f32(tree["weight"].rstrip("f")) * f32(node["value"]))
    return values, float(total)


@quiet
def vespa(text, names, row, large=True):
    """LightGBMParser and the two evaluators: x < t, or not x >= t where missing values go left; `in` for categories."""
    model = read(text)
    assert model["objective"] and "pandas_categorical" in model
    words = {}
    if model["pandas_categorical"]:
        listed = set()
        stack = [tree["tree_structure"] for tree in model["tree_info"]]
        while stack:
            node = stack.pop()
            if "leaf_value" not in node:
                if node["decision_type"] == "==":
                    listed.add(node["split_feature"])
                stack += [node["left_child"], node["right_child"]]
        words = dict(zip(sorted(listed), model["pandas_categorical"], strict=True))
    values = []
    for tree in model["tree_info"]:
        node = tree["tree_structure"]
        while "leaf_value" not in node:
            x = row[names.index(model["feature_names"][node["split_feature"]])]
            if node["decision_type"] == "==":
                codes = [int(code) for code in node["threshold"].split("||")]
                missing = not isinstance(x, str)
                among = x in [words[node["split_feature"]][code] for code in codes]
                left = node["default_left"] if missing else among
            else:
                t = float(f32(node["threshold"])) if large else float(node["threshold"])
                left = not float(x) >= t if node["default_left"] else float(x) < t
            node = node["left_child" if left else "right_child"]
        values.append(node["leaf_value"])
    total = 0.0
    for value in values:
        total += float(f32(value)) if large else value
    return values, total


@quiet
def ranklib(text, names, row):
    """Split and Ensemble: float32, x <= threshold, NaN is 0; features count from 1."""
    body = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    values, total = [], f32(0)
    for tree in read_xml(body):
        split = tree[0]
        while split[0].tag != "output":
            feature, threshold, left, right = split
            assert (left.get("pos"), right.get("pos")) == ("left", "right")
            x = f32(row[int(feature.text) - 1])
            x = f32(0) if np.isnan(x) else x
            split = left if x <= f32(threshold.text) else right
        values.append(float(split[0].text))
        total = f32(float(total) + float(f32(split[0].text)) * float(tree.get("weight")))
    return values, float(total)


@quiet
def forest_json(text, names, row):
    """The walker of docs/export.md."""
    m = read(text)
    total = f32(m["base"]) if m["float32_sum"] else m["base"]
    lowest = -1.0 if m["engine"] == "lightgbm" else -5e-324
    values = []
    for t in range(len(m["first_node"]) - 1):
        node = m["first_node"][t]
        if node == m["first_node"][t + 1]:
            node = ~m["first_leaf"][t]
        while node >= 0:
            x = float(row[m["feature"][node]])
            x = float(f32(x)) if m["float32_input"] else x
            own = m["category"][m["category_first"][node] : m["category_first"][node + 1]]
            if math.isnan(x):
                left = m["missing_left"][node]
            elif own:
                left = lowest < x < 2**31 and int(x) in own
            else:
                left = x <= float(m["threshold"][node])
            node = m["left" if left else "right"][node]
        values.append(m["leaf_value"][~node])
        total = f32(total + f32(values[-1])) if m["float32_sum"] else total + values[-1]
    return values, float(total)


#: By format; C and ONNX are run by a compiler and by a runtime.
SCORERS = {
    "elasticsearch": elasticsearch,
    "ltr-plugin": ltr_plugin,
    "solr": solr,
    "vespa": vespa,
    "ranklib": ranklib,
    "json": forest_json,
}


def blank_between_tags(text):
    """Return whether RankLib, which finds children by place, would meet a blank between two tags of one line."""
    return bool(re.search(r">[ \t]+<", text))
