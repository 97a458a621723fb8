"""A small table of text cells: what renderers take, without knowledge of what it is about."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rankwood._util.text import printable
from rankwood.render.axis import Axis


@dataclass(frozen=True)
class Cell:
    """A text, the significance marks after it, whether it is bold, an interval to draw beside it, and a link."""

    text: str
    marks: str = ""
    bold: bool = False
    span: "Span | None" = None
    link: str = ""  # the id of a place on the same page

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


@dataclass(frozen=True)
class Span:
    """An interval and its point estimate on an axis.

    `better` is 1 if positive values are better, -1 if negative ones are. The axis is that of all intervals of a metric;
    the last of them is `labelled`, with the numbers of the axis below it.
    """

    low: float
    point: float
    high: float
    axis: Axis
    better: int
    labelled: bool = False


@dataclass(frozen=True)
class Table:
    """A title, headings, rows of cells, and notes; the last `numeric_columns` columns are aligned to the right."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric_columns: int
    notes: Sequence[str] = field(default_factory=tuple)
    breaks: Sequence[int] = field(default_factory=tuple)  # rows with a line above them

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "headings", [printable(text) for text in self.headings])
        object.__setattr__(self, "notes", [printable(text) for text in self.notes])

    @property
    def text_columns(self) -> int:
        """The number of columns, from the left, that are aligned to the left."""
        return len(self.headings) - self.numeric_columns

    @property
    def mark_widths(self) -> list[int]:
        """The longest marks of each column: cells leave so much space for theirs, so that numbers line up."""
        return [max(len(cell.marks) for cell in column) for column in zip(*self.rows, strict=True)]
