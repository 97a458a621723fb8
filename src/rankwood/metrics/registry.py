"""The metrics by name: one expression and one citation each."""

from collections.abc import Callable
from typing import Any

from rankwood._core import checks, spec
from rankwood.metrics.binary import AP, RR, Precision, Recall
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.divisors import Cutoff, NoDivisor, Places, Reachable, Relevant
from rankwood.metrics.gains import CHANCES, GAINS, AtLeast
from rankwood.metrics.position import ARP, ARPK, RBP, ExpDCG

#: What a sum may be divided by, by the names that `per=` takes.
SHARES: dict[str, Any] = {
    "one": NoDivisor(),
    "places": Places(),
    "k": Cutoff(),
    "relevant": Relevant(),
    "reachable": Reachable(),
}


def _gain(gain: str) -> Any:
    return GAINS[checks.one_of(gain, GAINS, "gain")]


def _chance(gain: str, max_label: float) -> Any:
    return CHANCES[checks.one_of(gain, CHANCES, "gain")](max_label)


def _per(per: str, *known: str) -> Any:
    return SHARES[checks.one_of(per, known, "per")]


def ndcg(k: int | None = None, gain: str = "exp") -> NDCG:
    """Normalised discounted cumulative gain of the first k [jarvelin2002]."""
    return NDCG(k, _gain(gain))


def dcg(k: int | None = None, gain: str = "exp") -> DCG:
    """Discounted cumulative gain of the first k [jarvelin2002]."""
    return DCG(k, _gain(gain))


def bndcg(k: int | None = None, rel: float = 1) -> NDCG:
    """NDCG of binary labels: a label of at least `rel` has gain 1, any other 0 [jarvelin2002]."""
    return NDCG(k, AtLeast(rel))


def p(k: int | None = None, rel: float = 1, per: str = "places") -> Precision:
    """Precision: share of relevant documents among the first k [sanderson2010].

    Divided by the places there are, min(k, n); ``per="k"`` divides by k, as trec_eval does.
    """
    return Precision(k, rel, _per(per, "places", "k"))


def recall(k: int | None = None, rel: float = 1) -> Recall:
    """Recall: share of the relevant documents that are among the first k [sanderson2010]."""
    return Recall(k, rel)


def mean_ap(k: int | None = None, rel: float = 1, per: str = "reachable") -> AP:
    """Average precision, whose mean over queries is MAP [sanderson2010].

    Divided by min(R, k), R being the number of relevant documents; ``per="relevant"`` divides by R, as
    trec_eval does.
    """
    return AP(k, rel, _per(per, "reachable", "relevant"))


def mrr(k: int | None = None, rel: float = 1) -> RR:
    """Reciprocal rank of the first relevant document, 0 if it is beyond k [voorhees1999]."""
    return RR(k, rel)


def err(k: int | None = None, gain: str = "exp", max_label: float = 4) -> ERR:
    """Expected reciprocal rank [chapelle2009].

    A document satisfies with probability (2^y - 1) / 2^max_label, or y / max_label with ``gain="linear"``.
    """
    return ERR(k, _chance(gain, max_label))


def arp(k: None = None, gain: str = "linear", per: str = "one") -> ARP:
    """Average relevance position, a sum of label times position: lower is better [wang2018].

    ``per="relevant"`` divides by the sum of labels. There is no cutoff: what is beyond it matters most.
    """
    if k is not None:
        raise checks.InputError(
            f"arp has no cutoff, got @{k}: it is about all documents; use arp, or arpk@{k} for how far "
            f"relevant documents are beyond the first {k}."
        )
    return ARP(_gain(gain), _per(per, "one", "relevant"))


def arpk(k: int | None = None, rel: float = 1) -> ARPK:
    """Sum of how far relevant documents are beyond the first k: lower is better [lambdagap2025]."""
    if k is None:
        raise checks.InputError("arpk needs a cutoff: give one, as in arpk@10, or use arp.")
    return ARPK(k, rel)


def expdcg(k: int | None = None, base: float = 0.85, gain: str = "linear") -> ExpDCG:
    """DCG with discounts 1, b, b^2, ... [whichtricks2023]."""
    return ExpDCG(k, base, _gain(gain))


def pfound(
    k: int | None = None, max_label: float = 4, decay: float = 0.85, gain: str = "linear"
) -> PFound:
    """Chance that a user who may give up after each document finds a satisfying one [gulin2011].

    A document satisfies with probability y / max_label.
    """
    return PFound(k, _chance(gain, max_label), decay)


def rbp(k: int | None = None, p: float = 0.8, rel: float = 1) -> RBP:
    """Rank-biased precision: the user goes on with probability p [moffat2008]."""
    return RBP(k, p, AtLeast(rel))


METRICS: dict[str, Callable[..., Any]] = {
    "ndcg": ndcg,
    "dcg": dcg,
    "bndcg": bndcg,
    "p": p,
    "recall": recall,
    "map": mean_ap,
    "mrr": mrr,
    "err": err,
    "arp": arp,
    "arpk": arpk,
    "expdcg": expdcg,
    "pfound": pfound,
    "rbp": rbp,
}


def metric(name: Any, **params: Any) -> Any:
    """Return the metric of this name: ``"ndcg@10"``, ``"map@10(per='relevant')"``, or a part."""
    return spec.build(name, METRICS, "metric", params)
