"""Documents in the order of their scores, query by query."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.atomic import written
from rankwood._util.csv_text import csv_text
from rankwood._util.text import cells_text, plural
from rankwood.data.groups import Groups
from rankwood.render.html import cells_html

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN = 30  # rows that are printed


class RankedDocuments:
    """Documents in the order of their scores, query by query: the result of `Ranker.rank`.

    Attributes
    ----------
    rows : structured array
        A row per document, best first within each query, and queries in order of first appearance: `qid`, `rank`
        (from 1), `row` (of what was ranked, from 0), `document` (its id, only if there are any) and `score`.
        `pandas.DataFrame(ranked.rows)` and `polars.DataFrame(ranked.rows)` take it as it is.
    n_queries : int
        Number of queries.

    Notes
    -----
    Documents with equal scores are in the caller's order.
    """

    def __init__(self, rows: np.ndarray, n_queries: int) -> None:
        self.rows, self.n_queries = rows, n_queries

    def __len__(self) -> int:
        return int(self.rows.size)

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            The columns of `rows`.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise checks.InputError(
                "to_frame needs pandas, which isn't installed: pip install pandas, or use `rows`."
            ) from None
        return pandas.DataFrame({name: self.rows[name] for name in self.rows.dtype.names or ()})

    def to_csv(self, path: Any = None) -> str:
        """Return the table as CSV.

        Parameters
        ----------
        path : path, optional
            A file to write the text to as well.

        Returns
        -------
        str
            The names of the columns and the rows, scores with all digits.
        """
        return written(csv_text(list(self.rows.dtype.names or ()), self.rows.tolist()), path)

    def _cells(self) -> list[list[str]]:
        """Return headings and the first rows as text."""
        names = list(self.rows.dtype.names or ())
        body = [[*map(str, row[:-1]), f"{row[-1]:.4f}"] for row in self.rows[:_SHOWN].tolist()]
        return [names, *body]

    def _numeric(self) -> list[int]:
        names = list(self.rows.dtype.names or ())
        return [names.index(name) for name in ("rank", "row", "score")]

    def _note(self) -> str:
        left = self.rows.size - _SHOWN
        counts = f"{plural(self.rows.size, 'document')} of {plural(self.n_queries, 'query')}"
        return counts + (f"; {left:,} not shown" if left > 0 else "")

    def __repr__(self) -> str:
        return f"{cells_text(self._cells(), self._numeric())}\n{self._note()}"

    def _repr_html_(self) -> str:
        return cells_html(self._cells(), self._numeric(), 1, self._note())


def ranked_documents(
    scores: np.ndarray, groups: Groups, documents: list[str] | None = None, top: int | None = None
) -> RankedDocuments:
    """Return the documents of each query from the highest score to the lowest, the first `top` of them."""
    if top is not None:
        checks.at_least(top, 1, "top")
    sizes = groups.sizes
    query = np.repeat(np.arange(groups.ids.size), sizes)
    # By query, then by score; rows of a query come in the caller's order, which a stable sort keeps.
    order = np.lexsort((-scores[groups.rows], query))
    rank = np.arange(order.size) - np.repeat(groups.ptr[:-1], sizes) + 1
    selected = slice(None) if top is None else rank <= top
    row, rank, query = groups.rows[order][selected], rank[selected], query[selected]
    columns: dict[str, np.ndarray] = {"qid": groups.ids[query], "rank": rank, "row": row}
    if documents is not None:
        columns["document"] = np.array(documents, dtype=object)[row]
    columns["score"] = scores[row]
    rows = np.empty(row.size, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return RankedDocuments(rows, int(groups.ids.size))
