"""Families of named objectives: a family is a table, and the row of a pairwise objective has a weight and pairs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankwood._kernels.named import Named, Parameter, Values
from rankwood.metrics.parts.dcg import NDCG
from rankwood.objectives.families.parameters import RANKING_OPTIONS
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Binary, Graded
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.parts.pairs import All, Top
from rankwood.objectives.parts.scales import Log2Sum, NoScale
from rankwood.objectives.parts.weights import ByDistance, Scaled, Swap

#: Details of objectives for a user who stops at a document that satisfies.
STOPS = """\
A document stops the user with probability y / `max_label`, or (2^y - 1) / 2^`max_label` with `gain="exp"`."""

#: Makes one part of a composition from the checked values of the parameters.
Choose = Callable[[Values], Any]


@dataclass(frozen=True)
class Family:
    """Objectives with a common idea: a page of docs/objectives/.

    Parameters
    ----------
    title : str
        The title of the page.
    rows : tuple of Named
        The objectives.
    shared : tuple of Parameter
        Parameters of all rows, which the page explains once.
    """

    title: str
    rows: tuple[Named, ...]
    shared: tuple[Parameter, ...] = ()


def graded(values: Values) -> Graded:
    """Labels as they are."""
    return Graded()


def binary(values: Values) -> Binary:
    """Two classes of labels: at least `rel`, or less."""
    return Binary(values.rel)


def every_pair(values: Values) -> All:
    """Every pair of documents."""
    return All()


def within_truncation(values: Values) -> Any:
    """The pairs within `truncation`, or else within k, or else all of them."""
    depth = values.k if values.truncation is None else values.truncation
    return All() if depth is None else Top(depth)


def training_ndcg(values: Values) -> NDCG:
    """The NDCG of training: the ideal is cut at k, the discounts are not."""
    return (
        NDCG(ideal=values.k, gain=values.gain) if hasattr(values, "gain") else NDCG(ideal=values.k)
    )


def swap_ndcg(values: Values) -> Swap:
    """LambdaRank's weight for the NDCG of training."""
    return Swap(training_ndcg(values))


def by_definition(values: Values, weight: Any) -> Any:
    """Return a weight without the factor 1/k, as the program of LambdaGap has it, or with it, as the paper has."""
    return Scaled(weight, 1.0 / values.k) if values.definition == "paper" else weight


def pairwise(
    name: str,
    summary: str,
    citation: str,
    parameters: tuple[Parameter, ...],
    *,
    weight: Choose,
    pairs: Choose = within_truncation,
    labels: Choose = graded,
    details: str = "",
    options: tuple[Parameter, ...] = RANKING_OPTIONS,
) -> Named:
    """Return the row of a pairwise objective; `options` are parameters that follow its own."""
    compose = partial(_compose, weight, pairs, labels)
    return Named(name, summary, citation, (*parameters, *options), compose, details)


def _compose(weight: Choose, pairs: Choose, labels: Choose, values: Values) -> Lambda:
    """Compose a pairwise objective, with LightGBM's two-step normalisation if `norm` is given and true."""
    norm = getattr(values, "norm", False)
    noisy = values.noise is not NoNoise
    return Lambda(
        weight=ByDistance(weight(values)) if norm else weight(values),
        pairs=pairs(values),
        loss=Logistic(values.sigma, values.hessian),
        scale=Log2Sum() if norm else NoScale(),
        labels=labels(values),
        noise=values.noise(values.noise_scale) if noisy else NoNoise(),
        draws=values.permutations if noisy else 1,
    )
