"""How much memory training on pairs takes, and whether there is so much.

The bytes of a pair were measured as growth of a process's peak memory; estimates are meant to lie a little above it.
"""

from typing import NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.memory import available
from rankwood.engines.base import Task

_SUM = 16  # bytes of a bin's sums in a histogram
_MORE = 1.1  # for what isn't counted


class Size(NamedTuple):
    """What a training run's memory depends on."""

    pairs: int
    valid_pairs: int
    #: Documents of the longest query.
    longest: int
    #: Numbers in the feature matrices of both data sets.
    numbers: int
    features: int
    differences: int

    @property
    def columns(self) -> int:
        """Features of a pair."""
        return 2 * self.features + self.differences


def size_of(task: Task, differences: int) -> Size:
    """Return the size of a task, before any of its pairs are made."""
    features, valid = task.train.n_features, task.valid
    documents = len(task.train) + (0 if valid is None else len(valid))
    return Size(
        _pairs(task.groups.sizes),
        0 if valid is None else _pairs(valid.groups.sizes),
        int(task.groups.sizes.max(initial=0)),
        documents * features,
        features,
        differences,
    )


def check_pairtree(size: Size, leaves: int) -> None:
    """Raise if trees on pairs, whose features aren't stored, need more memory than there is."""
    instead = "keep fewer documents of each query (TwoStage(top=...)) or fewer queries."
    if 2 * _histograms(size, leaves) > pairtree(size, leaves):
        instead = f"most of it are the histograms of {leaves:,} leaves: set num_leaves lower."
    _check_room(
        pairtree(size, leaves),
        f"training on {size.pairs:,} ordered pairs of documents (the longest query has {size.longest:,} documents)",
        instead,
    )


def check_lightgbm(size: Size, leaves: int, bins: int, sample: int) -> None:
    """Raise if LightGBM on stored pairs needs more memory than there is."""
    _check_room(
        lightgbm(size, leaves, bins, sample),
        f"LightGBM would store {size.pairs + size.valid_pairs:,} pairs with {size.columns:,} features each, which",
        "engine='pairtree' trains the same objective without storing pairs.",
    )


def pairtree(size: Size, leaves: int) -> float:
    """Return the bytes that pair-trees take."""
    # Both directions of a difference share a byte, and four differences a word.
    pair = 90 + 2 * -(-size.differences // 4)
    stored = 5.0 * size.numbers + pair * size.pairs + 16 * size.valid_pairs
    return stored + _histograms(size, leaves)


def _histograms(size: Size, leaves: int) -> float:
    # Half of the leaves have a histogram at most; a feature's has up to 256 bins, or two for each document.
    documents = size.numbers // max(1, size.features)
    return float(_SUM * min(256, 2 * documents) * size.columns * (leaves // 2 + 1))


def lightgbm(size: Size, leaves: int, bins: int, sample: int) -> float:
    """Return the bytes that LightGBM takes: when it draws values to make bins from, when it fills them, or after."""
    drawn = min(size.pairs, sample)
    code = 1 if bins <= 256 else 2 if bins <= 65536 else 4
    histograms = _SUM * min(bins, drawn) * leaves
    column = max(
        20 * drawn,  # as rows, as columns, and the numbers of their rows
        12 * drawn + code * size.pairs,
        code * (size.pairs + size.valid_pairs) + histograms,
    )
    return 4.0 * size.numbers + 72 * size.pairs + 32 * size.valid_pairs + column * size.columns


def _check_room(needed: float, what: str, instead: str) -> None:
    there, needed = available(), _MORE * needed
    if needed > there:
        raise checks.InputError(
            f"{what} takes about {needed / 1e9:.3g} GB of memory, and there are {there / 1e9:.3g} GB; {instead}"
        )


def _pairs(sizes: np.ndarray) -> int:
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1)).sum())
