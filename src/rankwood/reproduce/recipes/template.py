"""Texts of recipes with names in braces: ``lambdarank-p@{k}``, ``{k+3}``."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from rankwood._util import checks

_NAME = re.compile(r"\{([a-z_]+)(?:([+-])(\d+))?\}")


def fill(what: Any, values: Mapping[str, Any]) -> Any:
    """Return a text, or a list or table of texts, with the names in braces replaced by their values.

    A text that is nothing but a name becomes the value itself, so that numbers stay numbers.
    """
    if isinstance(what, Mapping):
        return {name: fill(inner, values) for name, inner in what.items()}
    if isinstance(what, (list, tuple)):
        return [fill(inner, values) for inner in what]
    if not isinstance(what, str):
        return what
    alone = _NAME.fullmatch(what)
    if alone:
        return _value(alone, values, what)
    return _NAME.sub(lambda found: _text(_value(found, values, what)), what)


def _value(found: re.Match[str], values: Mapping[str, Any], text: str) -> Any:
    name, sign, step = found.groups()
    if name not in values:
        raise checks.InputError(f"{text!r} names {{{name}}}{checks.nearest(name, values)}")
    value = values[name]
    return value if sign is None else value + (int(step) if sign == "+" else -int(step))


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings(over: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the values of names, the last name varying fastest; one empty one for no names."""
    return [dict(zip(over, values, strict=True)) for values in product(*over.values())]


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return the values of names for readers: ``k = 5, metric = map``."""
    return ", ".join(f"{name} = {value}" for name, value in setting.items())


def setting_key(setting: Mapping[str, Any]) -> str:
    """Return the values of names for the cells of a CSV: ``k=5 metric=map``."""
    return " ".join(f"{name}={value}" for name, value in setting.items())
