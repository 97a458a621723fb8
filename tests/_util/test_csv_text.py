"""CSV that is no formula in a spreadsheet, read back as it was; and texts that any terminal can show."""

import csv
import io
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._util.csv_text import csv_text, plain_text
from rankwood._util.text import printable
from rankwood.report import read_evaluation

TEXTS = st.text(st.one_of(st.sampled_from("'=+-@\t\r\n,\"1e"), st.characters(codec="utf-8")))


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_every_text_is_read_back(texts):
    (row,) = read(csv_text(["x"], [["first", *texts]]))[1:]
    assert [plain_text(cell) for cell in row] == ["first", *texts]
    for cell in row:
        if cell[:1] in tuple("=+-@\t\r"):  # only a number may begin like that
            assert np.isfinite(float(cell))


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "'=1", "--5", "-inf"])
def test_formulas_get_an_apostrophe(text):
    assert read(csv_text([text], [[text]])) == [["'" + text]] * 2


@pytest.mark.parametrize("value", ["-5", "+1e3", -5, -0.25, "a=b", "O'Neil", "x-y"])
def test_numbers_and_other_texts_stay(value):
    assert read(csv_text(["x"], [[value]]))[1] == [str(value)]


def test_ids_survive_a_file(tmp_path):
    ids = np.array(["=HYPERLINK(1)", "-q", "@me", "'+1", "plain", "\x1b[31m"])
    ev = rw.Evaluation(ids, {"=m": np.arange(6.0), "b": np.array([np.nan] * 6)}, {})
    ev.to_csv(tmp_path / "q.csv")
    back = read_evaluation(tmp_path / "q.csv")
    assert back.metrics == ["=m", "b"]
    assert back.per_query["qid"].tolist() == ids.tolist()
    np.testing.assert_array_equal(back.per_query["b"], ev.per_query["b"])


def test_a_failed_write_keeps_the_old_table(tmp_path, monkeypatch):
    path = tmp_path / "q.csv"
    ev = rw.Evaluation(np.arange(3), {"m": np.arange(3.0)}, {})
    ev.to_csv(path)
    before = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left") as caught:
        rw.Evaluation(np.arange(9), {"m": np.arange(9.0)}, {}).to_csv(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["q.csv"]


@given(st.text(st.characters()))
def test_printable_texts_have_no_control_characters(text):
    shown = printable(text)
    assert {unicodedata.category(c) for c in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    shown.encode("utf-8")
    assert printable(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


def test_escapes():
    assert printable("m\x1b[31m\u202ex\udcff\n\x9b") == "m\\x1b[31m\\u202ex\\xff \\x9b"
