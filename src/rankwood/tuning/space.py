"""Search spaces: values that print themselves, and can be read back from what they print."""

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rankwood._core import checks


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
        """Return the whole number that is nearest to a value; the low bound if the value is not a number."""
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
        """Return the number that is nearest to a value; the low bound if the value is not a number."""
        return float(super().nearest(value))


class Choice:
    """One of some values, in no order. A choice of one value is a constant.

    Parameters
    ----------
    *values : bool, int, float, str or None
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
            if value is not None and not isinstance(value, (bool, int, float, str)):
                raise checks.InputError(
                    f"values of Choice must be numbers, text, True, False or None, got {value!r}."
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
        """Return the value itself if it is one of the choices, else the first of them."""
        kinds = [(isinstance(one, bool), one) for one in self.values]  # True is not the number 1
        known = (isinstance(value, bool), value) in kinds
        return value if known else self.values[0]


Dimension = Integer | Float | Choice
_KINDS: dict[str, Any] = {"Integer": Integer, "Float": Float, "Choice": Choice}


class Space(Mapping[str, Dimension]):
    """Parameters to tune, and the values that each can have.

    Parameters
    ----------
    dimensions : mapping of str to Integer, Float or Choice
        Names are those of `Ranker` and of its engine, or ``"objective."`` and a parameter of the objective, such as
        ``"objective.mu"``.

    Examples
    --------
    >>> from rankwood.spaces import Float, Integer, Space
    >>> space = Space({"num_leaves": Integer(7, 63, log=True), "objective.sigma": Float(0.5, 2.0)})
    >>> space
    Space({
        'num_leaves': Integer(7, 63, log=True),
        'objective.sigma': Float(0.5, 2.0),
    })
    >>> Space.parse(repr(space)) == space
    True
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise checks.InputError(
                "a space must be a dict of dimensions by name, as in Space({'num_leaves': Integer(7, 63)}), got "
                f"{dimensions!r}."
            )
        for name, dimension in dimensions.items():
            parts = name.split(".") if isinstance(name, str) else [""]
            if not all(part.isidentifier() for part in parts) or len(parts) > 2:
                raise checks.InputError(
                    f"{name!r} is not the name of a parameter; expected one such as 'num_leaves' or 'objective.mu'."
                )
            if len(parts) == 2 and parts[0] != "objective":
                raise checks.InputError(
                    f"{name!r} can't be tuned: only parameters of the objective have a dot, as in 'objective.mu'."
                )
            if not isinstance(dimension, Dimension):
                raise checks.InputError(
                    f"dimension {name!r} must be Integer(...), Float(...) or Choice(...), got {dimension!r}."
                )
        self._dimensions = dict(dimensions)

    def __getitem__(self, name: str) -> Dimension:
        return self._dimensions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dimensions)

    def __len__(self) -> int:
        return len(self._dimensions)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        lines = "".join(f"    {name!r}: {one!r},\n" for name, one in self.items())
        return f"Space({{\n{lines}}})"

    @property
    def free(self) -> dict[str, Dimension]:
        """The dimensions with more than one value."""
        return {name: one for name, one in self.items() if constant(one) is None}

    @property
    def fixed(self) -> dict[str, Any]:
        """The values of the parameters whose dimensions have one value only."""
        found = {name: constant(one) for name, one in self.items()}
        return {name: values[0] for name, values in found.items() if values is not None}

    @staticmethod
    def parse(text: str) -> "Space":
        """Return the space that a text describes, in the form in which spaces are printed.

        Parameters
        ----------
        text : str
            Such as ``"Space({'num_leaves': Integer(7, 63)})"``; comments are allowed.

        Returns
        -------
        Space

        Raises
        ------
        InputError
            If the text can't be read, or a dimension makes no sense.
        """
        try:
            match ast.parse(text.strip(), mode="eval").body:
                case ast.Call(ast.Name("Space"), [ast.Dict(keys, values)], []):
                    names = [ast.literal_eval(name) for name in keys if name is not None]
                    made = [_dimension(value) for value in values]
                    return Space(dict(zip(names, made, strict=True)))
        except checks.InputError:
            raise
        except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
            pass
        raise checks.InputError(
            "the text is not a space; expected Space({'name': Integer(low, high), ...}) with dimensions Integer, "
            "Float and Choice."
        )


def constant(dimension: Dimension) -> tuple[Any] | None:
    """Return the only value of a dimension as a tuple of one, or None if it has several; the value may be None."""
    if isinstance(dimension, Choice):
        return (dimension.values[0],) if len(dimension.values) == 1 else None
    return (dimension.low,) if dimension.low == dimension.high else None


def _dimension(node: ast.expr) -> Dimension:
    """Return the dimension that an expression describes; raise ValueError if it isn't a call with plain values."""
    match node:
        case ast.Call(ast.Name(kind), args, keywords):
            if kind not in _KINDS:
                raise checks.InputError(f"unknown dimension {kind!r}{checks.nearest(kind, _KINDS)}")
            words = {str(word.arg): ast.literal_eval(word.value) for word in keywords}
            made: Dimension = _KINDS[kind](*map(ast.literal_eval, args), **words)
            return made
    raise ValueError("not a dimension")
