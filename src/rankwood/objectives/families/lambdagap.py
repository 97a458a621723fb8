"""The LambdaGap family by name."""

from functools import partial
from typing import Any

from rankwood._core.named import Named, Values
from rankwood.metrics.position import ARPK
from rankwood.objectives.families.parameters import MU, NORM, REL, REQUIRED_K, SCALE, SIGMA
from rankwood.objectives.families.rows import Choose, Family, binary, pairwise
from rankwood.objectives.parts.pairs import AcrossCutoff, AcrossOrApart, RanksApart, ReachingBelow
from rankwood.objectives.parts.weights import Scaled, Sum, Swap, Uniform

_SHARED = (REQUIRED_K, SIGMA, NORM, SCALE, REL)
_HYBRID = (REQUIRED_K, MU, SIGMA, NORM, SCALE, REL)
_PAPER = '`scale="paper"` divides {} by k, as the formulas do and the authors\' program does not.'


def _scaled(given: Values, weight: Any) -> Any:
    return Scaled(weight, 1.0 / given.k) if given.scale == "paper" else weight


def _alone(given: Values) -> Any:
    return _scaled(given, Uniform())


def _with_precision(exact: bool, given: Values) -> Any:
    """The weight of the + names: that of precision at k, plus mu times the gap's."""
    return _scaled(given, Sum(AcrossCutoff(given.k), RanksApart(given.k, exact), given.mu))


def _with_arpk(exact: bool, given: Values) -> Sum:
    """The weight of the ++ names: that of ARP beyond k, plus mu times the gap's."""
    mu = given.mu / given.k if given.scale == "paper" else given.mu
    return Sum(Swap(ARPK(given.k)), RanksApart(given.k, exact), mu)


def _row(name: str, summary: str, weight: Choose, pairs: Choose, details: str = "") -> Named:
    parameters = _HYBRID if name.endswith("+") else _SHARED
    make = partial(pairwise, name, summary, "lambdagap2025", parameters, details=details)
    return make(weight=weight, pairs=pairs, labels=binary)


# fmt: off
LAMBDAGAP = Family("LambdaGap", shared=_SHARED, rows=(
    _row("lambdagap-s", "LambdaGap-S: relevant and irrelevant documents exactly k ranks apart",
         _alone, lambda given: RanksApart(given.k, exact=True), _PAPER.format("the weights")),
    _row("lambdagap-x", "LambdaGap-X: relevant and irrelevant documents at least k ranks apart",
         _alone, lambda given: RanksApart(given.k), _PAPER.format("the weights")),
    _row("lambdagap-s+", "LambdaGap-S+: LambdaRank for precision at k, plus mu times LambdaGap-S",
         partial(_with_precision, True), lambda given: AcrossOrApart(given.k, exact=True)),
    _row("lambdagap-x+", "LambdaGap-X+: LambdaRank for precision at k, plus mu times LambdaGap-X",
         partial(_with_precision, False), lambda given: AcrossOrApart(given.k)),
    _row("lambdagap-s++", "LambdaGap-S++: LambdaRank for ARP beyond k, plus mu times LambdaGap-S",
         partial(_with_arpk, True), lambda given: ReachingBelow(given.k), _PAPER.format("mu")),
    _row("lambdagap-x++", "LambdaGap-X++: LambdaRank for ARP beyond k, plus mu times LambdaGap-X",
         partial(_with_arpk, False), lambda given: ReachingBelow(given.k), _PAPER.format("mu")),
))
