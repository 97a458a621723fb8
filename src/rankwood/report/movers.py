"""Queries to look at: those with a model's worst values, and those where two models differ most."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwood import stats
from rankwood._util import checks
from rankwood.metrics.evaluation import Evaluation
from rankwood.render import html
from rankwood.render.result import TableResult
from rankwood.render.table import Cell, Table
from rankwood.report.comparison.align import align, better_sign, check_name


class QueryTable(TableResult):
    """A short table of queries: the result of `movers` and `worst`.

    Attributes
    ----------
    rows : structured array
        A field `qid`, and the values of the query.
    title : str
        What the queries have in common.
    headings : list of str
        The heading of each column.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import worst
    >>> table = worst(rw.evaluate("p@1", [1, 0, 1, 0], [2, 1, 1, 2], qid=[7, 7, 8, 8]), top=1)
    >>> print(table.to_csv().strip())
    qid,value
    8,0.0
    """

    def __init__(self, rows: np.ndarray, title: str, headings: list[str]) -> None:
        self.rows, self.title, self.headings = rows, title, headings

    def table(self, digits: int = 4) -> Table:
        """Return the table as text cells.

        Parameters
        ----------
        digits : int
            Number of decimals.

        Returns
        -------
        Table
            What the renderers of `rankwood.render.formats` take.
        """
        signed = "difference" in (self.rows.dtype.names or ())
        rows = []
        for qid, *values in self.rows.tolist():
            texts = [f"{value:.{digits}f}" for value in values]
            texts[-1] = f"{values[-1]:+.{digits}f}" if signed else texts[-1]
            rows.append([Cell(str(qid)), *map(Cell, texts)])
        return Table(self.title, self.headings, rows, len(self.headings) - 1)

    def tables(self, digits: int = 4, details: bool = False) -> list[Table]:
        """Return the only table, in a list.

        Parameters
        ----------
        digits : int
            Number of decimals.
        details : bool
            Without effect: there are no more tables.

        Returns
        -------
        list of Table
        """
        return [self.table(digits)]

    def columns(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the names of the columns and the rows, values with all digits.

        Returns
        -------
        headings, rows : list of str, list of list
        """
        return list(self.rows.dtype.names or ()), self.rows.tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return the title, and the rows as dictionaries.

        Returns
        -------
        dict
            `title` and `rows`.
        """
        names = self.rows.dtype.names or ()
        rows = [dict(zip(names, row, strict=True)) for row in self.rows.tolist()]
        return {"title": self.title, "rows": rows}

    def to_html(self, digits: int = 4) -> str:
        """Return an HTML page with the table, which needs no other file.

        Parameters
        ----------
        digits : int
            Number of decimals.

        Returns
        -------
        str
            The page.
        """
        return html.page(self.title, [self.table(digits)])


def movers(
    a: Evaluation,
    b: Evaluation,
    metric: str | None = None,
    top: int = 10,
    names: tuple[str, str] = ("a", "b"),
) -> QueryTable:
    """Return the queries whose value changes most from one model to another.

    Parameters
    ----------
    a, b : Evaluation
        Two models, evaluated on the same queries.
    metric : str, optional
        The first metric of `a` by default.
    top : int
        The largest number of queries to return. Queries without a difference are omitted.
    names : tuple of str
        The names of the models in the table.

    Returns
    -------
    QueryTable
        `qid`, the values `before` (of `a`) and `after` (of `b`), and their `difference`, largest first.

    Raises
    ------
    InputError
        If the models were evaluated on different queries, or have no such metric.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import movers
    >>> a = rw.evaluate("dcg@1", [1, 0, 1, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2])
    >>> b = rw.evaluate("dcg@1", [1, 0, 1, 0], [2, 1, 1, 2], qid=[1, 1, 2, 2])
    >>> movers(a, b).rows.tolist()
    [(2, 1.0, 0.0, -1.0)]
    """
    top = checks.at_least(top, 1, "top")
    if names[0] == names[1]:
        raise checks.InputError(f"two models are needed, got {names[0]!r} twice.")
    both = align({names[0]: a, names[1]: b}, metric)
    before, after = both.values[:, 0]
    kept = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
    d = stats.snap(after[kept], before[kept])
    order = np.argsort(-np.abs(d), kind="stable")[:top]
    order = order[d[order] != 0]
    found = kept[order]
    fields: list[Any] = [
        ("qid", both.ids.dtype),
        *((name, float) for name in ("before", "after", "difference")),
    ]
    rows = np.empty(found.size, fields)
    rows["qid"], rows["before"], rows["after"] = both.ids[found], before[found], after[found]
    rows["difference"] = d[order]
    title = f"Largest changes of {both.metrics[0]} from {names[0]} to {names[1]}"
    return QueryTable(rows, title, ["query", *names, "difference"])


def worst(
    evaluation: Evaluation, metric: str | None = None, top: int = 10, name: str = "model"
) -> QueryTable:
    """Return the queries with the worst values of a metric.

    Parameters
    ----------
    evaluation : Evaluation
        The values of a model.
    metric : str, optional
        The first metric of the evaluation by default.
    top : int
        The largest number of queries to return.
    name : str
        The name of the model in the title.

    Returns
    -------
    QueryTable
        `qid` and `value`, worst first: the highest if lower values of the metric are better.

    Raises
    ------
    InputError
        If the evaluation has no such metric.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import worst
    >>> worst(rw.evaluate("dcg@1", [1, 0, 1, 0], [2, 1, 1, 2], qid=[7, 7, 8, 8]), top=1).rows.tolist()
    [(8, 0.0)]
    """
    top = checks.at_least(top, 1, "top")
    names = evaluation.metrics
    metric = names[0] if metric is None else check_name("metric", metric, names)
    values = evaluation.per_query[metric]
    kept = np.flatnonzero(~np.isnan(values))
    order = kept[np.argsort(better_sign(metric) * values[kept], kind="stable")[:top]]
    ids = evaluation.per_query["qid"]
    rows = np.empty(order.size, [("qid", ids.dtype), ("value", float)])
    rows["qid"], rows["value"] = ids[order], values[order]
    return QueryTable(rows, f"Worst queries of {name} by {metric}", ["query", metric])
