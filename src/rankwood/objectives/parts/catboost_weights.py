"""Weights of CatBoost's LambdaMart and YetiLoss, where they differ from the change of the metric.

They are kept to reproduce published results; `Swap(RR())` and the others are exact.
"""

from collections import namedtuple

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import like, part
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)

#: By rank: 1 / position, 1 if relevant, sum of 1 / position over relevant documents above; and 1 / position
#: of the first and of the second relevant document.
Reciprocal = namedtuple("Reciprocal", "inverse relevant above first second")


def reciprocal(self, q, worth):
    """Record `Reciprocal` of a ranking: `prepare` of the weights that read it."""
    n = q.slot.size
    columns = np.empty((3, n), q.table.dtype)
    total = first = second = like(q.table[0], 0.0)
    for i in range(n):
        inverse = like(q.table[0], 1.0) / like(q.table[0], i + 1)
        columns[0, i] = inverse
        columns[1, i] = like(q.table[0], 1.0) if q.label[i] > 0 else like(q.table[0], 0.0)
        columns[2, i] = total
        if q.label[i] > 0:
            if first == 0:
                first = inverse
            elif second == 0:
                second = inverse
            total += inverse
    return Reciprocal(columns[0], columns[1], columns[2], first, second)


@part
class CatBoostRR:
    """Reciprocal rank: a document that isn't the first relevant one gains 1/a - 1/b, more than the metric does."""

    prepare = reciprocal

    def weight(self, x, y, a, b):
        up, low = max(a.inverse, b.inverse), min(a.inverse, b.inverse)
        upper_is_relevant = (a.relevant > b.relevant) == (a.inverse > b.inverse)
        fall = up - max(low, a.second) if up == a.first else like(up, 0.0)
        rise = up - low if up > a.first else like(up, 0.0)
        differ = a.relevant != b.relevant
        return (fall if upper_is_relevant else rise) if differ else like(up, 0.0)


@part
class CatBoostAP:
    """Average precision: 1/a, and the relevant documents between if the upper document isn't relevant."""

    prepare = reciprocal

    def weight(self, x, y, a, b):
        up = max(a.inverse, b.inverse)
        upper_is_relevant = (a.relevant > b.relevant) == (a.inverse > b.inverse)
        between = like(up, 0.0) if upper_is_relevant else abs(a.above - b.above)
        return up + between if a.relevant != b.relevant else like(up, 0.0)


#: By rank: stop probability, 1 / position, probability to get there, class of the label. Tables by class and
#: rank, for the list without documents of that class: probability to get there, expected reciprocal rank above.
Cascade = namedtuple("Cascade", "stop inverse reach kind reached found")


@part
class CatBoostERR:
    """Expected reciprocal rank: documents between with the label of the upper one are left out of the middle."""

    max_label: float = 4.0

    def check(self) -> None:
        checks.positive(self.max_label, "CatBoostERR.max_label")

    def check_labels(self, y: np.ndarray) -> None:
        """Raise unless all labels are at most `max_label`."""
        if y.size and y.max() > self.max_label:
            row = int(np.argmax(y))
            raise checks.InputError(
                f"ERR needs labels of at most max_label={self.max_label:g}, got {y[row]:g} at row {row}; "
                "give the highest label as max_label."
            )

    def prepare(self, q, worth):
        n, zero = q.slot.size, like(q.table[0], 0.0)
        columns = np.empty((4, n), q.table.dtype)
        kinds = 0
        for i in range(n):
            columns[0, i] = q.label[i] / self.max_label
            columns[1, i] = like(zero, 1.0) / like(zero, i + 1)
            columns[2, i] = (
                like(zero, 1.0) if i == 0 else columns[2, i - 1] * (1 - columns[0, i - 1])
            )
            columns[3, i] = kinds
            for j in range(i):
                if q.label[j] == q.label[i]:
                    columns[3, i] = columns[3, j]
                    break
            if columns[3, i] == kinds:
                kinds += 1
        tables = np.zeros((2, kinds, n), q.table.dtype)
        for kind in range(kinds):
            reached, found = like(zero, 1.0), zero
            for i in range(n):
                tables[0, kind, i], tables[1, kind, i] = reached, found
                if columns[3, i] != kind:
                    found += reached * columns[0, i] * columns[1, i]
                    reached *= 1 - columns[0, i]
        return Cascade(columns[0], columns[1], columns[2], columns[3], tables[0], tables[1])

    def weight(self, x, y, a, b):
        x_above = a.inverse > b.inverse
        kind = np.int64(a.kind if x_above else b.kind)
        up, low = np.int64(min(x.rank, y.rank)), np.int64(max(x.rank, y.rank))
        head = a.reach if x_above else b.reach
        start = a.reached[kind, up]
        if start == 0 or head == 0:
            return like(a.stop, 0.0)
        between = (a.found[kind, low] - a.found[kind, up]) / start
        rest = a.reached[kind, low] / start
        inside = max(a.inverse, b.inverse) - between - rest * min(a.inverse, b.inverse)
        return head * abs(a.stop - b.stop) * abs(inside)


@part
class YetiRR:
    """Reciprocal rank: 1/a - 1/b if no relevant document is above both; exact for neighbours [whichtricks2023]."""

    prepare = reciprocal

    def weight(self, x, y, a, b):
        up, low = max(a.inverse, b.inverse), min(a.inverse, b.inverse)
        counts = a.relevant != b.relevant and up >= a.first
        return up - low if counts else like(up, 0.0)


@part
class YetiAP:
    """Average precision: 1/a and 1/m of the relevant documents between a and b [whichtricks2023]."""

    prepare = reciprocal

    def weight(self, x, y, a, b):
        up = max(a.inverse, b.inverse)
        # `above` counts the upper document too if it is relevant.
        upper = a.relevant if a.inverse > b.inverse else b.relevant
        between = abs(a.above - b.above) - upper * up
        return up + between if a.relevant != b.relevant else like(up, 0.0)
