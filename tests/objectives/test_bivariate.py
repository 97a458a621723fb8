"""The bivariate lifting: golden values, a dense oracle, and central differences of the loss itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import rankwood as rw
from objectives.oracle import ORACLE, interpreted
from rankwood import InputError
from rankwood.data.groups import group_rows
from rankwood.objectives import Lambda, Softmax, Swap, bivariate
from rankwood.objectives.bi import Bi
from rankwood.objectives.bivariate import BiDrive, bivariate_gradients, item_scores


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(bivariate, "lift", getattr(bivariate.lift, "py_func", bivariate.lift))


@pytest.mark.parametrize(
    ("name", "key"), [("lambdarank-ndcg(norm=False)", ""), ("softmax", "softmax_")]
)
def test_golden(golden, name, key):
    table = golden["bivariate"]
    with interpreted():
        grad, hess = bivariate_gradients(name, table["y"], table["pair_scores"])
    np.testing.assert_allclose(grad, table[f"{key}pair_grad"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(hess, table[f"{key}pair_hess"], atol=1e-9, rtol=0)
    scores = item_scores(np.array(table["pair_scores"]))
    np.testing.assert_allclose(scores, table["item_scores"], atol=1e-12)


def lifted(pairs, s):
    """Gradient and hessian of the pair scores from pairs (h, l, w), with the whole hessian of the documents."""
    n = len(s)
    H, g = np.zeros((n, n)), np.zeros(n)
    for h, low, w in pairs:
        rho = 1 / (1 + math.exp(s[h] - s[low]))
        c = w * rho * (1 - rho)
        g[h] -= w * rho
        g[low] += w * rho
        H[h, h] += c
        H[low, low] += c
        H[h, low] -= c
        H[low, h] -= c
    grad, hess = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                grad[i, j] = (g[i] - g[j]) / (n - 1)
                hess[i, j] = (H[i, i] - 2 * H[i, j] + H[j, j]) / (n - 1) ** 2
    return grad, hess


def some_lists(largest=7):
    number = st.floats(-2, 2).map(lambda x: round(x, 1))
    return st.integers(1, largest).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 4), min_size=n, max_size=n),
            st.lists(number, min_size=n * n, max_size=n * n),
        )
    )


@pytest.mark.parametrize("text", ORACLE)
@settings(max_examples=6)
@given(some_lists(), st.sampled_from([1, 2, 4]))
def test_every_name_equals_the_dense_oracle(text, query, k):
    y, S = query[0], np.array(query[1]).reshape(len(query[0]), -1)
    objective = rw.objective(text.format(k=k), norm=False)
    with interpreted():
        got = bivariate_gradients(objective, y, S)
    s = item_scores(S).tolist()
    np.testing.assert_allclose(got, lifted(ORACLE[text](y, s, k), s), rtol=1e-9, atol=1e-11)


def test_noise_and_neighbours_add_up(rng):
    """With one draw of no noise the band of neighbours is the pair set itself; with several, hessians still add up."""
    y, S = rng.integers(0, 3, 6), rng.normal(size=(6, 6))
    s = item_scores(S)
    for text in (
        "yetirank",
        "yetiloss-map(neighbours=2, permutations=3)",
        "lambdagap-s+@2(noise=gaussian)",
    ):
        with interpreted():
            grad, hess = bivariate_gradients(text, y, S, seed=5)
            g, h = rw.gradients(text, y, s, seed=5)
        np.testing.assert_allclose(grad, (g[:, None] - g) / 5, atol=1e-12)
        assert hess.min() >= 0
        # Each row of the documents' hessian adds up to 0, so the sum over pairs is known from its diagonal.
        np.testing.assert_allclose(hess.sum(), (2 * 5 * h.sum() + 2 * h.sum()) / 25, rtol=1e-9)


def test_central_differences_of_the_softmax_loss(rng):
    y, S = rng.integers(0, 3, 5).astype(float), rng.normal(size=(5, 5))

    def loss(S):
        s = item_scores(S)
        return -(y * (s - s.max() - np.log(np.exp(s - s.max()).sum()))).sum()

    with interpreted():
        grad, hess = bivariate_gradients(Softmax(), y, S)
    step = 1e-4
    for i in range(5):
        for j in range(5):
            if i != j:
                move = np.zeros((5, 5))
                move[i, j] = step
                up, down, here = loss(S + move), loss(S - move), loss(S)
                assert (up - down) / (2 * step) == pytest.approx(grad[i, j], abs=1e-7)
                assert (up - 2 * here + down) / step**2 == pytest.approx(hess[i, j], abs=1e-5)


def test_central_differences_of_a_pairwise_loss(rng):
    """RankNet's weights don't depend on the scores: the loss can be differentiated as it stands."""
    y, S = np.array([2, 0, 1, 0]), rng.normal(size=(4, 4))

    def loss(S):
        s = item_scores(S)
        return sum(
            math.log1p(math.exp(s[j] - s[i])) for i in range(4) for j in range(4) if y[i] > y[j]
        )

    with interpreted():
        grad, hess = bivariate_gradients("ranknet(norm=False)", y, S)
    step = 1e-4
    for i in range(4):
        for j in range(4):
            if i != j:
                move = np.zeros((4, 4))
                move[i, j] = step
                up, down, here = loss(S + move), loss(S - move), loss(S)
                assert (up - down) / (2 * step) == pytest.approx(grad[i, j], abs=1e-7)
                assert (up - 2 * here + down) / step**2 == pytest.approx(hess[i, j], abs=1e-5)


def test_drive_over_queries_in_any_order(rng):
    """Pairs of each query in the order of its slots, weights of queries on both, rows of a query anywhere."""
    qid = np.array([7, 3, 7, 5, 3, 7])
    y, s = rng.integers(0, 2, 6).astype(float), rng.normal(size=6)
    groups = group_rows(6, qid=qid)
    weight = np.array([2.0, 0.5, 1.0])
    with interpreted():
        drive = BiDrive(Bi(rw.objective("lambdarank-ndcg")), y, groups, weight, n_jobs=1)
        grads, hesses = drive(s)
    assert drive.pairs[-1] == grads.size == 3 * 2 + 2 * 1
    for q in range(3):
        rows = groups.rows[groups.ptr[q] : groups.ptr[q + 1]]
        # Pair scores that give these scores of documents: s_ij = s_i (n - 1) / n ... minus their mean.
        centred = s[rows] - s[rows].mean()
        n = rows.size
        S = np.repeat(centred[:, None], n, axis=1) * (n - 1) / n if n > 1 else np.zeros((1, 1))
        with interpreted():
            g, h = bivariate_gradients("lambdarank-ndcg", y[rows], S)
        pairs = [p for i in range(n) for j in range(i + 1, n) for p in ((i, j), (j, i))]
        at, here = tuple(np.array(pairs, int).reshape(-1, 2).T), slice(*drive.pairs[q : q + 2])
        np.testing.assert_allclose(grads[here], weight[q] * g[at], atol=1e-12)
        np.testing.assert_allclose(hesses[here], weight[q] * h[at], atol=1e-12)


def test_compiled_equals_interpreted_on_threads(rng):
    sizes = np.array([1, 2, 30, 9, 17])
    y, s = rng.integers(0, 4, sizes.sum()).astype(float), rng.normal(size=sizes.sum())
    groups = group_rows(y.size, group=sizes)
    objective = Bi(rw.objective("lambdamart-ex-static-bin@4"))
    one = BiDrive(objective, y, groups, real=np.float32, n_jobs=1)(s)
    two = BiDrive(objective, y, groups, real=np.float32, n_jobs=2)(s)
    np.testing.assert_array_equal(one, two)
    with interpreted():
        plain = BiDrive(objective, y, groups, n_jobs=1)(s)
    for got, expected in zip(one, plain, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=2e-5 * np.abs(expected).max())


def test_bad_input():
    with pytest.raises(
        InputError, match="S must be a matrix of 2 × 2 finite pair scores, got shape"
    ):
        bivariate_gradients("softmax", [1, 0], [0.0, 1.0])
    with pytest.raises(InputError, match="base must be an objective"):
        Bi(Swap())
    assert rw.objective("Lambda()") == Bi().base == Lambda()


def test_naive_gradients_agree(rng):
    """The dense oracle and the one of documents are the same thing."""
    y, s = [2, 0, 1, 0], rng.normal(size=4).tolist()
    pairs = ORACLE["ranknet"](y, s, None)
    g = np.array(naive.logistic_gradients(pairs, s)[0])
    np.testing.assert_allclose(lifted(pairs, s)[0], (g[:, None] - g) / 3, atol=1e-12)
