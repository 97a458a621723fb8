"""Words for messages and reprs."""


def plural(n: int, noun: str) -> str:
    """Return a number with its noun: "1 query", "2,000 queries"."""
    if n == 1:
        return f"{n:,} {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{n:,} {noun[:-1]}ies" if ends_in_y else f"{n:,} {noun}s"
