"""Files keep their content through every format, and other programs read them."""

import lightgbm
import numpy as np
import pandas
import pytest
from sklearn.datasets import load_svmlight_file

import rankwood as rw
from rankwood.datasets import convert


@pytest.fixture
def source(tmp_path):
    data = rw.make_ranking(8, documents=(2, 5), seed=0)
    comments = [f"docid = {i}, row" for i in range(len(data))]
    data = rw.RankingData(data.X, data.y, qid=data.qid, comments=comments)
    path = tmp_path / "a.txt"
    rw.save_letor(data, path)
    return path


def same(one, other, comments=True):
    assert np.array_equal(np.float32(one.X), np.float32(other.X), equal_nan=True)
    assert np.array_equal(one.y, other.y)
    assert np.array_equal(one.qid, other.qid)
    if comments:
        assert one.comments == other.comments


@pytest.mark.parametrize("names", ["b.txt.gz", "b.csv", "b.csv.gz", "b.parquet", "b.npz", "b.dat"])
def test_there_and_back(source, tmp_path, names):
    made = convert(source, tmp_path / names)
    assert made.files == (str(tmp_path / names),)
    convert(tmp_path / names, tmp_path / "c.txt")
    same(rw.load_letor(tmp_path / "c.txt"), rw.load_letor(source))


def test_tables_are_plain_tables(source, tmp_path):
    convert(source, tmp_path / "b.csv")
    frame = pandas.read_csv(tmp_path / "b.csv")
    data = rw.load_letor(source)
    assert list(frame.columns[:3]) == ["label", "qid", "f1"]
    assert frame["label"].tolist() == data.y.tolist()
    assert frame["comment"].tolist() == list(data.comments)
    same(rw.RankingData(frame.drop(columns="comment"), "label", qid="qid"), data, comments=False)


def test_csv_has_no_formulas(tmp_path):
    qid, comments = ["=1+2", "-3", "@x", "'=y"], ["+cmd", "docid = 5", "", "-1"]
    data = rw.RankingData(np.eye(4), [1, 0, 1, 0], qid=qid, comments=comments)
    np.savez(
        tmp_path / "a.npz",
        X=data.X,
        y=data.y,
        qid=np.array(qid),
        blob=data.comments.blob,
        offsets=data.comments.offsets,
    )
    convert(tmp_path / "a.npz", tmp_path / "b.csv")
    frame = pandas.read_csv(tmp_path / "b.csv", dtype=str, keep_default_na=False)
    assert frame["qid"].tolist() == ["'=1+2", "-3", "'@x", "''=y"]  # a number isn't a formula
    assert frame["comment"].tolist() == ["'+cmd", "docid = 5", "", "-1"]
    convert(tmp_path / "b.csv", tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as back:
        assert back["qid"].tolist() == qid
        assert back["blob"].tobytes() == data.comments.blob.tobytes()
    (tmp_path / "n.csv").write_text("label,qid,'=a,b\n1,1,2,3\n0,1,3,4\n")
    convert(tmp_path / "n.csv", tmp_path / "n2.csv")
    assert (tmp_path / "n2.csv").read_text().startswith("label,qid,'=a,b\n")


@pytest.mark.parametrize("sparse", [False, True])
def test_lightgbm_reads_its_files(source, tmp_path, sparse):
    made = convert(source, tmp_path / "rank.train", to="lightgbm", sparse=sparse)
    assert [name.rpartition("/")[2] for name in made.files] == ["rank.train", "rank.train.query"]
    assert "comments" in made.lost[0]
    data = rw.load_letor(source)
    params = {"min_data_in_bin": 1, "min_data_in_leaf": 1, "verbose": -1, "num_threads": 1}
    read = lightgbm.Dataset(made.files[0], params=params).construct()
    assert read.get_group().tolist() == data.groups.sizes.tolist()
    assert read.get_label().tolist() == data.y.tolist()
    X, _ = load_svmlight_file(made.files[0], n_features=data.n_features)
    assert np.array_equal(np.float32(X.toarray()), data.X, equal_nan=True)
    convert(tmp_path / "rank.train", tmp_path / "c.txt")
    again = rw.load_letor(tmp_path / "c.txt")
    assert np.array_equal(again.X, data.X, equal_nan=True)
    assert again.groups.sizes.tolist() == data.groups.sizes.tolist()


def test_packed_files_of_lightgbm(source, tmp_path):
    made = convert(source, tmp_path / "b.gz", to="lightgbm")
    assert made.files == (str(tmp_path / "b.gz"), str(tmp_path / "b.query"))
    y = load_svmlight_file(str(tmp_path / "b.gz"))[1]
    data = rw.load_letor(source)
    assert np.array_equal(y, data.y)
    convert(tmp_path / "b.gz", tmp_path / "c.txt")
    again = rw.load_letor(tmp_path / "c.txt")
    assert np.array_equal(again.X, data.X, equal_nan=True)
    assert again.groups.sizes.tolist() == data.groups.sizes.tolist()


def test_text_stays_text(tmp_path):
    """Query ids may be words, and a comment may be a word that pandas takes for a missing value."""
    (tmp_path / "a.csv").write_text("label,qid,comment,f\n1,red,NA,2\n0,red,,\n0,blue,null,NA\n")
    convert(tmp_path / "a.csv", tmp_path / "b.npz")
    convert(tmp_path / "b.npz", tmp_path / "c.txt")
    lines = (tmp_path / "c.txt").read_text().splitlines()
    assert lines == ["1 qid:red 1:2.0 # NA", "0 qid:red 1:nan", "0 qid:blue 1:nan # null"]


def test_scattered_queries_are_put_together_for_lightgbm(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n2 qid:2 1:2\n0 qid:1 1:3\n")
    convert(tmp_path / "a.txt", tmp_path / "b", to="lightgbm")
    assert (tmp_path / "b").read_text().split("\n")[:3] == ["1 1:1", "0 1:3", "2 1:2"]
    assert (tmp_path / "b.query").read_text() == "2\n1\n"


def test_binary_copies_of_the_cache_are_read(source, tmp_path):
    rw.load_letor(source, cache=True)
    convert(f"{source}.rankwood.npz", tmp_path / "c.txt")
    assert (tmp_path / "c.txt").read_bytes() == source.read_bytes()
    with np.load(f"{source}.rankwood.npz") as found:
        arrays = dict(found)
    np.savez(tmp_path / "bad.npz", **{**arrays, "offsets": arrays["offsets"] + 2**40})
    with pytest.raises(rw.InputError, match="its comments don't go with its rows"):
        convert(tmp_path / "bad.npz", tmp_path / "d.txt")


def test_copies_without_comments_words_for_missing_and_categories(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:?\n0 qid:1 1:NULL\n")
    rw.load_letor(tmp_path / "a.txt", missing="?", cache=True)
    for name, how in (("a.txt", {"missing": ["?"]}), ("a.txt.rankwood.npz", {})):
        made = convert(tmp_path / name, tmp_path / "b.txt", force=True, **how)
        assert made.data.comments is None
        assert (tmp_path / "b.txt").read_text() == "1 qid:1 1:nan\n0 qid:1 1:nan\n"
    table = pandas.DataFrame({"label": [0], "qid": [1], "f": pandas.Categorical(["x"])})
    table.to_parquet(tmp_path / "c.parquet")
    with pytest.raises(rw.InputError, match="'f' is categorical, and the file holds numbers only"):
        convert(tmp_path / "c.parquet", tmp_path / "c.npz")


def test_nothing_is_replaced_unasked(source, tmp_path):
    before = source.read_bytes()
    for target in (source, tmp_path / "link.txt"):
        if not target.exists():
            target.symlink_to(source)
        with pytest.raises(rw.InputError, match="is the file to read"):
            convert(source, target, force=True)
    (tmp_path / "b.csv").write_text("mine")
    (tmp_path / "r.query").write_text("mine")
    with pytest.raises(rw.InputError, match=r"b\.csv exists already"):
        convert(source, tmp_path / "b.csv")
    with pytest.raises(rw.InputError, match=r"r\.query exists already"):
        convert(source, tmp_path / "r", to="lightgbm")
    assert not (tmp_path / "r").exists()
    assert (tmp_path / "b.csv").read_text() == "mine"
    convert(source, tmp_path / "b.csv", force=True)
    assert (tmp_path / "b.csv").read_text() != "mine"
    assert source.read_bytes() == before


def test_errors_name_the_file(source, tmp_path):
    with pytest.raises(rw.InputError, match="nothing doesn't exist"):
        convert(tmp_path / "nothing", tmp_path / "b.txt")
    with pytest.raises(rw.InputError, match="to must be one of"):
        convert(source, tmp_path / "b.txt", to="xml")
    (tmp_path / "t.csv").write_text("lable,qid,f1\n1,1,2\n")
    with pytest.raises(rw.InputError, match=r"no column of labels.*did you mean 'lable'"):
        convert(tmp_path / "t.csv", tmp_path / "b.txt")
    (tmp_path / "t.parquet").write_text("no")
    with pytest.raises(rw.InputError, match=r"t\.parquet can't be read as Parquet"):
        convert(tmp_path / "t.parquet", tmp_path / "b.txt")
    np.savez(tmp_path / "t.npz", X=np.ones((2, 2)))
    with pytest.raises(rw.InputError, match=r"t\.npz lacks the array 'y'"):
        convert(tmp_path / "t.npz", tmp_path / "b.txt")
    (tmp_path / "u.npz").write_text("no")
    with open(tmp_path / "v.npz", "wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(rw.InputError, match=r"v\.npz can't be read"):
        convert(tmp_path / "v.npz", tmp_path / "b.txt")
    with pytest.raises(rw.InputError, match=r"u\.npz can't be read"):
        convert(tmp_path / "u.npz", tmp_path / "b.txt")
    assert not (tmp_path / "b.txt").exists()
