"""A page of an item as HTML, in the look of all our pages."""

from html import escape
from typing import TYPE_CHECKING

from rankwood.report.page import theme

if TYPE_CHECKING:
    from rankwood.reproduce.pages import RecipePage


def html_page(page: "RecipePage") -> str:
    """Return the page with its pictures inside; every text is escaped."""
    parts = [f"<p>{escape(text)}</p>" for text in (*page.lead, *page.content.paragraphs)]
    for picture, drawing in zip(page.pictures, page.content.drawings, strict=True):
        label = picture.caption or page.title
        parts.append(str(theme.figure_html(drawing.figure, picture.stem, label)))
    parts += [str(theme.table_html(table)) for table in page.content.tables]
    if page.notes:
        notes = "".join(f"<li>{escape(note)}</li>\n" for note in page.notes)
        parts.append(f"<h2>Notes</h2>\n<ul>\n{notes}</ul>")
    return theme.render_page(page.title, "\n".join(parts))
