"""Tables as text: Markdown, LaTeX, CSV, and plain columns."""

import re
from collections.abc import Iterable
from string import ascii_letters

from rankwood.render.table import Cell, Table

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
    "‡": r"\ddag{}",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
}


def markdown(tables: Iterable[Table]) -> str:
    """Return tables as GitHub Markdown; tables have titles only if there are several."""
    tables = list(tables)
    parts = []
    for table in tables:
        lines = [f"**{markdown_text(table.title)}**", ""] if len(tables) > 1 else []
        lines.append(_piped(map(markdown_text, table.headings)))
        rules = ["---"] * table.text_columns + ["---:"] * table.numeric_columns
        lines.append("|" + "|".join(rules) + "|")
        lines += [_piped(map(_md_cell, row)) for row in table.rows]
        if table.notes:
            lines += ["", " ".join(map(markdown_text, table.notes))]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _piped(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_text(text: str) -> str:
    """Return text with the signs escaped that Markdown would read."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _md_cell(cell: Cell) -> str:
    text = f"**{markdown_text(cell.text)}**" if cell.bold else markdown_text(cell.text)
    letters = cell.marks[: len(cell.marks) - len(cell.marks.lstrip(ascii_letters))]
    raised = f" <sup>{letters}</sup>" if letters else ""
    return text + raised + markdown_text(cell.marks[len(letters) :])


def latex(tables: Iterable[Table]) -> str:
    r"""Return tables for LaTeX, which need ``\usepackage{booktabs}``."""
    parts = []
    for table in tables:
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex_caption(table)}}}"]
        alignment = "l" * table.text_columns + "r" * table.numeric_columns
        lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
        lines += [_tex_row(map(_tex, table.headings)), r"\midrule"]
        for i, row in enumerate(table.rows):
            if i in table.breaks:
                lines.append(r"\midrule")
            lines.append(_tex_row(map(_tex_cell, row)))
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _tex_caption(table: Table) -> str:
    return " ".join([f"{_tex(table.title)}.", *map(_tex, table.notes)])


def _tex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # After the end of a row or a rule, LaTeX would read these as its argument.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def _tex_cell(cell: Cell) -> str:
    text = f"\\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text)
    return text + (f"\\textsuperscript{{{_tex(cell.marks)}}}" if cell.marks else "")


def plain(tables: Iterable[Table]) -> str:
    """Return tables as plain text for a fixed-width font."""
    parts = []
    for table in tables:
        rows = [list(table.headings), *padded_marks(table)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(_padded(row, widths, table.text_columns)).rstrip() for row in rows]
        parts.append("\n".join([*lines, *table.notes]))
    return "\n\n".join(parts)


def padded_marks(table: Table) -> list[list[str]]:
    """Return the texts of all cells, with marks padded to the width of their column so that numbers line up."""
    return [
        [cell.text + cell.marks.ljust(n) for cell, n in zip(row, table.mark_widths, strict=True)]
        for row in table.rows
    ]


def _padded(row: list[str], widths: list[int], text_columns: int) -> list[str]:
    return [
        text.ljust(width) if i < text_columns else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
