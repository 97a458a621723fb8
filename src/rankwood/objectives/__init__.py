"""Objectives: the parts that compose them.

`Lambda(weight=Swap(NDCG(ideal=10)), pairs=Top(10))` is LambdaRank; `rankwood.objective` has the names.
"""

from rankwood.objectives.approx import ApproxNDCG
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Binary, Graded, Marked
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.missed import TopMissed
from rankwood.objectives.parts.noise import GaussianNoise, LogisticNoise, NoNoise
from rankwood.objectives.parts.pairs import (
    Across,
    All,
    Apart,
    Beyond,
    BothDirections,
    Either,
    Exactly,
    Neighbours,
    Top,
)
from rankwood.objectives.parts.scales import Log2Sum, NoScale
from rankwood.objectives.parts.weights import (
    ByDistance,
    Cross,
    Gap,
    LabelGap,
    NDCGLoss1,
    NDCGLoss2,
    Scaled,
    Sum,
    Swap,
    Uniform,
    WinnerLabel,
)
from rankwood.objectives.pointwise import QueryRMSE
from rankwood.objectives.softmax import XENDCG, ListNet, Softmax
from rankwood.objectives.stochastic import StochasticRank

__all__ = [
    "XENDCG",
    "Across",
    "All",
    "Apart",
    "ApproxNDCG",
    "Beyond",
    "Binary",
    "BothDirections",
    "ByDistance",
    "Cross",
    "Either",
    "Exactly",
    "Gap",
    "GaussianNoise",
    "Graded",
    "LabelGap",
    "Lambda",
    "ListNet",
    "Log2Sum",
    "Logistic",
    "LogisticNoise",
    "Marked",
    "NDCGLoss1",
    "NDCGLoss2",
    "Neighbours",
    "NoNoise",
    "NoScale",
    "QueryRMSE",
    "Scaled",
    "Softmax",
    "StochasticRank",
    "Sum",
    "Swap",
    "Top",
    "TopMissed",
    "Uniform",
    "WinnerLabel",
]
