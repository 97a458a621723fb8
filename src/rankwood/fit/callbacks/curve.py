"""A learning curve that grows while a model is trained, in a notebook."""

from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwood._util import checks
from rankwood.fit.callbacks.round_values import place
from rankwood.fit.context import Round
from rankwood.render import plots as _plots
from rankwood.render.curve import by_round
from rankwood.render.marks import COLOURS, Line, Mark, Rule
from rankwood.render.plots import Panel, PanelGrid, PlotAxis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LiveCurve:
    """Draw the metrics by round in a notebook, and draw them again during training.

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
        _plots.check_installed()
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
    panels = []
    for metric in metrics:
        marks: list[Mark] = []
        for name, colour in zip(done.metrics, COLOURS, strict=False):
            curve = done.history[metric if name == first else f"{name} {metric}"]
            marks.append(Line(by_round(name, curve, metric), colour, width=1.5))
        if done.best is not None:
            marks.append(Rule(done.best, upright=True, colour="#999999"))
        centred: dict[str, Any] = {}
        panels.append(
            Panel(marks, PlotAxis("round"), PlotAxis(), metric, centred, {"frameon": False})
        )
    where = f"{place(done)}, " if done.stage else ""
    best = f", best {done.best}" if done.best is not None else ""
    title = f"{where}round {done.number} of {done.rounds}{best}"
    return _plots.draw_panels(
        panels or [Panel([])], PanelGrid(4.8, 3.2, max(len(panels), 1), title=title)
    )
