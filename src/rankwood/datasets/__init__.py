"""Public data sets: a catalogue, readers for the layouts in which they are distributed, and descriptions."""

from rankwood.datasets.conversion import Conversion, convert
from rankwood.datasets.count_check import Check, check
from rankwood.datasets.description import Description, describe
from rankwood.datasets.public_sets import DataSet, PublishedCounts, catalogue, find
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
