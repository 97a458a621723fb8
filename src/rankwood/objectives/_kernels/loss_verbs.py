"""Verbs of losses of pairs, of scales, and of noise."""

from typing import Annotated, Any

from rankwood._kernels.parts import Can
from rankwood._kernels.verbs import verb


@verb(kind="uncounted")
def embed(loss, score):
    """Return what `pair_derivatives` needs of one document's score.

    Parameters
    ----------
    loss : part
        The loss of pairs.
    score : float
        The score, relative to the middle of the query's range, and at most `largest_score` from 0.

    Returns
    -------
    float
        The field `embedded` of the document.
    """


@verb(kind="uncounted")
def largest_score(loss):
    """Return the largest distance of a score from 0 that `embed` can take; beyond it a loss has no slope left.

    Parameters
    ----------
    loss : part
        The loss of pairs.

    Returns
    -------
    float
        The distance; scores beyond it are clipped.
    """


@verb(kind="uncounted")
def pair_derivatives(loss, a, b):
    """Return the derivatives of the loss of a pair.

    Parameters
    ----------
    loss : part
        The loss of pairs.
    a, b : document
        The documents; `embedded` is what `embed` returned for their scores.

    Returns
    -------
    PairDerivatives
        The push if a should be above b, the push if b should be above a, and the Hessian; all without the constant
        `factors`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankwood.extend import pair_derivatives
    >>> from rankwood.objectives import Logistic
    >>> tuple(map(float, pair_derivatives(Logistic(), SimpleNamespace(embedded=3.0), SimpleNamespace(embedded=1.0))))
    (0.25, 0.75, 0.1875)
    """


@verb(kind="uncounted")
def pair_losses(loss, a, b, derivatives):
    """Return the loss if a should be above b, and the loss if b should be above a; for `RankingLoss`.

    Parameters
    ----------
    loss : part
        The loss of pairs.
    a, b : document
        The documents.
    derivatives : PairDerivatives
        What `pair_derivatives` returned for them.

    Returns
    -------
    above, below : float
        The two losses.
    """


@verb(kind="uncounted")
def factors(loss):
    """Return constant factors of the push and of the Hessian.

    Parameters
    ----------
    loss : part
        The loss of pairs.

    Returns
    -------
    push, hessian : float
        The factors.
    """


@verb(kind="uncounted")
def scale(scale, total):
    """Return the factor on a query's lambdas, given the sum of their sizes.

    Parameters
    ----------
    scale : part
        The scale of the objective.
    total : float
        Sum of the absolute values of the lambdas, over both documents of all pairs.

    Returns
    -------
    float
        The factor.
    """


@verb(kind="uncounted")
def perturb(noise, score, draw, state, out):
    """Fill `out` with noisy scores, by which the documents are ranked.

    Parameters
    ----------
    noise : part
        The noise.
    score : array of float
        Scores by slot.
    draw : int
        Number of the draw, from 0.
    state : int
        Random state of query and draw, for `uniform`, `normal`, `gumbel` and `odds`.
    out : array of float
        Noisy scores by slot.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import perturb
    >>> from rankwood.objectives import GaussianNoise, NoNoise
    >>> out = np.empty(2)
    >>> perturb(NoNoise(), np.array([1.0, 2.0]), 0, 7, out)
    >>> out.tolist()
    [1.0, 2.0]
    """


#: A field that takes a loss of pairs.
Loss = Annotated[Any, Can("pair_derivatives", needs=("embed", "largest_score", "factors"))]
#: A field that takes a scale.
Scale = Annotated[Any, Can("scale")]
#: A field that takes noise.
Noise = Annotated[Any, Can("perturb")]
