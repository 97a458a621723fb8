"""The LambdaGap family by name."""

from collections.abc import Callable
from typing import Any

from rankwood._core import checks
from rankwood.metrics.position import ARPK
from rankwood.objectives.families.compose import binary, compose, cutoff, weighing
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.pairs import AcrossCutoff, AcrossOrApart, RanksApart, ReachingBelow
from rankwood.objectives.parts.weights import Scaled, Sum, Swap, Uniform

SCALES = ("code", "paper")


def lambdagap_s(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-S: relevant and irrelevant documents exactly k ranks apart [lambdagap2025].

    ``scale="paper"`` divides the weights by k, as the formulas do and the authors' program does not.
    """
    k = cutoff("lambdagap-s", k)
    return compose(
        _scaled(Uniform(), k, scale), RanksApart(k, exact=True), sigma, norm, binary(rel)
    )


def lambdagap_x(
    k: int | None = None,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-X: relevant and irrelevant documents at least k ranks apart [lambdagap2025].

    ``scale="paper"`` divides the weights by k, as the formulas do and the authors' program does not.
    """
    k = cutoff("lambdagap-x", k)
    return compose(_scaled(Uniform(), k, scale), RanksApart(k), sigma, norm, binary(rel))


def lambdagap_s_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-S+: LambdaRank for precision at k, plus mu times LambdaGap-S [lambdagap2025]."""
    k = cutoff("lambdagap-s+", k)
    weight = Sum(AcrossCutoff(k), RanksApart(k, exact=True), weighing(mu))
    pairs = AcrossOrApart(k, exact=True)
    return compose(_scaled(weight, k, scale), pairs, sigma, norm, binary(rel))


def lambdagap_x_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-X+: LambdaRank for precision at k, plus mu times LambdaGap-X [lambdagap2025]."""
    k = cutoff("lambdagap-x+", k)
    weight, pairs = Sum(AcrossCutoff(k), RanksApart(k), weighing(mu)), AcrossOrApart(k)
    return compose(_scaled(weight, k, scale), pairs, sigma, norm, binary(rel))


def lambdagap_s_plus_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-S++: LambdaRank for ARP beyond k, plus mu times LambdaGap-S [lambdagap2025].

    ``scale="paper"`` divides mu by k, as the formulas do and the authors' program does not.
    """
    k = cutoff("lambdagap-s++", k)
    weight = Sum(Swap(ARPK(k)), RanksApart(k, exact=True), _share(mu, k, scale))
    return compose(weight, ReachingBelow(k), sigma, norm, binary(rel))


def lambdagap_x_plus_plus(
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    scale: str = "code",
    rel: float = 1,
) -> Lambda:
    """LambdaGap-X++: LambdaRank for ARP beyond k, plus mu times LambdaGap-X [lambdagap2025].

    ``scale="paper"`` divides mu by k, as the formulas do and the authors' program does not.
    """
    k = cutoff("lambdagap-x++", k)
    weight = Sum(Swap(ARPK(k)), RanksApart(k), _share(mu, k, scale))
    return compose(weight, ReachingBelow(k), sigma, norm, binary(rel))


def _scaled(weight: Any, k: int, scale: str) -> Any:
    paper = checks.one_of(scale, SCALES, "scale") == "paper"
    return Scaled(weight, 1.0 / k) if paper else weight


def _share(mu: float, k: int, scale: str) -> float:
    paper = checks.one_of(scale, SCALES, "scale") == "paper"
    return weighing(mu) / k if paper else weighing(mu)


NAMES: dict[str, Callable[..., Any]] = {
    "lambdagap-s": lambdagap_s,
    "lambdagap-x": lambdagap_x,
    "lambdagap-s+": lambdagap_s_plus,
    "lambdagap-x+": lambdagap_x_plus,
    "lambdagap-s++": lambdagap_s_plus_plus,
    "lambdagap-x++": lambdagap_x_plus_plus,
}
