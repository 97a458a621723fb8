"""The value of a loss beside its gradient: where kernels write Hessians, these parts give shares of the loss.

The pair loop adds a third number of each pair to both documents, the Hessian. In the place of that number `ValuedPairs`
gives the loss of the pair, so that the sums of the two documents have it twice. There is no second loop over pairs, and
the kernels know nothing of it.
"""

from typing import Annotated, Any, ClassVar

from rankwood._core.numeric import as_type_of
from rankwood._core.parts import Can, part
from rankwood.objectives._kernels.records import ListQuery, PairDerivatives
from rankwood.objectives._kernels.verbs import (
    Loss,
    Pairs,
    list_gradient,
    list_loss,
    pair_gradient,
    pair_losses,
)
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.pairs import All
from rankwood.objectives.softmax import Softmax


@part
class ValuedPairs:
    """A pair set whose pairs have their loss in place of a Hessian."""

    base: Pairs = All()
    loss: Loss = Logistic()
    internal: ClassVar[bool] = True

    def pair_gradient(self, weighting, a, b, derivatives):
        push, size, _ = pair_gradient(self.base, weighting, a, b, derivatives)
        above, below = pair_losses(self.loss, a, b, derivatives)
        # A push is linear in the two derivatives, and that of b counts against a.
        both = PairDerivatives(above, -below, derivatives.hessian)
        value, _, _ = pair_gradient(self.base, weighting, a, b, both)
        return push, size, value


@part
class ValuedList:
    """An objective without pairs; the Hessian of the first document is the loss of the query, others are 0."""

    base: Annotated[Any, Can("list_loss")] = Softmax()
    internal: ClassVar[bool] = True

    def list_gradient(self, query, state, room, out):
        inside = ListQuery(query.label, query.score, query.values.base, query.discount)
        list_gradient(self.base, inside, state, room.base, out)
        for i in range(query.score.size):
            out.hessian[i] = as_type_of(query.score[0], 0.0)
        out.hessian[0] = list_loss(self.base, inside, state, room.base)
