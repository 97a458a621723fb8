"""Former names of parts, which files of saved models still contain: functions with the former fields and defaults."""

from typing import Any

from rankwood._core import checks, former
from rankwood._core.former import Former
from rankwood.metrics.dcg import NDCG
from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.parts import labels, ndcg_loss, noise, pairs, weights

# The defaults below are those of the former parts: printed forms leave out fields that have them.
_NDCG, _UNIFORM = NDCG(), weights.Uniform()
_ACROSS, _APART = pairs.AcrossCutoff(10), pairs.RanksApart(10)


def _loss2(metric: Any = _NDCG, delta: str = "exact", mu: float = 1.0, rho: float = 0.0) -> Any:
    """Return rho times LambdaRank's weight plus mu times that of NDCG-Loss2."""
    for name, value in (("mu", mu), ("rho", rho)):
        if checks.finite(value, f"Loss2.{name}") < 0:
            raise checks.InputError(f"Loss2.{name} must not be negative, got {value}.")
    loss2 = ndcg_loss.NDCGLoss2(metric, delta)
    if rho == 0:
        return loss2 if mu == 1 else weights.Scaled(loss2, mu)
    swap = weights.Swap(metric)
    return weights.Sum(swap if rho == 1 else weights.Scaled(swap, rho), loss2, mu)


def _times(base: Any = _UNIFORM, by: float = 1.0) -> weights.Scaled:
    return weights.Scaled(base, by)


def _gap(k: int = 10, exactly: bool = False) -> pairs.RanksApart:
    return pairs.RanksApart(k, exactly)


def _exactly(k: int = 10) -> pairs.RanksApart:
    return pairs.RanksApart(k, exact=True)


def _either(first: Any = _ACROSS, second: Any = _APART) -> pairs.AcrossOrApart:
    both = isinstance(first, pairs.AcrossCutoff) and isinstance(second, pairs.RanksApart)
    if not both or first.k != second.k:
        raise checks.InputError(
            "Either takes Across(k) and Apart(k) or Exactly(k) with the same k; these are now "
            f"AcrossCutoff(k) and RanksApart(k, exact), got {first!r} and {second!r}."
        )
    return pairs.AcrossOrApart(first.k, second.exact)


def _near(h: int = 1, k: int | None = None) -> pairs.Neighbours:
    return pairs.Neighbours(h, k)


FORMER_PARTS = {
    "Across": Former(pairs.AcrossCutoff, "AcrossCutoff"),
    "Apart": Former(pairs.RanksApart, "RanksApart"),
    "Beyond": Former(pairs.ReachingBelow, "ReachingBelow"),
    "Bi": Former(Bivariate, "Bivariate"),
    "Cross": Former(pairs.AcrossCutoff, "AcrossCutoff"),
    "Either": Former(_either, "AcrossOrApart"),
    "Exactly": Former(_exactly, "RanksApart(k, exact=True)"),
    "Gap": Former(_gap, "RanksApart"),
    "LabelOf": Former(weights.WinnerLabel, "WinnerLabel"),
    "Loss1": Former(ndcg_loss.NDCGLoss1, "NDCGLoss1"),
    "Loss2": Former(_loss2, "NDCGLoss2, or Sum(Swap(metric), NDCGLoss2(metric), mu)"),
    "Marked": Former(labels.Binary, "Binary"),
    "Near": Former(_near, "Neighbours"),
    "One": Former(weights.Uniform, "Uniform"),
    "Ordered": Former(pairs.BothDirections, "BothDirections"),
    "Still": Former(noise.NoNoise, "NoNoise"),
    "Times": Former(_times, "Scaled"),
}
former.FORMER.update(FORMER_PARTS)
