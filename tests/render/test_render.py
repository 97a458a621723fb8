"""Renderings, read back by the parsers of their formats."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from rankwood.metrics.evaluation import Evaluation
from rankwood.render.formats import markdown
from rankwood.render.table import Cell, Table
from rankwood.report.comparison.compare import compare

NASTY = ["plain", "a|b*c_d`[x](y)", "<script>&\"'", "50% $x_1^2$ #1 ~{\\}"]


@pytest.fixture
def found(rng):
    values = {
        name: {"ndcg@10": rng.random(30) + i, "p_5": rng.random(30)} for i, name in enumerate(NASTY)
    }
    evs = {
        name: Evaluation(np.arange(30), columns, {"ties": "worst"})
        for name, columns in values.items()
    }
    return compare(evs, draws=200, p_value="share")


class Cells(HTMLParser):
    """Collects the cells of tables, checks that elements close in order, and what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.seen = [], [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_html(found):
    page = Cells(found.to_html())
    assert page.open == []
    assert not page.seen & {"script", "link", "img", "iframe"}
    assert page.rows[0] == ["model", "ndcg@10", "p_5"]
    assert [row[0] for row in page.rows[1:5]] == NASTY
    assert page.rows[1][1] == f"{found.mean('plain'):.4f}"
    assert page.rows[2][1].endswith("***")
    tables = Cells(found._repr_html_()).rows
    assert len(tables) == 5 + 1 + 6
    assert page.rows[: len(tables)] == tables
    assert len(page.rows) == len(tables) + 4 * (1 + 10)  # the worst queries of each model
    assert Cells(found.to_html(worst=0)).rows == tables
    # Intervals, and two pictures for each other model.
    assert found.to_html().count("<svg") == 6 + 2 * 3


def test_markdown(found):
    lines = found.to_markdown().splitlines()
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[:6]]
    assert [len(row) for row in table] == [3] * 6
    assert table[1] == ["---", "---:", "---:"]
    names = [re.sub(r"\\(.)", r"\1", row[0].strip()) for row in table[2:]]
    assert names == NASTY
    best = max(NASTY, key=found.mean)
    assert f"**{found.mean(best):.4f}**" in found.to_markdown()
    assert f"| plain | {found.mean('plain'):.2f} | " in found.to_markdown(digits=2)
    assert "Differences from plain" in found.to_markdown(details=True)


def test_latex(found):
    text = found.to_latex()
    assert text.count(r"\begin{tabular}{lrr}") == text.count(r"\end{tabular}") == 1
    for rule in ("toprule", "midrule", "bottomrule"):
        assert rf"\{rule}" in text
    assert r"50\% \$x\_1\textasciicircum{}2\$ \#1 \textasciitilde{}\{\textbackslash{}\}" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines()[1:] if line]
    assert len(rows) == 4
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 2
        bare = re.sub(r"\\[{}]", "", row)
        assert bare.count("{") == bare.count("}")
    assert r"\textbf{" in text and r"\textsuperscript{***}" in text
    assert found.to_latex(details=True).count(r"\begin{table}") == 2


def test_latex_takes_no_name_for_an_argument():
    """Behind the end of a row, or a rule, a bracket or a star would be an argument of that."""
    names = ["[1] mine", "*star", "plain"]
    evs = {n: Evaluation(np.arange(3), {"m": np.arange(3.0) + i}, {}) for i, n in enumerate(names)}
    text = compare(evs).to_latex(details=True)
    assert "\n{}[1] mine & " in text and "\n{}*star & " in text and "\nplain & " in text
    assert not re.search(r"^[\[*]", text, re.MULTILINE)


def test_markdown_has_no_formulas():
    evs = {n: Evaluation(np.arange(3), {"m": np.arange(3.0)}, {}) for n in ("$a$", "b")}
    assert "| \\$a\\$ |" in compare(evs).to_markdown()


def test_csv(found):
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == 4 * 2
    assert [row["model"] for row in rows[::2]] == NASTY
    for row in rows:
        assert float(row["mean"]) == found.mean(row["model"], row["metric"])
        if row["model"] == "plain":
            assert row["against"] == row["p"] == row["wins"] == ""
        else:
            test = found.test(row["model"], row["metric"])
            assert row["against"] == "plain"
            for name in ("difference", "p", "p_corrected", "low", "cohen_d", "wins"):
                assert float(row[name]) == test[name]


def test_json(found):
    read = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert read["models"] == NASTY
    assert [row["p"] for row in read["tests"]] == found.tests["p"].tolist()
    assert [row["mean"] for row in read["means"]] == found.means["mean"].tolist()
    assert read["rules"]["test"] == "permutation"
    equal = Evaluation(np.arange(1), {"m": np.array([0.5])}, {})
    other = Evaluation(np.arange(1), {"m": np.array([0.7])}, {})
    alone = json.loads(compare({"a": equal, "b": other}, test="t").to_json())
    assert alone["tests"][0]["p"] is None


def test_repr_is_a_table(found):
    lines = repr(found).splitlines()
    assert lines[0].split() == ["model", "ndcg@10", "p_5"]
    assert lines[1].startswith("plain ")
    ends = {re.search(r"\d\.\d{4}", line).start() for line in lines[1:5]}
    assert len(ends) == 1  # numbers stand under each other, whatever marks follow
    assert lines[5].startswith("Better than plain: * p < 0.05, ** p < 0.01, *** p < 0.001")
    assert "Holm over 6 tests" in lines[6]
    assert lines[7] == "30 queries."


@pytest.mark.parametrize("kind", ["markdown", "latex", "csv", "html", "json"])
def test_writing(found, tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    text = getattr(found, f"to_{kind}")(path)
    assert path.read_bytes().decode() == text
    assert text == getattr(found, f"to_{kind}")()
    assert text.endswith("\n")


def test_a_failed_write_is_a_sentence(found, tmp_path):
    with pytest.raises(ValueError, match="it is a directory"):
        found.to_csv(tmp_path)


def test_tables_for_pandas(found):
    import pandas  # a part of the test extra

    frame = pandas.DataFrame(found.tests)
    assert frame.groupby("metric")["p"].count().to_dict() == {"ndcg@10": 3, "p_5": 3}


def test_numbers_for_people():
    from rankwood.report.comparison.view import format_number, format_p

    assert [format_p(p) for p in (0.0, 0.00009, 0.0312, 1.0, float("nan"))] == [
        "<0.0001",
        "<0.0001",
        "0.0312",
        "1.0000",
        "-",
    ]
    assert format_number(0.0, 4, sign=True) == "0.0000"
    assert format_number(0.12345, 4, sign=True) == "+0.1235"
    assert format_number(float("-inf"), 2) == "-inf"


def test_letters_are_raised_and_arrows_are_not():
    row = [
        Cell("d"),
        Cell("0.52", "abc↑", True),
        Cell("0.4", "↓"),
        Cell("0.3", "*"),
        Cell("1", "b"),
    ]
    text = markdown([Table("", ["row", "1", "2", "3", "4"], [row], 4)])
    assert r"| d | **0.52** <sup>abc</sup>↑ | 0.4↓ | 0.3\* | 1 <sup>b</sup> |" in text
