"""The part that lifts an objective to ordered pairs of documents."""

from typing import Any, ClassVar

from rankwood._kernels.parts import is_part, part
from rankwood._util import checks
from rankwood.objectives._kernels.verbs import list_gradient
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.units import unit_of


@part
class Bivariate:
    r"""An objective on the scores of ordered pairs.

    The pair (i, j) has the gradient :math:`(g_i - g_j) / (n - 1)` and the Hessian
    :math:`(H_{ii} - 2 H_{ij} + H_{jj}) / (n - 1)^2`, from those of `base` [bivariate2024].

    Parameters
    ----------
    base : part
        Objective of documents.

    Examples
    --------
    Scores of pairs are a square table: row i and column j hold the score of ranking i above j.

    >>> import numpy as np
    >>> import rankwood as rw
    >>> from rankwood.objectives import Bivariate, Lambda, Uniform
    >>> grad, hess = rw.bivariate_gradients(Bivariate(Lambda(Uniform())), [1, 0], np.zeros((2, 2)))
    >>> grad.tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """

    base: Any = Lambda()
    unit: ClassVar[str] = "pairs"

    def check(self) -> None:
        """Raise unless `base` is an objective of documents."""
        if unit_of(self.base) == "pairs":
            raise checks.InputError(
                f"an objective is lifted to pairs once, and {self.base!r} is lifted already: omit one Bivariate."
            )
        if not is_objective(self.base):
            raise checks.InputError(
                "Bivariate.base must be an objective, Lambda(...) or a part that can 'list_gradient', "
                f"got {self.base!r}."
            )


def is_objective(x: Any) -> bool:
    """Tell whether a part is an objective: a sum over pairs, one of whole lists, or one of these lifted to pairs."""
    return is_part(x) and (
        hasattr(x, "steps") or list_gradient.verb.able(x) or unit_of(x) == "pairs"
    )
