"""Trees on ordered pairs of documents of the same query, grown without ever storing the features of pairs."""

from rankwood.engines.pairtree.binning import Binned
from rankwood.engines.pairtree.forest import Forest
from rankwood.engines.pairtree.grower import Params, Tree, grow
from rankwood.engines.pairtree.layout import Layout

__all__ = ["Binned", "Forest", "Layout", "Params", "Tree", "grow"]
