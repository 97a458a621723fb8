"""The pairwise objective: a weight, a pair set, a loss, a scale, labels and noise put together."""

from dataclasses import fields, replace
from typing import Any

from rankwood._core import checks
from rankwood._core.jit import ALL, VERBS, Can, is_part, part
from rankwood.objectives._kernels.pairwise import fill
from rankwood.objectives.parts.labels import Binary, Graded
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.parts.pairs import All, BothDirections, reads
from rankwood.objectives.parts.scales import NoScale
from rankwood.objectives.parts.weights import Swap, looks_up, together


@part
class Lambda:
    r"""A pairwise objective :math:`L = c \sum w_{xy} \, \ell(s_x - s_y)` over pairs with :math:`y_x > y_y`.

    Parameters
    ----------
    weight : part
        Weight w of a pair; a constant when the loss is differentiated.
    pairs : part
        Which pairs of ranks are visited. Pairs of equal labels count only in `BothDirections` sets.
    loss : part
        Loss of one pair.
    scale : part
        Factor c on the query, given the sum of its lambdas.
    labels : part
        How labels are read: as grades, or as relevant and not.
    noise : part
        What the scores are disturbed by before documents are ranked. The loss sees them undisturbed.
    draws : int
        Rankings drawn if there is noise; the lambdas are their mean.
    """

    weight: Can("weight") = Swap()  # type: ignore[valid-type]
    pairs: Can("select") = All()  # type: ignore[valid-type]
    loss: Can("slope") = Logistic()  # type: ignore[valid-type]
    scale: Can("scale") = NoScale()  # type: ignore[valid-type]
    labels: Can("split") = Graded()  # type: ignore[valid-type]
    noise: Can("shake") = NoNoise()  # type: ignore[valid-type]
    draws: int = 1

    def check(self) -> None:
        rel = 1.0 if isinstance(self.labels, Graded) else _own_rel(self.weight)
        if rel > 1.0:
            raise checks.InputError(
                f"{self.labels!r} makes labels 0 and 1, so that no document is relevant to a metric with "
                f"rel={rel:g}; leave the metric's rel at 1."
            )
        own_span = type(self.pairs).Raw in VERBS["span"].table  # type: ignore[attr-defined]
        if (
            getattr(self.pairs, "scattered", False)
            and own_span
            and not isinstance(self.pairs, BothDirections)
        ):
            raise checks.InputError(
                f"{type(self.pairs).__name__} chooses its anchors itself (scattered), and they pair with "
                "everyone after them: it can't have a span too."
            )

    def ranks(self) -> int:
        """Return how much of the ranking is read: nothing, which documents are the first k, or all."""
        return together(reads(self.weight), reads(self.pairs))

    def kernel(self) -> tuple[Any, Any, tuple[Any, ...]]:
        """Return the objective as the kernel takes it, the kernel, and its options.

        Options are None or not: a kernel is compiled without what it doesn't need.
        """
        bare = self
        if isinstance(
            self.pairs, BothDirections
        ):  # equal labels pair too: there is nothing to put apart
            bare = replace(self, labels=Graded())
        depth = None if bare.ranks() == ALL else bare.ranks()
        band = _banded(bare) or None
        few = (getattr(bare.pairs, "few", False) and not band) or None
        scattered = getattr(bare.pairs, "scattered", False) or None
        # Two classes are put apart from a complete order; grades only ask where the anchors are.
        apart = isinstance(bare.labels, Binary)
        anchors = (None, scattered) if apart else (scattered, None)
        noisy = None if isinstance(bare.noise, NoNoise) else True
        return bare, fill, (depth, few, band, *anchors, noisy)


def _banded(objective: Lambda) -> bool:
    """Tell whether every anchor's partners are as far away, and the loop can go over the anchors."""
    return getattr(objective.pairs, "band", False) and not looks_up(objective.weight)


def _own_rel(part: Any) -> float:
    """Return the largest `rel` of the parts inside a part, at least 1."""
    own = [getattr(part, f.name) for f in fields(part)]
    inside = [_own_rel(x) for x in own if is_part(x)]
    return max([1.0, getattr(part, "rel", 1.0), *inside])
