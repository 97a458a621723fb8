"""The result of a reproduction, and the files it is written to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rankwood._util.atomic import replacing
from rankwood.render import plots, theme
from rankwood.reproduce.pages.pages import RecipePage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Result:
    """A reproduced item.

    Attributes
    ----------
    name : str
        The item, such as ``"lambdagap/table4"``.
    page : RecipePage
        The page before it is rendered.
    computed, cells : int
        How many cells were computed in this run, and how many the item has.
    files : sequence of Path
        The files that were written.
    failed : mapping
        What went wrong with the cells that could not be computed, by what they are about.
    seconds : float
        How long the item's cells took to train, those of earlier runs included.

    Examples
    --------
    >>> from rankwood.reproduce import run
    >>> result = run("lambdagap/table3", verbose=False)
    >>> sorted(file.name for file in result.files if file.suffix == ".md")
    ['lambdagap-table3.md']
    """

    name: str
    page: RecipePage
    computed: int
    cells: int
    files: Sequence[Path]
    failed: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def to_markdown(self) -> str:
        """Return the page as Markdown.

        Returns
        -------
        str
            The page; its pictures are SVG files in the folder of the results.
        """
        return self.page.to_markdown()

    def to_html(self) -> str:
        """Return the page as HTML.

        Returns
        -------
        str
            A complete page with its pictures inside.
        """
        return self.page.to_html()

    def to_latex(self) -> str:
        """Return the tables for LaTeX.

        Returns
        -------
        str
            Tables that need the package booktabs.
        """
        return self.page.to_latex()

    def to_csv(self) -> str:
        """Return all numbers with all digits.

        Returns
        -------
        str
            A line for each number, after a line of headings.
        """
        return self.page.to_csv()

    def __repr__(self) -> str:
        return f"Result({self.name}: {self.cells} cells, {self.computed} of them computed now)"


def check_installed() -> None:
    """Raise if what draws pages isn't installed: better now than after hours of training."""
    plots.check_installed()
    theme.environment()


def write_page(name: str, page: RecipePage, folder: Path) -> list[Path]:
    """Write a page in all formats, and its pictures as SVG and PNG; return the files."""
    stem = name.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "md": page.to_markdown(),
        "html": page.to_html(),
        "tex": page.to_latex(),
        "csv": page.to_csv(),
    }
    files = []
    for ending, text in texts.items():
        files.append(folder / f"{stem}.{ending}")
        with replacing(files[-1]) as out:
            out.write(text.encode())
    for picture, drawing in zip(page.pictures, page.content.drawings, strict=True):
        for ending in ("svg", "png"):
            files.append(folder / f"{picture.stem}.{ending}")
            with replacing(files[-1]) as out:
                out.write(_picture(drawing.figure, ending))
    return files


def _picture(figure: "Figure", ending: str) -> bytes:
    """Return a figure as bytes, which are the same for the same numbers."""
    picture = plots.picture(figure, ending)
    # A hundredth of a point is more than a screen shows, and the file is a third smaller.
    return re.sub(rb"(\d\.\d\d)\d+", rb"\1", picture) if ending == "svg" else picture
