"""Reading and writing LETOR text."""

import gzip
import io
import os
import random
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from rankwood._kernels.compile import jit as compile
from rankwood._util import memory
from rankwood._util.checks import InputError
from rankwood.data.comments import Comments
from rankwood.data.letor import blocks as _letor_blocks
from rankwood.data.letor import load_letor, read_letor, save_letor
from rankwood.data.letor import memory_budget as _letor_budget
from rankwood.data.letor import read as _letor_read
from rankwood.data.letor.rounding import nearest_float32
from rankwood.data.ranking_data import RankingData
from tests.helpers.examples import examples
from tests.helpers.paths import ROOT
from tests.oracles.naive_letor import naive_letor, nearest32

REAL = ROOT.parent / "shared" / "data"
SLOW = 1 if compile.JIT else 10  # how much less to do without compiled code
many = examples(
    200 // SLOW,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def file(tmp_path):
    return lambda text, name="a.txt": put(tmp_path / name, text)


def values(file, texts: list[str]) -> np.ndarray:
    """Read one value per row."""
    text = "".join(f"0 qid:1 1:{value}\n" for value in texts)
    return read_letor(file(text)).X[:, 0]


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(
        ((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))).all()
    )


def data(X, y=None, qid=None, comments=None):
    n = X.shape[0]
    y = np.zeros(n) if y is None else y
    qid = np.zeros(n, np.int64) if qid is None else qid
    return SimpleNamespace(X=X, y=y, qid=qid, comments=comments)


# Reading


def test_reads_a_small_file(file):
    got = read_letor(
        file("2 qid:10 1:0.5 3:-1e2 #docid = A1 inc = 1\n0 qid:10 2:3\n1 qid:7 1:nan\n")
    )
    assert got.X.dtype == np.float32 and got.X.flags.c_contiguous
    assert got.y.dtype == np.float64 and got.qid.dtype == np.int64
    np.testing.assert_array_equal(got.X, [[0.5, 0, -100], [0, 3, 0], [np.nan, 0, 0]])
    assert got.y.tolist() == [2, 0, 1] and got.qid.tolist() == [10, 10, 7]
    assert list(got.comments) == ["docid = A1 inc = 1", "", ""]


def test_loads_and_saves_ranking_data(file, tmp_path):
    got = load_letor(file("2 qid:b 1:0.5 2:nan # docid = A\n0 qid:a 2:3\n1 qid:b 1:1\n"))
    assert isinstance(got, RankingData)
    assert got.qid.tolist() == ["b", "a", "b"] and got.y.tolist() == [2, 0, 1]
    save_letor(got, tmp_path / "b.txt")
    want = "2 qid:b 1:0.5 2:nan # docid = A\n0 qid:a 1:0 2:3\n1 qid:b 1:1 2:0\n"
    assert (tmp_path / "b.txt").read_text() == want
    again = load_letor(tmp_path / "b.txt")
    assert same_bits(again.X, got.X) and again.comments == got.comments


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff1 qid:1 1:2 2:3 # x\n0 qid:1 1:4\n",
        "1 qid:1 1:2 2:3 # x\r\n0 qid:1 1:4\r\n",
        "\n\n# a file\n1 qid:1 1:2 2:3 # x\n   \n\t# more\n0 qid:1 1:4\n\n",
        "\t1\tqid:1   1:2\t\t2:3   #x  \n  0  qid:1 1:4  ",
        "1 qid:1 2:3 1:2# x\n0 qid:1 1:+4.#",
        "1. qid:1 1:.2e1 2:0.003E+3#x\n0e5 qid:1 1:40e-1 2:0",
    ],
)
def test_spacing_comments_and_line_ends_do_not_matter(file, text):
    got = read_letor(file(text))
    assert got.X.tolist() == [[2, 3], [4, 0]]
    assert got.y.tolist() == [1, 0] and got.qid.tolist() == [1, 1]
    assert list(got.comments) == ["x", ""]


def test_absent_features_are_zero_or_nan(file):
    path = file("0 qid:1 2:5\n")
    assert read_letor(path).X.tolist() == [[0, 5]]
    np.testing.assert_array_equal(read_letor(path, absent=float("nan")).X, [[np.nan, 5]])
    for wrong in (1.0, float("inf"), "nan"):
        with pytest.raises(InputError, match="absent must be 0 or NaN"):
            read_letor(path, absent=wrong)


def test_n_features_widens_and_limits(file):
    path = file("0 qid:1 2:5\n1 qid:1 4:5\n")
    assert read_letor(path, n_features=6).X.shape == (2, 6)
    assert read_letor(path, n_features=4).X.shape == (2, 4)
    with pytest.raises(
        InputError, match=r"line 2: feature 4 .* above 3, the number of features expected"
    ):
        read_letor(path, n_features=3)
    with pytest.raises(InputError, match="n_features must be at least 1"):
        read_letor(path, n_features=0)


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["3", "1", "-2", "0", "999999999999999999"], "i"),
        (["3", "q1"], "U"),
        (["007", "7"], "U"),
        (["-0", "1"], "U"),
        (["99999999999999999999", "1"], "U"),
        (["Zürich:1", "2"], "U"),
        (["-", "2"], "U"),
    ],
)
def test_query_ids_are_integers_if_all_of_them_are(file, ids, kind):
    got = read_letor(file("".join(f"0 qid:{i} 1:1\n" for i in ids))).qid
    assert got.dtype.kind == kind
    assert [str(i) for i in got] == ids


def test_query_ids_of_later_blocks_may_be_text(file, monkeypatch):
    monkeypatch.setattr(_letor_blocks, "BLOCK", 16)
    got = read_letor(file("0 qid:1 1:1\n" * 5 + "0 qid:longer 1:1\n"))
    assert got.qid.tolist() == ["1"] * 5 + ["longer"]


def test_no_comments_no_object(file):
    assert read_letor(file("0 qid:1 1:1\n0 qid:1 1:1 #\n# not of a row\n")).comments is None


def test_the_marker_of_istella_is_an_option(file):
    marks = ["1.79769313486231570e+308", "-1.797e308", "1.797E+308", "17970" + "0" * 304, "1e400"]
    path = file("".join(f"0 qid:1 1:{m}\n" for m in marks) + "0 qid:1 1:3\n")
    np.testing.assert_array_equal(read_letor(path, marker=True).X[:, 0], [np.nan] * 5 + [3])
    with pytest.raises(InputError, match=r"line 1: .*beyond the range of float32.*marker=True"):
        read_letor(path)
    for other in ("1.79699e308", "1e300", "3.5e38"):
        with pytest.raises(InputError, match=r"line 1: .*beyond the range"):
            read_letor(file(f"0 qid:1 1:{other}\n"), marker=True)


# Numbers


def hard_texts() -> list[str]:
    """Decimal numbers at, and one last digit beside, the middle between two float32."""
    rng = random.Random(5)
    seeds = [1 + 2.0**-24, 1 + 3 * 2.0**-24, 2.0**-150, 3 * 2.0**-150, 2.0**-149, 2.0**-126]
    for _ in range(300 // SLOW):
        units, power = rng.randrange(2**23, 2**24), rng.randrange(-149, 100)
        seeds.append((2 * units + 1) * 2.0 ** (power - 1))
    texts = []
    for seed in seeds:
        digits = f"{seed:.200f}".rstrip("0")
        low = digits[:-1] + "4999" if digits[-1] == "5" else digits + "0"
        texts += [digits, digits + "0001", low, "-" + digits, digits + "0" * 30 + "1"]
        texts += [f"{seed:.{n}e}" for n in (5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 25)]
    return [t for t in texts if abs(float(t)) < 3.4e38]


def test_values_beside_a_tie_are_rounded_once(file):
    texts = [t + "0" if t.endswith(".") else t for t in hard_texts()]
    want = np.array([nearest32(t) for t in texts], np.float32)
    assert same_bits(values(file, texts), want)
    assert same_bits(np.array([nearest_float32(t) for t in texts]), want)


def test_ends_of_the_range(file):
    tiny, top = "1.401298464324817e-45", "340282346638528859811704183484516925440"
    under = "0.00000000000000000000000000000000000000000000070064923216240853546186479164495806564"
    texts = [
        tiny,
        under,
        under + "013",
        "1e-46",
        "1e-400",
        "-1e-999999999999",
        top,
        "-3.40282355e38",
    ]
    texts += ["0", "-0", "-0.000", "0e999", "00000000000000000000000001.5", "1" + "0" * 30 + "e-30"]
    texts += [
        "0." + "0" * 40 + "123456789e+30",
        "123456789012345678901234567890",
        "9" * 5000 + "e-4999",
    ]
    want = np.array([nearest32(t if len(t) < 4000 else "10") for t in texts[:5]], np.float32)
    got = values(file, texts)
    assert same_bits(got[:5], want)
    rest = [np.float32(-0.0), *[nearest32(t) for t in texts[6:-1]], np.float32(10)]
    assert same_bits(got[5:], np.array(rest, np.float32))
    with pytest.raises(InputError, match="beyond the range"):
        values(file, ["3.4028236e38"])


decimals = st.builds(
    lambda sign, whole, part, power: (
        sign
        + whole
        + (f".{part}" if part is not None else "")
        + ("" if power is None else f"e{power}")
    ),
    st.sampled_from(["", "-"]),
    st.text("0123456789", min_size=1, max_size=25),
    st.none() | st.text("0123456789", min_size=1, max_size=30),
    st.none() | st.integers(-60, 12),
)


@many
@given(st.lists(decimals, min_size=1, max_size=30))
@example(["1.000000059604644775390625", "1.00000017881393432617187500", "0.1", "16777217"])
def test_any_decimal_is_rounded_to_the_nearest(file, texts):
    assert same_bits(values(file, texts), np.array([nearest32(t) for t in texts], np.float32))


@many
@given(
    st.lists(
        st.floats(0, 1e300).map(repr)
        | st.integers(0, 10**25).map(str)
        | decimals.map(lambda t: t.lstrip("-")),
        min_size=1,
        max_size=20,
    )
)
@example(["0.1", "0.3", "2.675", "9007199254740993", "1e22", "1e23", "123456789e-22", "5e-324"])
def test_labels_are_exact_doubles(file, texts):
    got = read_letor(file("".join(f"{t} qid:1 1:1\n" for t in texts))).y
    assert got.tolist() == [float(t) for t in texts]


# Random files against the naive reader


def random_text(seed: int) -> str:
    rng = random.Random(seed)
    lines = []
    blanks = [" ", " ", " ", "\t", "  ", " \t "]
    for _ in range(rng.randrange(1, 40)):
        roll = rng.random()
        if roll < 0.1:
            lines.append(rng.choice(["", "  ", "# only a comment", "\t#"]))
            continue
        chosen = rng.sample(range(1, 13), rng.randrange(0, 8))
        numbers = [
            rng.choice(
                [
                    "0",
                    "nan",
                    "NULL",
                    "?",
                    "null?",
                    "N/A",
                    f"{rng.gauss(0, 9):.6f}",
                    f"{rng.random():.9g}",
                ]
            )
            for _ in chosen
        ]
        tokens = [str(rng.randrange(5)), f"qid:{rng.choice(['1', '22', 'a-b'])}"]
        tokens += [f"{i}:{v}" for i, v in zip(chosen, numbers, strict=True)]
        line = rng.choice(["", "", " "]) + "".join(t + rng.choice(blanks) for t in tokens)
        lines.append(line + rng.choice(["", "", "#", "# docid = x y ", "#é#"]))
    lines.append("1 qid:1 13:1")
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


@pytest.mark.parametrize("seed", range(20 // SLOW))
def test_random_files_read_like_the_naive_reader(file, monkeypatch, seed):
    text = random_text(seed)
    monkeypatch.setattr(_letor_blocks, "BLOCK", [16, 100, 1000, 2 << 20][seed % 4])
    absent = 0.0 if seed % 3 else float("nan")
    missing = ("?", "Null?", "n/a")
    X, y, qid, comments = naive_letor(text, absent, missing)
    path = file(gzip.compress(text.encode(), mtime=0) if seed % 2 else text)
    got = read_letor(path, absent=absent, missing=missing, n_jobs=1 + seed % 3)
    assert same_bits(got.X, X)
    assert got.y.tolist() == y.tolist() and [str(q) for q in got.qid] == qid
    assert (list(got.comments) if got.comments else [""] * len(qid)) == comments


@pytest.mark.skipif(
    not REAL.exists(),
    reason="needs real data sets beside the checkout; they are not part of the repository",
)
@pytest.mark.parametrize("name", ["mq2008/S1.txt", "mslr-sample/all.txt.gz"])
def test_real_files_read_like_scikit_learn(name, file):
    from sklearn.datasets import load_svmlight_file

    path = REAL / name
    if SLOW > 1:  # the first lines do
        opener = gzip.open if name.endswith(".gz") else open
        with opener(path, "rb") as lines:
            path = file(b"".join(next(lines) for _ in range(100)))
    got = read_letor(path)
    X, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    np.testing.assert_array_equal(got.X, X.toarray().astype(np.float32))
    np.testing.assert_array_equal(got.y, y)
    np.testing.assert_array_equal(got.qid, qid)


# Blocks


def test_lines_longer_than_a_block_and_many_blocks(file, monkeypatch):
    monkeypatch.setattr(_letor_blocks, "BLOCK", 64)
    wide = " ".join(f"{i}:{i}" for i in range(1, 500))
    text = "0 qid:1 1:7 # short\n" + f"1 qid:2 {wide} # long\n" + "2 qid:3 2:5\n" * 50
    for jobs in (1, 2, 5):
        got = read_letor(file(text), n_jobs=jobs)
        assert got.X.shape == (52, 499)
        assert got.X[0].sum() == 7 and got.X[1].tolist() == list(range(1, 500))
        assert (got.X[2:, 1] == 5).all() and got.X[2:].sum() == 250
        assert got.qid.tolist() == [1, 2] + [3] * 50
        assert list(got.comments)[:3] == ["short", "long", ""]


@pytest.mark.parametrize("block", [1, 2, 11, 12, 13, 29, 72, 144])
def test_where_blocks_end_does_not_matter(file, monkeypatch, block):
    monkeypatch.setattr(_letor_blocks, "BLOCK", block)
    for end in ("", "\n", "\n\n"):
        got = read_letor(file("\n".join(f"{i} qid:1 1:{i}" for i in range(6)) + end), n_jobs=2)
        assert got.y.tolist() == got.X[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_gzip_is_known_by_its_bytes(file):
    text = b"0 qid:1 1:1\n1 qid:1 1:2\n"
    for name in ("a.txt", "a.gz"):
        assert read_letor(file(text, name)).y.tolist() == [0, 1]
        assert read_letor(file(gzip.compress(text, mtime=0), name)).y.tolist() == [0, 1]
    members = gzip.compress(text[:15], mtime=0) + gzip.compress(text[15:])
    assert read_letor(file(members)).y.tolist() == [0, 1]


def test_a_file_that_changes_while_read_is_refused(file, monkeypatch):
    path = file("0 qid:1 1:1\n")
    fill = _letor_blocks.BlockReader.fill

    def late(self, buf):
        with open(path, "a") as more:
            more.write("0 qid:1 1:1\n")
        return fill(self, buf)

    monkeypatch.setattr(_letor_blocks.BlockReader, "fill", late)
    with pytest.raises(InputError, match="changed while it was read"):
        read_letor(path)


def test_a_file_that_is_overwritten_with_its_time_restored_is_refused(file, monkeypatch):
    path = file("0 qid:1 1:1\n" * 9)
    monkeypatch.setattr(_letor_blocks, "BLOCK", 16)
    fill = _letor_blocks.BlockReader.fill

    def late(self, buf):
        if self.number == 1:
            stat = path.stat()
            with open(path, "r+b") as same:
                same.write(b"4")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        return fill(self, buf)

    monkeypatch.setattr(_letor_blocks.BlockReader, "fill", late)
    with pytest.raises(InputError, match="changed while it was read"):
        read_letor(path, n_jobs=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes, which Windows lacks")
def test_named_pipes_are_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = b"0 qid:1 1:1\n" * 9

    def feed() -> None:
        with open(path, "wb") as pipe:
            for _ in range(3):
                pipe.write(text)
                pipe.flush()
                time.sleep(0.01)  # so that the time of the pipe moves on

    writer = threading.Thread(target=feed)
    writer.start()
    try:
        assert len(read_letor(path).y) == 27
    finally:
        writer.join()


class Endless(io.RawIOBase):
    """A file without an end, which counts what was read of it."""

    def __init__(self, byte: bytes) -> None:
        self.byte, self.taken = byte, 0

    def readinto(self, out) -> int:
        out[:] = self.byte * len(out)
        self.taken += len(out)
        return len(out)


@pytest.mark.parametrize(
    ("byte", "most", "message"),
    [(b"\0", 64, "line 1: there is a zero byte"), (b"1", 2048, "line 1: the line has no end")],
)
def test_memory_for_a_line_without_an_end_is_bounded(monkeypatch, byte, most, message):
    monkeypatch.setattr(_letor_blocks, "BLOCK", 64)
    monkeypatch.setattr(_letor_blocks, "LONGEST_LINE", 1000)
    source = Endless(byte)
    reader = _letor_blocks.BlockReader(source, "endless")
    buf = bytearray()
    assert reader.fill(buf) is None
    assert message in str(reader.errors[0])
    assert source.taken <= most and len(buf) <= most + 1


# Words for a missing value


def test_null_is_missing_by_default_and_other_words_by_option(file):
    path = file("1 qid:1 1:NULL 2:0.5\n0 qid:1 1:nULL#NULL\n0 qid:1 2:NaN 1:3")
    nan = float("nan")
    assert same_bits(
        read_letor(path).X, np.array([[nan, 0.5], [nan, 0], [3, nan]], dtype=np.float32)
    )
    path = file("1 qid:1 1:? 2:- 3:inf\n0 qid:1 1:+ 2:é 3:É4\n")
    got = read_letor(path, missing=["?", "-", "INF", "+", "é", "É4"])
    assert np.isnan(got.X).all() and got.X.shape == (2, 3)
    assert np.isnan(read_letor(file("1 qid:1 1:NA\n"), missing="na").X).all()
    with pytest.raises(InputError, match="'É', expected a number"):
        read_letor(file("1 qid:1 1:É\n"), missing="é")  # only A to Z have a lower case here


def test_a_missing_value_widens_the_matrix(file):
    got = read_letor(file("1 qid:1 1:1\n0 qid:1 3:NULL\n"))
    assert same_bits(got.X, np.array([[1, 0, 0], [0, 0, float("nan")]], dtype=np.float32))


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (5, "missing must be a list of words, such as"),
        ([1.5], "missing must be a list of words"),
        (["a b"], "'a b' can't stand for a value"),
        ([""], "'' can't stand for a value"),
        (["#"], "'#' can't stand for a value"),
        (["-999"], "'-999' is a number, expected a word"),
        ([".5E+3"], "is a number"),
        (["\ud800"], "is not text that UTF-8 has"),
    ],
)
def test_words_that_can_not_be_used(file, missing, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_letor(file("0 qid:1 1:1\n"), missing=missing)


# Faults

GOOD = "0 qid:1 1:1\n\n# note\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("qid:1 1:2", "starts with 'qid:1', expected a label"),
        ("1:2 2:3", "starts with '1:2', expected a label"),
        ("abc qid:1 1:2", "starts with 'abc', expected a label"),
        ("nan qid:1 1:2", "starts with 'nan', expected a label"),
        ("inf qid:1 1:2", "starts with 'inf', expected a label"),
        ("1e qid:1 1:2", "starts with '1e', expected a label"),
        ("1x qid:1 1:2", "starts with '1x', expected a label"),
        ("-1 qid:1 1:2", "label '-1' is negative"),
        ("1e999 qid:1 1:2", "label '1e999' is too large"),
        ("1 1:2", "after the label comes '1:2', expected a query id"),
        ("1", "after the label comes nothing, expected a query id"),
        ("1 #qid:1", "after the label comes nothing, expected a query id"),
        ("1 qid: 1:2", "'qid:' has nothing behind it"),
        ("1 qid:1 12:", "value in '12:' is '', expected a number"),
        ("1 qid:1 abc", "'abc' is not a feature, expected 'index:value'"),
        ("1 qid:1 3:x", "value in '3:x' is 'x', expected a number"),
        ("1 qid:1 3:1.2.3", "value in '3:1.2.3' is '1.2.3'"),
        ("1 qid:1 3:--1", "value in '3:--1' is '--1'"),
        ("1 qid:1 3:.", "value in '3:.' is '.'"),
        ("1 qid:1 3:1e+", "value in '3:1e+' is '1e+'"),
        ("1 qid:1 3:0x1", "value in '3:0x1' is '0x1'"),
        ("1 qid:1 3:nano", "value in '3:nano' is 'nano'"),
        ("1 qid:1 3:na", "is 'na', expected a number such as '3:0.25'; if it means"),
        ("1 qid:1 3:NULLS", "value in '3:NULLS' is 'NULLS'"),
        ("1 qid:1 3:NUL", "value in '3:NUL' is 'NUL'"),
        ("1 qid:1 3:-NULL", "value in '3:-NULL' is '-NULL'"),
        ("NULL qid:1 1:2", "starts with 'NULL', expected a label"),
        ("1 qid:1 3:NULL 3:NULL", "feature 3 comes a second time as '3:NULL'"),
        ("1 qid:1 3:-inf", "value in '3:-inf' is infinite, expected a finite number"),
        ("1 qid:1 3:Infinity", "is infinite, expected a finite number"),
        ("1 qid:1 :4", "':4' is not a feature"),
        ("1 qid:1 3 4", "'3' is not a feature"),
        ("1 qid:1 +3:4", "'+3:4' is not a feature"),
        ("1 qid:1 0:4", "feature index in '0:4' is '0', expected 1 to 2147483648"),
        ("1 qid:1 2147483649:4", "feature index in '2147483649:4'"),
        ("1 qid:1 99999999999999999999999:4", "feature index in '99999999999999999999999:4'"),
        ("1 qid:1 3:4 2:1 3:4", "feature 3 comes a second time as '3:4'"),
        ("1 qid:1 3:1e39", "value '1e39' is beyond the range of float32"),
        ("1 qid:1 3:" + "9" * 60, "…' is beyond the range of float32"),
    ],
)
@pytest.mark.parametrize("block", [8, 2 << 20])
def test_faults_name_file_line_and_text(file, monkeypatch, line, message, block):
    monkeypatch.setattr(_letor_blocks, "BLOCK", block)
    path = file(GOOD + line + "\n" + "0 qid:1 1:1\n" * 3 + "bad\n")
    with pytest.raises(InputError) as caught:
        read_letor(path)
    said = str(caught.value)
    assert said.startswith(f"{path}, line 4: ") and message in said
    assert said.endswith(".") and "\n" not in said


def test_the_first_fault_of_many_is_named(file, monkeypatch):
    monkeypatch.setattr(_letor_blocks, "BLOCK", 40)
    text = "0 qid:1 1:1\n" * 30 + "0 qid:1 1:1e99\n" + "0 qid:1 1:x\n" * 50
    for jobs in (1, 2, 4):
        with pytest.raises(InputError, match="line 31: the value '1e99'"):
            read_letor(file(text), n_jobs=jobs)


def test_many_hard_values_in_one_block(file):
    texts = [f"1.000000059604644775390625{i:04d}" for i in range(2000 // SLOW)]
    assert same_bits(values(file, texts), np.array([nearest32(t) for t in texts], np.float32))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no documents"),
        (b"\n# nothing\n", "holds no documents"),
        (gzip.compress(b"", mtime=0), "holds no documents"),
        (
            b"0 qid:1 1:1\n0 qid:1 \0:1\n",
            "line 2: there is a zero byte, so this looks like a binary",
        ),
        ("0 qid:1 1:1\n".encode("utf-16"), "line 1: there is a zero byte"),
        (gzip.compress(b"0 qid:1 1:1\n" * 1000, mtime=0)[:-12], "can't be decompressed"),
        (b"\x1f\x8b no gzip at all", "can't be decompressed"),
        (gzip.compress(b"0 qid:1 1:1\n", mtime=0)[:-8] + bytes(8), "can't be decompressed"),
        (gzip.compress(b"0 qid:1 1:1\n", mtime=0) + b"rubbish", "can't be decompressed"),
        (b"0 qid:\xff\xfe 1:1\n", r"line 1: the query id b'\xff\xfe' is not UTF-8"),
    ],
)
def test_files_that_are_no_text_are_refused(file, content, message):
    path = file(content)
    with pytest.raises(InputError) as caught:
        read_letor(path)
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def test_missing_files_and_directories(tmp_path):
    with pytest.raises(InputError, match="no file name has a zero byte"):
        load_letor("a\0b")
    with pytest.raises(InputError, match=r"none\.txt does not exist"):
        read_letor(tmp_path / "none.txt")
    with pytest.raises(InputError, match="is a directory"):
        read_letor(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_letor(str(tmp_path / "none.txt"), cache=True)


def test_a_matrix_that_would_not_fit_is_refused(file, monkeypatch):
    path = file("0 qid:1 1:1\n0 qid:1 1:1 2147483648:1\n" + "0 qid:1 3:1\n" * 9)
    with pytest.raises(InputError, match=r"line 2: the largest feature index is 2147483648 .* GiB"):
        read_letor(path)
    monkeypatch.setattr(_letor_budget, "available", lambda: 1000.0)
    with pytest.raises(InputError, match=r"n_features=50: .*GiB"):
        read_letor(file("0 qid:1 3:1\n" * 9), n_features=50)


@pytest.fixture
def asked(monkeypatch):
    """Sizes of what a reader asks for: pages, and columns of what each thread needs."""
    sizes = []
    pages, clear = _letor_read.allocate_pages, _letor_read.ParseScratch.clear

    def noted_pages(count, dtype):
        sizes.append(count)
        return pages(count, dtype)

    def noted_clear(self, width):
        sizes.append(width)
        return clear(self, width)

    monkeypatch.setattr(_letor_read, "allocate_pages", noted_pages)
    monkeypatch.setattr(_letor_read.ParseScratch, "clear", noted_clear)
    return sizes


@pytest.mark.parametrize("free", [1e9, 20e9, 39 * 2**30 / 0.8])
def test_a_huge_index_is_refused_before_anything_is_allocated(file, monkeypatch, asked, free):
    monkeypatch.setattr(_letor_budget, "available", lambda: free)
    path = file("0 qid:1 1:1\n1 qid:1 2147483648:1\n")
    with pytest.raises(InputError) as caught:
        load_letor(path)
    said = str(caught.value)
    # Two rows, a copy of both while they are put together, and the thread's own row: 8 GiB each.
    assert said.startswith(f"{path}, line 2: the largest feature index is 2147483648 and ")
    assert "about 40.0 GiB" in said and f"at most {0.8 * free / 2**30:.1f} GiB" in said
    assert asked and max(asked) < 1e7


def test_a_huge_index_is_refused_on_any_machine(file, asked):
    path = file("0 qid:1 1:1\n" * 5000 + "1 qid:1 2147483648:1\n")
    with pytest.raises(InputError, match=r"line 5001: the largest feature index is 2147483648 "):
        load_letor(path)
    with pytest.raises(InputError, match=r"n_features=2147483648: .* GiB"):
        load_letor(path, n_features=2**31)
    assert asked and max(asked) < 1e7


def test_memory_that_the_system_refuses_is_told_in_the_same_sentence(file, monkeypatch):
    pages = _letor_read.allocate_pages

    def refusing(count, dtype):
        if dtype is np.float32 and count > 100:
            raise MemoryError
        return pages(count, dtype)

    path = file("0 qid:1 1:1\n1 qid:1 70:1\n")
    monkeypatch.setattr(_letor_read, "allocate_pages", refusing)
    with pytest.raises(InputError, match=r"a.txt, line 2: the largest feature index is 70 .* GiB"):
        load_letor(path)
    with pytest.raises(InputError, match=r"can't be read with n_features=80: .* GiB"):
        load_letor(path, n_features=80)
    monkeypatch.setattr(_letor_read, "allocate_pages", pages)
    monkeypatch.setattr(_letor_read, "join", lambda *_: refusing(101, np.float32))
    with pytest.raises(InputError, match=r"a.txt, line 2: the largest feature index is 70 .* GiB"):
        load_letor(path)
    with pytest.raises(MemoryError):
        pages(2**62, np.float32)


def test_available_memory_is_what_machine_and_group_leave(tmp_path, monkeypatch):
    info, groups = put(tmp_path / "info", "MemTotal: 9 kB\nMemAvailable: 4000 kB\n"), tmp_path / "g"
    for name, path in (("_MEMINFO", info), ("_GROUPS", groups), ("_MOUNT", tmp_path)):
        monkeypatch.setattr(memory, name, str(path))
    assert memory.available() == 4000 * 1024  # there are no groups
    inner = tmp_path / "memory" / "a" / "b"
    inner.mkdir(parents=True)
    put(groups, "7:cpu:/\n4:memory:/a/b\n0::/c\n")
    put(inner.parent / "memory.limit_in_bytes", "1000000\n")
    put(inner.parent / "memory.usage_in_bytes", "300000\n")
    put(inner.parent / "memory.stat", "cache 7\ntotal_inactive_file 50000\n")
    assert memory.available() == 750_000
    (tmp_path / "c").mkdir()
    put(tmp_path / "c" / "memory.max", "max\n")
    put(tmp_path / "c" / "memory.current", "100\n")
    assert memory.available() == 750_000
    put(tmp_path / "c" / "memory.max", "500\n")
    put(tmp_path / "c" / "memory.stat", "inactive_file 20\n")
    assert memory.available() == 420
    put(info, "")
    put(groups, "")
    assert memory.available() == memory._physical() > 1e8


def test_a_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource", reason="this system has no limits of processes")
    monkeypatch.setattr(memory, "_free", lambda: 5e11)
    monkeypatch.setattr(memory, "_group", lambda: float("inf"))
    limits = {"of process": 10**12}
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limits["of process"], -1))
    assert memory.available() == 5e11
    limits["of process"] = 10**11
    assert 0 < memory.available() < 10**11
    limits["of process"] = 10**6  # less than is taken
    assert memory.available() == 0
    limits["of process"] = resource.RLIM_INFINITY
    assert memory.available() == 5e11


def test_arguments_of_another_type_are_refused(file, tmp_path):
    path = file("0 qid:1 1:1\n")
    for wrong in (None, [0], np.zeros(2), 1j):
        with pytest.raises(InputError, match=r"absent must be 0 or NaN, got "):
            load_letor(path, absent=wrong)
    for wrong, kind in ((None, "NoneType"), (io.BytesIO(b"0 qid:1 1:1\n"), "BytesIO"), (3, "int")):
        with pytest.raises(InputError, match=rf"path must be the name of a file, .* got {kind};"):
            load_letor(wrong)
        with pytest.raises(InputError, match=rf"path must be the name of a file, .* got {kind};"):
            save_letor(load_letor(path), wrong)
    for wrong, kind in (("x", "str"), (None, "NoneType"), (np.zeros((2, 2)), "ndarray")):
        with pytest.raises(InputError, match=rf"data must be a RankingData, got {kind};"):
            save_letor(wrong, tmp_path / "w.txt")
    assert not (tmp_path / "w.txt").exists()
    assert load_letor(os.fsencode(path), absent=np.float32("nan")).y.tolist() == [0]


# Writing

singles = st.integers(0, 2**32 - 1).map(lambda b: np.uint32(b).view(np.float32))
usual = st.floats(-1000, 1000, width=32).map(np.float32) | st.integers(-99, 99).map(np.float32)


@many
@given(st.lists(singles | usual, min_size=4, max_size=40), st.booleans())
def test_written_singles_are_read_back_bit_for_bit(tmp_path, cells, packed):
    flat = np.array([0 if np.isinf(c) else c for c in cells], np.float32)
    X = flat[: flat.size // 4 * 4].reshape(-1, 4)
    path = tmp_path / ("w.txt.gz" if packed else "w.txt")
    save_letor(data(X), path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == packed
    assert same_bits(read_letor(path).X, X)


def test_every_kind_of_single_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2**32, (40_000 // SLOW**2, 10), dtype=np.uint32).view(np.float32)
    X = np.where(np.isinf(X), 0, X)
    X[0] = 10.0 ** np.arange(-44, 36, 8)
    X[1] = np.finfo(np.float32).max
    X[2] = -0.0
    X[3] = np.arange(1, 11, dtype=np.uint32).view(np.float32)
    X[4] = 2.0 ** np.arange(-126, -116)
    save_letor(data(X), tmp_path / "w.txt")
    assert same_bits(read_letor(tmp_path / "w.txt").X, X)


def test_digits_are_short(tmp_path):
    X = np.array([[0.1, 16777216, 1e-5, -0.25, 1e20, 0, 123456.7, 1e-7, np.nan]], np.float32)
    save_letor(data(X), tmp_path / "w.txt")
    assert (tmp_path / "w.txt").read_text() == (
        "0 qid:0 1:0.1 2:16777216 3:0.00001 4:-0.25 5:1e20 6:0 7:123456.7 8:1e-7 9:nan\n"
    )


def test_round_trip_of_labels_ids_and_comments(tmp_path):
    rng = np.random.default_rng(3)
    n = 500 // SLOW
    comments = Comments.of(["" if i % 3 else f"docid = D{i} ä" for i in range(n)])
    qid = np.sort(rng.integers(0, 30, n)).astype(str)
    qid[0] = "q-ü"
    y = rng.integers(0, 3, n) + 0.1 * (np.arange(n) % 4)
    written = data(rng.random((n, 3)).astype(np.float32), y, qid, comments)
    save_letor(written, tmp_path / "w.txt")
    got = read_letor(tmp_path / "w.txt")
    assert same_bits(got.X, written.X)
    assert got.y.tolist() == y.tolist() and got.qid.tolist() == qid.tolist()
    assert got.comments == comments


def test_query_ids_of_mixed_types_are_written(tmp_path):
    qid = np.array(["b", 7, "a", 7, "b"], dtype=object)
    X, path = np.ones((5, 1), np.float32), tmp_path / "w.txt"
    for written in (RankingData(X, np.arange(5), qid=qid), data(X, np.arange(5), qid)):
        save_letor(written, path)
        got = read_letor(path)
        assert got.qid.tolist() == ["b", "7", "a", "7", "b"] and got.y.tolist() == [0, 1, 2, 3, 4]
    clash = np.array(["7", 7], dtype=object)
    with pytest.raises(InputError, match="query ids '7' and 7 would be written the same"):
        save_letor(RankingData(X[:2], [0, 1], qid=clash), path)


def test_sparse_writing_leaves_out_zeros(tmp_path):
    from scipy.sparse import csr_array

    X = np.array([[0, 1.5, 0], [-0.0, 0, np.nan], [0, 0, 0]], np.float32)
    lines = ["0 qid:0 2:1.5", "0 qid:0 3:nan", "0 qid:0"]
    for matrix, sparse in [(X, True), (csr_array(X), False), (csr_array(X.astype(float)), False)]:
        save_letor(data(matrix), tmp_path / "w.txt", sparse=sparse)
        assert (tmp_path / "w.txt").read_text().splitlines() == lines
        np.testing.assert_array_equal(read_letor(tmp_path / "w.txt").X, X)
    stored = csr_array((np.array([0.0, 2.0, 1.0], np.float32), [0, 1, 1], [0, 3]), shape=(1, 2))
    save_letor(data(stored), tmp_path / "w.txt")
    assert (tmp_path / "w.txt").read_text() == "0 qid:0 1:0 2:3\n"
    save_letor(data(stored), tmp_path / "w.txt", sparse=True)
    assert (tmp_path / "w.txt").read_text() == "0 qid:0 2:3\n"


def test_doubles_are_written_in_full(tmp_path):
    X = np.array([[0.1, 1 / 3, np.nan, 3.0]])
    save_letor(data(X), tmp_path / "w.txt")
    text = (tmp_path / "w.txt").read_text()
    assert text == "0 qid:0 1:0.1 2:0.3333333333333333 3:nan 4:3.0\n"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = put(tmp_path / "w.txt", "old")
    X = np.ones((70_000 // SLOW, 2), np.float32)
    X[-1, 1] = np.inf
    with pytest.raises(InputError, match=rf"X holds inf at row {len(X) - 1}, feature 2"):
        save_letor(data(X), path)
    for name in ("", "a b", "a#b", "a\nb"):
        with pytest.raises(InputError, match=r"query id .* can't be written"):
            save_letor(data(X[:1], qid=np.array([name])), path)
    with pytest.raises(InputError, match=r"y holds -1\.0, expected"):
        save_letor(data(X[:1], y=np.array([-1.0])), path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["w.txt"]
    with pytest.raises(InputError, match="can't be written"):
        save_letor(data(X[:1]), tmp_path / "no" / "w.txt")


def test_comments_with_line_breaks_stay_on_their_line(tmp_path):
    comments = Comments.of(["a\nb\0c", "x # y"])
    save_letor(data(np.ones((2, 1), np.float32), comments=comments), tmp_path / "w.txt")
    assert list(read_letor(tmp_path / "w.txt").comments) == ["a b c", "x # y"]


# Comments


def test_comments_behave_like_a_sequence():
    texts = ["docid = GX-1 inc = 1", "", "é x", "DocID:Q7", "docid=5"]
    comments = Comments.of([f" {t} " for t in texts])
    assert len(comments) == 5 and list(comments) == texts
    assert comments[0] == texts[0] and comments[-1] == texts[-1] and comments[np.int64(2)] == "é x"
    assert comments.doc_ids == ["GX-1", "", "é", "Q7", "5"]
    with pytest.raises(IndexError):
        comments[5]
    assert list(comments.take([4, 2, 2])) == ["docid=5", "é x", "é x"]
    assert list(comments.take(np.array([True, False, True, False, False]))) == [texts[0], texts[2]]
    assert len(comments.take([])) == 0 and list(Comments.of([])) == []
    assert comments == Comments.of(texts) and comments != Comments.of(texts[:4])
    assert comments != Comments.of([*texts[:4], "x"]) and comments != texts


def test_comments_must_be_text():
    for texts, said in (([1, 2], "got 1 at row 0"), (["a", None], "got None at row 1")):
        with pytest.raises(InputError, match=f"comments must be text, .*{said}; convert it"):
            Comments.of(texts)
        with pytest.raises(InputError, match="comments must be text"):
            RankingData(np.ones((2, 1)), [0, 1], qid=[1, 1], comments=texts)
    assert list(Comments.of(np.array(["a ", "b"]))) == ["a", "b"]


def test_comments_that_are_not_utf8_are_shown_with_replacements(file):
    got = read_letor(file(b"0 qid:1 1:1 # caf\xe9\n"))
    assert got.comments[0] == "caf\ufffd"
