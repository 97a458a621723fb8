"""Gradients on a GPU: the device's sibling of `GradientComputer`."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.compile import explaining
from rankwood._core.device import as_vector, empty_like, load_cuda, stream_of
from rankwood._core.each import runs_on_team
from rankwood._core.parts import lower, named_record, parts_inside
from rankwood._core.records import Table, Unmoved
from rankwood._core.rng import round_state
from rankwood._core.sorting import SortScratch
from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.objectives._kernels import arranging, ranking
from rankwood.objectives._kernels.plan import LabelledLists, Plan, make_plan
from rankwood.objectives.gradients import most_labels
from rankwood.objectives.units import read_labels, unit_of

#: Bytes of shared memory that every kernel may have without being asked twice.
_SHARED_BYTES = 47 * 1024
#: Lists of up to so many documents get so many threads.
_TEAMS = ((256, 32), (1024, 128), (2**62, 256))


class _Launch(NamedTuple):
    """One start of a kernel: queries of similar length, a team each; their number, threads and shared bytes."""

    task: Any
    teams: tuple[int, int, int]


class _Built(NamedTuple):
    """An objective over labelled queries, as a kernel takes it."""

    kernel: Any
    plan: Plan
    launches: list[_Launch]

    @property
    def tasks(self) -> list[Any]:
        """The task of each launch."""
        return [launch.task for launch in self.launches]


class _Layout:
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
        """Return what a part asks for, as `Memory.room` does."""
        from rankwood._core.cuda import SIMULATED
        from rankwood._core.cuda.columns import (
            IndexColumn,
            LongWordColumn,
            PrivateColumn,
            RealColumn,
            RowsColumn,
        )

        names = tuple(getattr(part, "columns", ())) + tuple(getattr(part, "swap_columns", ()))
        private = {
            name: Unmoved(PrivateColumn(np.int32(0)))
            for name in getattr(part, "look_up_columns", ())
        }
        made = {
            **{name: self.room(inside) for name, inside in parts_inside(part).items()},
            **{name: self.column(RealColumn) for name in names},
            **{name: self.column(IndexColumn) for name in getattr(part, "index_columns", ())},
            **private,
        }
        for name in getattr(part, "tables_by_label", ()):
            rows = RowsColumn(np.int32(self.n_columns), np.int32(self.n_labels))
            made[name], self.n_columns = Table(rows), self.n_columns + self.n_labels
        if getattr(part, "sorts", False):
            self.n_columns += self.n_columns % 2
            word = self.column(LongWordColumn, 2)
            rest: Any = ((), (), (), ())  # a team needs no more
            if SIMULATED:  # and sorts as the CPU does
                index = [self.column(IndexColumn) for _ in range(3)]
                rest = (word, *index)
            made["sorting"] = SortScratch(word, *rest)
        return named_record(made)


def _pair_layout(layout: _Layout, objective: Any, wide_words: bool) -> Any:
    from rankwood._core.cuda.columns import IndexColumn, LongWordColumn, RealColumn, WordColumn
    from rankwood.objectives._kernels.cuda.kernels import DeviceDocs, PairColumns

    word = layout.column(LongWordColumn, 2) if wide_words else layout.column(WordColumn)
    index = {name: layout.column(IndexColumn) for name in ("slot", "turn", "order")}
    by_slot = ("score", "embedded", "push", "hessian", "perturbed")
    real = {name: layout.column(RealColumn) for name in by_slot}
    docs = layout.record(DeviceDocs, RealColumn)
    rooms = {"own": layout.room(objective.weight), "pairs": layout.room(objective.pairs)}
    return PairColumns(word=word, **index, **real, docs=docs, **rooms)


def _list_layout(layout: _Layout, objective: Any) -> Any:
    from rankwood._core.cuda.columns import RealColumn
    from rankwood.objectives._kernels.cuda.kernels import ListColumns

    real = {name: layout.column(RealColumn) for name in ("label", "score", "gradient", "hessian")}
    return ListColumns(**real, own=layout.room(objective))


def _steps(objective: Any, steps: Any) -> Any:
    """Return the device's steps for those of the CPU."""
    from rankwood.objectives._kernels.cuda import kernels, visiting
    from rankwood.objectives._kernels.cuda import ranking as device

    noisy = steps.draws == ranking.SeveralRankings()
    rank: Any = device.RankByNoise() if noisy else device.RankByScore()
    if steps.rank == ranking.RankNone():
        rank = device.RankBySlot()
    listed = (arranging.ListedAnchors, arranging.ListedClassesApart)
    is_listed = isinstance(steps.arrange, listed)
    anchors = visiting.ListedDeviceAnchors() if is_listed else visiting.FirstAnchors()

    def mode(part: Any, *verbs: str) -> Any:
        return device.OnTeam() if runs_on_team(part, verbs) else device.Alone()

    return kernels.DeviceSteps(
        rank=rank,
        anchors=anchors,
        prepare=mode(objective.weight, "prepare", "swap_record"),
        perturb=mode(objective.noise, "perturb"),
    )


def build(
    objective: Any,
    y: np.ndarray,
    groups: Groups,
    weight: np.ndarray | None = None,
    unlisted: UnlistedLabels | None = None,
    *,
    wide_words: bool = False,
    to_device: Any,
) -> _Built:
    """Return an objective over labelled queries, as a kernel takes it; `to_device` copies an array to the device."""
    from rankwood.objectives._kernels.cuda import kernels
    from rankwood.objectives._kernels.cuda import ranking as device

    if unlisted is not None:
        unlisted = unlisted._replace(y=read_labels(objective, unlisted.y))
    lists = LabelledLists(read_labels(objective, y), groups, unlisted)
    layout = _Layout(most_labels(objective, lists))
    if hasattr(objective, "steps"):
        objective, steps = objective.steps()
        steps, kernel = _steps(objective, steps), kernels.pairwise_device_kernel
        columns = _pair_layout(layout, objective, wide_words)
    else:
        team = runs_on_team(objective, ["list_gradient", "insertion_record"])
        steps = kernels.DeviceSteps(prepare=device.OnTeam() if team else device.Alone())
        kernel, columns = kernels.listwise_device_kernel, _list_layout(layout, objective)
    layout.n_columns += layout.n_columns % 2
    plan = make_plan(objective, lists, np.float32)
    plan = plan._replace(ptr=plan.ptr.astype(np.int32), rows=plan.rows.astype(np.int32))
    factor = np.ones(groups.sizes.size, np.float32) if weight is None else weight.astype(np.float32)
    shared = {"weight": to_device(factor), "layout": columns, "n_columns": layout.n_columns}
    launches = []
    for queries, team_size, shared_bytes in _share_out(groups.sizes, layout.n_columns):
        memory = np.empty(
            2 if shared_bytes else (y.size + groups.sizes.size) * layout.n_columns, np.float32
        )
        where = device.InShared() if shared_bytes else device.InGlobal()
        chosen = type(steps)(**{**vars(steps), "memory": where})
        task = kernels.DeviceTask(
            objective=lower(objective, np.float32),
            steps=lower(chosen, np.float32),
            queries=to_device(queries),
            memory=to_device(memory),
            **shared,
        )
        launches.append(_Launch(task, (queries.size, team_size, shared_bytes)))
    return _Built(kernel, _on_device(plan, to_device), launches)


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


class DeviceGradients:
    """One objective over one set of labelled queries, on a GPU: labels, plan and memory stay there between rounds.

    Parameters
    ----------
    objective : part
        A composition such as `Lambda(...)`, or a part that can `list_gradient`.
    y : array of float64
        Labels, in the caller's order, on the host.
    groups : Groups
        Rows by query.
    weight : array of float64, optional
        Factor on the gradients and Hessians of each query.
    seed : int
        Seed of objectives that draw at random: the draws are those of the CPU.
    unlisted : UnlistedLabels, optional
        Labels of documents that belong to the queries and are not listed; ideals of metrics count them.
    """

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        weight: np.ndarray | None = None,
        *,
        seed: int = 0,
        unlisted: UnlistedLabels | None = None,
    ) -> None:
        if unit_of(objective) == "pairs":
            raise checks.InputError(
                f"{objective!r} has gradients of pairs, which no kernel for a GPU computes: use the CPU."
            )
        self._cuda = load_cuda()
        self.objective, self.groups, self.seed = objective, groups, seed
        self._labels = (y, groups, weight, unlisted)
        self._built: dict[Any, list[tuple[_Launch, Any]]] = {}

    def __call__(
        self, scores: Any, round: int = 0, *, stream: int | None = None, out: Any = None
    ) -> tuple[Any, Any]:
        """Return gradients and Hessians at these scores, in the caller's order.

        Parameters
        ----------
        scores : array on the GPU
            Of CuPy, PyTorch, or with `__cuda_array_interface__` or DLPack; float32 or float64.
        round : int
            Number of the round, for objectives that draw at random.
        stream : int, optional
            Address of the CUDA stream to work on; by default the current one of the library of `scores`.
        out : tuple of two arrays on the GPU, optional
            Where to write gradients and Hessians, float32.

        Returns
        -------
        grad, hess : arrays of float32
            Of the same library and on the same device as `scores`.
        """
        found = as_vector(scores, "scores", self.groups.rows.size)
        grad, hess = out or (empty_like(scores, found.size), empty_like(scores, found.size))
        stream = stream_of(scores) if stream is None else stream
        built = self._for(found.dtype)
        state = round_state(self.seed, round)
        vectors = (found, as_vector(grad, "out", found.size), as_vector(hess, "out", found.size))
        for one, kernel in built:
            kernel.start(one.teams, stream, state, vectors)
        return grad, hess

    def _for(self, dtype: Any) -> list[tuple[_Launch, Any]]:
        """Return launches and kernels for scores of this precision: scores of float64 are ranked by 64 bits."""
        if dtype not in self._built:
            built = build(
                self.objective,
                *self._labels,
                wide_words=dtype == np.float64,
                to_device=self._cuda.to_device,
            )
            dtypes = (dtype, np.float32, np.float32)
            with explaining(self.objective):
                self._built[dtype] = [
                    (one, self._cuda.Kernel(built.kernel, (one.task, built.plan), dtypes))
                    for one in built.launches
                ]
        return self._built[dtype]
