"""Reproducing items: plan, run what isn't finished, make pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood._util.warning import warn
from rankwood.reproduce import kinds
from rankwood.reproduce.cells import Store
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.pages import make_page
from rankwood.reproduce.plan import Request, Work
from rankwood.reproduce.programs import changes
from rankwood.reproduce.recipes.options import Options
from rankwood.reproduce.recipes.reading import load_recipe, recipe_names
from rankwood.reproduce.recipes.recipe import Item, Recipe
from rankwood.reproduce.result import Result, check_installed, write_page
from rankwood.reproduce.running import full_disk_explained, run_cells, unfinished
from rankwood.reproduce.sources import FoldFiles, omitted_is_missing, open_source


@dataclass(frozen=True)
class ItemInfo:
    """A table or figure that can be reproduced.

    Attributes
    ----------
    name : str
        The name that `run` takes, such as ``"lambdagap/table4"``.
    kind, title : str
        What is computed, and the heading of the page.
    roles : tuple of str
        The data sets that the paper used, for the argument `data` of `run`.
    needs_data : bool
        Whether it needs data at all.
    pending : tuple of str
        Rows of the paper that can't be computed yet.

    Examples
    --------
    >>> from rankwood.reproduce import items
    >>> [item] = [item for item in items() if item.name == "lambdagap/table4"]
    >>> item.needs_data
    True
    """

    name: str
    kind: str
    title: str
    roles: tuple[str, ...]
    needs_data: bool
    pending: tuple[str, ...] = ()


def items() -> list[ItemInfo]:
    """Return all items that can be reproduced.

    Returns
    -------
    list of ItemInfo
        Their names, kinds, titles and roles, by paper.

    Examples
    --------
    >>> from rankwood.reproduce import items
    >>> "lambdagap/table4" in [item.name for item in items()]
    True
    """
    return [
        ItemInfo(
            f"{name}/{item.name}",
            item.kind,
            item.title,
            tuple(item.roles),
            needs_data(load_recipe(name), item),
            tuple(row.name for row in item.rows if row.pending),
        )
        for name in recipe_names()
        for item in load_recipe(name).items.values()
    ]


def needs_data(recipe: Recipe, item: Item) -> bool:
    """Tell whether an item needs data: its kind may know, else it does if there is anything to train."""
    kind = kinds.find(item.kind)
    if hasattr(kind, "needs_data"):
        return bool(kind.needs_data(recipe, item))
    return hasattr(kind, "plan")


def run(
    item: str | Sequence[str],
    data: Mapping[str, Any] | None = None,
    out: Any = "results",
    *,
    jobs: int = 1,
    verbose: bool | None = None,
    **limits: Any,
) -> Any:
    """Reproduce a table or a figure of a paper.

    Every model that is trained is kept in `out` as soon as it is done, so that a killed run can be resumed.

    Parameters
    ----------
    item : str or list of str
        A name of `items()`, such as ``"lambdagap/table4"``, ``"lambdagap/all"`` for all items of a paper, or
        several of them.
    data : mapping
        The folder of each role, such as ``{"mslr30k": "MSLR-WEB30K"}``. Any data may fill a role; the page then
        says that it is another data set. Roles without a folder are omitted.
    out : str or path
        The folder of the results: pages in four formats, pictures, and finished models in ``cells``.
    jobs : int
        Number of processes, a thread each; with one process, models use every core.
    verbose : bool, optional
        Whether to show progress; None means on a terminal.
    **limits
        What makes the run smaller: `trees`, `queries` (of each part of the data), `seeds`, `folds`, `trials` (of
        a tuner), `top` (documents of a second stage's lists), and `rows`, a pattern of names. The page says so.

    Returns
    -------
    Result or list of Result
        A list if there are several items.

    Raises
    ------
    InputError
        If there is no such item, role or folder, or no data for the item.

    Examples
    --------
    Tables of parameters need no data:

    >>> from rankwood.reproduce import run
    >>> run("lambdagap/table3", verbose=False).name
    'lambdagap/table3'

    Others do, such as ``run("lambdagap/table4", {"mslr30k": "MSLR-WEB30K"}, trees=20)``.
    """
    options = _options(limits)
    chosen = find_items([item] if isinstance(item, str) else list(item))
    folder = Path(out).expanduser()
    check_installed()
    _check_out(folder)
    works = make_works(chosen, data or {}, options)
    store = Store(folder / "cells")
    plans = [_plan(work) for work in works]
    every = [request for plan in plans for request in plan]
    todo = unfinished(every, store)
    _warn_of_other_programs(todo, store)
    with full_disk_explained(folder):
        failed = run_cells(todo, store, checks.at_least(jobs, 1, "jobs"), verbose)
    if failed and len(failed) == len({request.cell.digest for request in every}):
        raise checks.InputError(f"no cell could be computed: {failed[0].about}: {failed[0].error}")
    fresh = {request.cell.digest for request in todo}
    errors = {done.about: done.error for done in failed}
    with full_disk_explained(folder):
        results = [
            _finish(work, Found(store, plan, errors), folder, fresh)
            for work, plan in zip(works, plans, strict=True)
        ]
    alone = isinstance(item, str) and not item.endswith("/all")
    return results[0] if alone else results


def _warn_of_other_programs(todo: Sequence[Request], store: Store) -> None:
    """Warn if cells are computed again because other programs computed those in the folder."""
    found = store.other_programs(request.cell for request in todo)
    if found:
        here = [request.cell.spec["programs"] for request in todo]
        verb = "was" if len(found) == 1 else "were"
        warn(
            f"{plural(len(found), 'cell')} in {store.folder} {verb} computed by other programs, so they are computed "
            f"again: {changes(found, here)}.",
            UserWarning,
        )


def _check_out(folder: Path) -> None:
    """Raise if results can't be written."""
    if folder.exists() and not folder.is_dir():
        raise checks.InputError(f"{folder} is a file: give a folder for the results.")


def _options(limits: Mapping[str, Any]) -> Options:
    known = Options.__dataclass_fields__
    for name in limits:
        if name not in known:
            raise checks.InputError(f"there is no limit {name!r}{checks.nearest(name, known)}")
    return Options(**limits)


def find_items(names: Sequence[str]) -> list[tuple[Recipe, Item]]:
    """Return items by name; "PAPER/all" stands for all items of a paper."""
    found = []
    for name in names:
        paper, _, item = str(name).partition("/")
        known = [info.name for info in items()] if paper not in recipe_names() or not item else []
        if known:
            papers = {f"{paper}/all" for paper in recipe_names()}
            raise checks.InputError(
                f"there is no item {name!r}{checks.nearest(str(name), [*known, *papers])}"
            )
        recipe = load_recipe(paper)
        if item == "all":
            found += [(recipe, one) for one in recipe.items.values()]
        elif item in recipe.items:
            found.append((recipe, recipe.items[item]))
        else:
            near = checks.nearest(item, [*recipe.items, "all"])
            raise checks.InputError(f"{paper} has no item {item!r}{near}")
    return found


def make_works(
    chosen: Sequence[tuple[Recipe, Item]], data: Mapping[str, Any], options: Options
) -> list[Work]:
    """Return items with their data, which is read once; items whose roles have no data are omitted."""
    _check_roles(chosen, data)
    _check_rows([item for _, item in chosen], options)
    chosen = [(recipe, item) for recipe, item in chosen if not options.leaves_out(item)]
    sources: dict[tuple[str, int, bool], FoldFiles] = {}
    works = []
    for recipe, item in chosen:
        folds = recipe.protocols[item.protocol].folds if item.protocol else 1
        own = {}
        needed = needs_data(recipe, item)
        for role in item.roles if needed else ():
            if role in data:
                missing = omitted_is_missing(role, recipe.paper.absent.get(role))
                key = (role, folds, missing)
                if key not in sources:
                    sources[key] = open_source(
                        role, data[role], options.queries, options.folds, folds, missing
                    )
                own[role] = sources[key]
        if own or not needed:
            works.append(Work(recipe, item, options, own))
    return works


def _check_rows(chosen: Sequence[Item], options: Options) -> None:
    """Raise if rows are to be chosen by their names, and none of any item has such a name."""
    if options.rows is None or any(options.wants_some(item) for item in chosen):
        return
    names = list(dict.fromkeys(row.name for item in chosen for row in item.rows))
    known = f"{checks.nearest(options.rows, names)}" if names else "; they have no rows."
    raise checks.InputError(f"no row of the chosen items has a name like {options.rows!r}{known}")


def _check_roles(chosen: Sequence[tuple[Recipe, Item]], data: Mapping[str, Any]) -> None:
    """Raise if a folder is of a role that no item has, or if no item can be run."""
    roles = list(
        dict.fromkeys(r for recipe, item in chosen for r in item.roles if needs_data(recipe, item))
    )
    for role in data:
        if role not in roles:
            if not roles:
                raise checks.InputError(f"the role {role!r} is of no use: the items need no data.")
            near = checks.nearest(role, roles)
            raise checks.InputError(f"no item that was chosen has a role {role!r}{near}")
    if not data and all(needs_data(recipe, item) for recipe, item in chosen):
        names = ", ".join(f"{recipe.paper.name}/{item.name}" for recipe, item in chosen[:3])
        one = roles[0]
        raise checks.InputError(
            f"{names} needs data: give a folder for at least one of the roles {', '.join(roles)}, as in "
            f"--data {one}=DIR."
        )


def _plan(work: Work) -> list[Request]:
    kind = kinds.find(work.item.kind)
    planned: list[Request] = kind.plan(work) if hasattr(kind, "plan") else []
    return planned


def _finish(work: Work, found: Found, folder: Path, fresh: set[str]) -> Result:
    """Make and write the page of an item."""
    content = kinds.find(work.item.kind).show(work, found)
    name = f"{work.paper.name}/{work.item.name}"
    page = make_page(work, found, content)
    files = write_page(name, page, folder)
    digests, failed = found.digests(), found.failed()
    computed = len(digests & fresh) - len(failed)
    return Result(name, page, computed, len(digests), files, failed, found.seconds())
