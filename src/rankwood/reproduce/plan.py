"""From an item to the cells that it needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.reproduce.cells import RecipeCell
from rankwood.reproduce.programs import programs_of
from rankwood.reproduce.recipes.options import Options
from rankwood.reproduce.recipes.recipe import Item, Paper, Protocol, Recipe, Row, SignificanceTest
from rankwood.reproduce.recipes.template import fill, setting_text
from rankwood.reproduce.sources import DataRef, FoldFiles

#: Models that are computed from labels: neither parameters nor seeds matter.
FROM_LABELS = ("perfect", "random", "statistics")


class Place(NamedTuple):
    """Where in an item a model belongs: a role, the index of a row, and the values of the names in braces."""

    role: str
    row: int
    setting: tuple[tuple[str, Any], ...] = ()


class Request(NamedTuple):
    """A cell that an item needs, where it is needed, its data, and what is to be recorded beside it."""

    place: Place
    cell: RecipeCell
    data: DataRef
    wants: frozenset[str]
    about: str


@dataclass(frozen=True)
class Work:
    """An item to reproduce: its recipe, the limits that the user set, and the data of its roles."""

    recipe: Recipe
    item: Item
    options: Options
    sources: Mapping[str, FoldFiles]

    @property
    def paper(self) -> Paper:
        """The paper of the item."""
        return self.recipe.paper

    @property
    def test(self) -> SignificanceTest:
        """The test of significance of the paper, or of the item if that has another."""
        return replace(self.recipe.paper.test, **self.item.test)

    @property
    def rows(self) -> list[Row]:
        """The rows that are wanted."""
        return self.options.chosen(self.item)

    @property
    def roles(self) -> list[str]:
        """The roles that have data, in the order of the item."""
        return [role for role in self.item.roles if role in self.sources]

    def title(self, role: str) -> str:
        """Return the title of a role's table: the role, after the name of the data set if that is another one."""
        source = self.sources[role]
        return role if source.published else f"{source.name} in the role of {role}"

    def baseline(self, row: Row, setting: Mapping[str, Any]) -> Row | None:
        """Return the row that a row is compared with: of the same group if that has one of the baseline's name."""
        named = [r for r in self.rows if r.name == self.item.baseline and exists(r, setting)]
        return next(iter([r for r in named if r.group == row.group] or named), None)

    def protocol(self, row: Row) -> Protocol:
        """Return the protocol of a row."""
        name = row.protocol or self.item.protocol
        if name is None:
            raise checks.InputError(
                f"{self.paper.name}/{self.item.name}: the row {row.name!r} has no protocol."
            )
        return self.recipe.protocols[name]


def place_of(role: str, row: Row, setting: Mapping[str, Any]) -> Place:
    """Return the place of a row in an item."""
    return Place(role, row.index, tuple(setting.items()))


def exists(row: Row, setting: Mapping[str, Any]) -> bool:
    """Tell whether a row can be trained for these values of names."""
    fits = all(setting[name] in values for name, values in row.only.items() if name in setting)
    return fits and not row.pending


def requests(
    work: Work,
    row: Row,
    settings: Sequence[Mapping[str, Any]],
    wants: Iterable[str] = (),
) -> list[Request]:
    """Return the cells of a row for all roles, settings, folds and seeds."""
    made = []
    for role in work.roles:
        for setting in settings:
            if exists(row, setting):
                spec = row_spec(work, row, role, setting)
                made += _spread(work, row, role, setting, spec, frozenset(wants))
    return made


def _spread(
    work: Work,
    row: Row,
    role: str,
    setting: Mapping[str, Any],
    spec: dict[str, Any],
    wants: frozenset[str],
) -> list[Request]:
    """Return a request for each fold and each seed."""
    source = work.sources[role]
    seeds: Sequence[int] = (0,)
    if spec["model"] not in FROM_LABELS:
        seeds = work.protocol(row).seeds
        if work.options.seeds is not None:
            seeds = range(work.options.seeds)
        wants = wants | _recorded(work.protocol(row))
    else:
        wants = frozenset()
    made = []
    programs = programs_of(spec)
    for fold, digest in enumerate(source.folds):
        ref = DataRef(source.folder, role, fold, work.options.queries, source.missing)
        for seed in seeds:
            cell = RecipeCell({**spec, "data": digest, "seed": seed, "programs": programs})
            about = ", ".join(filter(None, [row.name, setting_text(setting), source.name]))
            about += f", fold {fold + 1}" if len(source.folds) > 1 else ""
            about += f", seed {seed}" if len(seeds) > 1 else ""
            made.append(Request(place_of(role, row, setting), cell, ref, wants, about))
    return made


def _recorded(protocol: Protocol) -> set[str]:
    """Return what a protocol wants recorded beside the training."""
    curves = {f"record:{name}" for name in protocol.record}
    return curves | ({"train_curve"} if protocol.train_curve else set())


def row_spec(work: Work, row: Row, role: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row trains for a role and values of names, all but data and seed."""
    common: dict[str, Any] = {
        "metrics": list(work.paper.metrics),
        "conventions": {**work.paper.conventions, **work.item.conventions, **row.conventions},
    }
    if row.model in FROM_LABELS:
        return {"model": row.model, **common}
    protocol = work.protocol(row)
    tuner = protocol.tuner
    if tuner is not None and work.options.trials is not None:
        tuner = {**tuner, "trials": min(tuner["trials"], work.options.trials)}
    two_stage = _two_stage(work, row, protocol, role)
    if row.model == "first-stage":
        return {"model": row.model, "two_stage": fill(two_stage, {**setting, **row.let}), **common}
    spec = {
        "model": "trees" if two_stage is None else "two-stage",
        "objective": row.role_objective.get(role, row.objective),
        **_training(work, protocol, role),
        "tuner": tuner,
        "two_stage": two_stage,
    }
    spec["engine"] = row.engine or protocol.engine
    spec["stop"] = row.stop or protocol.stop
    spec["params"] |= {
        **row.params,
        **row.role_params.get(role, {}),
        **_of_other(work, protocol, role),
    }
    filled: dict[str, Any] = fill(spec, {**setting, **row.let})
    return {**filled, **common}


def _training(work: Work, protocol: Protocol, role: str) -> dict[str, Any]:
    """Return what a protocol says about training for a role."""
    rounds = protocol.rounds
    if work.options.trees is not None:
        rounds = min(rounds, work.options.trees)
    return {
        "engine": protocol.engine,
        "params": {
            **protocol.params.get("*", {}),
            **protocol.params.get(role, {}),
            **_of_other(work, protocol, role),
        },
        "rounds": rounds,
        "patience": protocol.patience,
        "stop": protocol.stop,
        "shuffle": protocol.shuffle,
    }


def _of_other(work: Work, protocol: Protocol, role: str) -> Mapping[str, Any]:
    """Return the parameters for data that isn't that of a role."""
    source = work.sources.get(role)
    return {} if source is None or source.published else protocol.params.get("other", {})


def _two_stage(work: Work, row: Row, protocol: Protocol, role: str) -> dict[str, Any] | None:
    """Return the settings of two stages, with all of the first one in place of its protocol's name."""
    if protocol.two_stage is None:
        return None
    where = f"{work.paper.name}/{work.item.name}, row {row.name!r}"
    settings = {**protocol.two_stage, **row.two_stage}
    if work.options.top is not None:
        settings["top"] = min(settings["top"], work.options.top)
    known = {name: p for name, p in work.recipe.protocols.items() if p.objective}
    name = str(settings.get("first"))
    if name not in known:
        near = checks.nearest(name, known)
        raise checks.InputError(
            f"{where}: the first stage {name!r} is not a protocol with an objective{near}"
        )
    first = {"objective": known[name].objective, **_training(work, known[name], role)}
    return {**settings, "first": first}
