"""Objectives: the parts that compose them.

`Lambda(weight=Swap(NDCG(ideal=10)), pairs=Top(10))` is LambdaRank; `rankwood.objective` has the names.
"""

from rankwood.objectives.approx import ApproxNDCG
from rankwood.objectives.labels import Binary, Graded, Marked
from rankwood.objectives.losses import Logistic
from rankwood.objectives.missed import TopMissed
from rankwood.objectives.noise import GaussianNoise, LogisticNoise, Still
from rankwood.objectives.pairs import (
    Across,
    All,
    Apart,
    Beyond,
    Either,
    Exactly,
    Near,
    Ordered,
    Top,
)
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.pointwise import QueryRMSE
from rankwood.objectives.scales import Log2Sum, NoScale
from rankwood.objectives.softmax import XENDCG, ListNet, Softmax
from rankwood.objectives.stochastic import StochasticRank
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
    "XENDCG",
    "Across",
    "All",
    "Apart",
    "ApproxNDCG",
    "Beyond",
    "Binary",
    "ByDistance",
    "Cross",
    "Either",
    "Exactly",
    "Gap",
    "GaussianNoise",
    "Graded",
    "LabelGap",
    "LabelOf",
    "Lambda",
    "ListNet",
    "Log2Sum",
    "Logistic",
    "LogisticNoise",
    "Loss1",
    "Loss2",
    "Marked",
    "Near",
    "NoScale",
    "One",
    "Ordered",
    "QueryRMSE",
    "Softmax",
    "Still",
    "StochasticRank",
    "Sum",
    "Swap",
    "Times",
    "Top",
    "TopMissed",
]
