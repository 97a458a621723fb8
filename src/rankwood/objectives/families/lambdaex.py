"""The Lambda-eX family by name: three losses, five ways to choose missed documents, graded or binary."""

import inspect
from collections.abc import Callable
from typing import Any

from rankwood.objectives.families.compose import binary, compose, ndcg, truncated, weighing
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Graded
from rankwood.objectives.parts.missed import STRATEGIES, TopMissed
from rankwood.objectives.parts.weights import NDCGLoss2, Sum, Swap

_BASES = {
    "lambdamart-ex": "LambdaMART-eX: LambdaRank for NDCG",
    "lambdaloss-ex": "LambdaLoss-eX: NDCG-Loss2",
    "lambdaloss-ex++": "LambdaLoss-eX++: NDCG-Loss2++",
}
_HOW = {
    "static": "as many missed documents as needed, the best placed ones",
    "random": "as many missed documents as needed, at random",
    "all": "all missed documents",
    "all-static": "all missed documents, or static if every relevant label would be missed",
    "all-random": "all missed documents, or random if every relevant label would be missed",
}


def _extended(
    base: str,
    how: str,
    two: bool,
    *,
    k: int | None = None,
    mu: float = 1.0,
    sigma: float = 1.0,
    norm: bool = True,
    missed: str = "code",
    gain: str = "exp",
    delta: str = "exact",
    rel: float = 1,
) -> Lambda:
    truncated(k, None)
    metric = ndcg(k, gain)
    weight: Any = Swap(metric)
    if base == "lambdaloss-ex":
        weight = NDCGLoss2(metric, delta)
    if base == "lambdaloss-ex++":
        weight = Sum(Swap(metric), NDCGLoss2(metric, delta), weighing(mu))
    labels = binary(rel) if two else Graded()
    return compose(weight, TopMissed(k, how, missed), sigma, norm, labels)


def _named(base: str, how: str, two: bool) -> Callable[..., Any]:
    """Return the function of one name, with the parameters that mean something to it."""

    def make(**params: Any) -> Lambda:
        return _extended(base, how, two, **params)

    other = {"gain"} if two else {"rel"}
    if base != "lambdaloss-ex++":
        other.add("mu")
    if base == "lambdamart-ex":
        other.add("delta")
    known = list(inspect.signature(_extended).parameters.values())[3:]
    make.__signature__ = inspect.Signature([p for p in known if p.name not in other])  # type: ignore[attr-defined]
    labels = " on binary labels" if two else ""
    make.__doc__ = (
        f"{_BASES[base]}{labels}, pairs of the top k and {_HOW[how]} [lambdaex2023].\n\n"
        "A document is missed if it belongs to the ideal top k and is not in the current one, counted "
        'as the authors\' program does (missed="code") or as their text says (missed="text").'
    )
    return make


NAMES: dict[str, Callable[..., Any]] = {
    f"{base}-{how}{end}": _named(base, how, bool(end))
    for base in _BASES
    for how in STRATEGIES
    for end in ("", "-bin")
}
