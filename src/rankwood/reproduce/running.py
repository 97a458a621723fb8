"""Running the cells that are not finished yet, in one process or several."""

import contextlib
import errno
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rankwood._util import checks
from rankwood._util.progress import Advance, bar
from rankwood.reproduce.cells import Store
from rankwood.reproduce.models import compute
from rankwood.reproduce.plan import Request
from rankwood.reproduce.sources import read_split

_KEPT = "finished cells stay, and the same command resumes from there"


class Done(NamedTuple):
    """A cell that was run: what it is about, and what went wrong if it can't be computed."""

    about: str
    error: str = ""


def run_cells(
    todo: Sequence[Request], store: Store, jobs: int = 1, verbose: bool | None = None
) -> list[Done]:
    """Compute cells, and return those that failed.

    Every cell is kept as soon as it is done, and one that fails stops no other. The numbers are the same for any
    number of processes.
    """
    timed = [request for request in todo if "timing" in request.cell.spec]
    others = [request for request in todo if "timing" not in request.cell.spec]
    failed = []
    try:
        with bar(len(todo), "Cells", verbose, pause=0) as advance:
            for done in chain(
                _side_by_side(others, store, jobs)
                if jobs > 1 and len(others) > 1
                else _one_by_one(others, store, advance),
                _one_by_one(timed, store, advance),  # nothing else may run while time is taken
            ):
                advance(done.about)
                failed += [done] if done.error else []
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {_KEPT}.") from None
    except BrokenProcessPool:
        raise checks.InputError(
            f"a process was killed, perhaps because there was no memory left: {_KEPT}; fewer jobs need less memory."
        ) from None
    return failed


@contextlib.contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    """Turn the error of a full disk into an error message that says what stays."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise checks.InputError(
            f"there is no space left for {folder}: {_KEPT} once there is some."
        ) from None


def unfinished(requests: Iterable[Request], store: Store) -> list[Request]:
    """Return each cell once that is not finished with all that any item wants of it, sorted by data."""
    merged: dict[str, Request] = {}
    for request in requests:
        before = merged.setdefault(request.cell.digest, request)
        merged[request.cell.digest] = before._replace(wants=before.wants | request.wants)
    todo = []
    for digest, request in merged.items():
        found = store.read(digest)
        has = set() if found is None else set(found["has"])
        if found is None or not request.wants <= has:
            todo.append(request._replace(wants=request.wants | has))
    return sorted(todo, key=lambda request: (request.data.folder, request.data.fold))


def _one_by_one(todo: Sequence[Request], store: Store, advance: Advance) -> Iterator[Done]:
    """Run cells in this process, with every core; the note is about the cell that is running."""
    for request in todo:
        advance(request.about, 0)
        yield run_cell(request, store.folder, None)


def _side_by_side(todo: Sequence[Request], store: Store, jobs: int) -> Iterator[Done]:
    """Run cells in several processes, a thread each; the note is about the cell that was finished last."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    task = delayed(run_cell)
    pool = Parallel(n_jobs=min(jobs, len(todo)), return_as="generator_unordered", batch_size=1)
    yield from pool(task(request, store.folder, 1) for request in todo)


def run_cell(request: Request, folder: Path, n_jobs: int | None) -> Done:
    """Compute a cell and keep it."""
    store = Store(folder)
    split = read_split(request.data)
    digest = request.cell.digest
    storage = folder.parent / "tuning" / f"{digest}.db"
    try:
        result = compute(request.cell.spec, split, request.wants, n_jobs=n_jobs, storage=storage)
    except checks.InputError as error:
        return Done(request.about, str(error))
    store.write(request.cell, request.about, result)
    return Done(request.about)
