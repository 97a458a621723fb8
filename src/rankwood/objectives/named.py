"""The objectives by name: one expression and one citation each."""

from collections.abc import Callable
from typing import Any

from rankwood import _check, spec
from rankwood.metrics.dcg import GAINS, NDCG
from rankwood.objectives.losses import Logistic
from rankwood.objectives.pairs import All, Top
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.scales import Log2Sum, NoScale
from rankwood.objectives.weights import ByDistance, Swap


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
    for name, cut in (("k", k), ("truncation", truncation)):
        if cut is not None:
            _check.at_least(cut, 1, name)
    _check.one_of(discount, ("full", "truncated"), "discount")
    _check.one_of(gain, GAINS, "gain")
    truncation = k if truncation is None else truncation
    metric = NDCG(k, GAINS[gain]) if discount == "truncated" else NDCG(ideal=k, gain=GAINS[gain])
    pairs = All() if truncation is None else Top(truncation)
    return _normalised(Swap(metric), pairs, sigma, norm)


def _normalised(weight: Any, pairs: Any, sigma: float, norm: bool) -> Lambda:
    loss = Logistic(_check.positive(sigma, "sigma"))
    if _check.one_of(norm, (True, False), "norm"):
        return Lambda(ByDistance(weight), pairs, loss, Log2Sum())
    return Lambda(weight, pairs, loss, NoScale())


OBJECTIVES: dict[str, Callable[..., Any]] = {"lambdarank-ndcg": lambdarank_ndcg}


def objective(name: Any, **params: Any) -> Any:
    """Return the objective of this name, a composition of parts that prints itself.

    Parameters
    ----------
    name : str or part
        ``"name@k(param=value)"``, the printed form of a composition, or a composition.
    **params
        Parameters of the name, in place of those in the string.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.objective("lambdarank-ndcg@10", norm=False)
    Lambda(weight=Swap(metric=NDCG(ideal=10)), pairs=Top(k=10))
    """
    part = spec.build(name, OBJECTIVES, "objective", params)
    if not isinstance(part, Lambda):
        raise _check.InputError(f"objective must be a name or Lambda(...), got {part!r}.")
    return part
