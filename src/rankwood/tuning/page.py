"""The result of a study as tables and as a page."""

import math
from html import escape
from typing import TYPE_CHECKING, Any

from rankwood._core.checks import InputError
from rankwood._core.text import plural
from rankwood.report.table import Cell, Table

if TYPE_CHECKING:
    from rankwood.tuning.result import Tuning

_TITLE = "Tuning"


def tables(tuning: "Tuning", most: int | None = None) -> list[Table]:
    """Return the table of the best parameters, and that of the trials, best first; `most` limits its rows."""
    return [_best(tuning), _trials(tuning, most)]


def facts(tuning: "Tuning") -> list[str]:
    """Return what a reader of the numbers must know, in sentences."""
    counts = [(state, tuning.count(state)) for state in ("complete", "pruned", "failed")]
    known = ", ".join(f"{number} {state}" for state, number in counts if number)
    said = [f"{plural(len(tuning.records), 'trial')}: {known}."]
    if not tuning.count("complete"):
        return said
    if len(tuning.ties) > 1:
        numbers = ", ".join(map(str, tuning.ties))
        said.append(f"Trials {numbers} tie at the best value; the first of them is taken.")
    said.append(
        f"The best ranker is trained on all queries, with the mean number of trees of {tuning.folds} folds."
        if tuning.folds
        else "The validation data chose both the parameters and the number of trees."
    )
    said.append(
        "The best of many values is too good an estimate: evaluate the ranker on data that no trial has seen."
    )
    return said


def _best(tuning: "Tuning") -> Table:
    """Return the best parameters beside those of trial 0, which is where the search began."""
    if not tuning.count("complete"):
        return Table("Best parameters", ["parameter", "best"], [], 1, facts(tuning))
    first, best = tuning.records[0], tuning.records[tuning.best_trial]
    rows = [
        [Cell(name), Cell(show(best.params[name])), Cell(show(first.params[name]))]
        for name in tuning.space
    ]
    rows.append([Cell("trees"), Cell(str(best.rounds)), Cell(str(first.rounds))])
    value = Cell(f"{best.value:.5f}", bold=True)
    rows.append([Cell(tuning.metric), value, Cell(_value(first.value))])
    headings = ["parameter", f"best, trial {best.number}", "start, trial 0"]
    return Table("Best parameters", headings, rows, 2, facts(tuning), breaks=[len(tuning.space)])


def _trials(tuning: "Tuning", most: int | None) -> Table:
    """Return the trials: complete ones first, then by value."""
    sign = 1 if tuning.higher_is_better else -1
    order = ("complete", "pruned", "failed")

    def place(record: Any) -> tuple[int, float, int]:
        value = 0.0 if math.isnan(record.value) else -sign * record.value
        return order.index(record.state), value, record.number

    rows = []
    for record in sorted(tuning.records, key=place)[:most]:
        ending = record.state if not record.message else f"{record.state}: {record.message}"
        numbers = [_value(record.value), str(record.rounds), f"{record.seconds:.1f}"]
        values = [show(record.params[name]) for name in tuning.space]
        texts = [str(record.number), ending, *numbers, *values]
        rows.append([Cell(text) for text in texts])
    headings = ["trial", "ending", tuning.metric, "trees", "seconds", *tuning.space]
    rest = len(tuning.records) - len(rows)
    notes = [f"There {'is' if rest == 1 else 'are'} {plural(rest, 'trial')} more."] if rest else []
    return Table("Trials, best first", headings, rows, len(headings) - 2, notes)


def show(value: Any) -> str:
    """Return the value of a parameter with as many digits as matter."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _value(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.5f}"


def html_page(tuning: "Tuning") -> str:
    """Return a page with tables and pictures that needs no other file, in the look of all our pages."""
    from rankwood.report.page import theme

    theme.environment()  # a missing package is reported before anything is drawn
    best, trials = tables(tuning)
    parts: list[str] = [theme.table_html(best)]
    for title, draw in (
        ("History", _history),
        ("Importance of parameters", _importance),
        ("Slices", _slices),
    ):
        try:
            content = draw(tuning)
        except InputError as error:
            content = f"<p>{escape(str(error))}</p>"
        parts.append(f"<h2>{title}</h2>\n{content}")
    parts += ["<h2>Trials</h2>", theme.table_html(trials), _setup(tuning)]
    return theme.render_page(f"{_TITLE} of {tuning.metric}", "\n".join(parts))


def _history(tuning: "Tuning") -> str:
    from rankwood.report.page import theme

    return theme.figure_html(tuning.plot_history(), "history", "value of each trial")


def _importance(tuning: "Tuning") -> str:
    from rankwood.report.page import theme

    return theme.figure_html(tuning.plot_importance(), "importance", "importance of parameters")


def _slices(tuning: "Tuning") -> str:
    """Return a figure for each parameter."""
    from rankwood.report.page import theme
    from rankwood.tuning import pictures

    if not tuning.space.free:
        return "<p>No parameter of the space has more than one value.</p>"
    drawn = pictures.single_slices(tuning)
    figures = [
        theme.figure_html(figure, f"slice-{i}", f"value of each trial by {name}")
        for i, (name, figure) in enumerate(drawn.items())
    ]
    crosses = tuning.count("pruned") > 0
    note = '<p class="note">Crosses are trials that were stopped early.</p>' if crosses else ""
    return str(theme.figures_html(figures)) + note


def _setup(tuning: "Tuning") -> str:
    """Return the space and the ranker, as they print themselves."""
    texts = {"Space": repr(tuning.space), "Ranker": repr(tuning.ranker)}
    return "\n".join(f"<h2>{k}</h2>\n<pre>{escape(text)}</pre>" for k, text in texts.items())
