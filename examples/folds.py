"""Data sets as they come: five parts to rotate, one file, or a split that somebody else made."""

from pathlib import Path

import numpy as np

import rankwood as rw
from rankwood.datasets import load_splits


def splits(folder, threads=None, absent=0.0, folds=None):
    """Return (train, valid, test) of each fold of a folder, or None after a note if there is no such folder.

    `rankwood.datasets.load_splits` says which layouts are known; `folds` are the numbers of those to read, from 1.
    """
    if not Path(folder).is_dir():
        print(f"Skipped: there is no folder {folder}.")
        return None
    found = load_splits(folder, absent=absent, n_jobs=threads, folds=folds)
    return [(split.train, split.valid, split.test) for split in found]


def five_folds(folder, threads=None, absent=0.0):
    """Return the same, but five folds of all queries of LightGBM's example, whose own test part has 50 queries."""
    found = splits(folder, threads, absent)
    if found is None or not (Path(folder) / "rank.train").is_file():
        return found
    whole = rw.RankingData.concat(list(found[0]))
    turn = np.arange(whole.groups.ids.size) % 5
    parts = [whole.select(turn == i) for i in range(5)]
    made = []
    for number in range(5):
        one, two, three, valid, test = (parts[(number + step) % 5] for step in range(5))
        made.append((rw.RankingData.concat([one, two, three]), valid, test))
    return made
