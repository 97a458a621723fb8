"""Explanation: the score of each document as a sum over its features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import cells_text, plural
from rankwood.data.groups import Groups
from rankwood.forest.explain.contributions import Contributions, data_frame, value_text
from rankwood.render.html import cells_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_SHOWN = 10  # features that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The score of each document as a sum over its features: the result of `Ranker.explain`.

    Parameters
    ----------
    values : array of float64, documents by features
        SHAP values: ``base + values.sum(axis=1)`` is `scores`, within 1e-9.
    base : float
        The mean score of the training data, by the weights of leaves.
    scores : array of float64
        The sum of the leaves of each document, in float64.
    rounding : array of float64
        What `predict` has beside `scores`: XGBoost adds leaves in float32, other engines in float64.
    X : array of float64
        The features; missing values are NaN, categories their positions.
    feature_names : list of str
        Names of the features, or their numbers, from 1 as in LETOR files.
    groups : Groups
        Rows by query.
    documents : sequence of str, optional
        Ids of the documents.
    categories : dict, optional
        Values of categorical features by name.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> explanation = ranker.explain(rw.load_demo("test"))
    >>> type(explanation).__name__, explanation.values.shape
    ('Explanation', (847, 20))
    """

    values: np.ndarray
    base: float
    scores: np.ndarray
    rounding: np.ndarray
    X: np.ndarray
    feature_names: list[str]
    groups: Groups
    documents: Sequence[str] | None = None
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.scores.size)

    @cached_property
    def qid(self) -> np.ndarray:
        """Query id of each row."""
        return self.groups.per_row(self.groups.ids)

    @cached_property
    def centred(self) -> np.ndarray:
        """Contributions less their means over the query: what lifts a document above its neighbours.

        What a feature adds to all documents of the query alike is taken away, since it moves none of them. The sum over
        features is the score less the mean score of the query.
        """
        return self.values - self._query_means(self.values)

    @cached_property
    def importances(self) -> np.ndarray:
        """The mean size of the centred contributions of each feature, in units of the score."""
        return np.asarray(np.abs(self.centred).mean(axis=0))

    def _query_means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the query of each row, in the order of rows."""
        groups = self.groups
        means = np.add.reduceat(values[groups.rows], groups.ptr[:-1], axis=0)
        means /= groups.sizes.reshape(-1, *[1] * (values.ndim - 1))
        out = np.empty_like(values)
        out[groups.rows] = np.repeat(means, groups.sizes, axis=0)
        return out

    def document(self, row: int | str) -> Contributions:
        """Tell what lifts one document above the mean of its query, or pushes it below.

        Parameters
        ----------
        row : int or str
            Its row, or its id if the documents have ids.

        Returns
        -------
        Contributions
            From the mean score of the query to that of the document.

        Raises
        ------
        InputError
            If there is no such row or id.
        """
        at = self._row(row)
        mean = float(self._query_means(self.scores)[at])
        name = self.name_of(at)
        return Contributions(
            f"why {name} is {'above' if self.scores[at] >= mean else 'below'} the mean of query {self.qid[at]}",
            self.feature_names,
            self.centred[at],
            {"value": self._texts(at)},
            (("mean of the query", mean), (name, float(self.scores[at]))),
            float(self.rounding[at] - self._query_means(self.rounding)[at]),
        )

    def pair(self, a: int | str, b: int | str) -> Contributions:
        """Tell why one document is above another of the same query.

        Parameters
        ----------
        a, b : int or str
            Their rows, or ids.

        Returns
        -------
        Contributions
            From the score of b to that of a: the differences of their contributions.

        Raises
        ------
        InputError
            If there is no such document, or if the two are of different queries.
        """
        first, second = self._row(a), self._row(b)
        if first == second:
            raise checks.InputError(f"two documents are needed, got {self.name_of(first)} twice.")
        if self.qid[first] != self.qid[second]:
            raise checks.InputError(
                f"{self.name_of(first)} is of query {self.qid[first]}, and {self.name_of(second)} of query "
                f"{self.qid[second]}: scores of different queries can't be compared."
            )
        names, scores = (self.name_of(first), self.name_of(second)), self.scores[[first, second]]
        place = "above" if scores[0] >= scores[1] else "below"
        return Contributions(
            f"why {names[0]} is {place} {names[1]}, query {self.qid[first]}",
            self.feature_names,
            self.values[first] - self.values[second],
            {names[0]: self._texts(first), names[1]: self._texts(second)},
            ((names[1], float(scores[1])), (names[0], float(scores[0]))),
            float(self.rounding[first] - self.rounding[second]),
        )

    def to_frame(self, centred: bool = True) -> "DataFrame":
        """Return contributions as a pandas data frame.

        Parameters
        ----------
        centred : bool
            Contributions within the query, as in `centred`; False: the SHAP values themselves.

        Returns
        -------
        pandas.DataFrame
            A row per document: `qid`, `row`, `document` (only if there are ids), `score`, and a column per feature.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        columns: dict[str, Any] = {"qid": self.qid}
        columns["row"] = np.arange(len(self))
        if self.documents is not None:
            columns["document"] = list(self.documents)
        columns["score"] = self.scores
        values = self.centred if centred else self.values
        # A feature may have the name of a column: its contributions get another one, so that none is lost.
        names = [f"{name} (feature)" if name in columns else name for name in self.feature_names]
        return data_frame(columns | dict(zip(names, values.T, strict=True)))

    def to_shap(self, centred: bool = False) -> Any:
        """Return the contributions as an object of library `shap`, for its plots.

        Parameters
        ----------
        centred : bool
            Contributions within the query, with the mean scores of queries as base values.

        Returns
        -------
        shap.Explanation
            `values`, `base_values`, `data` and `feature_names`.

        Raises
        ------
        InputError
            If shap is not installed.
        """
        try:
            import shap
        except ImportError:
            raise checks.InputError(
                "to_shap needs the library shap, which isn't installed: pip install shap."
            ) from None
        base = self._query_means(self.scores) if centred else np.full(len(self), self.base)
        values = self.centred if centred else self.values
        return shap.Explanation(values, base, self.X, feature_names=self.feature_names)

    def plot(self, top: int = 15) -> "Figure":
        """Draw the mean size of contributions within queries, a bar per feature.

        Parameters
        ----------
        top : int
            The largest number of features to draw.

        Returns
        -------
        matplotlib.figure.Figure
            Bars, the largest on top.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        from rankwood.forest.explain.pictures import bars

        return bars(self, checks.at_least(top, 1, "top"))

    def beeswarm(self, top: int = 10) -> "Figure":
        """Draw the contributions within queries of all documents, coloured by the value of the feature, by `shap`.

        Parameters
        ----------
        top : int
            The largest number of features to draw.

        Returns
        -------
        matplotlib.figure.Figure
            A row of points per feature.

        Raises
        ------
        InputError
            If shap or matplotlib is not installed.
        """
        from rankwood.forest.explain.pictures import beeswarm

        return beeswarm(self, checks.at_least(top, 1, "top"))

    def name_of(self, row: int) -> str:
        """Return the id of a document, or its row.

        Parameters
        ----------
        row : int
            The row, from 0.

        Returns
        -------
        str
            Such as ``"row 3"`` if documents have no ids.
        """
        name = "" if self.documents is None else str(self.documents[row])
        return name or f"row {row}"

    def _row(self, which: int | str) -> int:
        """Return the row of a document by its row or its id."""
        if isinstance(which, str):
            ids = [] if self.documents is None else list(self.documents)
            if which not in ids:
                raise checks.InputError(
                    f"there is no document {which!r}{checks.nearest(which, ids)}"
                )
            return ids.index(which)
        row = checks.at_least(which, 0, "row")
        if row >= len(self):
            raise checks.InputError(f"there is no row {row}: rows are from 0 to {len(self) - 1}.")
        return row

    def _texts(self, row: int) -> list[str]:
        """Return the feature values of a document as text."""
        pairs = zip(self.feature_names, self.X[row].tolist(), strict=True)
        return [value_text(value, self.categories.get(name, ())) for name, value in pairs]

    def _cells(self) -> list[list[str]]:
        order = np.argsort(-self.importances, kind="stable")[:_SHOWN]
        rows = [[self.feature_names[i], f"{self.importances[i]:.4f}"] for i in order]
        return [["feature", "mean size within a query"], *rows]

    def _note(self) -> str:
        sizes = plural(len(self), "document"), plural(self.groups.ids.size, "query")
        counts = f"{' of '.join(sizes)}, base {self.base:.4f}"
        left = int(np.count_nonzero(self.importances)) - _SHOWN
        return counts + (f"; {plural(left, 'other feature')} not shown" if left > 0 else "")

    def __repr__(self) -> str:
        return f"{cells_text(self._cells(), [1])}\n{self._note()}"

    def _repr_html_(self) -> str:
        return cells_html(self._cells(), [1], 1, self._note())
