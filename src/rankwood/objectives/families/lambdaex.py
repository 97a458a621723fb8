"""The Lambda-eX family by name: three losses, five ways to choose missed documents, graded or binary."""

from dataclasses import replace
from functools import partial
from typing import Any

from rankwood._kernels.named import Named, Values
from rankwood.objectives.families.lambdaloss import ndcg_loss2, ndcg_loss2_plus_plus
from rankwood.objectives.families.parameters import (
    DELTA_OF_DEFINITION,
    GAIN,
    MISSED_DEFINITION,
    MU,
    NORM,
    REL,
    SIGMA,
    K,
)
from rankwood.objectives.families.rows import Choose, Family, binary, graded, pairwise, swap_ndcg
from rankwood.objectives.parts.missed import TopMissed

#: By name: summary, citation, weight, and the parameters of that weight.
_BASES: dict[str, tuple[str, str, Choose, tuple[Any, ...]]] = {
    "lambdamart-ex": ("LambdaMART-eX: LambdaRank for NDCG", "lambdaex2023", swap_ndcg, ()),
    # The program of [lambdaex2023] has NDCG-Loss2; its paper has NDCG-Loss2++ only.
    "lambdaloss-ex": ("LambdaLoss-eX: NDCG-Loss2", "lambdagap2025", ndcg_loss2, ()),
    "lambdaloss-ex++": (
        "LambdaLoss-eX++: NDCG-Loss2++",
        "lambdaex2023",
        ndcg_loss2_plus_plus,
        (MU,),
    ),
}
_SHARED = (K, SIGMA, NORM, MISSED_DEFINITION)
_ORDER = (K, MU, SIGMA, NORM, MISSED_DEFINITION, GAIN, DELTA_OF_DEFINITION, REL)
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
_OF_DELTA = """
NDCG-Loss2 too is the program's or the text's: `delta` is "shifted" or "exact", unless it is given."""


def _as_defined(weight: Choose, values: Values) -> Any:
    """Return a weight whose delta is that of `definition`, unless it was given."""
    own = "shifted" if values.definition == "program" else "exact"
    return weight(Values(**{**vars(values), "delta": values.delta or own}))


def _row(base: str, strategy: str, two_classes: bool) -> Named:
    summary, citation, weight, own = _BASES[base]
    has_delta = base != "lambdamart-ex"
    own = (*own, DELTA_OF_DEFINITION) if has_delta else own
    taken = {*_SHARED, REL if two_classes else GAIN, *own}
    on_labels = " on binary labels" if two_classes else ""
    # With two classes, the lowest relevant label is the only one, and it belongs to the ideal top k.
    rolls_back = two_classes and strategy.startswith("all-")
    row = pairwise(
        f"{base}-{strategy}{'-bin' if two_classes else ''}",
        f"{summary}{on_labels}, pairs of the top k and {_STRATEGIES[strategy]}",
        "lambdagap2025" if two_classes else citation,
        tuple(parameter for parameter in _ORDER if parameter in taken),
        weight=partial(_as_defined, weight) if has_delta else weight,
        pairs=lambda values: TopMissed(values.k, strategy, values.definition),
        labels=binary if two_classes else graded,
        details=_DETAILS + _OF_DELTA * has_delta,
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
