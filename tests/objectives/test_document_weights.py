"""Weights of documents: losses that are sums over documents, against plain loops, and what is refused."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.objectives.families.registry import objective
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.examples import examples
from tests.helpers.random_lists import random_lists

NAMES = ("rmse", "queryrmse", "softmax", "listnet")


def loss(name, y, s, w):
    """The loss of one query with weights of documents, by its definition."""
    if name == "rmse":
        return 0.5 * sum(c * (a - b) ** 2 for a, b, c in zip(s, y, w, strict=True))
    if name == "queryrmse":
        errors = [a - b for a, b in zip(s, y, strict=True)]
        mean = sum(a * e for a, e in zip(w, errors, strict=True)) / sum(w)
        return 0.5 * sum(a * (e - mean) ** 2 for a, e in zip(w, errors, strict=True))
    target = list(y)
    if name == "listnet":
        target = [math.exp(v) / sum(math.exp(u) for u in y) for v in y]
    chance = [math.exp(v) / sum(math.exp(u) for u in s) for v in s]
    return -sum(a * t * math.log(p) for a, t, p in zip(w, target, chance, strict=True))


def derivatives(name, y, s, w):
    """Gradient by the definition; Hessian as documented."""
    n = len(y)
    if name == "rmse":
        return [w[i] * (s[i] - y[i]) for i in range(n)], list(w)
    if name == "queryrmse":
        errors = [s[i] - y[i] for i in range(n)]
        mean = sum(w[i] * errors[i] for i in range(n)) / sum(w)
        return [w[i] * (errors[i] - mean) for i in range(n)], list(w)
    target = list(y)
    if name == "listnet":
        target = [math.exp(v) / sum(math.exp(u) for u in y) for v in y]
    chance = [math.exp(v) / sum(math.exp(u) for u in s) for v in s]
    total = sum(w[i] * target[i] for i in range(n))
    gradient = [total * chance[i] - w[i] * target[i] for i in range(n)]
    return gradient, [total * p * (1 - p) for p in chance]


documents = st.lists(
    st.tuples(st.integers(0, 4), st.floats(-4, 4), st.floats(0.01, 100), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("name", NAMES)
@examples(60, deadline=None)
@given(documents)
def test_gradients_equal_plain_loops(name, rows):
    y, s, w, q = (np.array(column, float) for column in zip(*rows, strict=True))
    data = rw.RankingData(np.zeros((y.size, 1)), y, qid=q)
    computer = GradientComputer(objective(name), data.y, data.groups, sample_weight=w)
    grad, hess = computer(s)
    for query in np.unique(q):
        at = np.flatnonzero(q == query)
        expected = derivatives(name, y[at].tolist(), s[at].tolist(), w[at].tolist())
        scale = 1e-9 * (1 + np.abs(w[at]).max() * (1 + y[at].sum()))
        np.testing.assert_allclose(grad[at], expected[0], rtol=1e-9, atol=scale)
        np.testing.assert_allclose(hess[at], expected[1], rtol=1e-9, atol=scale)


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_gradient_is_that_of_the_plain_loss(name):
    y, s, w = [2.0, 0.0, 1.0, 0.0], [0.3, -0.2, 0.9, 0.1], [0.5, 3.0, 1.5, 0.2]
    gradient, _ = derivatives(name, y, s, w)
    for i in range(4):
        up, down = ([v + h * (j == i) for j, v in enumerate(s)] for h in (1e-5, -1e-5))
        slope = (loss(name, y, up, w) - loss(name, y, down, w)) / 2e-5
        assert slope == pytest.approx(gradient[i], abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_in_single_precision_with_weights_of_queries(name, rng):
    _, y, sizes = random_lists(rng)
    w, of_query = rng.random(y.size) + 0.1, rng.random(sizes.size) + 0.1
    data = rw.RankingData(np.zeros((y.size, 1)), y, group=sizes)
    scores = rng.normal(size=y.size)
    full = GradientComputer(objective(name), data.y, data.groups, of_query, sample_weight=w)
    single = GradientComputer(
        objective(name), data.y, data.groups, of_query, dtype=np.float32, sample_weight=w
    )
    for a, b in zip(full(scores), single(scores), strict=True):
        assert b.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5 * np.abs(a).max())
    alone = GradientComputer(objective(name), data.y, data.groups, sample_weight=w)(scores)
    np.testing.assert_allclose(full(scores)[0], alone[0] * np.repeat(of_query, sizes), rtol=1e-12)


# Data and training


def test_equal_weights_in_a_query_are_a_weight_of_the_query():
    X, y, qid = np.zeros((4, 1)), [0, 1, 2, 0], [1, 2, 1, 2]
    data = rw.RankingData(X, y, qid=qid, sample_weight=[2, 5, 2, 5], weight=[1, 10])
    assert data.weight.tolist() == [2, 50] and data.sample_weight is None
    data = rw.RankingData(X, y, qid=qid, sample_weight=[2, 5, 2, 4])
    assert data.weight is None and data.sample_weight.tolist() == [2, 5, 2, 4]
    assert data.select([0]).weight.tolist() == [2] and data.select([0]).sample_weight is None
    part = data.select([1])
    assert part.weight is None and part.sample_weight.tolist() == [5, 4]
    other = rw.RankingData(X[:2], y[:2], qid=[7, 7], weight=[3])
    whole = rw.RankingData.concat([data, other])
    assert whole.sample_weight.tolist() == [2, 5, 2, 4, 1, 1] and whole.weight.tolist() == [1, 1, 3]
    cut = whole.cut_to(np.array([True, False, True, True, True, True]))
    assert cut.weight.tolist() == [2, 4, 3] and cut.sample_weight is None


def test_a_column_may_have_the_weights():
    table = pd.DataFrame({"x": [1.0, 2.0], "w": [1.0, 3.0], "y": [0, 1]})
    data = rw.RankingData(table, "y", sample_weight="w")
    assert data.sample_weight.tolist() == [1, 3] and data.feature_names == ["x"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], "sample_weight has 3 values, but there are 4 rows"),
        ([1, 1, 1, 0], "sample_weight must be above zero, got 0 at row 3: omit documents"),
        ([1, 1, 1, np.nan], "sample_weight must be finite numbers, got nan at row 3"),
        ([[1, 1], [1, 1]], "sample_weight must have one dimension"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(rw.InputError, match=message):
        rw.RankingData(np.zeros((4, 1)), [0, 1, 2, 0], sample_weight=weights)


def small(name, engine="lightgbm", **params):
    return rw.Ranker(name, engine, **{"n_estimators": 3, "n_jobs": 1, "num_leaves": 4, **params})


def test_rows_of_a_query_with_the_same_weight_train_as_a_weight_of_the_query(rng):
    X, y, qid = rng.random((120, 3)), rng.integers(0, 3, 120), np.repeat(np.arange(4), 30)
    given = small("lambdarank-ndcg@10").fit(X, y, qid=qid, sample_weight=np.float32(qid + 1))
    same = small("lambdarank-ndcg@10").fit(X, y, qid=qid, weight=[1, 2, 3, 4])
    assert given.predict(X).tobytes() == same.predict(X).tobytes()


@pytest.mark.parametrize(
    "name", ["lambdarank-ndcg@10", "bi-softmax", "yetirank", "approxndcg", "xendcg"]
)
def test_other_objectives_refuse_them(name, rng):
    what = "whole lists" if name in ("approxndcg", "xendcg") else "pairs"
    message = f"differs within a query, and this objective is a sum over {what}, not over documents"
    with pytest.raises(rw.InputError, match=message):
        small(name, None).fit(
            rng.random((4, 1)), [0, 1, 2, 0], group=[2, 2], sample_weight=[1, 1, 1, 2]
        )


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("lightgbm", "softmax"),
        ("xgboost", "listnet"),
        ("lightgbm", "queryrmse"),
        ("catboost", "queryrmse"),
    ],
)
def test_leaves_of_one_tree_are_newton_steps(engine, name, rng):
    """One split on a feature of 0 and 1: a leaf is minus the sum of gradients over that of Hessians."""
    pytest.importorskip(engine)
    y, w = rng.integers(0, 3, 60).astype(float), rng.random(60) + 0.1
    X = (rng.random((60, 1)) > 0.5).astype(float)
    data = rw.RankingData(X, y, group=[10] * 6, sample_weight=w, weight=np.arange(1.0, 7.0))
    params = {"learning_rate": 1.0, "max_depth": 1, "n_estimators": 1, "num_leaves": 2}
    extra = {"extra_trees": False} if engine == "lightgbm" else {}
    scores = small(name, engine, **params, **extra).fit(data).predict(X)
    parts = [
        derivatives(name, y[i : i + 10], np.zeros(10), w[i : i + 10]) for i in range(0, 60, 10)
    ]
    grad, hess = (
        np.concatenate([(q + 1) * np.array(p[k]) for q, p in enumerate(parts)]) for k in (0, 1)
    )
    for value in (0, 1):
        leaf = X[:, 0] == value
        assert scores[leaf] == pytest.approx(-grad[leaf].sum() / hess[leaf].sum(), rel=1e-5)


def test_catboost_refuses_what_it_would_weigh_in_another_way(rng):
    pytest.importorskip("catboost")
    X, y, sizes = random_lists(rng)
    with pytest.raises(rw.InputError, match="QuerySoftMax has weights of documents in its prob"):
        small("softmax", "catboost").fit(X, y, group=sizes, sample_weight=rng.random(y.size) + 1)


def test_two_stages_are_checked_before_training(rng):
    X, y, sizes = random_lists(rng)
    data = rw.RankingData(X, y, group=sizes, sample_weight=rng.random(y.size) + 1)
    model = rw.TwoStage(small("softmax"), small("ranknet"), top=5, folds=2)
    with pytest.raises(rw.InputError, match="in second, sample_weight differs within a query"):
        model.fit(data)
    assert model.set_params(second=small("softmax")).fit(data).predict(data).size == y.size


def test_batches_of_networks_take_them(rng):
    torch = pytest.importorskip("torch")
    from rankwood.neural.data import resident
    from rankwood.neural.loss import BatchGradient, Objective

    y, w, qid = rng.integers(0, 3, 12).astype(float), rng.random(12) + 0.1, [2, 1, 3, 1] * 3
    data = rw.RankingData(np.zeros((12, 1)), y, qid=qid, sample_weight=w)
    cpu = torch.device("cpu")
    held = resident(data, lambda X: np.float32(X), cpu).take(np.array([2, 0]))  # queries 3 and 2
    compute = BatchGradient(Objective(objective("listnet"), 0, 1), held.labels, held.lengths, cpu)
    scores = rng.normal(size=6).astype(np.float32)
    found = 2 * compute(torch.from_numpy(scores), 0).numpy()
    at = [np.flatnonzero(np.array(qid) == q) for q in (3, 2)]
    expected = [derivatives("listnet", y[i], scores[: i.size], w[i])[0] for i in at[:1]]
    expected += [derivatives("listnet", y[i], scores[at[0].size :], w[i])[0] for i in at[1:]]
    np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-6)


def test_networks_are_trained_with_them(rng):
    pytest.importorskip("torch")
    X, y, sizes = random_lists(rng)
    options = {"hidden": (4,), "epochs": 1, "device": "cpu", "n_jobs": 1, "verbose": False}
    ranker = rw.NeuralRanker(objective="softmax", **options)
    plain = ranker.fit(X, y, group=sizes).predict(X)
    weights = np.where(y > 1, 100.0, 0.01)
    weighted = ranker.fit(X, y, group=sizes, sample_weight=weights).predict(X)
    assert (plain != weighted).all()
    with pytest.raises(rw.InputError, match="differs within a query, and this objective"):
        ranker.set_params(objective="ranknet").fit(X, y, group=sizes, sample_weight=weights)


def test_score_has_no_weights_of_documents(rng):
    X, y, sizes = random_lists(rng)
    ranker = small("softmax").fit(X, y, group=sizes)
    with pytest.raises(rw.InputError, match="metrics of rankings have no weights of documents"):
        ranker.score(X, y, group=sizes, sample_weight=np.ones(y.size))
