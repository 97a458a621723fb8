"""The Lambda-eX family by name: three losses, five ways to choose missed documents, graded or binary."""

from dataclasses import replace
from typing import Any

from rankwood._kernels.named import Named
from rankwood.objectives.families.lambdaloss import ndcg_loss2, ndcg_loss2_plus_plus
from rankwood.objectives.families.parameters import (
    DELTA,
    GAIN,
    MISSED_DEFINITION,
    MU,
    NORM,
    REL,
    SIGMA,
    K,
)
from rankwood.objectives.families.rows import Family, binary, graded, pairwise, swap_ndcg
from rankwood.objectives.parts.missed import TopMissed

#: By name: summary, weight, and the parameters of that weight.
_BASES: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "lambdamart-ex": ("LambdaMART-eX: LambdaRank for NDCG", swap_ndcg, ()),
    "lambdaloss-ex": ("LambdaLoss-eX: NDCG-Loss2", ndcg_loss2, (DELTA,)),
    "lambdaloss-ex++": ("LambdaLoss-eX++: NDCG-Loss2++", ndcg_loss2_plus_plus, (MU, DELTA)),
}
_SHARED = (K, SIGMA, NORM, MISSED_DEFINITION)
_ORDER = (K, MU, SIGMA, NORM, MISSED_DEFINITION, GAIN, DELTA, REL)
_STRATEGIES = {
    "static": "as many missed documents as needed, the best placed ones",
    "random": "as many missed documents as needed, at random",
    "all": "all missed documents",
    "all-static": "all missed documents, or static if every relevant label would be missed",
    "all-random": "all missed documents, or random if every relevant label would be missed",
}
_DETAILS = """\
A document is missed if it belongs to the ideal top k and is not in the current one, counted as the authors'
program does (`definition="program"`) or as their text says (`definition="paper"`)."""


def _row(base: str, strategy: str, two_classes: bool) -> Named:
    summary, weight, own = _BASES[base]
    taken = {*_SHARED, REL if two_classes else GAIN, *own}
    on_labels = " on binary labels" if two_classes else ""
    # With two classes, the lowest relevant label is the only one, and it belongs to the ideal top k.
    rolls_back = two_classes and strategy.startswith("all-")
    row = pairwise(
        f"{base}-{strategy}{'-bin' if two_classes else ''}",
        f"{summary}{on_labels}, pairs of the top k and {_STRATEGIES[strategy]}",
        "lambdaex2023",
        tuple(parameter for parameter in _ORDER if parameter in taken),
        weight=weight,
        pairs=lambda values: TopMissed(values.k, strategy, values.definition),
        labels=binary if two_classes else graded,
        details=_DETAILS,
    )
    return (
        replace(row, same_as=f"{base}-{strategy.removeprefix('all-')}-bin") if rolls_back else row
    )


LAMBDAEX = Family(
    "Lambda-eX",
    tuple(
        _row(base, strategy, two_classes)
        for base in _BASES
        for strategy in _STRATEGIES
        for two_classes in (False, True)
    ),
    shared=_SHARED,
)
