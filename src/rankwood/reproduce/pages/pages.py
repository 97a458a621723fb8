"""Pages of items, in four formats: the data, what was found, and what to know about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rankwood._util.csv_text import csv_text
from rankwood._util.text import plural
from rankwood.render import formats as render
from rankwood.render import theme
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.content import Content
from rankwood.reproduce.plan import Work


@dataclass(frozen=True)
class Picture:
    """The name of a picture's files without their ending, and what the picture shows."""

    stem: str
    caption: str


@dataclass(frozen=True)
class RecipePage:
    """A page, before it is written in one of the formats.

    Attributes
    ----------
    title : str
        The name and the title of the item.
    lead : sequence of str
        Paragraphs before the tables: which paper, which data, what was made smaller.
    content : Content
        The body.
    pictures : sequence of Picture
        The pictures of the body, as files beside the page.
    notes : sequence of str
        Reasons for differences, and versions.
    """

    title: str
    lead: Sequence[str]
    content: Content
    pictures: Sequence[Picture]
    notes: Sequence[str]

    def to_markdown(self) -> str:
        """Return the page as Markdown; pictures are SVG files beside it."""
        parts = [f"# {_md(self.title)}\n"]
        parts += [f"{_md(text)}\n" for text in (*self.lead, *self.content.paragraphs)]
        for picture in self.pictures:
            parts.append(f"![{_md(picture.caption or self.title)}]({picture.stem}.svg)\n")
        if self.content.tables:
            parts.append(render.markdown(self.content.tables))
        if self.notes:
            parts.append("## Notes\n")
            parts.append("".join(f"- {_md(note)}\n" for note in self.notes))
        return "\n".join(parts)

    def to_html(self) -> str:
        """Return the page as HTML with its pictures inside."""
        figures = [
            theme.figure_html(drawing.figure, picture.stem, picture.caption or self.title)
            for picture, drawing in zip(self.pictures, self.content.drawings, strict=True)
        ]
        tables = [theme.table_html(table) for table in self.content.tables]
        paragraphs = [*self.lead, *self.content.paragraphs]
        sections = [theme.PageSection("", paragraphs, [*figures, *tables])]
        if self.notes:
            sections.append(theme.PageSection("Notes", items=self.notes))
        return theme.sections_page(self.title, sections)

    def to_latex(self) -> str:
        """Return the tables for LaTeX, which need booktabs, and the notes as comments."""
        lines = [f"% {' '.join(text.split())}" for text in (self.title, *self.lead, *self.notes)]
        return "\n".join(lines) + "\n\n" + render.latex(self.content.tables)

    def to_csv(self) -> str:
        """Return all numbers with all digits."""
        return csv_text(self.content.headings, self.content.records)


def _md(text: str) -> str:
    return render.markdown_text(text)


def make_page(work: Work, found: Found, content: Content) -> RecipePage:
    """Return the page of an item."""
    name = f"{work.paper.name}/{work.item.name}"
    stem = name.replace("/", "-")
    pictures = [
        Picture(f"{stem}-{d.name}" if d.name else stem, d.caption) for d in content.drawings
    ]
    first = lead(work, found)
    return RecipePage(f"{name}: {work.item.title}", first, content, pictures, notes(work, found))


def lead(work: Work, found: Found) -> list[str]:
    """Return which paper an item is of, which data fills its roles, and what was made smaller."""
    paper = work.paper
    said = [f"{paper.authors}: {paper.title} ({paper.year}) [{paper.key}]."]
    for role in work.roles:
        source = work.sources[role]
        folds = f"{len(source.folds)} of {plural(source.all_folds, 'fold')}"
        tested = found.queries(role)
        folds += f", {plural(tested, 'test query')}" if tested else ""
        if source.published:
            omitted = "; features that a line omits are missing" if source.missing else ""
            said.append(f"{role}: the data of the paper, {folds}{omitted}.")
        else:
            said.append(
                f"{role}: this is another data set, {source.name} ({folds}), so its numbers can't be compared with "
                "those of the paper; differences are omitted."
            )
        cut = found.cut_lists(role)
        if cut is not None:
            said.append(f"{role}: {cut:.1%} of the training lists were cut for the second stage.")
    if _has_other_parameters(work):
        said.append(
            "Some parameters are those that the recipe keeps for other data, because what the paper chose for its own "
            "fits no small data set."
        )
    missing = [role for role in work.item.roles if role not in work.sources]
    if work.roles and missing:
        said.append(f"Left out because no data was given: {', '.join(missing)}.")
    smaller = work.options.in_words()
    if work.roles and smaller:
        said.append(f"This run was made smaller than the paper's: {', '.join(smaller)}.")
    if work.roles and (work.options.seeds or 1) > 1:
        many = f"{work.options.seeds} seeds"
        said.append(f"Models were trained with {many}, and their values by query are averaged.")
    pending = [row.name for row in work.rows if row.pending]
    if pending:
        said.append(f"Rows that can't be run yet: {', '.join(pending)}.")
    return said


def _has_other_parameters(work: Work) -> bool:
    """Tell whether parameters for other data are in use."""
    other = any(not work.sources[role].published for role in work.roles)
    names = {row.protocol or work.item.protocol for row in work.rows} - {None}
    return other and any("other" in work.recipe.protocols[str(name)].params for name in names)


def notes(work: Work, found: Found) -> list[str]:
    """Return the notes of the item, of its rows and of the paper, and the versions."""
    said = [f"Could not be computed: {about}: {why}" for about, why in found.failed().items()]
    said += work.item.notes
    said += [f"{row.name}: {row.note}" for row in work.rows if row.note]
    said += work.paper.notes
    versions = ", ".join(f"{name} {version}" for name, version in found.versions().items())
    return [*said, *([f"Versions: {versions}."] if versions else [])]
