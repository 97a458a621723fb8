"""Losses without pairs: golden values, derivatives by differences, LightGBM's rank_xendcg, and what holds of all."""

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._kernels.numeric.rng import mix, uniform
from rankwood.cli import main
from rankwood.data.groups import group_rows
from rankwood.diagnostics import cutoff, heat, pair_counts
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.lists import softmax as module
from tests.helpers.examples import examples
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import refusal_test
from tests.oracles import naive_listwise as naive

NAMES = ["rmse", "queryrmse", "softmax", "listnet", "xendcg", "approxndcg"]
one_query = st.lists(
    st.tuples(st.integers(0, 4), st.floats(-3, 3), st.floats(0, 1, exclude_max=True)),
    min_size=1,
    max_size=7,
)


def gradients(objective, y, s, **options):
    with interpreted():
        return rw.gradients(objective, y, s, n_jobs=1, **options)


def with_gamma(y, s, gamma):
    """XE-NDCG of one query with given draws, which only plain Python can take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "uniform", lambda real, state, i: gamma[i])
        return gradients("xendcg", y, s)


# ---- golden values


@pytest.mark.parametrize("case", ["A", "B"])
def test_golden_values(golden, case):
    y, s = golden["cases"][case]["y"], golden["cases"][case]["s"]
    want = golden["listwise"][case]
    gamma = want["xendcg_gamma"]
    for got, grad, hess in (
        (gradients("softmax", y, s), "softmax_grad", "softmax_hess_diag"),
        (gradients("queryrmse", y, s), "queryrmse_grad", "queryrmse_hess"),
        (with_gamma(y, s, gamma), "xendcg_grad", "xendcg_hess"),
        (naive.xendcg(y, s, gamma), "xendcg_grad", "xendcg_hess"),
    ):
        np.testing.assert_allclose(got[0], want[grad], rtol=0, atol=1e-9)
        np.testing.assert_allclose(got[1], want[hess], rtol=0, atol=1e-9)
    assert abs(naive.softmax(y, s) - want["softmax_loss"]) < 1e-9
    assert abs(naive.approx_ndcg(y, s) - want["approx_ndcg_T1"]) < 1e-9
    assert abs(naive.approx_ndcg(y, s, 0.1) - want["approx_ndcg_T0.1"]) < 1e-9


# ---- derivatives by differences


def lack(temperature, kind):
    return lambda y, s: 1.0 - naive.approx_ndcg(y, s, temperature, kind)


LOSSES = {
    "rmse": naive.rmse,
    "queryrmse": naive.query_rmse,
    "softmax": naive.softmax,
    "listnet": naive.listnet,
    "approxndcg": lack(1.0, "exp"),
    "approxndcg(temperature=0.5, gain=linear)": lack(0.5, "linear"),
    "approxndcg(temperature=3)": lack(3.0, "exp"),
}


@pytest.mark.parametrize("text", LOSSES)
@examples(20)
@given(one_query)
def test_gradient_and_hessian_are_derivatives(text, query):
    y, s, _ = zip(*query, strict=True)
    grad, hess = gradients(text, y, s)
    np.testing.assert_allclose(grad, naive.slope(LOSSES[text], y, s), rtol=1e-10, atol=1e-12)
    want = np.diagonal(naive.bend(LOSSES[text], y, s))
    if text == "queryrmse":  # CatBoost's hessian, and the golden one: without the part of the mean
        want = want + 1.0 / len(y)
    if text.startswith("approxndcg"):  # not convex
        want = np.abs(want)
    np.testing.assert_allclose(hess, want, rtol=1e-8, atol=1e-9)


def test_approxndcg_is_not_convex():
    """What the absolute value is for."""
    y, s = [3, 0, 1, 0, 2, 0], [0.5, 1.2, -0.3, 0.8, 0.1, -1.0]
    exact = np.diagonal(naive.bend(lack(1.0, "exp"), y, s))
    assert exact.min() < -0.01 and exact.max() > 1e-4


@examples(40)
@given(one_query.filter(lambda query: len(query) > 1))
def test_xendcg_is_a_series_of_derivatives(query):
    """The corrected gradient and the hessian from the loss itself, by differences."""
    y, s, gamma = zip(*query, strict=True)
    grad, hess = with_gamma(y, s, gamma)
    targets = naive.xendcg_targets(y, gamma)
    slope, bend = (
        naive.slope(naive.cross_entropy, targets, s),
        naive.bend(naive.cross_entropy, targets, s),
    )
    np.testing.assert_allclose(grad, naive.corrected(slope, bend), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hess, np.diagonal(bend), rtol=1e-8, atol=1e-9)


@examples(40)
@given(one_query.filter(lambda query: len(query) > 1), st.floats(1, 25))
def test_xendcg_keeps_its_digits_when_one_document_is_far_ahead(query, far):
    """LightGBM's formula divides by 1 - p, of which nothing is left 37 above the others."""
    y, s, gamma = zip(*query, strict=True)
    s = [far * score for score in s]  # up to 75 to both sides
    if max(s) - min(s) < 80:
        grad, hess = with_gamma(y, s, gamma)
        want = naive.xendcg(y, s, gamma)
        np.testing.assert_allclose(grad, want[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(hess, want[1], rtol=1e-9, atol=1e-300)


# ---- LightGBM


def test_five_trees_equal_lightgbms_rank_xendcg(rng):
    X, y, sizes = random_lists(rng, queries=60, longest=20)
    params = {
        **{"learning_rate": 0.1, "num_leaves": 7, "min_data_in_leaf": 10, "verbose": -1},
        **{"deterministic": True, "force_col_wise": True, "num_threads": 1, "objective_seed": 5},
    }
    draws = [naive.LightGBMRandom(5 + q) for q in range(sizes.size)]
    starts = np.cumsum(sizes) - sizes

    def ours(scores, data):
        grad, hess = np.zeros(y.size), np.zeros(y.size)
        for start, n, draw in zip(starts, sizes, draws, strict=True):
            if n > 1:  # LightGBM draws nothing for a single document
                rows = slice(start, start + n)
                gamma = [draw.next_float() for _ in range(n)]
                grad[rows], hess[rows] = with_gamma(y[rows], scores[rows], gamma)
        return grad, hess

    def train(objective):
        data = lgb.Dataset(X, y, group=sizes)
        return lgb.train({**params, "objective": objective}, data, num_boost_round=5).predict(X)

    theirs = train("rank_xendcg")
    assert np.ptp(theirs) > 0.5
    np.testing.assert_allclose(train(ours), theirs, rtol=0, atol=1e-6)


def test_trees_equal_lightgbms_regression(rng):
    X, y, sizes = random_lists(rng, queries=60, longest=20)
    params = {
        **{"learning_rate": 0.3, "num_leaves": 7, "min_data_in_leaf": 10, "verbose": -1},
        **{"deterministic": True, "force_col_wise": True, "num_threads": 1},
    }

    def train(**own):
        return lgb.train({**params, **own}, lgb.Dataset(X, y), 5).predict(X)

    theirs = train(objective="regression", boost_from_average=False)
    assert np.ptp(theirs) > 0.5
    ours = train(objective=lambda scores, data: gradients("MART", y, scores, group=sizes))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


# ---- what must hold of all


@pytest.mark.parametrize("name", NAMES)
def test_properties(name, rng):
    _, y, sizes = random_lists(rng, queries=8, longest=12)
    s = rng.normal(size=y.size)
    grad, hess = gradients(name, y, s, group=sizes)
    starts = np.cumsum(sizes) - sizes
    assert hess.min() >= 0 and np.abs(grad).max() > 0.01
    shift = np.repeat(rng.normal(size=sizes.size), sizes)
    shifted = gradients(name, y, s + shift, group=sizes)
    alone = gradients(name, y[:1], s[:1])
    if name == "rmse":
        np.testing.assert_allclose(shifted, (grad + shift, hess), atol=1e-12)
        assert alone[0] == s[0] - y[0] and alone[1] == 1
        np.testing.assert_array_equal(gradients(name, y, s), (grad, hess))  # as one query
    else:
        assert np.abs(np.add.reduceat(grad, starts)).max() < 1e-12
        np.testing.assert_allclose(shifted, (grad, hess), atol=1e-12)
        assert alone[0] == 0 and alone[1] == (1 if name == "queryrmse" else 0)
    if name != "xendcg":  # whose draws stay where they are
        order = rng.permutation(y.size)
        qid = np.repeat(np.arange(sizes.size), sizes)
        moved = gradients(name, y[order], s[order], qid=qid[order])
        np.testing.assert_allclose(moved, (grad[order], hess[order]), atol=1e-12)


def test_no_relevant_document():
    y, s = np.zeros(4), np.array([0.5, -0.5, 0.25, -0.25])
    for name in ("softmax", "approxndcg"):
        assert not np.any(gradients(name, y, s))
    for name in ("rmse", "queryrmse"):  # equal labels ask for equal scores
        np.testing.assert_allclose(gradients(name, y, s)[0], s)
    grad = gradients("listnet", y, s)[0]
    assert (np.sign(grad) == np.sign(np.exp(s) - np.exp(s).mean())).all()
    assert np.any(gradients("xendcg", y, s)[0])  # random targets, as in LightGBM


@pytest.mark.parametrize("name", NAMES)
def test_compiled(name, rng):
    """In the precision of training: plain Python's values, finite far out, the same bits on any number of threads."""
    _, y, sizes = random_lists(rng, queries=12, longest=40)
    groups, s = group_rows(y.size, group=sizes), rng.normal(size=y.size)
    objective = rw.objective(name)

    def made(scores, n_jobs=2, seed=0, round_=3):
        drive = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=n_jobs, seed=seed)
        return drive(scores, round_)

    grad, hess = made(s)
    assert grad.dtype == hess.dtype == np.float32
    want = gradients(name, y, s, group=sizes, round=3)
    np.testing.assert_allclose(grad, want[0], rtol=1e-4, atol=3e-6 * np.abs(want[0]).max())
    np.testing.assert_allclose(hess, want[1], rtol=1e-4, atol=3e-6 * np.abs(want[1]).max())
    far = made(1e4 * s)
    want = gradients(name, y, 1e4 * s, group=sizes, round=3)
    assert np.isfinite(want).all() and np.isfinite(far).all() and far[1].min() >= 0
    np.testing.assert_allclose(far[0], want[0], rtol=1e-3, atol=1e-5 * np.abs(want[0]).max())
    for n_jobs in (1, 3, 7):
        assert [a.tobytes() for a in made(s, n_jobs)] == [grad.tobytes(), hess.tobytes()]
    drawn = name == "xendcg"
    assert np.any(made(s, seed=1)[0] != grad) == drawn
    assert np.any(made(s, round_=4)[0] != grad) == drawn


def test_draws_are_those_of_seed_round_query_and_document():
    y, s = [2.0, 0.0, 1.0, 0.0, 3.0], [0.1, 0.2, 0.3, 0.0, 0.5]
    state = mix(mix(mix(0, 7), 4), 1)
    gamma = [uniform(0.0, state, i) for i in range(3)]
    got = gradients("xendcg", y, s, group=[2, 3], seed=7, round=4)
    want = naive.xendcg(y[2:], s[2:], gamma)
    np.testing.assert_allclose((got[0][2:], got[1][2:]), want, rtol=1e-12)
    assert min(gamma) >= 0 and max(gamma) < 1


def test_draws_are_uniform():
    draws = np.array(
        [
            uniform(0.0, mix(mix(mix(0, 1), r), q), i)
            for r in range(10)
            for q in range(20)
            for i in range(50)
        ]
    )
    counts = np.histogram(draws, 20, (0.0, 1.0))[0]
    assert ((counts - 500) ** 2 / 500).sum() < 43.8  # chi-square, 19 degrees of freedom, 0.1 %


@pytest.mark.parametrize("name", NAMES)
def test_training(name, lists):
    X, y, sizes = lists
    ranker = rw.Ranker(name, n_estimators=5, min_child_samples=5, verbose=False)
    ranker.fit(X, y, group=sizes)
    got = rw.evaluate("ndcg@5", y, ranker.predict(X), group=sizes).mean()["ndcg@5"]
    none = rw.evaluate("ndcg@5", y, np.zeros(y.size), group=sizes, ties="average").mean()["ndcg@5"]
    assert got > none + 0.15
    assert ranker.objective_ == rw.objective(name)


# ---- words


test_what_makes_no_sense_is_said_at_once = refusal_test(
    rw.objective,
    [
        ("approxndcg(temperature=0)", "^temperature must be positive, got 0"),
        ("approxndcg(temperature=-1)", "^temperature must be positive, got -1"),
        ("ApproxNDCG(temperature=-1.0)", "ApproxNDCG.temperature must be positive"),
        ("approxndcg(gain=log)", "gain must be one of 'exp', 'linear'"),
        ("approxndcg@10", "'approxndcg' has no cutoff; omit @10"),
        ("softmax@5", "'softmax' has no cutoff"),
        ("listnet(sigma=2)", "'listnet' has no parameters; omit sigma="),
    ],
)


def test_labels():
    for name in NAMES[:-1]:
        assert np.isfinite(gradients(name, [0.5, 2.25, 900.0], [0.0, 1.0, 2.0])).all()
    with pytest.raises(rw.InputError, match=r"the gain 2\^y - 1 needs integer labels"):
        gradients("approxndcg", [0.5, 1.0], [0.0, 0.0])
    assert np.any(gradients("approxndcg(gain=linear)", [0.5, 1.0], [0.0, 0.0]))


@pytest.mark.parametrize("name", NAMES)
def test_diagnosis_without_pairs(name, rng):
    y, s = rng.integers(0, 4, 12).astype(float), rng.normal(size=12)
    found = rw.diagnose(name, y, s, group=[5, 7])
    np.testing.assert_allclose(found.push, -gradients(name, y, s, group=[5, 7])[0])
    assert found.effective_pairs is None and found.k is None and cutoff(rw.objective(name)) is None
    assert "pairs" not in found.per_query.dtype.names
    assert "effective pairs: none, not made of pairs" in repr(found)
    assert found.pairs(0).size == found.per_query["incoherent_pairs"][0]


def test_pictures_and_records_need_pairs(tmp_path, capsys, lists):
    sentence = "Softmax() has no pairs: pair weights and effective pairs are for objectives made of"
    for call in (lambda: heat("softmax"), lambda: pair_counts("softmax")):
        with pytest.raises(rw.InputError, match="has no pairs"):
            call()
    assert main(["objectives", "--plot", "softmax", "--output", str(tmp_path)]) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())
    X, y, sizes = lists
    with pytest.raises(rw.InputError, match="has no pairs"):
        rw.Ranker("softmax", record=["effective_pairs"]).fit(X, y, group=sizes)
