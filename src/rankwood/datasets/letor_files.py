"""Files of LETOR text, with query ids or with LightGBM's files of query sizes, read with the same features."""

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._util.checks import InputError
from rankwood._util.file_errors import GZIP, READ_ERRORS, unreadable
from rankwood.data.letor import load_letor
from rankwood.data.ranking_data import RankingData

_SAMPLE = 1 << 17  # bytes from the start of a file that show how it was written


class LetorArguments(NamedTuple):
    """How files are read: arguments of `load_letor`."""

    absent: float = 0.0
    marker: bool = True
    missing: tuple[str, ...] = ()
    cache: bool = False
    n_jobs: int | None = None


def read_files(paths: Iterable[Path], how: LetorArguments) -> dict[Path, RankingData]:
    """Return the content of each file; all have the same number of features."""
    paths = list(dict.fromkeys(paths))
    sized = [path for path in paths if sizes_file(path) is not None]
    data: dict[Path, RankingData] = _read_with_sizes(sized, how) if sized else {}
    for path in paths:
        if path not in data:
            data[path] = load_letor(path, **how._asdict())
    width = max(part.n_features for part in data.values())
    return {path: _widened(part, width, how.absent) for path, part in data.items()}


def sizes_file(path: Path) -> Path | None:
    """Return LightGBM's file of query sizes beside a file; None if there is none."""
    beside = sizes_name(path)
    return beside if beside.is_file() else None


def sizes_name(path: Path) -> Path:
    """Return the name of the file of query sizes beside a file."""
    return path.with_name(path.name.removesuffix(".gz") + ".query")


def _read_with_sizes(paths: list[Path], how: LetorArguments) -> dict[Path, RankingData]:
    """Read lines without query ids; queries are numbered from 1 through all files."""
    from sklearn.datasets import load_svmlight_files

    try:
        read = load_svmlight_files([str(path) for path in paths], dtype=np.float32)
    except ValueError as error:
        raise InputError(
            f"{paths[0].parent}: a file with sizes of queries beside it can't be read ({error}), expected "
            "lines such as `1 2:0.5 7:1`."
        ) from None
    parts, first = {}, 1
    for path, X, y in zip(paths, read[::2], read[1::2], strict=True):
        sizes = _query_sizes(path, X.shape[0])
        ids = np.arange(first, first + sizes.size)
        parts[path] = RankingData(_dense(X, how), y, qid=np.repeat(ids, sizes))
        first += sizes.size
    return parts


def _query_sizes(path: Path, rows: int) -> np.ndarray:
    """Return the sizes of queries beside a file."""
    beside = sizes_file(path)
    assert beside is not None
    try:
        sizes = np.loadtxt(beside, dtype=np.int64, ndmin=1)
    except READ_ERRORS as error:
        raise unreadable(str(beside), error) from error
    except ValueError:
        raise InputError(f"{beside} must hold the size of one query a line, integers.") from None
    if sizes.min(initial=1) < 1 or sizes.sum() != rows:
        raise InputError(
            f"{beside} must hold positive sizes that sum to {rows}, the lines of {path.name}, but they sum to "
            f"{sizes.sum()}."
        )
    return sizes


def _dense(X: Any, how: LetorArguments) -> np.ndarray:
    """Return a sparse matrix as a dense one; entries that aren't stored are `absent`."""
    dense = np.full(X.shape, how.absent, np.float32)
    stored = X.tocoo()
    dense[stored.row, stored.col] = stored.data
    if how.marker:
        dense[np.isinf(dense)] = np.nan
    return dense


def _widened(data: RankingData, width: int, absent: float) -> RankingData:
    """Return data with `width` features; the last ones, which the file lacks, are absent in every row."""
    lacking = width - data.n_features
    if not lacking:
        return data
    columns = np.full((len(data), lacking), absent, data.X.dtype)
    return RankingData(np.hstack([data.X, columns]), data.y, qid=data.qid, comments=data.comments)


def writes_zeros_and_gaps(path: Path, n_features: int) -> bool:
    """Return whether the first lines of a file write zeros but omit other features."""
    zeros = gaps = False
    for line in _first_lines(path):
        values = [
            word.rpartition(":")[2] for word in line.split("#")[0].split() if word[0].isdigit()
        ]
        values = values[1:]  # without the label
        gaps |= len(values) < n_features
        zeros |= any(_is_zero(value) for value in values)
    return zeros and gaps


def _first_lines(path: Path) -> list[str]:
    """Return some whole lines from the start of a file."""
    with open(path, "rb") as file:
        packed = file.peek(2)[:2] == GZIP
        source = gzip.GzipFile(fileobj=file) if packed else file
        lines = source.read(_SAMPLE).decode("utf-8", "replace").splitlines()
    return lines[:-1]


def _is_zero(text: str) -> bool:
    """Return whether a number is 0; words that aren't numbers don't matter here."""
    try:
        return float(text) == 0
    except ValueError:
        return False
