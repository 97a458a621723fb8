"""Metrics: parts that value a ranking and know the change when two documents swap."""

from typing import Any

from rankwood._core import former
from rankwood.metrics.binary import AP, Precision, Recall
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.divisors import Cutoff, NoDivisor, Places, Reachable, Relevant
from rankwood.metrics.gains import AtLeast, Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.hits import Hits, RPrecision, Success
from rankwood.metrics.position import ARP, ARPK, RBP, ExpDCG
from rankwood.metrics.ranked import Ranked
from rankwood.metrics.reciprocal_rank import RR
from rankwood.metrics.registry import FORMER_PARTS as _FORMER_PARTS

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
]


def __getattr__(name: str) -> Any:
    return former.attribute(__name__, _FORMER_PARTS, name)
