"""Names of other programs: tables map each to a name here, or say why there is none and which is nearest.

A row is data. `metrics.foreign_names` and `objectives.families.foreign_names` have the rows; the parser of names, its
messages and docs/names.md read them.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from rankwood._util import checks, literals
from rankwood._util.text import shortened

#: Programs as `convention=` spells them where it knows them, and as their authors do.
PROGRAMS = {
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "trec_eval": "trec_eval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "ranklib": "RankLib",
    "sklearn": "scikit-learn",
    "tensorflow_ranking": "TensorFlow Ranking",
    "rankwood": "Rankwood",
}
#: How programs write parameters: `name:key=value;key=value`, `name_10` or `name.10`; others as `name(key=value)@10`.
_FORMS = {"catboost": "options", "trec_eval": "number"}
#: "10", XGBoost's "10-", ranx's "10-l2", and the level of recall of ir_measures' IPrec@0.1.
_CUTOFF = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)?(-)?(?:l([0-9]{1,3}))?")
_SEVERAL = re.compile(r"([^,]+[@_.])([0-9]+(?:,[0-9]+)+)")
_NUMBER = re.compile(r"(.+?)[_.]([0-9][0-9.]{0,15})")

#: What a parameter is here: another name, or a name and the value of each of theirs, or a name and a function. An empty
#: name: these values change nothing here, and others can't be had.
Renamed = str | tuple[str, Mapping[Any, Any]] | tuple[str, Callable[[Any], Any]] | None


class Foreign(NamedTuple):
    """A name of another program."""

    program: str
    name: str
    #: The name here; empty if there is none.
    ours: str = ""
    #: Parameters with which ours is the same.
    given: Mapping[str, Any] = {}
    #: Their parameters by name; None means that a parameter changes nothing here. Others are passed unchanged.
    takes: Mapping[str, Renamed] = {}
    #: Values of parameters for which this row holds; None among the values: also if it is not given.
    when: Mapping[str, tuple[Any, ...]] = {}
    #: What the number behind a name means, and how it is read.
    number: tuple[str, Callable[[str], Any]] = ("k", int)
    #: Whether a cutoff must be given, as in that program.
    cutoff: bool = False
    #: What it is and what is nearest, where there is none; a remark where there is one.
    note: str = ""


class Reading(NamedTuple):
    """A name here, its parameters, and the rules of evaluation that belong to it."""

    name: str
    given: dict[str, Any]
    rules: dict[str, Any]


#: The rows by kind; metrics and objectives add theirs.
ROWS: dict[str, list[Foreign]] = {"metric": [], "objective": []}


def translate(text: str, kind: str, program: str | None = None) -> Reading | None:
    """Return the reading of a text of another program; None if no program has such a name.

    Names of `program`, if given, take precedence over those of other programs.
    """
    literals.check_length(text, kind)
    several = _SEVERAL.fullmatch(text)
    if several:
        each = [several[1] + k for k in several[2].split(",")[:4]]
        raise checks.InputError(f"{kind} {text!r} has several cutoffs: give a list, as in {each}.")
    forms = list(_forms(text.strip()))
    rows = sorted(ROWS.get(kind, ()), key=lambda row: row.program != program)
    for same in (str, str.lower):
        matches = [
            (row, inside)
            for row in rows
            for form, name, inside in forms
            if same(name) == same(row.name) and form in ("name", _form_of(row))
        ]
        if matches:
            return _chosen([(row, inside()) for row, inside in matches], text, kind)
    return None


def near(text: str, kind: str) -> str:
    """Return "; did you mean 'x'?" if a text looks like a name of another program, else nothing."""
    hint = checks.nearest(text[:80], [row.name for row in ROWS.get(kind, ())])
    return hint if "did you mean" in hint else ""


def _form_of(row: Foreign) -> str:
    return _FORMS.get(row.program, "at")


def _chosen(matches: list[tuple[Foreign, dict[str, Any]]], text: str, kind: str) -> Reading | None:
    """Return the reading of the first row that holds; None if rows of different spelling disagree."""
    fits = [(row, params) for row, params in matches if _holds(row, params)]
    if not fits:
        key, choices = _choices([row for row, _ in matches])
        program = PROGRAMS[matches[0][0].program]
        raise checks.InputError(
            f"{kind} {shortened(text, 200)!r}: {program}'s {matches[0][0].name} is read with {key}= {choices}."
        )
    if len({row.name for row, _ in fits}) > 1 and len({_meaning(row) for row, _ in fits}) > 1:
        return None
    row, params = fits[0]
    if not row.ours:
        raise checks.InputError(
            f"there is no {kind} {row.name!r} of {PROGRAMS[row.program]} here: {row.note}"
        )
    return _read(row, params, text, kind)


def _holds(row: Foreign, params: Mapping[str, Any]) -> bool:
    return all(params.get(key) in values for key, values in row.when.items())


def _choices(rows: list[Foreign]) -> tuple[str, str]:
    """Return the parameter by which rows differ, and its values as a sentence lists them."""
    key = next(iter(rows[0].when))
    values = [value for row in rows for value in row.when.get(key, ()) if value is not None]
    return key, ", ".join(map(str, dict.fromkeys(values)))


def _meaning(row: Foreign) -> str:
    return f"{row.ours}{sorted(row.given.items())}"


def _read(row: Foreign, params: Mapping[str, Any], text: str, kind: str) -> Reading:
    """Return the name here and its parameters, by a row."""
    title = f"{kind} {shortened(text, 200)!r}"
    ours, rules = dict(row.given), {}
    for key, value in params.items():
        if key == "empty":
            rules["empty"] = value
            continue
        if key == "number":
            ours[row.number[0]] = row.number[1](value)
            continue
        renamed = row.takes.get(key, key)
        if renamed is None or (key in row.when and key not in row.takes):
            continue
        if isinstance(renamed, str):
            ours[renamed] = value
        else:
            converted = _converted(renamed[1], value, f"{title}: {key}")
            ours |= {renamed[0]: converted} if renamed[0] else {}
    if row.cutoff and "k" not in ours:
        sign = "_" if _form_of(row) == "number" else "@"
        raise checks.InputError(f"{title} needs a cutoff: give one, as in {row.name}{sign}10.")
    return Reading(row.ours, ours, rules)


def _converted(how: Any, value: Any, name: str) -> Any:
    if callable(how):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise checks.InputError(f"{name} must be a number, got {value!r}.")
        return how(value)
    if value not in how:
        raise checks.InputError(
            f"{name} must be one of {', '.join(map(str, how))} here, got {value!r}."
        )
    return how[value]


def _forms(text: str) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Yield the forms in which a text can be read: the form, the name, and a function that reads parameters."""
    yield "name", text, dict
    name, colon, options = text.partition(":")
    if colon and "=" in options:
        yield "options", name.strip(), partial(_options, options, text)
        return
    match = _NUMBER.fullmatch(text)
    if match and match[2].count(".") < 2:
        number = {"number": match[2].rstrip(".")}
        yield "number", match[1], partial(dict, number)
        yield "at", match[1], partial(dict, number)
    read = _at(text)
    if read:
        yield "at", *read


def _options(options: str, text: str) -> dict[str, Any]:
    """Read `key=value;key=value`."""
    params: dict[str, Any] = {}
    for option in options.split(";"):
        key, equals, value = (word.strip() for word in option.partition("="))
        if not equals or not key.isidentifier() or key in params:
            raise checks.InputError(
                f"{shortened(text, 200)!r} can't be read as name:key=value;key=value, each key once."
            )
        try:
            params[key] = literals.read_literal(
                value.capitalize() if value in ("true", "false") else value
            )
        except checks.InputError:
            params[key] = value
    return params


def _at(text: str) -> tuple[str, Callable[[], dict[str, Any]]] | None:
    """Read `name(key=value)@10`, the parts behind the name in any order; None for any other form."""
    head, inside = text, ""
    if "(" in text:
        start, end = text.index("("), text.rfind(")") + 1
        if end < start:
            return None
        head, inside = text[:start] + text[end:], text[start:end]
    name, at, behind = (word.strip() for word in head.partition("@"))
    if not at and name.endswith("-"):
        name, behind = name[:-1], "-"
    elif not at and re.search(r"-l[0-9]{1,3}$", name):
        name, _, behind = name.rpartition("-")
        behind = "-" + behind
    match = _CUTOFF.fullmatch(behind)
    if not match or (at and not match[1]) or (match[3] and not match[2]):
        return None
    cutoff = match[1] or ""
    params: dict[str, Any] = {"level": float(cutoff)} if "." in cutoff else {}
    params |= {"k": int(cutoff)} if cutoff.isdigit() else {}
    if match[3]:
        params["rel"] = int(match[3])
    elif match[2]:
        params["empty"] = 0  # XGBoost: queries without relevant documents count as 0
    return name, partial(_arguments, inside, text, params)


def _arguments(inside: str, text: str, params: dict[str, Any]) -> dict[str, Any]:
    """Add `(key=value, ...)` to `params`; values without quotes are words."""
    if not inside:
        return params
    added = {
        key: node.id if isinstance(node, ast.Name) else literals.literal_value(node, text)
        for key, node in literals.keyword_arguments(inside, text, "(rel=2)").items()
    }
    for key in params.keys() & added.keys():
        raise checks.InputError(f"{shortened(text, 200)!r} gives {key} twice.")
    return {**params, **added}
