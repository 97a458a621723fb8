"""What the named objectives share: their parameters, checked in words of the caller."""

from typing import Any

from rankwood import _check
from rankwood.metrics.dcg import GAINS, NDCG
from rankwood.objectives.labels import Binary, Graded
from rankwood.objectives.losses import Logistic
from rankwood.objectives.pairs import All, Top
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.scales import Log2Sum, NoScale
from rankwood.objectives.weights import ByDistance


def compose(
    weight: Any,
    pairs: Any,
    sigma: float,
    norm: bool,
    labels: Any = Graded(),  # noqa: B008
) -> Lambda:
    """Put an objective together, with LightGBM's two-step normalisation if `norm`."""
    loss = Logistic(_check.positive(sigma, "sigma"))
    if _check.one_of(norm, (True, False), "norm"):
        return Lambda(ByDistance(weight), pairs, loss, Log2Sum(), labels)
    return Lambda(weight, pairs, loss, NoScale(), labels)


def truncated(k: int | None, truncation: int | None) -> Any:
    """Return the pairs within `truncation`, or within k, or all of them."""
    for name, cut in (("k", k), ("truncation", truncation)):
        if cut is not None:
            _check.at_least(cut, 1, name)
    cut = k if truncation is None else truncation
    return All() if cut is None else Top(cut)


def ndcg(k: int | None, gain: str) -> NDCG:
    """Return the NDCG of training: the ideal is cut at k, the discounts are not."""
    return NDCG(ideal=k, gain=GAINS[_check.one_of(gain, GAINS, "gain")])


def binary(rel: float) -> Binary:
    """Return two classes of labels: at least `rel`, or less."""
    return Binary(_check.positive(rel, "rel"))


def weighing(mu: float) -> float:
    """Return the weight of a second term: not negative."""
    if _check.finite(mu, "mu") < 0:
        raise _check.InputError(f"mu must not be negative, got {mu}.")
    return float(mu)


def cutoff(name: str, k: int | None) -> int:
    """Return the cutoff of an objective that is nothing without one."""
    if k is None:
        raise _check.InputError(f"{name} needs a cutoff: write {name}@10, or give k=10.")
    return _check.at_least(k, 1, "k")
