"""From an objective, labels and scores to gradients."""

from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import lower
from rankwood._core.rng import begin
from rankwood.data.groups import Groups
from rankwood.data.labels import labels_and_groups
from rankwood.data.unlisted import Beyond
from rankwood.objectives._kernels.listwise import each
from rankwood.objectives._kernels.plan import plan
from rankwood.objectives.bi import Bivariate
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import read


class GradientComputer:
    """One objective over one set of labelled queries: everything that stays the same between rounds.

    Parameters
    ----------
    objective : part
        A composition such as `Lambda(...)`, or a part that can `derive`.
    y : array of float64
        Labels, in the caller's order.
    groups : Groups
        Rows by query.
    weight : array of float64, optional
        Factor on the gradients and hessians of each query.
    real : type
        float64, or float32 for training: engines keep no more.
    n_jobs : int, optional
        Threads; None means every core. The result doesn't depend on it, bit for bit.
    seed : int
        Seed of objectives that draw at random.
    beyond : Beyond, optional
        Labels of documents that belong to the queries and are not here; ideals of metrics count them.
    """

    interpreted = False  # run the kernel as plain Python

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        weight: np.ndarray | None = None,
        real: type = np.float64,
        n_jobs: int | None = None,
        seed: int = 0,
        beyond: Beyond | None = None,
    ) -> None:
        self.objective = objective
        self.real = real
        self.n_jobs = n_jobs
        self.seed = seed
        self.beyond = beyond
        y = read(objective, y)
        if beyond is not None:
            beyond = beyond._replace(y=read(objective, beyond.y))
        made: Any = objective.kernel() if isinstance(objective, Lambda) else (objective, each, ())
        bare, kernel, self._options = made
        self._kernel = getattr(kernel, "py_func", kernel) if self.interpreted else kernel
        self._raw = lower(bare, real)
        self._plan = plan(bare, y, groups.ptr, groups.rows, real, n_jobs, beyond)
        # The ranking of the round before; slots count from 0 in each query.
        self.order = np.arange(y.size) - np.repeat(groups.ptr[:-1], groups.sizes)
        self._work = groups.sizes.astype(np.float64) ** 2
        self._weight = None if weight is None else groups.per_row(weight.astype(real))

    @property
    def depth(self) -> int | None:
        """How far documents are ranked: None means all of them; objectives without pairs rank none."""
        return self._options[0] if self._options else 0

    def __call__(
        self, scores: np.ndarray, round: int = 0, cross: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and hessians at these scores, in the caller's order.

        `cross` asks for the rest of the hessian too: where each query's matrix begins in an array of zeros, and the
        array.
        """
        grad: np.ndarray = np.empty(scores.size, self.real)
        hess = np.empty_like(grad)

        state = begin(self.seed, round)

        def run(first: int, last: int) -> None:
            made = (self._raw, self._plan, self.order, *self._options)
            self._kernel(*made, cross, state, scores, grad, hess, first, last)

        threads.over(self._work, run, self.n_jobs)
        if self._weight is not None:
            grad *= self._weight
            hess *= self._weight
        if not np.isfinite(grad.sum() + hess.sum()):
            raise checks.InputError(
                f"the gradients of {self.objective!r} overflow at these labels and scores; use smaller labels, "
                "or parameters nearer to their defaults."
            )
        return grad, hess


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
    """Return the gradient and the diagonal of the hessian of an objective, to be minimised.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition.
    y : array or RankingData
        Labels, or a data set that knows labels and queries.
    scores : array
        Current scores, in the order of `y`.
    qid, group : array, optional
        Query id of each row, in any order, or sizes of consecutive queries; one query without both.
    seed, round : int
        What objectives that draw at random draw from; others don't read them.
    n_jobs : int, optional
        Threads; None means every core.

    Returns
    -------
    grad, hess : arrays of float64
        In the caller's order; a negative gradient pushes a document up.

    Examples
    --------
    >>> import rankwood as rw
    >>> g, h = rw.gradients("lambdarank-ndcg(norm=False)", [1, 0], [0.0, 0.0])
    >>> g.round(6).tolist()  # half the weight 1 - 1/log2(3), as both scores are equal
    [-0.184535, 0.184535]
    """
    made = to_objective(objective)
    if isinstance(made, Bivariate):
        raise checks.InputError(
            f"gradients are those of documents, and {objective!r} has gradients of pairs: use "
            "bivariate_gradients(objective, y, S), with the pair scores S of one query."
        )
    beyond = getattr(y, "beyond", None)
    y, groups = labels_and_groups(y, qid, group)
    scores = checks.vector(scores, "scores", y.size)
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    drive = GradientComputer(made, y, groups, n_jobs=n_jobs, seed=seed, beyond=beyond)
    return drive(scores, round)
