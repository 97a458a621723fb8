"""Constraints on trees by the names of features: scores that rise or fall with one, features that may interact."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from rankwood._util import checks, literals
from rankwood._util.text import shortened
from rankwood.data.source import Source
from rankwood.engines import _parameters
from rankwood.objectives.units import unit_of

#: Our word for each kind of constraint, and what other programs call it.
WORDS = {
    "monotone": ("monotone_constraints", "monotone_constraint", "monotonic_cst", "mc"),
    "interactions": ("interaction_constraints", "interaction_cst"),
}
#: The names that engines have for them.
_NATIVE = {"monotone": "monotone_constraints", "interactions": "interaction_constraints"}
#: The kind of constraint of each word.
KIND = {word: kind for kind, others in WORDS.items() for word in (kind, *others)}
_FORM = {
    "monotone": "monotone={'price': -1}, with 1 for scores that rise with the feature and -1 for those that fall",
    "interactions": "interactions=[['price', 'stock'], ['title', 'body']]",
}


def check(engine: str, able: Iterable[str], params: Mapping[str, Any], objective: Any) -> None:
    """Raise if an engine lacks a constraint, or if the objective is one of pairs."""
    for word, value in params.items():
        kind = KIND.get(word)
        if kind is None or value is None:
            continue
        if unit_of(objective) == "pairs":
            raise checks.InputError(
                f"{word} is for models of documents, and bi-... compares two of them: omit it."
            )
        if kind not in able:
            raise checks.InputError(
                f"engine={engine!r} has no {kind}: use 'lightgbm' or 'xgboost'."
            )


def without(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that aren't constraints."""
    return {name: value for name, value in params.items() if name not in KIND}


def renamed(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with constraints under the engines' names, as they were given."""
    given = ((KIND.get(name, ""), name, value) for name, value in params.items())
    return {_NATIVE.get(kind, name): value for kind, name, value in given}


def by_number(params: Mapping[str, Any], data: Source) -> dict[str, Any]:
    """Return parameters with constraints under the engines' names, as lists by the numbers of features.

    Raises
    ------
    InputError
        If there is no such feature, if scores should rise or fall with a categorical one, or if a constraint has
        another form.
    """
    out = without(params)
    for word, value in params.items():
        kind = KIND.get(word)
        if kind is None or value is None:
            continue
        if kind == "monotone":
            directions = _directions(value, data, word)
            _refuse_categories(directions, params.get("categorical_feature"), data, word)
            out[_NATIVE[kind]] = directions
            continue
        groups = _groups(value, data, word)
        if word == "interactions":  # as in scikit-learn, the features that are left are a group too
            left = sorted(set(range(data.n_features)).difference(*groups))
            groups += [left] if left else []
        out[_NATIVE[kind]] = groups
    return out


def _directions(value: Any, data: Source, word: str) -> list[int]:
    """Return 1, -1 or 0 for each feature."""
    value = _parsed(value, word)
    if isinstance(value, Mapping):
        out = [0] * data.n_features
        for column, direction in value.items():
            out[_number(column, data, word)] = _direction(direction, word)
        return out
    if not isinstance(value, (list, tuple)) and not hasattr(value, "tolist"):
        raise _wrong(word, value)
    listed = value.tolist() if hasattr(value, "tolist") else list(value)
    if len(listed) != data.n_features:
        raise checks.InputError(
            f"{word} has {len(listed)} values, but there are {data.n_features} features; name the few that matter, as "
            f"in {_FORM['monotone']}."
        )
    return [_direction(one, word) for one in listed]


def _direction(value: Any, word: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Real) or value not in (-1, 0, 1):
        raise checks.InputError(f"{word}: a direction must be 1, -1 or 0, got {value!r}.")
    return int(float(value))


def _refuse_categories(directions: list[int], given: Any, data: Source, word: str) -> None:
    """Raise if a categorical feature has a direction, which LightGBM and XGBoost would ignore in silence."""
    for column in _parameters.categorical(given, data):
        if directions[column]:
            name = data.schema.labels()[column]
            raise checks.InputError(
                f"{word}: feature {name!r} is categorical, and categories have no order: omit it."
            )


def _groups(value: Any, data: Source, word: str) -> list[list[int]]:
    """Return groups of features by number."""
    value = _parsed(value, word)
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise _wrong(word, value)
    groups = list(value)
    if any(isinstance(group, (str, int)) or not isinstance(group, Iterable) for group in groups):
        raise _wrong(word, value)
    found = [sorted({_number(column, data, word) for column in group}) for group in groups]
    if not found or not all(found):
        raise checks.InputError(f"{word}: there is an empty group; write {_FORM['interactions']}.")
    return found


def _number(column: Any, data: Source, word: str) -> int:
    """Return the number of a feature; files have keys that are numbers as text."""
    names = data.feature_names
    if isinstance(column, str) and column.isdecimal() and column not in (names or ()):
        column = int(column)
    return _parameters.column_numbers([column], names, data.n_features, word)[0]


def _parsed(value: Any, word: str) -> Any:
    """Return a value, read from text if an engine would read it from text: "(1,0,-1)", "[0,1],[2]"."""
    if not isinstance(value, str):
        return value
    try:
        return literals.read_literal(value)
    except checks.InputError:
        raise _wrong(word, value) from None


def _wrong(word: str, value: Any) -> checks.InputError:
    return checks.InputError(
        f"{word} must be as in {_FORM[KIND[word]]}, got {shortened(repr(value), 200)}."
    )
