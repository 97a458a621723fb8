"""A page of an item as HTML, in the look of all our pages."""

from html import escape
from typing import TYPE_CHECKING

from rankwood.report import html

if TYPE_CHECKING:
    from rankwood.reproduce.pages import Page


def html_page(page: "Page") -> str:
    """Return the page with its pictures inside; every text is escaped."""
    try:
        from rankwood.report.page import theme  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _plain_page(page)
    parts = _paragraphs(page)
    for picture, drawing in zip(page.pictures, page.content.drawings, strict=True):
        label = picture.caption or page.title
        parts.append(str(theme.figure_html(drawing.figure, picture.stem, label)))
    parts += [str(theme.table_html(table)) for table in page.content.tables]
    made: str = theme.render_page(page.title, "\n".join([*parts, *_notes(page)]))
    return made


def _paragraphs(page: "Page") -> list[str]:
    return [f"<p>{escape(text)}</p>" for text in (*page.lead, *page.content.paragraphs)]


def _notes(page: "Page") -> list[str]:
    if not page.notes:
        return []
    return ["<h2>Notes</h2>\n<ul>", *(f"<li>{escape(note)}</li>" for note in page.notes), "</ul>"]


def _plain_page(page: "Page") -> str:
    """Return the page without the common look; pictures are files beside it."""
    parts = [f"<h1>{escape(page.title)}</h1>", *_paragraphs(page)]
    for picture in page.pictures:
        source, caption = escape(f"{picture.stem}.svg"), escape(picture.caption or page.title)
        parts.append(f'<img src="{source}" alt="{caption}">')
    parts += [html.fragment(page.content.tables), *_notes(page)]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(page.title)}</title>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
