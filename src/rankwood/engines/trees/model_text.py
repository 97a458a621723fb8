"""Trees as the text of a LightGBM model, version 4: forests, exports, the scorer and LightGBM itself read it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankwood.engines.trees.binning.bins import FeatureBins
from rankwood.engines.trees.grower import GrownTree

# Bits of `decision_type`: a split on categories, missing values go left, and missing values are NaN.
_CATEGORICAL, _LEFT, _NAN = 1, 2, 2 << 2
_SET_WORDS = ("set_0", "set_1", "set_2", "set_3")
_END = "end of trees\n\nfeature_importances:\n\nparameters:\n\nend of parameters\n\npandas_categorical:null\n"


def tree_text(tree: GrownTree, bins: Sequence[FeatureBins], learning_rate: float) -> str:
    """Return the lines of a tree, after the one with its number."""
    splits, leaves = tree.splits, tree.leaves
    thresholds, sets = _thresholds(splits, bins)
    lines: dict[str, Any] = {
        "num_leaves": [leaves.size],
        "num_cat": [len(sets)],
        "split_feature": splits["feature"],
        "split_gain": splits["gain"],
        "threshold": thresholds,
        "decision_type": _decision_types(splits, bins),
        "left_child": splits["left"],
        "right_child": splits["right"],
        "leaf_value": leaves["value"],
        "leaf_weight": leaves["hessian"],
        "leaf_count": leaves["count"],
        "internal_value": splits["value"],
        "internal_weight": splits["hessian"],
        "internal_count": splits["count"],
    }
    if sets:
        lines["cat_boundaries"] = np.cumsum([0, *map(len, sets)])
        lines["cat_threshold"] = np.concatenate(sets)
    lines |= {"is_linear": [0], "shrinkage": [learning_rate]}
    return "".join(f"{name}={_line(numbers)}\n" for name, numbers in lines.items()) + "\n\n"


def _line(numbers: Iterable[float]) -> str:
    """Return numbers as text that has all their digits."""
    return " ".join(map(repr, np.asarray(numbers).tolist()))


def _thresholds(
    splits: np.ndarray, bins: Sequence[FeatureBins]
) -> tuple[list[float], list[np.ndarray]]:
    """Return the largest value that each split sends left, or the number of its set of categories; and these sets."""
    thresholds: list[float] = []
    sets: list[np.ndarray] = []
    for split in splits:
        feature = bins[split["feature"]]
        if feature.categories is None:
            thresholds.append(float(feature.bounds[split["bin"]]))
        else:
            thresholds.append(len(sets))
            sets.append(_bits(feature.categories[_bins_of_set(split)]))
    return thresholds, sets


def _bins_of_set(split: np.void) -> np.ndarray:
    """Return the bins that go left."""
    words = np.array([split[name] for name in _SET_WORDS], np.uint64)
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def _bits(categories: np.ndarray) -> np.ndarray:
    """Return a set of categories as bits of words of 32 bits."""
    out = np.zeros(int(categories.max()) // 32 + 1, np.uint32)
    np.bitwise_or.at(out, categories // 32, np.uint32(1) << (categories % 32).astype(np.uint32))
    return out


def _decision_types(splits: np.ndarray, bins: Sequence[FeatureBins]) -> np.ndarray:
    """Return what the splits do with categories and missing values; without any in training, these are 0."""
    categorical = np.array([feature.categories is not None for feature in bins], bool)
    missing = np.array([feature.has_missing for feature in bins], bool)
    numbers, with_missing = splits["feature"], missing[splits["feature"]]
    kinds = np.where(with_missing, _NAN + _LEFT * splits["missing_left"], _LEFT)
    return np.where(categorical[numbers], _CATEGORICAL, kinds)


def model_text(trees: Sequence[str], bins: Sequence[FeatureBins]) -> str:
    """Return the text of a model with these trees."""
    blocks = [f"Tree={number}\n{tree}" for number, tree in enumerate(trees)]
    head = {
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": len(bins) - 1,
        "feature_names": " ".join(f"Column_{i}" for i in range(len(bins))),
        "feature_infos": " ".join(map(_info, bins)),
        "tree_sizes": " ".join(str(len(block)) for block in blocks),
    }
    lines = "".join(f"{name}={value}\n" for name, value in head.items())
    return f"tree\n{lines}\n{''.join(blocks)}{_END}"


def _info(feature: FeatureBins) -> str:
    """Return what LightGBM notes of the values of a feature: a range, categories, or none."""
    if feature.categories is not None:
        return ":".join(map(str, feature.categories.tolist())) or "none"
    bounds = feature.bounds[:-1].tolist()
    return f"[{bounds[0]!r}:{bounds[-1]!r}]" if bounds else "none"
