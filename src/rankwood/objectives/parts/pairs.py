"""Pair sets: which pairs of ranks the loop visits."""

from typing import Any, ClassVar

from rankwood._core.jit import ALL, Can, like, part
from rankwood.objectives._kernels.verbs import select, span, toward

# `few` says that most anchors have few partners, which are then visited one by one; `band`, that these are few
# and as far away from every anchor, so that anchors can be gone over in their place. `scattered` says that the anchors
# are not the first documents of the ranking.
# `ranks` says how much of the ranking a part reads: nothing, which documents are the first k, or all of it.


@part
class All:
    """Every pair."""

    def ranks(self) -> int:
        """Return 0: the ranking doesn't matter."""
        return 0

    def select(self, q, n, worth, order, state):
        return n


@part
class Top:
    """Pairs whose better placed document is among the first k."""

    k: int = 30

    def ranks(self) -> int:
        """Return k: one document must be among the first k."""
        return self.k

    def select(self, q, n, worth, order, state):
        return self.k if self.k < n else n


@part
class AcrossCutoff:
    """Pairs with one document among the first k and one behind: those that precision at k depends on.

    As a weight: 1 for these pairs, 0 for others.
    """

    k: int = 10

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return self.k

    def select(self, q, n, worth, order, state):
        return self.k if self.k < n else n

    def span(self, i, n):
        return self.k, n

    def weight(self, x, y, a, b):
        one = like(x.score, 1.0)
        return one if (x.rank < self.k) != (y.rank < self.k) else like(x.score, 0.0)


@part
class RanksApart:
    """Pairs whose ranks are at least k apart, or exactly k: LambdaGap's [lambdagap2025].

    As a weight: 1 for these pairs, 0 for others.
    """

    k: int = 10
    exact: bool = False

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return self.exact

    @property
    def band(self) -> bool:
        """Whether partners are at the same few distances from every anchor."""
        return self.exact

    def select(self, q, n, worth, order, state):
        return n - self.k if n > self.k else 0

    def span(self, i, n):
        return i + self.k, (i + self.k + 1 if self.exact else n)

    def weight(self, x, y, a, b):
        distance = abs(x.rank - y.rank)
        counts = distance == self.k or (distance > self.k and not self.exact)
        return like(x.score, 1.0) if counts else like(x.score, 0.0)


@part
class Neighbours:
    """Pairs at most `distance` ranks apart with one document among the first k: YetiRank's [gulin2011]."""

    distance: int = 1
    k: int | None = None
    few: ClassVar[bool] = True
    band: ClassVar[bool] = True

    def select(self, q, n, worth, order, state):
        return n if self.k > n else self.k  # type: ignore[operator]

    def span(self, i, n):
        end = i + 1 + self.distance
        return i + 1, (end if end < n else n)


@part
class ReachingBelow:
    """Pairs whose worse placed document is behind the first k: those that ARP beyond k depends on."""

    k: int = 10

    def select(self, q, n, worth, order, state):
        return n if n > self.k else 0

    def span(self, i, n):
        return (i + 1 if i + 1 > self.k else self.k), n


@part
class AcrossOrApart:
    """Pairs of `AcrossCutoff(k)` and of `RanksApart(k, exact)`: LambdaGap's with precision at k [lambdagap2025]."""

    k: int = 10
    exact: bool = False

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return self.exact

    def select(self, q, n, worth, order, state):
        apart = n - self.k
        return 0 if apart <= 0 else (self.k if self.k > apart else apart)

    def span(self, i, n):
        if i < self.k:
            return self.k, n
        return i + self.k, (i + self.k + 1 if self.exact else n)


@part
class BothDirections:
    """The pairs of a set, each as two wishes: x above y and y above x, equal labels too [wang2018].

    A weight without a direction counts for the better label only; `WinnerLabel` and `NDCGLoss1` have one.
    """

    base: Can("select") = All()  # type: ignore[valid-type]

    def ranks(self) -> int:
        """Return what the base set reads of the ranking."""
        return reads(self.base)

    @property
    def few(self) -> bool:
        """Whether most anchors have few partners."""
        return getattr(self.base, "few", False)

    @property
    def scattered(self) -> bool:
        """Whether anchors are not the first documents of the ranking."""
        return getattr(self.base, "scattered", False)

    def select(self, q, n, worth, order, state):
        return select(self.base, q, n, worth[0], order, state)

    def span(self, i, n):
        return span(self.base, i, n)

    def lean(self, w, x, y, above, below, bend):
        inside = x.first <= y.place and y.place < x.end
        up, down = toward(w, x, y, x.own, y.own), toward(w, y, x, y.own, x.own)
        up = up if inside else like(up, 0.0)
        down = down if inside else like(down, 0.0)
        return up * above - down * below, up * above + down * below, (up + down) * bend


def reads(part: Any) -> int:
    """Return how much of the ranking a part reads: 0, k for "which are the first k", or ALL."""
    return part.ranks() if hasattr(part, "ranks") else ALL
