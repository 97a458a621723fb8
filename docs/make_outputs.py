"""Run the Python of pages and write what it prints under it: `python docs/make_outputs.py [PAGE ...]`.

A block of text right under a block of Python is what the block prints; the tests compare the two. Without names, all
pages are run. An output that agrees to the digits shown is left as it is. Pages that need a package that isn't
installed are left as they are.
"""

import io
import os
import re
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stdout
from decimal import Decimal
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+\.\d*(?:e[+-]?\d+)?")
NEEDS = re.compile(r"^<!-- needs: (\w+) -->$", re.MULTILINE)


def run(page: Path) -> str:
    """Return the text of a page with today's outputs; blocks of a page share their names."""
    text = page.read_text(encoding="utf-8")
    if any(find_spec(name) is None for name in NEEDS.findall(text)):
        return text
    warnings.simplefilter("ignore")
    module = ModuleType("a_page_of_the_documentation")
    module.__file__ = str(page)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(ROOT / "tests"))  # as in tests: pages use the oracles
    made, end = "", 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for block in BLOCK.finditer(text):
            lines = text[: block.start(1)].count("\n")
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile("\n" * lines + block[1], str(page), "exec"), module.__dict__)
            if block[2] is not None:
                got = out.getvalue()
                made += text[end : block.start(2)]
                made += block[2] if agrees(got, block[2]) else got.rstrip("\n") + "\n"
                end = block.end(2)
    return made + text[end:]


def agrees(got: str, shown: str) -> bool:
    """Tell whether a page shows what was printed: the same words, and numbers rounded to the digits that it shows."""
    (got_words, got_numbers), (shown_words, shown_numbers) = _split(got), _split(shown)
    return got_words == shown_words and all(map(_rounds_to, got_numbers, shown_numbers))


def _split(text: str) -> tuple[str, list[str]]:
    """Return a text without its numbers, with single spaces, and the numbers."""
    return " ".join(NUMBER.sub("#", text).split()), NUMBER.findall(text)


def _rounds_to(got: str, shown: str) -> bool:
    last_digit = Decimal(1).scaleb(Decimal(shown).as_tuple().exponent)
    return abs(Decimal(got) - Decimal(shown)) <= last_digit / 2


def fill(page: Path) -> None:
    """Run a page and write it, if something changed."""
    before, now = page.read_text(encoding="utf-8"), run(page)
    if now != before:
        page.write_text(now, encoding="utf-8")
        print(f"changed {page.relative_to(ROOT)}", flush=True)


def main() -> None:
    """Run the pages, each in a process of its own."""
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    pages = pages or [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted(ROOT.glob("docs/**/*.md")),
    ]
    with_code = [page for page in pages if "```python\n" in page.read_text(encoding="utf-8")]
    with get_context("spawn").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        pool.map(fill, with_code, chunksize=1)


if __name__ == "__main__":
    main()
