"""What lies between two scores: the contribution of each feature, as a table and a picture."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import cells_text, plural
from rankwood.render.html import cells_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_SHOWN = 10  # features that are printed


class Contributions:
    """What leads from one score to another, feature by feature.

    It is the result of `Explanation.document`, from the mean score of the query to that of a document, and of
    `Explanation.pair`, from the score of one document to that of another.

    Attributes
    ----------
    title : str
        The question, such as "why row 3 above row 5".
    features : list of str
        Names of the features.
    values : array of float64
        Contribution of each feature; the sum is `end` - `start`.
    given : dict
        Values of the features, as text, by document.
    start, end : (str, float)
        The two scores, with their names.
    rounding : float
        What the engine's own precision adds to `end` - `start`; 0 but for engines that add leaves in float32.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> why = ranker.explain(rw.load_demo("test")).pair(0, 1)
    >>> bool(abs(why.values.sum() - (why.end[1] - why.start[1])) < 1e-9)
    True
    """

    def __init__(
        self,
        title: str,
        features: Sequence[str],
        values: np.ndarray,
        given: Mapping[str, Sequence[str]],
        scores: tuple[tuple[str, float], tuple[str, float]],
        rounding: float = 0.0,
    ) -> None:
        self.title, self.features, self.values = title, list(features), values
        self.given = {name: list(texts) for name, texts in given.items()}
        self.start, self.end = scores
        self.rounding = rounding

    @property
    def order(self) -> np.ndarray:
        """Positions of the features, the largest contribution of either sign first."""
        return np.argsort(-np.abs(self.values), kind="stable")

    def to_frame(self) -> "DataFrame":
        """Return the contributions as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A row per feature, the largest contribution first: `feature`, its values, and `contribution`.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        order = self.order
        columns: dict[str, Any] = {"feature": np.array(self.features, dtype=object)[order]}
        for name, texts in self.given.items():
            columns[name] = np.array(texts, dtype=object)[order]
        return data_frame({**columns, "contribution": self.values[order]})

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return all values, for JSON.

        Parameters
        ----------
        top : int, optional
            The number of features to list, the largest contributions; all by default.

        Returns
        -------
        dict
            `title`, `start` and `end` with `name` and `score`, `features` (a list of objects with `feature`, its
            values by document and `contribution`), `others` (the sum of those omitted) and `rounding`.
        """
        order = self.order
        listed, rest = order[:top], order[len(order) if top is None else top :]
        return {
            "title": self.title,
            **{
                key: {"name": name, "score": score}
                for key, (name, score) in (("start", self.start), ("end", self.end))
            },
            "features": [
                {
                    "feature": self.features[i],
                    "values": {name: texts[i] for name, texts in self.given.items()},
                    "contribution": float(self.values[i]),
                }
                for i in listed
            ],
            "others": float(self.values[rest].sum()),
            "rounding": self.rounding,
        }

    def plot(self, top: int = 10) -> "Figure":
        """Draw the way from one score to the other as a waterfall.

        Parameters
        ----------
        top : int
            The number of features to draw; the others are one bar.

        Returns
        -------
        matplotlib.figure.Figure
            A bar per feature, the largest on top, from the first score below to the second one above.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        from rankwood.forest.explain.pictures import waterfall

        return waterfall(self, checks.at_least(top, 1, "top"))

    def _cells(self, top: int = _SHOWN) -> list[list[str]]:
        """Return headings and rows as text: features, those omitted, and the two scores."""
        blank = [""] * len(self.given)
        order = self.order
        used = int(np.count_nonzero(self.values))
        listed, rest = order[: min(top, used)], order[min(top, used) :]
        rows = [
            ["feature", *self.given, "contribution"],
            [self.start[0], *blank, _number(self.start[1])],
        ]
        for i in listed:
            texts = [texts[i] for texts in self.given.values()]
            rows.append([self.features[i], *texts, f"{self.values[i]:+.4f}"])
        if used > top:
            others = plural(used - top, "other feature")
            rows.append([others, *blank, f"{self.values[rest].sum():+.4f}"])
        return [*rows, [self.end[0], *blank, _number(self.end[1])]]

    def __repr__(self) -> str:
        numeric = range(1, len(self.given) + 2)
        return f"{self.title}\n{cells_text(self._cells(), list(numeric))}"

    def _repr_html_(self) -> str:
        numeric = list(range(1, len(self.given) + 2))
        return cells_html([[self.title, *[""] * numeric[-1]], *self._cells()], numeric, head=2)


def data_frame(columns: Mapping[str, Any]) -> "DataFrame":
    """Return columns as a pandas data frame; raise if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise checks.InputError(
            "to_frame needs pandas, which isn't installed: pip install pandas."
        ) from None
    return pandas.DataFrame(dict(columns))


def value_text(value: float, categories: Sequence[Any] = ()) -> str:
    """Return the value of a feature as text; of a categorical one the value at this position."""
    if value != value:
        return "missing"
    if 0 <= value < len(categories):
        return str(categories[int(value)])
    return f"{value:.4g}"


def _number(score: float) -> str:
    return f"{score:.4f}"
