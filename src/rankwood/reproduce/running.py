"""Running the cells that are not finished yet, in one process or several."""

import errno
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankwood._core import checks
from rankwood._core.progress import Advance, bar
from rankwood.reproduce.cells import Store
from rankwood.reproduce.models import compute
from rankwood.reproduce.plan import Request
from rankwood.reproduce.sources import read_split


def run_cells(
    requests: Iterable[Request], store: Store, jobs: int = 1, verbose: bool | None = None
) -> int:
    """Compute the cells that the store lacks, and return how many these were.

    Every cell is kept as soon as it is done. The numbers are the same for any number of processes.
    """
    todo = unfinished(requests, store)
    timed = [request for request in todo if "timing" in request.cell.spec]
    others = [request for request in todo if "timing" not in request.cell.spec]
    kept = "finished cells stay, and the same command goes on from there"
    try:
        with bar(len(todo), "Cells", verbose) as advance:
            if jobs == 1 or len(others) < 2:
                _one_by_one(others, store, advance)
            else:
                _side_by_side(others, store, jobs, advance)
            _one_by_one(timed, store, advance)  # nothing else may run while time is taken
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {kept}.") from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise checks.InputError(
            f"there is no space left for {store.folder}: {kept} once there is some."
        ) from None
    return len(todo)


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


def _one_by_one(todo: Sequence[Request], store: Store, advance: Advance) -> None:
    for request in todo:
        advance(request.about, 0)
        run_cell(request, store.folder, None)
        advance(request.about)


def _side_by_side(todo: Sequence[Request], store: Store, jobs: int, advance: Advance) -> None:
    """Run cells in several processes, a thread each; the note is about the cell that was finished last."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    task = delayed(run_cell)
    pool = Parallel(n_jobs=min(jobs, len(todo)), return_as="generator_unordered", batch_size=1)
    for about in pool(task(request, store.folder, 1) for request in todo):
        advance(about)


def run_cell(request: Request, folder: Path, n_jobs: int | None) -> str:
    """Compute a cell and keep it; return what it is about."""
    store = Store(folder)
    split = read_split(request.data)
    digest = request.cell.digest
    storage = folder.parent / "tuning" / f"{digest}.db"
    result = compute(request.cell.spec, split, request.wants, n_jobs=n_jobs, storage=storage)
    store.write(request.cell, request.about, result)
    return request.about
