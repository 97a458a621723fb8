"""Hostile model files: edits that crashed an engine once, fields of the wrong kind, and a few hundred at random."""

import base64
import json
import random
import re

import numpy as np
import pytest

import rankwood as rw
from rankwood._util import envelope
from rankwood.engines.lightgbm import text_check
from rankwood.engines.xgboost import text_check as xgboost_text
from tests.fuzz import models
from tests.fuzz.campaign import Process


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases")
    models.train_bases(folder)
    return folder


@pytest.fixture(scope="module")
def bases(folder):
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.base")}


def refuse(content, tmp_path, match="is damaged"):
    """Write content with a right checksum, and expect one sentence, when the file is read or used."""
    path = tmp_path / "m.json"
    content = {**content, "sha256": envelope.checksum(content)}
    path.write_text(json.dumps(content))
    cls = getattr(rw, content["kind"])
    with pytest.raises(rw.InputError, match=match) as error:
        cls.load(path).predict(models._data())
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def lightgbm_edit(content, pattern, replacement):
    """Return a file whose LightGBM text was edited, with sizes of trees that agree."""
    text, count = re.subn(pattern, replacement, content["model"], count=1, flags=re.MULTILINE)
    assert count == 1
    return {**content, "model": models.with_sizes(text)}


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"^left_child=\S+", "left_child=0"),  # a loop
        (r"^left_child=\S+", "left_child=1000000"),
        (r"^left_child=\S+", "left_child=-100000000"),
        (r"^left_child=\S+", "left_child=-200"),
        (r"^(left_child=)(\S+)(.*\nright_child=)\S+", r"\1\2\3\2"),  # two parents
        (r"^split_feature=\S+", "split_feature=1000000000"),
        (r"^split_feature=\S+", "split_feature=-40"),
        (r"^split_feature=\S+", "split_feature=5"),
        (r"^num_tree_per_iteration=1", "num_tree_per_iteration=0"),
        (r"^num_class=1", "num_class=3"),
        (r"^max_feature_idx=4", "max_feature_idx=40"),
        (r"^num_leaves=6", "num_leaves=-5"),
        (r"^num_leaves=6", "num_leaves=7"),
        (r"^num_cat=0", "num_cat=5"),
        (r"^decision_type=\S+", "decision_type=1"),
        (r"^leaf_value=\S+", "leaf_value=nan"),
        (r"^leaf_value=\S+", "leaf_value=1e999"),
        (r"^leaf_value=", "leaf_value=1 "),
        (r"^leaf_value=\S+", "leaf_value=1_0"),
        (r"^threshold=\S+ ", "threshold="),
        (r"^split_gain=\S+", "split_gain=x"),
        (r"^shrinkage=.*", "shrinkage=1 2"),
        (r"^is_linear=0", "is_linear=1"),
        (r"^is_linear=0", "other=0"),
        (r"^Tree=1$", "Tree=2"),
        (r"^feature_names=\S+ ", "feature_names="),
        (r"^objective=.*|^label_index=0", "label_index=0\nobjective=lambdarank"),
        (r"^\[boosting: gbdt\]$", "[boosting"),
        (r"^parameters:[\s\S]*", "parameters:\n[boosting: gb"),
        (r"^end of trees$", "end of"),
        (r"^pandas_categorical:null$", "pandas_categorical:[[1]]"),
        (r"^tree$", "tree\r"),
    ],
)
def test_edits_of_a_lightgbm_text(bases, tmp_path, pattern, replacement):
    refuse(
        lightgbm_edit(bases["lightgbm"], pattern, replacement),
        tmp_path,
        "LightGBM model is damaged",
    )


@pytest.mark.parametrize(
    ("base", "pattern", "replacement"),
    [
        ("lightgbm-categories", r"^cat_boundaries=0 \d+", "cat_boundaries=0 1000000"),
        ("lightgbm-categories", r"^cat_boundaries=0", "cat_boundaries=5"),
        ("lightgbm-categories", r"^cat_threshold=\d+", "cat_threshold=4294967296"),
        ("lightgbm-categories", r"^num_cat=[1-9]", "num_cat=0"),
        ("lightgbm-linear", r"^leaf_features=\d+", "leaf_features=1000000"),
        ("lightgbm-linear", r"^num_features=\d+", "num_features=1000000000"),
        ("lightgbm-linear", r"^leaf_coeff=\S+ ", "leaf_coeff="),
        ("lightgbm-linear", r"^leaf_const=\S+", "leaf_const=inf"),
    ],
)
def test_edits_of_categories_and_linear_leaves(bases, tmp_path, base, pattern, replacement):
    content = bases[base]
    # The first tree need not have any.
    head, *trees = re.split(r"(?=^Tree=)", content["model"], flags=re.MULTILINE)
    at = next(i for i, tree in enumerate(trees) if re.search(pattern, tree, re.MULTILINE))
    trees[at] = re.sub(pattern, replacement, trees[at], count=1, flags=re.MULTILINE)
    content = {**content, "model": models.with_sizes(head + "".join(trees))}
    refuse(content, tmp_path, "LightGBM model is damaged")


def test_sizes_of_trees_must_agree(bases, tmp_path):
    text = bases["lightgbm"]["model"].replace("tree_sizes=", "tree_sizes=1", 1)
    refuse({**bases["lightgbm"], "model": text}, tmp_path, "tree 0 doesn't begin and end where")
    text = re.sub(r"^(tree_sizes=\d+).*", r"\1", bases["lightgbm"]["model"], flags=re.MULTILINE)
    refuse({**bases["lightgbm"], "model": text}, tmp_path, "more trees than tree_sizes says")


@pytest.mark.slow
def test_every_cut_of_a_lightgbm_text(bases):
    text = bases["lightgbm"]["model"]
    assert text_check.check(text) == 5
    for end in range(0, len(text), 7):
        with pytest.raises(rw.InputError, match="LightGBM model is damaged"):
            text_check.check(text[:end])


def xgboost_edit(content, path, value):
    """Return a file of XGBoost with one value of its first tree, or of its learner, replaced."""
    held = json.loads(content["model"])
    at = held["learner"]
    if path[0] == "tree":
        booster = at["gradient_booster"]
        at, path = booster.get("gbtree", booster)["model"]["trees"][0], path[1:]
    for name in path[:-1]:
        at = at[name]
    assert at[path[-1]] != value
    at[path[-1]] = value
    return {**content, "model": json.dumps(held)}


@pytest.mark.parametrize(
    ("base", "path", "value"),
    [
        ("xgboost", ("tree", "left_children", 0), 1_000_000),
        ("xgboost", ("tree", "left_children", 0), -1),
        ("xgboost", ("tree", "right_children", 0), 0),
        ("xgboost", ("tree", "right_children", 0), 1),
        ("xgboost", ("tree", "split_indices", 0), 10**6),
        ("xgboost", ("tree", "split_indices", 1), 2**31 - 1),
        ("xgboost", ("tree", "parents", 1), -1),
        ("xgboost", ("tree", "parents", 1), 2),
        ("xgboost", ("tree", "parents", 0), 0),
        ("xgboost", ("tree", "split_conditions", 0), 1e39),
        ("xgboost", ("tree", "split_conditions"), [0.0]),
        ("xgboost", ("tree", "split_type", 0), 1),
        ("xgboost", ("tree", "default_left", 0), 7),
        ("xgboost", ("tree", "id"), 3),
        ("xgboost", ("tree", "categories"), [1]),
        ("xgboost", ("tree", "tree_param", "num_nodes"), "1000"),
        ("xgboost", ("tree", "tree_param", "num_deleted"), "1"),
        ("xgboost", ("tree", "tree_param", "size_leaf_vector"), "5"),
        ("xgboost", ("learner_model_param", "num_feature"), "1"),
        ("xgboost", ("learner_model_param", "num_class"), "3"),
        ("xgboost", ("learner_model_param", "base_score"), "x"),
        ("xgboost", ("learner_model_param", "base_score"), "1E99"),
        ("xgboost", ("learner_model_param", "base_score"), "9" * 60),
        ("xgboost", ("objective", "name"), "multi:softmax"),
        ("xgboost", ("feature_types",), ["z"] * 5),
        ("xgboost", ("gradient_booster", "name"), "gblinear"),
        ("xgboost", ("gradient_booster", "model", "tree_info", 0), 1),
        ("xgboost", ("gradient_booster", "model", "iteration_indptr"), [0, 9]),
        ("xgboost", ("gradient_booster", "model", "cats", "enc"), [1]),
        ("xgboost-dart", ("gradient_booster", "weight_drop"), [1.0]),
        ("xgboost-categories", ("tree", "categories", 0), -1),
        ("xgboost-categories", ("tree", "categories", 0), 2**40),
        ("xgboost-categories", ("tree", "categories_sizes", 0), 10**6),
        ("xgboost-categories", ("tree", "categories_nodes", 0), 10**6),
        ("xgboost-categories", ("tree", "categories_segments", 0), 1),
    ],
)
def test_edits_of_an_xgboost_text(bases, tmp_path, base, path, value):
    refuse(xgboost_edit(bases[base], path, value), tmp_path, "XGBoost model is damaged")


def test_an_xgboost_text_can_be_read_in_one_way_only(bases):
    text = bases["xgboost"]["model"]
    assert xgboost_text.check(text) == 5
    for other in (
        text[:-1],
        text.replace("{", '{"version":[3,0,0],', 1),
        text.replace("left", "le\\u0066t"),
        "[" * 9**5,
    ):
        with pytest.raises(rw.InputError, match="XGBoost model is damaged"):
            xgboost_text.check(other)


def deep(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("base", "fields"),
    [
        ("lightgbm", {"best_iteration": float("inf")}),
        ("lightgbm", {"best_iteration": True}),
        ("lightgbm", {"n_features": 2**70}),
        ("lightgbm", {"n_features": -1}),
        ("lightgbm", {"feature_names": ["a"]}),
        ("lightgbm", {"feature_names": [1, 2, 3, 4, 5]}),
        ("lightgbm", {"feature_names": "x"}),
        ("lightgbm", {"history": {"ndcg": "x"}}),
        ("lightgbm", {"seconds": {"x": []}, "record": {"y": True}}),
        ("lightgbm", {"letor": {"absent": "x"}}),
        ("lightgbm", {"letor": {"marker": 7}}),
        ("lightgbm", {"letor": "abc"}),
        ("lightgbm", {"history": deep(80)}),
        ("pairtree", {"params": {"n_jobs": 2**31}}),
        ("lightgbm", {"params": {"objective__x": 1}}),
        ("lightgbm", {"engine": "xgboost"}),
        ("lightgbm", {"engine": "pairtree"}),
        ("lightgbm", {"model": "\ud800"}),
        ("lightgbm", {"params": {"engine": "xgboost"}}),
        ("two-stage", {"letor": "x"}),
        ("two-stage", {"letor": {"absent": "x"}}),
        ("two-stage", {"first": []}),
        ("two-stage", {"first": [7]}),
        ("two-stage", {"folds": [2**70]}),
        ("neural", {"n_features": 10**7}),
    ],
)
def test_fields_of_the_wrong_kind(bases, tmp_path, base, fields):
    refuse({**bases[base], **fields}, tmp_path)


@pytest.mark.parametrize(
    ("base", "fields"),
    [
        ("pairtree", {"leaves": [2**70]}),
        ("pairtree", {"leaves": [2**61] * 8}),
        ("pairtree", {"n_features": 2}),
        ("pairtree", {"arrays": {}}),
        ("lightgbm-pairs", {"differences": [10**12]}),
        ("lightgbm-pairs", {"differences": "all"}),
        ("lightgbm-pairs", {"differences": [0, 0]}),
        ("lightgbm-pairs", {"differences": []}),
        ("lightgbm-pairs", {"n_features": 4}),
        ("lightgbm-pairs", {"lightgbm": "tree\n"}),
        ("lightgbm-pairs", {"lightgbm": 5}),
        ("catboost", {"categorical": None}),
        ("catboost", {"categorical": [float("inf")]}),
        ("catboost", {"categorical": [99]}),
        ("catboost", {"trees": -1}),
        ("catboost", {"trees": "x"}),
        ("catboost", {"cbm": "AAAA"}),
        ("catboost", {"cbm": "?"}),
        ("catboost", {"cbm": None}),
    ],
)
def test_models_that_are_json_of_ours(bases, tmp_path, base, fields):
    held = {**json.loads(bases[base]["model"]), **fields}
    refuse({**bases[base], "model": json.dumps(held)}, tmp_path)


def test_numbers_of_the_wrong_type_in_a_network(bases, tmp_path):
    from rankwood.neural.tensors import from_text, to_text

    arrays = from_text(bases["neural"]["model"], "x")
    name = next(name for name in arrays if name.endswith("weight"))
    for other in (arrays[name].astype(np.float64), arrays[name].astype(np.int8)):
        refuse(
            {**bases["neural"], "model": to_text({**arrays, name: other})},
            tmp_path,
            "expected float32",
        )
    refuse({**bases["neural"], "model": base64.b64encode(b"\xff" * 64).decode()}, tmp_path)


def test_files_that_are_no_model(tmp_path):
    path = tmp_path / "m.json"
    for text, match in (
        ('{"format": "rankwood-model", "x": ' + "9" * 5000 + "}", "too many digits"),
        ("[" * 10**5, "too deep"),
        ('{"format": "rankwood-model", "format_version": 1, "kind": 5}', "checksum"),
    ):
        path.write_text(text)
        with pytest.raises(rw.InputError, match=match):
            rw.Ranker.load(path)
    with pytest.raises(rw.InputError, match="is a device"):
        rw.Ranker.load("/dev/zero")
    with pytest.raises(rw.InputError, match="can't be the name of a file"):
        rw.Ranker.load("a\0b")


def test_a_thousand_trees_are_checked_in_no_time(bases):
    """One tree of 64 leaves, a thousand times: as long as it takes to read so much JSON twice, at most."""
    from time import process_time

    text = bases["lightgbm"]["model"]
    tree = chain_tree(64)
    trees = "".join(tree.replace("Tree=0", f"Tree={i}") for i in range(1000))
    head, _, rest = text.partition("Tree=0")
    whole = models.with_sizes(head + trees + "end of trees" + rest.partition("end of trees")[2])
    began = process_time()
    assert text_check.check(whole) == 5
    assert process_time() - began < 2.0


def chain_tree(leaves):
    """Return the text of a tree in which every left child is a leaf."""
    nodes = leaves - 1
    lines = {
        "num_leaves": [leaves],
        "num_cat": [0],
        "split_feature": [0] * nodes,
        "threshold": [0.1234567890123456] * nodes,
        "decision_type": [2] * nodes,
        "left_child": [-1 - i for i in range(nodes)],
        "right_child": [*range(1, nodes), -leaves],
        "leaf_value": [0.0123456789012345678] * leaves,
        "is_linear": [0],
        "shrinkage": [0.1],
    }
    return "Tree=0\n" + "".join(f"{k}={' '.join(map(str, v))}\n" for k, v in lines.items()) + "\n\n"


def test_pairs_of_very_many_features_take_no_memory(bases, tmp_path):
    content = bases["lightgbm-pairs"]
    held = {**json.loads(content["model"]), "n_features": 2**62}
    refuse({**content, "model": json.dumps(held)}, tmp_path)


@pytest.mark.slow
def test_a_few_hundred_files_at_random(folder, monkeypatch):
    monkeypatch.setenv("RANKWOOD_FUZZ_BASES", str(folder))
    process = Process(folder)
    try:
        result = process.run("models", 7, 0, 250)
    finally:
        process.close()
    assert result.findings == []
    assert result.accepted + result.refused == 250 and 20 < result.accepted < 180


def test_a_change_stays_in_its_own_file():
    rng, before = random.Random(1), repr(models.OTHERS)
    for _ in range(2000):
        content = {"a": {}, "b": [[]], "c": 1}
        for _ in range(4):
            models.change_json(rng, content)
        json.dumps(content)  # nothing holds itself
    assert repr(models.OTHERS) == before
