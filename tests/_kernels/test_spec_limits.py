"""Texts that nobody should type: one sentence at once, whatever they are."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._util.literals import LONGEST
from rankwood.cli.shared.file_access import read_scores
from rankwood.cli.training.options import tree_parameter
from rankwood.data.trec.files import load_run
from rankwood.tuning.spaces.space import Space

NAME = "lambdarank-ndcg"


def inside(value):
    return f"{NAME}(sigma={value})"


@pytest.mark.parametrize("read", [rw.metric, rw.objective])
@pytest.mark.parametrize("n", [1600, 9990, 1_000_000])
def test_blanks_take_no_time(read, n):
    start = time.perf_counter()
    for text in ("a" + " " * n + "!", " " * n + "!", "a@" + " " * n + "(", "a(" * n):
        with pytest.raises(rw.InputError):
            read(text)
    assert time.perf_counter() - start < 1  # was minutes


# They are numbered, as no name of a test should be that long.
TOO_MUCH = [
    (inside("-" * 2000 + "1"), "can't be read|nested"),
    (inside("1" + "+1" * 3000), "can't be read|nested"),
    (inside("a" + ".a" * 2000), "can't be read|nested"),
    (inside("()" * 2000), "can't be read|nested"),
    (inside("(" * 2000 + ")" * 2000), "can't be read|nested"),
    (inside("[" * 150 + "]" * 150), "nested 1.. deep, expected at most 60"),
    (inside("lambda: 1"), "is not a plain value"),
    (inside("lambda:" * 1000 + "1"), "can't be read|nested"),
    (inside("{1,[2]}"), "is not a plain value"),
    (inside("{[]: 1}"), "is not a plain value"),
    (inside("9" * 4000), "has a number that is too large for a float"),
    (inside("9" * 9000), "can't be read"),
    (inside("0x" + "f" * 9000), "has a number that is too large for a float"),
    (inside("1e999"), "sigma must be finite, got inf"),
    (inside("'\ud800'"), "can't be read"),
    (inside(r"'\ud800'"), r"sigma must be a number, got '\\ud800'"),
    (inside("'\0'"), "can't be read"),
    (inside("**{}"), "can't be read|\\*\\* can't be used"),
    (f"{NAME}(**x)", r"\*\* can't be used here"),
    (f"{NAME}@{'1' * 5000}", "can't be read"),
    (f"{NAME}@{'1' * 41}", "can't be read"),
    (f"{NAME}@{'1' * 20}", "k must be below 2.62"),
    (f"{NAME}@１０", "can't be read"),
    (f"{NAME}@10(sigma=1,sigma=2)", "gives sigma twice"),
    ("Lambda(pairs=Top(k=1,k=2))", "gives k twice"),
    ("Lambda(" * 300 + ")" * 300, "can't be read|nested"),
    ("x" * (LONGEST + 1), "has 10,001 characters, expected at most 10,000"),
    ("rank:" * 1900, "can't be read"),
    ("YetiRank:" + "mode=NDCG;" * 900, "each key once"),
    ("YetiRank:mode=" + "-" * 5000 + "1", "is read with mode= Classic"),
]


@pytest.mark.parametrize("case", range(len(TOO_MUCH)))
def test_texts_that_are_too_much(case):
    text, message = TOO_MUCH[case]
    with pytest.raises(rw.InputError, match=message) as refused:
        rw.objective(text)
    assert len(str(refused.value)) < 700
    str(refused.value).encode()  # can be printed


@pytest.mark.parametrize("digits", [400, 5000])
def test_huge_numbers_in_python(digits):
    huge = 10**digits
    for name in ("sigma", "k", "truncation"):
        for number in (huge, -huge):
            with pytest.raises(rw.InputError, match=name):
                rw.objective(NAME, **{name: number})
    with pytest.raises(rw.InputError, match="y must hold numbers"):
        rw.evaluate("ndcg", [huge], [1.0])


def test_parameters_of_the_command_line_are_read_as_text_or_refused():
    assert tree_parameter("x=" + "-" * 3000 + "1") == ("x", "-" * 3000 + "1")
    assert tree_parameter("x={1,[2]}") == ("x", "{1,[2]}")
    assert tree_parameter("x=[1, 2]") == ("x", [1, 2])
    with pytest.raises(rw.InputError, match="not a space"):
        Space.parse("Space({'a': Integer(" + "-" * 5000 + "1, 2)})")


@pytest.mark.parametrize("score", ["1_0", "１０", "1 2", "0x1"])
def test_scores_are_plain_numbers(tmp_path, score):
    (tmp_path / "scores.txt").write_text(f"1.5\n{score}\n", encoding="utf-8")
    with pytest.raises(rw.InputError, match="line 2: expected one score, a number, got"):
        read_scores(str(tmp_path / "scores.txt"))
    if " " not in score:
        text = f"q Q0 a 1 1.5 t\nq Q0 b 2 {score} t\n"
        (tmp_path / "run.txt").write_text(text, encoding="utf-8")
        with pytest.raises(rw.InputError, match="line 2: expected a finite number as score, got"):
            load_run(tmp_path / "run.txt")


PIECES = "ndcg Lambda Top YetiRank P @ ( ) = : ; , k rel 1 - _ . ' [ { mode NDCG ** lambda nan None"
ODD = [NAME, " ", "\\", "\0", "\ud800", "９"]


@given(st.lists(st.sampled_from([*PIECES.split(), *ODD]), max_size=12).map("".join))
@example("ndcg@5-l")
@example("@10")
@example("()")
def test_any_text_is_read_or_refused(text):
    for read in (rw.metric, rw.objective):
        try:
            made = read(text)
        except rw.InputError:
            continue
        assert read(repr(made)) == made
