"""Metrics: parts that value a ranking and know the change when two documents swap."""

from rankwood.metrics.binary import AP, RR, Precision, Recall
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.divisors import Cutoff, NoDivisor, Places, Reachable, Relevant
from rankwood.metrics.gains import AtLeast, Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.position import ARP, ARPK, RBP, ExpDCG
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
    "Cutoff",
    "Exp",
    "ExpChance",
    "ExpDCG",
    "Linear",
    "LinearChance",
    "NoDivisor",
    "PFound",
    "Places",
    "Precision",
    "Ranked",
    "Reachable",
    "Recall",
    "Relevant",
]
