"""Text for error messages, reprs and terminals, and plain tables."""

import re
from collections.abc import Sequence

# What moves a cursor, changes colours or reverses the text of a terminal; and surrogates, which no encoding has.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BLANKS = "\t\n\v\f\r\x85\u2028\u2029"


def plural(n: int, noun: str) -> str:
    """Return a number with its noun: "1 query", "2,000 queries"."""
    if n == 1:
        return f"{n:,} {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{n:,} {noun[:-1]}ies" if ends_in_y else f"{n:,} {noun}s"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a", "a and b", "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def shortened(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a longer one ends in an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def printable(text: str) -> str:
    r"""Return a text that any terminal and page can show: blanks become spaces, control characters escapes as ``\x1b``.

    Bytes of a file name that aren't UTF-8 are surrogates in Python, and become ``\xff`` as well.
    """
    return _UNSAFE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """Return lines, of a page or for a terminal, as `printable` does, with their ends and tabs kept."""
    return _UNSAFE.sub(lambda match: match[0] if match[0] in "\n\t" else _escape(match), text)


def _escape(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _BLANKS:
        return " "
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def cells_text(rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """Return rows of cells as text for a fixed-width font; columns in `numeric` are aligned to the right."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if i in numeric else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)
