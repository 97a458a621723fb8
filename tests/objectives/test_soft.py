"""Soft assignment: Gumbel noise makes rankings of the Plackett-Luce model, and weights are means over them."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._kernels.compile.jit import jit
from rankwood._kernels.numeric.elementary import log1p
from rankwood._kernels.numeric.rng import gumbel, mix, round_state
from rankwood.data.groups import group_rows
from rankwood.extend import part
from rankwood.objectives import GumbelNoise
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.examples import examples
from tests.helpers.marks import slow_but
from tests.helpers.oracle import ORACLE, given_rankings, interpreted, one_query
from tests.oracles import naive, naive_yeti
from tests.oracles import naive_plackett_luce as model

MASK = 2**32 - 1
#: Labels and scores of three and of four documents.
THREE = ([2, 0, 1], [0.4, 0.9, -0.3])
FOUR = ([1, 0, 3, 2], [0.5, 0.9, -0.4, 0.1])
NAMES = ("lambdarank-ndcg@{k}", "lambdaloss-ndcg++@{k}(mu=2.5)", "lambdagap-x+@{k}(mu=0.5)")


def soft(text, k=2, **params):
    return rw.objective(text.format(k=k), noise="gumbel", **params)


def scores_and_labels(query):
    return [q[0] for q in query], [q[1] for q in query]


# The model by enumeration, and the sampler against it.


def test_enumeration_by_hand():
    """Weights 1, 2, 3: the third is first in half of the rankings, then the second in two of three."""
    chances = dict(model.rankings([Fraction(1), Fraction(2), Fraction(3)]))
    assert chances == {
        (2, 1, 0): Fraction(1, 3),
        (2, 0, 1): Fraction(1, 6),
        (1, 2, 0): Fraction(1, 4),
        (1, 0, 2): Fraction(1, 12),
        (0, 2, 1): Fraction(1, 10),
        (0, 1, 2): Fraction(1, 15),
    }


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("scores", [THREE[1], FOUR[1]], ids=["three", "four"])
def test_rankings_have_their_probabilities(scores, scale):
    draws, noise, out = 6000, GumbelNoise(scale), np.empty(len(scores))
    seen = Counter()
    for draw in range(draws):
        noise.perturb(np.array(scores), draw, mix(17, draw), out)
        seen[tuple(naive.ranking(out.tolist()))] += 1
    chances = dict(model.rankings(model.weights_of(scores, scale)))
    expected = [draws * chance for chance in chances.values()]
    assert min(expected) > 5  # as the chi-square test wants it
    assert scipy.stats.chisquare([seen[order] for order in chances], expected).pvalue > 1e-3
    # So many draws tell the model from that of a scale half as large again.
    other = dict(model.rankings(model.weights_of(scores, 1.5 * scale)))
    wrong = [draws * other[order] for order in chances]
    assert scipy.stats.chisquare([seen[order] for order in chances], wrong).pvalue < 1e-6


@jit
def compiled_gumbel(real, state, i):
    return gumbel(real, state, i)


def state_with(word):
    """Return the random state whose number 0 is made of this word of 32 bits: `mix` undone."""
    h = word ^ (word >> 16)
    h = h * pow(0xC2B2AE35, -1, 2**32) & MASK
    h = h ^ (h >> 13) ^ (h >> 26)
    h = h * pow(0x85EBCA6B, -1, 2**32) & MASK
    return (h ^ (h >> 16)) ^ 0x7F4A7C15


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("word", [0, 1, 2, 255, 10**6, 2**31, MASK - 255, MASK - 1, MASK])
def test_both_ends_of_the_distribution(word, real):
    state = state_with(word)
    assert mix(state, 0) == word
    expected = model.gumbel((word + 0.5) / 2**32)
    tolerance = 1e-12 if real is np.float64 else 2e-6
    for found in (gumbel(real(1), state, 0), compiled_gumbel(real(1), state, 0)):
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


@jit
def compiled_log1p(column, out):
    for i in range(column.size):
        out[i] = log1p(column[i])


def test_log1p_of_single_precision():
    x = np.geomspace(1e-11, 1e10, 50_001).astype(np.float32)
    out = np.empty_like(x)
    compiled_log1p(x, out)
    np.testing.assert_allclose(out, np.log1p(x.astype(np.float64)), rtol=4e-7)


# Weights are means over these rankings.


@pytest.mark.parametrize("weights", [(1, 2, 3), (1, 1, 2, 2)], ids=["three", "four"])
@pytest.mark.parametrize("text", NAMES)
def test_exact_mean_of_all_rankings(text, weights):
    """With weights that are whole numbers, each ranking is drawn as often as its probability says."""
    chances = dict(model.rankings([Fraction(weight) for weight in weights]))
    times = np.lcm.reduce([chance.denominator for chance in chances.values()])
    drawn = [order for order, chance in chances.items() for _ in range(int(chance * times))]
    assert len(drawn) == times
    y, s = THREE[0] if len(weights) == 3 else FOUR[0], np.log(weights).tolist()
    with interpreted():
        got = rw.gradients(given_rankings(soft(text, norm=False), drawn), y, s)
    pairs = model.expected_pairs(partial(of_oracle, text, y), s)
    np.testing.assert_allclose(got, naive.logistic_gradients(pairs, s), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", slow_but(["yetirank"], [*NAMES[:2], "yetirank"]))
def test_mean_of_many_draws_equals_enumeration(text):
    """Lists of three and of four, 400 times each: the mean gradient is within four standard errors."""
    y = [*THREE[0], *FOUR[0]] * 400
    s = [*THREE[1], *FOUR[1]] * 400
    options = {} if text == "yetirank" else {"norm": False}
    objective = soft(text, noise_scale=0.7, permutations=100, **options)
    found = rw.gradients(objective, y, s, group=np.tile([3, 4], 400), n_jobs=1)
    right, larger = (expected_gradients(text, scale) for scale in (0.7, 1.0))
    for got, mean, other in zip(found, right, larger, strict=True):
        got = got.reshape(400, 7)
        error = got.std(axis=0, ddof=1) / 20
        assert np.all(np.abs(got.mean(axis=0) - mean) < 4 * error + 1e-12)
        assert np.any(np.abs(got.mean(axis=0) - other) > 10 * error)


def expected_gradients(text, scale):
    """Gradients and hessians of both lists with the mean weights of the Plackett-Luce model."""
    columns = []
    for y, s in (THREE, FOUR):
        classic = partial(naive_yeti.classic, y)
        pairs = classic if text == "yetirank" else partial(of_oracle, text, y)
        columns.append(naive.logistic_gradients(model.expected_pairs(pairs, s, scale), s))
    return np.concatenate(columns, axis=1)


def of_oracle(text, y, scores):
    return ORACLE[text](y, scores, 2)


# The same draws in plain loops, compiled, and on any number of threads.


def by_loops(text, y, s, k, norm, params):
    """Gradients of one query, with the numbers that its seed and round stand for."""
    seed, scale, draws = params["seed"], params["noise_scale"], params["permutations"]
    state = mix(round_state(seed, params["round"]), 0)
    drawn = []
    for draw in range(draws):
        words = [mix(mix(state, draw), i) for i in range(len(s))]
        noise = [model.gumbel((word + 0.5) / 2**32) for word in words]
        noisy = [score + scale * more for score, more in zip(s, noise, strict=True)]
        drawn.append(ORACLE[text](y, noisy, k))
    return naive.logistic_gradients(naive_yeti.mean_pairs(drawn), s, norm=norm)


@pytest.mark.parametrize("text", ORACLE)
@examples(5)
@given(one_query(9), st.sampled_from([1, 2, 3]), st.booleans(), st.integers(0, 2**40))
def test_every_pairwise_name_equals_plain_loops(text, query, k, norm, seed):
    y, s = scores_and_labels(query)
    params = {"seed": seed, "round": 4, "noise_scale": 0.5, "permutations": 3}
    objective = soft(text, k, norm=norm, noise_scale=0.5, permutations=3)
    with interpreted():
        got = rw.gradients(objective, y, s, seed=seed, round=4, n_jobs=1)
    expected = by_loops(text, y, s, k, norm, params)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


def test_compiled_equals_interpreted_and_threads_change_no_bit(rng):
    sizes = np.array(
        [1, 2, 40, 450, *rng.integers(1, 30, 20)]
    )  # lists of 450 are sorted in another way
    y, s = rng.integers(0, 5, sizes.sum()).astype(float), rng.normal(size=sizes.sum())
    groups = group_rows(y.size, group=sizes)
    objective = soft(NAMES[1], 5, norm=False, permutations=2)

    def compiled(real, n_jobs):
        return GradientComputer(objective, y, groups, dtype=real, n_jobs=n_jobs)(s, 3)

    with interpreted():
        plain = GradientComputer(objective, y, groups)(s, 3)
    for real, relative, absolute in ((np.float64, 1e-9, 1e-12), (np.float32, 1e-3, 2e-5)):
        one = compiled(real, 1)
        for got, expected in zip(one, plain, strict=True):
            limit = absolute * np.abs(expected).max()
            np.testing.assert_allclose(got, expected, rtol=relative, atol=limit)
        for n_jobs in (2, 3):
            np.testing.assert_array_equal(one, compiled(real, n_jobs))


# Properties.

PROPERTIES = st.sampled_from(
    [text.format(k=2) for text in NAMES] + ["lambdaloss-ndcg1", "yetiloss-map"]
)


@examples(60)
@given(PROPERTIES, one_query(12), st.floats(0.1, 5.0), st.integers(0, 9))
def test_gradients_sum_to_zero_and_shifts_change_nothing(text, query, scale, seed):
    y, s = scores_and_labels(query)
    objective = soft(text, noise_scale=scale, permutations=3)
    with interpreted():
        grad, hess = rw.gradients(objective, y, s, seed=seed)
        shifted = rw.gradients(objective, y, [score + 64.0 for score in s], seed=seed)
    assert abs(grad.sum()) < 1e-12 * max(1.0, np.abs(grad).sum())
    assert np.all(hess >= 0)
    np.testing.assert_allclose(shifted, (grad, hess), rtol=1e-9, atol=1e-11)


@part
class Moved:
    """Gumbel noise for documents that were moved: each keeps the number of its old place."""

    def perturb(self, score, draw, state, out):
        for place, old in enumerate(PLACES):
            out[place] = score[place] + gumbel(1.0, state, old)


PLACES: list = []


@examples(60)
@given(PROPERTIES, one_query(12), st.randoms())
def test_documents_can_be_moved_with_their_noise(text, query, random):
    y, s = scores_and_labels(query)
    PLACES[:] = random.sample(range(len(y)), len(y))
    objective = soft(text, permutations=3)
    with interpreted():
        here = np.array(rw.gradients(objective, y, s))
        there = rw.gradients(
            replace(objective, noise=Moved()), [y[i] for i in PLACES], [s[i] for i in PLACES]
        )
    np.testing.assert_allclose(there, here[:, PLACES], rtol=1e-9, atol=1e-11)


@examples(60)
@given(PROPERTIES, one_query(12), st.integers(0, 9))
def test_little_noise_is_the_hard_assignment(text, query, seed):
    y, s = scores_and_labels(query)
    assume(len(set(s)) == len(s))  # scores are 0.1 apart; equal ones would be ranked at random
    hard = rw.objective(text, noise="none")
    with interpreted():
        got = rw.gradients(soft(text, noise_scale=1e-3, permutations=2), y, s, seed=seed)
        expected = rw.gradients(hard, y, s)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
