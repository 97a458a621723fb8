"""Pair sets: which pairs of ranks the loop visits."""

from rankwood._jit import part
from rankwood.objectives import verbs  # noqa: F401  (the verbs must exist before the parts)


@part
class All:
    """Every pair."""

    def select(self, n):
        return n


@part
class Top:
    """Pairs whose better placed document is among the first k."""

    k: int = 30

    def select(self, n):
        return min(self.k, n)
