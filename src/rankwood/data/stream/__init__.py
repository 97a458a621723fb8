"""Training data that doesn't fit in memory: files that are read block by block."""

from collections.abc import Iterable, Sequence
from typing import Any

from rankwood._util.checks import InputError, at_least
from rankwood._util.file_errors import Path
from rankwood.data.letor.options import checked_options
from rankwood.data.stream.files import open_files
from rankwood.data.stream.letor import LetorReader
from rankwood.data.stream.parquet import ParquetReader
from rankwood.data.stream.sample import SAMPLE
from rankwood.data.stream.streamed_data import Reader, StreamedData

__all__ = ["StreamedData", "stream_files"]


def stream_files(
    files: Path | Sequence[Path],
    *,
    y: str | None = None,
    qid: str | None = None,
    n_features: int | None = None,
    absent: float = 0.0,
    marker: bool = False,
    missing: str | Iterable[str] = (),
    sample: int = SAMPLE,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> StreamedData:
    """Read labels and queries of files whose features don't fit in memory; `Ranker.fit` reads the features.

    All files are read once, block by block. The rows of a query must be one after the other, in one file or at the end
    of one and the beginning of the next.

    Parameters
    ----------
    files : path or list of paths
        LETOR files, plain or compressed with gzip, or Parquet files. Their first bytes show which.
    y, qid : str, optional
        The columns of a Parquet file with the labels and the query ids; all others are features.
    n_features, absent, marker, missing
        How LETOR files are read, as in `load_letor`. By default the largest index in any of the files is the number of
        features.
    sample : int
        The most rows that decide the bins of features: a random sample, or all rows if there are no more. It is kept in
        a temporary file. 0 is enough for validation data.
    n_jobs : int, optional
        Number of threads that parse LETOR text; by default every core.
    verbose : bool, optional
        Show a progress bar for each pass over the files; by default on a terminal.

    Returns
    -------
    StreamedData
        Labels and queries, and the features as blocks.

    Raises
    ------
    InputError
        If a file can't be read, or if a query comes back after another one.

    Examples
    --------
    >>> import os, tempfile
    >>> import rankwood as rw
    >>> name = os.path.join(tempfile.mkdtemp(), "train.txt")
    >>> rw.save_letor(rw.make_ranking(20, seed=1), name)
    >>> data = rw.stream_files(name)
    >>> data.groups.ids.size, sum(len(X) for X in data.blocks()) == len(data)
    (20, True)
    """
    return StreamedData(
        reader_of(files, y, qid, (n_features, absent, marker, missing), n_jobs),
        at_least(sample, 0, "sample"),
        verbose,
    )


def reader_of(files: Any, y: Any, qid: Any, options: tuple[Any, ...], n_jobs: int | None) -> Reader:
    """Return what reads files, by their first bytes."""
    checked = checked_options(*options)
    opened = open_files(files)
    if not opened[0].is_parquet:
        if y is not None or qid is not None:
            raise InputError(
                f"{opened[0].path} is LETOR text, which holds labels and query ids: omit y and qid."
            )
        return LetorReader(opened, checked, n_jobs)
    for value, name in ((y, "y"), (qid, "qid")):
        if not isinstance(value, str):
            raise InputError(
                f"{opened[0].path} is a Parquet file: give the names of its columns, as in y='label', qid='query'; "
                f"{name} is {value!r}."
            )
    if y == qid:
        raise InputError(f"y and qid are both {y!r}: labels and query ids are two columns.")
    if options[0] is not None:
        raise InputError(
            "n_features is for LETOR text; a Parquet file has the features of its columns."
        )
    return ParquetReader(opened, y, qid)
