"""Permutation importance within queries and partial dependence, of any model, against plain loops."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.explanation import partial_dependence, permutation_importance


class Linear:
    """A model that is known: 2 x0 - x1, and x2 of the query."""

    def predict(self, data):
        X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
        return 2 * X[:, 0] - np.nan_to_num(X[:, 1]) + 100 * X[:, 2]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    sizes = rng.integers(3, 9, 30)
    X = np.round(rng.normal(size=(sizes.sum(), 4)), 2)
    X[:, 2] = np.repeat(rng.normal(size=30), sizes)  # a feature of the query
    y = np.digitize(2 * X[:, 0] - X[:, 1], [0.0, 2.0])
    order = rng.permutation(len(X))  # rows of a query are not adjacent
    qid = np.repeat(np.arange(30), sizes)[order]
    return rw.RankingData(X[order], y[order], qid=qid)


def test_losses_are_those_of_permuted_data(data):
    before = data.X.copy()
    found = permutation_importance(Linear(), data, metric="ndcg@5", repeats=3, seed=2)
    np.testing.assert_array_equal(data.X, before)
    assert found.value == rw.evaluate("ndcg@5", data, Linear().predict(data)).mean()["ndcg@5"]
    assert found.losses.shape == (4, 3)
    assert (found.losses[:2] > 0).all()
    assert not found.losses[
        2:
    ].any()  # a feature of the query, and one that the model does not read
    assert found.mean[0] > found.mean[1] > 0
    np.testing.assert_allclose(found.spread, found.losses.std(axis=1, ddof=1))
    again = permutation_importance(Linear(), data, metric="ndcg@5", repeats=2, seed=2)
    np.testing.assert_array_equal(again.losses, found.losses[:, :2])
    other = permutation_importance(Linear(), data, metric="ndcg@5", repeats=2, seed=3)
    assert (other.losses[:2] != found.losses[:2, :2]).any()


def test_values_stay_in_their_query(data):
    """A model that keeps what it sees: within a query the values are the same, in another order."""
    seen = []

    class Keeping(Linear):
        def predict(self, data):
            seen.append(np.array(data.X))
            return super().predict(data)

    permutation_importance(Keeping(), data, repeats=1)
    original, *permuted = seen
    assert len(permuted) == 3  # a feature of the query needs no scores
    for at, X in zip((0, 1, 3), permuted, strict=True):
        others = [i for i in range(4) if i != at]
        np.testing.assert_array_equal(X[:, others], original[:, others])
        assert (X[:, at] != original[:, at]).any()
        for q in data.groups.ids:
            rows = data.qid == q
            assert sorted(X[rows, at]) == sorted(original[rows, at])


def test_every_order_of_a_query_is_as_likely():
    data = rw.RankingData(np.arange(3.0)[:, None], [0, 1, 2], group=[3])
    orders = []

    class Keeping:
        def predict(self, data):
            orders.append(tuple(data.X[:, 0]))
            return data.X[:, 0]

    permutation_importance(Keeping(), data, repeats=600)
    changed = orders[1:]  # the order itself, a sixth of the repeats, is not scored
    assert len(set(changed)) == 5
    assert 420 < len(changed) < 570
    counts = [changed.count(order) for order in set(changed)]
    assert min(counts) > 60 and max(counts) < 145


def test_metrics_of_which_less_is_better(data):
    found = permutation_importance(Linear(), data, metric="arp", repeats=2)
    assert found.mean[0] > 0  # the mean position has become worse, which is more


def test_texts_and_pictures(data):
    pytest.importorskip("matplotlib")
    found = permutation_importance(Linear(), data, repeats=2)
    frame = found.to_frame()
    assert list(frame["feature"][:2]) == ["f1", "f2"]
    assert repr(found).splitlines()[1].split()[0] == "f1"
    assert "<table>" in found._repr_html_()
    assert len(found.plot(top=2).axes[0].patches) == 2
    single = permutation_importance(Linear(), data, repeats=1)
    assert np.isnan(single.spread).all() and single.plot().axes


def test_partial_dependence_is_the_mean_of_changed_data(data):
    before = data.X.copy()
    curve = partial_dependence(Linear(), data, 0, points=5)
    np.testing.assert_array_equal(data.X, before)
    assert len(curve.grid) == 5 and curve.grid[0] == data.X[:, 0].min()
    for value, mean, low, high in zip(curve.grid, curve.mean, curve.low, curve.high, strict=True):
        scores = 2 * value - data.X[:, 1] + 100 * data.X[:, 2]
        assert mean == pytest.approx(scores.mean(), abs=1e-9)
        assert (low, high) == pytest.approx(np.quantile(scores, [0.25, 0.75]), abs=1e-9)
    assert list(curve.to_frame().columns) == ["value", "mean", "low", "high"]


def test_partial_dependence_of_categories_and_sparse_data(data):
    import pandas
    from scipy import sparse

    pytest.importorskip("matplotlib")
    colour = pandas.Categorical(np.array(["red", "blue"])[(data.X[:, 0] > 0).astype(int)])
    frame = pandas.DataFrame({"colour": colour, "size": data.X[:, 1]})
    named = rw.RankingData(frame, data.y, qid=data.qid)
    model = rw.Ranker(n_estimators=3, n_jobs=1, min_data_per_group=5, min_child_samples=5).fit(
        named
    )
    curve = partial_dependence(model, named, "colour")
    assert curve.labels == ["blue", "red"] and curve.mean[0] > curve.mean[1]
    assert [t.get_text() for t in curve.plot().axes[0].get_xticklabels()] == ["blue", "red"]
    thin = rw.RankingData(sparse.csr_matrix(data.X), data.y, qid=data.qid)
    thick = partial_dependence(Linear(), data, 1, points=4)
    np.testing.assert_allclose(partial_dependence(Linear(), thin, 1, points=4).mean, thick.mean)
    assert len(thick.plot().axes[0].lines) == 2


def test_refusals(data):
    with pytest.raises(rw.InputError, match="data must be a RankingData"):
        permutation_importance(Linear(), data.X)
    with pytest.raises(rw.InputError, match="metric must be a single one"):
        permutation_importance(Linear(), data, metric=["p@1", "p@2"])
    with pytest.raises(rw.InputError, match="repeats must be at least 1"):
        permutation_importance(Linear(), data, repeats=0)
    with pytest.raises(rw.InputError, match="there is no feature 'price'"):
        partial_dependence(Linear(), data, "price")
    with pytest.raises(rw.InputError, match="there is no feature 4: columns are from 0 to 3"):
        partial_dependence(Linear(), data, 4)
    empty = rw.RankingData(np.full((4, 1), np.nan), [0, 1, 0, 1])
    with pytest.raises(rw.InputError, match="no document has a value of f1"):
        partial_dependence(Linear(), empty, 0)
