"""The value of a loss beside its gradient: where kernels write Hessians, these parts give shares of the loss.

The pair loop adds a third number of each pair to both documents, the Hessian. In its place `ValuedPairs` gives the loss
of the pair, which is so added to both of its documents and counted twice. There is no second loop over pairs, and the
kernels are the same.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple

from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can, lower, part
from rankwood.objectives._kernels.records import ListQuery, PairDerivatives
from rankwood.objectives._kernels.verbs import (
    Loss,
    Pairs,
    factors,
    list_gradient,
    list_loss,
    pair_gradient,
    pair_losses,
)
from rankwood.objectives.lists.softmax import Softmax
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.pairs import All


@part
class ValuedPairs:
    """A pair set whose pairs have their loss in place of a Hessian."""

    base: Pairs = All()
    loss: Loss = Logistic()
    internal: ClassVar[bool] = True

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return getattr(self.base, "few", False)

    @property
    def band(self) -> bool:
        """Whether partners lie at the same few distances from every anchor."""
        return getattr(self.base, "band", False)

    @property
    def both_directions(self) -> bool:
        """Whether pairs are ordered."""
        return getattr(self.base, "both_directions", False)

    def pair_gradient(self, weighting, a, b, derivatives):
        push, size, _ = pair_gradient(self.base, weighting, a, b, derivatives)
        above, below = pair_losses(self.loss, a, b, derivatives)
        # A push is linear in the two derivatives, and that of b counts against a.
        losses = PairDerivatives(above, -below, derivatives.hessian)
        value, _, _ = pair_gradient(self.base, weighting, a, b, losses)
        return push, size, value


@part
class ValuedList:
    """An objective without pairs: in place of Hessians, the first document has the loss of the query, others 0."""

    base: Annotated[Any, Can("list_loss")] = Softmax()
    internal: ClassVar[bool] = True

    def list_gradient(self, query, state, room, out):
        inside = ListQuery(query.label, query.score, query.values.base, query.discount)
        list_gradient(self.base, inside, state, room.base, out)
        for i in range(query.score.size):
            out.hessian[i] = as_type_of(query.score[0], 0.0)
        out.hessian[0] = list_loss(self.base, inside, state, room.base)


class Valued(NamedTuple):
    """An objective whose Hessians, times `share`, add up to the loss; `share` is None if its parts can't compute it."""

    objective: Any
    share: float | None


def valued(objective: Any) -> Valued:
    """Return an objective of documents with shares of its loss in place of Hessians, if its parts can compute it."""
    if hasattr(objective, "steps"):
        if not pair_losses.verb.able(objective.loss):
            return Valued(objective, None)
        # Both documents of a pair have its loss, and the kernel multiplies it as if it were a Hessian.
        share = 0.5 / float(factors(lower(objective.loss))[1])
        return Valued(replace(objective, pairs=ValuedPairs(objective.pairs, objective.loss)), share)
    if not list_loss.verb.able(objective):
        return Valued(objective, None)
    return Valued(ValuedList(objective), 1.0)
