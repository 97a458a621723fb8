"""Loops over documents in any order, and sums over them, which a team of threads can share.

A loop over `each(n)` promises that its iterations don't depend on each other; a loop over `only(i)` has one iteration.
On a CPU both are loops over a `range`, and a GPU gives each thread of a team its share of the iterations. A method that
stores to arrays in such loops alone may run on a whole team, and `@on_team` declares that. Other methods run on one
thread of the team, with the same results.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from numba.extending import overload

from rankwood._kernels.compile.jit import UNCOUNTED
from rankwood._kernels.numeric.lanes import sum_in_lanes
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import all_parts
from rankwood._kernels.verbs import VERBS

F = TypeVar("F", bound=Callable[..., Any])
#: The simulator of a device, if there is one: an object with these functions as methods.
SIMULATED: list[Any] = []


def _simulated() -> bool:
    return bool(SIMULATED) and SIMULATED[0].inside()


def each(n: Any) -> Any:
    """Return the numbers from 0 to n, in any order: a loop over them must not depend on the order.

    A function with such a loop must store into arrays in loops over `each` and `only` alone, and must not leave a loop
    before its end: on a GPU all threads of a team run it.

    Parameters
    ----------
    n : int
        Number of documents.

    Returns
    -------
    iterable of int

    Examples
    --------
    >>> from rankwood.extend import each
    >>> list(each(3))
    [0, 1, 2]
    """
    return SIMULATED[0].each(n) if _simulated() else range(n)


def only(i: Any) -> Any:
    """Return the number i alone: a loop over it is one turn, which a team does once.

    Parameters
    ----------
    i : int
        Number of a document.

    Returns
    -------
    iterable of int

    Examples
    --------
    >>> from rankwood.extend import only
    >>> list(only(2))
    [2]
    """
    return SIMULATED[0].only(i) if _simulated() else range(i, i + 1)


def sum_of(column: Any) -> Any:
    """Return the sum of a column.

    Parameters
    ----------
    column : array
        Numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import sum_of
    >>> float(sum_of(np.array([1.0, 2.0])))
    3.0
    """
    if _simulated():
        return SIMULATED[0].sum_of(column)
    return _sum(column)


def highest(column: Any) -> Any:
    """Return the place of the largest number of a column, the first of several.

    Parameters
    ----------
    column : array
        Numbers.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import highest
    >>> highest(np.array([1.0, 2.0, 2.0]))
    1
    """
    if _simulated():
        return SIMULATED[0].highest(column)
    return _highest(column)


def fill_powers(column: Any, n: Any, base: Any, k: Any) -> None:
    """Fill the first n numbers of a column with 1, b, b^2, ..., and with 0 from k on.

    Parameters
    ----------
    column : array
        Numbers to fill in.
    n, k : int
        How many to fill in, and how many are not 0.
    base : float
        The base b.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import fill_powers
    >>> column = np.empty(3)
    >>> fill_powers(column, 3, 0.5, 2)
    >>> column.tolist()
    [1.0, 0.5, 0.0]
    """
    if _simulated():
        SIMULATED[0].fill_powers(column, n, base, k)
    else:
        _fill_powers(column, n, base, k)


def _fill_powers(column, n, base, k):
    now = as_type_of(column[0], 1.0)
    for i in range(n):
        column[i] = now if i < k else as_type_of(now, 0.0)
        now *= base


def power(base, exponent):
    """Return a power by repeated squaring: threads need no power that another one computes."""
    result, square, left = as_type_of(base, 1.0), base, exponent
    while left > 0:
        result = result * square if left % 2 == 1 else result
        square *= square
        left //= 2
    return result


def _sum(column):
    return sum_in_lanes(column)


def _highest(column):
    best = 0
    for i in range(column.size):
        best = i if column[i] > column[best] else best
    return best


overload(each, jit_options={**UNCOUNTED, "forceinline": True}, strict=False)(
    lambda n: lambda n: range(n)
)
overload(only, jit_options={**UNCOUNTED, "forceinline": True}, strict=False)(
    lambda i: lambda i: range(i, i + 1)
)
overload(fill_powers, jit_options=UNCOUNTED, strict=False)(lambda column, n, base, k: _fill_powers)
overload(power, jit_options=UNCOUNTED, strict=False)(lambda base, exponent: power)
overload(sum_of, jit_options=UNCOUNTED, strict=False)(lambda column: _sum)
overload(highest, jit_options=UNCOUNTED, strict=False)(lambda column: _highest)


def on_team(method: F) -> F:
    """Declare that all threads of a team on a GPU may run a method together.

    It must store into arrays in loops over `each` and `only` alone, and so must all functions that it calls. Methods
    without this declaration run on one thread of the team: the results are the same, but it takes longer.

    Parameters
    ----------
    method : function
        A method of a part: `prepare`, `swap_record`, `perturb`, `list_gradient` or `insertion_record`.

    Returns
    -------
    function
        The same method.

    Examples
    --------
    >>> from rankwood.extend import each, on_team, part
    >>> @part
    ... class Shifted:
    ...     "Every document is moved by the same number."
    ...
    ...     @on_team
    ...     def perturb(self, score, draw, state, out):
    ...         for i in each(score.size):
    ...             out[i] = score[i] + 1.0
    """
    method.on_team = True  # type: ignore[attr-defined]
    return method


def runs_on_team(part: Any, verbs: Iterable[str]) -> bool:
    """Tell whether these verbs, of a part and of all parts inside it, are declared to run on a whole team."""
    names = list(verbs)
    methods = [VERBS[name].method(type(inside)) for inside in all_parts(part) for name in names]
    return all(getattr(method, "on_team", False) for method in methods if method is not None)
