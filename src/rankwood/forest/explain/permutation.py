"""Permutation importance: what a metric loses when a feature is shuffled within each query."""

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwood._util import checks
from rankwood._util.progress import bar
from rankwood._util.text import cells_text, plural
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.forest.explain.contributions import data_frame
from rankwood.metrics.evaluate import evaluate, named_metrics
from rankwood.metrics.verbs import higher_is_better
from rankwood.render.html import cells_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_SHOWN = 10  # features that are printed


class ScoringModel(Protocol):
    """Any fitted model that scores documents."""

    def predict(self, X: Any, /) -> np.ndarray:
        """Return a score per document."""


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance:
    """What a metric loses when a feature is permuted: the result of `permutation_importance`.

    Parameters
    ----------
    metric : str
        The metric.
    value : float
        Its mean over the queries, with nothing permuted.
    feature_names : list of str
        Names of the features, or their numbers, from 1 as in LETOR files.
    losses : array of float64, features by repeats
        How much worse the mean is; negative if permuting made it better.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> from rankwood.explanation import permutation_importance
    >>> importance = permutation_importance(ranker, rw.load_demo("test"), repeats=2)
    >>> type(importance).__name__, importance.metric, importance.mean.shape
    ('PermutationImportance', 'ndcg@10', (20,))
    """

    metric: str
    value: float
    feature_names: list[str]
    losses: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean loss of each feature."""
        return np.asarray(self.losses.mean(axis=1))

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation of the loss over the repeats; NaN of a single one."""
        if self.losses.shape[1] == 1:
            return np.full(self.losses.shape[0], np.nan)
        return np.asarray(self.losses.std(axis=1, ddof=1))

    def to_frame(self) -> "DataFrame":
        """Return the losses as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A row per feature, the largest loss first: `feature`, `loss` and `spread`.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        order = np.argsort(-self.mean, kind="stable")
        names = [self.feature_names[i] for i in order]
        return data_frame(
            {"feature": names, "loss": self.mean[order], "spread": self.spread[order]}
        )

    def plot(self, top: int = 15) -> "Figure":
        """Draw the features with the largest losses, with the spread over the repeats.

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
        from rankwood.forest.explain.pictures import permuted_bars

        return permuted_bars(self, checks.at_least(top, 1, "top"))

    def _cells(self) -> list[list[str]]:
        mean, spread = self.mean, self.spread
        order = np.argsort(-mean, kind="stable")[:_SHOWN]
        rows = [[self.feature_names[i], f"{mean[i]:.4f}", f"{spread[i]:.4f}"] for i in order]
        return [["feature", f"loss of {self.metric}", "spread"], *rows]

    def _note(self) -> str:
        repeats = plural(self.losses.shape[1], "repeat")
        left = len(self.feature_names) - _SHOWN
        counts = f"{self.metric} {self.value:.4f} without permuting, {repeats}"
        return counts + (f"; {plural(left, 'other feature')} not shown" if left > 0 else "")

    def __repr__(self) -> str:
        return f"{cells_text(self._cells(), [1, 2])}\n{self._note()}"

    def _repr_html_(self) -> str:
        return cells_html(self._cells(), [1, 2], 1, self._note())


def permutation_importance(
    ranker: ScoringModel,
    data: RankingData,
    *,
    metric: Any = "ndcg@10",
    repeats: int = 5,
    seed: int = 0,
    verbose: bool | None = None,
) -> PermutationImportance:
    """Measure what a ranking metric loses when the values of a feature are permuted within each query.

    Values move among the documents of the same query only. So a feature that is the same for all documents of a query,
    such as its length, loses nothing: it can't tell these documents apart, though it may change how others count.

    Parameters
    ----------
    ranker : estimator
        Any fitted model with `predict`: Ranker, NeuralRanker, TwoStage, or one of your own.
    data : RankingData
        Labelled documents, best ones that the model was not trained on. It is not changed.
    metric : str or part
        The metric.
    repeats : int
        How often each feature is permuted.
    seed : int
        The same seed gives the same permutations.
    verbose : bool, optional
        Show a progress bar; by default on a terminal.

    Returns
    -------
    PermutationImportance
        Losses by feature and repeat.

    Raises
    ------
    InputError
        If there are no labels to measure with, or an argument can't be used.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.explanation import permutation_importance
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> importance = permutation_importance(ranker, rw.load_demo("test"), repeats=2)
    >>> importance.losses.shape
    (20, 2)
    """
    data = check_data(data)
    checks.at_least(repeats, 1, "repeats")
    checks.at_least(seed, 0, "seed")
    ((name, part),) = _single(named_metrics(metric)).items()
    sign = 1.0 if higher_is_better(part) else -1.0
    jobs = getattr(ranker, "n_jobs", None)

    def measure(documents: RankingData) -> float:
        (mean,) = evaluate(part, documents, ranker.predict(documents), n_jobs=jobs).mean().values()
        return float(mean)

    value = measure(data)
    work = copy(data)
    work.X = np.array(dense(data.X), order="F")
    losses, names = np.zeros((data.n_features, repeats)), data.schema.labels()
    with bar(losses.size, "Permuting", verbose) as advance:
        for feature in range(data.n_features):
            before = work.X[:, feature].copy()
            for repeat in range(repeats):
                moved = _permuted(before, data, [seed, feature, repeat])
                # Equal columns, as of a feature of the query, give equal scores.
                if not np.array_equal(moved, before, equal_nan=True):
                    work.X[:, feature] = moved
                    losses[feature, repeat] = sign * (value - measure(work))
                advance(names[feature])
            work.X[:, feature] = before
    return PermutationImportance(name, value, names, losses)


def check_data(data: Any) -> RankingData:
    """Return data, or raise if it isn't a RankingData."""
    if not isinstance(data, RankingData):
        raise checks.InputError(
            f"data must be a RankingData, which has labels and queries, got {type(data).__name__}."
        )
    return data


def _single(metrics: dict[str, Any]) -> dict[str, Any]:
    if len(metrics) != 1:
        raise checks.InputError(f"metric must be a single one, got {len(metrics)}.")
    return metrics


def _permuted(column: np.ndarray, data: RankingData, seed: list[int]) -> np.ndarray:
    """Return a column whose values have changed places within each query."""
    rows = data.groups.rows
    query = np.repeat(np.arange(data.groups.ids.size), data.groups.sizes)
    noise = np.random.default_rng(seed).random(rows.size)
    out = np.empty_like(column)
    out[rows] = column[rows[np.lexsort((noise, query))]]
    return out
