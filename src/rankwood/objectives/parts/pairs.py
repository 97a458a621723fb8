"""Pair sets: which pairs of ranks the loop visits.

Besides its verbs, a pair set can say how it is best visited. `few`: anchors have so few partners that a scalar loop is
faster. `band`: every anchor's partners lie at the same few rank distances, so the loop vectorises over anchors.
`both_directions`: pairs are ordered, and those of equal labels count too. The method `ranks` says how much of the
ranking a part reads: 0 for nothing, k for "which documents are the first k", ALL for all of it.
"""

from typing import Any, ClassVar

from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import ALL, part
from rankwood.objectives._kernels.verbs import Pairs, weight_above


@part
class All:
    """Every pair.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import All, Lambda, Uniform
    >>> heat(Lambda(Uniform(), pairs=All()), 3)
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """

    def ranks(self) -> int:
        """Return 0: the ranking doesn't matter."""
        return 0

    def count_anchors(self, n):
        return n


@part
class Top:
    """Pairs whose better ranked document is among the first k.

    Parameters
    ----------
    k : int
        How many of the first documents have pairs with all documents behind them.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Lambda, Top, Uniform
    >>> heat(Lambda(Uniform(), pairs=Top(1)), 3)
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """

    k: int = 30

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return self.k

    def count_anchors(self, n):
        return self.k if self.k < n else n


@part
class AcrossCutoff:
    """Pairs with one document among the first k and one behind: those that precision at k depends on.

    As a weight: 1 for these pairs, 0 for others.

    Parameters
    ----------
    k : int
        The cutoff between the two documents.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import AcrossCutoff, Lambda, Uniform
    >>> heat(Lambda(Uniform(), pairs=AcrossCutoff(2)), 3)
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 1., 0.]])
    """

    k: int = 10

    ranks, count_anchors = Top.ranks, Top.count_anchors

    def partners(self, i, n):
        return self.k, n

    def weight(self, a, b):
        one = as_type_of(a.score, 1.0)
        return one if (a.rank < self.k) != (b.rank < self.k) else as_type_of(a.score, 0.0)


@part
class RanksApart:
    """Pairs whose ranks are at least k apart, or exactly k: LambdaGap's [lambdagap2025].

    As a weight: 1 for these pairs, 0 for others.

    Parameters
    ----------
    k, exact : int, bool
        The distance of the ranks, and whether only pairs at exactly this distance count.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Lambda, RanksApart, Uniform
    >>> heat(Lambda(Uniform(), pairs=RanksApart(2)), 4)
    array([[0., 0., 1., 1.],
           [0., 0., 0., 1.],
           [1., 0., 0., 0.],
           [1., 1., 0., 0.]])
    """

    k: int = 10
    exact: bool = False

    @property
    def band(self) -> bool:
        """Whether partners lie at the same few distances from every anchor."""
        return self.exact

    few = band

    def count_anchors(self, n):
        return n - self.k if n > self.k else 0

    def partners(self, i, n):
        return i + self.k, (i + self.k + 1 if self.exact else n)

    def weight(self, a, b):
        distance = abs(a.rank - b.rank)
        counts = distance == self.k or (distance > self.k and not self.exact)
        return as_type_of(a.score, 1.0) if counts else as_type_of(a.score, 0.0)


@part
class Neighbours:
    """Pairs of close ranks whose better ranked document is among the first k: YetiRank's [gulin2011].

    Parameters
    ----------
    distance : int
        Largest distance of the ranks.
    k : int, optional
        Cutoff; None means no cutoff.
    exact : bool
        Whether only pairs at exactly this distance count, as in Figure 1 of [whichtricks2023].

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Lambda, Neighbours, Uniform
    >>> heat(Lambda(Uniform(), pairs=Neighbours(1)), 3)
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """

    distance: int = 1
    k: int | None = None
    exact: bool = False
    few: ClassVar[bool] = True
    band: ClassVar[bool] = True

    def count_anchors(self, n):
        m = n if self.k > n else self.k  # type: ignore[operator]
        left = n - self.distance if self.exact else n
        return m if m < left else (left if left > 0 else 0)  # type: ignore[operator]

    def partners(self, i, n):
        end = i + 1 + self.distance
        return (i + self.distance if self.exact else i + 1), (end if end < n else n)


@part
class ReachingBelow:
    """Pairs whose worse ranked document is behind the first k: those that ARP beyond k depends on.

    Parameters
    ----------
    k : int
        Cutoff, which the worse ranked document is behind.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Lambda, ReachingBelow, Uniform
    >>> heat(Lambda(Uniform(), pairs=ReachingBelow(2)), 4)
    array([[0., 0., 1., 1.],
           [0., 0., 1., 1.],
           [1., 1., 0., 1.],
           [1., 1., 1., 0.]])
    """

    k: int = 10

    def count_anchors(self, n):
        return n if n > self.k else 0

    def partners(self, i, n):
        return (i + 1 if i + 1 > self.k else self.k), n


@part
class AcrossOrApart:
    """Pairs of `AcrossCutoff(k)` and of `RanksApart(k, exact)`: LambdaGap's with precision at k [lambdagap2025].

    Parameters
    ----------
    k : int
        Cutoff, and distance of the ranks.
    exact : bool
        Whether, of the second set, only pairs at exactly this distance count.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import AcrossOrApart, Lambda, Uniform
    >>> heat(Lambda(Uniform(), pairs=AcrossOrApart(1, exact=True)), 4)
    array([[0., 1., 1., 1.],
           [1., 0., 1., 0.],
           [1., 1., 0., 1.],
           [1., 0., 1., 0.]])
    """

    k: int = 10
    exact: bool = False

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return self.exact

    def count_anchors(self, n):
        apart = n - self.k
        return 0 if apart <= 0 else (self.k if self.k > apart else apart)

    def partners(self, i, n):
        if i < self.k:
            return self.k, n
        return i + self.k, (i + self.k + 1 if self.exact else n)


@part
class BothDirections:
    """The pairs of a set as two ordered pairs each: a above b and b above a, equal labels too [wang2018].

    A weight without a direction counts for the better label only; `WinnerLabel` and `NDCGLoss1` have one.

    Parameters
    ----------
    base : part
        Pair set.

    Examples
    --------
    Of two documents with the label 1, the upper one is pushed down: each is pushed above the other.

    >>> import rankwood as rw
    >>> from rankwood.objectives import All, BothDirections, Lambda, WinnerLabel
    >>> rw.gradients(Lambda(WinnerLabel(), All()), [1, 1], [1.0, 0.0])[0].tolist() == [0.0, 0.0]
    True
    >>> rw.gradients(Lambda(WinnerLabel(), BothDirections()), [1, 1], [1.0, 0.0])[0].round(3).tolist()
    [0.462, -0.462]
    """

    base: Pairs = All()
    both_directions: ClassVar[bool] = True

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return getattr(self.base, "few", False)

    def pair_gradient(self, weighting, a, b, derivatives):
        inside = a.first <= b.turn and b.turn < a.end
        up, down = weight_above(weighting, a, b), weight_above(weighting, b, a)
        up = up if inside else as_type_of(up, 0.0)
        down = down if inside else as_type_of(down, 0.0)
        push = up * derivatives.above - down * derivatives.below
        return (
            push,
            up * derivatives.above + down * derivatives.below,
            (up + down) * derivatives.hessian,
        )


def reads(part: Any) -> int:
    """Return how much of the ranking a part reads: 0, k for "which are the first k", or ALL."""
    if hasattr(part, "ranks"):
        return part.ranks()
    # A part around another reads what that reads, unless it weighs pairs itself: it may look at ranks.
    own = {"weight", "weight_above", "partners"} & set(vars(type(part)))
    return reads(part.base) if hasattr(part, "base") and not own else ALL
