"""Annotations of the fields of parts: which numbers, words and parts a field takes."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from rankwood._kernels.verbs import VERBS
from rankwood._util import checks

#: The cutoff that kernels see where a field is None ("no cutoff").
ALL = 2**62
#: All parts by name.
PARTS: dict[str, type] = {}


def is_part(x: Any) -> bool:
    """Tell whether `x` is a part."""
    return hasattr(type(x), "Lowered")


class Can:
    """Annotation of a field that takes any part with one of these verbs.

    Parameters
    ----------
    *verbs : str
        A part must have one of these.
    needs : tuple of str
        Verbs that it must have besides.

    Examples
    --------
    >>> from typing import Annotated, Any
    >>> from rankwood.extend import Can, part
    >>> from rankwood.metrics import Exp, Linear
    >>> @part
    ... class Doubled:
    ...     "Twice the gain of a label."
    ...     base: Annotated[Any, Can("gain")] = Exp()
    ...
    ...     def gain(self, label):
    ...         return 2.0 * self.base.gain(label)
    >>> Doubled(Linear()).gain(3.0)
    6.0
    """

    def __init__(self, *verbs: str, needs: tuple[str, ...] = ()) -> None:
        self.verbs, self.needs = verbs, needs

    def check(self, value: Any, name: str) -> Any:
        """Return the value, or raise with the parts that would do.

        Parameters
        ----------
        value, name : object and str
            What was given, and the name of the field for messages.

        Returns
        -------
        object
            The value.
        """
        verbs = " or ".join(map(repr, self.verbs))
        if not is_part(value) or not self._able(value):
            able = sorted(cls.__name__ for cls in PARTS.values() if self._suggests(cls))
            raise checks.InputError(
                f"{name} must be a part that can {verbs} ({', '.join(able)}), got {value!r}."
            )
        lacks = [verb for verb in self.needs if not VERBS[verb].able(value)]
        if lacks:
            raise checks.InputError(
                f"{name}: {type(value).__name__} has {verbs}, and needs the method {lacks[0]!r} too; define it, or set "
                "it to that of another part."
            )
        return value

    def _suggests(self, cls: type) -> bool:
        """Tell whether to name a part in a message: not those that only the package itself composes."""
        if getattr(cls, "internal", False) or "._kernels." in cls.__module__:
            return False
        try:
            return self._able(cls())  # an instance knows what it wraps
        except (TypeError, checks.InputError):
            return self._able(cls)

    def _able(self, part: Any) -> bool:
        return any(VERBS[verb].able(part) for verb in self.verbs)


class Number(NamedTuple):
    """Annotation of a field that takes some numbers only: ``Annotated[float, Number(checks.positive)]``."""

    check: Callable[[Any, str], float]


class OneOf:
    """Annotation of a field that takes one of these words; kernels see the index of a word among them.

    Parameters
    ----------
    *words : str
        The words, the first with the index 0.

    Examples
    --------
    >>> from typing import Annotated
    >>> from rankwood.extend import OneOf, part
    >>> @part
    ... class Rounded:
    ...     "A label, rounded."
    ...     how: Annotated[str, OneOf("down", "up")] = "down"
    ...
    ...     def gain(self, label):
    ...         whole = float(int(label))
    ...         return whole + (1.0 if self.how == 1 and whole < label else 0.0)
    >>> Rounded("up")
    Rounded(how='up')
    """

    def __init__(self, *words: str) -> None:
        self.words = words

    def check(self, value: Any, name: str) -> Any:
        """Return the word, or raise with the words that would do.

        Parameters
        ----------
        value, name : object and str
            The word, and the name of the field for messages.

        Returns
        -------
        object
            The value.
        """
        return checks.one_of(value, self.words, name)


#: A field that takes a number above 0.
Positive = Annotated[float, Number(checks.positive)]
#: A field that takes a number of at least 0.
NonNegative = Annotated[float, Number(checks.non_negative)]
#: A field that takes a number between 0 and 1, both excluded.
Fraction = Annotated[float, Number(checks.fraction)]
