"""From an objective and labelled queries to what the kernels for a GPU take."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.cuda import SIMULATED
from rankwood._kernels.cuda.columns import (
    IndexColumn,
    LongWordColumn,
    PrivateNumber,
    RealColumn,
    RowsColumn,
    WordColumn,
)
from rankwood._kernels.each import runs_on_team
from rankwood._kernels.numeric.sorting import SortScratch
from rankwood._kernels.parts import lower
from rankwood._kernels.records import Broadcast, Table
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.objectives._kernels import arranging, ranking
from rankwood.objectives._kernels.cuda.bounds import anchor_bounds
from rankwood.objectives._kernels.cuda.kernels import (
    DeviceDocs,
    DeviceSteps,
    DeviceTask,
    ListColumns,
    PairColumns,
    listwise_device_kernel,
    pairwise_device_kernel,
)
from rankwood.objectives._kernels.cuda.ranking import (
    Alone,
    InGlobal,
    InShared,
    OnTeam,
    RankByNoise,
    RankByScore,
    RankBySlot,
)
from rankwood.objectives._kernels.cuda.visiting import FirstAnchors, ListedDeviceAnchors
from rankwood.objectives._kernels.plan import LabelledLists, Plan, make_plan, most_labels
from rankwood.objectives._kernels.rooms import make_room
from rankwood.objectives.units import read_labels

#: Bytes of shared memory: a kernel may use 48 KB without opting in to more, and a few bytes are for sums.
_SHARED_BYTES = 47 * 1024
#: (longest list, threads per team).
_TEAMS = ((256, 32), (1024, 128), (2**62, 256))


class Launch(NamedTuple):
    """One start of a kernel: queries of similar length, a team each; their number, threads and shared bytes."""

    task: Any
    teams: tuple[int, int, int]


class Built(NamedTuple):
    """An objective over labelled queries, as a kernel takes it."""

    kernel: Any
    plan: Plan
    launches: list[Launch]


class Layout:
    """Counts the columns of a team's memory, as `Memory` allocates those of a thread."""

    def __init__(self, n_labels: int) -> None:
        self.n_columns, self.n_labels = 0, n_labels

    def column(self, kind: Any, width: int = 1) -> Any:
        """Return the place of one more column."""
        at, self.n_columns = self.n_columns, self.n_columns + width
        return kind(np.int32(at))

    def record(self, cls: Any, kind: Any) -> Any:
        """Return a record of this class whose fields are all columns of one kind."""
        return cls(*[self.column(kind) for _ in cls._fields])

    def room(self, part: Any) -> Any:
        """Return the columns that a part asks for, as `Memory.room` does."""
        return make_room(part, self)

    def real_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return places of columns of the kernel's precision."""
        return {name: self.column(RealColumn) for name in names}

    def index_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return places of columns of integers."""
        return {name: self.column(IndexColumn) for name in names}

    def look_up_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return one number per name: a thread looks one document up at a time."""
        return {name: Broadcast(PrivateNumber(np.int32(0))) for name in names}

    def tables_by_label(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return places of tables with a row for each label of a query."""
        tables = {}
        for name in names:
            rows = RowsColumn(np.int32(self.n_columns), np.int32(self.n_labels))
            tables[name], self.n_columns = Table(rows), self.n_columns + self.n_labels
        return tables

    def sorting(self) -> SortScratch:
        """Return the places of the memory of a sort."""
        self.n_columns += self.n_columns % 2
        word = self.column(LongWordColumn, 2)
        rest: Any = ((), (), (), ())  # a team needs no more
        if SIMULATED:  # and sorts as the CPU does
            index = [self.column(IndexColumn) for _ in range(3)]
            rest = (word, *index)
        return SortScratch(word, *rest)


def _pair_layout(layout: Layout, objective: Any, cpu_steps: Any, wide_words: bool) -> Any:
    """Return the columns of an objective made of pairs; `wide_words`: scores of 64 bits are ranked."""
    word = layout.column(LongWordColumn, 2) if wide_words else layout.column(WordColumn)
    noisy, listed = _is_noisy(cpu_steps), _is_listed(cpu_steps)
    index = {"slot": layout.column(IndexColumn), "turn": (), "order": ()}
    if listed:
        index |= {name: layout.column(IndexColumn) for name in ("turn", "order")}
    score, embedded = layout.column(RealColumn), layout.column(RealColumn)
    real = {"score": score, "embedded": embedded, "push": score, "hessian": embedded}
    if noisy:  # scores by slot are needed for the next ranking
        real |= {name: layout.column(RealColumn) for name in ("push", "hessian")}
    real["perturbed"] = layout.column(RealColumn) if noisy else ()
    docs = layout.record(DeviceDocs, RealColumn)
    rooms = {"own": layout.room(objective.weight), "pairs": layout.room(objective.pairs)}
    return PairColumns(word=word, **index, **real, docs=docs, **rooms)


def _list_layout(layout: Layout, objective: Any) -> Any:
    """Return the columns of an objective without pairs."""
    real = {name: layout.column(RealColumn) for name in ("label", "score", "gradient", "hessian")}
    return ListColumns(**real, own=layout.room(objective))


def _is_noisy(steps: Any) -> bool:
    return bool(steps.draws == ranking.SeveralRankings())


def _is_listed(steps: Any) -> bool:
    return isinstance(steps.arrange, (arranging.ListedAnchors, arranging.ListedClassesApart))


def _steps(objective: Any, steps: Any) -> Any:
    """Return the device's steps for those of the CPU."""
    rank: Any = RankByNoise() if _is_noisy(steps) else RankByScore()
    if steps.rank == ranking.RankNone():
        rank = RankBySlot()
    anchors = ListedDeviceAnchors() if _is_listed(steps) else FirstAnchors()

    def mode(part: Any, *verbs: str) -> Any:
        return OnTeam() if runs_on_team(part, verbs) else Alone()

    return DeviceSteps(
        rank=rank,
        anchors=anchors,
        prepare=mode(objective.weight, "prepare", "swap_record"),
        perturb=mode(objective.noise, "perturb"),
    )


def build_launches(
    objective: Any,
    y: np.ndarray,
    groups: Groups,
    weight: np.ndarray | None = None,
    unlisted: UnlistedLabels | None = None,
    pairs: GivenPairs | None = None,
    *,
    wide_words: bool = False,
    to_device: Any,
) -> Built:
    """Return an objective over labelled queries, as a kernel takes it.

    Parameters
    ----------
    objective, y, groups, weight, unlisted, pairs
        As in `DeviceGradients`.
    wide_words : bool
        Whether scores are float64, and documents are ranked by all 64 bits.
    to_device : function
        Copies an array to the device.
    """
    if unlisted is not None:
        unlisted = unlisted._replace(y=read_labels(objective, unlisted.y))
    lists = LabelledLists(read_labels(objective, y), groups, unlisted, pairs)
    layout, bounds = Layout(most_labels(objective, lists)), ()
    if hasattr(objective, "steps"):
        objective, cpu_steps = objective.steps()
        steps, kernel = _steps(objective, cpu_steps), pairwise_device_kernel
        columns = _pair_layout(layout, objective, cpu_steps, wide_words)
        if not _is_listed(cpu_steps):
            bounds = _on_device(anchor_bounds(objective.pairs, groups.sizes), to_device)
    else:
        team = runs_on_team(objective, ["list_gradient", "insertion_record"])
        steps = DeviceSteps(prepare=OnTeam() if team else Alone())
        kernel, columns = listwise_device_kernel, _list_layout(layout, objective)
    layout.n_columns += layout.n_columns % 2
    plan = make_plan(objective, lists, np.float32)
    plan = plan._replace(ptr=plan.ptr.astype(np.int32), rows=plan.rows.astype(np.int32))
    factor = np.ones(groups.sizes.size, np.float32) if weight is None else weight.astype(np.float32)
    shared = {"weight": to_device(factor), "layout": columns, "bounds": bounds}
    launches = []
    for queries, team_size, shared_bytes in _share_out(groups.sizes, layout.n_columns):
        size = 2 if shared_bytes else (y.size + groups.sizes.size) * layout.n_columns
        memory = np.empty(size, np.float32)
        chosen = replace(steps, memory=InShared() if shared_bytes else InGlobal())
        task = DeviceTask(
            objective=lower(objective, np.float32),
            steps=lower(chosen, np.float32),
            queries=to_device(queries),
            memory=to_device(memory),
            n_columns=layout.n_columns,
            **shared,
        )
        launches.append(Launch(task, (queries.size, team_size, shared_bytes)))
    return Built(kernel, _on_device(plan, to_device), launches)


def _share_out(sizes: np.ndarray, n_columns: int) -> list[tuple[np.ndarray, int, int]]:
    """Return queries of similar length, longest first, with the threads of a team and the bytes of its memory.

    0 bytes mean that a list doesn't fit into shared memory.
    """
    order = np.argsort(-sizes, kind="stable").astype(np.int32)
    fits = _SHARED_BYTES // (4 * n_columns) // 2 * 2
    edges = sorted({0, fits, *(longest for longest, _ in _TEAMS)})
    found = []
    for low, high in reversed(list(pairwise(edges))):
        chosen = order[(sizes[order] > low) & (sizes[order] <= high)]
        if chosen.size:
            longest = int(sizes[chosen[0]])
            threads = next(threads for edge, threads in _TEAMS if longest <= edge)
            size = 4 * n_columns * (longest + longest % 2) if high <= fits else 0
            found.append((chosen, threads, size))
    return found


def _on_device(record: Any, to_device: Any) -> Any:
    """Return a record with its arrays copied to the device."""
    if isinstance(record, np.ndarray):
        return to_device(record)
    if isinstance(record, tuple):
        items = [_on_device(x, to_device) for x in record]
        return type(record)(*items) if hasattr(record, "_fields") else tuple(items)
    return record
