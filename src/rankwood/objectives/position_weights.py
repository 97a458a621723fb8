"""The weight that an objective gives to each pair of positions, the number of such pairs, and its cutoff.

`rankwood.diagnostics` exports what is public; `rankwood.report.plots` draws them.
"""

import inspect
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rankwood._kernels import spec
from rankwood._kernels.parts import is_part
from rankwood._util import checks
from rankwood.data.labels import labels_and_groups
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.inspection import single_use_computer, weights_only
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.units import has_pair_set, unit_of


def heat(objective: Any, n: int = 10) -> np.ndarray:
    r"""Return the weight of each pair of positions: :math:`\delta(i, j)` in Figure 1 of [lambdagap2025].

    The list has n documents. Row i, column j holds the weight of the pair of a relevant document at position i and
    an irrelevant one at position j, with no other relevant document in the list (the relevant one has label 1, or
    the lowest label that the objective calls relevant). The weight is 0 if the objective does not use the pair.
    Normalisation by scores and sums is omitted, and so is noise.

    For a binary objective whose weight depends on positions alone, this table is complete. Weights with gains are
    those of a single relevant document (so the best NDCG is 1). Pair sets that depend on labels, such as Lambda-eX's,
    are those of this list. Weights that have a direction (`NDCGLoss1`) are those of ranking the relevant document
    above the other, so their table is not symmetric.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdagap-x@3"``, or a composition. It must be made of pairs of documents.
    n : int
        Number of documents in the list.

    Returns
    -------
    array of shape (n, n)
        Weights, with zeros on the diagonal.

    Raises
    ------
    InputError
        If the objective has no pairs (``"softmax"``) or is on pairs of documents itself (``"bi-ranknet"``).

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> heat("lambdagap-s@2", 4)
    array([[0., 0., 1., 0.],
           [0., 0., 0., 1.],
           [1., 0., 0., 0.],
           [0., 1., 0., 0.]])
    """
    bare = weights_only(of_documents(objective))
    # We want the weights of the ranking itself, not of the rankings that noise would make of it.
    objective = replace(bare, noise=NoNoise(), draws=1)
    n = checks.at_least(n, 1, "n")
    relevant = getattr(objective.labels, "rel", 1.0)
    # Query i has its only relevant document at position i.
    y, groups = labels_and_groups((relevant * np.eye(n)).ravel(), None, np.full(n, n))
    scores = np.tile(np.arange(n, 0.0, -1.0), n)
    compute = single_use_computer(objective, y, groups)
    weights = compute(scores)[1].reshape(n, n)
    np.fill_diagonal(weights, 0.0)  # the Hessian of the relevant document sums over all its pairs
    return weights


def pair_counts(objective: Any, n: int = 10, ks: Iterable[int] | None = None) -> np.ndarray:
    """Return how many pairs of positions have a weight, for each cutoff: Figure 2 of [lambdagap2025].

    Parameters
    ----------
    objective : str or part
        A name, with or without ``@k``; `ks` replaces the k of a name. A composition, or a name that takes no
        cutoff, has the same count at every k.
    n : int
        Number of documents in the list.
    ks : iterable of int, optional
        Cutoffs; 1 to n by default.

    Returns
    -------
    array of int
        The number of unordered pairs of positions whose weight is not 0, for each cutoff in `ks`.

    Raises
    ------
    InputError
        If a cutoff is below 1, or for an objective that `heat` does not accept.

    Examples
    --------
    >>> from rankwood.diagnostics import pair_counts
    >>> pair_counts("lambdagap-x", 10, [1, 3, 5]).tolist()
    [45, 28, 15]
    """
    ks = range(1, n + 1) if ks is None else list(ks)
    if not has_cutoff(objective):
        return np.full(len(ks), _count(heat(objective, n)))
    at_each_k = [to_objective(objective, k=checks.at_least(k, 1, "ks")) for k in ks]
    return np.array([_count(heat(one, n)) for one in at_each_k], np.int64)


def has_cutoff(objective: Any) -> bool:
    """Return whether an objective is given by a name that takes a parameter k."""
    if not isinstance(objective, str):
        return False
    try:
        found = spec.read(objective, OBJECTIVES, "objective")
    except checks.InputError:
        return False
    return found is not None and "k" in inspect.signature(OBJECTIVES[found.name]).parameters


def cutoff(objective: Any) -> int | None:
    """Return the cutoff k of an objective: that of its weight, else that of its pair set, else None.

    Parameters
    ----------
    objective : part
        A composition.

    Returns
    -------
    int or None

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.diagnostics import cutoff
    >>> cutoff(rw.objective("lambdarank-ndcg@10"))
    10
    """
    if not has_pair_set(objective):
        return _cutoff(objective)
    return _cutoff(objective.weight) or _cutoff(objective.pairs)


def _cutoff(part: Any) -> int | None:
    """Return the first cutoff of a part or of the parts it is made of."""
    for name in ("k", "ideal"):
        value = getattr(part, name, None)
        if isinstance(value, int):
            return value
    inner = (getattr(part, f.name) for f in fields(part))
    return next((k for k in map(_cutoff, filter(is_part, inner)) if k is not None), None)


def _count(weights: np.ndarray) -> int:
    """Return the number of unordered pairs with a weight in either direction."""
    return int(np.triu((weights != 0) | (weights.T != 0)).sum())


def of_documents(objective: Any) -> Any:
    """Return an objective as a composition; raise if it is on pairs of documents (bivariate)."""
    made = to_objective(objective)
    if unit_of(made) == "pairs":
        named = isinstance(objective, str) and objective.strip().startswith("bi-")
        base = objective.strip().removeprefix("bi-") if named else made.base
        raise checks.InputError(
            f"diagnostics need an objective on documents, but {objective!r} is on pairs of documents; "
            f"give the objective that it lifts, {base!r}."
        )
    return made
