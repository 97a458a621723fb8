"""Five-fold data of LETOR: S1 to S5, of which three train, one validates and one tests."""

from pathlib import Path

import numpy as np

import rankwood as rw


def load(folder, threads=None):
    """Return the five parts of a folder, S1 to S5, plain or gzip; None if one is missing."""
    found = []
    for part in range(1, 6):
        paths = [Path(folder) / f"S{part}{ending}" for ending in (".txt", ".txt.gz")]
        found.append(next((path for path in paths if path.is_file()), None))
    if None in found:
        return None
    return [rw.load_letor(path, n_jobs=threads) for path in found]


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
