"""JSON: the file of a `Forest` with the names of the target, which `rw.Forest.load` and walkers of 25 lines read."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankwood.engines.model_trees.arrays import ARRAYS, WALKED, TreeArrays, min_category
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.reference import Semantics, engine_semantics


def trees(model: ExportedModel) -> TreeArrays:
    """Return the trees as they are."""
    return model.forest.arrays


def write(model: ExportedModel) -> Iterator[str]:
    """Yield the file that `Forest.save` writes; the shift is part of the base."""
    named = replace(model.forest, feature_names=model.names, base=model.constant)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.json"
        named.save(path)
        yield path.read_text(encoding="utf-8")


def read(text: str, names: tuple[str, ...]) -> TreeArrays:
    """Return the trees of a file, and its base as one more tree of one leaf."""
    content = json.loads(text)
    content["threshold"] = [float(t) for t in content["threshold"]]  # "inf" is a word there
    arrays = {name: np.array(content[name], ARRAYS[name]) for name in WALKED}
    first_node, first_leaf = arrays["first_node"], arrays["first_leaf"]
    arrays["leaf_value"] = np.append(arrays["leaf_value"], content["base"])
    arrays["first_node"] = np.append(first_node, first_node[-1])
    arrays["first_leaf"] = np.append(first_leaf, first_leaf[-1] + 1)
    return TreeArrays(**arrays, min_category=min_category(content["engine"]))


def semantics(model: ExportedModel) -> tuple[Semantics, ...]:
    """Return how a walker scores."""
    return engine_semantics(model.forest)


def upload(model: ExportedModel, path: str) -> str:
    """Return the lines that score documents by the file."""
    return f'rankwood.Forest.load("{path}").predict(X)'
