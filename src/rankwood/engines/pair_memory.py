"""Estimates of the memory that training on pairs takes, and checks that there is as much.

The bytes per pair were measured as the growth of a process's peak memory; estimates should lie a little above it.
"""

from typing import NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.memory import available
from rankwood.engines.base import TrainingTask

_BYTES_PER_BIN = 16  # of a histogram
_MARGIN = 1.1  # for what the estimates omit


class Size(NamedTuple):
    """The quantities that a training run's memory depends on."""

    pairs: int
    valid_pairs: int
    #: Documents of the longest query.
    longest_query: int
    #: Entries of the feature matrices of both data sets.
    entries: int
    features: int
    differences: int

    @property
    def columns(self) -> int:
        """Number of features of a pair."""
        return 2 * self.features + self.differences


def size_of(task: TrainingTask, differences: int) -> Size:
    """Return the size of a task, without making any of its pairs."""
    features, valid = task.train.n_features, task.valid
    documents = len(task.train) + (0 if valid is None else len(valid))
    return Size(
        pairs=_count_pairs(task.groups.sizes),
        valid_pairs=0 if valid is None else _count_pairs(valid.groups.sizes),
        longest_query=int(task.groups.sizes.max(initial=0)),
        entries=documents * features,
        features=features,
        differences=differences,
    )


def check_memory(size: Size, leaves: int) -> None:
    """Raise if training on pairs needs more memory than there is."""
    instead = "keep fewer documents of each query (TwoStage(top=...)) or fewer queries."
    if 2 * _histogram_bytes(size, leaves) > bytes_of(size, leaves):
        instead = f"most of it are the histograms of {leaves:,} leaves: set num_leaves lower."
    _check_room(
        bytes_of(size, leaves),
        f"training on {size.pairs:,} ordered pairs of documents "
        f"(the longest query has {size.longest_query:,} documents)",
        instead,
    )


def bytes_of(size: Size, leaves: int) -> float:
    """Return the bytes that training takes; features of pairs aren't stored."""
    # Both directions of a difference share one byte, and four differences share a word.
    pair = 90 + 2 * -(-size.differences // 4)
    stored = 5.0 * size.entries + pair * size.pairs + 16 * size.valid_pairs
    return stored + _histogram_bytes(size, leaves)


def _histogram_bytes(size: Size, leaves: int) -> float:
    """Return the bytes of histograms: half of the leaves have one at most.

    A feature's histogram has up to 256 bins, or two for each document.
    """
    documents = size.entries // max(1, size.features)
    return float(_BYTES_PER_BIN * min(256, 2 * documents) * size.columns * (leaves // 2 + 1))


def _check_room(needed: float, what: str, instead: str) -> None:
    """Raise unless so many bytes, and the margin, are available."""
    there, needed = available(), _MARGIN * needed
    if needed > there:
        raise checks.InputError(
            f"{what} takes about {needed / 1e9:.3g} GB of memory, and there are {there / 1e9:.3g} GB; {instead}"
        )


def _count_pairs(sizes: np.ndarray) -> int:
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1)).sum())
