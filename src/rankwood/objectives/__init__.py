"""Objectives: the parts that compose them.

`Lambda(weight=Swap(NDCG(ideal=10)), pairs=Top(10))` is LambdaRank; `rankwood.objective` has the names.
"""

from typing import Any

from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.lists.approx import ApproxNDCG
from rankwood.objectives.lists.given_pairs import RankNetPairs
from rankwood.objectives.lists.pointwise import RMSE, QueryRMSE
from rankwood.objectives.lists.softmax import XENDCG, ListNet, Softmax
from rankwood.objectives.lists.stochastic import StochasticRank
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.catboost_weights import (
    CatBoostAP,
    CatBoostERR,
    CatBoostRR,
    YetiAP,
    YetiRR,
)
from rankwood.objectives.parts.labels import Binary, Graded
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.missed import TopMissed
from rankwood.objectives.parts.ndcg_loss import NDCGLoss1, NDCGLoss2
from rankwood.objectives.parts.noise import GaussianNoise, GumbelNoise, LogisticNoise, NoNoise
from rankwood.objectives.parts.pairs import (
    AcrossCutoff,
    AcrossOrApart,
    All,
    BothDirections,
    Neighbours,
    RanksApart,
    ReachingBelow,
    Top,
)
from rankwood.objectives.parts.rank_distances import CutoffMultiplier, Geometric, RankGap
from rankwood.objectives.parts.scales import Log2Sum, NoScale
from rankwood.objectives.parts.weights import (
    ByDistance,
    LabelGap,
    Scaled,
    Sum,
    Swap,
    Uniform,
    WinnerLabel,
)

__all__ = [
    "RMSE",
    "XENDCG",
    "AcrossCutoff",
    "AcrossOrApart",
    "All",
    "ApproxNDCG",
    "Binary",
    "Bivariate",
    "BothDirections",
    "ByDistance",
    "CatBoostAP",
    "CatBoostERR",
    "CatBoostRR",
    "CutoffMultiplier",
    "GaussianNoise",
    "Geometric",
    "Graded",
    "GumbelNoise",
    "LabelGap",
    "Lambda",
    "ListNet",
    "Log2Sum",
    "Logistic",
    "LogisticNoise",
    "NDCGLoss1",
    "NDCGLoss2",
    "Neighbours",
    "NoNoise",
    "NoScale",
    "QueryRMSE",
    "RankGap",
    "RankNetPairs",
    "RanksApart",
    "ReachingBelow",
    "Scaled",
    "Softmax",
    "StochasticRank",
    "Sum",
    "Swap",
    "Top",
    "TopMissed",
    "Uniform",
    "WinnerLabel",
    "YetiAP",
    "YetiRR",
    "device_gradients",
]


def __getattr__(name: str) -> Any:
    if name == "device_gradients":  # it needs the names of objectives, which import this package
        from rankwood.objectives.cuda import device_gradients

        return device_gradients
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
