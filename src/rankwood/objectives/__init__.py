"""Objectives: the parts that compose them.

`Lambda(weight=Swap(NDCG(ideal=10)), pairs=Top(10))` is LambdaRank; `rankwood.objective` has the names.
"""

from rankwood.objectives.labels import Binary, Graded
from rankwood.objectives.losses import Logistic
from rankwood.objectives.missed import TopMissed
from rankwood.objectives.pairs import Across, All, Apart, Beyond, Either, Exactly, Ordered, Top
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.scales import Log2Sum, NoScale
from rankwood.objectives.weights import (
    ByDistance,
    Cross,
    Gap,
    LabelGap,
    LabelOf,
    Loss1,
    Loss2,
    One,
    Sum,
    Swap,
    Times,
)

__all__ = [
    "Across",
    "All",
    "Apart",
    "Beyond",
    "Binary",
    "ByDistance",
    "Cross",
    "Either",
    "Exactly",
    "Gap",
    "Graded",
    "LabelGap",
    "LabelOf",
    "Lambda",
    "Log2Sum",
    "Logistic",
    "Loss1",
    "Loss2",
    "NoScale",
    "One",
    "Ordered",
    "Sum",
    "Swap",
    "Times",
    "Top",
    "TopMissed",
]
