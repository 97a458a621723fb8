"""Former names of parts, which files of saved models still contain: functions with the former fields and defaults."""

from typing import Any

from rankwood._core import checks, former
from rankwood._core.former import Former
from rankwood.metrics.dcg import NDCG
from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.parts.labels import Binary
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.parts.pairs import (
    AcrossCutoff,
    AcrossOrApart,
    BothDirections,
    Neighbours,
    RanksApart,
    ReachingBelow,
)
from rankwood.objectives.parts.weights import (
    NDCGLoss1,
    NDCGLoss2,
    Scaled,
    Sum,
    Swap,
    Uniform,
    WinnerLabel,
)

# The defaults below are those of the former parts: printed forms leave out fields that have them.
_NDCG, _UNIFORM = NDCG(), Uniform()
_ACROSS, _APART = AcrossCutoff(10), RanksApart(10)


def _loss2(metric: Any = _NDCG, delta: str = "exact", mu: float = 1.0, rho: float = 0.0) -> Any:
    """Return rho times LambdaRank's weight plus mu times that of NDCG-Loss2."""
    for name, value in (("mu", mu), ("rho", rho)):
        if checks.finite(value, f"Loss2.{name}") < 0:
            raise checks.InputError(f"Loss2.{name} must not be negative, got {value}.")
    loss2 = NDCGLoss2(metric, delta)
    if rho == 0:
        return loss2 if mu == 1 else Scaled(loss2, mu)
    swap = Swap(metric)
    return Sum(swap if rho == 1 else Scaled(swap, rho), loss2, mu)


def _times(base: Any = _UNIFORM, by: float = 1.0) -> Scaled:
    return Scaled(base, by)


def _gap(k: int = 10, exactly: bool = False) -> RanksApart:
    return RanksApart(k, exactly)


def _exactly(k: int = 10) -> RanksApart:
    return RanksApart(k, exact=True)


def _either(first: Any = _ACROSS, second: Any = _APART) -> AcrossOrApart:
    both = isinstance(first, AcrossCutoff) and isinstance(second, RanksApart)
    if not both or first.k != second.k:
        raise checks.InputError(
            "Either takes Across(k) and Apart(k) or Exactly(k) with the same k; these are now "
            f"AcrossCutoff(k) and RanksApart(k, exact), got {first!r} and {second!r}."
        )
    return AcrossOrApart(first.k, second.exact)


def _near(h: int = 1, k: int | None = None) -> Neighbours:
    return Neighbours(h, k)


FORMER_PARTS = {
    "Across": Former(AcrossCutoff, "AcrossCutoff"),
    "Apart": Former(RanksApart, "RanksApart"),
    "Beyond": Former(ReachingBelow, "ReachingBelow"),
    "Bi": Former(Bivariate, "Bivariate"),
    "Cross": Former(AcrossCutoff, "AcrossCutoff"),
    "Either": Former(_either, "AcrossOrApart"),
    "Exactly": Former(_exactly, "RanksApart(k, exact=True)"),
    "Gap": Former(_gap, "RanksApart"),
    "LabelOf": Former(WinnerLabel, "WinnerLabel"),
    "Loss1": Former(NDCGLoss1, "NDCGLoss1"),
    "Loss2": Former(_loss2, "NDCGLoss2, or Sum(Swap(metric), NDCGLoss2(metric), mu)"),
    "Marked": Former(Binary, "Binary"),
    "Near": Former(_near, "Neighbours"),
    "One": Former(Uniform, "Uniform"),
    "Ordered": Former(BothDirections, "BothDirections"),
    "Still": Former(NoNoise, "NoNoise"),
    "Times": Former(_times, "Scaled"),
}
former.FORMER.update(FORMER_PARTS)
