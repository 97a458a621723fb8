r"""The bivariate lifting: objectives of documents become objectives of ordered pairs of them [bivariate2024].

A model scores pairs, :math:`s_i = \frac{1}{n-1} \sum_{j \ne i} (s_{ij} - s_{ji})`; the objective itself is unchanged.
"""

from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.labels import beside_labels, labels_and_groups
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.units import unit_of


def item_scores(pair_scores: np.ndarray) -> np.ndarray:
    """Return the scores of documents from a matrix of pair scores; its diagonal isn't read."""
    n = pair_scores.shape[0]
    off = pair_scores.copy()
    np.fill_diagonal(off, 0.0)
    return (off.sum(axis=1) - off.sum(axis=0)) / max(n - 1, 1)


def bivariate_gradients(
    objective: Any, y: Any, S: Any, *, seed: int = 0, round: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and Hessians of the pair scores of one query, as two matrices.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@5"``, with or without ``bi-``, or a composition.
    y : array or RankingData
        Labels of the n documents, or a data set of one query; ideals count its `unlisted` labels.
    S : array of n rows and n columns
        Scores of the ordered pairs; the diagonal isn't read.
    seed, round : int
        Where objectives that draw at random start.

    Returns
    -------
    gradients, hessians : arrays of n rows and n columns
        By ordered pair; the diagonals are 0.

    Raises
    ------
    InputError
        If there is more than one query, or S is not a matrix of finite pair scores.

    Examples
    --------
    >>> import rankwood as rw
    >>> g, h = rw.bivariate_gradients("ranknet(norm=False)", [1, 0], [[0, 0], [0, 0]])
    >>> g.tolist(), h.tolist()
    ([[0.0, -1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    held = beside_labels(y)
    y, groups = labels_and_groups(y, None, None)
    if groups.ids.size > 1:
        raise checks.InputError(
            f"bivariate_gradients is for one query, got {groups.ids.size:,}: give it one, data.select([0])."
        )
    S = _pair_scores(S, y.size)
    seed, round = checks.at_least(seed, 0, "seed"), checks.at_least(round, 0, "round")
    parsed = to_objective(objective)
    lifted = parsed if unit_of(parsed) == "pairs" else Bivariate(parsed)
    computer = GradientComputer(lifted, y, groups, n_jobs=1, seed=seed, **held)
    derivatives = computer(item_scores(S), round)
    matrices = np.zeros((2, y.size, y.size))
    upper = np.triu_indices(y.size, 1)
    for matrix, values in zip(matrices, derivatives, strict=True):
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
