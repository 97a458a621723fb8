"""A folder for files that a computation needs while it runs."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple


class Scratch(NamedTuple):
    """A folder that is about to be removed; `held` has what must be closed before."""

    path: str
    held: ExitStack


@contextmanager
def scratch_folder() -> Iterator[Scratch]:
    """Return a temporary folder, which is removed in any case."""
    with (
        tempfile.TemporaryDirectory(prefix="rankwood-", ignore_cleanup_errors=True) as path,
        ExitStack() as held,
    ):
        yield Scratch(path, held)
