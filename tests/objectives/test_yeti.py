"""YetiRank and YetiLoss, and noise on any pairwise objective: golden values, the oracle, and the draws themselves."""

import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood import InputError
from rankwood._kernels.numeric.rng import mix, round_state
from rankwood.data.groups import group_rows
from rankwood.extend import Pairs, part
from rankwood.metrics import NDCG
from rankwood.objectives import Binary, Graded, Lambda, NDCGLoss2, Neighbours, NoNoise, Swap
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.inspection import HalfSquared
from rankwood.objectives.parts.catboost_weights import YetiAP, YetiRR
from rankwood.objectives.parts.noise import GaussianNoise, GumbelNoise, LogisticNoise
from tests.helpers import paths
from tests.helpers.examples import examples
from tests.helpers.marks import slow_but
from tests.helpers.oracle import ORACLE, given_rankings, interpreted, one_query
from tests.oracles import naive, naive_metrics, naive_objectives, naive_yeti
from tests.oracles.naive_plackett_luce import scores_of

GOLDEN = json.loads(paths.GOLDEN.read_text())
YETI = GOLDEN["yeti"]


def parsed(key):
    """Name and parameters of a golden key such as MRR|three|neighbours=-1|top=None|exact."""
    mode, noise, neighbours, top, variant = key.split("|")
    name = "yetirank" if mode == "Classic" else f"yetiloss-{mode.lower()}"
    h, k = int(neighbours.split("=")[1]), top.split("=")[1]
    params = {"neighbours": "all" if h == -1 else h, "noise": "none"}
    if k != "None":
        params["k"] = int(k)
    if mode in ("MRR", "MAP"):
        params["variant"] = variant
    return rw.objective(name, **params), noise, 4.0 if mode == "ERR" else 1.0


@pytest.mark.parametrize("key", [k for k in YETI if k.count("|") == 4])
def test_golden(key):
    objective, noise, largest = parsed(key)
    rankings = YETI["permutations"] if noise == "three" else YETI["permutations"][:1]
    y, s = largest * np.array(YETI[key]["labels"]), GOLDEN["cases"]["A"]["s"]
    with interpreted():
        got = rw.gradients(given_rankings(objective, rankings), y, s)
        calm = rw.gradients(objective, y, s)
    np.testing.assert_allclose(got[0], YETI[key]["grad"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(got[1], YETI[key]["hess"], atol=1e-9, rtol=0)
    if noise == "no_noise":  # the first permutation is that of the scores
        np.testing.assert_array_equal(calm, got)


def err(labels, k):
    return naive_metrics.err(labels, k, gain="linear")


def by_change(value, read=list):
    return lambda y, s, k, h: naive_yeti.change(read(y), s, lambda labels: value(labels, k), k, h)


def arpk(y, s, k, h):
    binary = naive_objectives.binary(y)
    return naive_yeti.change(binary, s, lambda labels: naive_metrics.arpk(labels, k), None, h)


two = naive_objectives.binary
#: Text of a name without noise, and the oracle's pairs of (y, s, k, h).
NEIGHBOURS = {
    "yetirank@{k}": naive_yeti.classic,
    "yetirank@{k}(decay=0.5)": lambda y, s, k, h: naive_yeti.classic(y, s, k, h, 0.5),
    "yetiloss-ndcg@{k}": by_change(naive_metrics.ndcg),
    "yetiloss-dcg@{k}": by_change(naive_metrics.dcg),
    "yetiloss-dcg@{k}(gain=linear)": by_change(lambda r, k: naive_metrics.dcg(r, k, "linear")),
    "yetiloss-mrr@{k}": by_change(naive_metrics.mrr, two),
    "yetiloss-mrr@{k}(variant=catboost)": lambda y, *rest: naive_yeti.catboost_rr(two(y), *rest),
    "yetiloss-map@{k}": by_change(naive_metrics.average_precision, two),
    "yetiloss-map@{k}(variant=catboost)": lambda y, *rest: naive_yeti.catboost_ap(two(y), *rest),
    "yetiloss-err@{k}": by_change(err),
    "yetiloss-p@{k}": by_change(naive_metrics.p, two),
    "yetiloss-arpk@{k}": arpk,
}


@pytest.mark.parametrize("text", NEIGHBOURS)
@examples(20)
@given(
    one_query(12), st.sampled_from([1, 2, 3, 5, 20]), st.sampled_from([1, 2, 3, None]), st.randoms()
)
def test_mean_over_rankings_equals_the_oracle(text, query, k, h, random):
    y, s = [q[0] for q in query], [q[1] for q in query]
    rankings = [random.sample(range(len(y)), len(y)) for _ in range(3)]
    objective = rw.objective(text.format(k=k), neighbours=h or "all")
    with interpreted():
        got = rw.gradients(given_rankings(objective, rankings), y, s, n_jobs=1)
    noisy = [scores_of(r) for r in rankings]
    pairs = naive_yeti.mean_pairs([NEIGHBOURS[text](y, scores, k, h) for scores in noisy])
    expected = naive.logistic_gradients(pairs, s)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


@part
class Slowly:
    """The same pairs, not in bands."""

    base: Pairs = Neighbours()

    few: ClassVar[bool] = False
    band: ClassVar[bool] = False


@pytest.mark.parametrize("text", ["yetirank@{k}", "yetiloss-ndcg@{k}", "yetiloss-arpk@{k}"])
@examples(20)
@given(one_query(12), st.sampled_from([1, 2, 20]), st.sampled_from([1, 2, 3, 15]), st.randoms())
def test_neighbours_at_exactly_one_distance(text, query, k, h, random):
    """003 Figure 1 and section 4.3: |p_i - p_j| = h."""
    y, s = [q[0] for q in query], [q[1] for q in query]
    rankings = [random.sample(range(len(y)), len(y)) for _ in range(3)]
    objective = rw.objective(text.format(k=k), neighbours=h, exact=True)
    with interpreted():
        got = rw.gradients(given_rankings(objective, rankings), y, s, n_jobs=1)
        one_by_one = rw.gradients(
            replace(given_rankings(objective, rankings), pairs=Slowly(objective.pairs)), y, s
        )
    pairs = []
    for noisy in map(scores_of, rankings):
        place = naive_objectives.positions(noisy)
        found = NEIGHBOURS[text](y, noisy, k, None)
        pairs.append([p for p in found if abs(place[p[0]] - place[p[1]]) == h])
    expected = naive.logistic_gradients(naive_yeti.mean_pairs(pairs), s)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("text", ORACLE)
@examples(5)
@given(one_query(12), st.sampled_from([1, 2, 3]), st.booleans(), st.randoms())
def test_noise_on_any_pairwise_objective(text, query, k, norm, random):
    y, s = [q[0] for q in query], [q[1] for q in query]
    rankings = [random.sample(range(len(y)), len(y)) for _ in range(2)]
    objective = rw.objective(text.format(k=k), norm=norm, noise="logistic")
    with interpreted():
        got = rw.gradients(given_rankings(objective, rankings), y, s, n_jobs=1)
    pairs = naive_yeti.mean_pairs([ORACLE[text](y, scores_of(r), k) for r in rankings])
    expected = naive.logistic_gradients(pairs, s, norm=norm)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("noise", slow_but(["gauss"], ["logistic", "gauss"]))
def test_mean_weights_equal_quadrature(noise):
    """Golden expected weights of n = 3: mean over draws, within 4 standard errors of 400 means of 200 draws."""
    golden = YETI[f"expected_n3|{noise}"]
    y, s = np.tile(golden["y"], 400), np.tile(golden["s"], 400)
    options = {"noise": {"logistic": "logistic", "gauss": "gaussian"}[noise], "permutations": 200}
    for name, weights in (("yetirank", "W_classic"), ("yetiloss-ndcg", "W_ndcg")):
        grad, hess = rw.gradients(rw.objective(name, **options), y, s, group=np.full(400, 3))
        pairs = [(i, j, w) for i, row in enumerate(golden[weights]) for j, w in enumerate(row) if w]
        expected = naive.logistic_gradients(pairs, golden["s"])
        for got, mean in zip((grad, hess), expected, strict=True):
            got = got.reshape(400, 3)
            error = got.std(axis=0, ddof=1) / 20
            assert np.all(np.abs(got.mean(axis=0) - mean) < 4 * error)
            assert np.all(error < 0.01 * np.abs(mean).max())


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (LogisticNoise(2.0), "logistic"),
        (GaussianNoise(2.0), "norm"),
        (GumbelNoise(2.0), "gumbel_r"),
    ],
)
def test_noise_has_its_law(noise, law):
    out = np.empty(4000)
    noise.perturb(np.zeros(4000), 0, 12345, out)
    assert scipy.stats.kstest(out / 2.0, law).pvalue > 1e-3
    other = np.empty(4000)
    noise.perturb(np.zeros(4000), 0, 12346, other)
    assert abs(np.corrcoef(out, other)[0, 1]) < 0.05
    assert abs(np.corrcoef(out[1:], out[:-1])[0, 1]) < 0.05


def test_seeds_rounds_and_threads(rng):
    sizes = rng.integers(1, 60, 40)
    y, s = rng.integers(0, 5, sizes.sum()).astype(float), rng.normal(size=sizes.sum())
    groups = group_rows(y.size, group=sizes)

    def drawn(seed, round, n_jobs):
        objective = rw.objective("yetirank")
        return GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=n_jobs, seed=seed)(
            s, round
        )

    one = drawn(0, 3, 1)
    np.testing.assert_array_equal(one, drawn(0, 3, 2))
    assert np.any(one[0] != drawn(1, 3, 1)[0]) and np.any(one[0] != drawn(0, 4, 1)[0])
    # One driver gives the same bits whatever it was asked before.
    drive = GradientComputer(rw.objective("yetirank"), y, groups, dtype=np.float32, n_jobs=2)
    drive(s, 7)
    np.testing.assert_array_equal(one, drive(s, 3))


@pytest.mark.slow
def test_compiled_equals_interpreted(rng):
    sizes = np.array([1, 2, 40, 450])  # the last is sorted in another way
    y, s = rng.integers(0, 5, sizes.sum()).astype(float), rng.normal(size=sizes.sum())
    for text in ("yetirank@5(neighbours=2)", "yetiloss-mrr", "lambdarank-p@4(noise=gaussian)"):
        groups = group_rows(y.size, group=sizes)
        objective = rw.objective(text, permutations=2)
        grad, hess = GradientComputer(objective, y, groups, dtype=np.float32)(s, 3)
        with interpreted():
            g, h = GradientComputer(objective, y, groups)(s, 3)
        np.testing.assert_allclose(grad, g, rtol=1e-3, atol=2e-5 * np.abs(g).max())
        np.testing.assert_allclose(hess, h, rtol=1e-3, atol=2e-5 * np.abs(h).max())


@examples(30)
@given(one_query(12), st.integers(1, 5))
def test_neighbours_one_by_one_or_in_vectors(query, h):
    """A band is visited where it is, with two classes too; with look-ups it is visited anchor by anchor."""
    y, s = [min(q[0], 1) for q in query], [q[1] for q in query]
    weight = Swap(NDCG())
    with interpreted():
        ways = [
            rw.gradients(Lambda(weight, Neighbours(h), labels=labels), y, s)
            for labels in (Graded(), Binary())
        ]
        steps = rw.gradients(Lambda(NDCGLoss2(), Neighbours(h)), y, s)
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-12)
    pairs = naive_yeti.near(naive_objectives.ndcg(y, s, rho=0.0, mu=1.0), s, h)
    np.testing.assert_allclose(steps, naive.logistic_gradients(pairs, s), atol=1e-11)


def test_far_scores_stay_finite():
    y, s = [2.0, 0.0, 1.0, 0.0], [-1e4, 1e4, 0.0, 3.0]
    grad, _ = rw.gradients("yetirank(noise=none)", y, s)
    expected = naive.logistic_gradients(naive_yeti.classic(y, s), s)[0]
    np.testing.assert_allclose(grad, expected, atol=1e-12)


def test_visits_neighbours_only():
    """Hessians of a loss with curvature 1 count the pairs: n - 1 and n - 2 of a list without equal labels."""
    n = 9
    objective = Lambda(rw.objective("ranknet(norm=False)").weight, Neighbours(2), HalfSquared())
    with interpreted():
        hess = rw.gradients(objective, np.arange(n), np.arange(n, 0.0, -1.0))[1]
        cut = rw.gradients(
            replace(objective, pairs=Neighbours(2, 3)), np.arange(n), np.arange(n, 0.0, -1)
        )[1]
    assert hess.sum() / 2 == (n - 1) + (n - 2)
    assert cut.sum() / 2 == 3 + 3


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("yetirank(noise_scale=0)", "noise_scale must be positive, got 0"),
        ("lambdagap-x+@3(noise=logistic, noise_scale=-1)", "noise_scale must be positive"),
        ("yetirank(noise=gumbl)", "noise must be one of .*'gumbel'"),
        ("yetirank(permutations=0)", "permutations must be at least 1"),
        ("yetirank(neighbours=0)", "neighbours must be at least 1"),
        ("yetirank(neighbours=some)", "neighbours must be a number or 'all'"),
        ("yetirank(decay=1)", "decay must be between 0 and 1"),
        ("yetiloss-p", "yetiloss-p needs a cutoff"),
        ("ranknet(hessian=0)", "hessian must be positive"),
    ],
)
def test_bad_parameters(text, word):
    with pytest.raises(InputError, match=word.replace("(", r"\(")):
        rw.objective(text)


def test_err_needs_labels_within_its_mapping():
    with pytest.raises(InputError, match="max_label is 4, but there is a label 5 at row 1"):
        rw.gradients("yetiloss-err", [0.0, 5.0], [0.0, 1.0])


def test_a_doubled_hessian_is_an_option(rng):
    y, s = rng.integers(0, 3, 9), rng.normal(size=9)
    with interpreted():
        one, two_times = (rw.gradients("lambdarank-ndcg@5", y, s), None)
        two_times = rw.gradients("lambdarank-ndcg@5(hessian=2.0)", y, s)
    np.testing.assert_array_equal(one[0], two_times[0])
    np.testing.assert_allclose(2 * one[1], two_times[1])


def test_names_print_and_read_back():
    for text in ("yetirank", "yetiloss-map@5(variant=catboost, neighbours=3)", "yetiloss-p@3"):
        objective = rw.objective(text)
        assert rw.objective(repr(objective)) == objective
    assert rw.objective("yetirank(noise=none)").noise == NoNoise()
    assert rw.objective("yetiloss-mrr(variant=catboost)").weight == YetiRR()
    assert rw.objective("yetiloss-map(variant=catboost)").weight == YetiAP()


@pytest.mark.parametrize(
    "text", ["Lambda(weight=Swap(ERR(gain=Linear())))", "StochasticRank(PFound(gain=Exp()))"]
)
def test_labels_that_are_no_chances_need_a_mapping(text):
    with pytest.raises(
        InputError, match=r"needs chances from 0 to 1, .* use LinearChance\(max_label=3\)"
    ):
        rw.gradients(text, [2, 0, 3], [0.0, 1.0, 2.0])


def test_all_bits_of_a_seed_count():
    assert len({round_state(s, r) for s in (7, 7 + 2**32, 7 + 2**61) for r in (0, 1, 2**40)}) == 9
    assert round_state(np.int64(7), 1) == round_state(7, 1)
    # The numbers of two states are not parts of one sequence.
    one, two = ({mix(state, i) for i in range(2000)} for state in (5, 6))
    assert len(one) == 2000 and len(one & two) < 5


def test_all_neighbours_are_all_either_way():
    every = rw.objective("yetirank(neighbours=all)")
    assert rw.objective("yetirank(neighbours=all, exact=True)") == every
