"""A learning curve that grows while a model is trained, in a notebook."""

from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwood._core import checks
from rankwood.callbacks._values import place
from rankwood.report import _drawing
from rankwood.training.context import Round

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LiveCurve:
    """Draw the metrics by round in a notebook, and draw them again as training goes on.

    Parameters
    ----------
    seconds : float
        The shortest time between two drawings; the last round is drawn in any case.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.callbacks import LiveCurve
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")  # doctest: +SKIP
    >>> rw.Ranker().fit(train, valid=valid, callbacks=[LiveCurve()])  # doctest: +SKIP
    """

    def __init__(self, seconds: float = 1.0) -> None:
        try:
            from IPython.display import display
        except ImportError:
            raise checks.InputError(
                "LiveCurve draws in a notebook, and IPython isn't installed; type: pip install ipython, or use CSV."
            ) from None
        with _drawing.style():  # raises now if there is no matplotlib
            self._display = display
        self._seconds = checks.non_negative(seconds, "seconds")
        self._handle: Any = None
        self._drawn = -float("inf")
        self._last: Round | None = None

    def __call__(self, done: Round) -> None:
        """Take in a round; draw if the last drawing is old enough.

        Parameters
        ----------
        done : Round
            The round.
        """
        if self._last is not None and (done.stage, done.fold) != (
            self._last.stage,
            self._last.fold,
        ):
            self.close()  # the curves of another model
        self._last = done
        if monotonic() - self._drawn >= self._seconds:
            self._draw(done)

    def close(self) -> None:
        """Draw the last round; another run has a figure of its own."""
        if self._last is not None:
            self._draw(self._last)
        self._handle, self._last, self._drawn = None, None, -float("inf")

    def _draw(self, done: Round) -> None:
        """Show the figure, in place of the one before."""
        figure = _figure(done)
        if self._handle is None:
            self._handle = self._display(figure, display_id=True)
        else:
            self._handle.update(figure)
        self._drawn = monotonic()


def _figure(done: Round) -> "Figure":
    """Return a figure with the metrics by round; each metric has axes of its own, each validation set a line."""
    first = next(iter(done.metrics), "")
    metrics = list(done.metrics.get(first, {}))
    with _drawing.style():
        figure, axes = _drawing.new_figure(max(len(metrics), 1), 1, 4.8, 3.2)
        for metric, ax in zip(metrics, axes, strict=False):
            for (name, _), colour in zip(done.metrics.items(), _drawing.COLOURS, strict=False):
                curve = done.history[metric if name == first else f"{name} {metric}"]
                ax.plot(range(1, len(curve) + 1), curve, color=colour, label=name)
            if done.best is not None:
                ax.axvline(done.best, color="#999999", linewidth=0.8)
            ax.set(xlabel="round", title=metric)
            ax.legend(frameon=False)
        where = f"{place(done)}, " if done.stage else ""
        best = f", best {done.best}" if done.best is not None else ""
        figure.suptitle(f"{where}round {done.number} of {done.rounds}{best}", fontsize=10)
    return figure
