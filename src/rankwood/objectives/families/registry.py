"""The objectives by name."""

from collections.abc import Callable
from typing import Any

from rankwood._core import checks, spec
from rankwood.objectives import approx, pointwise, softmax, stochastic
from rankwood.objectives.families import lambdaex, lambdagap, lambdaloss, lambdarank, yeti
from rankwood.objectives.families.compose import with_options
from rankwood.objectives.lifted import Bivariate, is_objective

OBJECTIVES: dict[str, Callable[..., Any]] = {
    **{
        name: with_options(make)
        for family in (lambdarank, lambdaloss, lambdagap, lambdaex)
        for name, make in family.NAMES.items()
    },
    **yeti.NAMES,
    **stochastic.NAMES,
    **pointwise.NAMES,
    **softmax.NAMES,
    **approx.NAMES,
}


def objective(name: Any, **params: Any) -> Any:
    """Return the objective of this name, a composition of parts that prints itself.

    Parameters
    ----------
    name : str or part
        ``"name@k(param=value)"``, with ``bi-`` before it for models that compare pairs of documents; the
        printed form of a composition, or a composition.
    **params
        Parameters of the name, in place of those in the string.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.objective("lambdarank-ndcg@10", norm=False)
    Lambda(weight=Swap(metric=NDCG(ideal=10)), pairs=Top(k=10))
    >>> rw.objective("lambdagap-x+", k=5, mu=2.0, norm=False).pairs
    AcrossOrApart(k=5)
    """
    if isinstance(name, str) and name.strip().startswith("bi-"):
        inner = name.strip().removeprefix("bi-").strip()
        if inner.startswith("bi-"):
            raise checks.InputError(f"objective {name!r} has bi- twice: once is enough, {inner!r}.")
        return Bivariate(objective(inner, **params))
    part = spec.build(name, OBJECTIVES, "objective", params)
    if not is_objective(part):
        raise checks.InputError(
            f"objective must be a name, Lambda(...) or a part that can 'list_gradient', got {part!r}."
        )
    return part
