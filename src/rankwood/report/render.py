"""Tables as text: Markdown, LaTeX, CSV, and plain columns."""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rankwood.report.table import Cell, Table

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~$])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "†": r"\dag{}",
    "↓": r"$\downarrow$",
}


def markdown(tables: Iterable[Table]) -> str:
    """Return tables in GitHub's Markdown; a title only where there are several."""
    tables = list(tables)
    parts = []
    for table in tables:
        lines = [f"**{_md(table.title)}**", ""] if len(tables) > 1 else []
        lines.append(_piped(map(_md, table.headings)))
        left = len(table.headings) - table.numbers
        lines.append("|" + "|".join(["---"] * left + ["---:"] * table.numbers) + "|")
        lines += [_piped(map(_md_cell, row)) for row in table.rows]
        if table.notes:
            lines += ["", " ".join(map(_md, table.notes))]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _piped(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _md(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _md_cell(cell: Cell) -> str:
    text = f"**{_md(cell.text)}**" if cell.bold else _md(cell.text)
    if cell.marks.isalpha():
        return f"{text} <sup>{cell.marks}</sup>"
    return text + _md(cell.marks)


def latex(tables: Iterable[Table]) -> str:
    r"""Return tables for LaTeX; they need ``\usepackage{booktabs}``."""
    parts = []
    for table in tables:
        left = len(table.headings) - table.numbers
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex_caption(table)}}}"]
        lines += [rf"\begin{{tabular}}{{{'l' * left}{'r' * table.numbers}}}", r"\toprule"]
        lines += [_tex_row(map(_tex, table.headings)), r"\midrule"]
        for place, row in enumerate(table.rows):
            if place in table.breaks:
                lines.append(r"\midrule")
            lines.append(_tex_row(map(_tex_cell, row)))
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _tex_caption(table: Table) -> str:
    return " ".join([f"{_tex(table.title)}.", *map(_tex, table.notes)])


def _tex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # Behind the end of a row or a rule these would be an argument of it.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def _tex_cell(cell: Cell) -> str:
    text = f"\\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text)
    return text + (f"\\textsuperscript{{{_tex(cell.marks)}}}" if cell.marks else "")


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV, numbers with all their digits, empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([_csv_value(x) for x in row] for row in rows)
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def plain(tables: Iterable[Table]) -> str:
    """Return tables in columns of characters."""
    parts = []
    for table in tables:
        rows = [list(table.headings), *lined_up(table)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = len(widths) - table.numbers
        lines = ["  ".join(_padded(row, widths, left)).rstrip() for row in rows]
        parts.append("\n".join([*lines, *table.notes]))
    return "\n\n".join(parts)


def lined_up(table: Table) -> list[list[str]]:
    """Return the texts of a table, marks filled up with spaces so that numbers stand under each other."""
    widths = [max(len(cell.marks) for cell in column) for column in zip(*table.rows, strict=True)]
    return [
        [cell.text + cell.marks.ljust(w) for cell, w in zip(row, widths, strict=True)]
        for row in table.rows
    ]


def _padded(row: list[str], widths: list[int], left: int) -> list[str]:
    return [
        text.ljust(width) if place < left else text.rjust(width)
        for place, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
