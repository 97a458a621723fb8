"""Worked examples come out as the paper prints them, digit by digit."""

from types import SimpleNamespace

import numpy as np
import pytest

import rankwood as rw
from rankwood.reproduce.kinds import worked
from rankwood.reproduce.kinds._examples import read_examples, work_out
from rankwood.reproduce.recipes.recipe import Item
from rankwood.testing import interpreted, oracle_gradients, oracle_pairs
from tests.helpers.recipe_tables import load

ITEMS = load("lambda-ex")["items"]
NAMES = ["table1", "table2", "figure1", "figure2"]


@pytest.fixture(autouse=True)
def no_compiling():
    """Lists are short, so plain Python is done before a kernel would be compiled."""
    with interpreted():
        yield


def item(name, examples=None):
    given = ITEMS[name]
    extra = {"examples": given["examples"] if examples is None else examples}
    return Item(name=name, kind="worked", title="", digits=given["digits"], extra=extra)


def content(name):
    return worked.show(SimpleNamespace(item=item(name)), None)


def shown(name):
    """Return the cells of the table of an item, by document."""
    (table,) = content(name).tables
    return {row[0].text: [cell.text + cell.marks for cell in row[1:]] for row in table.rows}


def test_gradients_with_truncation_are_as_printed():
    assert shown("table1") == {
        "d★": ["1", "1", "0.04", "- 0.124 + 0.083 + 0.093 + 0.100", "0.152", "0.152"],
        "dΔ": ["2", "2", "0.03", "0.124", "0.124", "0.124"],
        "d3": ["3", "0", "0.02", "- 0.083", "-0.083", "-0.083"],
        "d4": ["4", "0", "0.01", "- 0.093", "-0.093", "-0.093"],
        "d5": ["5", "0", "0.00", "- 0.100", "-0.100", "-0.100"],
    }


def test_gradients_without_truncation_are_as_printed():
    assert shown("table2") == {
        "d1": ["1", "4", "0.02", "0.176 + 0.221", "0.397", "0.397"],
        "d2": ["2", "0", "0.01", "- 0.176 - 0.004", "-0.180", "-0.180"],
        "d3": ["3", "1", "0.00", "- 0.221 + 0.004", "-0.217", "-0.217"],
    }


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_pushes_of_pairs_are_as_printed(name):
    for example in read_examples(item(name)):
        found = work_out(example)
        ours = {
            (example.documents[p.winner], example.documents[p.loser]): example.shown(p.push, 3)
            for p in found.pairs
        }
        assert ours == {(high, low): f"{push:.3f}" for high, low, push in example.pairs}


@pytest.mark.parametrize("name", NAMES)
def test_the_paper_says_the_same_of_every_example(name):
    said = content(name).paragraphs
    assert len(said) == len(ITEMS[name]["examples"])
    assert all(sentence.endswith("The paper says the same.") for sentence in said)


def test_sentences_of_the_four_lists():
    wrong = "dΔ is pushed less than d★, which is worse and above it."
    right = "no document is pushed less than a worse one above it."
    said = content("figure1").paragraphs
    assert [wrong in text for text in said] == [True, False, True, False]
    assert [right in text for text in said] == [False, True, False, True]


def test_the_third_list_needs_many_documents():
    example = read_examples(item("figure1"))[2]

    def incoherent(n):
        labels, scores = [1, *[0] * (n - 2), 2], [0.01 * (n - i) for i in range(n)]
        return bool(rw.diagnose(example.objective, labels, scores).incoherent)

    assert [incoherent(n) for n in (2, 5, 7, 8, 10, 20)] == [False] * 3 + [True] * 3


def test_strategies_choose_the_documents_of_the_text():
    static, random, every = read_examples(item("figure2"))
    missed = {name: row for row, name in enumerate(static.documents)}
    assert work_out(static).full == {0, 1, missed["d4"]}
    assert work_out(every).full == {0, 1, missed["d4"], missed["d6"]}
    drawn = {work_out(random, round=i).full for i in range(20)}
    assert drawn == {frozenset({0, 1, missed["d4"]}), frozenset({0, 1, missed["d6"]})}


@pytest.mark.parametrize("name", NAMES)
def test_pairs_add_up_to_the_gradients(name):
    for example in read_examples(item(name)):
        found = work_out(example)
        sums = np.zeros(len(example.labels))
        for pair in found.pairs:
            sums[pair.winner] += pair.push
            sums[pair.loser] -= pair.push
        grad, _ = rw.gradients(example.objective, example.labels, example.scores)
        np.testing.assert_allclose(sums, -grad, atol=1e-12)


@pytest.mark.parametrize("name", ["lambdarank-ndcg@3", "lambdagap-x+@2", "lambdaloss-arp1"])
def test_pairs_of_the_oracle_add_up_with_norm(name):
    objective, y, s = rw.objective(name), [2, 0, 1, 0, 4, 1], [0.1, 0.9, 0.3, 0.3, -1.0, 0.2]
    grad, hess = oracle_gradients(objective, y, s)
    sums = np.zeros((2, len(y)))
    for pair in oracle_pairs(objective, y, s):
        sums[:, pair.row] += [-pair.push, pair.hessian]
        sums[:, pair.other] += [pair.push, pair.hessian]
    np.testing.assert_allclose(sums, [grad, hess], atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_picture_has_a_bar_for_each_document(name):
    (drawing,) = content(name).drawings
    for axes, example in zip(drawing.figure.axes, ITEMS[name]["examples"], strict=False):
        assert axes.get_title(loc="left") == example["name"]
        assert len(axes.patches) == len(example["documents"])


def test_csv_has_all_digits():
    page = content("table1")
    record = dict(zip(page.headings, page.records[0], strict=True))
    assert record["push"] == pytest.approx(0.1525, abs=5e-5)
    assert record["paper"] == 0.152


def test_what_differs_from_the_paper_is_said():
    (given,) = ITEMS["table1"]["examples"]
    other = {**given, "pushes": [0.153, *given["pushes"][1:]], "incoherent": []}
    page = worked.show(SimpleNamespace(item=item("table1", [other])), None)
    assert page.paragraphs[0].endswith("The paper says otherwise: [].")
    assert [row[5].marks for row in page.tables[0].rows] == ["≠", "", "", "", ""]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": [1]}, r"example 1: unknown key 'label'"),
        ({"labels": [1]}, r"example 1: 5 documents, but 1 labels\."),
        ({"pushes": [1.0, 2.0]}, r"example 1: 5 documents, but 2 pushes\."),
    ],
)
def test_wrong_examples_are_refused(change, message):
    (given,) = ITEMS["table1"]["examples"]
    with pytest.raises(rw.InputError, match=message):
        worked.check(item("table1", [{**given, **change}]))


def test_missing_keys_are_refused():
    (given,) = ITEMS["table1"]["examples"]
    short = {key: value for key, value in given.items() if key != "scores"}
    with pytest.raises(rw.InputError, match=r"the key 'scores' is missing\."):
        worked.check(item("table1", [short]))
    with pytest.raises(rw.InputError, match=r"item 'table1' has no examples\."):
        worked.check(item("table1", []))
