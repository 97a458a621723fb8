"""From an objective, labels and scores to gradients."""

from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel, explaining
from rankwood._kernels.device import is_device_array, on_host
from rankwood._kernels.numeric.rng import round_state
from rankwood._kernels.parts import lower
from rankwood._util import checks
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups
from rankwood.data.labels import beside_labels, labels_and_groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.objectives._kernels.listwise import (
    ListSteps,
    ToPairs,
    listwise_kernel,
    listwise_scratch,
)
from rankwood.objectives._kernels.pairwise import pairwise_kernel, pairwise_scratch
from rankwood.objectives._kernels.plan import LabelledLists, make_plan, most_labels
from rankwood.objectives._kernels.ranking import RankAll
from rankwood.objectives._kernels.records import KernelTask, Out
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives.document_weights import DocumentWeights, Terms, check_document_weights
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import base_of, read_labels, unit_of


class GradientComputer:
    """One objective over one set of labelled queries: everything that stays the same between rounds.

    Parameters
    ----------
    objective : part
        A composition such as `Lambda(...)`, a part that can `list_gradient`, or one of these in `Bivariate(...)`.
    y : array of float64
        Labels, in the caller's order.
    groups : Groups
        Rows by query.
    weight : array of float64, optional
        Factor on the gradients and Hessians of each query.
    dtype : type
        float64, or float32 for training: engines keep no more.
    n_jobs : int, optional
        Threads; None means every core. The result doesn't depend on it, bit for bit.
    seed : int
        Seed of objectives that draw at random.
    unlisted : UnlistedLabels, optional
        Labels of documents that belong to the queries and are not listed; ideals of metrics count them.
    sample_weight : array of float64, optional
        Weights of documents, in the caller's order, for losses that are sums over documents.
    pairs : GivenPairs, optional
        Pairs of rows that come with the data, for objectives that are sums over them.
    query_numbers : array of int64, optional
        The number of each query among all queries, rising, if others are elsewhere: objectives draw at random by it.
    compiled : bool
        False runs the kernel as plain Python: for a few pairs that is done sooner than compiling.
    """

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        weight: np.ndarray | None = None,
        *,
        dtype: type = np.float64,
        n_jobs: int | None = None,
        seed: int = 0,
        unlisted: UnlistedLabels | None = None,
        sample_weight: np.ndarray | None = None,
        pairs: GivenPairs | None = None,
        query_numbers: np.ndarray | None = None,
        compiled: bool = True,
    ) -> None:
        check_document_weights(objective, sample_weight)
        self.objective, self.groups = objective, groups
        self.dtype, self.n_jobs, self.seed = dtype, n_jobs, seed
        self.unlisted = unlisted
        base = base_of(objective)
        if unlisted is not None:
            unlisted = unlisted._replace(y=read_labels(base, unlisted.y))
        lists = LabelledLists(read_labels(base, y), groups, unlisted, pairs)
        lifted = unit_of(objective) == "pairs"
        if hasattr(base, "steps"):
            base, steps = base.steps(lifted)
            kernel, self._scratch = pairwise_kernel, pairwise_scratch
        else:
            steps = ListSteps(ToPairs()) if lifted else ListSteps()
            kernel, self._scratch = listwise_kernel, listwise_scratch  # type: ignore[assignment]
        self._parts, self._steps = base, steps
        self._ranks = getattr(steps, "rank", None)
        self._kernel = callable_kernel(kernel, compiled)
        plan = make_plan(base, lists, dtype, n_jobs)
        self._query_numbers = query_numbers
        if query_numbers is not None:  # kernels know a query by its place in `ptr`
            local = np.searchsorted(query_numbers, np.arange(int(query_numbers[-1]) + 2))
            plan = plan._replace(ptr=groups.ptr[local])
        # The ranking of the round before.
        order = np.empty(y.size, np.int64)
        self._task = KernelTask(lower(base, dtype), lower(steps, dtype), plan, order)
        self.restart()
        self._cost = groups.sizes.astype(np.float64) ** 2
        self._documents = (
            None if sample_weight is None else DocumentWeights(sample_weight, lists.y, groups)
        )
        self._weight: np.ndarray | None = None if weight is None else weight.astype(dtype)
        self._n_labels = most_labels(base, lists)
        self._free: list[Any] = []
        #: Where the results of each query begin, if they are of ordered pairs of documents.
        self.start = np.zeros(groups.sizes.size + 1, np.int64)
        if lifted:
            sizes = groups.sizes.astype(np.int64)
            np.cumsum(sizes * (sizes - 1), out=self.start[1:])
        self._lifted = lifted

    @property
    def ranking(self) -> np.ndarray | None:
        """The slot of each rank of each query at the last scores, if all documents were ranked."""
        return self._task.last_ranking if self._ranks == RankAll() else None

    def restart(self) -> None:
        """Forget the ranking of the round before: another training run begins."""
        sizes = self.groups.sizes  # slots count from 0 in each query
        slots = np.arange(self.groups.rows.size) - np.repeat(self.groups.ptr[:-1], sizes)
        self._task.last_ranking[:] = slots

    def start_from(self, other: "GradientComputer") -> None:
        """Take over the ranking that another computer made at the same scores: there is less left to sort."""
        if self._ranks == other._ranks:
            self._task.last_ranking[:] = other._task.last_ranking

    def __call__(self, scores: np.ndarray, round: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians at these scores of documents.

        They are in the caller's order; those of pairs come query by query, as `start` says, in the order (0, 1),
        (1, 0), (0, 2), (2, 0), ..., (1, 2), (2, 1), ... of slots.
        """
        size = int(self.start[-1]) if self._lifted else scores.size
        out = Out(np.empty(size, self.dtype), np.empty(size, self.dtype), self.start)
        state = round_state(self.seed, round)

        def run(first: int, last: int) -> None:
            scratch = self._free_scratch()
            with explaining(self.objective):
                for begin, end in self._ranges(first, last):
                    self._kernel(self._task, scratch, state, scores, out, begin, end)
            self._free.append(scratch)

        threads.run_ranges(run, self._cost, self.n_jobs)
        self._apply_weight(out)
        if not np.isfinite(out.grad.sum() + out.hess.sum()):
            raise checks.InputError(
                f"the gradients of {self.objective!r} overflow at these labels and scores; use smaller labels, "
                "or parameters nearer to their defaults."
            )
        return out.grad, out.hess

    def _ranges(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return ranges of consecutive numbers of queries, given a range of their places here."""
        if self._query_numbers is None:
            return [(first, last)]
        numbers = self._query_numbers[first:last]
        cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
        runs = np.split(numbers, cuts)
        return [(int(run[0]), int(run[-1]) + 1) for run in runs if run.size]

    def _free_scratch(self) -> Any:
        """Return memory that no thread is using: a thread's own from an earlier range, or new memory."""
        try:
            return self._free.pop()
        except IndexError:
            longest = int(self.groups.sizes.max(initial=0))
            memory = Memory(longest, self.dtype, self._n_labels)
            return self._scratch(self._parts, self._steps, memory)

    def _apply_weight(self, out: Out) -> None:
        if self._documents is not None:
            terms = Terms(out.grad.astype(np.float64), out.hess.astype(np.float64))
            out.grad[:], out.hess[:] = self.objective.weigh_documents(terms, self._documents)
        if self._weight is not None:
            per_row = self.groups.per_row(self._weight)
            factor = np.repeat(self._weight, np.diff(self.start)) if self._lifted else per_row
            out.grad[:] *= factor
            out.hess[:] *= factor


def gradients(
    objective: Any,
    y: Any,
    scores: Any,
    *,
    qid: Any = None,
    group: Any = None,
    seed: int = 0,
    round: int = 0,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the diagonal of the Hessian of an objective, to be minimised.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition.
    y, scores : array or RankingData, array
        Labels, or a data set that knows labels, queries and pairs; and current scores in the same order. Scores may be
        on a GPU: an array of CuPy, PyTorch, or with ``__cuda_array_interface__`` or DLPack.
    qid, group : array, optional
        Query ids or sizes, as in `rankwood.evaluate`.
    seed, round : int
        Where objectives that draw at random start; others don't depend on them.
    n_jobs : int, optional
        Threads; None means every core.

    Returns
    -------
    grad, hess : arrays of float64
        In the caller's order; a negative gradient pushes a document up. For scores on a GPU, arrays of float32 of the
        same library, on the same device and stream.

    Raises
    ------
    InputError
        If the objective, the labels or the scores can't be used, or have gradients of pairs (``bi-...``).

    Examples
    --------
    >>> import rankwood as rw
    >>> g, h = rw.gradients("lambdarank-ndcg(norm=False)", [1, 0], [0.0, 0.0])
    >>> g.round(6).tolist()  # half the weight 1 - 1/log2(3), as both scores are equal
    [-0.184535, 0.184535]
    """
    parsed = to_objective(objective)
    if unit_of(parsed) == "pairs":
        raise checks.InputError(
            f"gradients are those of documents, and {objective!r} has gradients of pairs: use "
            "bivariate_gradients(objective, y, S), with the pair scores S of one query."
        )
    held = beside_labels(y)
    y, groups = labels_and_groups(on_host(y), on_host(qid), on_host(group))
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    if is_device_array(scores):
        from rankwood.objectives.cuda import DeviceGradients

        return DeviceGradients(parsed, y, groups, seed=seed, **held)(scores, round)
    scores = checks.vector(scores, "scores", y.size)
    computer = GradientComputer(parsed, y, groups, n_jobs=n_jobs, seed=seed, **held)
    return computer(scores, round)
