"""Trees on ordered pairs of documents of the same query, grown without storing features of pairs [bivariate2024]."""

from rankwood.engines.pairtree.binning import BinnedData
from rankwood.engines.pairtree.forest import PairForest
from rankwood.engines.pairtree.grower import Grower, grow
from rankwood.engines.pairtree.pair_layout import PairLayout
from rankwood.engines.pairtree.tree import Params, Tree

__all__ = ["BinnedData", "Grower", "PairForest", "PairLayout", "Params", "Tree", "grow"]
