"""Tables, pictures and the page of a study."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import rankwood as rw
from rankwood.spaces import Choice, Float, Space
from tests.helpers.small_study import SPACE, data, ranker, refused, study


@pytest.fixture(scope="module")
def tuning():
    return study(tuner="tpe", trials=8)


def test_history(tuning):
    (axes,) = tuning.plot_history().axes
    (line,) = axes.get_lines()
    best = np.maximum.accumulate(tuning.trials["value"])
    assert line.get_ydata()[:-1].tolist() == best.tolist()
    points = axes.collections[0].get_offsets()
    assert points.tolist() == [[r.number, r.value] for r in tuning.records]


def test_slices(tuning):
    axes = tuning.plot_slices().axes
    assert [ax.get_xlabel() for ax in axes] == list(SPACE)
    assert [ax.get_xscale() for ax in axes] == ["log", "log", "linear"]
    for ax, name in zip(axes, SPACE, strict=True):
        assert ax.collections[0].get_offsets()[:, 0].tolist() == tuning.trials[name].tolist()
    mixed = study(space={"num_leaves": Choice(3, 5), "max_bin": Choice(15, 63)}, trials=4)
    first = mixed.plot_slices().axes[0]
    assert [label.get_text() for label in first.get_xticklabels()] == ["3", "5"]


def test_importance():
    # There are no categories, so that the second parameter changes nothing.
    space = Space(
        {"learning_rate": Float(1e-6, 0.5, log=True), "min_data_per_group": Choice(50, 100)}
    )
    shares = study(space=space, trials=12, tuner="random").importance()
    assert list(shares) == ["learning_rate", "min_data_per_group"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["learning_rate"] > 0.8
    few = study(trials=2)
    assert few.importance() == {}
    with refused("too few complete trials"):
        few.plot_importance()


def test_tables(tuning):
    text = tuning.to_markdown()
    rows = [line for line in text.splitlines() if re.match(r"\| \d+ \| complete", line)]
    values = [float(row.split("|")[3]) for row in rows]
    assert values == sorted(values, reverse=True)
    assert len(rows) == 8
    assert f"**{tuning.best_value:.5f}**" in text
    assert "evaluate the ranker on data that no trial has seen" in text
    table = tuning.trials
    assert table.dtype.names == ("number", "state", "value", "seconds", "rounds", *SPACE, "message")
    assert (table["seconds"] > 0).all()
    assert repr(tuning).startswith(f"Tuning(ndcg@5={tuning.best_value:.5f} by trial")


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "path", "use", "rect", "image", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()


def test_page():
    train, valid = data()
    space = {"num_leaves": Choice(2, 7), "max_bin": Choice(63, -1)}
    tuning = rw.tune(ranker(), train, valid, space=space, trials=6)
    page = tuning.to_html()
    reader = Elements()
    reader.feed(page)
    assert reader.open == []
    tags = [tag for tag, _ in reader.found]
    assert tags.count("svg") == 4  # history, importance, and a slice for each parameter
    assert tags.count("table") == 2
    links = [v for _, attrs in reader.found for k, v in attrs.items() if k in ("src", "href")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    # In the look of all pages: tables sort, and no colour of a figure is that of light pages alone.
    assert [attrs.get("class") for tag, attrs in reader.found if tag == "table"] == ["sortable"] * 2
    inside = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert not re.search(r"(fill|stroke): #", " ".join(inside))
    assert "Space({" in page
    assert (
        "&lt;" not in page
    )  # nothing here needs it, and our own elements are none of a user's words
    assert page == tuning.to_html()


def test_messages_are_escaped(monkeypatch):
    real, calls = rw.Ranker._fit, []

    def second(*args):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("<script>alert(1)</script> | pipe")
        real(*args)

    monkeypatch.setattr(rw.Ranker, "_fit", second)
    tuning = study(trials=3)
    assert "&lt;script&gt;alert(1)" in tuning.to_html()
    assert "<script>alert" not in tuning.to_html()
    assert "\\<script\\>alert(1)" in tuning.to_markdown()
