r"""The bivariate lifting: objectives of documents become objectives of ordered pairs of them [bivariate2024].

A model scores pairs, :math:`s_i = \frac{1}{n-1} \sum_{j \ne i} (s_{ij} - s_{ji})`; the objective itself is unchanged.
"""

from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import jit
from rankwood.data.groups import Groups
from rankwood.data.labels import labels_and_groups
from rankwood.objectives.bi import Bivariate
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer


class PairGradientComputer(GradientComputer):
    """A drive of the lifted objective: scores of documents in, gradients of ordered pairs out.

    Pairs of query q begin at ``pairs[q]``, in the order (0, 1), (1, 0), (0, 2), (2, 0), ..., (1, 2), (2, 1), ... of the
    slots.
    """

    def __init__(
        self, objective: Bivariate, y: np.ndarray, groups: Groups, *args: Any, **options: Any
    ):
        super().__init__(objective.base, y, groups, *args, **options)
        self.groups = groups
        sizes = groups.sizes.astype(np.int64)
        self.pairs = np.concatenate([[0], np.cumsum(sizes * (sizes - 1))])
        self._blocks = np.concatenate([[0], np.cumsum(sizes**2)])

    def __call__(self, scores: np.ndarray, round: int = 0, cross: Any = None) -> Any:
        """Return gradients and hessians of all ordered pairs at these scores of documents."""
        bent = np.zeros(self._blocks[-1], self.real)
        grad, hess = super().__call__(scores, round, (self._blocks, bent))
        grads: np.ndarray = np.empty(self.pairs[-1], self.real)
        hesses = np.empty_like(grads)
        ptr, rows = self.groups.ptr, self.groups.rows
        # The weight of a query is in the sums of `hess` already, not in `bent`.
        factor: np.ndarray = np.ones(ptr.size - 1, self.real)
        if self._weight is not None:
            factor = self._weight[rows[ptr[:-1]]]

        def run(first: int, last: int) -> None:
            where = (ptr, rows, self._blocks, self.pairs, factor)
            lift(*where, grad, hess, bent, grads, hesses, first, last)

        threads.over(self._work, run, self.n_jobs)
        return grads, hesses


def computer_for(objective: Any) -> type[GradientComputer]:
    """Return the class that drives an objective, of documents or of pairs."""
    return PairGradientComputer if isinstance(objective, Bivariate) else GradientComputer


@jit
def lift(ptr, rows, blocks, pairs, factor, grad, hess, bent, grads, hesses, first, last):
    """Fill gradients and hessians of the ordered pairs of queries `first` to `last`."""
    for q in range(first, last):
        start, n = ptr[q], ptr[q + 1] - ptr[q]
        p = pairs[q]
        for i in range(n):
            a = rows[start + i]
            for j in range(i + 1, n):
                b = rows[start + j]
                push = (grad[a] - grad[b]) / (n - 1)
                both = factor[q] * (bent[blocks[q] + i * n + j] + bent[blocks[q] + j * n + i])
                curve = (hess[a] + both + hess[b]) / (n - 1) ** 2
                grads[p], grads[p + 1] = push, -push
                hesses[p] = hesses[p + 1] = curve
                p += 2


def item_scores(pair_scores: np.ndarray) -> np.ndarray:
    """Return the scores of documents from a matrix of pair scores; its diagonal isn't read."""
    n = pair_scores.shape[0]
    off = pair_scores.copy()
    np.fill_diagonal(off, 0.0)
    return (off.sum(axis=1) - off.sum(axis=0)) / max(n - 1, 1)


def bivariate_gradients(
    objective: Any, y: Any, S: Any, *, seed: int = 0, round: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and hessians of the pair scores of one query, as two matrices.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@5"``, with or without ``bi-``, or a composition.
    y : array or RankingData
        Labels of the n documents, or a data set of one query; ideals count the labels in its `beyond`.
    S : array of n rows and n columns
        Scores of the ordered pairs; the diagonal isn't read.
    seed, round : int
        What objectives that draw at random draw from.

    Examples
    --------
    >>> import rankwood as rw
    >>> g, h = rw.bivariate_gradients("ranknet(norm=False)", [1, 0], [[0, 0], [0, 0]])
    >>> g.tolist(), h.tolist()
    ([[0.0, -1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    beyond = getattr(y, "beyond", None)
    y, groups = labels_and_groups(y, None, None)
    if groups.ids.size > 1:
        raise checks.InputError(
            f"bivariate_gradients is for one query, got {groups.ids.size:,}: give it one, data.select([0])."
        )
    S = _pair_scores(S, y.size)
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    made = to_objective(objective)
    lifted = made if isinstance(made, Bivariate) else Bivariate(made)
    found = PairGradientComputer(lifted, y, groups, n_jobs=1, seed=seed, beyond=beyond)(
        item_scores(S), round
    )
    matrices = np.zeros((2, y.size, y.size))
    upper = np.triu_indices(y.size, 1)
    for matrix, values in zip(matrices, found, strict=True):
        matrix[upper] = values[::2]
        matrix.T[upper] = values[1::2]
    return matrices[0], matrices[1]


def _pair_scores(S: Any, n: int) -> np.ndarray:
    """Return a matrix of finite pair scores; what stands in its diagonal doesn't matter."""
    S = checks.numbers(S, "S")
    if S.shape != (n, n):
        raise checks.InputError(
            f"S must be a matrix of {n} × {n} finite pair scores, got shape {S.shape}."
        )
    bad = np.argwhere(~np.isfinite(S) & ~np.eye(n, dtype=bool))
    if len(bad):
        i, j = bad[0].tolist()
        raise checks.InputError(
            f"S must hold finite pair scores, got {S[i, j]} at row {i}, column {j}."
        )
    return S
