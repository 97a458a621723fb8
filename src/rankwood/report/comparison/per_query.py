"""Two models query by query: values, who wins, and a histogram of the differences."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwood import stats

if TYPE_CHECKING:
    from rankwood.report.comparison.comparison import Comparison

_FEWEST, _MOST = 4, 15  # bins on each side of 0


class PerQuery(NamedTuple):
    """A model and the one it is compared with, by a metric: values of the queries that both have a value for."""

    model: str
    against: str
    metric: str
    ids: np.ndarray
    values: np.ndarray
    others: np.ndarray
    #: Model minus other, 0 where the difference is only rounding.
    differences: np.ndarray
    #: 1 if higher values are better, -1 if lower ones are.
    better: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of queries won, tied and lost."""
        return stats.wins_ties_losses(self.differences * self.better)

    @property
    def text(self) -> str:
        """Who won how many queries."""
        won, tied, lost = self.counts
        return f"{won:,} won, {tied:,} tied, {lost:,} lost"


class Histogram(NamedTuple):
    """Differences that are not 0, by bins of equal width on both sides of 0."""

    edges: np.ndarray
    counts: np.ndarray


def query_values(
    comparison: "Comparison", model: str, against: str, metric: str | None = None
) -> PerQuery:
    """Return the values of two models of a comparison, query by query."""
    metric = comparison.metrics[0] if metric is None else metric
    one, two = (comparison.evaluation(name).per_query for name in (model, against))
    both = ~np.isnan(one[metric] + two[metric])
    values, others = one[metric][both], two[metric][both]
    differences = stats.snap(values, others)
    better = comparison.better[metric]
    return PerQuery(model, against, metric, one["qid"][both], values, others, differences, better)


def histogram(differences: np.ndarray) -> Histogram:
    """Return the histogram of differences; those of 0 are in no bin, as they belong to neither side."""
    d = differences[differences != 0]
    side = int(np.clip(round(d.size**0.5), _FEWEST, _MOST))
    reach = float(np.abs(d).max(initial=0.0)) or 1.0
    edges = reach * (np.arange(-side, side + 1) / side)  # the ends are exact
    place = np.clip(np.floor(np.abs(d) / reach * side).astype(np.int64), 0, side - 1)
    place = np.where(d > 0, side + place, side - 1 - place)
    return Histogram(edges, np.bincount(place, minlength=2 * side))
