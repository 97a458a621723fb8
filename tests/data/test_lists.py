"""RankingData from every kind of table, with queries in any order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankwood as rw
from rankwood.data.groups import group_rows
from tests.helpers.optional import LazyPackage

pl, pa = LazyPackage("polars"), LazyPackage("pyarrow")

X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0], [7.0, 8.0]])
Y = [0, 2, 1, 0]
QID = ["b", "a", "b", "a"]


def frames():
    columns = {"f": X[:, 0], "g": X[:, 1]}
    return {
        "numpy": X,
        "list": X.tolist(),
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "sparse": sparse.coo_matrix(np.nan_to_num(X)),
        "pandas": pd.DataFrame(columns),
        "pandas-nullable": pd.DataFrame(columns).convert_dtypes(),
        "polars": pl.DataFrame({"f": X[:, 0], "g": [2.0, None, 6.0, 8.0]}),
        "arrow": pa.table({"f": X[:, 0], "g": pa.array([2.0, None, 6.0, 8.0])}),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_table(kind):
    data = rw.RankingData(frames()[kind], Y, qid=QID)
    dense = data.X.toarray() if sparse.issparse(data.X) else data.X
    expected = np.nan_to_num(X) if kind == "sparse" else X
    np.testing.assert_array_equal(dense, expected)
    assert data.feature_names == (["f", "g"] if kind[:5] in ("panda", "polar", "arrow") else None)
    assert data.groups.ids.tolist() == ["b", "a"]
    assert data.groups.sizes.tolist() == [2, 2]
    assert data.qid.tolist() == QID


def test_columns_by_name():
    for table in (
        pd.DataFrame({"f": [1.0, 2.0, 3.0], "label": [0, 1, 2], "q": [5, 5, 6]}),
        pl.DataFrame({"f": [1.0, 2.0, 3.0], "label": [0, 1, 2], "q": [5, 5, 6]}),
        pa.table({"f": [1.0, 2.0, 3.0], "label": [0, 1, 2], "q": [5, 5, 6]}),
    ):
        data = rw.RankingData(table, "label", qid="q")
        assert data.feature_names == ["f"]
        assert data.y.tolist() == [0, 1, 2]
        assert data.groups.ids.tolist() == [5, 6]
    with pytest.raises(rw.InputError, match="no column 'labl'; did you mean 'label'"):
        rw.RankingData(table, "labl", qid="q")


def test_ids_that_look_alike_stay_apart():
    data = rw.RankingData(X, Y, qid=[1, "1", 1, "1"])
    assert data.groups.sizes.tolist() == [2, 2]
    assert data.groups.ids.tolist() == [1, "1"]


def test_masked_features_are_missing():
    masked = np.ma.array([[1.0, 2.0]] * 4, mask=[[0, 1]] * 4)
    assert np.isnan(rw.RankingData(masked, Y, qid=QID).X[:, 1]).all()


def test_feature_names_as_an_array():
    data = rw.RankingData(X, Y, qid=QID, feature_names=np.array(["f", "g"]))
    assert data.feature_names == ["f", "g"]


def test_nothing_given_is_copied_or_changed():
    given_ = np.asfortranarray(X)
    given_.setflags(write=False)
    y = np.array(Y, float)
    y.setflags(write=False)
    data = rw.RankingData(given_, y, qid=QID)
    assert data.X is given_
    assert (y == Y).all()


@pytest.mark.parametrize(
    "qid",
    [
        [3, 1, 3, 1],
        np.array([3, 1, 3, 1], np.uint8),
        [3.5, 1.5, 3.5, 1.5],
        ["b", "a", "b", "a"],
        np.array(["b", 1, "b", 1], object),
        [True, False, True, False],
        np.array(["2020-01-02", "2020-01-01"] * 2, "M8[D]"),
        pd.Series(["b", "a", "b", "a"], dtype="category"),
        pl.Series(["b", "a", "b", "a"]),
        pa.array(["b", "a", "b", "a"]),
        pa.chunked_array([["b", "a"], ["b", "a"]]),
    ],
)
def test_query_ids_of_any_type_in_any_order(qid):
    groups = group_rows(4, qid=qid)
    assert groups.ptr.tolist() == [0, 2, 4]
    assert groups.rows.tolist() == [0, 2, 1, 3]
    assert groups.per_row(np.array([10, 20])).tolist() == [10, 20, 10, 20]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60))
def test_groups_equal_a_plain_loop(ids):
    expected: dict[int, list[int]] = {}
    for row, q in enumerate(ids):
        expected.setdefault(q, []).append(row)
    groups = group_rows(len(ids), qid=ids)
    assert groups.ids.tolist() == list(expected)
    got = [groups.rows[a:b].tolist() for a, b in zip(groups.ptr[:-1], groups.ptr[1:], strict=True)]
    assert got == list(expected.values())


def test_group_sizes():
    groups = group_rows(5, group=[2, 3])
    assert groups.ptr.tolist() == [0, 2, 5]
    assert groups.ids.tolist() == [0, 1]


def test_shuffling_stays_inside_queries_and_repeats():
    groups = group_rows(1000, qid=np.arange(1000) // 10)
    once, again, other = groups.shuffled(1), groups.shuffled(1), groups.shuffled(2)
    assert (once.rows == again.rows).all()
    assert (once.rows != other.rows).any()
    assert (np.sort(once.rows.reshape(100, 10), axis=1) == groups.rows.reshape(100, 10)).all()


def test_select_keeps_queries_whole_and_weights_in_step():
    data = rw.RankingData(X, Y, qid=QID, weight=[1.0, 2.0], comments=["r0", "r1", "r2", "r3"])
    for chosen in ([1], np.array([False, True])):
        part = data.select(chosen)
        assert part.y.tolist() == [2, 0]
        assert part.weight.tolist() == [2.0]
        assert list(part.comments) == ["r1", "r3"]


def test_labels_can_not_be_changed_after_they_were_checked():
    y = np.array(Y, float)
    data = rw.RankingData(X, y, qid=QID)
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = -1
    y[0] = -1  # the caller's own array is neither ours nor locked
    assert data.y.tolist() == Y


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_entries_of_a_sparse_matrix_that_are_there_twice_are_added(kind):
    values, rows, columns = np.arange(8.0), [0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 1, 0, 0, 0, 0, 1]
    made = sparse.coo_matrix((values, (rows, columns)), (4, 2))
    if kind is not sparse.coo_array:
        axis = columns if kind is sparse.csc_array else rows
        order = np.argsort(axis, kind="stable")
        inner = np.array(rows if kind is sparse.csc_array else columns)[order]
        ends = np.searchsorted(np.sort(axis), np.arange(max(axis) + 2))
        made = kind((values[order], inner, ends), shape=(4, 2))
    given_ = made.data.copy()
    data = rw.RankingData(made, Y, qid=QID)
    assert data.X.has_canonical_format and (data.X.toarray() == made.toarray()).all()
    assert made.data.tolist() == given_.tolist()


def test_select_beyond_the_queries():
    data = rw.RankingData(X, Y, qid=QID)
    for queries in ([2], np.array([True] * 5)):
        with pytest.raises(rw.InputError, match="positions below 2 or a mask of 2 values"):
            data.select(queries)


BAD = {
    "y has 3 values, but there are 4 rows": {"y": [0, 1, 2]},
    "y must be finite numbers, got nan at row 1": {"y": [0, np.nan, 1, 0]},
    "y must be finite numbers, got inf at row 2": {"y": [0, 1, np.inf, 0]},
    "y must not be negative, got -1 at row 3": {"y": [0, 1, 2, -1]},
    "y must hold numbers, got list of <U": {"y": ["a", "b", "c", "dd"]},
    "qid has 2 values, but there are 4 rows; to give the sizes of queries use group=": {
        "qid": [2, 2]
    },
    "qid must not be missing, but it is at row 2": {"qid": ["a", "a", None, "b"]},
    "qid must not be missing, but it is at row 1": {"qid": ["a", float("nan"), "a", "b"]},
    "qid must not be missing, but it is at row 3": {
        "qid": np.ma.array([1, 1, 2, 2], mask=[0, 0, 0, 1])
    },
    "qid must hold plain values": {"qid": np.array([[1], [2], [1], [2], None], object)[:4]},
    "y must be finite numbers, got nan at row 0": {
        "y": np.ma.array([1, 0, 1, 0], mask=[1, 0, 0, 0])
    },
    "y must hold numbers, got None": {"y": None},
    "y must hold numbers below 1.8e308, got a larger one": {"y": [10**400, 0, 1, 0]},
    "y must hold numbers, got ndarray of datetime64": {"y": np.array(["2020-01-01"] * 4, "M8[D]")},
    "y must hold numbers, got list of <U1": {"y": ["1", "0", "1", "0"]},
    "X must hold numbers, got ndarray of complex128": {"X": X + 1j},
    "X is a lazy table; call .collect": {"X": pl.DataFrame({"f": [1.0] * 4}).lazy()},
    "X must have two dimensions": {"X": sparse.coo_array(np.ones(4))},
    "column 'd' must hold numbers": {"X": pd.DataFrame({"d": pd.to_datetime(["2020-01-01"] * 4)})},
    "qid must not be missing, but it is at row 0": {"qid": [np.nan, 1.0, 1.0, 1.0]},
    "group must sum to the number of rows, 4, got 5": {"qid": None, "group": [2, 3]},
    "got 8; to give an id per row use qid=": {"qid": None, "group": [2, 2, 2, 2]},
    "sizes of queries, integers of at least 1": {"qid": None, "group": [4, 0]},
    "either qid .* or group .*, not both": {"group": [2, 2]},
    "weight has 4 values, but there are 2 queries": {"weight": [1, 1, 1, 1]},
    "weight must be positive, got 0 at query 1": {"weight": [1, 0]},
    "feature_names has 1 names, but X has 2 columns": {"feature_names": ["f"]},
    "feature_names must differ, but 'f' is there twice": {"feature_names": ["f", "f"]},
    "comments has 1 values, but there are 4 rows": {"comments": ["x"]},
    "X must have two dimensions, rows": {"X": [1.0, 2.0, 3.0, 4.0]},
    "X must hold numbers": {"X": [["a"], ["b"], ["c"], ["d"]]},
    "column 'g' must hold numbers": {"X": pd.DataFrame({"f": [1.0] * 4, "g": list("abcd")})},
    "there are no rows": {"X": np.zeros((0, 2)), "y": [], "qid": []},
    "y, qid and sample_weight can name columns only if X is a table": {"qid": "q"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_gets_one_plain_sentence(message):
    given_ = {"X": X, "y": Y, "qid": QID, **BAD[message]}
    features, y = given_.pop("X"), given_.pop("y")
    with pytest.raises(rw.InputError, match=message) as error:
        rw.RankingData(features, y, **given_)
    assert "\n" not in str(error.value)
