"""Words for messages and reprs."""

from collections.abc import Sequence


def plural(n: int, noun: str) -> str:
    """Return a number with its noun: "1 query", "2,000 queries"."""
    if n == 1:
        return f"{n:,} {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{n:,} {noun[:-1]}ies" if ends_in_y else f"{n:,} {noun}s"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a", "a and b", "a, b and c"."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def shortened(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a longer one ends in an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
