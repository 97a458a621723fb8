"""Tests, intervals and effect sizes of paired differences, against their definitions and SciPy."""

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rankwood import stats
from rankwood._kernels.compile.jit import JIT
from rankwood._util.checks import InputError
from tests.helpers.examples import examples
from tests.oracles import naive_stats

DRAWS = 10_000 if JIT else 400
SAMPLED = {"permutation": stats.permutation, "bootstrap": stats.bootstrap}
TESTS = {**SAMPLED, "t": stats.t_test, "wilcoxon": stats.wilcoxon}

#: Differences of P@10: multiples of 0.1, with the rounding errors of a subtraction.
tenths = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=8)
reals = st.lists(
    st.floats(-1, 1).filter(lambda x: x == 0 or abs(x) > 1e-6), min_size=2, max_size=10
)


def precision(pairs):
    """Return differences of P@10 as floats, and as exact fractions."""
    return [a / 10 - b / 10 for a, b in pairs], [f"{a - b}/10" for a, b in pairs]


# Golden values and definitions


#: Values of SciPy's distributions are rounded to 36 binary digits.
STEADY = 2.0**-36


def test_golden(golden):
    known = golden["tests"]
    d = known["differences"]
    assert stats.permutation(d).statistic == pytest.approx(known["mean"], abs=1e-9)
    at_least = {"greater": known["p_one_sided_geq"], "two-sided": known["p_two_sided_geq"]}
    expected_p = {
        (side, count): p for side, p in at_least.items() for count in ("share", "corrected")
    }
    expected_p["greater", "strict"] = known["p_one_sided_strict"]
    for (alternative, count), p in expected_p.items():
        outcome = stats.permutation(d, alternative, count=count)
        assert outcome.p == pytest.approx(p, abs=1e-9)
        assert outcome.exact
    assert stats.t_test(d).statistic == pytest.approx(known["paired_t"], abs=1e-9)
    expected = 2 * scipy.stats.t.sf(known["paired_t"], known["df"])
    assert stats.t_test(d).p == pytest.approx(expected, rel=STEADY)


@given(tenths, st.sampled_from(stats.ALTERNATIVES), st.booleans())
def test_exact_permutation_is_the_definition(pairs, alternative, strict):
    floats, exact = precision(pairs)
    outcome = stats.permutation(floats, alternative, count="strict" if strict else "corrected")
    assert outcome.exact
    different = any(floats)  # models that never differ are not different, strictly or not
    assert outcome.p == (naive_stats.permutation(exact, alternative, strict) if different else 1)


def test_equal_sums_are_equal_despite_rounding():
    # 0.1 + 0.2 is not 0.3 in binary, but the signs that exchange them give the same mean.
    d = [0.1, 0.2, -0.3, 0.3]
    exact = ["1/10", "2/10", "-3/10", "3/10"]
    for strict, count in ((False, "share"), (True, "strict")):
        expected = naive_stats.permutation(exact, "greater", strict)
        assert stats.permutation(d, "greater", count=count).p == expected
        shifted = [x + 1e-16 for x in d]
        assert stats.permutation(shifted, "greater", count=count).p == expected


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("count", stats.COUNTS)
def test_sampling_agrees_with_enumeration(monkeypatch, alternative, count):
    d = [0.1, 0.2, -0.1, 0.3, 0.1, -0.2, 0.4, 0.0, 0.1, -0.3, 0.2]
    exact = stats.permutation(d, alternative, count=count)
    monkeypatch.setattr("rankwood.stats.sampling.EXACT", 0)
    drawn = stats.permutation(d, alternative, draws=4 * DRAWS, count=count)
    assert exact.exact and not drawn.exact
    error = (exact.p * (1 - exact.p) / (4 * DRAWS)) ** 0.5
    assert abs(drawn.p - exact.p) < 4 * error + 1 / DRAWS


def test_corrected_p_counts_the_observed_signs(rng):
    d = rng.random(40)  # all positive: no draw is as extreme
    assert stats.permutation(d, draws=99).p == 0.01
    assert stats.permutation(d, draws=99, count="share").p == 0
    assert stats.permutation(d, draws=99, count="strict").p == 0


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_permutation_against_scipy(rng, alternative):
    small, large = rng.normal(0.3, 1, 9), rng.normal(0.05, 1, 150)
    for d, draws in ((small, np.inf), (large, DRAWS)):
        theirs = scipy.stats.permutation_test(
            (d, np.zeros_like(d)),
            lambda x, y, axis: (x - y).mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=draws,
            alternative=alternative,
            rng=np.random.default_rng(1),
        ).pvalue
        ours = stats.permutation(d, alternative, draws=DRAWS).p
        if draws == np.inf:
            assert ours == pytest.approx(theirs, abs=1e-12)
        else:  # SciPy doubles the smaller side of a two-sided test
            assert ours == pytest.approx(theirs, abs=5 * (0.5 / DRAWS**0.5))


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_bootstrap_is_the_definition(alternative):
    d = ["3/10", "1/10", "-2/10", "4/10", "0"]
    floats = [0.3, 0.1, -0.2, 0.4, 0.0]
    for strict, count in ((False, "share"), (True, "strict")):
        expected = naive_stats.bootstrap(d, alternative, strict)
        drawn = stats.bootstrap(floats, alternative, draws=4 * DRAWS, count=count).p
        error = (expected * (1 - expected) / (4 * DRAWS)) ** 0.5
        assert abs(drawn - expected) < 4 * error + 1e-12


@given(reals, st.sampled_from(stats.ALTERNATIVES))
def test_t_against_scipy(d, alternative):
    ours = stats.t_test(d, alternative)
    if np.ptp(d) <= 1e-9:
        return
    theirs = scipy.stats.ttest_1samp(d, 0, alternative=alternative)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    interval = theirs.confidence_interval(0.9)
    if alternative == "two-sided":
        expected = (interval.low, interval.high)
        assert stats.t_interval(d, 0.9) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_wilcoxon_against_scipy(rng, alternative):
    for d in (rng.normal(0.2, 1, 20), rng.normal(0.1, 1, 300), rng.integers(-5, 6, 80) / 10):
        theirs = scipy.stats.wilcoxon(d[d != 0], alternative=alternative)
        assert stats.wilcoxon(d, alternative).p == pytest.approx(theirs.pvalue, rel=STEADY)
    # Differences that are equal but for rounding share a rank.
    d = np.array([0.3 - 0.2, 0.2 - 0.1, 0.1, -0.1, 0.4 - 0.3, 0.5, 0.7, -0.2] * 5)
    theirs = scipy.stats.wilcoxon(np.round(d, 9), alternative=alternative)
    assert stats.wilcoxon(d, alternative).p == pytest.approx(theirs.pvalue, rel=STEADY)


def test_wilcoxon_of_differences_of_all_sizes():
    d = np.array([0.2, 0.2, 1e-9, -0.3, 1e6, -0.3, 1e6])
    theirs = scipy.stats.wilcoxon(d)
    ours = stats.wilcoxon(d)
    assert ours.statistic == 1 + 2 * 2.5 + 2 * 6.5
    assert ours.p == pytest.approx(theirs.pvalue) == pytest.approx(0.453, abs=5e-4)
    assert stats.rank_biserial(d) == pytest.approx(naive_stats.rank_biserial(d))
    assert not stats.wilcoxon([0.0, 0.0]).statistic


@pytest.mark.parametrize("kind", ["bca", "percentile"])
def test_bootstrap_interval_against_scipy(rng, kind):
    d = rng.exponential(size=60) - 0.6
    theirs = scipy.stats.bootstrap(
        (d,), np.mean, n_resamples=9999, method=kind, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = stats.bootstrap_interval(d, draws=DRAWS, kind=kind)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02 if JIT else 0.08)
    # Turned around, the interval is turned around.
    assert stats.bootstrap_interval(-d, draws=DRAWS, kind=kind) == pytest.approx(
        (-ours[1], -ours[0]), abs=1e-15
    )


# Properties of every test


@pytest.mark.parametrize("name", TESTS)
@examples(40)
@given(d=reals, alternative=st.sampled_from(stats.ALTERNATIVES), order=st.randoms())
def test_p_values(name, d, alternative, order):
    test = TESTS[name]
    words = {"draws": 50} if name in SAMPLED else {}
    p = test(d, alternative, **words).p
    assert 0 <= p <= 1
    mixed = list(d)
    order.shuffle(mixed)
    assert test(mixed, alternative, **words).p == pytest.approx(p, abs=1e-12)
    turned = {"greater": "less", "less": "greater", "two-sided": "two-sided"}[alternative]
    if sum(d):
        other = test([-x for x in d], turned, **words).p
        assert other == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("size", [1, 5, 40])
def test_no_difference_at_all(name, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = TESTS[name](np.zeros(size))
    assert outcome.p == 1 or (name, size) == ("t", 1)
    if name in SAMPLED:
        assert all(SAMPLED[name](np.zeros(size), count=count).p == 1 for count in stats.COUNTS)


@pytest.mark.parametrize("name", TESTS)
def test_one_and_equal_differences(name):
    TESTS[name]([0.5])
    assert TESTS[name]([0.5] * 30).p < 0.001
    assert TESTS[name]([0.1] * 30, "less").p > 0.9


def test_equal_differences_have_no_spread():
    assert stats.t_test([0.1] * 30) == (np.inf, 0.0, True)
    assert stats.cohen_d([-0.1] * 30) == -np.inf
    assert stats.t_interval([0.1] * 30) == pytest.approx((0.1, 0.1))
    assert stats.bootstrap_interval([0.1] * 30) == (0.1, 0.1)


@pytest.mark.parametrize("name", SAMPLED)
def test_seeds_and_threads(rng, name):
    d = rng.normal(0.1, 1, 77)
    draws = 3000 if JIT else 300
    p = [SAMPLED[name](d, draws=draws, seed=5, n_jobs=jobs).p for jobs in (1, 2, 3, None)]
    assert len(set(p)) == 1
    others = {SAMPLED[name](d, draws=draws, seed=seed).p for seed in range(8)}
    assert len(others) > 3
    low = {stats.bootstrap_interval(d, draws=draws, seed=s) for s in range(5)}
    assert len(low) == 5


@pytest.mark.parametrize("size", [17, 63, 64, 65, 128, 130])
def test_every_difference_takes_part(rng, size):
    """The spread of sums under random signs is the root of the sum of squares, whatever fills the last word."""
    from rankwood.stats.sampling import sign_sums, to_grid

    d = rng.random(size)
    grid = to_grid(d, d.sum())
    unit = d.sum() / grid.sum()
    draws = 20_000 if JIT else 1500
    sums, exact = sign_sums(grid, draws, 3, None)
    assert not exact
    expected = (d**2).sum() ** 0.5
    assert sums.mean() * unit == pytest.approx(0, abs=4 * expected / draws**0.5)
    assert sums.std() * unit == pytest.approx(expected, rel=4 / (2 * draws) ** 0.5)
    assert (np.abs(sums) <= grid.sum()).all()


def test_scale_does_not_matter(rng):
    d = rng.normal(0.1, 1, 50)
    p = stats.permutation(d, draws=300).p
    for scale in (1e-300, 1e-9, 2.0**40, 1e200):
        assert stats.permutation(d * scale, draws=300).p == p


def test_false_alarms_are_as_rare_as_promised(rng):
    """Without a true difference, p < 0.1 happens about one time in ten."""
    runs = 400 if JIT else 40
    hits = sum(stats.permutation(rng.normal(size=30), draws=199).p <= 0.1 for _ in range(runs))
    assert abs(hits / runs - 0.1) < 4 * (0.09 / runs) ** 0.5


# Sizes and corrections


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12))
def test_rank_biserial_is_the_definition(d):
    assert stats.rank_biserial(d) == pytest.approx(naive_stats.rank_biserial(d), abs=1e-12)
    assert sum(stats.wins_ties_losses(d)) == len(d)


def test_effect_sizes(rng):
    d = rng.normal(0.3, 1, 50)
    assert stats.cohen_d(d) == pytest.approx(d.mean() / d.std(ddof=1))
    assert stats.cohen_d([0, 0]) == 0
    assert np.isnan(stats.cohen_d([1.0]))
    assert stats.wins_ties_losses([1, 0, -2, 3]) == (2, 1, 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_corrections(p):
    holm, bonferroni = stats.holm(p), stats.bonferroni(p)
    assert holm.tolist() == pytest.approx(naive_stats.holm(p), abs=1e-15)
    assert (holm <= bonferroni + 1e-15).all()
    assert (holm >= np.array(p)).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(holm[order]) >= 0).all()
    assert (holm <= 1).all() and (bonferroni <= 1).all()


def test_what_was_not_tested_is_not_counted():
    assert stats.holm([0.01, np.nan, 0.04]).tolist()[::2] == [0.02, 0.04]
    assert stats.bonferroni([0.01, np.nan, 0.04]).tolist()[::2] == [0.02, 0.08]
    assert np.isnan(stats.holm([np.nan])[0])


def test_snap():
    a, b = np.array([0.1 + 0.2, 5.0, 0.5]), np.array([0.3, 4.0, 0.5])
    assert stats.snap(a, b).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.permutation([]), "differences is empty"),
        (lambda: stats.permutation([1, np.nan]), "must be finite"),
        (lambda: stats.permutation([1], "bigger"), "alternative must be one of"),
        (lambda: stats.permutation([1], draws=0), "draws must be at least 1"),
        (lambda: stats.permutation([1] * 20, seed=-1), "seed must be at least 0"),
        (lambda: stats.permutation([1], count="all"), "count must be one of"),
        (lambda: stats.bootstrap([1], count="all"), "count must be one of"),
        (lambda: stats.t_interval([1, 2], 95), "level must be between 0 and 1"),
        (lambda: stats.bootstrap_interval([1, 2], kind="basic"), "kind must be one of"),
        (lambda: stats.holm([2]), "from 0 to 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
