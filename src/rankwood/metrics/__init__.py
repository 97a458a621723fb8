"""Metrics: parts that value a ranking and know the change when two documents swap."""

from rankwood.metrics.binary import AP, RR, Precision, Recall
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.gains import AtLeast, Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.position import ARP, ARPK, RBP, ExpDCG
from rankwood.metrics.query import Query
from rankwood.metrics.shares import Cutoff, Places, Reachable, Relevant, Undivided

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
    "PFound",
    "Places",
    "Precision",
    "Query",
    "Reachable",
    "Recall",
    "Relevant",
    "Undivided",
]
