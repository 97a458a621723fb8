"""Categorical columns of tables: X holds the position of each value among the sorted values, NaN if it is missing.

Values are stored beside X, by the name of the feature. Two tables are compared by their values, never by the numbers
that pandas, Polars or Arrow give them: these depend on the order in which a table was created.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood._util.warning import warn

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData

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
    """A categorical column as a library holds it: a number per row, below 0 if missing, and the value of each."""

    numbers: np.ndarray
    values: list[Any]


def coded_column(column: Any, name: str, text: bool = False) -> Coded | None:
    """Return a column as positions of categories, or None if it isn't categorical; with `text`, text is categorical."""
    numbered = _numbered(column)
    if numbered is None and text:
        numbered = _from_text(column)
    return None if numbered is None else _coded(numbered, name)


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
        values: list[Any] = [None] * (int(numbers.max(initial=-1)) + 1)
        texts = present.cast(str).to_list()
        for number, word in zip(present.to_physical().to_list(), texts, strict=True):
            values[number] = word
        return Numbered(numbers, values)
    if hasattr(column, "combine_chunks") and str(column.type).startswith("dictionary<"):  # Arrow
        whole = column.unify_dictionaries().combine_chunks()
        return Numbered(
            whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
            whole.dictionary.to_pylist(),
        )
    return None


def _from_text(column: Any) -> Numbered | None:
    """Return a column of text as a categorical one; None if it holds anything but text and missing values."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_numpy().tolist()
    number_of: dict[str, int] = {}
    numbers = np.full(len(values), -1, np.int64)
    for row, value in enumerate(values):
        if isinstance(value, str):
            numbers[row] = number_of.setdefault(value, len(number_of))
        elif value is not None and repr(value) != "<NA>" and value == value:
            return None
    return Numbered(numbers, list(number_of))


def _coded(column: Numbered, name: str) -> Coded:
    """Return a column as positions among the sorted values that occur."""
    numbers, value_of = column
    used = np.unique(numbers[numbers >= 0]).tolist()
    values = sorted_values({value_of[i] for i in used} - {None}, name)
    place = {value: at for at, value in enumerate(values)}
    table = np.full(len(value_of) + 1, np.nan, np.float32)  # the last entry belongs to -1
    for i in used:
        table[i] = place.get(value_of[i], np.nan)
    return Coded(table[numbers], values)


def sorted_values(values: Iterable[Any], name: str) -> tuple[Value, ...]:
    """Return distinct values in an order that depends on the values alone; raise if a file can't hold one."""
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
    X: Any, names: list[str] | None, categories: Categories, target: Categories, model: str
) -> Any:
    """Return X with the positions that values have in `target`; values that it lacks become NaN, with a warning.

    `model` names the owner of `target` in messages. Raises if a feature is categorical on one side only.
    """
    for name in target:
        if name not in categories:
            where = "as numbers" if names else "without names"
            raise checks.InputError(
                f"feature {name!r} has categories in {model}, but comes here {where}: give a table in which "
                f"the column {name!r} is categorical."
            )
    for name in categories:
        if name not in target:
            raise checks.InputError(
                f"feature {name!r} is categorical here, but {model} has numbers: convert it to numbers."
            )
    changed = [name for name in target if categories[name] != target[name]]
    if not changed:
        return X
    X = X.copy()
    for name in changed:
        at = list(names or ()).index(name)
        X[:, at] = _recoded_column(Coded(X[:, at], categories[name]), target[name], name, model)
    return X


def _recoded_column(column: Coded, target: tuple[Value, ...], name: str, model: str) -> np.ndarray:
    """Return the positions of a column's values in `target`."""
    place = {value: at for at, value in enumerate(target)}
    table = np.array([*(place.get(value, np.nan) for value in column.values), np.nan])
    present = ~np.isnan(column.codes)
    old = np.where(present, column.codes, len(column.values)).astype(np.int64)
    new = table[old]
    unseen = present & np.isnan(new)
    if unseen.any():
        values = [column.values[i] for i in np.unique(old[unseen])]
        shown = ", ".join(map(repr, values[:_SHOWN])) + (", ..." if len(values) > _SHOWN else "")
        warn(
            f"feature {name!r} has {plural(len(values), 'category')} that {model} lacks ({shown}): in "
            f"{plural(int(unseen.sum()), 'document')} the value counts as missing."
        )
    return new


def recoded_data(data: "RankingData", target: Categories, model: str) -> "RankingData":
    """Return data in which X has the positions of values in `target`; other values become missing, with a warning.

    `model` names the owner of `target` in messages.
    """
    if data.categories == target:
        return data
    recoded = copy(data)
    recoded.X = recoded_matrix(data.X, data.feature_names, data.categories, target, model)
    recoded.categories = target
    return recoded


def renamed_categories(
    categories: Categories, names: list[str] | None, new_names: list[str] | None
) -> Categories:
    """Return categories by the new names of the same features."""
    pairs = zip(names or (), new_names or (), strict=False)  # without a table there are no names
    return {new: categories[old] for old, new in pairs if old in categories}


def check_numeric(categories: Categories, target: str) -> None:
    """Raise if there are categorical features, which `target`, a kind of file, can't hold."""
    if categories:
        raise checks.InputError(
            f"feature {next(iter(categories))!r} is categorical, and {target} holds numbers only: omit it, or "
            "number its values yourself."
        )


def merged_categories(parts: list[Categories]) -> Categories:
    """Return the values of each feature in any of the parts, all of which have the same categorical features."""
    names = parts[0] if parts else {}
    return {
        name: sorted_values(set().union(*(part[name] for part in parts)), name) for name in names
    }


def categories_from_json(content: Any, names: list[str] | None, path: Any) -> Categories:
    """Return the categories of a model file from lists by name; None stands for a model without any."""
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
