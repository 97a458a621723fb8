"""Files that are read several times: which they are, and whether they are still the same."""

import os
from collections.abc import Sequence
from stat import S_ISREG
from typing import Any, NamedTuple

from rankwood._util.checks import InputError
from rankwood._util.file_errors import PARQUET, unreadable
from rankwood.data.letor.blocks import Stamp, stamp
from rankwood.data.letor.options import file_name


class File(NamedTuple):
    """A file as it was when it was first seen."""

    path: str
    stamp: Stamp
    is_parquet: bool

    def check(self) -> None:
        """Raise if the file has changed since."""
        try:
            now = stamp(os.stat(self.path))
        except OSError as error:
            raise unreadable(self.path, error) from None
        if (now.size, now.mtime_ns) != (self.stamp.size, self.stamp.mtime_ns):
            raise self.changed()

    def changed(self) -> InputError:
        """Return the error for a file whose content is another one than at first."""
        return InputError(
            f"{self.path} was changed after it was first read, expected a file at rest: read it again, with fit or "
            "stream_files."
        )


def file_names(given: Any) -> list[str]:
    """Return the names of files, given as one or as a list."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return [file_name(given)]
    if not isinstance(given, Sequence):
        raise InputError(
            f"a stream is read from files: give their names, as in fit(['a.txt', 'b.txt'], stream=True), got "
            f"{type(given).__name__}; omit stream for data in memory."
        )
    if not given:
        raise InputError("there are no files: give the name of at least one.")
    for one in given:
        if not isinstance(one, (str, bytes, os.PathLike)):
            raise InputError(
                f"a stream is read from files: expected a list of their names, got one with {type(one).__name__}; "
                "omit stream for data in memory."
            )
    return [file_name(one) for one in given]


def is_file_names(given: Any) -> bool:
    """Return whether something that should be data is a file name, or a list of them."""
    names = [given] if isinstance(given, (str, os.PathLike)) else given
    return (
        isinstance(names, (list, tuple))
        and bool(names)
        and all(isinstance(one, (str, os.PathLike)) for one in names)
    )


def is_parquet(path: Any) -> bool:
    """Return whether a file begins as Parquet files do; pipes, which can be read once only, aren't looked into."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except OSError:
        return False


def open_files(given: Any) -> list[File]:
    """Return the files, all of one kind; raise if one isn't there, or can't be read twice."""
    files = [_file(path) for path in file_names(given)]
    seen: set[str] = set()
    for one in files:
        if os.path.realpath(one.path) in seen:
            raise InputError(f"{one.path} is given twice: give each file once.")
        seen.add(os.path.realpath(one.path))
        if one.is_parquet != files[0].is_parquet:
            kinds = ["Parquet" if f.is_parquet else "LETOR text" for f in (files[0], one)]
            raise InputError(
                f"{files[0].path} is {kinds[0]} and {one.path} is {kinds[1]}: give files of one kind."
            )
    return files


def _file(path: str) -> File:
    try:
        found = os.stat(path)
        if os.path.isdir(path):
            raise InputError(f"{path} is a directory, expected a file: give the files in it.")
        if not S_ISREG(found.st_mode):
            raise InputError(
                f"{path} is a pipe or a device, and a stream is read several times: write it to a file first."
            )
        with open(path, "rb") as file:
            start = file.read(len(PARQUET))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, expected a LETOR or Parquet file.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return File(path, stamp(found), start == PARQUET)
