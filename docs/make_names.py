"""Write the tables of names.md from the tables of the package.

    python docs/make_names.py

It rewrites what stands between the comments "begin" and "end" of each table.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import rankwood as rw
from rankwood._util.foreign_names import PROGRAMS, ROWS, Foreign

PAGE = Path(__file__).parent / "names.md"


def theirs(row: Foreign) -> str:
    """Return a name as its program writes it, with a k where a cutoff goes."""
    options = [f"{key}={values[0]}" for key, values in row.when.items() if values[0]]
    if row.program == "catboost":
        return row.name + (":" + ";".join(options) if options else "")
    if row.cutoff:
        return f"{row.name}_k" if row.program == "trec_eval" else f"{row.name}@k"
    return row.name


def ours(row: Foreign) -> str:
    """Return what a name is here."""
    given = dict(row.given)
    k = "@k" if row.cutoff else f"@{given.pop('k')}" if "k" in given else ""
    inside = ", ".join(f"{key}={short(value)}" for key, value in given.items())
    return row.ours + k + (f"({inside})" if inside else "")


def short(value: object) -> str:
    """Return a value as it is typed; the smallest number above a half as what it means."""
    if isinstance(value, float) and 0.5 < value < 0.500001:
        return "0.5…"
    return repr(value)


def known(kind: str) -> Iterator[str]:
    """Yield the rows of names that are read, a program after the other."""
    yield f"| program | {kind} | here | remark |"
    yield "|---|---|---|---|"
    rows = [row for row in ROWS[kind] if row.ours]
    for program in dict.fromkeys(row.program for row in ROWS[kind]):
        same = [row for row in rows if row.program == program]
        for here, group in groupby(same, key=lambda row: (ours(row), row.note)):
            names = ", ".join(f"`{theirs(row)}`" for row in group)
            yield f"| {PROGRAMS[program]} | {names} | `{here[0]}` | {here[1]} |"


def unknown(kind: str) -> Iterator[str]:
    """Yield the rows of names that are answered."""
    yield f"| program | {kind} | answer |"
    yield "|---|---|---|"
    rows = [row for row in ROWS[kind] if not row.ours]
    for program in dict.fromkeys(row.program for row in ROWS[kind]):
        same = [row for row in rows if row.program == program]
        for note, group in groupby(same, key=lambda row: row.note):
            names = ", ".join(f"`{row.name}`" for row in group)
            yield f"| {PROGRAMS[program]} | {names} | {note[:1].upper() + note[1:]} |"


def page(text: str) -> str:
    """Return the page with its tables as the package has them."""
    for kind in ROWS:
        for which, rows in (("known", known), ("unknown", unknown)):
            table = "\n".join(rows(kind))
            mark = f"{which} {kind}s"
            text = re.sub(
                rf"(<!-- begin {mark} -->\n).*?(\n<!-- end {mark} -->)",
                lambda found, table=table: found[1] + table + found[2],
                text,
                flags=re.DOTALL,
            )
    return text


if __name__ == "__main__":
    assert rw.metric("nDCG@10")  # the tables are filled
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
