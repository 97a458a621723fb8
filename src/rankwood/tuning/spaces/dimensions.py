"""Dimensions of search spaces: whole numbers, real numbers, and choices."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rankwood._util import checks


@dataclass(frozen=True)
class _Numbers:
    """Numbers between two bounds."""

    low: float
    high: float
    log: bool = False

    #: The smallest bound that `log` allows.
    _lowest_log: ClassVar[float]

    def __post_init__(self) -> None:
        kind = type(self).__name__
        for name in ("low", "high"):
            object.__setattr__(self, name, self._checked(getattr(self, name), f"{name} of {kind}"))
        checks.one_of(self.log, (True, False), f"log of {kind}")
        if self.low > self.high:
            raise checks.InputError(
                f"{kind} must have low <= high, got {self.low} and {self.high}."
            )
        if self.log and self.low < self._lowest_log:
            raise checks.InputError(
                f"{kind} with log=True must have low above 0, got {self.low}: the logarithm of 0 doesn't exist."
            )

    def __repr__(self) -> str:
        log = ", log=True" if self.log else ""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}{log})"

    @staticmethod
    def _checked(bound: Any, name: str) -> Any:
        """Return a bound, or raise if it isn't a number of this kind."""
        raise NotImplementedError

    def nearest(self, value: Any) -> Any:
        """Return the number that is nearest to a value; the low bound if the value is not a number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return self.low
        return min(max(value, self.low), self.high)


class Integer(_Numbers):
    """Whole numbers from `low` to `high`, both included.

    Parameters
    ----------
    low, high : int
        The bounds.
    log : bool
        Whether equal ratios are equally likely, instead of equal differences.

    Examples
    --------
    >>> from rankwood.spaces import Integer
    >>> Integer(15, 255, log=True)
    Integer(15, 255, log=True)
    """

    low: int
    high: int
    _lowest_log = 1

    @staticmethod
    def _checked(bound: Any, name: str) -> int:
        return checks.at_least(bound, -(2**62), name)

    def nearest(self, value: Any) -> int:
        """Return the whole number that is nearest to a value; the low bound if the value is not a number.

        Parameters
        ----------
        value : object
            Any value.

        Returns
        -------
        int
            A whole number between the bounds.
        """
        return round(super().nearest(value))


class Float(_Numbers):
    """Real numbers from `low` to `high`.

    Parameters
    ----------
    low, high : float
        The bounds.
    log : bool
        As in `Integer`.

    Examples
    --------
    >>> from rankwood.spaces import Float
    >>> Float(0.01, 0.3, log=True)
    Float(0.01, 0.3, log=True)
    """

    _lowest_log = math.ulp(0.0)

    @staticmethod
    def _checked(bound: Any, name: str) -> float:
        return checks.finite(bound, name)

    def nearest(self, value: Any) -> float:
        """Return the number that is nearest to a value; the low bound if the value is not a number.

        Parameters
        ----------
        value : object
            Any value.

        Returns
        -------
        float
            A number between the bounds.
        """
        return float(super().nearest(value))


class Choice:
    """One of some values, in no order. A choice of one value is a constant.

    Parameters
    ----------
    *values : bool, int, float, str, None or tuple of them
        The values.

    Examples
    --------
    >>> from rankwood.spaces import Choice
    >>> Choice(10, 13, 1000)
    Choice(10, 13, 1000)
    """

    def __init__(self, *values: Any) -> None:
        if not values:
            raise checks.InputError("Choice has no value: give at least one, as in Choice(5, 8).")
        for value in values:
            for one in value if isinstance(value, tuple) else (value,):
                if one is not None and not isinstance(one, (bool, int, float, str)):
                    raise checks.InputError(
                        "values of Choice must be numbers, text, True, False, None or tuples of them, such as "
                        f"(64, 32), got {value!r}."
                    )
        if len({(type(value), value) for value in values}) < len(values):
            raise checks.InputError(f"Choice{values!r} has a value twice: give each once.")
        self.values = values

    def __repr__(self) -> str:
        return f"Choice({', '.join(map(repr, self.values))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def nearest(self, value: Any) -> Any:
        """Return the value itself if it is one of the choices, else the first of them.

        Parameters
        ----------
        value : object
            Any value.

        Returns
        -------
        object
            One of the values.
        """
        kinds = [(isinstance(one, bool), one) for one in self.values]  # True is not the number 1
        known = (isinstance(value, bool), value) in kinds
        return value if known else self.values[0]


Dimension = Integer | Float | Choice


def stored(value: Any) -> Any:
    """Return a value as optimisers and files keep it: a tuple as its text, others as they are."""
    return repr(value) if isinstance(value, tuple) else value


def as_stored(dimension: Dimension) -> Dimension:
    """Return a dimension whose values optimisers and files can keep."""
    return Choice(*map(stored, dimension.values)) if isinstance(dimension, Choice) else dimension


def decoded(dimension: Dimension, value: Any) -> Any:
    """Return the value of a dimension that is kept as another."""
    if isinstance(dimension, Choice) and isinstance(value, str):
        return next((one for one in dimension.values if stored(one) == value), value)
    return value
