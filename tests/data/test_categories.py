"""Categorical columns of tables: by value, whatever the library numbers them as."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.tables.categories import coded_column
from tests.helpers.examples import examples
from tests.helpers.optional import LazyPackage

pl, pa = LazyPackage("polars"), LazyPackage("pyarrow")

WORDS = ["pear", None, "apple", "pear", "fig", "apple"]
NUMBERS = [2.0, np.nan, 0.0, 2.0, 1.0, 0.0]  # positions among apple, fig, pear


def arrow_in_chunks(words):
    half = len(words) // 2
    parts = [pa.array(part).dictionary_encode() for part in (words[:half], words[half:])]
    return pa.chunked_array(parts)


TABLES = {
    "pandas": lambda w: pd.DataFrame({"f": pd.Series(w, dtype="category")}),
    "pandas, declared": lambda w: pd.DataFrame(
        {"f": pd.Categorical(w, categories=["zoo", "pear", "fig", "apple", "ant"], ordered=True)}
    ),
    "pandas with Arrow": lambda w: pd.DataFrame(
        {"f": pd.Series(w, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}
    ),
    "Polars Categorical": lambda w: pl.DataFrame({"f": pl.Series(w, dtype=pl.Categorical)}),
    "Polars Enum": lambda w: pl.DataFrame(
        {"f": pl.Series(w, dtype=pl.Enum(["zoo", "pear", "fig", "apple"]))}
    ),
    "Arrow": lambda w: pa.table({"f": pa.array(w).dictionary_encode()}),
    "Arrow, a batch": lambda w: pa.record_batch({"f": pa.array(w).dictionary_encode()}),
    "Arrow in chunks": lambda w: pa.table({"f": arrow_in_chunks(w)}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_library_gives_the_same_features(kind):
    pl.Series(["fig", "zoo", "pear"], dtype=pl.Categorical)  # Polars numbers words as it meets them
    data = rw.RankingData(TABLES[kind](WORDS), [0, 1, 2, 0, 1, 2], qid=[1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(data.X[:, 0], NUMBERS)
    assert data.categories == {"f": ("apple", "fig", "pear")} and data.feature_names == ["f"]


def test_a_column_of_missing_values_only():
    for kind in ("pandas", "Polars Enum", "Arrow"):
        table = TABLES[kind](["apple", None]) if kind == "Arrow" else TABLES[kind]([None, None])
        found = coded_column(table["f"] if kind != "Arrow" else table["f"].slice(1), "f")
        assert np.isnan(found.codes).all() and found.values == ()


def test_numbers_and_truths_are_values_too():
    table = pd.DataFrame({"f": pd.Series([30, 5, 30], dtype="category")})
    assert rw.RankingData(table, [0, 1, 2]).categories == {"f": (5, 30)}
    table = pd.DataFrame({"f": pd.Series([True, False, True], dtype="category")})
    assert rw.RankingData(table, [0, 1, 2]).X[:, 0].tolist() == [1, 0, 1]


def test_other_columns_are_as_before():
    table = pd.DataFrame({"a": np.float32([1, 2]), "f": pd.Categorical(["x", "y"]), "b": [3, 4]})
    data = rw.RankingData(table, [0, 1])
    assert data.X.tolist() == [[1, 0, 3], [2, 1, 4]] and data.X.dtype == np.float64
    assert rw.RankingData(table[["a", "f"]], [0, 1]).X.dtype == np.float32
    assert data.with_features(["b", "a"]).categories == {}
    assert data.with_features(["f", "a"]).categories == {"f": ("x", "y")}


def test_features_may_be_renamed():
    table = pd.DataFrame({"a": [1.0, 2.0], "f": pd.Categorical(["x", "y"])})
    data = rw.RankingData(table, [0, 1], feature_names=["b", "g"])
    assert data.categories == {"g": ("x", "y")}


def test_values_that_no_file_could_hold_are_refused():
    table = pd.DataFrame({"f": pd.cut(pd.Series([1.0, 2.0, 3.0]), 2)})
    with pytest.raises(
        rw.InputError, match=r"column 'f' has a category Interval.* convert the column to text"
    ):
        rw.RankingData(table, [0, 1, 2])
    for words in (["a", "b"], ["a", None]):
        for text in (pd.DataFrame({"f": words}), pl.DataFrame({"f": words})):
            with pytest.raises(
                rw.InputError, match="column 'f' must hold numbers, got text: make it"
            ):
                rw.RankingData(text, [0, 1])


# Selecting, splitting, joining


def frame(words, extra=0.0):
    values = {"x": np.arange(len(words)) + extra, "f": pd.Categorical(words)}
    return pd.DataFrame(values)


words = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=8)


def values_of(data):
    known = data.categories["f"]
    column = data.X[:, data.feature_names.index("f")]
    return [None if np.isnan(v) else known[int(v)] for v in column]


@examples(50, deadline=None)
@given(st.lists(words, min_size=1, max_size=4))
def test_joining_and_selecting_keep_every_value(parts):
    data = [
        rw.RankingData(frame(part), np.zeros(len(part)), qid=np.full(len(part), i))
        for i, part in enumerate(parts)
    ]
    data[0] = data[0].with_features(["f", "x"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = rw.RankingData.concat(data)
    flat = [word for part in parts for word in part]
    assert values_of(whole) == flat
    assert whole.categories["f"] == tuple(sorted(set(flat) - {None}))
    for i, part in enumerate(parts):
        assert values_of(whole.select([i])) == part
    mask = np.arange(len(whole)) % 2 == 0
    assert values_of(whole.cut_to(mask)) == flat[::2]


def test_parts_with_numbers_and_with_categories_do_not_go_together():
    a = rw.RankingData(frame(["a", "b"]), [0, 1], qid=[1, 1])
    b = rw.RankingData(pd.DataFrame({"x": [1.0], "f": [1.0]}), [0], qid=[2])
    with pytest.raises(
        rw.InputError, match="'f' is categorical in another part, but has numbers in part 1"
    ):
        rw.RankingData.concat([a, b])


def test_listwise_features_leave_categories_alone():
    data = rw.RankingData(frame(["b", "a", "b"]), [0, 1, 2]).with_features(["f", "x"])
    more = rw.listwise_features(data)
    assert more.feature_names == ["x", "x:mean", "x:sd", "x:rank", "x:z", "f"]
    assert values_of(more) == ["b", "a", "b"]
    numbers = rw.RankingData(frame(["b", "a", "b"])[["x"]], [0, 1, 2])
    np.testing.assert_array_equal(more.X[:, :5], rw.listwise_features(numbers).X)


def test_letor_files_have_no_categories(tmp_path):
    data = rw.RankingData(frame(["b", "a"]), [0, 1])
    with pytest.raises(
        rw.InputError, match="'f' is categorical, and LETOR text holds numbers only"
    ):
        rw.save_letor(data, tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())


def test_columns_of_a_batch():
    batch = pa.record_batch({"q": ["u", "u", "v"], "a": [1.5, None, 2.0], "b": [1, 2, 3]})
    data = rw.RankingData(batch, [0, 1, 0], qid="q")
    np.testing.assert_array_equal(data.X, [[1.5, 1], [np.nan, 2], [2, 3]])
    assert data.qid.tolist() == ["u", "u", "v"]
