"""A single model beside bounds: means without tests, in every rendering."""

import json

import pytest

import rankwood as rw
from rankwood.report import plots

Y, QID = [1, 0, 0, 1, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
SCORES = [9, 1, 1, 9, 1, 9, 1, 9]  # the last query is ranked the wrong way round


@pytest.fixture(scope="module", params=["stars", "letters"])
def found(request):
    one = rw.evaluate(["dcg@1", "dcg@2"], Y, SCORES, qid=QID)
    return rw.compare(
        {"m": one}, references=rw.RankingData([[0.0]] * 8, Y, qid=QID), marks=request.param
    )


def test_means(found):
    assert (found.mean("m"), found.mean("perfect model"), found.mean("random model")) == (
        0.75,
        1,
        0.5,
    )
    assert found.tests.size == 0 and found.rules["family"] == 0


def test_renderings(found):
    for text in (str(found), found.to_markdown(details=True), found.to_latex(details=True)):
        assert "0.7500" in text and "4 queries" in text
        assert "Better than" not in text and "test" not in text.lower()  # nothing was tested
    assert "0.7500" in found.to_html() and "0.7500" in found._repr_html_()
    assert len(found.to_csv().splitlines()) == 1 + 3 * 2
    assert json.loads(found.to_json())["tests"] == []


def test_a_picture_needs_two(found):
    with pytest.raises(rw.InputError, match="two models are needed, and 'm' is the only one"):
        plots.per_query(found)


def test_none_is_too_few():
    with pytest.raises(rw.InputError, match="at least one model, got 0"):
        rw.compare({}, references=(Y, QID))
    with pytest.raises(
        rw.InputError, match="at least two models to compare, or one and references=, got 0"
    ):
        rw.compare({})
