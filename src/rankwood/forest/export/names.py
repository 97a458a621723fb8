"""Names of features and of the model in a target: mapped, and checked before anything is written."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rankwood._util import checks

#: What can stand in a ranking expression of Vespa: attribute(price), fieldMatch(title).proximity, query(x).
_VESPA = re.compile(r"[A-Za-z_][\w.$]*(\([\w,.\s()]*\))?(\.[\w.]+)?")
_ELASTICSEARCH_ID = re.compile(r"[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?")


def mapped_names(features: tuple[str, ...], names: Any, used: list[int]) -> tuple[str, ...]:
    """Return the names of features in a target.

    Parameters
    ----------
    features : tuple of str
        Names of the features in the model.
    names : None, mapping or sequence
        None keeps the names; a mapping has the target's name of each feature that the model uses, by its own; a
        sequence has one for each feature.
    used : list of int
        The columns that splits read.

    Returns
    -------
    tuple of str
        A name for each column; features that no split reads keep theirs if the mapping lacks them.

    Raises
    ------
    InputError
        If a used feature has no name in the mapping, the mapping has a name that the model lacks, or two features
        have the same name.
    """
    mapped = list(features)
    if isinstance(names, Mapping):
        unknown = next((str(name) for name in names if name not in features), None)
        if unknown is not None:
            near = checks.nearest(unknown, features)
            if unknown == "f0":
                near = ": features without names count from 1, so that f1 is column 0 of an array."
            raise checks.InputError(
                f"names has {unknown!r}, but the model has no such feature{near}"
            )
        missing = [features[column] for column in used if features[column] not in names]
        if missing:
            raise checks.InputError(
                f"names has no name for {missing[0]!r}{_and_more(missing)}, expected one for each feature that the "
                "model uses."
            )
        mapped = [names.get(name, name) for name in features]
    elif names is not None:
        if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
            raise checks.InputError(
                f"names must be a mapping or a list of names, got {type(names).__name__}."
            )
        mapped = list(names)
        if len(mapped) != len(features):
            raise checks.InputError(
                f"names has {len(mapped)} names, but the model has {len(features)} features."
            )
    _check_words(mapped)
    _check_different([mapped[column] for column in used])
    return tuple(mapped)


def _and_more(names: list[str]) -> str:
    """Return how many more there are than the first."""
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _check_words(words: list[Any]) -> None:
    """Raise unless names are words."""
    for word in words:
        if not isinstance(word, str) or not word.strip() or not word.isprintable():
            raise checks.InputError(f"names must be words, got {word!r}.")


def _check_different(words: list[str]) -> None:
    """Raise if two features have the same name."""
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise checks.InputError(
            f"two features have the name {twice[0]!r}{_and_more(twice)}, and the target can't tell them apart: give "
            "names= with one name for each."
        )


def check_expressions(names: list[str]) -> None:
    """Raise unless names can stand in a ranking expression of Vespa."""
    wrong = [name for name in names if not _VESPA.fullmatch(name)]
    if wrong:
        raise checks.InputError(
            f"Vespa can't read the feature name {wrong[0]!r}{_and_more(wrong)}: give names= with Vespa's own names, "
            "such as attribute(price) or fieldMatch(title).proximity."
        )


def model_name(name: Any, path: str, target: str) -> str:
    """Return the name of the model in a target: the one that is given, or that of the file."""
    if name is None:
        stem = re.split(r"[/\\]", path)[-1].split(".")[0]
        word = re.sub(r"[^A-Za-z0-9_.-]", "-", stem).strip("-_.") or "model"
        return word.lower()[:64].rstrip("-_.") if target == "elasticsearch" else word
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise checks.InputError(f"name must be a word, got {name!r}.")
    if target == "elasticsearch" and not _ELASTICSEARCH_ID.fullmatch(name):
        raise checks.InputError(
            f"Elasticsearch refuses the name {name!r}: at most 64 letters from a to z, digits, and - _ . between them."
        )
    return name
