"""Recipes as plain tables, without the reader: what tests of the transcriptions look at."""

import re
import tomllib
from pathlib import Path

import numpy as np

import rankwood

FOLDER = Path(rankwood.__file__).parent / "reproduce" / "recipes"


def load(name):
    """Return a recipe by the name of its paper."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def key(row):
    return (row["group"], row["name"]) if "group" in row else row["name"]


def rows(item):
    """Return the rows of an item by name, or by group and name."""
    made = {key(row): row for row in item["rows"]}
    assert len(made) == len(item["rows"])
    return made


def numbers(row, roles):
    """Return the printed numbers of a row, a line for each role."""
    assert set(row["printed"]) == set(roles)
    return np.array([row["printed"][role] for role in roles], float)


def marks(row, roles):
    """Return the printed marks of a row in the same form."""
    found = row.get("marks", {})
    size = len(next(iter(row["printed"].values())))
    return np.array([found.get(role, [""] * size) for role in roles])


def objectives(item):
    """Yield every objective of an item with its names in braces filled in, for every value of `over` and of x."""
    values = {**item.get("over", {})}
    if "x" in item:
        values[item["x"]] = item["values"]
    for row in item.get("rows", []):
        for text in [row.get("objective"), *row.get("role_objective", {}).values()]:
            if text is not None:
                yield from _filled(text, {**values, **row.get("only", {})})
    for example in item.get("examples", []):
        yield example["objective"]


def _filled(text, values):
    found = re.search(r"\{([a-z]+)([+-]\d+)?\}", text)
    if found is None:
        return [text]
    name, step = found.groups()
    steps = [value + int(step or 0) for value in values[name]]
    return [
        full
        for value in steps
        for full in _filled(text[: found.start()] + str(value) + text[found.end() :], values)
    ]
