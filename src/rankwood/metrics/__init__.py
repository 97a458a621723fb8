"""Metrics: parts that value a ranking and know the change when two documents swap."""

from rankwood.metrics.dcg import DCG, NDCG, Exp, Linear
from rankwood.metrics.query import Query

__all__ = ["DCG", "NDCG", "Exp", "Linear", "Query"]
