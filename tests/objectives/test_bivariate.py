"""The bivariate lifting: golden values, a dense oracle, and central differences of the loss itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood import InputError
from rankwood.data.groups import group_rows
from rankwood.objectives import Lambda, Softmax, Swap
from rankwood.objectives.bivariate import bivariate_gradients, item_scores
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.lifted import Bivariate
from tests.helpers.examples import examples
from tests.helpers.oracle import ORACLE, interpreted
from tests.oracles import naive, naive_listwise


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
@examples(6)
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


def pair_loss(text, k=None, sigma=1.0):
    """The logistic loss of the oracle's pairs; their weights must not depend on the scores."""

    def loss(y, s):
        return sum(
            w * math.log1p(math.exp(sigma * (s[low] - s[h]))) for h, low, w in ORACLE[text](y, s, k)
        )

    return loss


#: Objectives whose hessian is that of a loss, and the loss.
SMOOTH = {
    "softmax": naive_listwise.softmax,
    "listnet": naive_listwise.listnet,
    "queryrmse": naive_listwise.query_rmse,
    "rmse": naive_listwise.rmse,
    "ranknet(norm=False)": pair_loss("ranknet"),
    "ranknet(norm=False, sigma=2)": pair_loss("ranknet", sigma=2.0),
    "bin-ranknet(norm=False, sigma=0.5)": pair_loss("bin-ranknet", sigma=0.5),
    "lambdaloss-arp1(norm=False)": pair_loss("lambdaloss-arp1"),
    "lambdaloss-arp2(norm=False)": pair_loss("lambdaloss-arp2"),
}


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("name", SMOOTH)
def test_central_differences_of_the_loss(rng, name, n):
    y, S = [2.0, 0.0, 1.0, 0.0, 2.0][:n], rng.normal(size=(n, n))

    def loss(i, j, by):
        moved = S.copy()
        moved[i, j] += by
        return complex(SMOOTH[name](y, item_scores(moved).tolist())).real

    with interpreted():
        grad, hess = bivariate_gradients(name, y, S)
    step = 1e-4
    for i in range(n):
        for j in range(n):
            if i != j:
                up, down, here = loss(i, j, step), loss(i, j, -step), loss(i, j, 0.0)
                assert (up - down) / (2 * step) == pytest.approx(grad[i, j], abs=1e-7)
                assert (up - 2 * here + down) / step**2 == pytest.approx(hess[i, j], abs=1e-5)
    assert np.abs(grad).max() > 0.01 and hess[~np.eye(n, dtype=bool)].max() > 0.01


def test_golden_gradients_with_the_ideal_of_the_full_list(golden):
    """Documents beyond the list count in the ideal, and weights are divided by it."""
    table = golden["bivariate"]
    star = table["lambdamart_star"]
    lists = rw.RankingData(np.zeros((3, 1)), table["y"], unlisted=[star["full_labels"][3:]])
    with interpreted():
        grad, hess = bivariate_gradients("lambdarank-ndcg(norm=False)", lists, table["pair_scores"])
        same = bivariate_gradients("bi-lambdarank-ndcg(norm=False)", lists, table["pair_scores"])
    g = np.array(star["item_grad"])
    np.testing.assert_allclose(grad, (g[:, None] - g) / 2, atol=1e-12)
    less = star["idcg_second_stage"] / star["idcg_first_stage"]
    assert less < 0.9
    np.testing.assert_allclose(hess, less * np.array(table["pair_hess"]), atol=1e-9)
    np.testing.assert_array_equal(same, (grad, hess))


@pytest.mark.parametrize("name", ["lambdarank-ndcg@3", "approxndcg", "softmax"])
def test_drive_passes_labels_beyond_the_lists_on(rng, name):
    """Gradients of pairs are made of those of documents, of several queries with labels beyond them too."""
    data = rw.RankingData(
        np.zeros((5, 1)), [1, 0, 2, 0, 1], qid=[3, 3, 7, 7, 7], unlisted=[[4, 4], [3]]
    )
    s = rng.normal(size=5)
    with interpreted():
        g = rw.gradients(name, data, s)[0]
        computer = GradientComputer(
            Bivariate(rw.objective(name)), data.y, data.groups, n_jobs=1, unlisted=data.unlisted
        )
        grads = computer(s)[0]
        alone = GradientComputer(Bivariate(rw.objective(name)), data.y, data.groups, n_jobs=1)(s)[0]
    upper = [
        (0, 1, 1),
        (2, 3, 2),
        (2, 4, 2),
        (3, 4, 2),
    ]  # two documents, and one less than there are
    want = [sign * (g[i] - g[j]) / less for i, j, less in upper for sign in (1, -1)]
    np.testing.assert_allclose(grads, want, atol=1e-12)
    assert (np.abs(grads - alone).max() > 0.01) == (name != "softmax")


def test_drive_over_queries_in_any_order(rng):
    """Pairs of each query in the order of its slots, weights of queries on both, rows of a query anywhere."""
    qid = np.array([7, 3, 7, 5, 3, 7])
    y, s = rng.integers(0, 2, 6).astype(float), rng.normal(size=6)
    groups = group_rows(6, qid=qid)
    weight = np.array([2.0, 0.5, 1.0])
    with interpreted():
        computer = GradientComputer(
            Bivariate(rw.objective("lambdarank-ndcg")), y, groups, weight, n_jobs=1
        )
        grads, hesses = computer(s)
    assert computer.start[-1] == grads.size == 3 * 2 + 2 * 1
    for q in range(3):
        rows = groups.rows[groups.ptr[q] : groups.ptr[q + 1]]
        # Pair scores that give these scores of documents: s_ij = s_i (n - 1) / n ... minus their mean.
        centred = s[rows] - s[rows].mean()
        n = rows.size
        S = np.repeat(centred[:, None], n, axis=1) * (n - 1) / n if n > 1 else np.zeros((1, 1))
        with interpreted():
            g, h = bivariate_gradients("lambdarank-ndcg", y[rows], S)
        pairs = [p for i in range(n) for j in range(i + 1, n) for p in ((i, j), (j, i))]
        at, here = tuple(np.array(pairs, int).reshape(-1, 2).T), slice(*computer.start[q : q + 2])
        np.testing.assert_allclose(grads[here], weight[q] * g[at], atol=1e-12)
        np.testing.assert_allclose(hesses[here], weight[q] * h[at], atol=1e-12)


def test_compiled_equals_interpreted_on_threads(rng):
    sizes = np.array([1, 2, 30, 9, 17])
    y, s = rng.integers(0, 4, sizes.sum()).astype(float), rng.normal(size=sizes.sum())
    groups = group_rows(y.size, group=sizes)
    objective = Bivariate(rw.objective("lambdamart-ex-static-bin@4"))
    one = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=1)(s)
    two = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=2)(s)
    np.testing.assert_array_equal(one, two)
    with interpreted():
        plain = GradientComputer(objective, y, groups, n_jobs=1)(s)
    for got, expected in zip(one, plain, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=2e-5 * np.abs(expected).max())


def test_diagonal_is_not_read(rng):
    S = rng.normal(size=(3, 3))
    other = S.copy()
    other[[0, 1, 2], [0, 1, 2]] = math.nan, math.inf, 7.0
    with interpreted():
        want, got = (bivariate_gradients("softmax", [1, 0, 2], one) for one in (S, other))
    np.testing.assert_array_equal(got, want)
    assert np.isnan(other[0, 0]) and other[2, 2] == 7.0  # and not written


@pytest.mark.parametrize(
    ("y", "S", "message"),
    [
        ([1, 0], [0.0, 1.0], r"S must be a matrix of 2 × 2 finite pair scores, got shape \(2,\)"),
        ([1, 0], [[0, math.nan], [0, 0]], "S must hold finite .*, got nan at row 0, column 1"),
        ([1, 0], [[0, 1], [-math.inf, 0]], "S must hold finite .*, got -inf at row 1, column 0"),
        ([1, 0], [["a", "b"], ["c", "d"]], "S must hold numbers"),
        (
            rw.RankingData([[1.0], [2.0]], [1, 0], qid=[1, 2]),
            np.zeros((2, 2)),
            "is for one query, got 2: give it one, data.select",
        ),
    ],
)
def test_bad_input(y, S, message):
    with pytest.raises(InputError, match=message):
        bivariate_gradients("softmax", y, S)


def test_what_can_be_lifted():
    with pytest.raises(InputError, match="base must be an objective"):
        Bivariate(Swap())
    with pytest.raises(
        InputError, match=r"lifted to pairs once, and Bivariate\(.*\) is lifted already"
    ):
        Bivariate(Bivariate())
    with pytest.raises(InputError, match=r"'bi-bi-ranknet' has bi- twice: once .*, 'bi-ranknet'"):
        rw.objective("bi-bi-ranknet")
    assert rw.objective("Lambda()") == Bivariate().base == Lambda()


@pytest.mark.parametrize("objective", ["bi-ranknet", Bivariate(Softmax())])
def test_gradients_of_documents_are_not_those_of_pairs(objective):
    with pytest.raises(InputError, match=r"gradients of pairs: use bivariate_gradients\(") as error:
        rw.gradients(objective, [1, 0], [0.0, 0.0])
    assert repr(objective) in str(error.value)


def test_naive_gradients_agree(rng):
    """The dense oracle and the one of documents are the same thing."""
    y, s = [2, 0, 1, 0], rng.normal(size=4).tolist()
    pairs = ORACLE["ranknet"](y, s, None)
    g = np.array(naive.logistic_gradients(pairs, s)[0])
    np.testing.assert_allclose(lifted(pairs, s)[0], (g[:, None] - g) / 3, atol=1e-12)
