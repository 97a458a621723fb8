"""Forests on disk: what was saved comes back, and no file that was made or cut by hand gets through."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.engines.model_trees.arrays import ARRAYS
from rankwood.forest import array_checks as checking
from rankwood.report.card import read_card
from tests.helpers.examples import examples
from tests.helpers.forest_models import SMALL, data, features
from tests.helpers.random_forests import random_forest

THRESHOLDS = np.array([0.5, -0.5, np.inf, -np.inf, 1e-40])


@pytest.fixture(scope="module")
def forest():
    return random_forest(np.random.default_rng(3), "lightgbm", 4, 6, 3, THRESHOLDS)


@pytest.fixture(scope="module")
def saved(forest, tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "forest.json"
    forest.save(path)
    return json.loads(path.read_text())


def same(a, b):
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)
    plain = ("engine", "base", "float32_input", "float32_sum", "n_features", "feature_names")
    return arrays and all(getattr(a, name) == getattr(b, name) for name in plain)


@examples(20)
@given(seed=st.integers(0, 2**32 - 1), engine=st.sampled_from(checking.ENGINES))
def test_a_saved_forest_comes_back(tmp_path_factory, seed, engine):
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, engine, int(rng.integers(0, 5)), 8, 3, THRESHOLDS)
    path = tmp_path_factory.getbasetemp() / f"{seed}.json"
    forest.save(path)
    assert same(rw.Forest.load(path), forest)
    assert same(pickle.loads(pickle.dumps(forest)), forest)
    assert same(copy.deepcopy(forest), forest)


def test_arrays_can_not_be_changed(forest):
    with pytest.raises(ValueError, match="read-only"):
        forest.left[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        copy.copy(forest).threshold[0] = 5


def test_a_model_file_is_read_too(tmp_path):
    ranker = rw.Ranker(**SMALL).fit(data())
    ranker.save(tmp_path / "model.json")
    assert same(rw.Forest.load(tmp_path / "model.json"), ranker.forest())


def test_infinite_thresholds_are_real_and_come_back(tmp_path):
    X = features()
    missing = rw.RankingData(X, np.isnan(X[:, 9]) * 2, group=[20] * 30)
    ranker = rw.Ranker("queryrmse", extra_trees=False, **SMALL).fit(missing)
    forest = ranker.forest()
    assert np.isinf(forest.threshold).any()  # missing values against all others
    ranker.save(tmp_path / "model.json")
    forest.save(tmp_path / "forest.json")
    rows = features(90, 1)
    rows[::7, 9] = np.inf
    expected = ranker.model_.predict(rows, n_jobs=1)
    assert np.array_equal(rw.Ranker.load(tmp_path / "model.json").predict(rows), expected)
    assert np.array_equal(rw.Forest.load(tmp_path / "forest.json").predict(rows), expected)
    assert np.array_equal(ranker.scorer()(rows), expected)


def with_value(name, value):
    return lambda content: content.__setitem__(name, value)


def first_of(name, value):
    return lambda content: content[name].__setitem__(0, value)


BROKEN = {
    "engine": (with_value("engine", "ranklib"), "engine must be one of"),
    "engine-list": (with_value("engine", []), "engine must be one of"),
    "missing": (lambda content: content.pop("left"), "'left' is missing"),
    "more": (with_value("leaves", 3), "'leaves' doesn't belong there"),
    "version": (with_value("format_version", 2), "format version 2"),
    "no-list": (with_value("left", 5), "left must be a list"),
    "nested": (with_value("left", [[1]]), "left must be a list of whole numbers"),
    "text": (first_of("left", "1"), "left must be a list of whole numbers"),
    "fraction": (first_of("left", 1.5), "left must be a list of whole numbers"),
    "huge": (first_of("left", 2**40), "left has a number beyond int32"),
    "larger": (first_of("left", 10**40), "left must be a list of whole numbers"),
    "itself": (first_of("left", 0), "left has a child that isn't a later node or a leaf"),
    "beyond": (first_of("right", 10**6), "right has a child that isn't"),
    "leaf-beyond": (first_of("right", -(10**6)), "right has a child that isn't"),
    "feature": (first_of("feature", 3), "feature must be from 0 to 2"),
    "negative": (first_of("feature", -1), "feature must be from 0 to 2"),
    "nan": (first_of("threshold", float("nan")), "threshold must not be NaN"),
    "word": (first_of("threshold", "much"), "threshold must be a list of numbers"),
    "leaf-nan": (first_of("leaf_value", float("nan")), "leaf_value must be from"),
    "leaf-inf": (first_of("leaf_value", 1e200), "leaf_value must be from"),
    "cover": (first_of("cover", float("inf")), "cover must be finite"),
    "truth": (first_of("missing_left", 1), "missing_left must be a list of truth values"),
    "starts": (first_of("first_node", 1), "first_node must rise from 0"),
    "no-starts": (with_value("first_node", []), "first_node must rise from 0"),
    "short": (lambda content: content["gain"].pop(), "gain must have"),
    "category": (with_value("category", [1]), "category_first must rise from 0 to 1"),
    "categorical": (first_of("categorical", True), "must have categories"),
    "base": (with_value("base", 10**400), "base must be from"),
    "base-text": (with_value("base", "0"), "base must be a number"),
    "flag": (with_value("float32_sum", 0), "must be true or false"),
    "width": (with_value("n_features", -1), "n_features must be a whole number"),
    "names": (with_value("feature_names", ["a"]), "feature_names must be 3 names"),
    "names-number": (with_value("feature_names", 7), "feature_names must be a list or null"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence(saved, tmp_path, name):
    content = copy.deepcopy(saved)
    change, message = BROKEN[name]
    change(content)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(content))
    with pytest.raises(rw.InputError) as caught:
        rw.Forest.load(path)
    assert message in str(caught.value) and str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [0.5, 0.9, 0.999])
def test_a_file_that_is_cut(saved, tmp_path, cut):
    text = json.dumps(saved)
    (tmp_path / "cut.json").write_text(text[: int(len(text) * cut)])
    with pytest.raises(rw.InputError, match="a damaged one: not JSON"):
        rw.Forest.load(tmp_path / "cut.json")


def test_a_node_with_two_parents(saved, tmp_path):
    content = copy.deepcopy(saved)
    content["right"][0] = content["left"][0]
    (tmp_path / "broken.json").write_text(json.dumps(content))
    with pytest.raises(rw.InputError, match="two parents"):
        rw.Forest.load(tmp_path / "broken.json")


def test_other_files(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(rw.InputError, match="not a model that"):
        rw.Forest.load(tmp_path / "other.json")
    with pytest.raises(rw.InputError, match="can't be read"):
        rw.Forest.load(tmp_path / "none.json")


@pytest.mark.parametrize("text", ["5", "NaN", '"x"', "[]", "null"])
def test_json_that_is_no_object(text, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(text)
    for read in (rw.Ranker.load, rw.Forest.load, read_card):
        with pytest.raises(rw.InputError) as error:
            read(path)
        assert "\n" not in str(error.value)
