"""RankLib: LambdaMART as XML, by numbers of features and without missing values."""

import shlex
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

from rankwood.export import rules
from rankwood.export.reference import Semantics, at_most, is_nan, sum_in_order
from rankwood.export.source import Source
from rankwood.export.text import narrow
from rankwood.export.trees import Node, Trees, nested, read_trees, trees_of


def trees(source: Source) -> Trees:
    """Return the trees as the target has them."""
    return trees_of(source.forest, rules.at_most_float32(source.forest.threshold))


def write(source: Source) -> Iterator[str]:
    """Yield the model with one element a line: RankLib finds children by their place, and blanks would count."""
    made = trees(source)
    constant = narrow(source.constant)
    more = bool(constant) or not made.n_trees
    yield f"## LambdaMART\n## No. of trees = {made.n_trees + more}\n\n<ensemble>\n"
    for tree in range(made.n_trees):
        yield f'<tree id="{tree + 1}" weight="1.0">\n'
        yield "".join(_tree(made, tree))
        yield "</tree>\n"
    if more:
        leaf = f"<split>\n<output> {constant!r} </output>\n</split>\n"
        yield f'<tree id="{made.n_trees + 1}" weight="1.0">\n{leaf}</tree>\n'
    yield "</ensemble>\n"


def _tree(made: Trees, tree: int) -> Iterator[str]:
    """Yield a tree; features count from 1."""
    first, first_leaf = int(made.first_node[tree]), int(made.first_leaf[tree])
    thresholds = rules.as_written(made.threshold[first : int(made.first_node[tree + 1])])
    leaves = rules.as_written(made.leaf_value[first_leaf : int(made.first_leaf[tree + 1])])

    def opening(node: int) -> str:
        return (
            f"<feature> {made.feature[node] + 1} </feature>\n<threshold> {thresholds[node - first]!r} </threshold>\n"
            '<split pos="left">\n'
        )

    def leaf(index: int) -> str:
        return f"<output> {leaves[index - first_leaf]!r} </output>\n"

    yield "<split>\n"
    yield from nested(made, tree, opening, leaf, '</split>\n<split pos="right">\n', "</split>\n")
    yield "</split>\n"


def read(text: str, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file, in float32; a missing value is 0 before a split sees it."""

    def roots() -> Iterator[ElementTree.Element]:
        start = text.find("<tree ")
        while start >= 0:
            end = text.index("</tree>", start) + len("</tree>")
            yield ElementTree.fromstring(text[start:end])[0]
            start = text.find("<tree ", end)

    def describe(split: ElementTree.Element) -> Node:
        if split[0].tag == "output":
            return Node(float(split[0].text or ""))
        feature, threshold, left, right = split
        return Node(
            feature=int(feature.text or "") - 1,
            threshold=float(threshold.text or ""),
            children=(left, right),
        )

    return read_trees(roots(), describe, np.float32)


def _without_missing(X: np.ndarray) -> np.ndarray:
    """Return features as float32, with 0 for missing ones."""
    narrow_X = X.astype(np.float32)
    return np.where(np.isnan(narrow_X), np.float32(0), narrow_X)


#: Split, Ensemble and DataPoint of RankLib, and of the plugins' model/ranklib: float32, x <= threshold, NaN is 0.
_SEMANTICS = (
    Semantics("float", features=_without_missing, left=at_most, missing=is_nan, total=sum_in_order),
)


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(source: Source, path: str) -> str:
    """Return the command that scores a file of documents by the model."""
    return f"java -jar RankLib.jar -load {shlex.quote(path)} -rank test.txt -score scores.txt"
