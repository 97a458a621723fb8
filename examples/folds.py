"""Data sets as they come: five parts to rotate, one file, or a split that somebody else made.

S1 to S5 are LETOR's: three of them train, one validates and one tests, in five ways.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_files

import rankwood as rw


def load(folder, threads=None, absent=0.0, needed=False):
    """Return the five parts of a folder, S1 to S5, plain or gzip; None if one is missing, with a note if `needed`."""
    parts = _read(folder, [f"S{part}" for part in range(1, 6)], threads, absent)
    if parts is None and needed:
        print(f"Skipped: {folder} has no S1.txt to S5.txt (or .txt.gz).")
    return parts


def splits(folder, threads=None, absent=0.0):
    """Return (train, valid, test) of each fold of a folder, or None if it has no data.

    There are five folds of S1 to S5, five of the queries of all.txt or of LightGBM's example, dealt out in turn, or one
    of train, vali and test.
    """
    parts = load(folder, threads, absent)
    if parts is None:
        whole = _read(folder, ["all"], threads, absent) or _example(folder)
        parts = whole and _deal(whole[0])
    if parts is not None:
        return [fold(parts, number) for number in range(1, 6)]
    made = _read(folder, ["train", "vali", "test"], threads, absent)
    return made and [tuple(made)]


def fold(parts, number):
    """Return training, validation and test data of fold 1 to 5: S(i) to S(i + 2), S(i + 3), S(i + 4)."""
    one, two, three, valid, test = (parts[(number - 1 + step) % 5] for step in range(5))
    return rw.RankingData.concat([one, two, three]), valid, test


def _read(folder, names, threads, absent):
    """Return the files of these names, plain or gzip; None if one is missing."""
    found = []
    for name in names:
        paths = [Path(folder) / f"{name}{ending}" for ending in (".txt", ".txt.gz")]
        found.append(next((path for path in paths if path.is_file()), None))
    if None in found:
        return None
    data = [rw.load_letor(path, absent=absent, n_jobs=threads) for path in found]
    n_features = max(part.n_features for part in data)
    return [  # a file may lack the last features
        part
        if part.n_features == n_features
        else rw.load_letor(path, n_features=n_features, absent=absent, n_jobs=threads)
        for part, path in zip(data, found, strict=True)
    ]


def _example(folder):
    """Return LightGBM's example as one data set, in a list; its lines have no query, sizes are in a second file."""
    paths = [Path(folder) / f"rank.{part}" for part in ("train", "test")]
    if not all(path.is_file() for path in paths):
        return None
    sizes = [np.loadtxt(f"{path}.query", dtype=int) for path in paths]
    read = load_svmlight_files([str(path) for path in paths])
    X = np.concatenate([part.toarray() for part in read[::2]]).astype(np.float32)
    return [rw.RankingData(X, np.concatenate(read[1::2]), group=np.concatenate(sizes))]


def _deal(data):
    """Return five parts of a data set: its first query, its sixth and so on, its second, ..."""
    turn = np.arange(data.groups.ids.size) % 5  # queries in the order of the file
    return [data.select(turn == i) for i in range(5)]
