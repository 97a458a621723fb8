"""A small table as renderers take it: text in cells, nothing of what it is about."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """A text, the marks behind it, and whether it stands out; `span` is an interval to draw."""

    text: str
    marks: str = ""
    bold: bool = False
    span: "Span | None" = None


@dataclass(frozen=True)
class Span:
    """An interval with the point inside it, on an axis from -`reach` to `reach`; `better` is 1 or -1."""

    low: float
    point: float
    high: float
    reach: float
    better: int


@dataclass(frozen=True)
class Table:
    """Headings, rows of cells, and remarks; the last `numbers` columns are aligned to the right."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: int
    notes: Sequence[str] = field(default_factory=tuple)
    breaks: Sequence[int] = field(default_factory=tuple)  # rows with a line above them
