"""Data sets as they come: five parts to rotate, one file, or a split that somebody else made.

S1 to S5 are LETOR's: three of them train, one validates and one tests, in five ways.
"""

from pathlib import Path

import numpy as np

import rankwood as rw


def load(folder, threads=None, absent=0.0):
    """Return the five parts of a folder, S1 to S5, plain or gzip; None if one is missing."""
    return _read(folder, [f"S{part}" for part in range(1, 6)], threads, absent)


def splits(folder, threads=None, absent=0.0):
    """Return (train, valid, test) of each fold of a folder, or None if it has no data.

    Five folds of S1 to S5, or of the queries of all.txt dealt out one by one; or the one of train, vali and test.
    """
    parts = load(folder, threads, absent)
    if parts is None:
        whole = _read(folder, ["all"], threads, absent)
        parts = whole and _deal(whole[0])
    if parts is not None:
        return [fold(parts, number) for number in range(1, 6)]
    made = _read(folder, ["train", "vali", "test"], threads, absent)
    return made and [tuple(made)]


def join(parts):
    """Return several data sets as one."""
    wide = max(part.n_features for part in parts)
    X = np.vstack([np.pad(p.X, ((0, 0), (0, wide - p.n_features))) for p in parts])
    y, qid = (np.concatenate([getattr(p, name) for p in parts]) for name in ("y", "qid"))
    return rw.RankingData(X, y, qid=qid)


def fold(parts, number):
    """Return training, validation and test data of fold 1 to 5: S(i) to S(i + 2), S(i + 3), S(i + 4)."""
    one, two, three, valid, test = (parts[(number - 1 + step) % 5] for step in range(5))
    return join([one, two, three]), valid, test


def _read(folder, names, threads, absent):
    """Return the files of these names, plain or gzip; None if one is missing."""
    found = []
    for name in names:
        paths = [Path(folder) / f"{name}{ending}" for ending in (".txt", ".txt.gz")]
        found.append(next((path for path in paths if path.is_file()), None))
    if None in found:
        return None
    return [rw.load_letor(path, absent=absent, n_jobs=threads) for path in found]


def _deal(data):
    """Return five parts of a data set: its first query, its sixth and so on, its second, ..."""
    _, first, at = np.unique(data.qid, return_index=True, return_inverse=True)
    turn = first.argsort().argsort()[at] % 5  # queries in the order of the file
    return [
        rw.RankingData(data.X[turn == i], data.y[turn == i], qid=data.qid[turn == i])
        for i in range(5)
    ]
