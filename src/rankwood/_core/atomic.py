"""Writing files so that a failed write leaves the old one whole."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import BinaryIO

from rankwood._core import checks


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once it is written without a fault."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise checks.InputError(
            f"{os.fspath(path)} can't be written: it is a directory or a device, expected a file name."
        )
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = os.fspath(
                path
            )  # a full disk has no name, and the temporary one says nothing
        raise


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return a text, and write it to a file if there is a path."""
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))  # a name may be no UTF-8
    return text
