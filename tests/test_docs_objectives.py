"""docs/objectives.md: each name has its formula, picture, citation, cost, and the parameters it really has."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.objectives.families.parameters import RANKING_OPTIONS
from rankwood.objectives.families.registry import FAMILIES, OBJECTIVES

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "objectives.md").read_text(encoding="utf-8")
MAKE = runpy.run_path(str(DOCS / "make_parameters.py"))
SECTIONS = dict(re.findall(r"^### `([^`]+)`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
TITLED = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
SINGLE = [name for name in OBJECTIVES if "-ex" not in name]
EXTENDED = [name for name in OBJECTIVES if "-ex" in name]


def test_the_page_lists_the_parameters_of_the_tables():
    assert MAKE["made"](PAGE) == PAGE, "run python docs/make_parameters.py"


def test_every_list_of_parameters_is_made():
    start = r"^(- Parameters: |- Parameters of `[^`]+`: |Parameters of all: |\| `sigma` )"
    emptied, lists = re.subn(rf"{start}.*$", r"\1?", PAGE, flags=re.MULTILINE)
    shared = [family for family in FAMILIES if family.shared]
    alone = [name for name in SINGLE if own(name) or not shared_by(name)]
    assert lists == len(alone) + len(shared) + 3 + 1
    assert MAKE["made"](emptied) == PAGE
    for family in FAMILIES:
        assert ("\nParameters of all: " in TITLED[family.title]) == bool(family.shared)


def own(name):
    return MAKE["own"](OBJECTIVES[name])


def shared_by(name):
    return MAKE["FAMILY_OF"][name].shared


def test_common_parameters_are_said_once():
    table = PAGE.split("### The common parameters")[1].split("##")[0]
    known = inspect.signature(OBJECTIVES["ranknet"]).parameters
    for parameter in RANKING_OPTIONS:
        default = re.search(rf"^\| `{parameter.name}` \| `?([^`|]+?)`? \|", table, re.MULTILINE)[1]
        real = known[parameter.name].default
        assert type(real)(eval(default)) == real
    for name in SINGLE + EXTENDED:
        real = {parameter.name for parameter in OBJECTIVES[name].parameters}
        assert "sigma" not in real or {parameter.name for parameter in RANKING_OPTIONS} <= real


@pytest.mark.parametrize("name", SINGLE)
def test_a_section_tells_everything(name):
    text = SECTIONS[name]
    assert text.count("$$") == 2
    assert f"](pictures/{name}.png)" in text
    assert re.search(r"\[[a-z]+\d{4}", text)
    assert "- Cost: " in text
    assert text.count("\n- Parameters: ") == bool(own(name) or not shared_by(name))
    said = {parameter.name for parameter in (*own(name), *shared_by(name), *RANKING_OPTIONS)}
    assert said >= {parameter.name for parameter in OBJECTIVES[name].parameters}


def test_no_section_is_of_an_unknown_name():
    assert set(SECTIONS) == set(SINGLE)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_extended_family_is_told_by_parts(name):
    text = TITLED["Lambda-eX"]
    base, _, rest = name.partition("-ex")
    base += "-ex++" if rest.startswith("++") else "-ex"
    how = rest.removeprefix("++").removesuffix("-bin")
    assert f"| `{base}` |" in text
    assert f"| `{how}` |" in text
    assert f"](pictures/{base}-static.png)" in text
    listed = re.search(rf"^- Parameters of `{re.escape(base)}`: (.*)$", text, re.MULTILINE)[1]
    graded, two_classes = listed.rstrip(".").split("; with `-bin` ")
    assert MAKE["listed"](own(name)) == (two_classes if name.endswith("-bin") else graded)


def full_names(cell):
    """Names of a cell such as `yetiloss-ndcg`, `-dcg`, any `@k`."""
    found = []
    for name in re.findall(r"`([^`@]+)`", cell):
        found.append(found[0].split("-")[0] + name if name.startswith("-") else name)
    return [name for name in found if name in OBJECTIVES]


def test_the_page_about_engines_tells_what_catboost_trains():
    page = (DOCS / "engines.md").read_text(encoding="utf-8")
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
