"""Recipes as plain tables: what was printed, and what each row trains, without the code that runs recipes."""

import re
from itertools import product
from typing import NamedTuple

import rankwood as rw
from rankwood.engines import base


class Trained(NamedTuple):
    """What a row trains for a role: everything that a ranker is made of."""

    item: str
    row: str
    engine: str
    objective: str
    params: dict
    protocol: str


def printed(item, role, column=0):
    """Return the printed values of a role in a column, by group and name of the row."""
    return {
        (row.get("group", ""), row["name"]): row["printed"][role][column]
        for row in item["rows"]
        if role in row.get("printed", {})
    }


def best(item, role, column=0, group=""):
    """Return the names of the rows with the highest printed value of a column."""
    values = {name: v for (g, name), v in printed(item, role, column).items() if g == group}
    return [name for name, value in values.items() if value == max(values.values())]


def fill(text, names):
    """Return a text with names in braces replaced."""
    return re.sub(r"\{(\w+)\}", lambda found: str(names[found[1]]), text)


def trained(content):
    """Return what all rows of a recipe train, for each role and each value of the names in braces."""
    for name, item in content["items"].items():
        over = dict(item.get("over", {}))
        if "values" in item:
            over[item["x"]] = item["values"]
        for row in item.get("rows", ()):
            if "objective" not in row or row.get("pending"):
                continue
            called = row.get("protocol", item.get("protocol"))
            protocol = content["protocols"][called]
            for role, values in product(item["roles"], product(*over.values())):
                names = {**dict(zip(over, values, strict=True)), **row.get("let", {})}
                params = {**protocol["params"]["*"], **protocol["params"].get(role, {})}
                params |= {**row.get("params", {}), **row.get("role_params", {}).get(role, {})}
                objective = fill(row["objective"], names)
                yield Trained(name, row["name"], protocol["engine"], objective, params, called)
                fill(protocol["stop"], names)  # raises if a name is missing
                for column in item.get("columns", ()):
                    text = column if isinstance(column, str) else column["metric"]
                    rw.metric(fill(text, names))


def assert_trainable(content):
    """Check that each row's objective exists, and that its engine takes it with its parameters."""
    seen = set()
    for row in trained(content):
        key = str(row[2:5])
        if key not in seen:
            seen.add(key)
            objective = rw.objective(row.objective)
            if row.engine == "neural":
                rw.NeuralRanker(objective=objective, **row.params)._check(False)
                continue
            base.check(row.engine, objective)
            base.check_params(row.engine, row.params, objective)
    assert seen


def one_of_each_protocol(content):
    """Return a trained row of each protocol, by its name."""
    return {row.protocol: row for row in trained(content)}


def ranker(row, **more):
    """Return the ranker of a row, for two rounds."""
    if row.engine == "neural":
        small = {"epochs": 2, "batch_documents": 50, "n_jobs": 1, "verbose": False}
        return rw.NeuralRanker(objective=row.objective, **{**row.params, **small, **more})
    settings = {"n_estimators": 2, "n_jobs": 1, "verbose": False}
    return rw.Ranker(row.objective, row.engine, **settings, **{**row.params, **more})
