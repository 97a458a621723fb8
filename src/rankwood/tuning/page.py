"""The result of a study as tables and as a page."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.render import theme
from rankwood.render.table import Cell, Table
from rankwood.render.theme import PageSection
from rankwood.tuning import pictures

if TYPE_CHECKING:
    from rankwood.tuning.result import Tuning


def tables(tuning: "Tuning", most: int | None = None) -> list[Table]:
    """Return the table of the best parameters, and that of the trials, best first; `most` limits its rows."""
    return [_best(tuning), _trials(tuning, most)]


def facts(tuning: "Tuning") -> list[str]:
    """Return sentences about the study: how trials ended, ties, and what the best value means."""
    counts = [(state, tuning.count(state)) for state in ("complete", "pruned", "failed")]
    known = ", ".join(f"{number} {state}" for state, number in counts if number)
    lines = [f"{plural(len(tuning.records), 'trial')}: {known}."]
    if not tuning.count("complete"):
        return lines
    if len(tuning.ties) > 1:
        numbers = ", ".join(map(str, tuning.ties))
        lines.append(f"Trials {numbers} tie at the best value; the first of them is taken.")
    rounds = f"number of {tuning.rounds_word}"
    lines.append(
        f"The best ranker is trained on all queries, with the mean {rounds} of {tuning.folds} folds."
        if tuning.folds
        else f"The validation data chose both the parameters and the {rounds}."
    )
    lines.append(
        "The best of many values is too optimistic an estimate: evaluate the ranker on data that no trial has seen."
    )
    return lines


def _best(tuning: "Tuning") -> Table:
    """Return the best parameters beside those of trial 0, the first one."""
    if not tuning.count("complete"):
        return Table("Best parameters", ["parameter", "best"], [], 1, facts(tuning))
    first, best = tuning.records[0], tuning.records[tuning.best_trial]
    rows = [
        [Cell(name), Cell(show(best.params[name])), Cell(show(first.params[name]))]
        for name in tuning.space
    ]
    rows.append([Cell(tuning.rounds_word), Cell(str(best.rounds)), Cell(str(first.rounds))])
    value = Cell(f"{best.value:.5f}", bold=True)
    rows.append([Cell(tuning.metric), value, Cell(_value(first.value))])
    headings = ["parameter", f"best, trial {best.number}", "trial 0"]
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
    headings = ["trial", "ending", tuning.metric, tuning.rounds_word, "seconds", *tuning.space]
    rest = len(tuning.records) - len(rows)
    notes = [f"There {'is' if rest == 1 else 'are'} {plural(rest, 'trial')} more."] if rest else []
    return Table("Trials, best first", headings, rows, len(headings) - 2, notes)


def show(value: Any) -> str:
    """Return the value of a parameter with as many digits as matter."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _value(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.5f}"


def tuning_page(tuning: "Tuning") -> str:
    """Return a page with tables and pictures that needs no other file."""
    best, trials = tables(tuning)
    sections = [
        PageSection(blocks=[theme.table_html(best)]),
        _drawn_section("History", _history, tuning),
        _drawn_section("Importance of parameters", _importance, tuning),
        _drawn_section("Slices", _slices, tuning),
        PageSection(trials.title, blocks=[theme.table_html(trials, caption=False)]),
        PageSection("Space", code=repr(tuning.space)),
        PageSection("Ranker", code=repr(tuning.ranker)),
    ]
    return theme.sections_page(f"Tuning of {tuning.metric}", sections)


def _drawn_section(
    title: str, draw: "Callable[[Tuning], PageSection]", tuning: "Tuning"
) -> PageSection:
    """Return pictures below their title, or why they can't be drawn."""
    try:
        return draw(tuning)._replace(title=title)
    except InputError as error:
        return PageSection(title, [str(error)])


def _history(tuning: "Tuning") -> PageSection:
    figure = theme.figure_html(tuning.plot_history(), "history", "value of each trial")
    return PageSection(blocks=[figure])


def _importance(tuning: "Tuning") -> PageSection:
    label = "importance of parameters"
    return PageSection(blocks=[theme.figure_html(tuning.plot_importance(), "importance", label)])


def _slices(tuning: "Tuning") -> PageSection:
    """Return a figure for each parameter."""
    if not tuning.space.free:
        return PageSection(paragraphs=["No parameter of the space has more than one value."])
    figures = [
        theme.figure_html(figure, f"slice-{i}", f"value of each trial by {name}")
        for i, (name, figure) in enumerate(pictures.single_slices(tuning).items())
    ]
    note = "Crosses are trials that were stopped early." if tuning.count("pruned") else ""
    return PageSection(blocks=[theme.figures_html(figures)], note=note)
