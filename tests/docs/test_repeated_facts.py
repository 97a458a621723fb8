"""Pages that repeat what the code has: options of commands, fields of model files."""

import argparse
import json
import re
import runpy

import pytest

import rankwood as rw
from rankwood.cli import _build
from tests.helpers.paths import DOCS

MAKE = runpy.run_path(str(DOCS / "make_cli.py"))


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_options_are_those_of_the_program():
    assert MAKE["page"]() == text_of("cli-options.md"), "run python docs/make_cli.py"


def leaves(parser):
    """Return all parsers without commands of their own."""
    own = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    found = [leaf for action in own for child in action.choices.values() for leaf in leaves(child)]
    return found if own else [parser]


def test_every_option_is_on_the_page():
    sections = dict(
        re.findall(r"^## `(.*?)`\n(.*?)(?=^## |\Z)", text_of("cli-options.md"), re.M | re.S)
    )
    parsers = [leaf for parser in _build()[1].values() for leaf in leaves(parser)]
    assert set(sections) == {parser.prog for parser in parsers}
    for parser in parsers:
        for option in set(parser._option_string_actions) - {"-h", "--help", "--json"}:
            assert re.search(rf"`{option}[ `]", sections[parser.prog]), (parser.prog, option)


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """The names in the files of a ranker and of two stages."""
    folder = tmp_path_factory.mktemp("models")
    stage = rw.Ranker(n_estimators=1, num_leaves=3, n_jobs=1)
    train = rw.load_demo("valid")
    stage.fit(train).save(folder / "one.json")
    rw.TwoStage(stage, stage, top=5, folds=2).fit(train).save(folder / "two.json")
    return [set(json.loads((folder / name).read_text())) for name in ("one.json", "two.json")]


def first_cells(section):
    """Return the names in the first column of the first table under a heading of the page of formats."""
    text = text_of("formats.md").split(f"# {section}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", text, re.M)[0]
    return {
        name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


def test_the_fields_of_a_model_file(fields):
    assert first_cells("Model files") == fields[0]


def test_the_fields_of_two_stages(fields):
    text = text_of("formats.md").split("### Two stages\n")[1].split("| field |")[0]
    shared = {"format", "format_version", "rankwood", "kind", "sha256"}
    named = set(re.findall(r"`(\w+)`", text)) - {"TwoStage"}
    assert named | first_cells("Two stages") | shared == fields[1]
