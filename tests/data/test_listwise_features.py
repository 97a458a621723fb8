"""Listwise features: the golden example, plain loops, and what must not depend on the order of rows."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankwood as rw
from rankwood.data import listwise_features as listwise
from rankwood.data.listwise_features import base_features
from tests.helpers.examples import examples

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0, 0.1, -2.5]), st.floats(-1e6, 1e6), st.just(math.nan)
)


def expanded(column):
    """Mean, deviation, rank and standardised value of each value, None being missing."""
    there = [v for v in column if not math.isnan(v)]
    if not there:
        return [[math.nan] * 4 for _ in column]
    mean = math.fsum(there) / len(there)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in there) / len(there))
    if len(set(there)) == 1:
        mean, sd = there[0], 0.0
    rows = []
    for v in column:
        above, equal = sum(w > v for w in there), sum(w == v for w in there)
        rank = above + (equal + 1) / 2 if equal else math.nan
        z = math.nan if math.isnan(v) else (v - mean) / sd if sd > 0 else 0.0
        rows.append([mean, sd, rank, z])
    return rows


def test_golden(golden):
    known = golden["features"]
    base = np.array(known["base"])
    for data in (
        rw.listwise_features(rw.RankingData(base, [0, 1, 2, 3])),
        rw.listwise_features(rw.RankingData(base[:, :2], [0, 1, 2, 3]), base[:, 2]),
    ):
        np.testing.assert_allclose(data.X, known["expanded_blocks_f_mean_std_rank_z"], atol=1e-9)


def test_counts_of_the_paper(golden):
    counts = golden["features"]["counts"]
    data = rw.RankingData(np.zeros((2, 136)), [0, 1])
    assert rw.listwise_features(data, [0, 1]).n_features == counts["web_stage2"]


@given(st.data())
@examples(60)
def test_against_plain_loops(draw):
    n = draw.draw(st.integers(1, 12))
    X = np.array(
        draw.draw(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=n, max_size=n))
    )
    qid = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    got = rw.listwise_features(rw.RankingData(X, np.zeros(n), qid=qid)).X
    for q in set(qid.tolist()):
        rows = np.flatnonzero(qid == q)
        for c in range(2):
            want = expanded(X[rows, c].tolist())
            scale = np.nanmax(np.abs(X[rows, c]), initial=1.0)
            for block, tolerance in ((1, 1e-12 * scale), (2, 1e-9 * scale), (3, 0)):
                column = [w[block - 1] for w in want]
                np.testing.assert_allclose(got[rows, 2 * block + c], column, atol=tolerance, rtol=0)
            if (
                len(rows) and want[0][1] > 1e-6 * scale
            ):  # else differences drown in the rounding of sums
                z = [w[3] for w in want]
                np.testing.assert_allclose(got[rows, 8 + c], z, atol=1e-6)
    np.testing.assert_array_equal(got[:, :2], X)


@given(st.data())
@examples(40)
def test_permuting_documents_permutes_rows_bit_for_bit(draw):
    n = draw.draw(st.integers(1, 70))
    values = st.one_of(st.sampled_from([0.1, 0.7, 3.3]), st.floats(-1e3, 1e3), st.just(math.nan))
    X = np.array(draw.draw(st.lists(values, min_size=n, max_size=n)))[:, None]
    order = np.array(draw.draw(st.permutations(range(n))))
    qid = np.arange(n) % draw.draw(st.integers(1, 3))
    y = np.zeros(n)
    one = rw.listwise_features(rw.RankingData(X, y, qid=qid)).X + 0.0  # no -0
    two = rw.listwise_features(rw.RankingData(X[order], y, qid=qid[order])).X + 0.0
    assert two.tobytes() == one[order].tobytes()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_shifts_and_units(rng, real):
    # Powers of 2, so that nothing is rounded on the way in.
    X = (rng.integers(0, 64, (300, 3)) / 8).astype(real)
    qid = rng.integers(0, 20, 300)
    y = np.zeros(300)
    plain = rw.listwise_features(rw.RankingData(X, y, qid=qid)).X
    moved = rw.listwise_features(rw.RankingData(X * real(4) + real(16), y, qid=qid)).X
    assert plain.dtype == moved.dtype == real
    close = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(moved[:, 3:6], plain[:, 3:6] * 4 + 16, **close)
    np.testing.assert_allclose(moved[:, 6:9], plain[:, 6:9] * 4, **close)
    np.testing.assert_array_equal(moved[:, 9:12], plain[:, 9:12])
    np.testing.assert_allclose(moved[:, 12:], plain[:, 12:], **close)


def test_constant_single_missing_and_extreme():
    none, big = np.nan, 1e308
    X = [[0.1, none, 7.0, 1.0, 0.0], [0.1, none, none, np.inf, 5e-324], [0.1, none, 7.0, 2.0, 0.0]]
    X += [[0.1, 3.0, none, big, 1e-200], [2.0, 5.0, 1.0, -big / 2, 3e-200]]
    data = rw.RankingData(X, [0, 1, 2, 0, 0], qid=[1, 1, 1, 2, 2])
    got = rw.listwise_features(data).X[:, 5:].reshape(5, 4, 5)  # block, then feature
    np.testing.assert_array_equal(got[:3, :, 0], [[0.1, 0, 2, 0]] * 3)  # 0.1 + 0.1 + 0.1 is not 0.3
    np.testing.assert_array_equal(got[:3, :, 1], np.full((3, 4), none))
    np.testing.assert_array_equal(
        got[:3, :, 2], [[7, 0, 1.5, 0], [7, 0, none, none], [7, 0, 1.5, 0]]
    )
    np.testing.assert_array_equal(
        got[:3, 2, 3], [3, 1, 2]
    )  # infinite values are ranked all the same
    np.testing.assert_array_equal(got[:3, 1, 4], [0, 0, 0])
    np.testing.assert_array_equal(got[3:, :, 1], [[4, 1, 2, -1], [4, 1, 1, 1]])
    np.testing.assert_array_equal(got[3:, :, 2], [[1, 0, none, none], [1, 0, 1, 0]])
    np.testing.assert_allclose(got[3:, 3, 4], [-1, 1])
    np.testing.assert_allclose(got[3:, 1, 4], [1e-200] * 2)
    alone = rw.listwise_features(rw.RankingData([[4.0]], [1])).X
    assert alone.tolist() == [[4.0, 4.0, 0.0, 1.0, 0.0]]


def of_a_column(values):
    """Mean, deviation, ranks and standardised values of one list."""
    got = rw.listwise_features(rw.RankingData(np.array(values)[:, None], np.zeros(len(values)))).X
    np.testing.assert_array_equal(got[:, 1:3], np.repeat(got[:1, 1:3], len(values), axis=0))
    return got[0, 1], got[0, 2], got[:, 3].tolist(), got[:, 4]


@pytest.mark.parametrize("plain", [False, True])
def test_the_largest_numbers_do_not_overflow(plain, monkeypatch):
    """What numbers of any size have in units of 2^900 they have as they are."""
    if plain:
        monkeypatch.setattr(
            listwise, "expand", getattr(listwise.expand, "py_func", listwise.expand)
        )
    most, unit = np.finfo(np.float64).max, 2.0**900
    for values in (
        [1e308, -1e308],
        [most, -most],
        [most, -most, -most],
        [most] + [-most] * 9,
        [1.7e308, 1.6e308, 0.0, -1.5e308, 3.0],
    ):
        small = [v / unit for v in values]
        mean, sd, ranks, z = of_a_column(values)
        want = expanded(small)
        assert mean / unit == pytest.approx(want[0][0], rel=1e-12)
        assert sd / unit == pytest.approx(want[0][1], rel=1e-12)
        assert ranks == [row[2] for row in want]
        np.testing.assert_allclose(z, [row[3] for row in want], rtol=1e-12)


def test_infinite_values_are_ranked_and_leave_the_others_alone():
    inf = math.inf
    mean, sd, ranks, z = of_a_column([1.0, inf, 3.0, -inf, inf])
    assert (mean, sd, ranks) == (2.0, 1.0, [4, 1.5, 3, 5, 1.5])
    assert z.tolist() == [-1, inf, 1, -inf, inf]
    mean, sd, ranks, z = of_a_column([7.0, inf, math.nan, 7.0])
    assert (mean, sd) == (7.0, 0.0)
    assert z[[0, 1, 3]].tolist() == [0, inf, 0] and np.isnan(z[2])
    mean, sd, ranks, z = of_a_column([-inf, inf])
    assert np.isnan([mean, sd]).all() and ranks == [2, 1] and z.tolist() == [-inf, inf]


def test_names_and_everything_else_are_kept(rng):
    table = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 0.0, 1.0]})
    data = rw.RankingData(
        table,
        [0, 2, 1],
        qid=["q", "p", "q"],
        weight=[2, 3],
        comments=["x", "y", "z"],
        unlisted=[[4], []],
    )
    before = data.X.copy()
    more = rw.listwise_features(data, [3.0, 2.0, 1.0])
    assert more.feature_names[:4] == ["a", "b", "score", "a:mean"]
    assert more.feature_names[-3:] == ["a:z", "b:z", "score:z"]
    assert base_features(more.feature_names, more.n_features).tolist() == [0, 1, 2]
    assert base_features(data.feature_names, 2).tolist() == [0, 1]
    assert more.y.tolist() == [0, 2, 1] and more.qid.tolist() == ["q", "p", "q"]
    assert more.weight.tolist() == [2, 3] and list(more.comments) == ["x", "y", "z"]
    assert more.unlisted.y.tolist() == [4]
    assert data.feature_names == ["a", "b"]
    np.testing.assert_array_equal(data.X, before)
    assert rw.listwise_features(rw.RankingData(before, [0, 1, 2])).feature_names[:3] == [
        "f1",
        "f2",
        "f1:mean",
    ]


@pytest.mark.parametrize(
    ("names", "base"),
    [
        (["price", "price:mean", "weight"], ["price", "price:mean", "weight"]),
        (["a:z", "a:mean", "b", "a:rank", "a:sd", "a"], ["b", "a"]),
        (["price:mean", "weight:z", "size"], ["price:mean", "weight:z", "size"]),
        (["a:m", "a:m:mean", "a:m:sd", "a:m:rank", "a:m:z", "a:m:z:z"], ["a:m", "a:m:z:z"]),
        (["a", "a:median", ":mean"], ["a", "a:median", ":mean"]),
    ],
)
def test_only_what_is_added_to_a_feature_is_no_base(names, base):
    found = base_features(names, len(names)).tolist()
    assert [names[i] for i in found] == base
    more = rw.listwise_features(
        rw.RankingData([[1.0, 2.0]], [1], feature_names=["a", "b"])
    ).feature_names
    assert base_features([*more, "extra"], 11).tolist() == [0, 1, 10]


def test_layouts_and_threads(rng):
    X = rng.integers(0, 5, (500, 4)) * 1.0
    y, qid = np.zeros(500), rng.integers(0, 30, 500)
    want = rw.listwise_features(rw.RankingData(X, y, qid=qid)).X
    for same in (np.asfortranarray(X), sparse.csr_matrix(X)):
        got = rw.listwise_features(rw.RankingData(same, y, qid=qid)).X
        assert got.tobytes() == want.tobytes()
    from rankwood.data.listwise_features import expand

    plain = np.empty_like(want)
    plain[:, :4] = X
    groups = rw.RankingData(X, y, qid=qid).groups
    getattr(expand, "py_func", expand)(groups.ptr, groups.rows, plain, 4, 0, groups.ids.size)
    np.testing.assert_allclose(plain, want, atol=1e-12)


def test_errors():
    data = rw.RankingData([[1.0], [2.0]], [0, 1], feature_names=["score"])
    with pytest.raises(rw.InputError, match="a feature 'score' would be added, but there is one"):
        rw.listwise_features(data, [1, 2])
    with pytest.raises(rw.InputError, match="score has 3 values, but there are 2 rows"):
        rw.listwise_features(data, [1, 2, 3])
    with pytest.raises(rw.InputError, match=r"needs a RankingData.*got ndarray"):
        rw.listwise_features(data.X)
