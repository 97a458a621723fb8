"""The LambdaGap family by name."""

from functools import partial
from typing import Any

from rankwood._kernels.named import Named, Values
from rankwood.metrics.parts.position import ARPK
from rankwood.objectives.families.parameters import (
    GAP_DEFINITION,
    GAP_FUNCTION,
    MU,
    NORM,
    REL,
    REQUIRED_K,
    SIGMA,
)
from rankwood.objectives.families.rows import Choose, Family, binary, by_definition, pairwise
from rankwood.objectives.parts.pairs import AcrossCutoff, AcrossOrApart, RanksApart, ReachingBelow
from rankwood.objectives.parts.rank_distances import RankGap
from rankwood.objectives.parts.weights import Sum, Swap, Uniform

_SHARED = (REQUIRED_K, SIGMA, NORM, GAP_DEFINITION, REL)
_HYBRID = (REQUIRED_K, MU, SIGMA, NORM, GAP_DEFINITION, REL)
_PAPER = (
    '`definition="paper"` divides {} by k, as the formulas do and the authors\' program does not.'
)


_OF_F = """\
`f` is a part: `Geometric(b)` has the weight b^(m - k) at a distance m, between LambdaGap-S (b near 0) and
LambdaGap-X (b near 1). A part of your own has a method `gap_weight`. """ + _PAPER.format(
    "the weights"
)


def _alone(values: Values) -> Any:
    return by_definition(values, Uniform())


def _with_precision(exact: bool, values: Values) -> Any:
    """The weight of the + names: that of precision at k, plus mu times the gap's."""
    both = Sum(AcrossCutoff(values.k), RanksApart(values.k, exact), values.mu)
    return by_definition(values, both)


def _with_arpk(exact: bool, values: Values) -> Sum:
    """The weight of the ++ names: that of ARP beyond k, plus mu times the gap's."""
    mu = values.mu / values.k if values.definition == "paper" else values.mu
    return Sum(Swap(ARPK(values.k)), RanksApart(values.k, exact), mu)


def _row(name: str, summary: str, weight: Choose, pairs: Choose, details: str = "") -> Named:
    parameters = _HYBRID if name.endswith("+") else _SHARED
    make = partial(pairwise, name, summary, "lambdagap2025", parameters, details=details)
    return make(weight=weight, pairs=pairs, labels=binary)


# fmt: off
LAMBDAGAP = Family("LambdaGap", shared=_SHARED, rows=(
    _row("lambdagap-s", "LambdaGap-S: relevant and irrelevant documents exactly k ranks apart",
         _alone, lambda values: RanksApart(values.k, exact=True), _PAPER.format("the weights")),
    _row("lambdagap-x", "LambdaGap-X: relevant and irrelevant documents at least k ranks apart",
         _alone, lambda values: RanksApart(values.k), _PAPER.format("the weights")),
    pairwise("lambdagap-f", "LambdaGap with any weights of rank distances from k on", "lambdagap2025",
             (REQUIRED_K, GAP_FUNCTION, *_SHARED[1:]), labels=binary, details=_OF_F,
             weight=lambda values: by_definition(values, RankGap(values.k, values.f)),
             pairs=lambda values: RanksApart(values.k)),
    _row("lambdagap-s+", "LambdaGap-S+: LambdaRank for precision at k, plus mu times LambdaGap-S",
         partial(_with_precision, True), lambda values: AcrossOrApart(values.k, exact=True)),
    _row("lambdagap-x+", "LambdaGap-X+: LambdaRank for precision at k, plus mu times LambdaGap-X",
         partial(_with_precision, False), lambda values: AcrossOrApart(values.k)),
    _row("lambdagap-s++", "LambdaGap-S++: LambdaRank for ARP beyond k, plus mu times LambdaGap-S",
         partial(_with_arpk, True), lambda values: ReachingBelow(values.k), _PAPER.format("mu")),
    _row("lambdagap-x++", "LambdaGap-X++: LambdaRank for ARP beyond k, plus mu times LambdaGap-X",
         partial(_with_arpk, False), lambda values: ReachingBelow(values.k), _PAPER.format("mu")),
))
