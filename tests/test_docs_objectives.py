"""docs/objectives.md: each name has its formula, picture, citation, cost, and the parameters it really has."""

import inspect
import re
from pathlib import Path

import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.objectives.families.registry import OBJECTIVES

PAGE = (Path(__file__).parents[1] / "docs" / "objectives.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([^`]+)`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
FAMILIES = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
SINGLE = [name for name in OBJECTIVES if "-ex" not in name]
EXTENDED = [name for name in OBJECTIVES if "-ex" in name]
# Parameters of every name that is made of pairs: said once, in the table of the common ones.
COMMON = ("noise", "noise_scale", "permutations", "hessian")
# Families whose names share parameters that are said once.
SHARED = {
    "lambdagap": "LambdaGap",
    "yeti": "YetiRank and YetiLoss",
    "stochasticrank": "StochasticRank",
}


def parameters(text):
    """Names and defaults of a list of parameters, `k` and `name=default`."""
    listed = re.findall(r"`(\w+)(?:=([^`]+))?`", text)
    return {name: default for name, default in listed}


def own_parameters(name):
    """Parameters of a name, without those that all names of pairs have with the same defaults."""
    known = dict(inspect.signature(OBJECTIVES[name]).parameters)
    if name.startswith(("yeti", "stochasticrank")):  # noise is what these are about
        return known
    return {k: v for k, v in known.items() if k not in COMMON}


def test_common_parameters_are_said_once():
    table = (
        FAMILIES["What all of them share"]
        + PAGE.split("### The common parameters")[1].split("##")[0]
    )
    known = inspect.signature(OBJECTIVES["ranknet"]).parameters
    for parameter in COMMON:
        default = re.search(rf"^\| `{parameter}` \| `?([^`|]+?)`? \|", table, re.MULTILINE)[1]
        assert type(known[parameter].default)(eval(default)) == known[parameter].default
    for name in SINGLE + EXTENDED:
        real = inspect.signature(OBJECTIVES[name]).parameters
        assert "sigma" not in real or {*COMMON} <= {*real}, name


@pytest.mark.parametrize("name", SINGLE)
def test_a_section_tells_everything(name):
    text = SECTIONS[name]
    assert text.count("$$") == 2
    assert f"](pictures/{name}.png)" in text
    assert re.search(r"\[[a-z]+\d{4}", text)
    assert "- Cost: " in text
    known = own_parameters(name)
    shown = parameters(text.split("- Parameters: ")[1]) if "- Parameters: " in text else {}
    family = next((title for start, title in SHARED.items() if name.startswith(start)), None)
    if family:
        said = parameters(FAMILIES[family].split("Parameters of all:")[1].split("\n\n")[0])
        shown |= {k: v for k, v in said.items() if k != "mu" or "+" in name or "rank-" in name}
    assert set(shown) == set(known)
    for parameter, default in shown.items():
        real = known[parameter].default
        if parameter in ("k", "truncation"):  # none, and that of k
            assert real is None and default in ("", "k")
        else:
            assert type(real)(eval(default)) == real, parameter


def test_no_section_is_of_an_unknown_name():
    assert set(SECTIONS) == set(SINGLE)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_extended_family_is_told_by_parts(name):
    text = FAMILIES["Lambda-eX"]
    base, _, rest = name.partition("-ex")
    base += "-ex++" if rest.startswith("++") else "-ex"
    how = rest.removeprefix("++").removesuffix("-bin")
    assert f"| `{base}` |" in text
    assert f"| `{how}` |" in text
    assert f"](pictures/{base}-static.png)" in text
    for parameter in own_parameters(name):
        assert re.search(rf"`{parameter}\b", text), parameter


def full_names(cell):
    """Names of a cell such as `yetiloss-ndcg`, `-dcg`, any `@k`."""
    found = []
    for name in re.findall(r"`([^`@]+)`", cell):
        found.append(found[0].split("-")[0] + name if name.startswith("-") else name)
    return [name for name in found if name in OBJECTIVES]


def test_the_page_about_engines_tells_what_catboost_trains():
    page = (Path(__file__).parents[1] / "docs" / "engines.md").read_text(encoding="utf-8")
    section = page.split("## What CatBoost can train")[1].split("\n## ")[0]
    listed = set()
    for cells in re.findall(r"^\| (`.*?) \| (.*?) \| ?(.*?) ?\|$", section, re.MULTILINE):
        for name in full_names(cells[0]):
            listed.add(name)
            known = inspect.signature(OBJECTIVES[name]).parameters
            given = {k: eval(v) for k, v in re.findall(r"`(\w+)=([^`]+)`", cells[2]) if k in known}
            made = rw.objective(name, **given)
            base.check("catboost", made)
            assert native(made).name == re.match(r"`(\w+)", cells[1])[1]
    for name in OBJECTIVES:
        try:
            base.check("catboost", rw.objective(name))
        except rw.InputError:
            continue
        assert name in listed, name
