"""Search spaces: values that print themselves, and can be read back from what they print."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from rankwood._util import checks
from rankwood.tuning.spaces.dimensions import Choice, Dimension, Float, Integer, decoded

_KINDS: dict[str, Any] = {"Integer": Integer, "Float": Float, "Choice": Choice}
#: Before the name of a parameter of the objective.
OBJECTIVE = "objective."
_STAGES = ("first__", "second__")


def stage_and_name(name: str) -> tuple[str, str]:
    """Return the stage that a parameter belongs to and its name there: ``second__top`` is "top" of "second".

    The stage is empty for names without one.
    """
    for prefix in _STAGES:
        if name.startswith(prefix):
            return prefix.removesuffix("__"), name.removeprefix(prefix)
    return "", name


class Space(Mapping[str, Dimension]):
    """Parameters to tune, and the values that each can have.

    Parameters
    ----------
    dimensions : mapping of str to Integer, Float or Choice
        Names are those of the ranker and of its engine, or ``"objective."`` and a parameter of the objective, such as
        ``"objective.mu"``. Parameters of the stages of a `TwoStage` have ``"first__"`` or ``"second__"`` before them.

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
            parts = stage_and_name(name)[1].split(".") if isinstance(name, str) else [""]
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

    def decoded(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a trial that optimisers and files have in plain values.

        Parameters
        ----------
        stored : mapping
            Values by name; tuples are texts.

        Returns
        -------
        dict
            The values that trials train with.
        """
        return {name: decoded(self[name], value) for name, value in stored.items()}

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
