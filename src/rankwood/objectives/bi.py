"""The part that lifts an objective to ordered pairs of documents; `bivariate` has the kernel."""

from typing import Any, ClassVar

from rankwood._core import checks
from rankwood._core.jit import part
from rankwood.objectives._kernels.verbs import derive
from rankwood.objectives.pairwise import Lambda


@part
class Bivariate:
    r"""An objective on the scores of ordered pairs.

    The pair (i, j) has the gradient :math:`(g_i - g_j) / (n - 1)` and the hessian
    :math:`(H_{ii} - 2 H_{ij} + H_{jj}) / (n - 1)^2`, from those of `base` [bivariate2024].
    """

    base: Any = Lambda()
    unit: ClassVar[str] = "pairs"  # see `units.unit_of`

    def check(self) -> None:
        if isinstance(self.base, Bivariate):
            raise checks.InputError(
                f"an objective is lifted to pairs once, and {self.base!r} is lifted already: leave out one Bivariate."
            )
        if (
            not isinstance(self.base, Lambda)
            and getattr(type(self.base), "Raw", None) not in derive.table
        ):
            raise checks.InputError(
                f"Bivariate.base must be an objective, Lambda(...) or a part that can 'derive', got {self.base!r}."
            )
