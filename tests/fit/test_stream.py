"""Training on files that don't fit in memory: the same models as in memory, and errors of one sentence."""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.data.letor import blocks as text_blocks
from rankwood.data.stream import blocks
from rankwood.data.stream.sample import RowSample
from rankwood.engines.xgboost import streams as xgboost_streams

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SETTINGS = {"n_estimators": 6, "num_leaves": 7, "n_jobs": 1, "early_stopping_rounds": 4}
ENGINES = {
    "xgboost": {"engine": "xgboost", "grow_policy": "depthwise"},
    "xgboost-by-leaf": {"engine": "xgboost", "grow_policy": "lossguide", "subsample": 0.7},
    "lightgbm": {"engine": "lightgbm"},
    "lightgbm-sampled": {"subsample": 0.7, "colsample_bytree": 0.5, "objective": "yetirank"},
    "langevin": {"langevin": True, "diffusion_temperature": 1e3, "model_shrink_rate": 0.1},
}


def numbered(data, first):
    """Return data with query ids from `first` on, sparse features and missing values."""
    X = np.array(data.X, dtype=np.float32)
    X[np.quantile(X, 0.4, axis=0) > X] = 0
    X[:, 3] = np.where(
        np.arange(len(X)) % 9 == 0, X[:, 3], 0
    )  # LightGBM bundles these two in memory
    X[:, 4] = np.where(np.arange(len(X)) % 9 == 4, X[:, 4], 0)
    X[::7, 5] = np.nan
    X[:, 6] = np.arange(len(X)) % 5
    return rw.RankingData(
        X, data.y, qid=np.repeat(first + np.arange(data.groups.ids.size), data.groups.sizes)
    )


@pytest.fixture(scope="module")
def sets():
    """Training data in two parts, and validation data."""
    return [numbered(rw.make_ranking(n, seed=n), 100 * n) for n in (30, 20, 10)]


def table(data):
    columns = {f"f{i}": data.X[:, i] for i in range(data.n_features)}
    return pa.table(
        {"query": [f"q{one}" for one in data.qid], "label": data.y.astype(int), **columns}
    )


@pytest.fixture(scope="module")
def folder(sets, tmp_path_factory):
    """The sets as LETOR text and as Parquet files."""
    place = tmp_path_factory.mktemp("stream")
    for name, data in zip(("a", "b", "v"), sets, strict=True):
        rw.save_letor(data, place / f"{name}.txt")
        rw.save_letor(data, place / f"{name}.txt.gz")
        pq.write_table(table(data), place / f"{name}.parquet", row_group_size=100)
    return place


@pytest.fixture(scope="module")
def in_memory(sets):
    """Rankers trained in memory, by their settings; each is trained once."""
    done = {}
    train = rw.RankingData.concat(sets[:2])

    def get(kind, **more):
        if kind not in done:
            done[kind] = rw.Ranker(**SETTINGS, **ENGINES[kind], **more).fit(train, valid=sets[2])
        return done[kind]

    return get


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that queries span several of them."""
    monkeypatch.setattr(text_blocks, "BLOCK", 1 << 12)
    monkeypatch.setattr(blocks.whole_queries, "__defaults__", (0.0, 1 << 13))


def same(one, other):
    return one.model_.text == other.model_.text and one.history_ == other.history_


@pytest.mark.parametrize("kind", ENGINES)
def test_letor_gives_the_model_of_memory(kind, in_memory, sets, folder, small_blocks):
    files = [folder / "a.txt", folder / "b.txt.gz"]
    ranker = rw.Ranker(**SETTINGS, **ENGINES[kind])
    assert same(ranker.fit(files, valid=folder / "v.txt", stream=True), in_memory(kind))
    assert not list(Path(tempfile.gettempdir()).glob(f"rankwood-*{os.getpid()}*"))


def test_validation_data_may_be_in_memory_or_have_names(in_memory, sets, folder):
    files = [str(folder / "a.txt"), str(folder / "b.txt")]
    for kind in ("xgboost", "lightgbm"):
        make = lambda kind=kind: rw.Ranker(**SETTINGS, **ENGINES[kind])  # noqa: E731
        assert same(make().fit(files, valid=sets[2], stream=True), in_memory(kind))
        both = {"new": folder / "v.txt", "old": sets[0]}
        streamed = make().fit(files, valid=both, stream=True)
        expected = make().fit(
            rw.RankingData.concat(sets[:2]), valid={"new": sets[2], "old": sets[0]}
        )
        assert same(streamed, expected)


@pytest.mark.parametrize("kind", ["xgboost", "lightgbm"])
def test_parquet_gives_the_model_of_a_table(kind, sets, folder, small_blocks):
    params = {**SETTINGS, **ENGINES[kind]}
    whole = pa.concat_tables([table(sets[0]), table(sets[1])])
    valid = rw.RankingData(table(sets[2]), "label", qid="query")
    expected = rw.Ranker(**params).fit(whole, y="label", qid="query", valid=valid)
    files = [folder / "a.parquet", folder / "b.parquet"]
    columns = {"y": "label", "qid": "query"}
    streamed = rw.Ranker(**params).fit(files, **columns, valid=folder / "v.parquet", stream=True)
    assert same(streamed, expected)
    assert streamed.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    data = rw.stream_files(folder / "v.parquet", **columns)
    assert streamed.predict(data).tobytes() == expected.predict(valid).tobytes()


@pytest.mark.parametrize("kind", ["xgboost", "lightgbm"])
def test_categories_are_whole_numbers(kind, sets, folder):
    params = {**SETTINGS, **ENGINES[kind], "categorical_feature": [6]}
    expected = rw.Ranker(**params).fit(sets[0])
    assert same(rw.Ranker(**params).fit(folder / "a.txt", stream=True), expected)
    with pytest.raises(rw.InputError, match="values of feature 'f1' must be whole numbers"):
        rw.Ranker(**{**params, "categorical_feature": [0]}).fit(folder / "a.txt", stream=True)


@pytest.mark.parametrize("kind", ["xgboost", "lightgbm-sampled", "langevin"])
def test_a_checkpoint_goes_on_to_the_same_model(kind, in_memory, folder, tmp_path):
    files, more = [folder / "a.txt", folder / "b.txt"], {"valid": folder / "v.txt", "stream": True}
    file = tmp_path / "run.ckpt"
    short = {**SETTINGS, **ENGINES[kind], "n_estimators": 3}
    rw.Ranker(**short).fit(files, checkpoint=file, **more)
    again = rw.Ranker(**SETTINGS, **ENGINES[kind]).fit(files, checkpoint=file, **more)
    assert same(again, in_memory(kind))
    with pytest.raises(rw.InputError, match="to a run on other training data"):
        rw.Ranker(**SETTINGS, **ENGINES[kind]).fit(files[:1], checkpoint=file, **more)


def test_how_files_are_read_is_part_of_a_run(folder, tmp_path):
    def fit(rounds=2, **how):
        ranker = rw.Ranker(**SETTINGS | {"n_estimators": rounds, "early_stopping_rounds": None})
        ranker.fit(rw.stream_files(folder / "a.txt", **how), checkpoint=tmp_path / "run.ckpt")

    fit()
    for how in ({"absent": np.nan}, {"sample": 50}, {"missing": "?"}):
        with pytest.raises(rw.InputError, match="on other training data"):
            fit(3, **how)
    fit(3)
    with pytest.raises(rw.InputError, match="read with sample=0, which is for validation data"):
        fit(3, sample=0)


def test_more_rows_than_the_sample(sets, folder):
    data = rw.stream_files([folder / "a.txt", folder / "b.txt"], sample=300)
    assert data.sample.shape == (300, data.n_features) and len(data) > 900
    assert data.groups.ids.tolist() == [*sets[0].groups.ids, *sets[1].groups.ids]
    for engine in ("xgboost", "lightgbm"):
        ranker = rw.Ranker(engine=engine, **SETTINGS).fit(data)
        assert ranker.chosen_.get("grow_policy") == ("depthwise" if engine == "xgboost" else None)
        assert ranker.score(rw.load_letor(folder / "v.txt")) > 0.5


def test_blocks_have_whole_queries(folder, sets, small_blocks):
    data = rw.stream_files([folder / "a.txt", folder / "b.txt"])
    sizes = [len(X) for X in data.blocks()]
    ends = data.groups.ptr.tolist()
    assert len(sizes) > 5 and all(end in ends for end in np.cumsum(sizes).tolist())
    X = np.concatenate(list(data.blocks()))
    assert (
        X.tobytes()
        == np.concatenate([one.X for one in sets[:2]]).tobytes()
        == data.sample.tobytes()
    )
    assert data.y.tobytes() == np.concatenate([one.y for one in sets[:2]]).tobytes()


def test_a_query_may_go_on_in_the_next_file(tmp_path):
    (tmp_path / "a").write_text("1 qid:x 1:1\n0 qid:y 1:2\n")
    (tmp_path / "b").write_text("0 qid:y 2:3\n\n# nothing\n2 qid:z 1:4\n")
    data = rw.stream_files([tmp_path / "a", tmp_path / "b"], n_features=3)
    assert data.groups.sizes.tolist() == [1, 2, 1] and data.groups.ids.tolist() == ["x", "y", "z"]
    assert np.concatenate(list(data.blocks())).tolist() == [
        [1, 0, 0],
        [2, 0, 0],
        [0, 3, 0],
        [4, 0, 0],
    ]


@pytest.mark.parametrize("rows", [1, 7, 250])
def test_the_sample_does_not_depend_on_blocks(rows):
    X = np.arange(1000, dtype=np.float32)[:, None]
    whole, parts = RowSample(90), RowSample(90)
    whole.add(X)
    for start in range(0, 1000, rows):
        parts.add(X[start : start + rows])
    found = np.sort(parts.rows()[:, 0])
    assert found.tolist() == np.sort(whole.rows()[:, 0]).tolist()
    assert np.unique(found).size == 90 and 350 < found.mean() < 650


BAD = {
    "there are no files": lambda d: [],
    "is.not there.txt does not exist": lambda d: [d / "a.txt", d / "is not there.txt"],
    "is a directory, expected a file": lambda d: [d],
    "empty holds no documents": lambda d: [d / "a.txt", d / "empty"],
    "is given twice": lambda d: [d / "a.txt", d / "a.txt"],
    "give files of one kind": lambda d: [d / "a.txt", d / "a.parquet"],
    "give the names of its columns": lambda d: [d / "a.parquet"],
    "query 3001 begins at .*a.txt, line [0-9]+, and again at .*again.txt, line 2, after other queries": lambda d: [
        d / "a.txt",
        d / "b.txt",
        d / "again.txt",
    ],
    "a stream is read from files: give their names": lambda d: np.zeros((3, 2)),
    "expected a list of their names, got one with list": lambda d: [[1.0, 2.0]],
    "line 1: .*expected": lambda d: [d / "broken.txt"],
}


@pytest.mark.parametrize("message", BAD)
def test_files_that_cannot_be_used(message, folder):
    (folder / "empty").write_text("# only a comment\n")
    (folder / "again.txt").write_text("# a comment\n0 qid:3001 1:1\n1 qid:9 1:2\n")
    (folder / "broken.txt").write_text("one qid:1 1:1\n")
    with pytest.raises(rw.InputError, match=message):
        rw.Ranker(**SETTINGS).fit(BAD[message](folder), stream=True)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (rw.Ranker("yetirank", "catboost"), "engine='catboost' needs all features in memory"),
        (rw.Ranker("bi-lambdarank-ndcg@5", "pairtree"), "engine='pairtree' needs all features"),
        (
            rw.Ranker("bi-lambdarank-ndcg@5", "lightgbm"),
            "objectives of pairs .* need all features in memory",
        ),
        (rw.TwoStage(), "TwoStage needs all features in memory"),
        (
            rw.Ranker(engine="xgboost", tree_method="exact"),
            "tree_method='exact' needs all features",
        ),
    ],
)
def test_who_cannot_stream_says_so(ranker, message, folder):
    with pytest.raises(rw.InputError, match=message):
        ranker.fit(folder / "a.txt", stream=True)


def test_predict_takes_no_names_of_files(in_memory, folder):
    for files in (folder / "a.txt", [str(folder / "a.txt")]):
        with pytest.raises(rw.InputError, match=r"give load_letor\(file\), or stream_files"):
            in_memory("lightgbm").predict(files)


def test_other_arguments_that_do_not_go_together(folder, sets):
    ranker = rw.Ranker(**SETTINGS)
    with pytest.raises(rw.InputError, match="weight can't be given with stream=True"):
        ranker.fit(folder / "a.txt", weight=[1.0], stream=True)
    with pytest.raises(rw.InputError, match="omit y and qid"):
        ranker.fit(folder / "a.txt", y="label", stream=True)
    with pytest.raises(rw.InputError, match="give stream_files"):
        ranker.fit(str(folder / "a.txt"))
    with pytest.raises(rw.InputError, match="the training data is in memory"):
        ranker.fit(sets[0], valid=rw.stream_files(folder / "v.txt"))
    with pytest.raises(
        rw.InputError, match="has no column 'labels', which y names; did you mean 'label'"
    ):
        ranker.fit(folder / "a.parquet", y="labels", qid="query", stream=True)
    with pytest.raises(AttributeError, match="never all in memory"):
        rw.stream_files(folder / "a.txt").split(0.5)
    assert not hasattr(ranker, "model_")


def test_parquet_files_need_the_same_columns_of_numbers(folder, sets, tmp_path):
    columns = {"y": "label", "qid": "query"}
    pq.write_table(table(sets[1]).drop_columns(["f2"]), tmp_path / "fewer.parquet")
    with pytest.raises(rw.InputError, match=r"fewer\.parquet has no column 'f2'"):
        rw.stream_files([folder / "a.parquet", tmp_path / "fewer.parquet"], **columns)
    words = table(sets[1]).append_column("word", pa.array(["x"] * len(sets[1])))
    pq.write_table(words, tmp_path / "words.parquet")
    with pytest.raises(
        rw.InputError, match=r"words\.parquet, rows 0 to .*column 'word' must hold numbers"
    ):
        rw.stream_files(tmp_path / "words.parquet", **columns)
    (tmp_path / "cut.parquet").write_bytes((folder / "a.parquet").read_bytes()[:200])
    with pytest.raises(rw.InputError, match=r"cut\.parquet can't be read as Parquet"):
        rw.stream_files(tmp_path / "cut.parquet", **columns)


@pytest.mark.parametrize("engine", ["xgboost", "lightgbm"])
def test_a_file_that_changes_between_passes(engine, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = tmp_path / "changing.txt"
    file.write_bytes((folder / "a.txt").read_bytes())
    data = rw.stream_files(file)
    with open(file, "a") as more:
        more.write("0 qid:1 1:1\n")
    with pytest.raises(rw.InputError, match=r"changing\.txt was changed after it was first read"):
        rw.Ranker(engine=engine, **SETTINGS).fit(data)
    assert [one.name for one in tmp_path.iterdir()] == ["changing.txt"]  # no folder is left


def _rows(count, seed):
    """Lines of LETOR, all equally long, whatever the seed."""
    rng = np.random.default_rng(seed)
    lines = [
        f"{rng.integers(3)} qid:{100 + i // 10} 1:{rng.integers(10, 99)} 2:{rng.integers(10, 99)}\n"
        for i in range(count)
    ]
    return "".join(lines)


def _with_fewer_rows(text):
    """The same number of bytes with half as many rows."""
    lines = text.splitlines(keepends=True)
    half = lines[: len(lines) // 2]
    return "".join(half) + "#" * (len(text) - len("".join(half)) - 1) + "\n"


def _with_more_rows(text):
    """The same number of bytes with more rows."""
    short = [f"1 qid:{200 + i} 1:1\n" for i in range(len(text) // 40)]
    rest = text[: len(text) - len("".join(short))].splitlines(keepends=True)[:-1]
    whole = "".join(rest) + "".join(short)
    return whole + "#" * (len(text) - len(whole) - 1) + "\n"


REPLACED = {
    "other values": lambda text: _rows(300, 2),
    "fewer rows": _with_fewer_rows,
    "more rows": _with_more_rows,
}
REPLACES = """
import os, sys
import rankwood as rw
from rankwood.data.letor import blocks
from rankwood.data.stream import blocks as stream_blocks
from tests.fit.test_stream import REPLACED, SETTINGS, _rows

blocks.BLOCK = stream_blocks.BLOCK = 1000  # several blocks a pass
file, engine, kind, after = sys.argv[1:]
data = rw.stream_files(file, n_jobs=1)
passes, begun = data.blocks, [0]

def replaced_later():
    begun[0] += 1
    if begun[0] > int(after):
        was = os.stat(file)
        with open(file) as old:
            text = old.read()
        with open(file, "w") as new:
            new.write(REPLACED[kind](text))
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert os.stat(file).st_size == was.st_size
        begun[0] = -100
    return passes()

data.blocks = replaced_later
try:
    rw.Ranker(engine=engine, **SETTINGS).fit(data)
    print("trained", begun[0])
except rw.InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPLACED)
@pytest.mark.parametrize(("engine", "after"), [("lightgbm", 0), ("xgboost", 0), ("xgboost", 1)])
def test_a_file_that_is_replaced_by_one_of_the_same_size_and_time(engine, after, kind, tmp_path):
    file = tmp_path / "changing.txt"
    file.write_text(_rows(300, 1))
    command = [sys.executable, "-c", REPLACES, str(file), engine, kind, str(after)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert "changing.txt was changed after it was first read" in done.stdout


def test_every_pass_compares_what_it_reads(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK", 1000)
    file = tmp_path / "changing.txt"
    file.write_text(_rows(300, 1))
    for change in REPLACED.values():
        before, was = file.read_text(), os.stat(file)
        data = rw.stream_files(file)
        assert sum(len(X) for X in data.blocks()) == 300
        file.write_text(change(before))
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        with pytest.raises(rw.InputError, match=r"changing\.txt was changed after it was first"):
            list(data.blocks())
        file.write_text(before)
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert sum(len(X) for X in data.blocks()) == 300


def test_every_pass_compares_the_columns_that_it_reads(tmp_path):
    rng = np.random.default_rng(1)
    numbers = {"y": rng.integers(0, 3, 50), "q": np.arange(50) // 10}
    numbers |= {"a": rng.random(50), "b": rng.random(50)}
    file = tmp_path / "changing.parquet"
    pq.write_table(pa.table(numbers), file, compression="none")
    was, data = os.stat(file), rw.stream_files(file, y="y", qid="q")
    first = [X.copy() for X in data.blocks()]
    for change, whole, part in (
        ({"a": rng.random(50)}, False, True),
        ({"b": rng.random(50)}, False, False),
        ({"q": np.arange(50)[::-1] // 10}, False, False),
    ):
        pq.write_table(pa.table({**numbers, **change}), file, compression="none")
        same_size = os.stat(file).st_size == was.st_size
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert same_size  # or the test would test another thing
        for one, expected in ((data, whole), (data.with_features(["b"]), part)):
            if expected:
                np.testing.assert_array_equal(
                    np.concatenate(list(one.blocks()))[:, -1], np.concatenate(first)[:, -1]
                )
            else:
                with pytest.raises(rw.InputError, match="was changed after it was first read"):
                    list(one.blocks())


def test_the_widest_file_decides(tmp_path):
    for name, last in (("a", 2), ("b", 3), ("v", 4)):
        rows = [f"{i % 3} qid:{name}{i // 5} 1:{i % 7} {last}:{i % 4}\n" for i in range(60)]
        (tmp_path / name).write_text("".join(rows))
    for engine in ("xgboost", "lightgbm"):
        ranker = rw.Ranker(
            engine=engine,
            **{**SETTINGS, "min_child_samples": 1} if engine == "lightgbm" else SETTINGS,
        )
        ranker.fit([tmp_path / "a", tmp_path / "b"], valid=tmp_path / "v", stream=True)
        assert ranker.n_features_in_ == 4
        expected = rw.load_letor(tmp_path / "v", n_features=4)
        narrow = rw.stream_files(tmp_path / "a")
        assert ranker.predict(narrow).size == 60 and ranker.predict(expected).size == 60


def test_command_line(in_memory, folder, tmp_path, capsys):
    files = [str(folder / "a.txt"), str(folder / "b.txt")]
    options = "--engine xgboost --n-estimators 6 --num-leaves 7 --threads 1"
    options = [*options.split(), "--early-stopping-rounds", "4", "--quiet"]
    shared = [
        "train",
        *files,
        "--valid",
        str(folder / "v.txt"),
        "--model",
        str(tmp_path / "m.json"),
        *options,
    ]
    assert main([*shared, "--stream"]) == 0
    assert rw.Ranker.load(tmp_path / "m.json").model_.text == in_memory("xgboost").model_.text
    assert main([*shared, "--param", "grow_policy=depthwise"]) == 0  # all in memory
    assert rw.Ranker.load(tmp_path / "m.json").model_.text == in_memory("xgboost").model_.text
    columns = ["--y", "label", "--qid", "query", "--model", str(tmp_path / "p.json"), *options]
    assert main(["train", str(folder / "a.parquet"), "--stream", *columns]) == 0
    assert rw.Ranker.load(tmp_path / "p.json").feature_names_in_.size == 20
    assert main([*shared, "--stream", "--engine", "catboost", "--objective", "yetirank"]) == 1


def test_the_command_line_predicts_and_evaluates_parquet(folder, tmp_path, capsys):
    """The commands that `train` prints work as they are, also for a validation file of LETOR text."""
    model, columns = str(tmp_path / "p.json"), ["--y", "label", "--qid", "query"]
    few = ["--n-estimators", "3", "--threads", "1"]
    train = ["train", str(folder / "a.parquet"), "--stream", "--model", model, *few]
    assert main([*train, *columns, "--valid", str(folder / "v.txt"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    data = rw.stream_files(folder / "v.parquet", y="label", qid="query", sample=0)
    scores = rw.Ranker.load(model).predict(data)
    expected = rw.evaluate("ndcg@10", data, scores).mean()
    assert answer["valid_metrics"] == pytest.approx(expected, abs=1e-12)
    file, output = str(folder / "v.parquet"), str(tmp_path / "scores.txt")
    given = {"TEST": file, "scores.txt": output}
    for line in answer["next"]:
        words = [given.get(word, word) for word in shlex.split(line)[1:]]
        assert main([*words, "--threads", "1", "--json"]) == 0
    assert f'"ndcg@10": {expected["ndcg@10"]!r}' in capsys.readouterr().out
    assert [float(line) for line in Path(output).read_text().splitlines()] == scores.tolist()
    assert main(["evaluate", file, output, *columns, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == expected
    assert main(["predict", model, file, *columns, "--top", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * data.groups.ids.size
    refused = {
        "another kind of file: omit it": [
            "evaluate",
            str(folder / "v.txt"),
            model,
            *columns,
        ],
        "has no column 'labels', which y names": [
            "predict",
            model,
            file,
            "--y",
            "labels",
            *columns[2:],
        ],
        "names a column of a CSV or": ["train", str(folder / "a.txt"), *train[2:], *columns],
    }
    for message, words in refused.items():
        assert main(words) == 1
        assert message in capsys.readouterr().err


def test_models_of_numbered_features_take_parquet_by_position(sets, folder, tmp_path, capsys):
    ranker = rw.Ranker(n_estimators=2, n_jobs=1).fit(sets[0])
    ranker.save(tmp_path / "m.json")
    pq.write_table(table(sets[2]).drop_columns(["f19"]), tmp_path / "fewer.parquet")

    def predict(file):
        words = ["predict", str(tmp_path / "m.json"), str(file), "--y", "label", "--qid", "query"]
        return main(words), *capsys.readouterr()

    out = predict(folder / "v.parquet")[1]
    assert [float(line) for line in out.splitlines()] == ranker.predict(sets[2]).tolist()
    code, _, err = predict(tmp_path / "fewer.parquet")
    assert code == 1 and "has features up to 19, the model was trained on 20" in err


def test_validation_files_may_have_columns_of_their_own(sets, folder, tmp_path):
    renamed = table(sets[2]).rename_columns(["q", "relevance", *table(sets[2]).column_names[2:]])
    pq.write_table(renamed, tmp_path / "w.parquet")
    files, settings = folder / "a.parquet", {"y": "label", "qid": "query", "stream": True}

    def fit(valid):
        return rw.Ranker(**SETTINGS).fit(files, valid=valid, **settings)

    expected = fit(folder / "v.parquet")
    for valid in (
        (str(tmp_path / "w.parquet"), "relevance", "q"),
        ([tmp_path / "w.parquet"], "relevance", "q"),
        folder / "v.txt",  # LETOR text has its own
    ):
        assert same(fit(valid), expected)
    both = fit({"one": (tmp_path / "w.parquet", "relevance", "q"), "two": folder / "b.parquet"})
    assert both.history_["ndcg@10"] == expected.history_["ndcg@10"]
    with pytest.raises(rw.InputError, match=r"no\.parquet does not exist"):
        fit((folder / "v.parquet", folder / "b.parquet", tmp_path / "no.parquet"))


def test_too_little_memory_names_this_way(folder, monkeypatch):
    monkeypatch.setattr("rankwood.data.letor.memory_budget.available", lambda: 1000)
    with pytest.raises(
        rw.InputError,
        match=r"or train without loading it, with Ranker.fit\(\[path\], stream=True\)",
    ):
        rw.load_letor(folder / "a.txt")


@pytest.mark.parametrize("kind", ["txt", "txt.gz"])
def test_a_file_larger_than_memory_is_refused_at_its_first_block(
    kind, folder, tmp_path, monkeypatch, capsys
):
    """The rest of the file isn't read: it is broken, and nobody notices."""
    file = tmp_path / f"long.{kind}"
    opened = gzip.open if kind.endswith("gz") else open
    with opened(file, "wb") as out:
        out.write((folder / "a.txt").read_bytes() * 4 + b"broken\n")
    rows, features = 4 * (folder / "a.txt").read_bytes().count(b"\n"), 20
    monkeypatch.setattr(text_blocks, "BLOCK", 1 << 14)
    with pytest.raises(rw.InputError, match="broken"):
        rw.load_letor(file, n_jobs=1)
    text = 4 * (folder / "a.txt").stat().st_size
    known = file.stat().st_size / text  # the text of a packed file is at least as long as the file
    free = 0.8 * 4 * rows * features * min(1, known)
    monkeypatch.setattr("rankwood.data.letor.memory_budget.available", lambda: free)
    with pytest.raises(
        rw.InputError, match=r"doesn't fit in memory: .*fit\(\[path\], stream=True"
    ) as caught:
        rw.load_letor(file, n_jobs=1)
    found = float(
        re.search(r"about ([\d,]+) documents of 20 feat", str(caught.value))[1].replace(",", "")
    )
    assert 0.9 < found / (rows * known) < 1.1
    assert main(["train", str(file), "--model", str(tmp_path / "m.json"), "--threads", "1"]) == 1
    assert "rankwood train --stream" in capsys.readouterr().err


def test_a_disk_without_room_for_the_bins_is_noticed_before_training(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = rw.stream_files(folder / "a.txt")
    usage = shutil.disk_usage(tmp_path)
    most = 2 * len(data) * data.n_features
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=most - 1))
    ranker = rw.Ranker(**SETTINGS, engine="xgboost")
    with pytest.raises(
        rw.InputError, match=r"files of about .* GiB, and the temporary folder .* has .* GiB free"
    ):
        ranker.fit(data)
    assert not list(tmp_path.iterdir()) and not hasattr(ranker, "model_")
    sizes = []
    held = xgboost_streams.xgb.ExtMemQuantileDMatrix

    def noted(*given, **options):
        made = held(*given, **options)
        sizes.append(sum(one.stat().st_size for one in tmp_path.rglob("*.page")))
        return made

    monkeypatch.setattr(xgboost_streams.xgb, "ExtMemQuantileDMatrix", noted)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=most))
    ranker.fit(data)
    assert sizes[0] >= most  # as much as was foreseen, or more


def test_a_full_disk_at_the_sample_is_an_error_of_one_sentence(folder, monkeypatch):
    def full(number, offset, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(rw.InputError, match=r"the sample of rows .* MiB .*No space left on device"):
        rw.stream_files(folder / "a.txt")


def test_every_pass_has_a_progress_bar(folder, monkeypatch):
    """Of the files first, then of documents; each ends before the next begins, and with all steps."""
    bars = []

    @contextmanager
    def bar(total, title, show):
        assert show is False and not any(one["open"] for one in bars)
        bars.append({"title": title, "total": total, "done": 0, "open": True})
        own = bars[-1]
        yield lambda note, steps=1: own.update(done=own["done"] + steps)
        own["open"] = False

    monkeypatch.setattr("rankwood.data.stream.passes.bar", bar)
    monkeypatch.setattr("rankwood.fit.observers.progress.bar", bar)
    files = [folder / "a.txt", folder / "b.txt"]
    documents = len(rw.stream_files(files, verbose=False))
    for engine in ("xgboost", "lightgbm"):
        del bars[:]
        rw.Ranker(**{**SETTINGS, "n_estimators": 2}, engine=engine, verbose=False).fit(
            files, stream=True
        )
        passes = ["Reading features"] * (2 if engine == "xgboost" else 1)
        assert [one["title"] for one in bars][:-1] == ["Reading labels", *passes]
        assert all(one["done"] == one["total"] and not one["open"] for one in bars)
        assert bars[0]["total"] == 2 and bars[1]["total"] == documents


@pytest.mark.parametrize("engine", ["xgboost", "lightgbm"])
def test_an_interrupt_leaves_no_files(engine, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def stop(ranker, *_):
        seen.extend(tmp_path.rglob("*"))
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwood.fit.loop._train", stop)
    with pytest.raises(KeyboardInterrupt):
        rw.Ranker(**SETTINGS, engine=engine).fit(folder / "a.txt", stream=True)
    assert any(one.suffix == ".page" for one in seen) == (engine == "xgboost")
    assert not list(tmp_path.iterdir())


def test_parquet_columns_may_be_in_any_order_and_a_query_in_two_files(sets, folder, tmp_path):
    columns = {"y": "label", "qid": "query"}
    params = {**SETTINGS, **ENGINES["xgboost"]}
    whole = table(sets[0])
    cut = int(sets[0].groups.ptr[7]) + 2  # inside of a query
    pq.write_table(whole[:cut], tmp_path / "one.parquet")
    pq.write_table(whole[cut:].select(whole.column_names[::-1]), tmp_path / "two.parquet")
    files = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    expected = rw.Ranker(**params).fit(folder / "a.parquet", **columns, stream=True)
    found = rw.Ranker(**params).fit(files, **columns, stream=True)
    assert same(found, expected)
    data = rw.stream_files(files, **columns)
    values = rw.evaluate("ndcg@10", data, found.predict(data)).per_query["ndcg@10"]
    in_memory = rw.evaluate("ndcg@10", sets[0], expected.predict(whole.select(data.feature_names)))
    assert values.tolist() == in_memory.per_query["ndcg@10"].tolist()
    assert found.score(data) == pytest.approx(np.mean(values), abs=1e-12)


def test_labels_and_tables_that_cannot_be_used(tmp_path):
    columns = {"y": "label", "qid": "query"}
    bad = {
        r"bad\.parquet, rows 0 to 1: column 'label' must not be negative, got -1": {
            "label": [0.0, -1.0],
            "query": [1, 1],
        },
        "column 'label' must not be missing": {"label": [0.0, None], "query": [1, 1]},
        "qid must not be missing, but it is at row 1": {"label": [0.0, 1.0], "query": [1, None]},
        "holds no documents, expected at least one row": {"label": [], "query": []},
        "has no features: its only columns are y and qid": None,
    }
    for message, content in bad.items():
        made = pa.table({"label": [1.0], "query": [1]} if content is None else content)
        if content is not None:
            made = made.append_column("f", pa.array(np.arange(made.num_rows, dtype=float)))
        pq.write_table(made, tmp_path / "bad.parquet")
        with pytest.raises(rw.InputError, match=message):
            rw.stream_files(tmp_path / "bad.parquet", **columns)


def test_files_are_labelled_data_like_any_other(sets, tmp_path):
    """What needs labels and queries alone takes files as well as data in memory."""
    train, _, valid = sets
    rw.save_letor(train, tmp_path / "train.txt")
    rw.save_letor(valid, tmp_path / "valid.txt")
    files, held_out = (rw.stream_files([tmp_path / f"{n}.txt"]) for n in ("train", "valid"))
    assert [str(q) for q in files.qid] == [str(q) for q in train.qid]
    ranker = rw.Ranker(**SETTINGS).fit(files, eval_set=[held_out])
    assert ranker.history_ == rw.Ranker(**SETTINGS).fit(files, valid=held_out).history_
    scores = ranker.predict(held_out)
    rw.save_run(held_out, scores, tmp_path / "run.txt")
    rw.save_qrels(held_out, tmp_path / "qrels.txt")
    judged = rw.evaluate(
        "ndcg@10", rw.load_qrels(tmp_path / "qrels.txt"), rw.load_run(tmp_path / "run.txt")
    )
    assert judged.mean() == rw.evaluate("ndcg@10", held_out, scores).mean()
    with pytest.raises(rw.InputError, match="omit qid and group"):
        ranker.predict(held_out, qid=[1])
    stages = rw.TwoStage(rw.Ranker(**SETTINGS), rw.Ranker(**SETTINGS), folds=2, top=3).fit(train)
    with pytest.raises(rw.InputError, match="in memory"):
        stages.predict(held_out)
