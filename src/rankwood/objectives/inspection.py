"""Inspecting the pairs of an objective with its own loop: a weight that counts, a loss that adds weights up.

With the loss `HalfSquared` every pair has Hessian 1, so the Hessians of the kernel are sums of weights, and with the
weight `NonZero` they are numbers of pairs. There is no second loop over pairs.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.objectives._kernels.records import PairDerivatives
from rankwood.objectives._kernels.verbs import Weight, weight, weight_above
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts import weights
from rankwood.objectives.parts.ndcg_loss import NDCGLoss2
from rankwood.objectives.parts.pairs import reads
from rankwood.objectives.parts.scales import NoScale
from rankwood.objectives.parts.weights import Uniform
from rankwood.objectives.units import base_of, has_pair_set, reads_pairs

_FEW_PAIRS = 30_000  # plain Python visits so many sooner than the kernel would be compiled


@part
class NonZero:
    """One if a weight is not 0, else 0; of two ordered pairs, one counts if either has a weight."""

    base: Weight = Uniform()
    internal: ClassVar[bool] = True

    def ranks(self) -> int:
        """Return how much of the ranking the weight inside reads."""
        return reads(self.base)

    def weight(self, a, b):
        w = weight(self.base, a, b)
        return as_type_of(w, 1.0) if w != 0 else as_type_of(w, 0.0)

    def weight_above(self, a, b):
        # Half of it each way.
        up, down = weight_above(self.base, a, b), weight_above(self.base, b, a)
        return as_type_of(up, 0.5) if up != 0 or down != 0 else as_type_of(up, 0.0)


@part
class HalfSquared:
    r"""Half the squared distance of two scores, :math:`(s_a - s_b)^2 / 2`: every pair has Hessian 1."""

    internal: ClassVar[bool] = True

    def embed(self, score):
        return score

    def largest_score(self):
        return 1e30  # farther than scores are, and a number in float32 too

    def pair_derivatives(self, a, b):
        down = b.embedded - a.embedded
        return PairDerivatives(down, -down, as_type_of(down, 1.0))

    def factors(self):
        return 1.0, 1.0

    def loss(self, difference):
        """Return the loss at a score difference; used by tests and documentation, never by a kernel."""
        return 0.5 * difference * difference


def weights_only(objective: Any) -> Lambda:
    """Return the objective whose Hessians are sums of the pair weights; normalisations are omitted."""
    if reads_pairs(objective):
        raise checks.InputError(
            f"{objective!r} weighs the pairs that come with the data, whatever their ranks: pair weights by rank are "
            "for objectives with a pair set, Lambda(...)."
        )
    if not has_pair_set(objective):
        raise checks.InputError(
            f"{objective!r} has no pairs: pair weights and effective pairs are for objectives made of pairs, "
            "Lambda(...)."
        )
    objective = base_of(objective)
    weight = (
        objective.weight.base
        if isinstance(objective.weight, weights.ByDistance)
        else objective.weight
    )
    return replace(objective, weight=weight, loss=HalfSquared(), scale=NoScale())


def counts_only(objective: Any) -> Lambda:
    """Return the objective whose Hessians are, document by document, numbers of pairs with a weight."""
    bare = weights_only(objective)
    # A weight that is never 0 needs no evaluation, and the ranking need not be known: that is much faster.
    certain = _certain(bare.weight) and not getattr(bare.pairs, "both_directions", False)
    return replace(bare, weight=Uniform() if certain else NonZero(bare.weight))


def _certain(weight: Any) -> bool:
    """Tell whether a weight is known to be positive wherever labels differ."""
    if isinstance(weight, weights.Sum):
        return _certain(weight.first) or (weight.mu > 0 and _certain(weight.second))
    if isinstance(weight, (weights.Scaled, weights.ByDistance)):
        return _certain(weight.base)
    if isinstance(weight, (weights.Swap, NDCGLoss2)):
        # Gains grow with labels, and discounts without a cutoff fall with every rank.
        return isinstance(weight.metric, (DCG, NDCG)) and weight.metric.k is None
    return isinstance(weight, (Uniform, weights.LabelGap, weights.WinnerLabel))


def single_use_computer(
    objective: Any, y: np.ndarray, groups: Groups, **options: Any
) -> GradientComputer:
    """Return a computer in float64 for looking at an objective once: compiled only if that pays."""
    few = (groups.sizes.astype(np.float64) ** 2).sum() <= _FEW_PAIRS
    return GradientComputer(objective, y, groups, compiled=not few, **options)


class PairCounter:
    """Number of pairs that each query uses: of different labels, in the pair set, with a weight that isn't 0.

    Parameters
    ----------
    objective : Lambda
        The objective; its normalisation doesn't matter.
    y, groups
        Labels and queries.
    make : callable
        `GradientComputer`, or `single_use_computer`.
    **options
        Options of `GradientComputer`.
    """

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        make: Any = GradientComputer,
        **options: Any,
    ) -> None:
        counted = counts_only(objective)
        self._computer = make(counted, y, groups, **options)
        self._groups = groups
        self._draws = counted.draws
        self._depends = counted.ranks() > 0
        self._share: float | None = None
        all_ends = groups.sizes * np.maximum(groups.sizes - 1, 1) * groups.ids.size
        self._share_of_end = groups.per_row(1.0 / all_ends)

    def __call__(self, scores: np.ndarray, round: int = 0) -> np.ndarray:
        """Return the number of each query at these scores; with several noisy draws the mean over them."""
        ends = self._computer(scores, round)[1][self._groups.rows]  # every pair has two
        sums = np.add.reduceat(ends, self._groups.ptr[:-1], dtype=np.float64)
        if self._draws > 1:
            return np.rint(sums / 2 * self._draws) / self._draws
        return np.rint(sums / 2).astype(np.int64)

    def share(
        self, scores: np.ndarray, round: int = 0, at: GradientComputer | None = None
    ) -> float:
        """Return the mean over queries of that number as a share of all pairs; 0 for single documents.

        `at` is a computer that was called at the same scores just before: its ranking is taken over.
        """
        if self._share is None or self._depends:
            if at is not None:
                self._computer.start_from(at)
            hessian = self._computer(scores, round)[1]
            self._share = float((hessian * self._share_of_end).sum())  # BLAS adds by processor
        return self._share


def pair_share(pairs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return numbers of pairs as shares of all pairs of each query; 0 for single documents."""
    all_pairs = sizes * (sizes - 1) / 2
    return np.divide(pairs, all_pairs, out=np.zeros(sizes.size), where=all_pairs > 0)
