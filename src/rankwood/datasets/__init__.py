"""Public data sets: which there are, how to read them as they are distributed, and what is in them."""

from rankwood.datasets.published import DataSet, PublishedCounts, catalogue, find
from rankwood.datasets.splits import Split, load_splits

__all__ = ["DataSet", "PublishedCounts", "Split", "catalogue", "find", "load_splits"]
