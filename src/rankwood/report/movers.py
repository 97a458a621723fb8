"""Queries worth a look: those that a model does worst, and those where two models differ most."""

from typing import Any

import numpy as np

from rankwood import stats
from rankwood._core import checks
from rankwood.metrics.evaluation import Evaluation
from rankwood.report import html, render
from rankwood.report.align import align, direction
from rankwood.report.table import Cell, Table


class Queries:
    """A short table of queries.

    Attributes
    ----------
    rows : structured array
        A field `qid`, and the values of the query.
    title : str
        What the queries have in common.
    headings : list of str
        What the columns are.
    """

    def __init__(self, rows: np.ndarray, title: str, headings: list[str]) -> None:
        self.rows, self.title, self.headings = rows, title, headings

    def table(self, digits: int = 4) -> Table:
        """Return the table for a renderer."""
        signed = "difference" in (self.rows.dtype.names or ())
        rows = []
        for qid, *values in self.rows.tolist():
            texts = [f"{v:.{digits}f}" for v in values]
            texts[-1] = f"{values[-1]:+.{digits}f}" if signed else texts[-1]
            rows.append([Cell(str(qid)), *map(Cell, texts)])
        return Table(self.title, self.headings, rows, len(self.headings) - 1)

    def to_markdown(self, digits: int = 4) -> str:
        """Return the table as Markdown."""
        return render.markdown([self.table(digits)])

    def to_latex(self, digits: int = 4) -> str:
        """Return the table for LaTeX (booktabs)."""
        return render.latex([self.table(digits)])

    def to_html(self, digits: int = 4) -> str:
        """Return a page with the table."""
        return html.page(self.title, [self.table(digits)])

    def to_csv(self) -> str:
        """Return the table with all digits."""
        return render.csv_text(list(self.rows.dtype.names or ()), self.rows.tolist())

    def __repr__(self) -> str:
        return render.plain([self.table()])

    def _repr_html_(self) -> str:
        return html.fragment([self.table()])


def movers(
    a: Evaluation,
    b: Evaluation,
    metric: str | None = None,
    top: int = 10,
    names: tuple[str, str] = ("a", "b"),
) -> Queries:
    """Return the queries whose value changes most from one model to another.

    Parameters
    ----------
    a, b : Evaluation
        Two models on the same queries.
    metric : str, optional
        The first that `a` has by default.
    top : int
        How many queries, at most; those without a difference are left out.
    names : tuple of str
        What to call the models.

    Returns
    -------
    Queries
        `qid`, the values `before` (of `a`) and `after` (of `b`), and their `difference`, largest first.

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
    name = both.metrics[0]
    before, after = both.values[:, 0]
    kept = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
    d = stats.snap(after[kept], before[kept])
    order = np.argsort(-np.abs(d), kind="stable")[:top]
    order = order[d[order] != 0]
    found = kept[order]
    kinds: list[Any] = [
        ("qid", both.ids.dtype),
        *((n, float) for n in ("before", "after", "difference")),
    ]
    rows = np.empty(found.size, kinds)
    rows["qid"], rows["before"], rows["after"] = both.ids[found], before[found], after[found]
    rows["difference"] = d[order]
    title = f"Largest changes of {name} from {names[0]} to {names[1]}"
    return Queries(rows, title, ["query", *names, "difference"])


def worst(
    evaluation: Evaluation, metric: str | None = None, top: int = 10, name: str = "model"
) -> Queries:
    """Return the queries with the worst values of a metric.

    Parameters
    ----------
    evaluation : Evaluation
        A model's values.
    metric : str, optional
        The first it has by default.
    top : int
        How many queries, at most.
    name : str
        What to call the model.

    Returns
    -------
    Queries
        `qid` and `value`, worst first: highest where less is better.
    """
    top = checks.at_least(top, 1, "top")
    metric = evaluation.metrics[0] if metric is None else str(metric)
    if metric not in evaluation.metrics:
        near = checks.nearest(metric, evaluation.metrics)
        raise checks.InputError(f"there is no metric {metric!r}{near}")
    values = evaluation.per_query[metric]
    kept = np.flatnonzero(~np.isnan(values))
    order = kept[np.argsort(direction(metric) * values[kept], kind="stable")[:top]]
    ids = evaluation.per_query["qid"]
    rows = np.empty(order.size, [("qid", ids.dtype), ("value", float)])
    rows["qid"], rows["value"] = ids[order], values[order]
    return Queries(rows, f"Worst queries of {name} by {metric}", ["query", metric])
