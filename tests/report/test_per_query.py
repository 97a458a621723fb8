"""Models query by query, axes with round numbers, and marks in tables of comparisons."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.tables.schema import Schema
from rankwood.fit.result import FitResult, Settings, nested_history
from rankwood.render.axis import axis_of, tick_text
from rankwood.report import plots
from rankwood.report.comparison import view
from rankwood.report.comparison.per_query import histogram, query_values
from rankwood.report.page import figures as page_figures
from rankwood.report.page.training import Stage, learning_curves

FLOATS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 6))


def evaluations(**columns):
    return {
        name: rw.Evaluation(
            np.arange(len(v)), {"m": np.array(v, float), "arp": np.array(v, float)}, {}
        )
        for name, v in columns.items()
    }


@example([100001.0, 6.1e-05], 2)
@given(st.lists(FLOATS, min_size=1, max_size=6), st.integers(2, 6))
def test_axes_hold_all_numbers_and_have_round_ticks(numbers, steps):
    axis = axis_of([*numbers, math.nan, math.inf], steps)
    assert axis.holds(*numbers) and not axis.holds(math.nan)
    assert axis.start <= axis.ticks[0] and axis.ticks[-1] <= axis.end if axis.ticks else True
    gaps = {round(b - a, 9) for a, b in zip(axis.ticks, axis.ticks[1:], strict=False)}
    assert len(gaps) <= 1 and len(axis.ticks) <= steps + 1
    for gap in gaps:
        assert float(f"{gap:e}".split("e")[0]) == pytest.approx(
            round(float(f"{gap:e}".split("e")[0]))
        )


def test_axis_of_nothing():
    assert axis_of([]).holds(0.0) and axis_of([math.nan]).holds(0.0)
    assert axis_of([1e308, -1e308]).start < 0
    assert tick_text(-0.05) == "−0.05"


@given(st.lists(FLOATS, min_size=0, max_size=40))
def test_histograms_count_every_difference_on_its_side(differences):
    d = np.array(differences)
    found = histogram(d)
    half = found.counts.size // 2
    assert found.counts[:half].sum() == (d < 0).sum()
    assert found.counts[half:].sum() == (d > 0).sum()
    assert found.edges[half] == 0 and found.edges[0] == -found.edges[-1]
    if (d != 0).any():
        assert found.edges[-1] == np.abs(d).max()


def test_lower_is_better_for_arp():
    found = rw.compare(evaluations(a=[1, 2, 3, np.nan], b=[2, 2, 1, 5]))
    assert query_values(found, "b", "a", "m").text == "1 won, 1 tied, 1 lost"
    assert query_values(found, "b", "a", "arp").counts == (1, 1, 1)
    one = rw.compare(evaluations(a=[1, 2, 3], b=[2, 3, 4]))
    assert query_values(one, "b", "a", "m").counts == (3, 0, 0)
    assert query_values(one, "b", "a", "arp").counts == (0, 0, 3)
    figure = one.plot(metric="arp")
    assert figure.axes[1].get_title(loc="left") == "0 won, 0 tied, 3 lost"
    with pytest.raises(rw.InputError, match="two models are needed, got 'a' twice"):
        plots.per_query(one, "a", "a")


def test_only_what_differs_is_bold():
    same, other = [0.5, 0.25, 0.75], [0.5, 0.25, 0.85]
    tied = view.summary(rw.compare(evaluations(a=same, b=same)), 4)
    assert not any(cell.bold for row in tied.rows for cell in row)
    found = view.summary(rw.compare(evaluations(a=same, b=other, c=other)), 4)
    assert [[cell.bold for cell in row[1:]] for row in found.rows] == [
        [False, True],
        [True, False],
        [True, False],
    ]


def test_the_smallest_p_value_is_marked(rng):
    values = rng.random(30)
    evs = evaluations(a=values, b=values + 1)
    found = rw.compare(evs, draws=999, metrics="m")
    row = found.test("b")
    assert (row["p"], bool(row["at_limit"])) == (1 / 1000, True)
    text = found.to_markdown(details=True)
    assert "0.0010**‡" in text
    assert "‡ At the limit of the draws: none of 999 was as extreme, so p can't be smaller" in text
    assert r"\ddag{}" in found.to_latex(details=True)
    share = rw.compare(evs, draws=999, p_value="share", metrics="m").test("b")
    assert (share["p"], bool(share["at_limit"])) == (0.0, True)
    for other in (rw.compare(evs, test="t"), rw.compare(evaluations(a=[1, 2], b=[2, 3]), draws=9)):
        assert not other.tests["at_limit"].any()
        assert "‡" not in other.to_markdown(details=True)
    noise = evaluations(a=values, b=values + rng.normal(size=30))
    assert not rw.compare(noise, draws=999).tests["at_limit"].any()


def test_a_page_has_one_scale_per_metric_and_the_worst_queries():
    evs = evaluations(a=[0.1, 0.2, 0.9], b=[0.2, 0.1, 0.8], c=[0.3, 0.2, 0.9])
    found = rw.compare(evs)
    page = found.to_html(worst=2)
    assert page.count("Worst queries of") == 3
    assert page.count("font-size") == found.to_html(worst=0).count("font-size")
    table = view.differences(found, 4)
    spans = [row[3].span for row in table.rows]
    assert [row[1].text for row in table.rows] == ["m", "m", "arp", "arp"]
    assert spans[0].axis == spans[1].axis and table.breaks == [2]
    assert [span.labelled for span in spans] == [False, True, False, True]
    labels = re.findall(r'<text[^>]*font-size="10">([^<]+)</text>', page)
    assert labels == [tick_text(t) for s in spans if s.labelled for t in s.axis.ticks]
    assert page.count('role="img"') == 4  # a scatter and a histogram of b and c


def test_names_on_a_page_are_shown_and_not_run():
    name = "<i>\x1b[31m\u202e\udcff"
    page = rw.compare(evaluations(**{"a": [1, 2], name: [2, 1]})).to_html()
    assert "<i>" not in page and "\x1b" not in page
    assert "&lt;i&gt;\\x1b[31m\\u202e\\xff" in page
    page.encode("utf-8")
    found = rw.compare(evaluations(**{"a": [1, 2], name: [2, 1]}))
    for text in (found.movers("a", name).to_html(), repr(found.worst(name)), found.to_latex()):
        assert not set(text) & {"\x1b", "\u202e", "\udcff"}


def result_with(history=None, rounds=3, gains=None):
    """The result of a fit that never was: what an old file has of its curves, and the gains of features."""
    model = SimpleNamespace(importances=lambda: gains)
    features = Schema(3, None, {})
    settings = Settings("Ranker", "lightgbm", None, {}, {})
    return FitResult(settings, model, features, rounds, nested_history(history or {}, None))


class Fitted:
    """What a plot needs of a model."""

    result_ = result_with(
        {
            "ndcg@10": [0.1, 0.70, 0.705, 0.71, 0.708, 0.709],
            "fresh ndcg@10": [0.1, 0.69, 0.695, 0.70, 0.698, 0.699],
            "arp": [9.0, 5.0, 5.1, 5.2, 5.1, 5.0],
        },
        rounds=4,
    )


def test_learning_curves_show_differences_and_the_round_that_was_kept():
    figure = plots.learning_curve(Fitted())
    first, second = figure.axes
    assert (first.get_ylabel(), second.get_ylabel()) == ("ndcg@10", "arp")
    low, high = first.get_ylim()
    assert 0.6 < low < 0.69 and 0.71 < high < 0.72  # the climb of the first round is cut off
    texts = [text.get_text() for text in first.get_legend().get_texts()]
    assert texts == ["first validation set: round 4, 0.7100", "fresh: round 4, 0.7000"]
    points = [line for line in first.lines if line.get_marker() == "o"]
    assert [(p.get_xdata()[0], p.get_ydata()[0]) for p in points] == [(4, 0.71), (4, 0.70)]
    low, high = second.get_ylim()
    assert low < 5.0 and 5.2 < high < 9.0
    several = plots.learning_curve({"a": Fitted(), "b": Fitted()}, "arp")
    assert [t.get_text()[0] for t in several.axes[0].get_legend().get_texts()] == ["a", "b"]
    with pytest.raises(rw.InputError, match="there is no learning curve: train with"):
        plots.learning_curve(rw.Ranker())
    with pytest.raises(rw.InputError, match="no curve 'map'"):
        plots.learning_curve(Fitted(), "map")
    constant = plots.learning_curve({"m": [0.5, 0.5]}).axes[0].get_ylim()
    assert constant[0] < 0.5 < constant[1]


def test_importance():
    class Trees:
        result_ = result_with(gains=np.array([0.0, 6.0, 2.0]))

    (ax,) = plots.importance(Trees(), top=2).axes
    assert [bar.get_width() for bar in ax.patches] == [0.75, 0.25]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["f2", "f3"]
    assert "2 of 3 features used" in ax.get_title(loc="left")
    with pytest.raises(rw.InputError, match="Ranker has no feature importances"):
        plots.importance(type("Ranker", (), {})())


def test_curves_of_a_page_know_the_metric_of_any_validation_set():
    result = result_with({"arp": [9.0, 3.0, 2.0], "older arp": [9.0, 3.0, 2.0]})
    found = learning_curves([Stage("model", 0, [result])])
    assert list(found) == ["arp", "older arp"]
    for name, curves in found.items():
        # Less is better, so the bad first round is what the axis omits.
        low, high = page_figures.curve_figure(name, curves).axes[0].get_ylim()
        assert low < 2.0 < high < 9.0, name
