"""RankNet, and LambdaRank for any metric, by name."""

from collections.abc import Callable
from typing import Any

from rankwood._core import checks
from rankwood.metrics.binary import AP, RR
from rankwood.metrics.cascade import ERR
from rankwood.metrics.dcg import GAINS, NDCG
from rankwood.metrics.position import ARPK
from rankwood.objectives.families.compose import (
    binary,
    by_variant,
    chance,
    compose,
    cutoff,
    ndcg,
    truncated,
)
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.catboost_weights import CatBoostAP, CatBoostERR, CatBoostRR
from rankwood.objectives.parts.pairs import AcrossCutoff, All, ReachingBelow
from rankwood.objectives.parts.weights import Swap, Uniform


def ranknet(sigma: float = 1.0, norm: bool = True) -> Lambda:
    """RankNet: every pair of different labels counts the same [burges2005]."""
    return compose(Uniform(), All(), sigma, norm)


def bin_ranknet(sigma: float = 1.0, norm: bool = True, rel: float = 1) -> Lambda:
    """RankNet on relevant and irrelevant documents [lambdagap2025].

    Labels of at least `rel` are relevant; no pair inside a class is visited.
    """
    return compose(Uniform(), All(), sigma, norm, binary(rel))


def lambdarank_ndcg(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    gain: str = "exp",
    discount: str = "full",
) -> Lambda:
    """LambdaRank for NDCG, the objective of LambdaMART [burges2006, burges2010].

    Pairs whose better placed document is within `truncation` (k if not given), weighted by the change of
    NDCG when the two swap. As in LightGBM, the ideal is cut at k but the discounts are not;
    ``discount="truncated"`` cuts both, which is the true change of NDCG@k. `norm` is LightGBM's
    two-step normalisation.
    """
    pairs = truncated(k, truncation)
    metric = ndcg(k, gain)
    if checks.one_of(discount, ("full", "truncated"), "discount") == "truncated":
        metric = NDCG(k, GAINS[gain])
    return compose(Swap(metric), pairs, sigma, norm)


def lambdarank_bndcg(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    rel: float = 1,
) -> Lambda:
    """LambdaRank for NDCG of binary labels [lambdagap2025]."""
    pairs = truncated(k, truncation)
    return compose(Swap(ndcg(k, "exp")), pairs, sigma, norm, binary(rel))


def lambdarank_p(
    k: int | None = None, sigma: float = 1.0, norm: bool = True, rel: float = 1
) -> Lambda:
    """LambdaRank for precision at k [lambdagap2025].

    Pairs with one document among the first k and one behind, all with weight 1 (the change of P@k
    times k). The first k are selected, not sorted.
    """
    return compose(Uniform(), AcrossCutoff(cutoff("lambdarank-p", k)), sigma, norm, binary(rel))


def lambdarank_arpk(
    k: int | None = None, sigma: float = 1.0, norm: bool = True, rel: float = 1
) -> Lambda:
    """LambdaRank for the average relevance position beyond k [lambdagap2025]."""
    k = cutoff("lambdarank-arpk", k)
    return compose(Swap(ARPK(k)), ReachingBelow(k), sigma, norm, binary(rel))


def lambdarank_map(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    variant: str = "exact",
    rel: float = 1,
) -> Lambda:
    """LambdaRank for average precision [burges2010, whichtricks2023].

    ``variant="catboost"`` takes the weights of CatBoost's LambdaMart, which are not the change of the
    metric.
    """
    pairs = truncated(k, truncation)
    weight = by_variant(variant, Swap(AP(k)), CatBoostAP(), k)
    return compose(weight, pairs, sigma, norm, binary(rel))


def lambdarank_mrr(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    variant: str = "exact",
    rel: float = 1,
) -> Lambda:
    """LambdaRank for the reciprocal rank [burges2010, whichtricks2023].

    ``variant="catboost"`` takes the weights of CatBoost's LambdaMart, which are not the change of the
    metric.
    """
    pairs = truncated(k, truncation)
    weight = by_variant(variant, Swap(RR(k)), CatBoostRR(), k)
    return compose(weight, pairs, sigma, norm, binary(rel))


def lambdarank_err(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    truncation: int | None = None,
    variant: str = "exact",
    gain: str = "linear",
    max_label: float = 4,
) -> Lambda:
    """LambdaRank for the expected reciprocal rank [chapelle2009, whichtricks2023].

    A document stops the user with probability y / `max_label`, or (2^y - 1) / 2^`max_label` with
    ``gain="exp"``. ``variant="catboost"`` takes the weights of CatBoost's LambdaMart, which are not the
    change of the metric.
    """
    stops = chance(gain, max_label)
    if variant == "catboost" and gain != "linear":
        raise checks.InputError("variant='catboost' of lambdarank-err has gain='linear' only.")
    weight = by_variant(variant, Swap(ERR(k, stops)), CatBoostERR(float(max_label)), k)
    return compose(weight, truncated(k, truncation), sigma, norm)


NAMES: dict[str, Callable[..., Any]] = {
    "ranknet": ranknet,
    "bin-ranknet": bin_ranknet,
    "lambdarank-ndcg": lambdarank_ndcg,
    "lambdarank-bndcg": lambdarank_bndcg,
    "lambdarank-p": lambdarank_p,
    "lambdarank-arpk": lambdarank_arpk,
    "lambdarank-map": lambdarank_map,
    "lambdarank-mrr": lambdarank_mrr,
    "lambdarank-err": lambdarank_err,
}
