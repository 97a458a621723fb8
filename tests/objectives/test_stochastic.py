"""StochasticRank: published values, the oracle, exact gradients by enumeration, and what must hold."""

from functools import cache, partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.examples import examples
from tests.helpers.marks import slow_but
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import refusal_test
from tests.oracles import naive_stochastic as naive

GOLDEN = {
    "NDCG_exp@2": "ndcg@2",
    "NDCG_exp": "ndcg",
    "MRR": "mrr",
    "ERR": "err",
    "PFound": "pfound",
}
ESTIMATORS = {"ccs": "plain", "project": "projected"}
NOT_CASES = {"expected_n3", "err_move_difference_exact_vs_catboost"}


def with_noise(objective, y, z, noises):
    """Gradients with this noise for each draw, in plain Python."""
    drawn = iter(np.ravel(noises).tolist())
    with (
        interpreted(),
        mock.patch(
            "rankwood.objectives.lists.stochastic.normal", lambda real, state, i: next(drawn)
        ),
    ):
        grad, hess = rw.gradients(objective, y, z, n_jobs=1)
    assert next(drawn, None) is None or len(y) == 1
    assert (hess == 1).all()
    return grad


def test_gradients_equal_golden_values(golden):
    case, table = golden["cases"]["A"], golden["stochastic_rank"]
    z = np.array(case["s"])
    seen = 0
    for key, expected in table.items():
        if key in NOT_CASES:
            continue
        metric, estimator, last = key.split("|")
        word, _, number = last.partition("=")
        params = {"noise_scale" if word == "sigma" else word: float(number)}
        text, params = (
            f"stochasticrank-{GOLDEN[metric]}",
            params | {"estimator": ESTIMATORS[estimator]},
        )
        noise = expected.get("eps", table["NDCG_exp|ccs|mu=0.0"]["eps"])
        got = with_noise(rw.objective(text, sfa=0, **params), case["y"], z, noise)
        ascent = np.array(expected["ascent"])
        np.testing.assert_allclose(-got, ascent - ascent.mean(), rtol=0, atol=1e-9)
        if "ascent_after_SFA" in expected:
            got = with_noise(rw.objective(text, **params), case["y"], z, noise)
            np.testing.assert_allclose(-got, expected["ascent_after_SFA"], rtol=0, atol=1e-9)
        seen += 1
    assert seen == 21


queries = st.lists(st.tuples(st.integers(0, 4), st.integers(-20, 20)), min_size=1, max_size=9)


@pytest.mark.parametrize("name", naive.METRICS)
@examples(30)
@given(
    queries,
    st.sampled_from([None, 1, 2, 3, 20]),
    st.sampled_from(["plain", "projected"]),
    st.sampled_from([(1.0, 0.0, 1, 1.0, 0.01), (0.5, 0.3, 2, 0.7, 0.5), (2.0, -1.0, 3, 0.0, 1.0)]),
    st.integers(0, 2**32 - 1),
)
def test_gradients_equal_the_oracle(name, query, k, estimator, given, seed):
    y, z = [q[0] for q in query], [q[1] / 10 for q in query]
    sigma, mu, samples, sfa, nu = given
    noises = np.random.default_rng(seed).normal(size=(samples, len(y)))
    words = {"noise_scale": sigma, "mu": mu, "samples": samples, "sfa": sfa, "nu": nu}
    objective = rw.objective(f"stochasticrank-{name}", k=k, estimator=estimator, **words)
    value, read = naive.METRICS[name]
    r, plain = [read(v) for v in y], estimator == "plain"
    expected = naive.gradient(
        partial(value, k=k), y, z, noises.tolist(), sigma, r, mu, not plain, sfa, nu
    )
    np.testing.assert_allclose(with_noise(objective, y, z, noises), expected, rtol=1e-9, atol=1e-12)


def test_other_readings_of_labels_equal_the_oracle(rng):
    y, z = [0, 4, 2, 1, 4, 0, 3], rng.normal(size=7).round(2).tolist()
    cases = {
        "stochasticrank-ndcg@3(gain=linear)": ("ndcg", {"gain": "linear"}, float),
        "stochasticrank-dcg(gain=linear)": ("dcg", {"gain": "linear"}, float),
        "stochasticrank-map@4(rel=3)": ("average_precision", {"rel": 3}, lambda v: v >= 3),
        "stochasticrank-mrr(rel=2)": ("mrr", {"rel": 2}, lambda v: v >= 2),
        "stochasticrank-err(gain=exp)": ("err", {}, lambda v: (2**v - 1) / 16),
        "stochasticrank-err(max_label=5)": (
            "err",
            {"gain": "linear", "max_label": 5},
            lambda v: v / 5,
        ),
        "stochasticrank-pfound@2(gain=exp, max_label=5)": (
            "pfound",
            {"gain": "exp", "max_label": 5},
            lambda v: (2**v - 1) / 32,
        ),
        "StochasticRank(Precision(3), mu=0.3)": ("p", {}, lambda v: v >= 1),
        "StochasticRank(Recall(3), mu=0.3)": ("recall", {}, lambda v: v >= 1),
        "StochasticRank(ExpDCG(), mu=0.3)": ("expdcg", {}, float),
        "StochasticRank(RBP(4), mu=0.3)": ("rbp", {}, float),
    }
    for text, (value, words, read) in cases.items():
        objective = rw.objective(text, **({"mu": 0.3} if text[0] == "s" else {}))
        noise = rng.normal(size=7)
        value = partial(getattr(naive.naive_metrics, value), k=objective.metric.k, **words)
        r = [float(read(v)) for v in y]
        expected = naive.gradient(value, y, z, [noise.tolist()], 1.0, r, 0.3)
        assert np.abs(expected).max() > 0
        got = with_noise(objective, y, z, noise)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=text)


DRAWS = 20_000
#: Labels, scores, cutoff, noise scale, mu.
SMALL = [
    ([2, 0, 1], [0.2, 0.5, -0.1], None, 1.0, 0.0),
    ([1, 0, 3, 0], [-0.3, 0.6, 0.1, 0.0], 2, 0.7, 0.4),
]


@cache
def orders(a, sigma):
    return naive.order_gradients(a, sigma)


def test_exact_gradients_equal_the_golden_one(golden):
    given = golden["stochastic_rank"]["expected_n3"]
    found = orders(tuple(given["z"]), 1.0)
    got = naive.exact(naive.METRICS["ndcg"][0], given["y"], found)
    np.testing.assert_allclose(got, given["exact_gradient"], atol=1e-6)
    # Their sum is that of probabilities, which is 1 everywhere.
    np.testing.assert_allclose(np.sum(list(found.values()), axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", slow_but(["dcg"], naive.METRICS))
def test_the_mean_of_many_draws_is_the_exact_gradient(name):
    value, read = naive.METRICS[name]
    for y, z, k, sigma, mu in SMALL:
        n = len(y)
        a = tuple(z[i] - sigma * mu * read(y[i]) for i in range(n))
        exact = np.array(naive.exact(partial(value, k=k), y, orders(a, sigma)))
        assert np.abs(exact).max() > 0.01
        spread = {}
        for estimator in ("plain", "projected"):
            words = {"noise_scale": sigma, "mu": mu, "estimator": estimator, "sfa": 0}
            objective = rw.objective(f"stochasticrank-{name}", k=k, **words)
            groups = group_rows(n * DRAWS, group=np.full(DRAWS, n))
            labels = np.tile(np.array(y, float), DRAWS)
            drive = GradientComputer(
                objective, labels, groups, dtype=np.float32, seed=3
            )  # as in training
            grad = drive(np.tile(z, DRAWS))[0].astype(float).reshape(DRAWS, n)
            error = grad.std(axis=0, ddof=1) / np.sqrt(DRAWS)
            assert (np.abs(grad.mean(axis=0) + exact) <= 4 * error + 1e-7).all(), (estimator, n)
            spread[estimator] = np.square(error).sum()
        assert spread["projected"] < spread["plain"]


def test_two_documents_need_no_luck():
    """The projected estimate of two documents is the derivative itself, whatever the noise."""
    y, z = [1, 0], [0.3, 0.8]
    exact = naive.exact(naive.METRICS["map"][0], y, naive.order_gradients(z, 1.0))
    with interpreted():
        for seed in range(3):
            got = rw.gradients("stochasticrank-map", y, z, seed=seed)[0]
            np.testing.assert_allclose(got, [-v for v in exact], atol=1e-9)


@pytest.mark.parametrize("name", naive.METRICS)
def test_gradients_move_no_mean_and_stretch_nothing(name, rng):
    _, y, sizes = random_lists(rng, queries=6, longest=12)
    s = rng.normal(size=y.size)
    with interpreted():
        grad = rw.gradients(f"stochasticrank-{name}(nu=1e-13)", y, s, group=sizes, n_jobs=1)[0]
        same = rw.gradients(f"stochasticrank-{name}", np.full(5, 2.0), s[:5])[0]
        alone = rw.gradients(f"stochasticrank-{name}", [2.0], [1.0])[0]
    ends = np.cumsum(sizes)
    for first, last in zip(ends - sizes, ends, strict=True):
        g, z = grad[first:last], s[first:last] - s[first:last].mean()
        assert abs(g.sum()) < 1e-12
        assert last - first == 2 or abs(g @ z) < 1e-11
    assert np.abs(grad).max() > 0
    assert not same.any() and not alone.any()


def test_training_precision_does_the_same(rng):
    _, y, sizes = random_lists(rng, queries=8, longest=30)
    long = 401  # beyond what is sorted by counting
    y, sizes = np.append(y, rng.choice(5, long)), np.append(sizes, long)
    groups, s = group_rows(y.size, group=sizes), rng.normal(size=y.size).round(2)
    objective = rw.objective("stochasticrank-ndcg@4(mu=0.1, samples=2)")
    grad, hess = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=2)(s, 3)
    with interpreted():
        expected = GradientComputer(objective, y, groups, n_jobs=1)(s, 3)[0]
    assert (hess == 1).all()
    np.testing.assert_allclose(grad, expected, rtol=1e-3, atol=2e-5 * np.abs(expected).max())


def test_a_seed_means_the_same_bits_and_another_differs(rng):
    _, y, sizes = random_lists(rng, queries=60, longest=30)
    s, groups = rng.normal(size=y.size), group_rows(y.size, group=sizes)

    def made(seed, round_, n_jobs=1, samples=1):
        objective = rw.objective("stochasticrank-ndcg@5", samples=samples)
        drive = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=n_jobs, seed=seed)
        return drive(s, round_)[0].tobytes()

    one = made(1, 5)
    assert made(1, 5, n_jobs=2) == one
    assert made(2, 5) != one
    assert made(1, 6) != one
    assert made(1, 5, samples=2) != one  # the second draw is another one


def test_far_documents_do_no_harm():
    y, s = np.array([0, 4, 1, 0, 2]), np.array([1e6, 0.0, -1e6, 3.0, 1e9])
    for name in naive.METRICS:
        with interpreted():
            grad = rw.gradients(f"stochasticrank-{name}", y, s)[0]
        assert np.isfinite(grad).all() and np.abs(grad).max() < 1


def test_metrics_that_can():
    able = r"\(AP, DCG, ERR, ExpDCG, Hits, NDCG, PFound, Precision, RBP, RPrecision, RR, Recall\), got ARP\(\)"
    with pytest.raises(rw.InputError, match=f"StochasticRank.metric must be a part .*{able}"):
        rw.objective("StochasticRank(ARP())")


test_what_makes_no_sense_is_said_at_once = refusal_test(
    rw.objective,
    [
        ("stochasticrank-ndcg(noise_scale=0)", "^noise_scale must be positive, got 0"),
        ("stochasticrank-map(noise_scale=-1)", "^noise_scale must be positive, got -1"),
        ("stochasticrank-dcg(nu=0)", "^nu must be positive, got 0"),
        ("stochasticrank-err(mu=1e999)", "^mu must be finite, got inf"),
        ("stochasticrank-mrr(samples=0)", "^samples must be at least 1, got 0"),
        ("stochasticrank-mrr(samples=1.5)", "^samples must be an integer, got 1.5"),
        ("stochasticrank-pfound(sfa=-1)", "^sfa must not be negative, got -1"),
        ("stochasticrank-ndcg(estimator=best)", "^estimator must be one of 'projected', 'plain'"),
        ("stochasticrank-ndcg(gain=best)", "^gain must be one of 'exp', 'linear'"),
        ("stochasticrank-ndcg@0", "^k must be at least 1, got 0"),
        ("stochasticrank-map(rel=0)", "^rel must be positive, got 0"),
        ("stochasticrank-err(max_label=0)", "^max_label must be positive, got 0"),
        ("stochasticrank-arp", "unknown objective 'stochasticrank-arp'; did you mean"),
        ("StochasticRank(noise_scale=-1)", "StochasticRank.noise_scale must be positive, got -1"),
        ("StochasticRank(nu=0)", "StochasticRank.nu must be positive, got 0"),
        ("StochasticRank(sfa=-1)", "StochasticRank.sfa must not be negative, got -1"),
    ],
)


def test_labels_above_the_largest():
    for name in ("err", "pfound"):
        with pytest.raises(rw.InputError, match="give max_label=5 or more"):
            rw.gradients(f"stochasticrank-{name}", [5, 0], [0.0, 1.0])
