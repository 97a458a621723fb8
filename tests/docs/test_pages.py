"""The documentation: its Python runs and prints what it says, its links lead somewhere, its citations exist."""

import ast
import inspect
import io
import os
import re
import runpy
import sys
import warnings
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

import rankwood
import rankwood.estimators.ranker  # parts that are imported late must be there before the first page begins
import rankwood.objectives._kernels.cuda.kernels  # steps and
import rankwood.testing
from rankwood._kernels.parts import PARTS
from rankwood._kernels.verbs import VERBS
from rankwood._util.foreign_names import ROWS
from rankwood.engines.base import ENGINES
from rankwood.metrics import verbs as metric_verbs
from rankwood.metrics.evaluate import METRICS
from rankwood.objectives._kernels import verbs as objective_verbs
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.parts import labels as label_verbs
from tests.helpers.paths import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md")]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "notes"]
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]
BIB = ROOT / "docs" / "references.bib"
PACKAGE = Path(rankwood.__file__).parent
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# A block of Python, and the block of text that may stand right under it: what it prints.
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
OUTPUTS = runpy.run_path(str(ROOT / "docs" / "make_outputs.py"))
BLOCK = OUTPUTS["BLOCK"]
KEY = r"[a-z]+\d{4}[a-z]?"
CITED = re.compile(rf"\[({KEY}(?:, {KEY})*)\]")


def name(page):
    return page.relative_to(ROOT).as_posix()


def citations(text):
    return {key for found in CITED.findall(text) for key in found.split(", ")}


@pytest.fixture
def session(monkeypatch, tmp_path):
    """An empty directory, a module for the page's names, and tables as they were when it is over."""
    tables = [PARTS, OBJECTIVES, METRICS, VERBS, ENGINES]
    before = [dict(table) for table in tables]
    monkeypatch.chdir(tmp_path)
    module = ModuleType("a_page_of_the_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yield module
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


def runs_always(page):
    """Tell whether a page is one that newcomers type: its code runs in the fast suite too."""
    return page.parent == ROOT or page.parent.name == "tutorials"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=() if runs_always(page) else pytest.mark.slow)
        for page in WITH_CODE
    ],
)
def test_python_blocks_run(page, session):
    text = page.read_text(encoding="utf-8")
    for needed in re.findall(r"^<!-- needs: (\w+) -->$", text, re.MULTILINE):
        pytest.importorskip(needed, reason=f"the page is about {needed}")
        # Warnings of another program are its own matter; pytest restores the filters.
        warnings.simplefilter("ignore")
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
            got, where = out.getvalue(), f"{page.name}, line {lines}"
            assert OUTPUTS["agrees"](got, block[2]), (
                f"{where} prints\n{got}: run docs/make_outputs.py"
            )


def test_outputs_agree_to_the_digits_that_are_shown():
    agrees = OUTPUTS["agrees"]
    assert agrees("a  0.70349 b\n", "a 0.703 b") and agrees("7.0e-08 3", "7.e-08 3")
    assert not agrees("a 0.70351", "a 0.703") and not agrees("a 0.7", "b 0.7")
    assert not agrees("83 trees", "84 trees") and not agrees("0.5 0.5", "0.5")


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
    """Return the anchors of a page: those of its headings, numbered if one repeats, and marks of its own."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found = set(re.findall(r'<a id="([^"]+)"></a>', text))
    seen = Counter()
    for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def test_every_page_is_on_the_map():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    index += (ROOT / "docs" / "objectives.md").read_text(encoding="utf-8")
    for page in PAGES:
        inside = os.path.relpath(page, ROOT / "docs").replace(os.sep, "/")
        listed = inside.startswith("evidence/") or inside in ("index.md", "../README.md")
        assert listed or f"({inside})" in index, page


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


def rows_under(heading):
    """Return the rows of the first table under a heading of the architecture, without its head, as lists of cells."""
    section = ARCHITECTURE.split(f"\n## {heading}\n")[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


def verbs_in(modules):
    """Return the verbs that modules of the package have, by name."""
    found = [x for module in modules for x in vars(module).values() if inspect.isfunction(x)]
    made = [x for x in found if hasattr(x, "verb") and x.__module__.startswith("rankwood.")]
    return {x.verb.name: x.verb for x in made}


def test_the_architecture_lists_every_verb():
    verbs = verbs_in((metric_verbs, objective_verbs, label_verbs))
    listed = {}
    for call, _, _, default in rows_under("Verbs"):
        name, arguments = re.fullmatch(r"`(\w+)\(self(?:, )?(.*)\)`", call).groups()
        assert arguments == ", ".join(verbs[name].parameters[1:]), name
        assert default.startswith("`base`'s") == (verbs[name].forward is not None), name
        has_default = bool(default.removeprefix("`base`'s"))
        assert has_default == (verbs[name].default is not None), name
        listed[name] = verbs[name]
    assert listed == verbs
    internal = re.search(r"^Other verbs are internal.*?\.$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`(\w+)`", internal[0]))
    package = [module for name, module in sys.modules.items() if name.startswith("rankwood.")]
    assert named == set(verbs_in(package)) - set(verbs)


def test_no_page_imports_a_private_name():
    texts = [*PAGES, ROOT / "examples" / "README.md", *(ROOT / "examples").glob("*.py")]
    for path in texts:
        text = path.read_text(encoding="utf-8")
        for private in (
            r"\b(?:from|import) rankwood\._",
            r"\brankwood(?:\.\w+)+\._",
            r"\brw(?:\.\w+)*\._[a-z]",
        ):
            found = re.search(rf".*{private}.*", text)
            assert not found, f"{path.name}: {found[0]}"


def test_the_names_of_other_programs_are_those_of_the_tables():
    made = runpy.run_path(str(ROOT / "docs" / "make_names.py"))
    text = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    assert made["page"](text) == text, "run python docs/make_names.py"
    for kind in ("metric", "objective"):
        for row in ROWS[kind]:
            assert f"`{row.name}" in text, row


def test_the_page_of_benchmarks_is_that_of_the_results():
    made = runpy.run_path(str(ROOT / "benchmarks" / "page.py"))
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert made["page"](made["load"]()) == text, "run python -m benchmarks --page"
    rows = [row for found in made["load"]().values() for row in found["rows"]]
    targets = (ROOT / "benchmarks" / "targets.md").read_text(encoding="utf-8")
    assert made["targets"](made["load"]()) == targets, "run python -m benchmarks --page"
    verdicts = re.findall(r"^\| .* \| (?:yes|\*\*no\*\*) \|$", targets, re.MULTILINE)
    assert len(verdicts) == len(rows) > 40


def test_the_pictures_can_be_drawn_again():
    pytest.importorskip("PIL", reason="the pictures need Pillow")
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    names = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))["NAMES"]
    for objective in names:
        assert (ROOT / "docs" / "pictures" / f"{objective}.png").is_file(), objective


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
    tree = ast.parse((PACKAGE / "estimators" / "ranker.py").read_text(encoding="utf-8"))
    init = next(n for n in ast.walk(tree) if getattr(n, "name", "") == "__init__")
    for argument in (*init.args.args[1:], *init.args.kwonlyargs):
        assert re.search(rf"\b{argument.arg}\b", pages), argument.arg
