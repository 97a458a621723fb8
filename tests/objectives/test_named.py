"""Every name against the oracle, compiled against interpreted, and what must hold of all of them."""

import re
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.extend import part
from rankwood.metrics import DCG
from rankwood.objectives import Lambda, NDCGLoss2, RankGap
from rankwood.objectives.families.listwise import LISTWISE
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.families.stochastic import STOCHASTIC
from rankwood.objectives.families.yeti import YETI
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.examples import examples
from tests.helpers.marks import slow_but
from tests.helpers.oracle import ORACLE, interpreted, one_query
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import refusal_test
from tests.oracles import naive, naive_objectives

#: One name of each composition: they differ in the types that are compiled.
COMPOSITIONS = [
    *("ranknet", "bin-ranknet", "lambdarank-bndcg@4", "lambdarank-p@4", "lambdarank-arpk@4"),
    *("lambdarank-map", "lambdarank-mrr@4", "lambdarank-err", "lambdarank-err(variant=catboost)"),
    *("lambdarank-map(variant=catboost)", "lambdarank-mrr(variant=catboost)"),
    *("lambdaloss-arp1", "lambdaloss-arp2", "lambdaloss-ndcg1@4", "lambdaloss-ndcg@4"),
    *("lambdaloss-ndcg++@4", "lambdaloss-bndcg@4", "lambdaloss-bndcg++@4", "lambdagap-s@4"),
    *("lambdagap-x@4", "lambdagap-s+@4", "lambdagap-x+@4", "lambdagap-x++@4"),
    *("lambdamart-ex-static@4", "lambdamart-ex-random-bin@4", "lambdaloss-ex-all@4"),
    *("lambdaloss1(metric=mrr)", "lambdaloss2(metric=rbp)", "lambdaloss2++(metric=mrr)"),
    *("lambdaloss2++(metric='expdcg@4')", "lambdaloss-ndcg@4(cut=weights)", "lambdagap-f@4"),
    "lambdaloss-ex++-all-random@4",
]
#: Those that a plain `pytest` compiles: one of each family.
FEW = [
    *("lambdarank-map", "lambdaloss-ndcg++@4", "lambdagap-x++@4", "lambdamart-ex-random-bin@4"),
    "ranknet",
]
#: Names of objectives without a pair set: test_listwise.py, test_stochastic.py and test_given_pairs.py have theirs.
WHOLE_LISTS = {row.name for family in (STOCHASTIC, LISTWISE) for row in family.rows} | {
    "ranknet-pairs"
}


@pytest.mark.parametrize("text", ORACLE)
@examples(25)
@given(
    one_query(14), st.sampled_from([1, 2, 3, 5]), st.booleans(), st.sampled_from([0.5, 1.0, 2.0])
)
def test_gradients_equal_the_oracle(text, query, k, norm, sigma):
    y, s = [q[0] for q in query], [q[1] for q in query]
    objective = rw.objective(text.format(k=k), norm=norm, sigma=sigma)
    with interpreted():
        got = rw.gradients(objective, y, s, n_jobs=1)
    expected = naive.logistic_gradients(ORACLE[text](y, s, k), s, sigma, norm)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-9, atol=1e-11)


def test_every_name_has_an_oracle():
    # The random strategies differ from the static ones in one shuffle; the golden values have theirs.
    named = {text.split("@")[0].split("(")[0] for text in ORACLE}
    elsewhere = WHOLE_LISTS | {row.name for row in YETI.rows}
    left = {name for name in OBJECTIVES if "random" not in name} - elsewhere
    assert named <= left
    # Names of Lambda-eX are a base, a strategy and a kind of labels: each of these has an oracle.
    extended = {name for name in left if "-ex" in name}
    assert left - extended <= named
    assert parts_of(named & extended) == parts_of(extended)


def parts_of(names):
    """Return the bases, strategies and kinds of labels in names of Lambda-eX."""
    found = [re.fullmatch(r"(.*-ex(?:\+\+)?)-(.*?)(-bin)?", name) for name in names]
    return {(place, part) for match in found for place, part in enumerate(match.groups())}


@pytest.mark.parametrize("text", slow_but(FEW, COMPOSITIONS))
def test_compiled_equals_interpreted(text, rng):
    _, y, sizes = random_lists(rng, queries=12, longest=40)
    groups, s = group_rows(y.size, group=sizes), np.round(rng.normal(size=y.size), 2)
    objective = rw.objective(text)
    grad, hess = GradientComputer(objective, y, groups, dtype=np.float32, n_jobs=2)(s, 3)
    with interpreted():
        g, h = GradientComputer(objective, y, groups, n_jobs=1)(s, 3)
    np.testing.assert_allclose(grad, g, rtol=1e-3, atol=2e-5 * np.abs(g).max())
    np.testing.assert_allclose(hess, h, rtol=1e-3, atol=2e-5 * np.abs(h).max())


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if name not in WHOLE_LISTS])
def test_properties(name, rng):
    _, y, sizes = random_lists(rng, queries=6, longest=12)
    s = np.round(rng.normal(size=y.size), 1)
    objective = rw.objective(name, **({"k": 3} if "k" in parameters(name) else {}))
    with interpreted():
        grad, hess = rw.gradients(objective, y, s, group=sizes, n_jobs=1)
        shifted = rw.gradients(objective, y, s + 2.0, group=sizes, n_jobs=1)[0]
        zero = rw.gradients(objective, np.zeros(5), s[:5])
        alone = rw.gradients(objective, y[:1], s[:1])
    starts = np.cumsum(sizes) - sizes
    assert np.abs(np.add.reduceat(grad, starts)).max() < 1e-12
    assert hess.min() >= 0 and np.abs(grad).max() > 0
    np.testing.assert_allclose(shifted, grad, atol=1e-9)
    assert not np.any(zero) and not np.any(alone)


def parameters(name):
    import inspect

    return inspect.signature(OBJECTIVES[name]).parameters


@pytest.mark.parametrize("name", ["lambdamart-ex-random", "lambdaloss-ex-random-bin"])
def test_a_seed_means_the_same_bits_and_another_differs(name, rng):
    _, y, sizes = random_lists(rng, queries=20, longest=30)
    s = rng.normal(size=y.size)
    groups = group_rows(y.size, group=sizes)

    def made(seed, round_, n_jobs=1):
        objective = rw.objective(name, k=3)
        return GradientComputer(objective, y, groups, n_jobs=n_jobs, seed=seed)(s, round_)[
            0
        ].tobytes()

    with interpreted():
        one = made(1, 5)
        assert made(1, 5, n_jobs=3) == one
        assert made(2, 5) != one
        assert made(1, 6) != one


test_what_makes_no_sense_is_said_at_once = refusal_test(
    rw.objective,
    [
        ("lambdagap-x", r"lambdagap-x needs a cutoff: write lambdagap-x@10, or give k=10"),
        ("lambdarank-p", "lambdarank-p needs a cutoff"),
        ("ranknet@10", "'ranknet' has no cutoff; omit @10"),
        ("lambdaloss-arp2@5", "has no cutoff; omit @5"),
        ("lambdarank-map@10(truncation=0)", "truncation must be at least 1, got 0"),
        ("lambdarank-map@0", "^k must be at least 1, got 0"),
        ("lambdaloss-ex++-static(k=2.0)", "^k must be an integer, got 2.0"),
        ("LambdaRank-NDCG@10", "did you mean 'lambdarank-ndcg'"),
        ("Lambda(weight=Swap(AP(rel=2)), labels=Binary(2))", "leave the metric's rel at 1"),
        ("lambdagap-s@3(mu=2)", "'lambdagap-s' has no parameter 'mu'"),
        ("lambdamart-ex-static@3(mu=2)", "'lambdamart-ex-static' has no parameter 'mu'"),
        ("lambdarank-ndcg(variant=exact)", "has no parameter 'variant'"),
        ("lambdarank-map(variant=xgboost)", "variant must be one of 'exact', 'catboost'"),
        ("lambdarank-map@5(variant=catboost)", "'catboost' has no cutoff"),
        ("lambdaloss-ndcg@5(delta=off)", "delta must be one of 'exact', 'shifted'"),
        ("lambdagap-x@5(definition=2)", "definition must be one of 'program', 'paper', got 2"),
        ("lambdagap-x+@5(mu=-1)", "mu must not be negative, got -1"),
        ("lambdamart-ex-static@5(definition=none)", "definition must be one of 'program', 'paper'"),
        ("lambdamart-ex-statik@5", "did you mean 'lambdamart-ex-static'"),
        ("lambdarank-p@5(rel=0)", "^rel must be positive, got 0"),
        ("lambdarank-err(max_label=0)", "^max_label must be positive"),
        ("Lambda(weight=Swap(Logistic()))", "Swap.metric must be a part that can 'swap_delta'"),
        ("Lambda(weight=NDCGLoss2(AP()))", "NDCGLoss2 is defined for metrics that are a sum"),
        ("Lambda(weight=NDCGLoss1(ARP()))", r"that grow with the ranking, got ARP\(\)"),
        ("Lambda(weight=CutoffMultiplier(Swap()))", r"CutoffMultiplier is defined for NDCGLoss2"),
        ("lambdaloss2(metric=map)", r"as NDCG\(\), RBP\(\) and RR\(\) are; got AP\(\)"),
        ("lambdaloss-ndcg(cut=weights)", "cut='weights' needs a cutoff: write @10"),
        ("lambdagap-f@3(f=0.5)", r"f must be a part that can 'gap_weight', .* got 0.5"),
        ("Lambda(pairs=TopMissed(3, 'best'))", "TopMissed.how must be one of 'static', 'random'"),
    ],
)


@part
class UpAndDown(DCG):
    """A DCG whose discounts rise and fall."""

    internal: ClassVar[bool] = True  # messages don't name it

    def rank_discount(self, discount, rank):
        return float(rank % 2)


@part
class Negative:
    """Weights that are none."""

    def gap_weight(self, beyond):
        return 1.0 - beyond


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            NDCGLoss2(UpAndDown()),
            r"discounts that never rise, or never fall, .* UpAndDown\(\) do both",
        ),
        (RankGap(2, Negative()), r"must be at least 0, those of Negative\(\) are not"),
    ],
)
def test_functions_of_ranks_that_make_no_weights(weight, message):
    with pytest.raises(rw.InputError, match=message):
        rw.gradients(Lambda(weight), [1, 0, 0, 0, 0], [0.0] * 5)


def test_ordered_pairs_of_binary_labels_pair_inside_a_class_too(rng):
    y, s = rng.integers(0, 3, 9), rng.normal(size=9)
    objective = rw.objective(
        "Lambda(weight=WinnerLabel(), pairs=BothDirections(All()), labels=Binary())"
    )
    with interpreted():
        got = rw.gradients(objective, y, s)
    expected = naive.logistic_gradients(naive_objectives.arp1(naive_objectives.binary(y), s), s)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_labels_that_err_can_not_read():
    with pytest.raises(rw.InputError, match="max_label"):
        rw.gradients("lambdarank-err", [5, 0], [0.0, 1.0])


def test_parts_compose_freely(rng):
    """Any weight with any pair set and any metric; the example of the names page among them."""
    texts = [
        "Lambda(weight=Sum(Swap(NDCG(10)), RanksApart(10), mu=2), pairs=TopMissed(10, 'random'))",
        "Lambda(weight=Swap(AP()), pairs=TopMissed(3), labels=Binary(2))",
        "Lambda(weight=Swap(ERR()), pairs=RanksApart(2))",
        "Lambda(weight=NDCGLoss2(DCG(), 'shifted'), pairs=RanksApart(2, True))",
        "Lambda(weight=ByDistance(NDCGLoss2()), pairs=BothDirections(AcrossCutoff(3)), scale=Log2Sum())",
        "Lambda(weight=Swap(Precision(3)), pairs=BothDirections(TopMissed(2)))",
        "Lambda(weight=Sum(WinnerLabel(), NDCGLoss1(), 0.5), pairs=BothDirections(ReachingBelow(2)))",
        "Lambda(weight=Scaled(AcrossCutoff(2), 3.0), pairs=Top(4), loss=Logistic(2.0))",
    ]
    _, y, sizes = random_lists(rng, queries=5, longest=15)
    s = rng.normal(size=y.size)
    for text in texts:
        objective = rw.objective(text)
        assert rw.objective(repr(objective)) == objective
        with interpreted():
            grad, hess = rw.gradients(objective, y, s, group=sizes)
        assert abs(grad.sum()) < 1e-12 and hess.min() >= 0 and np.abs(grad).max() > 0
