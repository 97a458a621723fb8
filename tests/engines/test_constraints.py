"""Constraints by the names of features, measured on predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rankwood as rw

NAMES = ["price", "stock", "title", "body", "age"]
ENGINES = {"lightgbm": "lambdarank-ndcg@10", "xgboost": "lambdarank-ndcg@10", "catboost": "softmax"}


@pytest.fixture(scope="module")
def data():
    """Labels fall with the price and rise with the stock only where titles are good: neither is monotone by itself."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(900, 5))
    raw = np.sin(2 * X[:, 0]) - X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=900)
    y = np.digitize(raw, [0.0, 1.0, 2.0]).astype(float)
    return rw.RankingData(X, y, group=[30] * 30, feature_names=NAMES)


def ranker(engine, **params):
    shared = {"n_estimators": 40, "learning_rate": 0.2, "num_leaves": 15, "n_jobs": 1}
    return rw.Ranker(ENGINES[engine], engine, **shared, **params)


def steps(model, data, column):
    """Return how scores change along a feature, all others being equal."""
    grid = np.linspace(-2.5, 2.5, 41)
    rows = np.repeat(data.X[:60], grid.size, axis=0)
    rows[:, column] = np.tile(grid, 60)
    return np.diff(model.predict(rows).reshape(60, grid.size), axis=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_are_monotone(data, engine):
    free = ranker(engine).fit(data)
    bound = ranker(engine, monotone={"price": -1, "stock": 1}).fit(data)
    for column, direction in ((0, -1), (1, 1)):
        assert direction * steps(free, data, column).min() < 0 or (
            direction * steps(free, data, column).max() < 0
        )
        along = direction * steps(bound, data, column)
        assert along.min() >= 0 and along.max() > 0.01
    assert steps(bound, data, 2).min() < 0 < steps(bound, data, 2).max()  # others are free


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_and_the_words_of_engines_mean_the_same(data, engine, tmp_path):
    expected = ranker(engine, monotone={"price": -1, "stock": 1}).fit(data).predict(data)
    for word, value in {
        "monotone": {0: -1, 1: 1},
        "monotone_constraints": {"price": -1, "stock": 1},
        "monotonic_cst": [-1, 1, 0, 0, 0],
        "mc": "(-1,1,0,0,0)",
    }.items():
        model = ranker(engine, **{word: value}).fit(data)
        np.testing.assert_array_equal(model.predict(data), expected)
    model = ranker(engine, monotone={0: -1, 1: 1}).fit(data)
    model.save(tmp_path / "m.json")
    # JSON has no keys that are numbers.
    again = clone(rw.Ranker.load(tmp_path / "m.json")).fit(data)
    np.testing.assert_array_equal(again.predict(data), expected)


def features_of_branches(engine, model):
    """Return the sets of features on the paths from a root to a leaf."""
    table = model.model_.loaded()
    if engine == "xgboost":
        frame = table.trees_to_dataframe()
        nodes = {row.ID: row for row in frame.itertuples()}
        roots = [row.ID for row in frame.itertuples() if row.Node == 0]

        def paths(at, seen):
            row = nodes[at]
            if row.Feature == "Leaf":
                return [seen]
            seen = seen | {int(row.Feature[1:])}
            return paths(row.Yes, seen) + paths(row.No, seen)

        return [path for root in roots for path in paths(root, frozenset())]

    def walk(node, seen):
        if "split_feature" not in node:
            return [seen]
        seen = seen | {node["split_feature"]}
        return walk(node["left_child"], seen) + walk(node["right_child"], seen)

    trees = table.dump_model()["tree_info"]
    return [path for tree in trees for path in walk(tree["tree_structure"], frozenset())]


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_only_groups_of_features_interact(data, engine):
    """Features in no group are a group of their own."""
    free = features_of_branches(engine, ranker(engine).fit(data))
    assert any({0, 2} <= path for path in free)
    for groups in ([["price", "stock"]], [[0, 1]]):
        paths = features_of_branches(engine, ranker(engine, interactions=groups).fit(data))
        assert all(path <= {0, 1} or path <= {2, 3, 4} for path in paths)
        assert any(path == {0, 1} for path in paths) and any(
            len(path & {2, 3, 4}) > 1 for path in paths
        )
    native = ranker(engine, interaction_constraints=[["price", "stock"], ["title", "body"]])
    paths = features_of_branches(engine, native.fit(data))
    assert all(p <= {0, 1} or p <= {2, 3} or p <= {4} for p in paths)


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_have_no_direction(data, engine):
    X = np.column_stack([np.arange(900) % 3, data.X[:, 0]])
    table = rw.RankingData(X, data.y, qid=data.qid, feature_names=["kind", "price"])
    with pytest.raises(rw.InputError, match="'kind' is categorical, and categories have no order"):
        ranker(engine, monotone={"kind": 1}, categorical_feature=["kind"]).fit(table)
    frame = pd.DataFrame(data.X, columns=NAMES).assign(kind=pd.Categorical(["a", "b", "c"] * 300))
    with pytest.raises(rw.InputError, match="'kind' is categorical, and categories have no order"):
        ranker(engine, monotone={"kind": 1}).fit(frame, data.y, qid=data.qid)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"²": 1}, "there is no feature '²'"),
        ({"price": np.array([1, 0])}, "a direction must be 1, -1 or 0"),
        ({"price": "1"}, "a direction must be 1, -1 or 0"),
        ("-" * 5000 + "1", "monotone must be as in"),
        ("9" * 5000, "monotone must be as in"),
    ],
)
def test_odd_directions(data, value, message):
    with pytest.raises(rw.InputError, match=message):
        ranker("lightgbm", monotone=value).fit(data)


def test_catboost_with_categories_before_the_constrained_feature(data):
    X = np.column_stack([np.arange(900) % 3, data.X[:, 0]])
    table = rw.RankingData(X, data.y, qid=data.qid, feature_names=["kind", "price"])
    model = ranker("catboost", monotone={"price": -1}, categorical_feature=["kind"]).fit(table)
    rows = np.column_stack([np.zeros(50), np.linspace(-2.5, 2.5, 50)])
    assert np.diff(model.predict(rows)).max() <= 0 and np.ptp(model.predict(rows)) > 0.1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"monotone": {"prise": -1}},
            "monotone: there is no feature 'prise'; did you mean 'price'",
        ),
        ({"monotone": {"price": 2}}, "a direction must be 1, -1 or 0, got 2"),
        ({"monotone": {9: 1}}, "must be below 5, the number of features, got 9"),
        ({"monotone": [1, 0]}, "has 2 values, but there are 5 features"),
        ({"monotone": 1}, r"must be as in monotone=\{'price': -1\}"),
        ({"monotone_constraints": "nonsense("}, r"must be as in monotone=\{'price': -1\}"),
        (
            {"interactions": ["price", "stock"]},
            r"must be as in interactions=\[\['price', 'stock'\]",
        ),
        ({"interactions": [[]]}, "there is an empty group"),
        ({"interactions": [["prize"]]}, "there is no feature 'prize'; did you mean 'price'"),
        ({"monotone": {"price": 1}, "mc": [1]}, "monotone and mc are the same parameter"),
        (
            {"monotone": {"price": 1}, "engine": "pairtree", "objective": "bi-lambdarank-ndcg@5"},
            "monotone is for models of documents",
        ),
        (
            {"interactions": [["price"]], "engine": "catboost", "objective": "softmax"},
            "engine='catboost' has no interactions",
        ),
        (
            {"monotone": {"price": 1}, "engine": "catboost", "objective": "yetirank"},
            "CatBoost's YetiRank doesn't keep to monotone; use engine='lightgbm'",
        ),
    ],
)
def test_wrong_constraints(data, params, message):
    with pytest.raises(rw.InputError, match=message):
        rw.Ranker(**params).fit(data)
    if "no feature" not in message and "are the same" in message:
        return
    small = rw.Ranker(n_estimators=1)
    with pytest.raises(rw.InputError, match="in first, "):  # before anything is trained
        rw.TwoStage(rw.Ranker(**params), small, folds=2).fit(data)
