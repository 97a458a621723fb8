"""The result of a comparison: numbers, and methods that write them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.atomic import written
from rankwood.metrics.evaluation import Evaluation
from rankwood.render.result import Path, TableResult
from rankwood.render.table import Table
from rankwood.report.comparison import view
from rankwood.report.comparison.align import Aligned, check_name
from rankwood.report.comparison.columns import records
from rankwood.report.comparison_page import comparison_page
from rankwood.report.model_plots import per_query
from rankwood.report.movers import QueryTable, movers, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(TableResult):
    """Models compared query by query: the result of `compare`.

    Attributes
    ----------
    models, metrics : list of str
        Names, in the order given.
    references : list of str
        Names of the rows without tests, such as "perfect model".
    means : structured array
        A row per model and metric: the `mean`, its standard `error`, the number of `queries`, and whether the model is
        one of `references`.
    tests : structured array
        A row per model, model that it is compared with (`against`), and metric. `difference` is model minus other,
        with its confidence interval from `low` to `high`; `cohen_d` and `rank_biserial` have the same sign.
        `wins`, `ties` and `losses` count queries by which value is better. `statistic` is that of the test, larger
        if the model is better (even where lower values are better). `p` is the p-value, and `p_corrected` the one
        corrected for the number of tests. `stars` is the number of significance levels passed, negative if the
        model is worse. `exact` says whether the p-value is free of random draws, `at_limit` whether none of these was
        as extreme. `queries` have a value for both models, `skipped` ones have not.
    rules : dict
        Test, alternative, correction, draws, seed and all other choices behind the numbers.
    better : dict
        For each metric 1 if higher values are better, -1 if lower ones are.
    conventions : dict
        The rules of the evaluations, such as those for ties.

    Notes
    -----
    `pandas.DataFrame(comparison.tests)` and `polars.DataFrame(comparison.tests)` take the arrays as they are.

    Examples
    --------
    >>> import rankwood as rw
    >>> y, qid = [1, 0, 0, 1, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    >>> good = rw.evaluate("dcg@1", y, [9, 1, 1, 9, 1, 9, 9, 1], qid=qid)
    >>> poor = rw.evaluate("dcg@1", y, [1, 9, 9, 1, 9, 1, 1, 9], qid=qid)
    >>> comparison = rw.compare({"poor": poor, "good": good})
    >>> comparison.mean("good"), int(comparison.test("good")["wins"])
    (1.0, 4)
    >>> print(comparison.to_markdown().splitlines()[3])
    | good | **1.0000** |
    """

    def __init__(
        self,
        table: Aligned,
        means: np.ndarray,
        tests: np.ndarray,
        rules: dict[str, Any],
        better: dict[str, int],
        references: list[str],
    ) -> None:
        self.models, self.metrics = list(table.models), list(table.metrics)
        self.means, self.tests = means, tests
        self.rules, self.better, self.references = dict(rules), dict(better), list(references)
        self.conventions = dict(table.conventions)
        self._table = table

    def mean(self, model: str, metric: str | None = None) -> float:
        """Return the mean of a model.

        Parameters
        ----------
        model : str
            A model, or one of `references`.
        metric : str, optional
            The first metric by default.

        Returns
        -------
        float
            The mean over the queries that were not skipped; NaN if all were.
        """
        metric = self._metric(metric)
        model = check_name("model", model, [*self.models, *self.references])
        row = self.means[(self.means["model"] == model) & (self.means["metric"] == metric)]
        return float(row["mean"][0])

    def test(self, model: str, metric: str | None = None, against: str | None = None) -> np.void:
        """Return the row of `tests` for a model against another.

        Parameters
        ----------
        model : str
            The model.
        metric : str, optional
            The first metric by default.
        against : str, optional
            The other model; the baseline by default.

        Returns
        -------
        numpy.void
            A row whose columns are read by name, such as ``row["p"]``.

        Raises
        ------
        InputError
            If a name is unknown, or the two models were not compared.
        """
        against = self.rules["baseline"] if against is None else against
        model, against = (check_name("model", name, self.models) for name in (model, against))
        rows, metric = self.tests, self._metric(metric)
        rows = rows[(rows["model"] == model) & (rows["against"] == against)]
        found = rows[rows["metric"] == metric]
        if not found.size:
            raise checks.InputError(
                f"{model!r} was not compared with {against!r}; give compare that baseline, or "
                "marks='letters' for all pairs."
            )
        row: np.void = found[0]
        return row

    def evaluation(self, model: str) -> Evaluation:
        """Return the values of a model, queries in the common order.

        Parameters
        ----------
        model : str
            The model.

        Returns
        -------
        Evaluation
            The metrics of the comparison, with the queries of the first model.
        """
        values = self._table.values[self.models.index(check_name("model", model, self.models))]
        columns = dict(zip(self.metrics, values, strict=True))
        return Evaluation(self._table.ids, columns, self.conventions)

    def movers(
        self, model: str, other: str, metric: str | None = None, top: int = 10
    ) -> QueryTable:
        """Return the queries whose value differs most between two models.

        Parameters
        ----------
        model, other : str
            The two models.
        metric : str, optional
            The first metric by default.
        top : int
            The largest number of queries to return.

        Returns
        -------
        QueryTable
            As `rankwood.report.movers` returns it.
        """
        metric = self._metric(metric)
        one, two = self.evaluation(model), self.evaluation(other)
        return movers(one, two, metric, top, names=(model, other))

    def worst(self, model: str, metric: str | None = None, top: int = 10) -> QueryTable:
        """Return the queries with a model's worst values.

        Parameters
        ----------
        model : str
            The model.
        metric, top : str and int, as in `movers`

        Returns
        -------
        QueryTable
            As `rankwood.report.worst` returns it.
        """
        return worst(self.evaluation(model), self._metric(metric), top, name=model)

    def tables(self, digits: int = 4, details: bool = False) -> list[Table]:
        """Return the table of means, and with details that of tests.

        Parameters
        ----------
        digits : int
            Number of decimals.
        details : bool
            Whether to add the table of tests.

        Returns
        -------
        list of Table
            Text cells, with notes on the test.
        """
        return view.tables(self, digits, details)

    def columns(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return a row per mean, followed by its tests, with all digits.

        Returns
        -------
        headings, rows : list of str, list of list
        """
        return view.long_table(self)

    def plot(
        self, model: str | None = None, against: str | None = None, metric: str | None = None
    ) -> "Figure":
        """Draw two models query by query: a scatter, and a histogram of the differences.

        Parameters
        ----------
        model, against : str, optional
            The two models; by default the first one that isn't the baseline, and the baseline.
        metric : str, optional
            The first metric by default.

        Returns
        -------
        matplotlib.figure.Figure
            As `rankwood.report.plots.per_query` returns it.
        """
        return per_query(self, model, against, metric)

    def to_html(self, path: Path | None = None, *, digits: int = 4, worst: int = 10) -> str:
        """Return an HTML page with tables of means and tests, and pictures of queries, which needs no other file.

        Parameters
        ----------
        path, digits : path and int, as in `to_markdown`
        worst : int
            The number of worst queries of each model to list, by the first metric; 0 for none.

        Returns
        -------
        str
            The page.
        """
        return written(comparison_page(self, digits, checks.at_least(worst, 0, "worst")), path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists.

        Returns
        -------
        dict
            Attributes by name; numbers that are not finite are None.
        """
        return {
            "models": self.models,
            "references": self.references,
            "metrics": self.metrics,
            "higher_is_better": {name: sign > 0 for name, sign in self.better.items()},
            "rules": {**self.rules, "alphas": list(self.rules["alphas"])},
            "conventions": self.conventions,
            "means": records(self.means),
            "tests": records(self.tests),
        }

    def _metric(self, metric: str | None) -> str:
        """Return the name of a metric, the first if None; raise if it is unknown."""
        return self.metrics[0] if metric is None else check_name("metric", metric, self.metrics)
