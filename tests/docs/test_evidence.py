"""The pages of docs/evidence: each is what one command writes, with a paragraph about it by hand."""

import importlib.util
import re

import pytest

from rankwood.reproduce import items
from tests.docs.test_pages import BIB, citations
from tests.helpers.paths import ROOT

FOLDER = ROOT / "docs" / "evidence"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
#: What must be there: tables and figures of each paper.
WANTED = {
    "lambdagap": "table4 figure3 figure5",
    "lambda-ex": "table5 figure3",
    "lambdaloss": "table4 table5 figure3 figure5",
    "which-tricks": "table4 table3 figure1",
    "bivariate": "table2 table3 table4 table5",
}


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load("make_evidence")


def text_of(path):
    return path.read_text(encoding="utf-8")


def test_every_item_has_its_page():
    wanted = {f"{paper}/{item}" for paper, names in WANTED.items() for item in names.split()}
    run = [item for run in make.RUNS for item in run.items]
    assert set(run) == wanted and len(run) == len(wanted)
    assert {path.stem for path in PAGES} == {make.stem(item) for item in run}
    assert wanted <= {item.name for item in items()}
    notes = {path.stem for path in (FOLDER / "notes").iterdir()}
    assert notes == {"README", *(path.stem for path in PAGES)}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_begins_with_its_paragraph(page):
    title, paragraph, rest = text_of(page).split("\n\n", 2)
    assert title == title.splitlines()[0] and title.startswith("# ")
    assert paragraph == make.note_of(page.stem).strip()
    assert not paragraph.startswith(("#", "|", "!", "-"))
    assert "this is another data set" in rest and "test queries)" in rest
    assert "This run was made smaller than the paper's: at most" in rest
    assert "Could not be computed" not in rest and "Rows without a curve" not in rest
    assert citations(rest.replace("\\", "")) <= set(re.findall(r"@\w+\{(\w+),", text_of(BIB)))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_limits_are_those_of_the_command(page):
    [run] = [run for run in make.RUNS if page.stem in map(make.stem, run.items)]
    text = text_of(page)
    [smaller] = re.findall(r"^This run was made smaller .*$", text, re.MULTILINE)
    found = re.findall(r"at most ([\d,]+) (tree|fold|quer)", smaller)
    shown = {name: int(n.replace(",", "")) for n, name in found}
    # Seeds and the lengths of lists have sentences of their own.
    sentences = {
        "seed": r"Models were trained with (\d+) seeds",
        "top": r"lists of at most (\d+) doc",
    }
    for name, sentence in sentences.items():
        if match := re.search(sentence, text):
            shown[name] = int(match[1])
    assert shown == {name.removesuffix("s").removesuffix("ie"): n for name, n in run.limits.items()}
    [item] = [item for item in run.items if make.stem(item) == page.stem]
    for name in run.data_of(item).values():
        assert f"this is another data set, {name} (" in text
    assert run.command() in text_of(FOLDER / "README.md")


def test_files_are_those_of_the_pages_and_small():
    pictures = {
        found for page in PAGES for found in re.findall(r"\]\(([^)]+\.svg)\)", text_of(page))
    }
    assert {path.name for path in FOLDER.iterdir() if path.suffix != ".md"} == {"notes", *pictures}
    assert all(path.stat().st_size < 100_000 for path in FOLDER.glob("*.svg"))
    index = text_of(FOLDER / "README.md")
    assert all(f"({page.name})" in index for page in PAGES)


def test_a_note_goes_under_the_title():
    page = "# t\n\nfirst\n\n| a |\n"
    assert make.with_note(page, "said\n") == "# t\n\nsaid\n\nfirst\n\n| a |\n"
