"""How some kinds of files begin, and the errors of files that can't be read or written."""

import gzip
import os
import zlib

from rankwood._util.checks import InputError

Path = str | os.PathLike[str]
GZIP = b"\x1f\x8b"  # how compressed files begin
PARQUET = b"PAR1"  # how Parquet files begin
#: Errors of files that exist: of the system, and of compressed files that are damaged.
READ_ERRORS = (OSError, EOFError, zlib.error)


def unreadable(path: str, error: Exception) -> InputError:
    """Return the error for a file that can't be read, given one of `READ_ERRORS`."""
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return InputError(f"{path} can't be read: {error.strerror or error}.")
    return InputError(
        f"{path} starts like a gzip file but can't be decompressed ({error}), expected a complete gzip file: "
        "copy or download it again."
    )


def unwritable(path: str, error: OSError) -> InputError:
    """Return the error for a file that can't be written."""
    return InputError(
        f"{path} can't be written ({error.strerror or error}), expected a name in a directory that exists and may "
        "be written to."
    )
