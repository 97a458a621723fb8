"""Ranking data as LETOR text: `label qid:Q 1:v 2:v … #comment`, one document per line."""

import gzip
import os
from collections.abc import Iterable
from typing import Any

from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError
from rankwood._util.file_errors import Path, unwritable
from rankwood.data.letor.binary_copy import copy_header, load_copy, save_copy
from rankwood.data.letor.join import Letor
from rankwood.data.letor.options import checked_options, file_name
from rankwood.data.letor.read import read_file
from rankwood.data.letor.write import chunks
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.categories import check_numeric

__all__ = ["Letor", "load_letor", "read_letor", "save_letor"]


def load_letor(
    path: Path,
    *,
    n_features: int | None = None,
    absent: float = 0.0,
    marker: bool = False,
    missing: str | Iterable[str] = (),
    cache: bool = False,
    n_jobs: int | None = None,
) -> RankingData:
    r"""Read a LETOR file, plain or compressed with gzip.

    Values are rounded to float32 once, to the nearest one. Blank lines and lines that hold only a
    comment are skipped. Query ids become integers if all of them are.

    Parameters
    ----------
    path : str or path
        The file; its first bytes, not its name, show whether it is compressed.
    n_features : int, optional
        Number of features; by default the largest index in the file. Give it for a file that may
        lack the last features, such as a small test file.
    absent : 0 or NaN
        The value of a feature that a line omits.
    marker : bool
        Read values of at least 1.797e308 in magnitude, as in the Istella data, as NaN.
    missing : str or list of str
        Further words that stand for a missing value, such as ``["?", "NA"]``; they become NaN. ``NULL``, as in the
        aggregation files of LETOR 4.0, and ``NaN`` always do. Upper and lower case are the same.
    cache : bool
        Write a binary copy to `<path>.rankwood.npz`, and read that one while the file is unchanged.
    n_jobs : int, optional
        Number of threads; by default every core.

    Returns
    -------
    RankingData
        The documents in the order of the file, with their comments if there are any.

    Examples
    --------
    >>> import rankwood as rw
    >>> with open("tiny.txt", "w") as file:
    ...     size = file.write("2 qid:1 1:0.5 3:7 # docid = A\n0 qid:1 2:1 # docid = B\n")
    >>> data = rw.load_letor("tiny.txt")
    >>> data.X.tolist()
    [[0.5, 0.0, 7.0], [0.0, 1.0, 0.0]]
    >>> data.comments.doc_ids
    ['A', 'B']
    """
    X, y, qid, comments = read_letor(
        path,
        n_features=n_features,
        absent=absent,
        marker=marker,
        missing=missing,
        cache=cache,
        n_jobs=n_jobs,
    )
    return RankingData(X, y, qid=qid, comments=comments)


def read_letor(
    path: Path,
    *,
    n_features: int | None = None,
    absent: float = 0.0,
    marker: bool = False,
    missing: str | Iterable[str] = (),
    cache: bool = False,
    n_jobs: int | None = None,
) -> Letor:
    """Read a LETOR file into plain arrays.

    Parameters
    ----------
    path, n_features, absent, marker, missing, cache, n_jobs
        As in `load_letor`.

    Returns
    -------
    Letor
        X (float32), y (float64), qid (int64 or text) and comments (or None) in file order.
    """
    name = file_name(path)
    options = checked_options(n_features, absent, marker, missing)
    if not cache or not os.path.isfile(name):
        return read_file(name, options, n_jobs)
    header = copy_header(name, options)
    letor = load_copy(name, header, options)
    if letor is None:
        letor = read_file(name, options, n_jobs)
        if copy_header(name, options) == header:
            save_copy(name, letor, header)
    return letor


def save_letor(data: RankingData, path: Path, *, sparse: bool = False) -> None:
    """Write a data set as LETOR text, compressed with gzip if the name ends in `.gz`.

    Float32 values are read back bit for bit, NaN included. The file appears under its name only
    when it is complete; a failed write leaves an older file of that name as it was.

    Parameters
    ----------
    data : RankingData
        The documents; infinite values, categorical features and pairs are an error.
    path : str or path
        The file to write.
    sparse : bool
        Omit zeros. (Of a sparse matrix only stored values are written in any case.) If the
        last features are zero everywhere, read the file with `n_features`.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.save_letor(rw.RankingData([[0.5, 2.0]], [1], qid=["a"]), "one.txt")
    >>> with open("one.txt") as file:
    ...     print(file.read().strip())
    1 qid:a 1:0.5 2:2.0
    """
    name = file_name(path)
    if not all(hasattr(data, field) for field in ("X", "y", "qid", "comments")):
        raise InputError(
            f"data must be a RankingData, got {type(data).__name__}; make one of X, y and qid first."
        )
    check_numeric(getattr(data, "categories", {}), "LETOR text")
    if getattr(data, "pairs", None) is not None:
        raise InputError(
            "LETOR text has no place for pairs: keep them in a file of their own, set data.pairs = None, and give them "
            "to RankingData(pairs=...) again."
        )
    try:
        with replacing(name) as file:
            _write(data, file, name.endswith(".gz"), sparse)
    except OSError as error:
        raise unwritable(name, error) from error


def _write(data: Any, file: Any, packed: bool, sparse: bool) -> None:
    if not packed:
        file.writelines(chunks(data, sparse))
        return
    # Without name and time, the same data give the same bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as stream:
        for chunk in chunks(data, sparse):
            stream.write(chunk)
