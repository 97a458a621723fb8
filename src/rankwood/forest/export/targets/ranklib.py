"""RankLib: LambdaMART as XML, by numbers of features and without missing values."""

import shlex
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.json_text import narrow
from rankwood.forest.export.reference import Semantics
from rankwood.forest.export.target_trees import FileNode, nested_text, read_trees, trees_of


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as the target has them."""
    return trees_of(model.forest, cuts.at_most_float32(model.forest.threshold))


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the model with one element a line: RankLib finds children by their place, and blanks would count."""
    arrays = trees(model)
    constant = narrow(model.constant)
    more = bool(constant) or not arrays.n_trees
    yield f"## LambdaMART\n## No. of trees = {arrays.n_trees + more}\n\n<ensemble>\n"
    for tree in range(arrays.n_trees):
        yield f'<tree id="{tree + 1}" weight="1.0">\n'
        yield "".join(_tree(arrays, tree))
        yield "</tree>\n"
    if more:
        leaf = f"<split>\n<output> {constant!r} </output>\n</split>\n"
        yield f'<tree id="{arrays.n_trees + 1}" weight="1.0">\n{leaf}</tree>\n'
    yield "</ensemble>\n"


def _tree(arrays: TreeArrays, tree: int) -> Iterator[str]:
    """Yield a tree; features count from 1."""
    first, first_leaf = int(arrays.first_node[tree]), int(arrays.first_leaf[tree])
    thresholds = cuts.as_written(arrays.threshold[first : int(arrays.first_node[tree + 1])])
    leaves = cuts.as_written(arrays.leaf_value[first_leaf : int(arrays.first_leaf[tree + 1])])

    def opening(node: int) -> str:
        return (
            f"<feature> {arrays.feature[node] + 1} </feature>\n<threshold> {thresholds[node - first]!r} </threshold>\n"
            '<split pos="left">\n'
        )

    def leaf(index: int) -> str:
        return f"<output> {leaves[index - first_leaf]!r} </output>\n"

    yield "<split>\n"
    yield from nested_text(
        arrays, tree, opening, leaf, '</split>\n<split pos="right">\n', "</split>\n"
    )
    yield "</split>\n"


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file, in float32; a missing value is 0 before a split sees it."""

    def roots() -> Iterator[ElementTree.Element]:
        start = text.find("<tree ")
        while start >= 0:
            end = text.index("</tree>", start) + len("</tree>")
            yield ElementTree.fromstring(text[start:end])[0]
            start = text.find("<tree ", end)

    def describe(split: ElementTree.Element) -> FileNode:
        if split[0].tag == "output":
            return FileNode(float(split[0].text or ""))
        feature, threshold, left, right = split
        return FileNode(
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
_SEMANTICS = (Semantics("float", features=_without_missing),)


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how the target scores."""
    return _SEMANTICS


def upload(model: ExportedModel, path: str) -> str:
    """Return the command that scores a file of documents by the model."""
    return f"java -jar RankLib.jar -load {shlex.quote(path)} -rank test.txt -score scores.txt"
