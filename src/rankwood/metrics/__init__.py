"""Metrics: parts that value a ranking and know the change when two documents swap."""

from rankwood.metrics.parts.binary import AP, Precision, Recall
from rankwood.metrics.parts.cascade import ERR, PFound
from rankwood.metrics.parts.costs import Cost, SwapCost
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.parts.divisors import Cutoff, NoDivisor, Places, Reachable, Relevant
from rankwood.metrics.parts.gains import AtLeast, Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.parts.hits import Hits, RPrecision, Success
from rankwood.metrics.parts.position import ARP, ARPK, RBP, ExpDCG
from rankwood.metrics.parts.reciprocal_rank import RR
from rankwood.metrics.ranked import Ranked

__all__ = [
    "AP",
    "ARP",
    "ARPK",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "AtLeast",
    "Cost",
    "Cutoff",
    "Exp",
    "ExpChance",
    "ExpDCG",
    "Hits",
    "Linear",
    "LinearChance",
    "NoDivisor",
    "PFound",
    "Places",
    "Precision",
    "RPrecision",
    "Ranked",
    "Reachable",
    "Recall",
    "Relevant",
    "Success",
    "SwapCost",
]
