"""JSON: the file of a `Forest` with the names of the target, which `rw.Forest.load` and walkers of 25 lines read."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankwood.export.reference import Semantics
from rankwood.export.same_arrays import own_semantics, own_trees
from rankwood.export.source import Source
from rankwood.export.trees import Trees


def trees(source: Source) -> Trees:
    """Return the trees as they are."""
    return own_trees(source.forest)


def write(source: Source) -> Iterator[str]:
    """Yield the file that `Forest.save` writes; the shift is part of the base."""
    named = replace(source.forest, feature_names=source.names, base=source.constant)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.json"
        named.save(path)
        yield path.read_text(encoding="utf-8")


def read(text: str, names: tuple[str, ...]) -> Trees:
    """Return the trees of a file, and its base as one more tree of one leaf."""
    found = json.loads(text)

    def array(name: str, kind: type) -> np.ndarray:
        return np.array(found[name], kind)

    first_node, first_leaf = array("first_node", np.int64), array("first_leaf", np.int64)
    return Trees(
        array("feature", np.int32),
        np.array([float(t) for t in found["threshold"]], np.float64),
        array("missing_left", bool),
        array("left", np.int32),
        array("right", np.int32),
        np.append(array("leaf_value", np.float64), found["base"]),
        np.append(first_node, first_node[-1]),
        np.append(first_leaf, first_leaf[-1] + 1),
        array("categorical", bool),
        array("category_first", np.int64),
        array("category", np.int64),
        -1.0 if found["engine"] == "lightgbm" else float(np.nextafter(0.0, -1.0)),
    )


def semantics(source: Source) -> tuple[Semantics, ...]:
    """Return how a walker scores."""
    return own_semantics(source.forest)


def upload(source: Source, path: str) -> str:
    """Return the lines that score documents by the file."""
    return f'rankwood.Forest.load("{path}").predict(X)'
