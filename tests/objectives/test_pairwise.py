"""The pair loop against the oracle, and what must hold of it whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.metrics import NDCG
from rankwood.objectives import All, ByDistance, Lambda, Log2Sum, Logistic, Swap, Top
from rankwood.objectives._kernels.pairwise import pairwise_kernel
from rankwood.objectives.gradients import GradientComputer
from tests.oracles import naive

scores_ = st.one_of(
    st.floats(-3, 3).map(lambda x: round(x, 2)),  # often tied
    st.floats(-50, 50),
)
one_query = st.lists(st.tuples(st.integers(0, 4), scores_), min_size=1, max_size=23)


@given(
    one_query,
    st.sampled_from([None, 1, 2, 3, 5, 9, 30]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_gradients_equal_the_oracle(query, k, norm, true_cut, sigma):
    y, s = [q[0] for q in query], [q[1] for q in query]
    discount = "truncated" if true_cut else "full"
    objective = rw.objective("lambdarank-ndcg", k=k, norm=norm, sigma=sigma, discount=discount)
    grad, hess = rw.gradients(objective, y, s, n_jobs=1)
    pairs = naive.lambdarank_pairs(y, s, k, true_cut)
    expected = naive.logistic_gradients(pairs, s, sigma, norm)
    np.testing.assert_allclose(grad, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hess, expected[1], rtol=1e-9, atol=1e-12)


def test_linear_gain_equals_the_oracle(rng):
    y, s = rng.random(17) * 5, rng.normal(size=17)
    grad, hess = rw.gradients("lambdarank-ndcg@4(gain='linear', norm=False)", y, s)
    expected = naive.logistic_gradients(naive.lambdarank_pairs(y, s, 4, kind="linear"), s)
    np.testing.assert_allclose(grad, expected[0], atol=1e-12)
    np.testing.assert_allclose(hess, expected[1], atol=1e-12)


@pytest.mark.parametrize("spread", [1e3, 1e4, 1e6])
def test_scores_far_apart_are_still_exact(rng, spread):
    y, s = rng.integers(0, 4, 30), rng.uniform(-spread, spread, 30)
    s[:10] = s[10:20] + rng.normal(size=10)  # near pairs far from the middle
    grad, hess = rw.gradients("lambdarank-ndcg(norm=False)", y, s)
    expected = naive.logistic_gradients(naive.lambdarank_pairs(list(y), list(s)), list(s))
    np.testing.assert_allclose(grad, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hess, expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [1, 10, None])
def test_properties_of_every_query(lists, rng, k):
    _, y, sizes = lists
    s = rng.normal(size=y.size)
    grad, hess = rw.gradients(rw.objective("lambdarank-ndcg", k=k), y, s, group=sizes)
    ends = np.cumsum(sizes)
    assert np.abs(np.add.reduceat(grad, ends - sizes)).max() < 1e-12
    assert hess.min() >= 0
    shifted, _ = rw.gradients(rw.objective("lambdarank-ndcg", k=k), y, s + 7.25, group=sizes)
    np.testing.assert_allclose(shifted, grad, atol=1e-12)
    for a, b in zip(ends - sizes, ends, strict=True):  # a query by itself gives the same bits
        alone, _ = rw.gradients(rw.objective("lambdarank-ndcg", k=k), y[a:b], s[a:b])
        assert alone.tobytes() == grad[a:b].tobytes()


def test_permuting_rows_permutes_gradients(lists, rng):
    _, y, sizes = lists
    qid, s = np.repeat(np.arange(sizes.size), sizes), rng.normal(size=y.size)
    grad, hess = rw.gradients("lambdarank-ndcg@5", y, s, qid=qid)
    order = rng.permutation(y.size)
    g2, h2 = rw.gradients("lambdarank-ndcg@5", y[order], s[order], qid=qid[order])
    assert g2.tobytes() == grad[order].tobytes()
    assert h2.tobytes() == hess[order].tobytes()


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_threads_never_change_a_bit(lists, rng, real):
    _, y, sizes = lists
    groups = group_rows(y.size, group=sizes)
    s = rng.normal(size=y.size)
    results = [
        GradientComputer(rw.objective("lambdarank-ndcg@10"), y, groups, dtype=real, n_jobs=n)(s)
        for n in (1, 2, 5)
    ]
    for grad, hess in results[1:]:
        assert grad.tobytes() == results[0][0].tobytes()
        assert hess.tobytes() == results[0][1].tobytes()


def test_the_last_ranking_never_changes_a_bit(lists, rng):
    _, y, sizes = lists
    groups = group_rows(y.size, group=sizes)
    used = GradientComputer(rw.objective("lambdarank-ndcg@10"), y, groups)
    for _ in range(3):
        used(np.round(rng.normal(size=y.size), 1))
    s = np.round(rng.normal(size=y.size), 1)  # with ties
    fresh = GradientComputer(rw.objective("lambdarank-ndcg@10"), y, groups)
    assert used(s)[0].tobytes() == fresh(s)[0].tobytes()


def test_float32_is_close_to_float64(lists, rng):
    _, y, sizes = lists
    groups = group_rows(y.size, group=sizes)
    s = rng.normal(size=y.size)
    for name in ("lambdarank-ndcg", "lambdarank-ndcg@10", "lambdarank-ndcg(norm=False)"):
        full = GradientComputer(rw.objective(name), y, groups)(s)
        half = GradientComputer(rw.objective(name), y, groups, dtype=np.float32)(s)
        for a, b in zip(half, full, strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5 * np.abs(b).max())


@pytest.mark.parametrize("distance", [1.0, 12.0, 20.0, 40.0, 70.0])
def test_small_sums_keep_their_gradient(distance):
    # A pair in the right order, far apart: the sum of lambdas is tiny, and its logarithm must not be lost.
    y, s = np.array([1.0, 0.0]), np.array([distance, 0.0])
    expected = naive.logistic_gradients(
        naive.lambdarank_pairs([1, 0], list(s), 10), list(s), norm=True
    )
    # The oracle's log2(1 + S) / S loses what 1 + S can't hold; its limit is 1 / ln 2.
    if distance > 10:
        plain = naive.logistic_gradients(naive.lambdarank_pairs([1, 0], list(s), 10), list(s))
        expected = [[g / (0.01 + distance) / np.log(2) for g in column] for column in plain]
    for real, tolerance in ((np.float64, 1e-6), (np.float32, 1e-5)):
        got = GradientComputer(rw.objective("lambdarank-ndcg@10"), y, group_rows(2), dtype=real)(s)
        np.testing.assert_allclose(got[0], expected[0], rtol=tolerance)
        np.testing.assert_allclose(got[1], expected[1], rtol=tolerance)


def test_read_only_and_strided_scores_need_no_other_code(rng):
    table = rng.normal(size=(30, 3))
    table.setflags(write=False)
    y = rng.integers(0, 3, 30)
    rw.gradients("lambdarank-ndcg@5", y, table[:, 1].copy())
    compiled = len(pairwise_kernel.signatures) if hasattr(pairwise_kernel, "signatures") else 0
    grad, _ = rw.gradients("lambdarank-ndcg@5", y, table[:, 1])
    np.testing.assert_array_equal(grad, rw.gradients("lambdarank-ndcg@5", y, table[:, 1].copy())[0])
    assert (
        len(pairwise_kernel.signatures) if hasattr(pairwise_kernel, "signatures") else 0
    ) == compiled


def test_weights_multiply_queries(lists, rng):
    _, y, sizes = lists
    groups = group_rows(y.size, group=sizes)
    weight = rng.random(sizes.size) + 0.5
    s = rng.normal(size=y.size)
    plain = GradientComputer(rw.objective("lambdarank-ndcg"), y, groups)(s)
    weighted = GradientComputer(rw.objective("lambdarank-ndcg"), y, groups, weight)(s)
    for a, b in zip(weighted, plain, strict=True):
        np.testing.assert_array_equal(a, b * np.repeat(weight, sizes))


def test_gradient_is_the_derivative_of_the_loss(rng):
    # With weights held fixed the lambdas are the derivative of the weighted logistic loss.
    y, s = rng.integers(0, 4, 9), rng.normal(size=9)
    pairs = naive.lambdarank_pairs(list(y), list(s))

    def loss(scores):
        return sum(w * Logistic().loss(scores[h] - scores[low]) for h, low, w in pairs)

    grad, hess = rw.gradients("lambdarank-ndcg(norm=False)", y, s)
    for i in range(9):
        step = np.zeros(9)
        step[i] = 1e-4
        up, down, here = loss(s + step), loss(s - step), loss(s)
        assert grad[i] == pytest.approx((up - down) / 2e-4, abs=1e-7)
        assert hess[i] == pytest.approx((up - 2 * here + down) / 1e-8, abs=1e-6)


def test_a_composition_equals_its_name():
    named = rw.objective("lambdarank-ndcg@7")
    composed = Lambda(ByDistance(Swap(NDCG(ideal=7))), Top(7), Logistic(), Log2Sum())
    assert named == composed
    assert Lambda(Swap(NDCG()), All()) == rw.objective("lambdarank-ndcg", norm=False)


def test_hundred_thousand_documents_in_one_query(rng):
    y, s = rng.integers(0, 5, 100_000), rng.normal(size=100_000)
    grad, hess = rw.gradients("lambdarank-ndcg@10", y, s)
    assert np.isfinite(grad).all() and np.isfinite(hess).all()
    assert abs(grad.sum()) < 1e-9
    assert np.count_nonzero(grad) > 50_000


def test_a_million_queries_of_one_document():
    grad, hess = rw.gradients(
        "lambdarank-ndcg", np.ones(10**6), np.zeros(10**6), qid=np.arange(10**6)
    )
    assert not grad.any() and not hess.any()


def test_labels_above_31_work():
    grad, _ = rw.gradients("lambdarank-ndcg(norm=False)", [40, 0], [0.0, 0.0])
    # The gain cancels against the ideal: the weight is 1 - 1/log2(3), the slope a half.
    assert grad[0] == pytest.approx(-0.5 * (1 - 1 / np.log2(3)), rel=1e-12)
