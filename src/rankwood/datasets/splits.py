"""Training, validation and test data from a data set in the layout in which it is distributed."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from rankwood._kernels.numeric.rng import generator
from rankwood._util.checks import InputError, at_least
from rankwood.data.ranking_data import RankingData
from rankwood.datasets.letor_files import LetorArguments, read_files
from rankwood.datasets.public_sets import find
from rankwood.datasets.split_files import SECTIONS, Fold, find_layout, rotated

T = TypeVar("T")
VALID_SHARE = 0.2  # of the training queries, where there are no validation data


class Split(NamedTuple):
    """One way to train, validate and test: a fold, or a data set that comes in three files.

    Parameters
    ----------
    name : str
        The name of the fold, such as ``"Fold1"``, or of the files.
    train, valid, test : RankingData
        Different queries with the same features.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import Split
    >>> split = Split("demo", *(rw.load_demo(part) for part in ("train", "valid", "test")))
    >>> split.train.groups.ids.size
    120
    """

    name: str
    train: RankingData
    valid: RankingData
    test: RankingData


def load_splits(
    folder: str | os.PathLike[str],
    name: str | None = None,
    *,
    queries: int | None = None,
    folds: Sequence[int] | None = None,
    absent: float | None = None,
    seed: int = 0,
    cache: bool = False,
    n_jobs: int | None = None,
) -> list[Split]:
    """Read a folder of ranking data in the layout in which it is distributed.

    These layouts are known, with files plain or compressed with gzip, in the folder or up to two levels below:
    Fold1 to Fold5 with train, vali and test files (MSLR, LETOR); S1 to S5, of which fold i trains on three,
    validates on the next and tests on the last (LETOR); train, vali and test files, whose names may share a
    prefix (Istella, Yahoo); the same without validation data, which are then split off by query (Istella's full
    set); text without query ids beside LightGBM's files of query sizes; and one file, `all.txt` or the file given
    as `folder`, whose queries are dealt out to five folds in turn.

    Parameters
    ----------
    folder : str or path
        The folder, or one file.
    name : str, optional
        The data set's name in `catalogue()`: it decides which of several sets in a folder is read, and what an
        absent feature means. The files may belong to another data set.
    queries : int, optional
        Keep at most this many queries of each part, chosen at random; a smaller number keeps a subset.
    folds : sequence of int, optional
        Numbers of the folds to read, from 1; all by default. Each takes memory of its own.
    absent : 0 or NaN, optional
        The value of a feature that a line omits; by default as the catalogue says, and 0 for other data.
    seed : int
        Decides which queries are kept, and which are split off as validation data.
    cache : bool
        Write a binary copy of each file beside it, and read that next time.
    n_jobs : int, optional
        Number of threads; by default every core.

    Returns
    -------
    list of Split
        One for each fold. All parts have the same features; 1.797e308, which Istella writes, is missing (NaN).

    Raises
    ------
    InputError
        If the folder holds no data in a known layout, or several data sets.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import load_splits
    >>> for part in ("train", "valid", "test"):
    ...     rw.save_letor(rw.load_demo(part), f"{part}.txt")
    >>> [split] = load_splits(".")
    >>> split.test.groups.ids.size
    40
    """
    data_set = None if name is None else find(name)
    if absent is None:
        absent = 0.0 if data_set is None else data_set.absent
    if queries is not None:
        at_least(queries, 1, "queries")
    layout = find_layout(Path(folder), data_set)
    how = LetorArguments(absent=absent, cache=cache, n_jobs=n_jobs)
    share = VALID_SHARE if data_set is None else data_set.valid_share
    if layout.whole is not None:
        data = read_files([layout.whole], how)[layout.whole]
        chosen = _numbered(rotated(_dealt(data, layout.whole)), folds)
    else:
        chosen = _read(_numbered(layout.folds, folds), how)
    return [_limited(_split(fold, share, seed), queries, seed) for fold in chosen]


def _read(folds: list[Fold[Path]], how: LetorArguments) -> list[Fold[RankingData]]:
    """Return folds with the content of their files, each of which is read once."""
    read = read_files((path for fold in folds for part in fold[1:] for path in part), how)
    return [
        Fold(fold.name, *(tuple(read[path] for path in part) for part in fold[1:]))
        for fold in folds
    ]


def _numbered(folds: Sequence[Fold[T]], numbers: Sequence[int] | None) -> list[Fold[T]]:
    """Return the folds of these numbers, from 1."""
    if numbers is None:
        return list(folds)
    wrong = [n for n in numbers if at_least(n, 1, "a number of folds") > len(folds)]
    if wrong:
        raise InputError(f"there is no fold {wrong[0]}: the folder has {len(folds)}.")
    return [folds[n - 1] for n in numbers]


def _dealt(data: RankingData, path: Path) -> list[RankingData]:
    """Return five parts: query i belongs to part i modulo 5."""
    n_queries = data.groups.ids.size
    if n_queries < SECTIONS:
        raise InputError(f"{path} has {n_queries} queries, but five folds need five at least.")
    turn = np.arange(n_queries) % SECTIONS
    return [data.select(turn == i) for i in range(SECTIONS)]


def _split(fold: Fold[RankingData], share: float, seed: int) -> Split:
    """Return the data of a fold; without validation data, a share of the training queries is split off."""
    train = concat_parts(fold.train)
    train, valid = (train, fold.valid[0]) if fold.valid else train.split(share, seed)
    return Split(fold.name, train, valid, fold.test[0])


def concat_parts(parts: Sequence[RankingData]) -> RankingData:
    """Return the parts as one data set; a single part is returned unchanged."""
    return parts[0] if len(parts) == 1 else RankingData.concat(parts)


def _limited(split: Split, queries: int | None, seed: int) -> Split:
    """Return a split with at most `queries` queries per part."""
    if queries is None:
        return split
    return Split(split.name, *(_some(part, queries, seed) for part in split[1:]))


def _some(data: RankingData, queries: int, seed: int) -> RankingData:
    n_queries = data.groups.ids.size
    if n_queries <= queries:
        return data
    return data.select(generator(seed).permutation(n_queries)[:queries])
