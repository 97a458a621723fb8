"""The look that all HTML pages share: a shell with style sheet and script, tables, and figures as inline SVG.

A page needs no other file and no network. Everything that users name (models, queries, features) is escaped.
"""

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwood._util import checks
from rankwood._util.text import printable_lines
from rankwood._version import __version__
from rankwood.render import plots as _plots
from rankwood.render.html import table_element
from rankwood.render.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

#: Colours of figures that change in dark mode: the style sheet has a variable for each.
COLOURS = {
    "#0072b2": "--blue",
    "#d55e00": "--red",
    "#009e73": "--green",
    "#cc79a7": "--pink",
    "#56b4e9": "--sky",
    "#e69f00": "--orange",
    "#000000": "--text",
    "#888888": "--dim",
    "#666666": "--dim",
    "#e4e4e4": "--line",
    "#ffffff": "--page",
}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_STYLE_ATTRIBUTE = re.compile(r'style="[^"]*"')
_LINK = re.compile(r'<a href="#([^"]+)"[^>]*>')
_OWN_ID = re.compile(r'\bid="([^"]+)"')


def render_page(
    title: str,
    body: str,
    *,
    subtitle: str = "",
    contents: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a complete HTML page around a body, with the style sheet and the script inside it.

    Tables of the class ``sortable`` sort by a click on a heading, and ``details`` open if a link leads into them.

    Parameters
    ----------
    title : str
        The heading of the page; it is escaped.
    body : str
        HTML that goes into the page as it is, so its author must have escaped all names in it.
    subtitle : str
        One line below the heading; it is escaped.
    contents : sequence of (str, str)
        Ids of sections and their titles, for a line of links on top.

    Returns
    -------
    str
        The page.

    Raises
    ------
    InputError
        If Jinja2 is not installed.

    Examples
    --------
    >>> from rankwood.render.theme import render_page
    >>> page = render_page("Means & tests", "<p>No difference.</p>")
    >>> "<h1>Means &amp; tests</h1>" in page, "<p>No difference.</p>" in page
    (True, True)
    """
    from markupsafe import Markup

    made = render(
        "page.html.j2",
        title=title,
        body=Markup(body),
        subtitle=subtitle,
        contents=list(contents),
        style=Markup(_resource("style.css")),
        script=Markup(_resource("script.js")),
        version=__version__,
    )
    return printable_lines(made)  # names may have control characters, in any place


class PageSection(NamedTuple):
    """A part of a page: paragraphs, then tables and figures, then a list, a text as it is typed, and a note.

    All texts are escaped; `blocks` are HTML, as `table_html` and `figure_html` return them.
    """

    title: str = ""
    paragraphs: Sequence[str] = ()
    blocks: "Sequence[Markup]" = ()
    items: Sequence[str] = ()
    code: str = ""
    note: str = ""


def sections_page(title: str, sections: Sequence[PageSection]) -> str:
    """Return a complete HTML page of sections, one below the other."""
    return render_page(title, render("sections.html.j2", sections=sections))


def render(template: str, **values: Any) -> str:
    """Return one of our templates, filled in; text is escaped unless it is `Markup`."""
    return str(environment().get_template(template).render(**values))


def fragment(template: str, **values: Any) -> "Markup":
    """Return one of our templates as HTML that goes into another one."""
    from markupsafe import Markup

    return Markup(render(template, **values))


def check_installed() -> None:
    """Raise if a package that pages need isn't installed: better before long work than after it."""
    environment()
    _plots.check_installed()


@cache
def environment() -> "Environment":
    """Return the Jinja2 environment of our templates, which escapes text and refuses unknown names."""
    try:
        import jinja2
    except ImportError:
        raise checks.InputError(
            "pages need Jinja2, which isn't installed; type: pip install 'rankwood[report]'"
        ) from None
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made


def table_html(table: Table, *, caption: bool = True, row_ids: Sequence[str] = ()) -> "Markup":
    """Return a table as HTML: numbers line up, a click on a heading sorts, and notes stand below it.

    Parameters
    ----------
    table : Table
        Text cells; all of them are escaped.
    caption : bool
        Whether the title stands above the table.
    row_ids : sequence of str, optional
        An id for each row, so that links can lead to it.

    Returns
    -------
    Markup
        A ``div`` that scrolls sideways if the table is too wide, and the notes.
    """
    from markupsafe import Markup

    kind = "sortable" if len(table.rows) > 1 else ""
    element = table_element(table, kind=kind, caption=caption, row_ids=row_ids)
    notes = f'<p class="note">{escape(" ".join(table.notes))}</p>\n' if table.notes else ""
    start = f'<div class="wide" tabindex="0" role="group" aria-label="{escape(table.title)}">'
    return Markup(f"{start}\n{element}\n</div>\n{notes}")


def figure_html(
    figure: "Figure",
    name: str,
    label: str,
    note: str = "",
    titles: Mapping[str, str] | None = None,
) -> "Markup":
    """Return a figure as inline SVG whose colours follow the page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    name : str
        A short name, different for each figure of a page: the ids inside the picture begin with it.
    label : str
        What the picture shows, for people who can't see it; it is escaped.
    note : str
        A line of text below the picture; it is escaped.
    titles : dict, optional
        Texts that appear over a link of the picture, by the id that the link leads to; they are escaped.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
    from markupsafe import Markup

    with warnings.catch_warnings():
        # The browser draws the text, and has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        svg = _plots.picture(figure, "svg", transparent=True).decode()
    picture = _inline(svg, name, label, figure.get_figwidth() * 96)
    picture = _LINK.sub(lambda m: _with_title(m[1], titles or {}), picture)
    caption = f"<figcaption>{escape(note)}</figcaption>" if note else ""
    return Markup(f"<figure>{picture}{caption}</figure>\n")


def figures_html(figures: Iterable["Markup"]) -> "Markup":
    """Return figures side by side, or one below the other if there is no space."""
    from markupsafe import Markup

    return Markup('<div class="figures">\n{}</div>\n').format(Markup("").join(figures))


def columns_html(blocks: Iterable["Markup"]) -> "Markup":
    """Return blocks side by side, or one below the other if there is no space."""
    from markupsafe import Markup

    inner = Markup("").join(Markup("<div>{}</div>\n").format(block) for block in blocks)
    return Markup('<div class="columns">\n{}</div>\n').format(inner)


def _inline(svg: str, name: str, label: str, width: float) -> str:
    """Return matplotlib's SVG as an element of a page: no header, its own ids, colours as variables."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    own = set(_OWN_ID.findall(svg))
    # Only tags are changed: what users named is text between them, in which matplotlib has escaped < and >.
    head, *rest = re.split(r"(<[^>]+>)", svg)[1:]
    inner = "".join(_tag(part, name, own) if part.startswith("<") else part for part in rest)
    box = re.search(r'viewBox="[^"]+"', head)
    assert box is not None
    start = f'<svg {box[0]} role="img" aria-label="{escape(label)}" style="width: {width:.0f}px">'
    return start + re.sub(r">\s+<", "><", inner)


def _tag(tag: str, name: str, own: set[str]) -> str:
    """Return a tag whose ids begin with `name`; links to ids outside the picture are left unchanged."""
    tag = _OWN_ID.sub(lambda m: f'id="{name}-{m[1]}"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{name}-{m[1]})", tag)
    tag = re.sub(
        r'xlink:href="#([^"]+)"',
        lambda m: f'href="#{name}-{m[1]}"' if m[1] in own else f'href="#{m[1]}"',
        tag,
    )
    tag = _STYLE_ATTRIBUTE.sub(lambda m: _COLOUR.sub(_variable, m[0]), tag)
    return re.sub(r"font: ([\d.]+px) [^;\"]+", r"font-size: \1", tag)


def _with_title(target: str, titles: Mapping[str, str]) -> str:
    """Return the start of a link with a text, in the same tab; the Tab key skips the many links of a picture."""
    text = f"<title>{escape(titles[target])}</title>" if target in titles else ""
    return f'<a href="#{target}" tabindex="-1">{text}'


def _variable(match: re.Match[str]) -> str:
    name = COLOURS.get(match[0])
    return f"var({name})" if name else match[0]


@cache
def _resource(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")
