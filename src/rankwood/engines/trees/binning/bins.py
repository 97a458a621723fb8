"""Bins of features, from a sample of documents."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from rankwood._kernels import threads
from rankwood.engines.trees.binning.bounds import BOUNDS, MOST_BINS, RADIX, find_bounds, sort_floats


class BinRules(NamedTuple):
    """Parameters of binning, by LightGBM's names."""

    max_bin: int = 255
    min_data_in_bin: int = 3


class FeatureBins(NamedTuple):
    """The bins of a feature: the largest value of each, or the category of each; missing values have one more."""

    bounds: np.ndarray
    has_missing: bool
    categories: np.ndarray | None = None

    @property
    def n_bins(self) -> int:
        """Number of bins without that of missing values."""
        return int(self.bounds.size if self.categories is None else self.categories.size)

    @property
    def n_codes(self) -> int:
        """Number of bins with that of missing values."""
        return self.n_bins + self.has_missing

    def code_bounds(self) -> np.ndarray:
        """Return the bounds whose number below a value is its code; a category stands for the number of its bin."""
        if self.categories is None:
            return self.bounds[:-1]
        return np.arange(self.categories.size - 1) + 0.5

    def missing_code(self) -> int:
        """Return the code of missing values: that of 0 if there were none in the sample, as in LightGBM."""
        return self.n_bins if self.has_missing else int(np.searchsorted(self.bounds[:-1], 0.0))

    def numbered(self, values: np.ndarray) -> np.ndarray:
        """Return categories as the numbers of their bins; NaN for those that have none."""
        assert self.categories is not None
        order = np.argsort(self.categories)
        ordered = self.categories[order]
        whole = np.trunc(values)
        place = np.minimum(np.searchsorted(ordered, whole), ordered.size - 1)
        known = (ordered[place] == whole) if ordered.size else np.zeros(values.size, bool)
        return np.where(known, order[place] if ordered.size else 0, np.nan)


def bins_of(
    sample: np.ndarray,
    missing: np.ndarray,
    categorical: Collection[int],
    rules: BinRules,
    n_jobs: int | None,
) -> list[FeatureBins]:
    """Return the bins of each feature, from a sample that has a row per feature and is overwritten.

    `missing` tells which features have missing values, in the sample or elsewhere.
    """
    bins: dict[int, FeatureBins] = {}

    def work(first: int, last: int) -> None:
        room = np.empty((2, sample.shape[1]), np.uint32), np.empty(RADIX, np.int64)
        for f in range(first, last):
            if f in categorical:
                bins[f] = _of_categories(sample[f], rules)
            else:
                bins[f] = _of_numbers(sample[f], bool(missing[f]), rules, room)

    threads.run_ranges(work, np.ones(sample.shape[0]), n_jobs)
    return [bins[f] for f in range(sample.shape[0])]


def _of_numbers(
    values: np.ndarray, has_missing: bool, rules: BinRules, room: tuple[np.ndarray, np.ndarray]
) -> FeatureBins:
    """Return the bins of a numerical feature."""
    present = values[~np.isnan(values)] if has_missing else values
    with np.errstate(over="ignore"):
        short = present.astype(np.float32)
    if (short == present).all():
        keys, other_keys = room[0][:, : short.size]
        sort_floats(short.view(np.uint32), keys, other_keys, room[1])
        present = short.astype(np.float64)
    else:
        present = np.sort(present)
    task = BOUNDS.memory(
        values=present,
        counts=np.empty(present.size + 1, np.int64),
        out=np.empty(MOST_BINS + 2),
        size=present.size,
        max_bin=rules.max_bin - has_missing,
        min_data=rules.min_data_in_bin,
    )
    size = find_bounds(task.table)
    return FeatureBins(task.out[:size].copy(), has_missing)


def _of_categories(values: np.ndarray, rules: BinRules) -> FeatureBins:
    """Return the bins of a categorical feature: the most frequent categories have one each; rare ones are missing."""
    known = values[values >= 0]  # NaN isn't
    categories, counts = np.unique(np.trunc(known), return_counts=True)
    order = np.lexsort((categories, -counts))[: rules.max_bin - 1]
    # LightGBM's rule: two categories have a bin in any case, others if they are frequent enough.
    frequent = (counts[order] >= rules.min_data_in_bin) | (np.arange(order.size) < 2)
    kept = categories[order[frequent]].astype(np.int64)
    return FeatureBins(np.zeros(0), True, kept)
