"""Pairs that come with the data: what is checked, and that they go where their rows go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import group_rows
from tests.helpers.examples import examples

QID = ["a", "b", "a", "b", "a"]


def made(pairs, qid=QID, **other):
    X = np.arange(float(len(qid)))[:, None]
    return rw.RankingData(X, np.zeros(len(qid)), qid=qid, pairs=pairs, **other)


def triples(data):
    """Return pairs by what their rows hold, which is the number of the row when the data was made."""
    name = data.X[:, 0].astype(int).tolist()
    columns = zip(*(column.tolist() for column in data.pairs), strict=True)
    return [(name[high], name[low], weight) for high, low, weight in columns]


def test_two_columns_or_three():
    assert made(None).pairs is None
    assert triples(made([(0, 2), (3, 1)])) == [(0, 2, 1.0), (3, 1, 1.0)]
    given = np.array([[0.0, 2.0, 0.25], [2.0, 0.0, 0.0], [0.0, 2.0, 3.0]])
    data = made(given)
    assert triples(data) == [(0, 2, 0.25), (2, 0, 0.0), (0, 2, 3.0)]
    given[:] = 7.0
    assert triples(data)[0] == (0, 2, 0.25)
    with pytest.raises(ValueError, match="read-only"):
        data.pairs.weight[0] = 5.0
    for nothing in ([], np.empty((0, 2)), np.empty((0, 3))):
        assert triples(made(nothing)) == []
    pd = pytest.importorskip("pandas")
    assert triples(made(pd.DataFrame({"winner": [4], "loser": [0]}))) == [(4, 0, 1.0)]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([0, 2], r"two columns, the rows of winner and loser, or three .* got shape \(2,\)"),
        ([[0, 2, 1, 1]], r"got shape \(1, 4\)"),
        ([[0, 2], [0, 5]], "whole numbers from 0 to 4, got 5 as the loser of pair 1"),
        ([[-1, 2]], "from 0 to 4, got -1 as the winner of pair 0"),
        ([[0.5, 2]], "got 0.5 as the winner of pair 0"),
        ([[np.nan, 2]], "got nan as the winner of pair 0"),
        ([[0, np.inf]], "got inf as the loser of pair 0"),
        ([[0, 2], [3, 3]], "pair 1 has row 3 twice"),
        ([[0, 2], [0, 3]], "pair 1 has row 0 of query 'a' and row 3 of query 'b': .* same query"),
        ([[0, 2, 1], [0, 2, -1]], "finite and not negative, got -1 at pair 1"),
        ([[0, 2, np.nan]], "finite and not negative, got nan at pair 0"),
        ([["x", "y"]], "pairs must hold numbers"),
    ],
)
def test_what_is_refused(pairs, message):
    with pytest.raises(rw.InputError, match=message):
        made(pairs)


@st.composite
def paired(draw):
    """Draw query ids, and pairs of rows of the same query."""
    qid = draw(st.lists(st.integers(0, 3), min_size=2, max_size=12))
    rows = range(len(qid))
    possible = [(i, j) for i in rows for j in rows if i != j and qid[i] == qid[j]]
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.0])
    pair = st.sampled_from(possible) if possible else st.nothing()
    chosen = draw(st.lists(st.tuples(pair, weight), max_size=9 if possible else 0))
    return qid, [(i, j, w) for (i, j), w in chosen]


@examples(50)
@given(paired(), st.data())
def test_pairs_go_where_their_rows_go(drawn, more):
    qid, pairs = drawn
    data = made(pairs, qid)
    ids = data.groups.ids.tolist()
    chosen = more.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    part = data.select([ids.index(one) for one in chosen])
    assert triples(part) == [pair for pair in pairs if qid[pair[0]] in chosen]
    kept = np.array(more.draw(st.lists(st.booleans(), min_size=len(qid), max_size=len(qid))))
    kept[0] = True
    assert triples(data.cut_to(kept)) == [p for p in pairs if kept[p[0]] and kept[p[1]]]
    if len(ids) > 1:
        rest, other = data.split(0.5)
        joined = rw.RankingData.concat([rest, other])
        assert sorted(triples(joined)) == sorted(pairs)
        folds = [triples(test) for _, test in data.folds(2)]
        assert sorted(folds[0] + folds[1]) == sorted(pairs)


@examples(50)
@given(paired())
def test_pairs_by_labels_and_counts_in_plain_loops(drawn):
    qid, pairs = drawn
    data = made(pairs, qid)
    for id, count in zip(data.groups.ids.tolist(), data.pairs.counts(data.groups), strict=True):
        assert count == len({frozenset(p[:2]) for p in pairs if p[2] > 0 and qid[p[0]] == id})
    y = np.arange(len(qid)) % 3
    rows = range(len(qid))
    found = GivenPairs.by_labels(y, group_rows(len(qid), qid))
    assert sorted(zip(found.winner.tolist(), found.loser.tolist(), strict=True)) == [
        (i, j) for i in rows for j in rows if qid[i] == qid[j] and y[i] > y[j]
    ]


def test_joined_with_data_that_has_none():
    other = rw.RankingData(np.array([[7.0], [8.0]]), [0, 1], qid=["c", "c"])
    joined = rw.RankingData.concat([other, made([[0, 2, 3.0]])])
    assert triples(joined) == [(0, 2, 3.0)] and joined.pairs.winner.tolist() == [2]
    assert rw.RankingData.concat([other]).pairs is None


def test_digests_know_pairs():
    others = [made(None), made([[0, 2]]), made([[2, 0]]), made([[0, 2, 2.0]]), made([[0, 4]])]
    for kind in ("digest", "fingerprint"):
        assert len({getattr(data, kind)() for data in others}) == len(others)
        assert getattr(made([[0, 2]]), kind)() == getattr(made([[0, 2, 1.0]]), kind)()


def test_what_cannot_hold_them(tmp_path):
    data = made([[0, 2]])
    with pytest.raises(rw.InputError, match="LETOR text has no place for pairs"):
        rw.save_letor(data, tmp_path / "data.txt")
    assert not list(tmp_path.iterdir())
    data.pairs = None
    rw.save_letor(data, tmp_path / "data.txt")


def test_features_by_name_keep_them():
    names = {"feature_names": ["f"]}
    assert triples(made([[0, 2]], **names).with_features(["f"])) == [(0, 2, 1.0)]
