"""A temporary folder for files that a computation needs while it runs."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple


class TempFolder(NamedTuple):
    """A folder that is removed at the end; `cleanup` closes what has files in it before."""

    path: str
    cleanup: ExitStack


@contextmanager
def temp_folder() -> Iterator[TempFolder]:
    """Yield a temporary folder, which is removed even after an error."""
    with (
        tempfile.TemporaryDirectory(prefix="rankwood-", ignore_cleanup_errors=True) as path,
        ExitStack() as cleanup,
    ):
        yield TempFolder(path, cleanup)
