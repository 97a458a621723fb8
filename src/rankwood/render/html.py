"""Tables as HTML without external files."""

from collections.abc import Iterable, Sequence
from html import escape

from rankwood._util.text import printable, printable_lines
from rankwood.render.axis import tick_text
from rankwood.render.table import Cell, Span, Table

_STYLE = """
.rankwood { font: 15px/1.5 system-ui, sans-serif; }
.rankwood.page { color: #1c2430; margin: 2em; }
.rankwood .wide { overflow-x: auto; }
.rankwood table { border-collapse: collapse; margin: 0 0 .6em; font-variant-numeric: tabular-nums; }
.rankwood caption { text-align: left; font-weight: 600; padding: .4em 0; font-size: 1.05em; }
.rankwood th { border-bottom: 2px solid #8a95a5; font-weight: 600; }
.rankwood th, .rankwood td { padding: .3em .65em; text-align: left; white-space: nowrap; background: none; }
.rankwood td { vertical-align: top; }
.rankwood th.n, .rankwood td.n { text-align: right; }
.rankwood th.long, .rankwood td.long { white-space: normal; min-width: 14em; overflow-wrap: anywhere; }
.rankwood tbody tr:hover { background: #8a95a522; }
.rankwood tbody tr.break td { border-top: 1px solid #8a95a5; }
.rankwood sup { display: inline-block; text-align: left; line-height: 0; }
.rankwood td svg { vertical-align: top; margin: .25em 0 0 .7em; overflow: visible; }
.rankwood svg text { fill: currentColor; }
.rankwood .columns, .rankwood .pictures { display: flex; flex-wrap: wrap; gap: 0 2.5em; align-items: start; }
.rankwood .columns .wide { margin-bottom: 1.2em; }
.rankwood figure { display: flex; flex-wrap: wrap; gap: .8em; margin: .6em 0; }
.rankwood svg.plot { max-width: 100%; height: auto; font-size: 11px; }
.rankwood p { color: #7a8594; margin: 0 0 1.8em; max-width: 60em; font-size: .9em; }
@media (prefers-color-scheme: dark) {
  .rankwood.page { background: #14181f; color: #dde3ea; }
}
"""
_WIDTH, _HEIGHT, _MARGIN = 136, 14, 16  # of the picture of an interval
_LONG = 40  # characters that a cell has on one line


def page(title: str, tables: Iterable[Table]) -> str:
    """Return a complete page of tables."""
    return whole_page(title, body(tables))


def whole_page(title: str, inner: str) -> str:
    """Return a complete page around HTML whose author has escaped all names in it."""
    return printable_lines(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f'<body class="rankwood page">\n{inner}</body>\n</html>\n'
    )


def fragment(tables: Iterable[Table]) -> str:
    """Return an element to show in a notebook."""
    return f'<div class="rankwood">\n<style>{_STYLE}</style>\n{body(tables)}</div>\n'


def cells_html(
    rows: Sequence[Sequence[str]], numeric: Sequence[int] = (), head: int = 0, note: str = ""
) -> str:
    """Return rows of cells as an HTML table to show in a notebook; the first `head` rows are headings."""
    lines = []
    for number, row in enumerate(rows):
        tag = "th" if number < head else "td"
        cells = (
            f'<{tag} style="text-align: {"right" if i in numeric else "left"}">{escape(printable(cell))}</{tag}>'
            for i, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    below = f"<p>{note}</p>\n" if note else ""
    return "<table>\n" + "\n".join(lines) + f"\n</table>\n{below}"


def side_by_side(tables: Iterable[Table]) -> str:
    """Return tables side by side, or one below the other if there is no space; nothing if there are none."""
    inner = body(tables)
    return f'<div class="columns">\n{inner}</div>\n' if inner else ""


def pictures(figures: Iterable[Iterable[str]], note: str) -> str:
    """Return figures, each of one SVG picture or several, and a note below all; nothing if there are none."""
    inner = "".join(f"<figure>{''.join(figure)}</figure>\n" for figure in figures)
    return (
        f'<div class="pictures">\n{inner}</div>\n<p>{escape(printable(note))}</p>\n'
        if inner
        else ""
    )


def body(tables: Iterable[Table]) -> str:
    """Return tables as elements, one below the other."""
    return "".join(map(_table, tables))


def _table(table: Table) -> str:
    notes = f"<p>{escape(' '.join(table.notes))}</p>\n" if table.notes else ""
    return f'<div class="wide">\n{table_element(table)}\n</div>\n{notes}'


def table_element(
    table: Table, *, kind: str = "", caption: bool = True, row_ids: Sequence[str] = ()
) -> str:
    """Return the ``table`` element alone, of a class `kind`, with an id for each row if there are any."""
    kinds = ["" if i < table.text_columns else "n" for i in range(len(table.headings))]
    heads = "".join(
        f'<th scope="col"{_class(style, heading)}>{escape(heading)}</th>'
        for heading, style in zip(table.headings, kinds, strict=True)
    )
    lines = [f'<table class="{kind}">' if kind else "<table>"]
    if caption and table.title:
        lines.append(f"<caption>{escape(table.title)}</caption>")
    widths = table.mark_widths if table.rows else []
    lines.append(f"<thead><tr>{heads}</tr></thead>\n<tbody>")
    for i, row in enumerate(table.rows):
        cells = "".join(
            f"<td{_class(style, cell.text)}>{_cell(cell, width)}</td>"
            for cell, width, style in zip(row, widths, kinds, strict=True)
        )
        own_id = f' id="{escape(row_ids[i])}"' if row_ids else ""
        rule = ' class="break"' if i in table.breaks else ""
        lines.append(f"<tr{own_id}{rule}>{cells}</tr>")
    return "\n".join([*lines, "</tbody>\n</table>"])


def _class(kind: str, text: str) -> str:
    """Return the class attribute of a cell; a long text may be broken, so that the other columns are seen."""
    names = " ".join(name for name in (kind, "long" if len(text) > _LONG else "") if name)
    return f' class="{names}"' if names else ""


def _cell(cell: Cell, width: int) -> str:
    """Return a cell; marks are equally wide in all cells of a column, so that numbers line up."""
    text = f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text)
    if cell.link:
        text = f'<a href="#{escape(cell.link)}">{text}</a>'
    fixed = f' style="width: {0.6 * width:.1f}em"'
    marks = f"<sup{fixed}>{escape(cell.marks)}</sup>" if width else ""
    return text + marks + ("" if cell.span is None else _interval(cell.span))


def _interval(span: Span) -> str:
    """Return a small SVG picture of an interval: the ticks of its axis, the interval, its point estimate."""
    axis = span.axis
    if not axis.holds(span.low, span.point, span.high):
        return ""  # an end is NaN, so there is no interval to draw

    def at(x: float) -> str:
        return f"{_MARGIN + axis.share(x) * (_WIDTH - 2 * _MARGIN):.1f}"

    side = 0 if span.low <= 0 <= span.high else span.better * (1 if span.low > 0 else -1)
    colour = {1: "#0b8a4b", -1: "#d2520f", 0: "#7b8594"}[side]
    middle = _HEIGHT / 2
    ticks = "".join(
        f'<line x1="{at(x)}" x2="{at(x)}" y1="0" y2="{_HEIGHT}" stroke="#8a95a5" '
        f'stroke-opacity="{1 if x == 0 else 0.35}"/>'
        for x in axis.ticks
    )
    labels = "".join(
        f'<text x="{at(x)}" y="{_HEIGHT + 11}" text-anchor="middle" font-size="10">{tick_text(x)}</text>'
        for x in axis.ticks
        if span.labelled
    )
    height = _HEIGHT + (14 if span.labelled else 0)
    return (
        f'<svg width="{_WIDTH}" height="{height}" aria-hidden="true">{ticks}'
        f'<line x1="{at(span.low)}" x2="{at(span.high)}" y1="{middle}" y2="{middle}" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<circle cx="{at(span.point)}" cy="{middle}" r="3" fill="{colour}"/>{labels}</svg>'
    )
