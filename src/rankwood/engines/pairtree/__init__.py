"""Trees on ordered pairs of documents of the same query, grown without storing features of pairs [bivariate2024]."""

from rankwood.engines.pairtree.binning import Binned
from rankwood.engines.pairtree.forest import Forest
from rankwood.engines.pairtree.grower import Grower, grow
from rankwood.engines.pairtree.layout import Layout
from rankwood.engines.pairtree.tree import Params, Tree

__all__ = ["Binned", "Forest", "Grower", "Layout", "Params", "Tree", "grow"]
