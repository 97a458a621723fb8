"""The options that decide how LETOR text is understood."""

import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rankwood._util.checks import InputError, at_least

_ALWAYS_MISSING = "null"  # as LETOR 4.0 writes it; the parser knows "nan" by itself
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)


class LetorOptions(NamedTuple):
    """The options that decide how text is understood."""

    n_features: int | None = None
    fill_value: float = 0.0  # of features that a line omits
    missing_marker: bool = False  # values of at least 1.797e308 are missing
    missing_words: tuple[str, ...] = (_ALWAYS_MISSING,)  # in lower case, all different


def checked_options(n_features: Any, absent: Any, marker: Any, missing: Any) -> LetorOptions:
    """Return the arguments of `load_letor` as options, or raise if one can't be used."""
    if n_features is not None:
        n_features = at_least(n_features, 1, "n_features")
    number = isinstance(absent, (int, float, np.integer, np.floating))
    if not number or not (absent == 0 or np.isnan(absent)):
        raise InputError(f"absent must be 0 or NaN, got {absent!r}.")
    return LetorOptions(n_features, float(absent) + 0.0, bool(marker), _words(missing))


def file_name(path: Any) -> str:
    """Return the name of a file as text."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise InputError(
            f"path must be the name of a file, text or a pathlib.Path, got {type(path).__name__}; "
            "write what is in memory to a file first."
        )
    name = os.fsdecode(path)
    if "\0" in name:
        raise InputError(
            f"path is {name!r}, and no file name has a zero byte: expected the name of a file."
        )
    return name


def _words(missing: Any) -> tuple[str, ...]:
    """Return the words for a missing value in lower case: the caller's, and NULL."""
    words = [missing] if isinstance(missing, str) else missing
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise InputError(f"missing must be a list of words, such as ['?', 'NA'], got {missing!r}.")
    return tuple(sorted({_ALWAYS_MISSING, *map(_word, words)}))


def _word(word: str) -> str:
    """Return a word for a missing value with the letters A to Z in lower case."""
    if not word or "#" in word or "\0" in word or any(char.isspace() for char in word):
        raise InputError(
            f"missing: {word!r} can't stand for a value, expected a word without blanks and '#'."
        )
    try:
        lower = word.encode().lower().decode()  # of bytes, as the parser compares them
    except UnicodeEncodeError:
        raise InputError(f"missing: {word!r} is not text that UTF-8 has.") from None
    if _NUMBER.fullmatch(lower):
        raise InputError(
            f"missing: {word!r} is a number, expected a word such as '?': replace numbers by NaN in X once the "
            "file is read."
        )
    return lower
