"""What a kind of item hands to the page: paragraphs, tables, drawings, and the numbers with all digits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwood.render.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """A figure, its name within the item (empty for the only one), and what it shows."""

    name: str
    figure: "Figure"
    caption: str = ""


@dataclass(frozen=True)
class Content:
    """The body of a page; `headings` and `records` are the columns and rows of its CSV."""

    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    drawings: Sequence[Drawing] = ()
    headings: Sequence[str] = ()
    records: Sequence[Sequence[Any]] = ()
