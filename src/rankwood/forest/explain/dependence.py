"""Partial dependence: the mean score if all documents had the same value of a feature."""

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.forest.explain.contributions import data_frame
from rankwood.forest.explain.permutation import ScoringModel, check_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_MARKS = 11  # quantiles of the data that a picture marks


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Scores against the value of a feature: the result of `partial_dependence`.

    Parameters
    ----------
    feature : str
        Its name, or its number, from 1 as in LETOR files.
    grid : array of float64
        Values of the feature; positions of the categories of a categorical one.
    mean : array of float64
        The mean score of the documents, if all of them had this value.
    low, high : array of float64
        The quartiles of these scores: half of the documents are between them.
    data_marks : array of float64
        Deciles of the feature in the data.
    labels : list of str or None
        The categories, of a categorical feature.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> from rankwood.explanation import partial_dependence
    >>> curve = partial_dependence(ranker, rw.load_demo("test"), 13, points=5)
    >>> type(curve).__name__, bool((curve.low <= curve.high).all())
    ('PartialDependence', True)
    """

    feature: str
    grid: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    data_marks: np.ndarray
    labels: list[str] | None = None

    def to_frame(self) -> "DataFrame":
        """Return the curve as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A row per value: `value`, `mean`, `low` and `high`.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        values = self.grid if self.labels is None else self.labels
        return data_frame({"value": values, "mean": self.mean, "low": self.low, "high": self.high})

    def plot(self) -> "Figure":
        """Draw the mean score against the value of the feature.

        Returns
        -------
        matplotlib.figure.Figure
            A line, a band with half of the documents, and marks at the deciles of the data.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        from rankwood.forest.explain.pictures import dependence_curve

        return dependence_curve(self)


def partial_dependence(
    ranker: ScoringModel, data: RankingData, feature: int | str, *, points: int = 20
) -> PartialDependence:
    """Return the mean score of documents, if all of them had the same value of a feature.

    Only differences matter: a constant on all scores changes no ranking.

    Parameters
    ----------
    ranker : estimator
        Any fitted model with `predict`.
    data : RankingData
        Documents; the values of their other features stay as they are. It is not changed.
    feature : int or str
        The column, from 0, or the name of the feature.
    points : int
        The largest number of values to try: quantiles of the data, or its distinct values if these are fewer.

    Returns
    -------
    PartialDependence
        The curve.

    Raises
    ------
    InputError
        If there is no such feature, or no document has a value of it.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.explanation import partial_dependence
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> curve = partial_dependence(ranker, rw.load_demo("test"), 13, points=5)
    >>> curve.feature, len(curve.grid)
    ('f14', 4)
    """
    data = check_data(data)
    checks.at_least(points, 2, "points")
    names = data.schema.labels()
    at = _column(feature, names)
    work = copy(data)
    work.X = np.array(dense(data.X), order="F")
    values = work.X[:, at][~np.isnan(work.X[:, at])].astype(np.float64)
    if not values.size:
        raise checks.InputError(f"no document has a value of {names[at]}: all are missing.")
    categories = data.categories.get(names[at])
    grid = _grid(values, None if categories is None else len(categories), points)
    rows = []
    for value in grid:
        work.X[:, at] = value
        scores = ranker.predict(work)
        rows.append((scores.mean(), *np.quantile(scores, [0.25, 0.75])))
    mean, low, high = np.array(rows).T
    marks = np.quantile(values, np.linspace(0, 1, _MARKS))
    labels = None if categories is None else list(map(str, categories))
    return PartialDependence(names[at], grid, mean, low, high, marks, labels)


def _column(feature: int | str, names: list[str]) -> int:
    """Return the position of a feature."""
    if isinstance(feature, str):
        if feature not in names:
            raise checks.InputError(
                f"there is no feature {feature!r}{checks.nearest(feature, names)}"
            )
        return names.index(feature)
    at = checks.at_least(feature, 0, "feature")
    if at >= len(names):
        raise checks.InputError(
            f"there is no feature {at}: columns are from 0 to {len(names) - 1}."
        )
    return at


def _grid(values: np.ndarray, categories: int | None, points: int) -> np.ndarray:
    """Return the values to try, rising: all categories, all distinct values if there are few, else quantiles."""
    if categories is not None:
        return np.arange(float(categories))
    distinct = np.unique(values)
    if distinct.size <= points:
        return distinct
    return np.unique(np.quantile(values, np.linspace(0, 1, points), method="nearest"))
