"""YetiRank and YetiLoss by name, and the weights in which CatBoost's YetiLoss isn't the change of its metric."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rankwood._core import checks
from rankwood.metrics.binary import AP, RR, Precision
from rankwood.metrics.cascade import ERR
from rankwood.metrics.dcg import DCG, GAINS, NDCG
from rankwood.metrics.position import ARPK, ExpDCG
from rankwood.objectives.families.compose import (
    VARIANTS,
    by_variant,
    chance,
    cutoff,
    extended,
    with_options,
)
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.catboost_weights import YetiAP, YetiRR
from rankwood.objectives.parts.labels import Binary, Graded
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.pairs import All, Neighbours, Top
from rankwood.objectives.parts.weights import Swap


def _near(weight: Any, k: int | None, labels: Any) -> Lambda:
    """Put an objective together that looks at direct neighbours; `NAMES` lets it look further, and adds the noise."""
    k = None if k is None else checks.at_least(k, 1, "k")
    return Lambda(weight, Neighbours(1, k), labels=labels)


def _neighbours(objective: Lambda, neighbours: int | str, sigma: float) -> Lambda:
    """Let an objective of direct neighbours look further."""
    k = objective.pairs.k
    pairs: Any = All() if k is None else Top(k)
    if neighbours != "all":
        if isinstance(neighbours, str):
            raise checks.InputError(f"neighbours must be a number or 'all', got {neighbours!r}.")
        pairs = Neighbours(checks.at_least(neighbours, 1, "neighbours"), k)
    loss = Logistic(checks.positive(sigma, "sigma"))
    return replace(objective, pairs=pairs, loss=loss)


def yetirank(
    k: int | None = None,
    decay: float = 0.85,
) -> Lambda:
    """YetiRank: neighbours in noisy rankings, weighted by the change of a DCG that decays by position [gulin2011].

    k limits the better placed document to the first k positions.
    """
    checks.fraction(decay, "decay")
    weight = Swap(ExpDCG(base=decay))
    return _near(weight, k, Graded())


def yetiloss_ndcg(k: int | None = None, gain: str = "exp", variant: str = "exact") -> Lambda:
    """YetiLoss for NDCG: its change when neighbours in noisy rankings swap [whichtricks2023].

    `neighbours` is the largest distance of ranks, or "all". With k discounts end at k. CatBoost's weights
    (``variant="catboost"``) are the same here, as they are for DCG and ERR.
    """
    checks.one_of(variant, VARIANTS, "variant")
    weight = Swap(NDCG(k, GAINS[checks.one_of(gain, GAINS, "gain")]))
    return _near(weight, k, Graded())


def yetiloss_dcg(k: int | None = None, gain: str = "exp", variant: str = "exact") -> Lambda:
    """YetiLoss for DCG [whichtricks2023]."""
    checks.one_of(variant, VARIANTS, "variant")
    weight = Swap(DCG(k, GAINS[checks.one_of(gain, GAINS, "gain")]))
    return _near(weight, k, Graded())


def yetiloss_mrr(
    k: int | None = None,
    variant: str = "exact",
    rel: float = 1,
) -> Lambda:
    """YetiLoss for the reciprocal rank [whichtricks2023].

    ``variant="catboost"`` takes CatBoost's weights, which are the change of the metric for direct neighbours only.
    """
    weight = by_variant(variant, Swap(RR(k)), YetiRR())
    labels = Binary(checks.positive(rel, "rel"))
    return _near(weight, k, labels)


def yetiloss_map(
    k: int | None = None,
    variant: str = "exact",
    rel: float = 1,
) -> Lambda:
    """YetiLoss for average precision [whichtricks2023].

    ``variant="catboost"`` takes CatBoost's weights, with which the paper's results were made in all likelihood:
    1/a for neighbours at a, which is not the change of the metric.
    """
    weight = by_variant(variant, Swap(AP(k)), YetiAP())
    labels = Binary(checks.positive(rel, "rel"))
    return _near(weight, k, labels)


def yetiloss_err(
    k: int | None = None, gain: str = "linear", max_label: float = 4, variant: str = "exact"
) -> Lambda:
    """YetiLoss for the expected reciprocal rank [whichtricks2023].

    A document stops the user with probability y / `max_label`, or (2^y - 1) / 2^`max_label` with ``gain="exp"``.
    """
    checks.one_of(variant, VARIANTS, "variant")
    weight = Swap(ERR(k, chance(gain, max_label)))
    return _near(weight, k, Graded())


def yetiloss_p(
    k: int | None = None,
    rel: float = 1,
) -> Lambda:
    """YetiLoss for precision at k: neighbours on both sides of the cut in noisy rankings [whichtricks2023]."""
    k = cutoff("yetiloss-p", k)
    labels = Binary(checks.positive(rel, "rel"))
    weight = Swap(Precision(k))
    return _near(weight, k, labels)


def yetiloss_arpk(
    k: int | None = None,
    rel: float = 1,
) -> Lambda:
    """YetiLoss for the average relevance position beyond k [whichtricks2023, lambdagap2025].

    Neighbours of which at least one is behind the first k in noisy rankings.
    """
    labels = Binary(checks.positive(rel, "rel"))
    weight = Swap(ARPK(cutoff("yetiloss-arpk", k)))
    return _near(weight, None, labels)


_MAKERS: dict[str, Callable[..., Lambda]] = {
    "yetirank": yetirank,
    "yetiloss-ndcg": yetiloss_ndcg,
    "yetiloss-dcg": yetiloss_dcg,
    "yetiloss-mrr": yetiloss_mrr,
    "yetiloss-map": yetiloss_map,
    "yetiloss-err": yetiloss_err,
    "yetiloss-p": yetiloss_p,
    "yetiloss-arpk": yetiloss_arpk,
}
NAMES: dict[str, Callable[..., Any]] = {
    name: with_options(
        extended(make, {"neighbours": 1, "sigma": 1.0}, _neighbours), noise="logistic"
    )
    for name, make in _MAKERS.items()
}
