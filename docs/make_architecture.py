"""Write the table of packages and the order of imports into architecture.md, from the source and from its test.

python docs/make_architecture.py
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "rankwood"
LAYERS = ROOT / "tests" / "contracts" / "test_layers.py"
#: Entries of the layers that are no packages or modules of their own.
_NO_PACKAGES = {"_version", "__main__"}


def first_line(module: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def packages(folder: Path) -> list[Path]:
    """Return the packages in a folder."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def rows() -> Iterator[str]:
    """Yield a row per module and package of the top level; the last column has the packages inside."""
    yield "| package or module | what it has | packages inside |"
    yield "|---|---|---|"
    for module in sorted(PACKAGE.glob("[a-z]*.py")):
        yield f"| `{module.stem}` | {first_line(module)} | |"
    for package in packages(PACKAGE):
        inside = ", ".join(f"`{found.name}`" for found in packages(package))
        yield f"| `{package.name}/` | {first_line(package / '__init__.py')} | {inside} |"


def layers() -> Iterator[str]:
    """Yield the layers, from the first one on, as the test has them."""
    for node in ast.parse(LAYERS.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS":
            for names in ast.literal_eval(node.value):
                yield "    " + ", ".join(name for name in names if name not in _NO_PACKAGES)


def made(page: str) -> str:
    """Return the page with today's table and layers."""
    for name, lines in (("packages", rows()), ("layers", layers())):
        block = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text = "\n" * (name == "layers") + "\n".join(lines) + "\n" * (1 + (name == "layers"))
        page = block.sub(lambda found, text=text: f"{found[1]}{text}{found[2]}", page)
    return page


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
