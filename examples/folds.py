"""Data sets as they come: five parts to rotate, one file, or a split that somebody else made."""

from pathlib import Path

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
