"""What the named objectives share: their parameters, checked in words of the caller."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from rankwood._core import checks
from rankwood.metrics.dcg import GAINS, NDCG
from rankwood.metrics.gains import CHANCES
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Binary, Graded
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.noise import GaussianNoise, LogisticNoise, NoNoise
from rankwood.objectives.parts.pairs import All, Top
from rankwood.objectives.parts.scales import Log2Sum, NoScale
from rankwood.objectives.parts.weights import ByDistance

VARIANTS = ("exact", "catboost")
NOISES: dict[str, Any] = {"logistic": LogisticNoise, "gaussian": GaussianNoise, "none": NoNoise}


def compose(
    weight: Any,
    pairs: Any,
    sigma: float,
    norm: bool,
    labels: Any = Graded(),  # noqa: B008
) -> Lambda:
    """Put an objective together, with LightGBM's two-step normalisation if `norm`."""
    loss = Logistic(checks.positive(sigma, "sigma"))
    if checks.one_of(norm, (True, False), "norm"):
        return Lambda(ByDistance(weight), pairs, loss, Log2Sum(), labels)
    return Lambda(weight, pairs, loss, NoScale(), labels)


def truncated(k: int | None, truncation: int | None) -> Any:
    """Return the pairs within `truncation`, or within k, or all of them."""
    for name, cut in (("k", k), ("truncation", truncation)):
        if cut is not None:
            checks.at_least(cut, 1, name)
    cut = k if truncation is None else truncation
    return All() if cut is None else Top(cut)


def ndcg(k: int | None, gain: str) -> NDCG:
    """Return the NDCG of training: the ideal is cut at k, the discounts are not."""
    return NDCG(ideal=k, gain=GAINS[checks.one_of(gain, GAINS, "gain")])


def binary(rel: float) -> Binary:
    """Return two classes of labels: at least `rel`, or less."""
    return Binary(checks.positive(rel, "rel"))


def weighing(mu: float) -> float:
    """Return the weight of a second term: not negative."""
    if checks.finite(mu, "mu") < 0:
        raise checks.InputError(f"mu must not be negative, got {mu}.")
    return float(mu)


def cutoff(name: str, k: int | None) -> int:
    """Return the cutoff of an objective that is nothing without one."""
    if k is None:
        raise checks.InputError(f"{name} needs a cutoff: write {name}@10, or give k=10.")
    return checks.at_least(k, 1, "k")


def by_variant(variant: str, exact: Any, catboost: Any, k: int | None = None) -> Any:
    """Return one of two weights: the change of the metric, or what CatBoost computes."""
    if checks.one_of(variant, VARIANTS, "variant") == "exact":
        return exact
    if k is not None:
        raise checks.InputError(
            "variant='catboost' has no cutoff; leave out @k or give truncation=."
        )
    return catboost


def disturb(objective: Lambda, noise: str | None, noise_scale: float, permutations: int) -> Lambda:
    """Return an objective that ranks by noisy scores, `permutations` times."""
    kind = NOISES["none" if noise is None else checks.one_of(noise, NOISES, "noise")]
    scale = checks.positive(noise_scale, "noise_scale")
    draws = checks.at_least(permutations, 1, "permutations")
    if kind is NoNoise:
        return replace(objective, noise=NoNoise(), draws=1)
    return replace(objective, noise=kind(scale), draws=draws)


def chance(gain: str, max_label: float) -> Any:
    """Return the chance that a document satisfies, by its label."""
    return CHANCES[checks.one_of(gain, CHANCES, "gain")](checks.positive(max_label, "max_label"))


def extended(
    make: Callable[..., Any], added: dict[str, Any], finish: Callable[..., Any]
) -> Callable[..., Any]:
    """Let a name take parameters that a family shares: `finish` gets what `make` makes, and these."""

    @wraps(make)
    def made(**params: Any) -> Any:
        given = {name: params.pop(name, default) for name, default in added.items()}
        return finish(make(**params), **given)

    signature, kind = inspect.signature(make), inspect.Parameter.KEYWORD_ONLY
    new = [inspect.Parameter(name, kind, default=default) for name, default in added.items()]
    parameters = [*signature.parameters.values(), *new]
    made.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return made


def with_options(make: Callable[..., Lambda], noise: str = "none") -> Callable[..., Lambda]:
    """Let a name take what every pairwise objective can: noise on the ranking, and a factor on the hessian."""
    added = {"noise": noise, "noise_scale": 1.0, "permutations": 10, "hessian": 1.0}
    return extended(make, added, _with_options)


def _with_options(objective: Lambda, hessian: float, **noise: Any) -> Lambda:
    loss = replace(objective.loss, hessian=checks.positive(hessian, "hessian"))
    return disturb(replace(objective, loss=loss), **noise)
