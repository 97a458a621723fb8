"""Copy the pages of the repository to a folder that Sphinx reads.

The pages link to each other as files do, so that they can be read in an editor or a repository browser. Here they get
the addresses of the site, citations become references, and the map of pages (docs/index.md) becomes the front page and
a page per section.
"""

import os
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import NamedTuple

#: Pages outside docs/, and where they are on the site.
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "SECURITY.md": "project/reporting.md",
}
#: Links of the map to pages that reference.py writes.
GENERATED = {
    "Reference": (
        "- [Python reference](reference/index.md): every public name, with parameters and an example\n"
        "- [Table of objectives](reference/objective-table.md) and [table of metrics](reference/metric-table.md)\n"
        "- [Bibliography](bibliography.md): all papers that these pages cite\n"
    )
}
_LEFT_OUT = ("docs/site/", "docs/evidence/notes/")
_FENCED = re.compile(r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)[ ]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_CITED = re.compile(r"\\?\[([a-z]+\d{4}[a-z]?(?:, [a-z]+\d{4}[a-z]?)*)\\?\]")


class Section(NamedTuple):
    """A section of the map: its title, and its text with links to pages."""

    title: str
    text: str

    @property
    def page(self) -> str:
        """Return the name of the section's page."""
        return "sections/" + re.sub(r"\W+", "-", self.title.lower())


class _Staging(NamedTuple):
    root: Path
    out: Path
    keys: frozenset[str]
    copied: set[str]


def stage(root: Path, out: Path) -> None:
    """Copy all pages under `root` to `out`."""
    bibliography = (root / "docs" / "references.bib").read_text(encoding="utf-8")
    keys = frozenset(re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE))
    run = _Staging(root, out, keys, set())
    pages = [*root.glob("docs/**/*.md"), *root.glob("examples/*.md")]
    pages += [root / name for name in OUTSIDE if name != "README.md"]
    for page in pages:
        inside = page.relative_to(root).as_posix()
        if page.is_file() and inside != "docs/index.md" and not inside.startswith(_LEFT_OUT):
            _write(out / address(inside), _converted(run, inside))
    _write_map(run)
    for folder in ("evidence", "examples"):
        _list_folder(out / folder, out / folder / "README.md")
    _list_folder(out / "objectives", out / "objectives.md")


def address(inside: str) -> str:
    """Return the place on the site of a file of the repository."""
    if inside in OUTSIDE:
        return OUTSIDE[inside]
    return inside.removeprefix("docs/")


def sections(text: str) -> list[Section]:
    """Return the sections of the map, without what stands below a line at the end."""
    _, *rest = re.split(r"^## (.+)\n", text.partition("\n---\n")[0], flags=re.MULTILINE)
    return [
        Section(title, f"{GENERATED.get(title, '')}\n{body.strip()}\n")
        for title, body in zip(rest[::2], rest[1::2], strict=True)
    ]


def _write_map(run: _Staging) -> None:
    text = (run.root / "docs" / "index.md").read_text(encoding="utf-8")
    listed: set[str] = set()
    for section in sections(text):
        _write(run.out / f"{section.page}.md", _section_page(run, section, listed))
    toctree = _toctree([section.page for section in sections(text)])
    _write(
        run.out / "index.md",
        "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
        f"{_converted_text(run, text, 'docs/index.md')}{toctree}",
    )


def _toctree(entries: list[str]) -> str:
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"


def _list_folder(folder: Path, above: Path) -> None:
    """Put all pages of a folder below the page `above` in the menu, in the order of its links, else of names."""
    text = above.read_text(encoding="utf-8")
    start = os.path.relpath(folder, above.parent).replace(os.sep, "/").removeprefix(".")
    names = [
        f"{start}/{page.stem}".removeprefix("/")
        for page in sorted(folder.glob("*.md"))
        if page != above
    ]
    names.sort(key=lambda name: (text.find(f"]({name}.md") % (len(text) + 1), name))
    above.write_text(text + _toctree(names), encoding="utf-8")


def _section_page(run: _Staging, section: Section, listed: set[str]) -> str:
    """Return the page of a section, with all pages that it links to in the menu, unless they are `listed` already."""
    text = f"# {section.title}\n\n{section.text}"
    targets = [address(_target("docs/index.md", link)) for link in _LINK.findall(section.text)]
    new = [page for page in dict.fromkeys(targets) if page.endswith(".md") and page not in listed]
    listed.update(new)
    entries = [f"/{page.removesuffix('.md')}" for page in new]
    return _converted_text(run, text, "docs/index.md", f"{section.page}.md") + _toctree(entries)


def _converted(run: _Staging, inside: str) -> str:
    return _converted_text(run, (run.root / inside).read_text(encoding="utf-8"), inside)


def _converted_text(run: _Staging, text: str, inside: str, place: str | None = None) -> str:
    """Return the text of a page with links and citations of the site; code stays as it is."""
    place = place or address(inside)

    def prose(part: str) -> str:
        part = _LINK.sub(lambda match: _linked(run, match[1], inside, place), part)
        return _outside(
            _CODE, part, lambda words: _CITED.sub(lambda match: _cited(run, match), words)
        )

    return _outside(_FENCED, text, prose)


def _outside(pattern: re.Pattern[str], text: str, change) -> str:  # type: ignore[no-untyped-def]
    """Return a text whose pieces outside a pattern are changed."""
    pieces, end = [], 0
    for match in pattern.finditer(text):
        pieces += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*pieces, change(text[end:])])


def _cited(run: _Staging, match: re.Match[str]) -> str:
    keys = match[1].split(", ")
    return f"{{cite:p}}`{','.join(keys)}`" if run.keys.issuperset(keys) else match[0]


def _target(inside: str, link: str) -> str:
    """Return the file of the repository that a link of a page leads to."""
    return os.path.normpath(PurePosixPath(inside).parent / link.partition("#")[0]).replace(
        os.sep, "/"
    )


def _linked(run: _Staging, link: str, inside: str, place: str) -> str:
    if re.match(r"[a-z]+:", link) or link.startswith("#"):
        return link
    target, anchor = _target(inside, link), link.partition("#")[2]
    where = address(target)
    if not target.endswith(".md") and target not in run.copied:  # pictures, scripts and other files
        run.copied.add(target)
        (run.out / where).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(run.root / target, run.out / where)
    relative = os.path.relpath(where, PurePosixPath(place).parent).replace(os.sep, "/")
    return f"{relative}#{anchor}" if anchor else relative


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
