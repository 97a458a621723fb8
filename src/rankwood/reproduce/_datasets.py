"""What the runner takes from the room of data sets."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.rng import generator
from rankwood.data.letor import load_letor
from rankwood.data.ranking_data import RankingData


class _Split(NamedTuple):
    name: str
    train: RankingData
    valid: RankingData
    test: RankingData


def published(role: str) -> Any:
    """Return the entry of a role in the catalogue; None if it has none."""
    try:
        from rankwood.datasets import catalogue  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    return catalogue().get(role)


def count_folds(folder: Path, role: str) -> int:
    """Return how many folds a folder has."""
    try:
        from rankwood.datasets.layouts import (  # type: ignore[import-not-found, unused-ignore]
            SECTIONS,
            find_layout,
        )
    except ImportError:
        return len(_plain_splits(folder))
    layout = find_layout(folder, published(role))
    return SECTIONS if layout.whole is not None else len(layout.folds)


def load_fold(folder: Path, role: str, fold: int, queries: int | None) -> Any:
    """Return the data of one fold, numbered from 0."""
    try:
        from rankwood.datasets import load_splits  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _limited(_plain_splits(folder)[fold], queries)
    name = role if published(role) else None
    return load_splits(folder, name, queries=queries, folds=[fold + 1])[0]


def _plain_splits(folder: Path) -> list[_Split]:
    """Return the folds of S1 to S5, of the queries of all.txt, or of train, vali and test."""
    for wanted in ([f"S{i}" for i in range(1, 6)], ["all"], ["train", "vali", "test"]):
        files = [_file(folder, name) for name in wanted]
        if all(files):
            data = [load_letor(file) for file in files if file]
            break
    else:
        raise checks.InputError(f"{folder} holds no data set in a known layout.")
    if len(data) == 3:
        return [_Split(folder.name, *data)]
    if len(data) == 1:
        turn = np.arange(data[0].groups.ids.size) % 5
        data = [data[0].select(turn == i) for i in range(5)]
    joined = [RankingData.concat([data[(i + step) % 5] for step in range(3)]) for i in range(5)]
    return [
        _Split(f"Fold{i + 1}", joined[i], data[(i + 3) % 5], data[(i + 4) % 5]) for i in range(5)
    ]


def _file(folder: Path, name: str) -> Path | None:
    paths = [folder / f"{name}{ending}" for ending in (".txt", ".txt.gz")]
    return next((path for path in paths if path.is_file()), None)


def _limited(split: _Split, queries: int | None) -> _Split:
    def some(data: RankingData) -> RankingData:
        n = data.groups.ids.size
        if queries is None or n <= queries:
            return data
        return data.select(generator(0).permutation(n)[:queries])

    return _Split(split.name, *(some(part) for part in split[1:]))
