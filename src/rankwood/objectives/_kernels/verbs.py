"""What the parts of an objective can do, as verbs.

Verbs of the pair loop take two documents as records of scalars, never the query and an index: that is what lets the
loop vectorise. Work that needs the whole query is done once per ranking, in `prepare`. All of these verbs allocate
nothing: they fill memory that they are given, so that the same parts can be compiled for other devices.
"""

from rankwood.objectives._kernels.list_verbs import (
    cross_hessian,
    list_gradient,
    list_loss,
    origin,
)
from rankwood.objectives._kernels.loss_verbs import (
    Loss,
    Noise,
    Scale,
    embed,
    factors,
    largest_score,
    pair_derivatives,
    pair_losses,
    perturb,
    scale,
)
from rankwood.objectives._kernels.pair_verbs import (
    Pairs,
    count_anchors,
    list_anchors,
    pair_gradient,
    partners,
)
from rankwood.objectives._kernels.weight_verbs import (
    ANCHOR_ITSELF,
    Weight,
    gap_weight,
    look_up,
    prepare,
    seen_by,
    weight,
    weight_above,
)

__all__ = [
    "ANCHOR_ITSELF",
    "Loss",
    "Noise",
    "Pairs",
    "Scale",
    "Weight",
    "count_anchors",
    "cross_hessian",
    "embed",
    "factors",
    "gap_weight",
    "largest_score",
    "list_anchors",
    "list_gradient",
    "list_loss",
    "look_up",
    "origin",
    "pair_derivatives",
    "pair_gradient",
    "pair_losses",
    "partners",
    "perturb",
    "prepare",
    "scale",
    "seen_by",
    "weight",
    "weight_above",
]
