"""Metrics: parts that value a ranking and know the change when two documents swap."""

from rankwood.metrics.binary import AP, RR, Precision, Recall
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.gains import Binary, Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.position import ARP, ARPK, RBP, ExpDCG
from rankwood.metrics.query import Query
from rankwood.metrics.shares import Cutoff, One, Places, Reachable, Relevant

__all__ = [
    "AP",
    "ARP",
    "ARPK",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "Binary",
    "Cutoff",
    "Exp",
    "ExpChance",
    "ExpDCG",
    "Linear",
    "LinearChance",
    "One",
    "PFound",
    "Places",
    "Precision",
    "Query",
    "Reachable",
    "Recall",
    "Relevant",
]
