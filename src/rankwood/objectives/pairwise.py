"""The pairwise objective: a weight, a pair set, a loss, a scale, labels and noise put together."""

from dataclasses import replace
from typing import Any

from rankwood._kernels.parts import ALL, all_parts, part
from rankwood._util import checks
from rankwood.objectives._kernels.arranging import (
    ClassesApart,
    InRankOrder,
    InRankOrderForBands,
    ListedAnchors,
    ListedClassesApart,
)
from rankwood.objectives._kernels.pairwise import Steps
from rankwood.objectives._kernels.ranking import (
    OneRanking,
    RankAll,
    RankFirst,
    RankNone,
    SeveralRankings,
)
from rankwood.objectives._kernels.sums import DocumentSums, LiftedSums, MeanDocumentSums
from rankwood.objectives._kernels.verbs import Loss, Noise, Pairs, Scale, Weight, list_anchors
from rankwood.objectives._kernels.verbs import partners as partners_verb
from rankwood.objectives._kernels.visiting import Bands, FourAtATime, OneByOne
from rankwood.objectives.parts.labels import Graded, Labels
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.parts.pairs import All, reads
from rankwood.objectives.parts.scales import NoScale
from rankwood.objectives.parts.weights import Swap, fused, looks_up, together


@part
class Lambda:
    r"""A pairwise objective :math:`L = c \sum w_{ab} \, \ell(s_a - s_b)` over pairs with labels :math:`y_a > y_b`.

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
        What perturbs the scores before documents are ranked. The loss sees the scores themselves.
    draws : int
        Rankings drawn if there is noise; the lambdas are their mean.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, Top, Uniform
    >>> rw.gradients(Lambda(weight=Uniform(), pairs=Top(1)), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    weight: Weight = Swap()
    pairs: Pairs = All()
    loss: Loss = Logistic()
    scale: Scale = NoScale()
    labels: Labels = Graded()
    noise: Noise = NoNoise()
    draws: int = 1

    def check(self) -> None:
        """Raise if parts contradict each other."""
        rel = max(getattr(x, "rel", 1.0) for x in all_parts(self.weight))
        if self.labels.two_classes and rel > 1.0:
            raise checks.InputError(
                f"{self.labels!r} makes labels 0 and 1, so that no document is relevant to a metric with "
                f"rel={rel:g}; leave the metric's rel at 1."
            )
        own_partners = partners_verb.verb.able(type(self.pairs))
        if list_anchors.verb.able(self.pairs) and own_partners:
            raise checks.InputError(
                f"{type(self.pairs).__name__} lists its anchors, and they pair with everyone after them: remove its "
                "method `partners`, or replace `list_anchors` by `count_anchors`."
            )

    def ranks(self) -> int:
        """Return how much of the ranking is read: nothing, which documents are the first k, or all."""
        return together(reads(self.weight), reads(self.pairs))

    def steps(self, lifted: bool = False) -> tuple["Lambda", Steps]:
        """Return the objective in the form in which it is computed, and how the kernel computes it.

        Parameters
        ----------
        lifted : bool
            Whether gradients are of ordered pairs of documents.
        """
        weight = fused(self.weight)
        depth = self.ranks()
        rank: Any = RankAll() if depth == ALL else RankFirst(depth) if depth else RankNone()
        noisy = not isinstance(self.noise, NoNoise)
        sums: Any = MeanDocumentSums() if noisy else DocumentSums()
        listed = list_anchors.verb.able(self.pairs)
        # Ordered pairs may have equal labels, so there is nothing to move apart.
        apart = self.labels.two_classes and not getattr(self.pairs, "both_directions", False)
        visit: Any = FourAtATime()
        if getattr(self.pairs, "band", False) and not listed and not looks_up(weight):
            # A band is visited where it is, in vectors of anchors: moving two classes apart would cost more.
            arrange: Any = InRankOrderForBands()
            visit = Bands()
        elif apart:
            arrange = ListedClassesApart() if listed else ClassesApart()
        else:
            arrange = ListedAnchors() if listed else InRankOrder()
        if getattr(self.pairs, "few", False) and not isinstance(visit, Bands):
            visit = OneByOne()
        return replace(self, weight=weight), Steps(
            rank=rank,
            draws=SeveralRankings() if noisy else OneRanking(),
            arrange=arrange,
            visit=visit,
            sums=LiftedSums() if lifted else sums,
        )
