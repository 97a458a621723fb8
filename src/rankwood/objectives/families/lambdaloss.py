"""The LambdaLoss family by name."""

from collections.abc import Callable
from typing import Any

from rankwood._core import checks
from rankwood.objectives.families.compose import binary, compose, ndcg, truncated, weighing
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.pairs import All, BothDirections
from rankwood.objectives.parts.weights import LabelGap, NDCGLoss1, NDCGLoss2, Sum, Swap, WinnerLabel


def lambdaloss_arp1(sigma: float = 1.0, norm: bool = True, pairs: str = "ordered") -> Lambda:
    """ARP-Loss1, a bound of the average relevance position [wang2018].

    Every ordered pair counts, with the label of its first document; ``pairs="graded"`` keeps those whose
    first document has the higher label, a different loss under the same name [lambdagap2025].
    """
    ordered = checks.one_of(pairs, ("ordered", "graded"), "pairs") == "ordered"
    return compose(WinnerLabel(), BothDirections(All()) if ordered else All(), sigma, norm)


def lambdaloss_arp2(sigma: float = 1.0, norm: bool = True) -> Lambda:
    """ARP-Loss2: pairs weighted by the distance of their labels [wang2018]."""
    return compose(LabelGap(), All(), sigma, norm)


def lambdaloss_ndcg1(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    gain: str = "exp",
) -> Lambda:
    """NDCG-Loss1: every ordered pair, with what its first document adds to NDCG [wang2018]."""
    pairs = BothDirections(truncated(k, truncation))
    return compose(NDCGLoss1(ndcg(k, gain)), pairs, sigma, norm)


def lambdaloss_ndcg(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    gain: str = "exp",
    delta: str = "exact",
) -> Lambda:
    """NDCG-Loss2: a bound of NDCG from the distance of the ranks [wang2018].

    ``delta="shifted"`` is off by one rank, as the programs behind two later papers are.
    """
    pairs = truncated(k, truncation)
    return compose(NDCGLoss2(ndcg(k, gain), delta), pairs, sigma, norm)


def lambdaloss_ndcg_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    gain: str = "exp",
    delta: str = "exact",
) -> Lambda:
    """NDCG-Loss2++: LambdaRank's weight plus mu times that of NDCG-Loss2 [wang2018]."""
    pairs, metric = truncated(k, truncation), ndcg(k, gain)
    weight = Sum(Swap(metric), NDCGLoss2(metric, delta), weighing(mu))
    return compose(weight, pairs, sigma, norm)


def lambdaloss_bndcg(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    delta: str = "exact",
    rel: float = 1,
) -> Lambda:
    """NDCG-Loss2 on binary labels [wang2018, lambdagap2025]."""
    pairs = truncated(k, truncation)
    return compose(NDCGLoss2(ndcg(k, "exp"), delta), pairs, sigma, norm, binary(rel))


def lambdaloss_bndcg_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    delta: str = "exact",
    rel: float = 1,
) -> Lambda:
    """NDCG-Loss2++ on binary labels [wang2018, lambdagap2025]."""
    pairs, metric = truncated(k, truncation), ndcg(k, "exp")
    weight = Sum(Swap(metric), NDCGLoss2(metric, delta), weighing(mu))
    return compose(weight, pairs, sigma, norm, binary(rel))


NAMES: dict[str, Callable[..., Any]] = {
    "lambdaloss-arp1": lambdaloss_arp1,
    "lambdaloss-arp2": lambdaloss_arp2,
    "lambdaloss-ndcg1": lambdaloss_ndcg1,
    "lambdaloss-ndcg": lambdaloss_ndcg,
    "lambdaloss-ndcg++": lambdaloss_ndcg_plus,
    "lambdaloss-bndcg": lambdaloss_bndcg,
    "lambdaloss-bndcg++": lambdaloss_bndcg_plus,
}
