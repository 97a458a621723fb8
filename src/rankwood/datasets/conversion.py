"""Conversion of ranking data between kinds of files: LETOR text, tables, LightGBM's and NumPy's files."""

import gzip
import os
import re
import zipfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError, one_of
from rankwood._util.csv_text import marked
from rankwood._util.file_errors import unwritable
from rankwood.data.comments import Comments
from rankwood.data.letor import save_letor
from rankwood.data.letor.write import chunks
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.categories import check_numeric
from rankwood.data.tables.column_roles import ColumnNames
from rankwood.data.tables.frames import dense
from rankwood.data.tables.table_files import read_table
from rankwood.datasets.letor_files import LetorArguments, read_files, sizes_file, sizes_name

FORMATS = ("letor", "lightgbm", "csv", "parquet", "npz")
_ENDINGS = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet", ".npz": "npz"}
_QID = re.compile(rb"(?m)^(\S+) qid:\S+")
Writer = Callable[[RankingData, Path, bool], None]
_LABEL, _QUERY, _COMMENT = "label", "qid", "comment"


class Conversion(NamedTuple):
    """What `convert` wrote.

    Attributes
    ----------
    data : RankingData
        The documents.
    files : tuple of str
        The files that were written.
    lost : tuple of str
        What the new files can't hold, one sentence each.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import convert
    >>> rw.save_letor(rw.load_demo("test"), "test.txt")
    >>> conversion = convert("test.txt", "test.svm", to="lightgbm")
    >>> conversion.lost
    ("LightGBM's files hold no query ids, only sizes; queries are numbered by their order.",)
    """

    data: RankingData
    files: tuple[str, ...]
    lost: tuple[str, ...]


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of a file by its name: ``"letor"`` unless its ending says otherwise."""
    name = os.fspath(path).lower()
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), "letor")


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    force: bool = False,
    sparse: bool = False,
    y: str | None = None,
    qid: str | None = None,
    absent: float = 0.0,
    missing: Iterable[str] = (),
    n_jobs: int | None = None,
) -> Conversion:
    """Write ranking data in another format.

    Tables (CSV, Parquet) are written with the columns `label`, `qid` and, where there are any, `comment`; every other
    column is a feature. They are read with columns of these or other usual names, such as `relevance` and `query_id`.
    LightGBM's format is lines without query ids, and a file of query sizes beside them, `<target>.query`.
    A `.npz` file has the arrays X, y and qid.

    Parameters
    ----------
    source : str or path
        LETOR text, plain or gzip; CSV or Parquet; lines with a file of query sizes beside them; or `.npz`.
    target : str or path
        The file to write; its ending decides the format: `.csv`, `.csv.gz`, `.parquet`, `.npz`, else LETOR text.
    to : {"letor", "lightgbm", "csv", "parquet", "npz"}, optional
        The format, if the ending of `target` doesn't determine it.
    force : bool
        Replace files that exist; without it, they are an error.
    sparse : bool
        Leave zeros out of LETOR and LightGBM text.
    y, qid : str, optional
        The columns of a table with the labels and the query ids, if their names aren't usual ones.
    absent : 0 or NaN
        The value of a feature that a line of LETOR text omits.
    missing : list of str
        Words that mean a missing value, as in `load_letor`.
    n_jobs : int, optional
        Number of threads; by default every core.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If a file exists already, or a package for tables is not installed.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import convert
    >>> rw.save_letor(rw.load_demo("test"), "test.txt")
    >>> convert("test.txt", "test.npz").files
    ('test.npz',)
    """
    kind = format_of(target) if to is None else one_of(to, FORMATS, "to")
    old, new = Path(source), Path(target)
    files = [new, sizes_name(new)] if kind == "lightgbm" else [new]
    _check_targets(old, files, force)
    how = LetorArguments(absent=absent, missing=tuple(missing), n_jobs=n_jobs)
    data = _read(old, how, ColumnNames(y, qid))
    check_numeric(data.categories, "the file")
    try:
        _WRITERS[kind](data, new, sparse)
    except OSError as error:
        raise unwritable(str(new), error) from error
    return Conversion(data, tuple(map(str, files)), tuple(_lost(data, kind)))


def _check_targets(source: Path, files: list[Path], force: bool) -> None:
    """Raise if a file would replace the source, or another one without `force`."""
    for path in files:
        if path.exists() and source.exists() and path.samefile(source):
            raise InputError(f"{path} is the file to read, expected another name to write to.")
        if path.exists() and not force:
            raise InputError(
                f"{path} exists already: give another name, or force=True (--force) to replace it."
            )


def _lost(data: RankingData, kind: str) -> list[str]:
    lost = []
    if data.comments is not None and kind == "lightgbm":
        lost.append("LightGBM's files hold no comments; those of the source were omitted.")
    if kind == "lightgbm":
        lost.append(
            "LightGBM's files hold no query ids, only sizes; queries are numbered by their order."
        )
    if data.feature_names is not None and kind in ("letor", "lightgbm", "npz"):
        lost.append("Names of features were omitted; features are numbered in their order.")
    return lost


def _read(path: Path, how: LetorArguments, columns: ColumnNames) -> RankingData:
    if not path.is_file():
        raise InputError(f"{path} doesn't exist, expected a file of ranking data.")
    kind = format_of(path)
    if kind == "letor" or sizes_file(path) is not None:
        return read_files([path], how)[path]
    return _read_arrays(path) if kind == "npz" else read_table(str(path), columns)


def _read_arrays(path: Path) -> RankingData:
    """Read X, y and qid of a NumPy file, such as the binary copies beside LETOR files."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, AttributeError, TypeError, zipfile.BadZipFile):
        raise InputError(f"{path} can't be read, expected a .npz file of NumPy arrays.") from None
    lacking = [name for name in ("X", "y", "qid") if name not in arrays]
    if lacking:
        raise InputError(f"{path} lacks the array {lacking[0]!r}, expected X, y and qid.")
    comments = None
    if "blob" in arrays and "offsets" in arrays and arrays["offsets"].size:
        comments = Comments(arrays["blob"], arrays["offsets"])
        if not comments.cover(arrays["y"].size):
            raise InputError(f"{path} is damaged: its comments don't go with its rows.")
    return RankingData(arrays["X"], arrays["y"], qid=arrays["qid"], comments=comments)


def _pandas(kind: str) -> Any:
    """Return pandas, or raise if it or what it needs is not installed."""
    try:
        import pandas

        if kind == "parquet":
            import_module("pyarrow")
    except ImportError as error:
        raise InputError(
            f"files of the format {kind} need the package {error.name}: pip install {error.name}."
        ) from None
    return pandas


def _each_text(frame: Any, change: Callable[[str], str]) -> Any:
    """Return a table with every text changed: names of columns, and cells."""
    frame = frame.rename(columns=lambda name: change(str(name)))
    for name in frame.columns[frame.dtypes.map(lambda kind: kind.kind not in "biufc")]:
        frame[name] = [change(v) if isinstance(v, str) else v for v in frame[name].tolist()]
    return frame


def _write_letor(data: RankingData, target: Path, sparse: bool) -> None:
    save_letor(data, target, sparse=sparse)


def _write_lightgbm(data: RankingData, target: Path, sparse: bool) -> None:
    """Write lines without query ids, queries one after the other, and the file of their sizes."""
    rows = data.groups.rows
    plain = RankingData(dense(data.X)[rows], data.y[rows], qid=data.qid[rows])
    with replacing(target) as file, _packing(file, target) as out:
        for chunk in chunks(plain, sparse):
            out.write(_QID.sub(rb"\1", bytes(chunk)))
    with replacing(sizes_name(target)) as file:
        np.savetxt(file, data.groups.sizes, fmt="%d")


def _packing(file: Any, target: Path) -> Any:
    """Return a file that compresses what is written, if its name ends in .gz; else the file itself."""
    if not target.name.lower().endswith(".gz"):
        return nullcontext(file)
    return gzip.GzipFile("", "wb", fileobj=file, mtime=0)  # without a time: same data, same bytes


def _write_arrays(data: RankingData, target: Path, sparse: bool) -> None:
    # Objects would need pickle.
    qid = data.qid.astype(str) if data.qid.dtype == object else data.qid
    arrays = {"X": dense(data.X), "y": data.y, "qid": qid}
    if data.comments is not None:
        arrays |= {"blob": data.comments.blob, "offsets": data.comments.offsets}
    with replacing(target) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _table_writer(kind: str) -> Writer:
    """Return the function that writes a table."""

    def write(data: RankingData, target: Path, sparse: bool) -> None:
        pandas = _pandas(kind)
        names = data.schema.labels()
        frame = pandas.DataFrame(dense(data.X), columns=names)
        frame.insert(0, _LABEL, data.y)
        frame.insert(1, _QUERY, data.qid)
        if data.comments is not None:
            frame[_COMMENT] = list(data.comments)
        with replacing(target) as file:
            _write_frame(frame, file, kind, target.name.lower().endswith(".gz"))

    return write


def _write_frame(frame: Any, file: BinaryIO, kind: str, packed: bool) -> None:
    if kind == "parquet":
        frame.to_parquet(file, index=False)
    else:  # without a time, the same data give the same bytes
        how = {"method": "gzip", "mtime": 0} if packed else None
        _each_text(frame, marked).to_csv(file, index=False, compression=how)


_WRITERS: dict[str, Writer] = {
    "letor": _write_letor,
    "lightgbm": _write_lightgbm,
    "csv": _table_writer("csv"),
    "parquet": _table_writer("parquet"),
    "npz": _write_arrays,
}
