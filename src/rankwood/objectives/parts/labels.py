"""How an objective reads labels: as grades, or as relevant and not."""

from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.parts import Can, Positive, part
from rankwood._kernels.verbs import verb


@verb
def read(labels, y):
    """Return the labels that the objective sees; this verb runs in Python only."""


#: A field that takes a reading of labels.
Labels = Annotated[Any, Can("read")]


@part
class Graded:
    """Labels as they are: a pair counts if its labels differ.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Graded, Lambda, Uniform
    >>> rw.gradients(Lambda(Uniform(), labels=Graded()), [2, 1], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    two_classes: ClassVar[bool] = False

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return the labels that the objective sees."""
        return y


@part
class Binary:
    """Two classes, relevant or not; the loop visits no pair inside a class.

    Parameters
    ----------
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    The labels 2 and 1 are both relevant, so that they make no pair.

    >>> import rankwood as rw
    >>> from rankwood.objectives import Binary, Lambda, Uniform
    >>> rw.gradients(Lambda(Uniform(), labels=Binary()), [2, 1, 0], [0.0, 0.0, 0.0])[0].tolist()
    [-0.5, -0.5, 1.0]
    """

    rel: Positive = 1.0
    two_classes: ClassVar[bool] = True

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return 1 for relevant documents and 0 for others."""
        return (y >= self.rel).astype(np.float64)
