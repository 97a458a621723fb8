"""Public data sets: which there are, how to read them as they are distributed, and what is in them."""

from rankwood.datasets.checking import Check, check
from rankwood.datasets.conversion import Conversion, convert
from rankwood.datasets.description import Description, describe
from rankwood.datasets.published import DataSet, PublishedCounts, catalogue, find
from rankwood.datasets.splits import Split, load_splits

__all__ = [
    "Check",
    "Conversion",
    "DataSet",
    "Description",
    "PublishedCounts",
    "Split",
    "catalogue",
    "check",
    "convert",
    "describe",
    "find",
    "load_splits",
]
