"""Objectives: the parts that compose them.

`Lambda(weight=Swap(NDCG(ideal=10)), pairs=Top(10))` is LambdaRank; `rankwood.objective` has the names.
"""

from rankwood.objectives.losses import Logistic
from rankwood.objectives.pairs import All, Top
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.scales import Log2Sum, NoScale
from rankwood.objectives.weights import ByDistance, Swap

__all__ = ["All", "ByDistance", "Lambda", "Log2Sum", "Logistic", "NoScale", "Swap", "Top"]
