"""What results have in common: they are tables, which are written as text, Markdown, LaTeX, HTML, CSV and JSON."""

import json
import os
from collections.abc import Sequence
from typing import Any

from rankwood._util.atomic import written
from rankwood._util.csv_text import csv_text
from rankwood.render import formats, html
from rankwood.render.table import Table

Path = str | os.PathLike[str]


class TableResult:
    """A result that writes itself, if it says which tables it has (`tables`) and which numbers (`columns`)."""

    def tables(self, digits: int = 4, details: bool = False) -> list[Table]:
        """Return the tables as text cells.

        Parameters
        ----------
        digits : int
            Number of decimals.
        details : bool
            Whether to add tables that matter less.

        Returns
        -------
        list of Table
            What the formats of `rankwood.render` write.
        """
        raise NotImplementedError

    def columns(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return headings and rows with all digits, for CSV.

        Returns
        -------
        headings, rows : list of str, list of list
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists.

        Returns
        -------
        dict
            Attributes by name; numbers that are not finite are None.
        """
        raise NotImplementedError

    def to_markdown(
        self, path: Path | None = None, *, digits: int = 4, details: bool = False
    ) -> str:
        """Return the tables as GitHub Markdown.

        Parameters
        ----------
        path : path, optional
            A file to write the text to as well.
        digits : int
            Number of decimals.
        details : bool
            Whether to add tables that matter less, such as that of tests.

        Returns
        -------
        str
            The tables, with their notes below them.
        """
        return written(formats.markdown(self.tables(digits, details)), path)

    def to_latex(self, path: Path | None = None, *, digits: int = 4, details: bool = False) -> str:
        r"""Return the tables for LaTeX, which needs ``\usepackage{booktabs}``.

        Parameters
        ----------
        path, digits, details : path, int and bool, as in `to_markdown`

        Returns
        -------
        str
            A ``table`` environment per table, with its title and notes in the caption.
        """
        return written(formats.latex(self.tables(digits, details)), path)

    def to_csv(self, path: Path | None = None) -> str:
        """Return all numbers with all digits as CSV.

        Parameters
        ----------
        path : path, optional
            A file to write the text to as well.

        Returns
        -------
        str
            The table; cells without a value are empty.
        """
        return written(csv_text(*self.columns()), path)

    def to_json(self, path: Path | None = None) -> str:
        """Return everything as one JSON object.

        Parameters
        ----------
        path : path, optional, as in `to_markdown`

        Returns
        -------
        str
            The object of `to_dict`; numbers that are not finite are null.
        """
        return written(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n", path)

    def __repr__(self) -> str:
        return formats.plain(self.tables())

    def _repr_html_(self) -> str:
        return html.fragment(self.tables(details=True))
