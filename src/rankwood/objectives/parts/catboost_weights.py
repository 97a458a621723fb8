"""Weights of CatBoost's LambdaMart and YetiLoss, where they differ from the change of the metric.

They are kept to reproduce published results; `Swap(RR())` and the others are exact.
"""

from collections import namedtuple
from typing import ClassVar

import numpy as np

from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood._util import checks

#: By rank: 1 / position, 1 if relevant, sum of 1 / position over relevant documents above. Of the query: 1 / position
#: of the first and of the second relevant document.
Reciprocal = namedtuple("Reciprocal", "inverse relevant above first second")


class _OfReciprocalRanks:
    """What the weights for the reciprocal rank and for average precision know of a ranking."""

    columns: ClassVar[tuple[str, ...]] = ("inverse", "relevant", "above")

    def prepare(self, ranked, values, room):
        zero = as_type_of(ranked.discount[0], 0.0)
        total = first = second = zero
        for i in range(ranked.slot.size):
            inverse = as_type_of(zero, 1.0) / as_type_of(zero, i + 1)
            room.inverse[i] = inverse
            room.relevant[i] = as_type_of(zero, 1.0) if ranked.label[i] > 0 else zero
            room.above[i] = total
            if ranked.label[i] > 0:
                if first == 0:
                    first = inverse
                elif second == 0:
                    second = inverse
                total += inverse
        return Reciprocal(room.inverse, room.relevant, room.above, first, second)


@part
class CatBoostRR(_OfReciprocalRanks):
    """CatBoost's weight of a pair for the reciprocal rank; a < b are the positions of its documents.

    If the upper document is relevant, the weight is what the metric loses by a swap. If the lower one is, the weight
    is 1/a - 1/b, or 0 if a relevant document is above both. The metric gains less where another relevant document
    lies between them.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import CatBoostRR, Lambda
    >>> rw.gradients(Lambda(CatBoostRR()), [0, 1], [0.0, 0.0])[0].tolist()  # half of 1/1 - 1/2
    [0.25, -0.25]
    """

    def weight(self, a, b):
        one, two = a.own, b.own
        up, low = max(one.inverse, two.inverse), min(one.inverse, two.inverse)
        upper_is_relevant = (one.relevant > two.relevant) == (one.inverse > two.inverse)
        fall = up - max(low, one.second) if up == one.first else as_type_of(up, 0.0)
        rise = up - low if up > one.first else as_type_of(up, 0.0)
        differ = one.relevant != two.relevant
        return (fall if upper_is_relevant else rise) if differ else as_type_of(up, 0.0)


@part
class CatBoostAP(_OfReciprocalRanks):
    """CatBoost's weight of a pair for average precision; a < b are the positions of its documents.

    The weight is 1/a. If the lower document is the relevant one, each relevant document at a position m between them
    adds 1/m.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import CatBoostAP, Lambda
    >>> rw.gradients(Lambda(CatBoostAP()), [1, 0], [0.0, 0.0])[0].tolist()  # half of 1/1
    [-0.5, 0.5]
    """

    def weight(self, a, b):
        one, two = a.own, b.own
        up = max(one.inverse, two.inverse)
        upper_is_relevant = (one.relevant > two.relevant) == (one.inverse > two.inverse)
        between = as_type_of(up, 0.0) if upper_is_relevant else abs(one.above - two.above)
        return up + between if one.relevant != two.relevant else as_type_of(up, 0.0)


@part
class YetiRR(_OfReciprocalRanks):
    """YetiLoss's weight of a pair for the reciprocal rank [whichtricks2023]; a < b are the positions of its documents.

    The weight is 1/a - 1/b, or 0 if a relevant document is above both. For neighbours it is the change of the metric
    by a swap.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, YetiRR
    >>> rw.gradients(Lambda(YetiRR()), [0, 1], [0.0, 0.0])[0].tolist()  # half of 1/1 - 1/2
    [0.25, -0.25]
    """

    def weight(self, a, b):
        one, two = a.own, b.own
        up, low = max(one.inverse, two.inverse), min(one.inverse, two.inverse)
        counts = one.relevant != two.relevant and up >= one.first
        return up - low if counts else as_type_of(up, 0.0)


@part
class YetiAP(_OfReciprocalRanks):
    """YetiLoss's weight of a pair for average precision [whichtricks2023]; a < b are the positions of its documents.

    The weight is 1/a, and each relevant document at a position m between them adds 1/m.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, YetiAP
    >>> rw.gradients(Lambda(YetiAP()), [0, 1], [0.0, 0.0])[0].tolist()  # half of 1/1
    [0.5, -0.5]
    """

    def weight(self, a, b):
        one, two = a.own, b.own
        up = max(one.inverse, two.inverse)
        # `above` counts the upper document too if it is relevant.
        upper = one.relevant if one.inverse > two.inverse else two.relevant
        between = abs(one.above - two.above) - upper * up
        return up + between if one.relevant != two.relevant else as_type_of(up, 0.0)


#: By rank: stop probability, 1 / position, probability to get there, number of the label. Tables by label and rank,
#: for the list without documents of that label: probability to get there, expected reciprocal rank above.
CascadeByLabel = namedtuple("CascadeByLabel", "stop inverse reach kind reached found")


@part
class CatBoostERR:
    """CatBoost's weight of a pair for the expected reciprocal rank.

    The weight is the change of the metric by a swap, but documents between the two that have the label of the upper
    one are omitted. The probability that a document satisfies is its label over `max_label`.

    Parameters
    ----------
    max_label : float
        Largest label that can occur.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import CatBoostERR, Lambda
    >>> rw.gradients(Lambda(CatBoostERR(max_label=1.0)), [0, 1], [0.0, 0.0])[0].tolist()  # half of 1/1 - 1/2
    [0.25, -0.25]
    """

    max_label: Positive = 4.0
    columns: ClassVar[tuple[str, ...]] = ("stop", "inverse", "reach", "kind")
    tables_by_label: ClassVar[tuple[str, ...]] = ("reached", "found")

    def check_labels(self, y: np.ndarray) -> None:
        """Raise unless all labels are at most `max_label`."""
        if y.size and y.max() > self.max_label:
            row = int(np.argmax(y))
            raise checks.InputError(
                f"ERR needs labels of at most max_label={self.max_label:g}, got {y[row]:g} at row {row}; "
                "give the highest label as max_label."
            )

    def prepare(self, ranked, values, room):
        n, zero = ranked.slot.size, as_type_of(ranked.discount[0], 0.0)
        one, kinds = as_type_of(zero, 1.0), 0
        for i in range(n):
            room.stop[i] = ranked.label[i] / self.max_label
            room.inverse[i] = one / as_type_of(zero, i + 1)
            room.reach[i] = one if i == 0 else room.reach[i - 1] * (1 - room.stop[i - 1])
            room.kind[i] = kinds if i < ranked.n else 0
            for j in range(i):
                if ranked.label[j] == ranked.label[i]:
                    room.kind[i] = room.kind[j]
                    break
            if i < ranked.n and room.kind[i] == kinds:
                kinds += 1
        for kind in range(kinds):
            reached, found = one, zero
            for i in range(n):
                room.reached.values[kind, i], room.found.values[kind, i] = reached, found
                if room.kind[i] != kind:
                    found += reached * room.stop[i] * room.inverse[i]
                    reached *= 1 - room.stop[i]
        return CascadeByLabel(
            room.stop, room.inverse, room.reach, room.kind, room.reached, room.found
        )

    def weight(self, a, b):
        one, two = a.own, b.own
        a_is_above = one.inverse > two.inverse
        kind = np.int64(one.kind if a_is_above else two.kind)
        up, low = np.int64(min(a.rank, b.rank)), np.int64(max(a.rank, b.rank))
        head = one.reach if a_is_above else two.reach
        start = one.reached.values[kind, up]
        if start == 0 or head == 0:
            return as_type_of(one.stop, 0.0)
        between = (one.found.values[kind, low] - one.found.values[kind, up]) / start
        rest = one.reached.values[kind, low] / start
        inside = max(one.inverse, two.inverse) - between - rest * min(one.inverse, two.inverse)
        return head * abs(one.stop - two.stop) * abs(inside)
