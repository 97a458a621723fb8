"""The result of a comparison: numbers, and the doors to their renderings."""

import json
import math
import os
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood.metrics.evaluation import Evaluation
from rankwood.report import html, render, view
from rankwood.report.align import Aligned
from rankwood.report.movers import Queries, movers, worst

Path = str | os.PathLike[str]

#: Columns of `Comparison.means`.
MEAN: list[tuple[str, Any]] = [
    ("model", str),
    ("metric", str),
    ("mean", float),
    ("error", float),
    ("queries", int),
    ("bound", bool),
]
#: Columns of `Comparison.tests`.
TEST: list[tuple[str, Any]] = [
    *((name, str) for name in ("model", "against", "metric")),
    *((name, float) for name in ("mean", "against_mean", "difference", "low", "high")),
    *((name, float) for name in ("statistic", "p", "p_corrected")),
    ("stars", int),
    ("exact", bool),
    *((name, float) for name in ("cohen_d", "rank_biserial")),
    *((name, int) for name in ("wins", "ties", "losses", "queries", "skipped")),
]


class Comparison:
    """Models compared query by query: what `compare` returns.

    Attributes
    ----------
    models, metrics : list of str
        Names, in the order given.
    means : structured array
        A row per model and metric: `mean`, its standard `error`, `queries`, and whether it is a `bound` (a
        perfect or random model).
    tests : structured array
        A row per model, model it is compared with (`against`) and metric. `difference` is model minus
        other, with its interval `low` to `high`, `cohen_d` and `rank_biserial` of the same sign; `wins`,
        `ties` and `losses` count queries by what is better; `statistic` is that of the test, larger if the
        model is better (also where less is); `p`, and `p_corrected` for the number of tests;
        `stars` is the number of levels passed, below 0 if for the worse; `exact` if the p-value has no
        chance in it; `queries` with values of both, `skipped` those without.
    rules : dict
        Test, alternative, correction, draws, seed and all other choices behind the numbers.
    better : dict
        For each metric 1 where more is better, -1 where less is.

    `pandas.DataFrame(comparison.tests)` and `polars.DataFrame(comparison.tests)` take the arrays as they are.
    """

    def __init__(
        self,
        table: Aligned,
        means: np.ndarray,
        tests: np.ndarray,
        rules: dict[str, Any],
        better: dict[str, int],
        bounds: list[str],
    ) -> None:
        self.models, self.metrics = list(table.models), list(table.metrics)
        self.means, self.tests = means, tests
        self.rules, self.better, self.bounds = dict(rules), dict(better), list(bounds)
        self.conventions = dict(table.conventions)
        self._table = table

    def mean(self, model: str, metric: str | None = None) -> float:
        """Return the mean of a model by a metric (the first by default)."""
        metric = self._metric(metric)
        known = [*self.models, *self.bounds]
        model = known[self._place(model, known)]
        row = self.means[(self.means["model"] == model) & (self.means["metric"] == metric)]
        return float(row["mean"][0])

    def test(self, model: str, metric: str | None = None, against: str | None = None) -> np.void:
        """Return the row of `tests` for a model against another (the baseline by default)."""
        against = self.rules["baseline"] if against is None else against
        i, j = (self._place(name, self.models) for name in (model, against))
        rows, metric = self.tests, self._metric(metric)
        found = rows[
            (rows["model"] == self.models[i])
            & (rows["against"] == self.models[j])
            & (rows["metric"] == metric)
        ]
        if not found.size:
            raise checks.InputError(
                f"{model!r} was not compared with {against!r}; give compare that baseline, or "
                "marks='letters' for all pairs."
            )
        row: np.void = found[0]
        return row

    def movers(self, model: str, other: str, metric: str | None = None, top: int = 10) -> Queries:
        """Return the queries whose value differs most between two models, see `movers`."""
        metric = self._metric(metric)
        return movers(self._one(model), self._one(other), metric, top, names=(model, other))

    def worst(self, model: str, metric: str | None = None, top: int = 10) -> Queries:
        """Return the queries that a model does worst, see `worst`."""
        return worst(self._one(model), self._metric(metric), top, name=model)

    def to_markdown(
        self, path: Path | None = None, *, digits: int = 4, details: bool = False
    ) -> str:
        """Return the table of means as Markdown; `details` adds a table of tests. `path` writes it too."""
        return _written(render.markdown(view.tables(self, digits, details)), path)

    def to_latex(self, path: Path | None = None, *, digits: int = 4, details: bool = False) -> str:
        r"""Return the table of means for LaTeX (``\usepackage{booktabs}``); `details` adds a table of tests."""
        return _written(render.latex(view.tables(self, digits, details)), path)

    def to_html(self, path: Path | None = None, *, digits: int = 4) -> str:
        """Return a page with both tables; it needs no other file."""
        return _written(html.page("Comparison of models", view.tables(self, digits, True)), path)

    def to_csv(self, path: Path | None = None) -> str:
        """Return all numbers, with all digits: a row per mean, with its tests behind it."""
        return _written(render.csv_text(*view.long(self)), path)

    def to_json(self, path: Path | None = None) -> str:
        """Return everything as one JSON object; numbers that JSON doesn't have are null."""
        return _written(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n", path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain dictionaries and lists; None for what is no finite number."""
        return {
            "models": self.models,
            "bounds": self.bounds,
            "metrics": self.metrics,
            "higher_is_better": {name: sign > 0 for name, sign in self.better.items()},
            "rules": {**self.rules, "levels": list(self.rules["levels"])},
            "conventions": self.conventions,
            "means": _records(self.means),
            "tests": _records(self.tests),
        }

    def __repr__(self) -> str:
        return render.plain(view.tables(self, 4, False))

    def _repr_html_(self) -> str:
        return html.fragment(view.tables(self, 4, True))

    def _metric(self, metric: str | None) -> str:
        metric = self.metrics[0] if metric is None else str(metric)
        if metric not in self.metrics:
            raise checks.InputError(
                f"there is no metric {metric!r}{checks.nearest(metric, self.metrics)}"
            )
        return metric

    def _place(self, model: str, known: list[str]) -> int:
        if model not in known:
            raise checks.InputError(
                f"there is no model {model!r}{checks.nearest(str(model), known)}"
            )
        return known.index(model)

    def _one(self, model: str) -> Evaluation:
        values = self._table.values[self._place(model, self.models)]
        columns = dict(zip(self.metrics, values, strict=True))
        return Evaluation(self._table.ids, columns, self.conventions)


def _records(rows: np.ndarray) -> list[dict[str, Any]]:
    names = rows.dtype.names or ()
    return [{n: _plain(v) for n, v in zip(names, row, strict=True)} for row in rows.tolist()]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(text: str, path: Path | None) -> str:
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode())
    return text
