"""CSV and Parquet files as ranking data: which column is what, and files that are broken."""

import gzip

import numpy as np
import pytest

import rankwood as rw
from rankwood.data.tables.column_roles import ColumnNames
from rankwood.data.tables.table_files import column_names_of, read_table, table_kind
from tests.helpers.optional import LazyPackage

pandas = LazyPackage("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def made(tmp_path):
    """A function that writes a file, and returns its name."""

    def write(content, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize(
    ("label", "query"),
    [("label", "qid"), ("relevance", "query_id"), ("Grade", "Query"), ("target", "srch_id"), ("y", "group")],
)  # fmt: skip
def test_usual_names(made, label, query):
    data = read_table(made(f"a,{query},{label},b\n1.5,7,2,3\n,8,0,4\n"), ColumnNames())
    assert data.y.tolist() == [2, 0] and data.qid.tolist() == [7, 8]
    assert data.feature_names == ["a", "b"]
    np.testing.assert_array_equal(data.X, [[1.5, 3], [np.nan, 4]])


def test_named_columns(made):
    path = made("stars,session,shop,doc_id,label\n1,s1,x,D1,5\n0,s1,,D2,6\n2,s1,y,D3,7\n")
    names = ColumnNames("stars", "session", ("label",), ("shop",))
    data = read_table(path, names)
    assert data.y.tolist() == [1, 0, 2] and set(data.qid.tolist()) == {"s1"}
    assert data.feature_names == ["shop"] and data.categories == {"shop": ("x", "y")}
    assert list(data.comments) == ["D1", "D2", "D3"]
    np.testing.assert_array_equal(data.X[:, 0], [0, np.nan, 1])
    assert column_names_of(path) == ["stars", "session", "shop", "doc_id", "label"]


def test_query_ids_stay_what_they_are(made):
    assert read_table(made("label,qid,a\n1,7,2\n0,007,3\n"), ColumnNames()).groups.ids.size == 2
    ids = read_table(made("label,qid,a\n1,7,2\n0,-8,3\n"), ColumnNames()).qid
    assert ids.dtype == np.int64 and ids.tolist() == [7, -8]
    large = read_table(made(f"label,qid,a\n1,{2**63},2\n0,{2**63 + 1},3\n"), ColumnNames())
    assert large.groups.ids.size == 2
    # NA may be the name of a query, or a word of a comment; among features it is missing.
    data = read_table(made("label,qid,comment,a\n1,NA,NA,NA\n"), ColumnNames())
    assert data.qid.tolist() == ["NA"] and list(data.comments) == ["NA"] and np.isnan(data.X).all()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_marks_and_line_ends(made, delimiter):
    text = "\ufefflabel,qid,a,comment\r\n1,x,2,\"two\nlines\"\r\n\r\n0,'=y,3,'+z\r\n"
    data = read_table(made(text.replace(",", delimiter)), ColumnNames())
    assert data.qid.tolist() == ["x", "=y"] and data.X[:, 0].tolist() == [2, 3]
    assert list(data.comments) == ["two\nlines", "+z"]


def test_kinds_of_files(made, tmp_path):
    assert table_kind("nowhere.csv") == table_kind("x.TSV") == "csv"
    assert table_kind(made("qid,label,a\n1,0,2\n", "plain.txt")) == "csv"
    for text in ("1 qid:3 1:0.5 # a,b\n", "", "1 2 3\n", "q1 0 d1 1\n", "0.5\n0.7\n"):
        assert table_kind(made(text, "letor.txt")) is None
    assert table_kind(tmp_path) is None and table_kind("nowhere") is None
    packed = made(gzip.compress(b"label,qid,a\n1,7,2\n"), "p.csv.gz")
    assert read_table(packed, ColumnNames()).X.tolist() == [[2.0]]


def test_parquet(tmp_path):
    table = pandas.DataFrame(
        {
            "label": [1, 0],
            "qid": ["a", "a"],
            "p": [1.5, None],
            "shop": pandas.Categorical(["x", "y"]),
            "title": ["t", "u"],
        },
        index=[5, 6],
    )
    path = str(tmp_path / "t.parquet")
    table.to_parquet(path)
    data = read_table(path, ColumnNames(ignore=("title",)))
    assert data.feature_names == ["p", "shop"] and data.categories == {"shop": ("x", "y")}
    only = read_table(path, ColumnNames(features=("p",)))
    assert only.feature_names == ["p"]
    labels = read_table(path, ColumnNames(ignore_text=True))
    assert labels.y.tolist() == [1, 0] and labels.feature_names == ["p"]


def test_what_need_not_be_there(made):
    path = made("a,b\n1,2\n3,4\n")
    data = read_table(path, ColumnNames(), needs=())
    assert data.y.tolist() == [0, 0] and data.groups.ids.size == 1
    with pytest.raises(rw.InputError, match=r"no column of query ids.*--qid COLUMN"):
        read_table(path, ColumnNames(), needs=("qid",))
    alone = read_table(made("label,qid\n1,7\n"), ColumnNames())
    assert alone.n_features == 0


BROKEN = {
    "label,qid,a\n1,7,2,9\n0,7,3,4\n": r"Expected 3 columns, got 4: 1,7,2,9",
    "label,qid,a\n1,7\n": r"Expected 3 columns, got 2: 1,7",
    "label,qid,label\n1,7,1\n": r"has two columns 'label'",
    "": r"its first line must name at least two columns, as in 'label,qid,f1', got ''",
    "label\n1\n": r"at least two columns",
    "label,qid,a\n": r"the file has no rows",
    "label,qid,a\n1,,2\n": r"qid must not be missing, but it is at row 0",
    "label,qid,a\n,1,2\n": r"y must be finite numbers, got nan at row 0",
    "label,qid,a\nx,1,2\n": r"y must hold numbers, got text",
    "label,qid,a\n-1,1,2\n": r"must not be negative|labels",
    "label,qid,a\n1,1,word\n": r"column 'a' has text, .*--ignore a.*--categorical a",
    "label,qid,a\n1,1,2024-05-01\n": r"column 'a' has values of type date32",
    "label,relevance,qid,a\n1,1,1,1\n": r"'label' and 'relevance', and each may be the column of labels",
    "label,qid,query,a\n1,1,1,1\n": r"'qid' and 'query', and each may be .*--ignore COLUMN",
    "lable,qid,a\n1,1,1\n": r"no column of labels.*did you mean 'lable'",
    b"label,qid,a\n1,7,\xff\n": r"column 'a' has values of type binary",
    b"\xff\xfe,\x00": r"is not UTF-8 text",
}


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_broken_files(made, content):
    path = made(content)
    with pytest.raises(rw.InputError, match=BROKEN[content]) as caught:
        read_table(path, ColumnNames())
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (ColumnNames(y="stars"), "has no column 'stars', which y names"),
        (ColumnNames(ignore=("titel",)), "which ignore names; did you mean 'title'"),
        (ColumnNames(categorical=("shop",)), "which categorical names"),
        (ColumnNames("qid", "qid"), "y and qid are both 'qid'"),
        (ColumnNames(features=("a", "b")), "lacks the column 'b'.*the model was trained on it"),
    ],
)
def test_wrong_names(made, names, message):
    with pytest.raises(rw.InputError, match=message):
        read_table(made("label,qid,a,title\n1,7,2,x\n"), names)


def test_files_that_are_cut_or_absent(made, tmp_path):
    packed = gzip.compress(b"label,qid,a\n" + b"1,7,2\n" * 5000)
    for path, message in (
        (made(packed[: len(packed) // 2], "cut.csv.gz"), "can't be decompressed"),
        (made(packed[:5], "start.csv.gz"), "can't be decompressed"),
        (made(b"PAR1xxxx", "cut.parquet"), "can't be read as Parquet"),
        (str(tmp_path / "no.csv"), "does not exist"),
        (str(tmp_path / "no.parquet"), "does not exist"),
    ):
        with pytest.raises(rw.InputError, match=message):
            read_table(path, ColumnNames())
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(rw.InputError, match="is a directory"):
        read_table(str(tmp_path / "folder.csv"), ColumnNames())
