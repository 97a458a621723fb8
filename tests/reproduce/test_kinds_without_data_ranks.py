"""Heat maps and pair counts come out as the paper's formulas say."""

from types import SimpleNamespace

import numpy as np
import pytest

from rankwood import InputError
from rankwood.reproduce.kinds import pair_counts, weights
from rankwood.reproduce.recipes.recipe import Item, Row
from tests.helpers.recipe_tables import load

ITEMS = load("lambdagap")["items"]


def item(name, **changes):
    given = {**ITEMS[name], **changes}
    own = {key: given[key] for key in ("kind", "title", "over", "digits") if key in given}
    rows = [Row(**row) for row in given["rows"]]
    return Item(name=name, rows=rows, extra={"n": given["n"]}, **own)


def beyond(i, k):
    return max(0, i - k)


def by_formula(i, j, k):
    """Return the weights of ranks i < j by the formulas of the paper, without its factor 1/k."""
    precision, gap, apart = float(i <= k < j), float(j - i == k), float(j - i >= k)
    arp = float(beyond(j, k) - beyond(i, k))
    return {
        "BinRankNet": 1.0,
        "LambdaRank-P@k": precision,
        "LambdaRank-ARPbk": arp,
        "LambdaGap-S": gap,
        "LambdaGap-X": apart,
        "LambdaGap-S+": precision + gap,
        "LambdaGap-X+": precision + apart,
        "LambdaGap-S++": arp + gap,
        "LambdaGap-X++": arp + apart,
    }


@pytest.mark.parametrize("k", [1, 3, 5])
def test_weights_are_those_of_the_formulas(k):
    maps = weights.weight_maps(item("figure1", over={"k": [k]}))
    assert len(maps) == 9
    for one in maps:
        expected = np.zeros((10, 10))
        for i in range(1, 11):
            for j in range(i + 1, 11):
                expected[i - 1, j - 1] = expected[j - 1, i - 1] = by_formula(i, j, k)[one.row]
        np.testing.assert_allclose(one.weights, expected, atol=1e-12, err_msg=one.row)


def test_page_of_weights():
    given = item("figure1")
    content = weights.show(SimpleNamespace(item=given), None)
    (table,) = content.tables
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    # Ten documents at k = 3: the counts of the paper's section on complexity, and largest ARP weight 10 - 3.
    assert shown["LambdaRank-P@k"] == ["21", "1", "1"]
    assert shown["LambdaRank-ARPbk"] == ["42", "1", "7"]
    assert shown["LambdaGap-S"][0] == "7"
    assert shown["LambdaGap-X"][0] == "28"
    assert len(content.records) == 9 * 100
    assert all(len(record) == len(content.headings) for record in content.records)
    (drawing,) = content.drawings
    titles = [axes.get_title() for axes in drawing.figure.axes]
    assert [title for title in titles if title] == [row.name for row in given.rows]


def test_titles_tell_several_cutoffs_apart():
    maps = weights.weight_maps(item("figure1", over={"k": [1, 3]}))
    assert [one.title for one in maps[:1] + maps[9:10]] == [
        "BinRankNet, k = 1",
        "BinRankNet, k = 3",
    ]


FORMULAS = {
    "BinRankNet": lambda n, k: n * (n - 1) // 2,
    "LambdaRank-ARPbk": lambda n, k: n * (n - 1) // 2 - k * (k - 1) // 2,
    "LambdaGap-X": lambda n, k: (n - k) * (n - k + 1) // 2,
    "LambdaRank-P@k": lambda n, k: k * (n - k),
    "LambdaGap-S": lambda n, k: n - k,
}


def test_pair_counts_are_those_of_the_formulas():
    counts = {one.row: one for one in pair_counts.count_pairs(item("figure2"))}
    assert set(counts) == set(FORMULAS)
    for name, formula in FORMULAS.items():
        expected = [formula(10, k) for k in range(1, 11)]
        assert counts[name].ours.tolist() == expected
        assert counts[name].paper.tolist() == expected  # the recipe has them right
    # As the text says, LambdaGap-X needs more pairs than LambdaRank-P@k as long as k < (n + 1) / 3.
    more = counts["LambdaGap-X"].ours > counts["LambdaRank-P@k"].ours
    assert more.tolist() == [k < 11 / 3 for k in range(1, 11)]


def test_page_of_pair_counts():
    content = pair_counts.show(SimpleNamespace(item=item("figure2")), None)
    assert content.paragraphs == ["All 50 numbers are those of the paper."]
    assert content.records[0] == ["BinRankNet", 1, 45, 45.0]
    (drawing,) = content.drawings
    assert [line.get_label() for line in drawing.figure.axes[0].lines][:5] == list(FORMULAS)


def test_counts_that_differ_are_marked():
    rows = [{**ITEMS["figure2"]["rows"][4], "values": {"count": [8, *range(8, -1, -1)]}}]
    content = pair_counts.show(SimpleNamespace(item=item("figure2", rows=rows)), None)
    assert content.paragraphs == ["9 of 10 numbers are those of the paper; ≠ marks the others."]
    assert [cell.marks for cell in content.tables[0].rows[0]] == ["", "≠", *[""] * 9]


def test_pair_counts_need_a_count_for_each_cutoff():
    rows = [{**ITEMS["figure2"]["rows"][0], "values": {"count": [45, 45]}}]
    with pytest.raises(InputError, match=r"row 'BinRankNet': 2 counts, expected 10\."):
        pair_counts.check(item("figure2", rows=rows))
    with pytest.raises(InputError, match="'over' must have the cutoffs k"):
        pair_counts.check(item("figure2", over={}))
    pair_counts.check(item("figure2"))
