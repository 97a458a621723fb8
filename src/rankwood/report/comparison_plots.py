"""Pictures of a comparison, as a method of it."""

from typing import TYPE_CHECKING, Any

from rankwood.report.model_plots import per_query

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ComparisonPlots:
    """The method of `Comparison` that draws."""

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
        comparison: Any = self
        return per_query(comparison, model, against, metric)
