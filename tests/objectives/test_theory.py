"""What the papers prove, on the weights of our own compositions: bounds with the logarithm to base 2.

Paper 000 is LambdaGap, 002 LambdaLoss. All of it is one chain. With delta(i, j) >= 0 and f non-decreasing,

    sum over i of f(y_i) times the sum of delta(i, j) over j ranked above i
        = sum over pairs y_i > y_j of delta(i, j) (f(y_i) - f(y_j)) [i ranked below j]  + C2 + C3
       <= sum over pairs y_i > y_j of delta(i, j) (f(y_i) - f(y_j)) log2(1 + exp(-sigma (s_i - s_j)))  + C2 + C3

where C2 and C3 don't depend on the scores. The left side is the metric (or what it lacks to its best).
"""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.extend import PairDerivatives, part
from rankwood.objectives import NoScale
from tests.helpers.oracle import interpreted
from tests.helpers.small_losses import OF_SCORES
from tests.oracles import naive, naive_metrics


@part
class Only:
    """A loss that sees the pairs of one document: their weights come out as curvature."""

    at: float = 0.0

    embed, largest_score, factors = OF_SCORES

    def pair_derivatives(self, a, b):
        at_a, at_b = abs(a.score - self.at) < 1e-9, abs(b.score - self.at) < 1e-9
        return PairDerivatives(0.0, 0.0, float(at_a) + float(at_b))


def weights(text, y, s):
    """Matrix of the pair weights of an objective, from the kernel itself."""
    objective = rw.objective(text, norm=False)
    middle = (max(s) + min(s)) / 2
    w = np.zeros((len(y), len(y)))
    for j in range(len(y)):
        spy = dataclasses.replace(objective, loss=Only(s[j] - middle), scale=NoScale())
        with interpreted():
            w[:, j] = rw.gradients(spy, y, s, n_jobs=1)[1]
        w[j, j] = 0.0
    return w


def sides(w, f, delta, y, s, sigma=1.0):
    """Both sides of the chain: metric, the same by pairs in the wrong order, and the loss."""
    rank = {d: p for p, d in enumerate(naive.ranking(s), start=1)}
    n = len(y)
    metric = sum(
        f[i] * delta(rank[i], rank[j]) for i in range(n) for j in range(n) if rank[j] < rank[i]
    )
    wrong = loss = constant = 0.0
    for i in range(n):
        for j in range(n):
            if i != j and y[i] == y[j]:
                constant += 0.5 * delta(rank[i], rank[j]) * f[j]
            if y[i] > y[j]:
                constant += delta(rank[i], rank[j]) * f[j]
                wrong += w[i, j] * (rank[i] > rank[j])
                loss += w[i, j] * math.log2(1.0 + math.exp(-sigma * (s[i] - s[j])))
    return metric, wrong + constant, loss + constant


def holds(w, f, delta, y, s, sigma=1.0):
    metric, chain, bound = sides(w, f, delta, y, s, sigma)
    assert chain == pytest.approx(metric, abs=1e-9)
    assert metric <= bound + 1e-9
    return metric


queries = st.lists(st.integers(0, 4), min_size=2, max_size=9).flatmap(
    lambda y: st.tuples(
        st.just(y),
        st.lists(
            st.integers(-40, 40).map(lambda t: t / 8), min_size=len(y), max_size=len(y), unique=True
        ),
    )
)
cutoffs = st.integers(1, 4)


def ranked(y, s):
    return [y[d] for d in naive.ranking(s)]


def shares_of_ideal(y):
    """Return the gains over the ideal DCG; a query without relevant documents is omitted."""
    best = naive.ideal_dcg(y)
    assume(best > 0)
    return [naive.gain(label) / best for label in y]


@given(queries)
def test_ndcg_loss2_bounds_ndcg(query):
    """000 Lemma 5.1 and 002 section 5.2: the distance of discounts adds up to 1 - 1/D."""
    y, s = query
    f = shares_of_ideal(y)

    def delta(i, j):
        m = abs(i - j)
        return naive.discount(m) - naive.discount(m + 1)

    metric = holds(weights("lambdaloss-ndcg", y, s), f, delta, y, s)
    assert metric == pytest.approx(sum(f) - naive.ndcg(ranked(y, s)), abs=1e-9)
    assert metric == pytest.approx(naive_metrics.ndcgcost(ranked(y, s)), abs=1e-9)


#: Metrics that are a sum of f(y) g(position), with the oracle of the metric, f and g.
SUMS = {
    "rbp@{k}(p=0.7)": (
        lambda order, k: naive_metrics.rbp(order, k, p=0.7),
        lambda y, k: 0.3 * (y > 0),
        lambda i, k: 0.7 ** (i - 1) * (i <= k),
    ),
    "expdcg(base=0.6)": (
        lambda order, k: naive_metrics.expdcg(order, base=0.6),
        lambda y, k: y,
        lambda i, k: 0.6 ** (i - 1),
    ),
    "dcg@{k}": (
        naive_metrics.dcg,
        lambda y, k: 2**y - 1,
        lambda i, k: naive.discount(i) * (i <= k),
    ),
    "hits@{k}": (naive_metrics.hits, lambda y, k: y > 0, lambda i, k: i <= k),
}


@pytest.mark.parametrize("text", SUMS)
@given(queries, cutoffs)
def test_loss2_bounds_any_sum_of_gain_times_discount(text, query, k):
    """000 Lemma 5.1: the steps of g add up to what the metric lacks to all documents at the first rank."""
    y, s = query
    value, gain, g = SUMS[text]
    f = [float(gain(label, k)) for label in y]

    def delta(i, j):
        m = abs(i - j)
        return g(m, k) - g(m + 1, k)

    w = weights(f"lambdaloss2(metric='{text.format(k=k)}')", y, s)
    metric = holds(w, f, delta, y, s)
    assert metric == pytest.approx(g(1, k) * sum(f) - value(ranked(y, s), k), abs=1e-9)


@given(queries, cutoffs)
def test_loss2_of_precision_and_arp_are_losses_that_have_names(query, k):
    y, s = query
    gap = weights(f"lambdagap-s@{k}", y, s)
    np.testing.assert_allclose(weights(f"lambdaloss2(metric='hits@{k}')", y, s), gap, atol=1e-12)
    gap = weights(f"lambdagap-x@{k}", y, s)
    np.testing.assert_allclose(weights(f"lambdaloss2(metric='arpk@{k}')", y, s), gap, atol=1e-12)
    label = weights("lambdaloss-arp2", y, s)
    np.testing.assert_allclose(weights("lambdaloss2(metric='arp')", y, s), label, atol=1e-12)


@given(queries)
def test_loss2_bounds_the_reciprocal_rank_of_one_relevant_document(query):
    """002 section 5.2, with the discount that it means: 1/i."""
    y, s = query
    best = max(range(len(y)), key=lambda i: y[i])
    y = [float(i == best) for i in range(len(y))]
    w = weights("lambdaloss2(metric='mrr')", y, s)
    metric = holds(w, y, lambda i, j: 1 / abs(i - j) - 1 / (abs(i - j) + 1), y, s)
    assert metric == pytest.approx(1 - naive_metrics.mrr(ranked(y, s)), abs=1e-9)


@given(queries, cutoffs)
def test_loss2_with_larger_weights_beyond_k_bounds_ndcg_at_k(query, k):
    """What a document beyond k costs is its whole gain."""
    y, s = query
    best = naive.ideal_dcg(y, k)
    assume(best > 0)
    f = [naive.gain(label) / best for label in y]

    def delta(i, j):
        m, low = abs(i - j), max(i, j)
        larger = 1 / (1 - naive.discount(low)) if low > k else 1.0
        return (naive.discount(m) - naive.discount(m + 1)) * larger

    metric = holds(weights(f"lambdaloss-ndcg@{k}(cut='weights')", y, s), f, delta, y, s)
    assert metric == pytest.approx(sum(f) - naive_metrics.ndcg(ranked(y, s), k), abs=1e-9)


@given(queries, cutoffs, st.sampled_from([0.25, 0.5, 0.875]))
def test_lambdagap_f_bounds_precision_and_more(query, k, base):
    """000 Proposition 5.2."""
    y, s = query
    b = [float(label > 0) for label in y]

    def f(m):
        return base ** (m - k) if m >= k else 0.0

    w = weights(f"lambdagap-f@{k}(f=Geometric({base}), definition='paper')", y, s)
    lack = holds(w, [x / k for x in b], lambda i, j: f(abs(i - j)), b, s)
    order = ranked(b, s)
    beyond = sum(
        order[i - 1] * (1 - sum(f(j) for j in range(k, i))) for i in range(k + 1, len(y) + 1)
    )
    assert sum(b) / k - lack == pytest.approx((sum(order[:k]) + beyond) / k, abs=1e-9)


@pytest.mark.slow
@given(queries)
def test_lambdarank_bounds_another_metric(query):
    """002 Proposition 5.1, 000 Lemma 5.6."""
    y, s = query
    f = shares_of_ideal(y)

    def delta(i, j):
        return abs(naive.discount(i) - naive.discount(j))

    metric = holds(weights("lambdarank-ndcg", y, s), f, delta, y, s)
    order = ranked(y, s)
    assert metric == pytest.approx(naive_metrics.lambdarankcost(order), abs=1e-9)
    assert metric >= naive_metrics.ndcgcost(order) - 1e-9


@given(queries, cutoffs)
def test_lambdagap_s_bounds_precision(query, k):
    """000 Proposition 5.2 and Corollary 5.3."""
    y, s = query
    b = [float(label > 0) for label in y]
    w = weights(f"lambdagap-s@{k}(definition='paper')", y, s)
    metric = holds(w, [x / k for x in b], lambda i, j: float(abs(i - j) == k), b, s)
    at_k = (
        naive_metrics.p(ranked(y, s), k, divide_by="k") if len(y) < k else sum(ranked(b, s)[:k]) / k
    )
    assert metric == pytest.approx(sum(b) / k - at_k, abs=1e-9)


@pytest.mark.slow
@given(queries, cutoffs)
def test_lambdagap_x_bounds_arp_beyond_k(query, k):
    """000 Proposition 5.2 and Corollary 5.4; with k = 1 Corollary 5.5 for BinRankNet."""
    y, s = query
    b = [float(label > 0) for label in y]
    w = weights(f"lambdagap-x@{k}(definition='paper')", y, s)
    metric = holds(w, [x / k for x in b], lambda i, j: float(abs(i - j) >= k), b, s)
    assert metric == pytest.approx(naive_metrics.arpk(ranked(y, s), k) / k, abs=1e-9)
    if k == 1:
        np.testing.assert_array_equal(weights("bin-ranknet", y, s), w)
        arp = sum(p * x for p, x in enumerate(ranked(b, s), start=1))
        assert metric + sum(b) == pytest.approx(arp, abs=1e-9)


@pytest.mark.slow
@given(queries, cutoffs)
def test_lambdarank_arpk_bounds_a_sharper_metric(query, k):
    """000 Corollary 5.7."""
    y, s = query
    b = [float(label > 0) for label in y]

    def g(i):
        return max(0, i - k)

    w = weights(f"lambdarank-arpk@{k}", y, s)
    metric = holds(w, b, lambda i, j: abs(g(i) - g(j)), b, s)
    order = ranked(b, s)
    extra = sum(x * g(i) * (g(i) - 1) for i, x in enumerate(order, start=1)) / (2 * k)
    assert metric / k == pytest.approx(naive_metrics.arpk(ranked(y, s), k) + extra, abs=1e-9)


@given(queries, cutoffs)
def test_lambdarank_p_bounds_precision(query, k):
    """000 Corollary 5.8: what the relevant documents behind the first k cost."""
    y, s = query
    b = [float(label > 0) for label in y]
    w = weights(f"lambdarank-p@{k}", y, s)
    metric = holds(w, b, lambda i, j: float((i <= k) != (j <= k)), b, s)
    assert metric / k == pytest.approx(sum(b) - sum(ranked(b, s)[:k]), abs=1e-9)


@given(queries, st.sampled_from([0.5, 1.0, 3.0]))
def test_the_bound_holds_for_any_sigma(query, sigma):
    y, s = query
    b = [float(label > 0) for label in y]
    assert holds(weights("bin-ranknet", y, s), b, lambda i, j: 1.0, b, s, sigma) >= 0


def test_lambdagap_s_vanishes_on_periodic_rankings():
    """000 section 5.1: relevant documents k apart give S no pair, while P@k is not at its best."""
    k, n = 3, 12
    y = [1 if i % k == k - 1 else 0 for i in range(1, n + 1)]
    s = list(range(n, 0, -1))
    assert not weights(f"lambdagap-s@{k}", y, s).any()
    assert weights(f"lambdarank-p@{k}", y, s).any()


def test_golden_theory(golden):
    """The worked numbers: case B with its labels in rank order."""
    theory, case = golden["theory"], golden["cases"]["B"]
    y, s, k = case["y"], case["s"], case["k"]
    b = [float(label > 0) for label in y]
    best = naive.ideal_dcg(y)
    f = [naive.gain(label) / best for label in y]
    by_distance = {
        "exact": lambda i, j: naive.discount(abs(i - j)) - naive.discount(abs(i - j) + 1),
        "shifted": lambda i, j: naive.discount(abs(i - j) + 1) - naive.discount(abs(i - j) + 2),
    }
    exact = sides(weights("lambdaloss-ndcg", y, s), f, by_distance["exact"], y, s)[:2]
    assert exact == pytest.approx(theory["NDCGcost_direct_vs_loss2_chain"], abs=1e-9)
    w = weights("lambdaloss-ndcg(delta='shifted')", y, s)
    shifted = sides(w, f, by_distance["shifted"], y, s)[1]
    assert shifted == pytest.approx(theory["with_shifted_delta"], abs=1e-9)
    for name, text in (("S", "lambdagap-s"), ("X", "lambdagap-x")):
        w = weights(f"{text}@{k}(definition='paper')", y, s)
        counts = (lambda m: m == k) if name == "S" else (lambda m: m >= k)
        lack = sides(w, [x / k for x in b], lambda i, j, c=counts: float(c(abs(i - j))), b, s)[1]
        expected = theory[f"LambdaGap-{name}_metric"]
        assert sum(b) / k - lack == pytest.approx(expected["from_delta_sum"], abs=1e-9)
        assert sum(b) / k - lack == pytest.approx(expected["proposition_5_2"], abs=1e-9)
        assert sum(ranked(b, s)[:k]) / k == pytest.approx(expected["P@k"], abs=1e-9)
        beyond = sum(b) / k - naive_metrics.arpk(ranked(y, s), k) / k
        assert beyond == pytest.approx(expected["C-ARPbk/k"], abs=1e-9)
    w = weights(f"lambdarank-arpk@{k}", y, s)
    arp = sides(w, b, lambda i, j: abs(max(0, i - k) - max(0, j - k)), b, s)[1] / k
    assert [arp, arp] == pytest.approx(theory["LambdaRank-ARPbk_metric_cor_5_7"], abs=1e-9)
