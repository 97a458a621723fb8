"""Input transforms and batches."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import QuantileTransformer

from rankwood import InputError
from rankwood.neural.batches import rows_of, scoring_batches, training_batches
from rankwood.neural.transforms import InputTransform, check_steps


@pytest.fixture
def X(rng):
    return np.exp(rng.normal(size=(300, 4))) * [1, 10, -5, 100]


def test_steps_are_done_one_after_the_other(X):
    found = InputTransform.fit(X, ("log1p", "standardise"))(X)
    logged = np.where(X < 0, -np.log(1 - np.minimum(X, 0)), np.log(1 + np.maximum(X, 0)))
    wanted = (logged - logged.mean(axis=0)) / logged.std(axis=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_no_step_leaves_features_as_they_are(X):
    np.testing.assert_array_equal(InputTransform.fit(X, ())(X), X.astype(np.float32))


def test_quantiles_are_those_of_scikit_learn(X, rng):
    X = np.column_stack([X, rng.integers(0, 3, 300), np.ones(300)])
    other = X + 0.3 * rng.normal(size=X.shape)
    found = InputTransform.fit(X, ("quantile",))
    theirs = QuantileTransformer(n_quantiles=300, output_distribution="normal").fit(X)
    # Theirs takes as many points as there are rows, and a constant feature to one end of its range.
    columns = slice(0, 5)
    np.testing.assert_allclose(
        found(other)[:, columns].clip(-3, 3),
        theirs.transform(other)[:, columns].clip(-3, 3),
        atol=0.05,
    )
    np.testing.assert_allclose(
        found(X)[:, 5], 0.0, atol=1e-6
    )  # ties have the middle of their ranks


def test_missing_values_are_zero_beside_an_indicator(X):
    X[5, 1] = X[7, 1] = np.nan
    transform = InputTransform.fit(X, ("standardise",))
    assert (transform.features, transform.inputs) == (4, 5)
    found = transform(X)
    assert found[[5, 7], 1].tolist() == [0, 0]
    assert np.flatnonzero(found[:, 4]).tolist() == [5, 7]
    known = X[~np.isnan(X[:, 1]), 1]
    np.testing.assert_allclose(found[0, 1], (X[0, 1] - known.mean()) / known.std(), rtol=1e-5)
    X[0, 0] = np.nan  # a feature that had none in training has no indicator
    assert transform(X)[0, 0] == 0


def test_infinite_constant_and_absent_features(X):
    X[0, 0], X[1, 0] = np.inf, -np.inf
    X[:, 1], X[:, 2] = 7.1, np.nan
    transform = InputTransform.fit(X, ("log1p", "standardise"))
    found = transform(X)
    assert np.isfinite(found).all()
    assert found[0, 0] == found[2:, 0].max() and found[1, 0] == found[2:, 0].min()
    np.testing.assert_allclose(found[:, 1], 0, atol=1e-6)
    assert not found[:, 2].any() and found[:, 4].all()


def test_sparse_features_and_many_rows(X, monkeypatch):
    monkeypatch.setattr("rankwood.neural.transforms._ROWS_AT_ONCE", 7)
    X[X < 0] = 0
    whole = InputTransform.fit(X, ("log1p", "quantile"))(X)
    thin = sparse.csr_matrix(X)
    np.testing.assert_array_equal(InputTransform.fit(thin, ("log1p", "quantile"))(thin), whole)


def test_unknown_steps():
    assert check_steps(None) == () and check_steps("log1p") == ("log1p",)
    with pytest.raises(InputError, match="did you mean 'standardise'"):
        check_steps(["standardize"])
    with pytest.raises(InputError, match="must be a list"):
        check_steps(3)


@pytest.mark.parametrize("by_length", [True, False])
@pytest.mark.parametrize("documents", [2, 40, 100, 10_000])
def test_batches_have_every_list_once_and_enough_documents(rng, by_length, documents):
    lengths = rng.integers(1, 30, 70)
    batches = training_batches(lengths, documents, rng, by_length)
    assert sorted(np.concatenate(batches)) == list(range(70))
    sizes = [lengths[batch].sum() for batch in batches]
    if len(batches) > 1:
        assert sorted(sizes)[1] >= documents  # one may be less than full
        assert min(sizes) >= documents / 2
    assert max(sizes) < documents + 30 + documents / 2


def test_no_batch_has_a_single_document(rng):
    batches = training_batches(np.ones(5, np.int64), 2, rng, by_length=False)
    assert sorted(batch.size for batch in batches) == [2, 3]


def test_lists_of_similar_length_come_together(rng):
    lengths = rng.integers(1, 200, 500)

    def padding(by_length):
        batches = training_batches(lengths, 1000, rng, by_length)
        return sum(lengths[b].max() * b.size for b in batches) / lengths.sum() - 1

    assert padding(True) < 0.3 < padding(False)


def test_batches_differ_by_epoch_and_not_by_run():
    lengths = np.arange(1, 50)
    first, again, other = (
        training_batches(lengths, 64, np.random.default_rng(seed), True) for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=False))


def test_rows_of_a_batch_are_those_of_its_lists():
    lengths = np.array([3, 1, 4])
    ptr = np.array([0, 3, 4, 8])
    assert rows_of(np.array([2, 0]), ptr, lengths).tolist() == [4, 5, 6, 7, 0, 1, 2]
    batches = scoring_batches(lengths, 4, True)
    assert [b.tolist() for b in batches] == [[1, 0], [2]]
