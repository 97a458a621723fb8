"""Every name with the oracle's pairs, and the kernel in plain Python, so that all of them are cheap to check."""

from dataclasses import replace

from hypothesis import strategies as st

from rankwood.extend import part
from rankwood.testing import interpreted
from tests.oracles import naive_metrics
from tests.oracles import naive_objectives as naive
from tests.oracles.naive import discount, gain, ideal_dcg

__all__ = ["ORACLE", "given_rankings", "interpreted", "one_query"]

RANKINGS: list = []  # what `Given` ranks by, one list of documents a draw


@part
class Given:
    """Noise that makes the rankings of the test, whatever the scores."""

    def perturb(self, score, draw, state, out):
        for place, document in enumerate(RANKINGS[draw]):
            out[document] = -place


def given_rankings(objective, rankings):
    RANKINGS[:] = rankings
    return replace(objective, noise=Given(), draws=len(rankings))


def one_query(longest):
    """Return a strategy of lists of (label, score)."""
    document = st.tuples(st.integers(0, 4), st.floats(-3, 3).map(lambda x: round(x, 1)))
    return st.lists(document, min_size=1, max_size=longest)


def loss2(mu, rho=0.0, binary=False, shifted=False):
    read = naive.binary if binary else list
    return lambda y, s, k: naive.ndcg(read(y), s, k, rho=rho, mu=mu, shifted=shifted)


def gap(scale=lambda k: 1.0, share=lambda k: 1.0, **parts):
    def pairs(y, s, k):
        factors = {
            n: (f * share(k) if n == "gap" else f) for n, f in parts.items() if n != "exactly"
        }
        found = naive.gap_or(y, s, k, exactly=parts.get("exactly", False), **factors)
        return [(h, low, w * scale(k)) for h, low, w in found]

    return pairs


def change(value, binary=True, cut=True):
    read = naive.binary if binary else list

    def pairs(y, s, k):
        k = k if cut else None
        return naive.metric_change(read(y), s, lambda labels: value(labels, k), k)

    return pairs


def extended(base, how, definition="program", binary=False):
    read = naive.binary if binary else list

    def pairs(y, s, k):
        y = read(y)
        # The program's delta is one rank further.
        shifted = definition == "program"
        return base(y, s, k, naive.extended(y, s, k, how, definition), shifted)

    return pairs


BASES = {
    "lambdamart-ex": lambda y, s, k, X, _: naive.ndcg(y, s, k, allowed=X),
    "lambdaloss-ex": lambda y, s, k, X, shifted: naive.ndcg(
        y, s, k, rho=0.0, mu=1.0, shifted=shifted, allowed=X
    ),
    "lambdaloss-ex++": lambda y, s, k, X, shifted: naive.ndcg(
        y, s, k, mu=1.0, shifted=shifted, allowed=X
    ),
}


#: Lambda-eX: each base, each set of pairs, both readings of it and both kinds of labels, each with another of the rest.
EXTENDED = [
    ("lambdamart-ex", "static", "program", False),
    ("lambdamart-ex", "all", "paper", True),
    ("lambdaloss-ex", "all", "program", False),
    ("lambdaloss-ex", "all-static", "paper", True),
    ("lambdaloss-ex++", "all-static", "program", False),
    ("lambdaloss-ex++", "static", "paper", True),
]


def err(labels, k=None):
    return naive_metrics.err(labels, k, gain="linear")


def rbp(y, s, p, k=None):
    """Scores, gains and discounts of rank-biased precision."""
    f = [(1 - p) * label for label in naive.binary(y)]
    return s, f, lambda i: p ** (i - 1) if k is None or i <= k else 0.0


def ndcg_at(y, s, k):
    """Scores, shares of the ideal and discounts of NDCG@k."""
    best = ideal_dcg(y, k)
    f = [gain(label) / best if best > 0 else 0.0 for label in y]
    return s, f, lambda i: discount(i) if i <= k else 0.0


#: Text of an objective, without norm, and the oracle's pairs of (y, s, k); {k} is the cutoff.
ORACLE = {
    "ranknet": naive.ranknet,
    "bin-ranknet": naive.bin_ranknet,
    "lambdarank-ndcg": lambda y, s, k: naive.ndcg(y, s),
    "lambdarank-ndcg@{k}": naive.ndcg,
    "lambdarank-bndcg@{k}": lambda y, s, k: naive.ndcg(naive.binary(y), s, k),
    "lambdarank-p@{k}": gap(cross=1.0),
    "lambdarank-p@{k}(definition='paper')": gap(cross=1.0, scale=lambda k: 1 / k),
    "lambdarank-arpk@{k}": gap(beyond=1.0),
    "lambdarank-map": change(naive_metrics.average_precision, cut=False),
    "lambdarank-map@{k}": change(naive_metrics.average_precision),
    "lambdarank-mrr": change(naive_metrics.mrr, cut=False),
    "lambdarank-mrr@{k}": change(naive_metrics.mrr),
    "lambdarank-err": change(err, binary=False, cut=False),
    "lambdarank-err@{k}": change(err, binary=False),
    "lambdarank-map(variant='catboost')": lambda y, s, k: naive.catboost_ap(y, s),
    "lambdarank-mrr(variant='catboost')": lambda y, s, k: naive.catboost_rr(y, s),
    "lambdarank-err(variant='catboost')": lambda y, s, k: naive.catboost_err(y, s),
    "lambdaloss-arp1": naive.arp1,
    "lambdaloss-arp1(pairs='graded')": lambda y, s, k: naive.arp1(y, s, graded=True),
    "lambdaloss-arp2": naive.arp2,
    "lambdaloss-ndcg1": lambda y, s, k: naive.ndcg1(y, s),
    "lambdaloss-ndcg1@{k}": naive.ndcg1,
    "lambdaloss-ndcg": lambda y, s, k: naive.ndcg(y, s, rho=0.0, mu=1.0),
    "lambdaloss-ndcg@{k}": loss2(1.0),
    "lambdaloss-ndcg@{k}(delta='shifted')": loss2(1.0, shifted=True),
    "lambdaloss-ndcg++@{k}(mu=2.5)": loss2(2.5, rho=1.0),
    "lambdaloss-bndcg@{k}": loss2(1.0, binary=True),
    "lambdaloss-bndcg++@{k}(mu=0.5)": loss2(0.5, rho=1.0, binary=True),
    "lambdaloss-ndcg@{k}(cut='weights')": naive.loss2_at_k,
    "lambdaloss-bndcg@{k}(cut='weights')": lambda y, s, k: naive.loss2_at_k(y, s, k, naive.binary),
    "lambdaloss1(metric='mrr')": lambda y, s, k: naive.loss1(s, naive.binary(y), lambda p: 1 / p),
    "lambdaloss1(metric='rbp@{k}(p=0.5)')": lambda y, s, k: naive.loss1(*rbp(y, s, 0.5, k)),
    "lambdaloss2(metric='mrr')": lambda y, s, k: naive.loss2(
        y, s, naive.binary(y), lambda p: 1 / p
    ),
    "lambdaloss2(metric='rbp@{k}(p=0.5)')": lambda y, s, k: naive.loss2(y, *rbp(y, s, 0.5, k)),
    "lambdaloss2(metric='expdcg(base=0.9)', truncation={k})": lambda y, s, k: naive.loss2(
        y, s, y, lambda p: 0.9 ** (p - 1), k
    ),
    "lambdaloss2(metric='ndcg@{k}')": lambda y, s, k: naive.loss2(y, *ndcg_at(y, s, k)),
    "lambdaloss2(metric='arp')": naive.arp2,
    "lambdaloss2++(metric='rbp(p=0.8)', mu=2.5)": lambda y, s, k: naive.loss2(
        y, *rbp(y, s, 0.8), rho=1.0, mu=2.5
    ),
    "lambdaloss2++(metric='ndcg@{k}')": lambda y, s, k: naive.loss2(y, *ndcg_at(y, s, k), rho=1.0),
    "lambdagap-f@{k}": lambda y, s, k: naive.gap_f(y, s, k, lambda m: 0.5 ** (m - k)),
    "lambdagap-f@{k}(f=Geometric(0.9), definition='paper')": lambda y, s, k: naive.gap_f(
        y, s, k, lambda m: 0.9 ** (m - k), 1 / k
    ),
    "lambdagap-s@{k}": gap(gap=1.0, exactly=True),
    "lambdagap-x@{k}": gap(gap=1.0),
    "lambdagap-x@{k}(definition='paper')": gap(gap=1.0, scale=lambda k: 1 / k),
    "lambdagap-s+@{k}(mu=2.0)": gap(cross=1.0, gap=2.0, exactly=True),
    "lambdagap-x+@{k}(mu=0.5)": gap(cross=1.0, gap=0.5),
    "lambdagap-x+@{k}(definition='paper')": gap(cross=1.0, gap=1.0, scale=lambda k: 1 / k),
    "lambdagap-s++@{k}": gap(beyond=1.0, gap=1.0, exactly=True),
    "lambdagap-x++@{k}(mu=2.0)": gap(beyond=1.0, gap=2.0),
    "lambdagap-x++@{k}(definition='paper')": gap(beyond=1.0, gap=1.0, share=lambda k: 1 / k),
    **{
        f"{base}-{how}{'-bin' if binary else ''}@{{k}}(definition='{definition}')": extended(
            BASES[base], how, definition, binary
        )
        for base, how, definition, binary in EXTENDED
    },
}
