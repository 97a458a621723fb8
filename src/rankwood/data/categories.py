"""Categorical columns of tables: X holds the position of each value among the sorted values, NaN if it is missing.

Values are kept beside X, by the name of the feature. What is compared between two tables is always the values, never
the numbers that pandas, Polars or Arrow give them: these depend on the order in which a table was made.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.text import plural
from rankwood._core.warning import warn

Value = str | bool | int | float
#: The values of each categorical feature, by its name; the others have numbers.
Categories = dict[str, tuple[Value, ...]]

_KINDS = (str, bool, int, float)
_SHOWN = 3  # values that a message repeats
_MOST = 2**24  # positions below it are exact in float32


class Coded(NamedTuple):
    """A categorical column: the position of each row's value in `values`, NaN if it is missing."""

    codes: np.ndarray
    values: tuple[Value, ...]


class Numbered(NamedTuple):
    """A categorical column as a library holds it: a number for each row, below 0 if missing, and what it stands for."""

    numbers: np.ndarray
    stands_for: list[Any]


def coded_column(column: Any, name: str, text: bool = False) -> Coded | None:
    """Return a column as positions of categories, or None if it isn't categorical; `text`: take text for categories."""
    found = _numbered(column)
    if found is None and text:
        found = _from_text(column)
    return None if found is None else _coded(found, name)


def _numbered(column: Any) -> Numbered | None:
    """Return a categorical column of pandas, Polars or Arrow; None if it is a column of another kind."""
    dtype = getattr(column, "dtype", None)
    kind = type(dtype).__name__
    if hasattr(column, "iloc"):  # pandas
        if str(dtype).startswith("dictionary<"):  # Arrow's type in pandas
            column = column.astype(object).astype("category")
        if not hasattr(column, "cat"):
            return None
        return Numbered(column.cat.codes.to_numpy(), column.cat.categories.tolist())
    if hasattr(column, "to_physical") and kind in ("Categorical", "Enum"):  # Polars
        present = column.drop_nulls().unique()
        numbers = column.to_physical().cast(int).fill_null(-1).to_numpy()
        stands_for: list[Any] = [None] * (int(numbers.max(initial=-1)) + 1)
        texts = present.cast(str).to_list()
        for number, word in zip(present.to_physical().to_list(), texts, strict=True):
            stands_for[number] = word
        return Numbered(numbers, stands_for)
    if hasattr(column, "combine_chunks") and str(column.type).startswith("dictionary<"):  # Arrow
        whole = column.unify_dictionaries().combine_chunks()
        return Numbered(
            whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
            whole.dictionary.to_pylist(),
        )
    return None


def _from_text(column: Any) -> Numbered | None:
    """Return a column of text as a categorical one; None if it holds anything else than text and missing values."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_numpy().tolist()
    numbers: dict[str, int] = {}
    found = np.full(len(values), -1, np.int64)
    for row, value in enumerate(values):
        if isinstance(value, str):
            found[row] = numbers.setdefault(value, len(numbers))
        elif value is not None and repr(value) != "<NA>" and value == value:
            return None
    return Numbered(found, list(numbers))


def _coded(column: Numbered, name: str) -> Coded:
    """Return positions among the sorted values that are there."""
    numbers, stands_for = column
    used = np.unique(numbers[numbers >= 0]).tolist()
    values = sorted_values({stands_for[i] for i in used} - {None}, name)
    place = {value: at for at, value in enumerate(values)}
    table = np.full(len(stands_for) + 1, np.nan, np.float32)  # the last entry is that of -1
    for i in used:
        table[i] = place.get(stands_for[i], np.nan)
    return Coded(table[numbers], values)


def sorted_values(values: Iterable[Any], name: str) -> tuple[Value, ...]:
    """Return different values in an order that depends on nothing else; raise if a file can't hold one."""
    values = list(values)
    for value in values:
        finite = not isinstance(value, float) or np.isfinite(value)
        if not isinstance(value, _KINDS) or not finite:
            raise checks.InputError(
                f"column {name!r} has a category {value!r} ({type(value).__name__}), expected text or finite numbers: "
                "convert the column to text first."
            )
    if len(values) >= _MOST:
        raise checks.InputError(
            f"column {name!r} has {len(values)} categories, expected less than {_MOST}: is it an id of documents?"
        )
    return tuple(sorted(values, key=lambda value: (isinstance(value, str), value)))


def recoded_matrix(
    X: Any, names: list[str] | None, have: Categories, wanted: Categories, model: str
) -> Any:
    """Return X with the positions that values have in `wanted`; values that aren't there become NaN, with a warning.

    `model` is what has the wanted categories, in sentences. Raises if a feature is categorical on one side only.
    """
    for name in wanted:
        if name not in have:
            where = "as numbers" if names else "without names"
            raise checks.InputError(
                f"feature {name!r} has categories in {model}, but comes here {where}: give a table in which "
                f"the column {name!r} is categorical."
            )
    for name in have:
        if name not in wanted:
            raise checks.InputError(
                f"feature {name!r} is categorical here, but {model} has numbers: convert it to numbers."
            )
    changed = [name for name in wanted if have[name] != wanted[name]]
    if not changed:
        return X
    X = X.copy()
    for name in changed:
        at = list(names or ()).index(name)
        X[:, at] = _recoded_column(Coded(X[:, at], have[name]), wanted[name], name, model)
    return X


def _recoded_column(column: Coded, wanted: tuple[Value, ...], name: str, model: str) -> np.ndarray:
    """Return the positions of a column's values in `wanted`."""
    place = {value: at for at, value in enumerate(wanted)}
    table = np.array([*(place.get(value, np.nan) for value in column.values), np.nan])
    given = ~np.isnan(column.codes)
    old = np.where(given, column.codes, len(column.values)).astype(np.int64)
    new = table[old]
    unseen = given & np.isnan(new)
    if unseen.any():
        values = [column.values[i] for i in np.unique(old[unseen])]
        shown = ", ".join(map(repr, values[:_SHOWN])) + (", ..." if len(values) > _SHOWN else "")
        warn(
            f"feature {name!r} has {plural(len(values), 'category')} that {model} lacks ({shown}): in "
            f"{plural(int(unseen.sum()), 'document')} the value counts as missing."
        )
    return new


def renamed(
    categories: Categories, names: list[str] | None, others: list[str] | None
) -> Categories:
    """Return categories by the other names of the same features."""
    pairs = zip(names or (), others or (), strict=False)  # without a table there are no names
    return {other: categories[name] for name, other in pairs if name in categories}


def numbers_only(categories: Categories, what: str) -> None:
    """Raise if there are categorical features; `what` holds numbers only."""
    if categories:
        raise checks.InputError(
            f"feature {next(iter(categories))!r} is categorical, and {what} holds numbers only: leave it out, or "
            "number its values yourself."
        )


def union(parts: list[Categories]) -> Categories:
    """Return the values of each feature in any of the parts, all of which have the same categorical features."""
    names = parts[0] if parts else {}
    return {
        name: sorted_values(set().union(*(part[name] for part in parts)), name) for name in names
    }


def from_json(content: Any, names: list[str] | None, path: Any) -> Categories:
    """Return the categories that a model file holds, as lists by name; None in files of models without any."""
    if content is None:
        return {}
    broken = checks.InputError(
        f"{path} is damaged: 'categories' must hold lists of different values by names of features."
    )
    if not isinstance(content, Mapping):
        raise broken
    for name, values in content.items():
        sound = isinstance(values, list) and all(isinstance(value, _KINDS) for value in values)
        if name not in (names or ()) or not sound or len(set(values)) < len(values):
            raise broken
    return {name: tuple(values) for name, values in content.items()}
