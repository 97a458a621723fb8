"""The pages of objectives: each name has its formula, picture, citation, cost, and the parameters it really has."""

import inspect
import re
import runpy

import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.metrics.registry import METRICS
from rankwood.objectives.families.parameters import RANKING_OPTIONS
from rankwood.objectives.families.registry import FAMILIES, OBJECTIVES
from tests.helpers.paths import DOCS

MAKE = runpy.run_path(str(DOCS / "make_parameters.py"))
PAGES = {title: page.read_text(encoding="utf-8") for title, page in MAKE["PAGES"].items()}
OVERVIEW = (DOCS / "objectives.md").read_text(encoding="utf-8")
METRIC_PAGE = (DOCS / "metrics.md").read_text(encoding="utf-8")
SECTIONS = {
    name: text
    for page in PAGES.values()
    for name, text in re.findall(r"^## `([^`]+)`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
}
SINGLE = [name for name in OBJECTIVES if "-ex" not in name]
EXTENDED = [name for name in OBJECTIVES if "-ex" in name]


@pytest.mark.parametrize("title", PAGES)
def test_pages_list_the_parameters_of_the_tables(title):
    assert MAKE["made"](PAGES[title]) == PAGES[title], "run python docs/make_parameters.py"


def test_tables_of_names_are_made():
    pytest.importorskip("catboost")  # the tables say what it can train
    for made, page in (("overview", OVERVIEW), ("metrics", METRIC_PAGE)):
        assert MAKE[made](page) == page, "run python docs/make_parameters.py"
    emptied = re.sub(r"(<!-- begin (.*?) -->\n).*?(<!-- end \2 -->)", r"\1\3", OVERVIEW, flags=re.S)
    assert len(emptied) < len(OVERVIEW) / 2
    assert MAKE["overview"](emptied) == OVERVIEW
    assert re.findall(r"^\| (?:<a.*?></a>)?\[`([^`]+)`", OVERVIEW, re.MULTILINE) == [
        name for name, row in OBJECTIVES.items() if not row.same_as
    ]
    table = METRIC_PAGE.split("<!-- begin metrics -->")[1].split("<!-- end metrics -->")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(METRICS)


def test_every_list_of_parameters_is_made():
    start = r"^(- Parameters: |- Parameters of `[^`]+`: |Parameters of all: |\| `sigma` )"
    lists = 0
    for page in PAGES.values():
        emptied, found = re.subn(rf"{start}.*$", r"\1?", page, flags=re.MULTILINE)
        assert MAKE["made"](emptied) == page
        lists += found
    shared = [family for family in FAMILIES if family.shared]
    alone = [name for name in SINGLE if own(name) or not shared_by(name)]
    assert lists == len(alone) + len(shared) + 3 + 1
    for family in FAMILIES:
        assert ("\nParameters of all: " in PAGES[family.title]) == bool(family.shared)


def own(name):
    return MAKE["own"](OBJECTIVES[name])


def shared_by(name):
    return MAKE["FAMILY_OF"][name].shared


def test_common_parameters_are_said_once():
    page = PAGES["What pairwise objectives share"]
    table = page.split("## The common parameters")[1].split("##")[0]
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
    assert f"](../pictures/{name}.png)" in text
    assert re.search(r"\[[a-z]+\d{4}", text)
    assert text.count("\n- Parameters: ") == bool(own(name) or not shared_by(name))
    said = {parameter.name for parameter in (*own(name), *shared_by(name), *RANKING_OPTIONS)}
    assert said >= {parameter.name for parameter in OBJECTIVES[name].parameters}


def test_no_section_is_of_an_unknown_name():
    assert set(SECTIONS) == set(SINGLE)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_extended_family_is_told_by_parts(name):
    text = PAGES["Lambda-eX"]
    base, _, rest = name.partition("-ex")
    base += "-ex++" if rest.startswith("++") else "-ex"
    how = rest.removeprefix("++").removesuffix("-bin")
    assert f"| `{base}` |" in text
    assert f"| `{how}` |" in text
    assert f"](../pictures/{base}-static.png)" in text
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
