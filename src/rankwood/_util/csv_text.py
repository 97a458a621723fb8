"""Tables as CSV that a spreadsheet can open and a program can read back.

A spreadsheet reads a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and names of models and ids of
queries may come from strangers. Such a text gets an apostrophe before it, which `plain_text` removes; numbers don't.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

# A text of apostrophes and then such a character is marked as well, so that every text can be read back.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile('[,"\r\n]')
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV: numbers with all digits, an empty cell for NaN, no cell that is a formula."""
    return csv_lines((headings, *rows))


def csv_lines(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as lines to add to such a text."""
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: Any) -> str:
    """Return a cell; the csv module wouldn't quote a carriage return in lines that end without one."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    text = marked(value) if isinstance(value, str) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def marked(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would read it as a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def plain_text(cell: str) -> str:
    """Return the text that `csv_text` wrote as a cell."""
    return cell[1:] if _MARKED.match(cell) else cell


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
