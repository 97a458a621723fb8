"""The documentation: its Python runs and prints what it says, its links lead somewhere, its citations exist."""

import ast
import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

import rankwood
import rankwood.training.ranker  # parts that are imported late must be there before the first page begins
from rankwood._core.parts import PARTS
from rankwood._core.verbs import VERBS
from rankwood.metrics.evaluate import METRICS
from rankwood.objectives.families.registry import OBJECTIVES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]
BIB = ROOT / "docs" / "references.bib"

# A block of Python, and the block of text that may stand right under it: what it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+\.\d*(?:e[+-]?\d+)?")
KEY = r"[a-z]+\d{4}[a-z]?"
CITED = re.compile(rf"\[({KEY}(?:, {KEY})*)\]")


def name(page):
    return page.relative_to(ROOT).as_posix()


def citations(text):
    return {key for found in CITED.findall(text) for key in found.split(", ")}


@pytest.fixture
def session(monkeypatch, tmp_path):
    """An empty directory, a module for the page's names, and tables as they were when it is over."""
    tables = [PARTS, OBJECTIVES, METRICS, VERBS]
    before = [dict(table) for table in tables]
    monkeypatch.chdir(tmp_path)
    module = ModuleType("a_page_of_the_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yield module
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_python_blocks_run(page, session):
    text = page.read_text(encoding="utf-8")
    session.__file__ = str(page)  # where the page's parts are defined
    blocks = list(BLOCK.finditer(text))
    assert blocks, page
    for block in blocks:
        lines = text[: block.start(1)].count("\n")
        code = compile("\n" * lines + block[1], str(page), "exec")  # errors name the page's line
        out = io.StringIO()
        with redirect_stdout(out):
            exec(code, session.__dict__)
        if block[2] is not None:
            compare(out.getvalue(), block[2], f"{page.name}, line {lines}")


def compare(got, shown, where):
    """Texts must be equal, numbers with a point nearly so: another processor may train another tree."""
    assert blank(got) == blank(shown), where
    for a, b in zip(NUMBER.findall(got), NUMBER.findall(shown), strict=True):
        assert float(a) == pytest.approx(float(b), rel=0.03, abs=1e-3), where


def blank(text):
    """Return a text with # in place of numbers that have a point, and single spaces."""
    return " ".join(NUMBER.sub("#", text).split())


def test_every_block_is_seen():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == text.count("```python"), page
        assert text.count("```") % 2 == 0, page


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name)
def test_links_lead_somewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.is_file(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}"


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_is_on_the_map():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page


def test_every_citation_is_in_the_bibliography():
    entries = re.findall(rf"^@\w+\{{({KEY}),$", BIB.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(entries) == len(set(entries))
    docs = [cls.__doc__ for cls in PARTS.values() if cls.__module__.startswith("rankwood.")]
    docs += [make.__doc__ for make in (*OBJECTIVES.values(), *METRICS.values())]
    used = citations("\n".join(docs))
    assert {"burges2006", "jarvelin2002"} <= used
    for path in Path(rankwood.__file__).parent.rglob("*.py"):
        used |= citations(path.read_text(encoding="utf-8"))
    for page in PAGES:
        used |= citations(page.read_text(encoding="utf-8"))
    assert used == set(entries)


def test_entries_of_the_bibliography_are_whole():
    entries = re.split(r"^@", BIB.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for entry in entries:
        assert entry.count("{") == entry.count("}"), entry
        for field in ("author", "title", "year"):
            assert re.search(rf"^  {field} +=", entry, re.MULTILINE), entry


def test_set_up_is_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert "pip install . && rankwood demo" in text
    assert "pip install '.[test]' && pytest" in text


def test_the_tree_of_the_architecture_is_the_real_one():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = next(block for block in FENCED.findall(text) if "src/rankwood/" in block)
    shown = set(re.findall(r"\w+\.py\b", tree))
    package = Path(rankwood.__file__).parent
    assert shown == {path.name for path in package.rglob("*.py")}


def test_cited_version_is_the_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {rankwood.__version__}\n" in text
    assert f"({rankwood.__version__})" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") or (
        f"[{rankwood.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    )


def test_every_public_name_is_documented():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for public in set(rankwood.__all__) - {"__version__"}:
        assert re.search(rf"\b{public}\b", pages), public
    tree = ast.parse((ROOT / "src" / "rankwood" / "ranker.py").read_text(encoding="utf-8"))
    init = next(n for n in ast.walk(tree) if getattr(n, "name", "") == "__init__")
    for argument in (*init.args.args[1:], *init.args.kwonlyargs):
        assert re.search(rf"\b{argument.arg}\b", pages), argument.arg
