"""Losses and gradients of one batch of queries after another, for training loops whose batches differ.

`GradientComputer` is for one data set and many rounds. Here the objective stays, and labels come with each batch.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel, explaining
from rankwood._kernels.numeric.rng import round_state
from rankwood._kernels.parts import all_parts, lower
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.objectives._kernels.listwise import ListSteps, listwise_kernel, listwise_scratch
from rankwood.objectives._kernels.pairwise import pairwise_kernel, pairwise_scratch
from rankwood.objectives._kernels.plan import LabelledLists, Plan, Planner
from rankwood.objectives._kernels.records import KernelTask, Out
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives.units import read_labels, refuse_given_pairs
from rankwood.objectives.valued import valued

_NO_PAIRS = np.zeros(1, np.int64)  # `Out.start`, which only objectives on pairs of documents need


class Batch(NamedTuple):
    """Labelled queries, and all that is computed from them alone.

    Attributes
    ----------
    groups : Groups
        Rows by query; rows of padding belong to no query.
    n_rows : int
        Number of rows, padding included.
    plan : Plan
        What parts made of the labels.
    last_ranking : array
        Slots by rank of each query; kernels keep the ranking of the round before here.
    longest, n_labels : int
        Length of the longest list; and an upper bound of the number of different labels in a query, if a part needs
        it (else 1).
    """

    groups: Groups
    n_rows: int
    plan: Plan
    last_ranking: np.ndarray
    longest: int
    n_labels: int

    @property
    def padded(self) -> bool:
        """Whether some rows belong to no query."""
        return self.groups.rows.size < self.n_rows


class LossAndGradient(NamedTuple):
    """The loss of each query, in float64, and the gradient of their sum by score; it is 0 for padding."""

    loss: np.ndarray
    grad: np.ndarray


class BatchComputer:
    """One objective of documents in one precision: loss and gradient of any batch of queries.

    Parameters
    ----------
    objective : part
        A composition such as `Lambda(...)`, or a part that can `list_gradient`.
    real : type
        float32 or float64.
    n_jobs : int, optional
        Threads; None means every core. The result doesn't depend on it, bit for bit.
    """

    def __init__(self, objective: Any, real: type, n_jobs: int | None = None) -> None:
        refuse_given_pairs(objective, "RankingLoss")
        self.objective, self.real, self.n_jobs = objective, real, n_jobs
        inside, self._share = valued(objective)
        if hasattr(inside, "steps"):
            self._parts, self._steps = inside.steps()
            self._kernel: Any = pairwise_kernel
            self._scratch: Any = pairwise_scratch
        else:
            self._parts, self._steps = inside, ListSteps()
            self._kernel, self._scratch = listwise_kernel, listwise_scratch
        self._lowered = lower(self._parts, real), lower(self._steps, real)
        self._planner = Planner(self._parts, real)
        self._by_label = any(hasattr(part, "tables_by_label") for part in all_parts(self._parts))
        self._free: list[tuple[tuple[int, int], Any]] = []

    def batch(self, y: np.ndarray, groups: Groups) -> Batch:
        """Return labelled queries with all that is computed from them alone; labels are in float64."""
        labels = read_labels(self.objective, y)
        plan = self._planner.plan(LabelledLists(labels, groups), self.n_jobs)
        slots = np.arange(groups.rows.size) - np.repeat(groups.ptr[:-1], groups.sizes)
        longest = int(groups.sizes.max())
        n_labels = min(np.unique(plan.label).size, longest) if self._by_label else 1
        return Batch(groups, y.size, plan, slots, longest, n_labels)

    def __call__(
        self, batch: Batch, scores: np.ndarray, seed: int = 0, round: int = 0
    ) -> LossAndGradient:
        """Return loss and gradient at these scores, which are in the computer's precision."""
        groups, (objective, steps) = batch.groups, self._lowered
        new = np.zeros if batch.padded else np.empty
        out = Out(new(batch.n_rows, self.real), new(batch.n_rows, self.real), _NO_PAIRS)
        task = KernelTask(objective, steps, batch.plan, batch.last_ranking)
        state, kernel = round_state(seed, round), callable_kernel(self._kernel)
        size = batch.longest, batch.n_labels

        def run(first: int, last: int) -> None:
            scratch = self._take_scratch(size)
            with explaining(self.objective):
                kernel(task, scratch[1], state, scores, out, first, last)
            self._free.append(scratch)

        threads.run_ranges(run, groups.sizes.astype(np.float64) ** 2, self.n_jobs)
        return LossAndGradient(self._loss(batch, scores, out), out.grad)

    def _loss(self, batch: Batch, scores: np.ndarray, out: Out) -> np.ndarray:
        """Return the loss of each query, or the product of gradient and scores if no part knows the loss."""
        groups = batch.groups
        shares = out.hess if self._share is not None else out.grad * scores
        loss = np.add.reduceat(shares[groups.rows], groups.ptr[:-1], dtype=np.float64)
        loss *= 1.0 if self._share is None else self._share
        if not np.isfinite(out.grad.sum() + loss.sum()):
            raise checks.InputError(
                f"the gradients of {self.objective!r} overflow at these labels and scores; use smaller labels, "
                "or parameters nearer to their defaults."
            )
        return loss

    def _take_scratch(self, size: tuple[int, int]) -> tuple[tuple[int, int], Any]:
        """Return the size and the arrays of memory that no thread is using; too small ones are dropped.

        A size is the length of the longest list and the number of labels.
        """
        while self._free:
            try:
                found = self._free.pop()
            except IndexError:  # another thread was faster
                break
            if found[0][0] >= size[0] and found[0][1] >= size[1]:
                return found
        memory = Memory(size[0], self.real, size[1])
        return size, self._scratch(self._parts, self._steps, memory)
