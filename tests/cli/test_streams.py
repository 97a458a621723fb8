"""The command line on closed streams, in other encodings, on narrow terminals and with hostile names."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.cli_calls import answer, caller


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Per-query tables of two models, which need no training."""
    folder = tmp_path_factory.mktemp("streams")
    values = np.linspace(0.1, 0.6, 30)
    for name, shift in (("low", 0.0), ("high", 0.3), ("m\x1b[31m\x07", 0.1)):
        columns = {f"metric{i}": values + shift for i in range(6)}
        rw.Evaluation(np.arange(30), columns, {}).to_csv(folder / f"{name}.csv")
    return folder


@pytest.fixture
def call(capsys, tables, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(capsys, tables, "compare")


def shell(line, folder, **environment):
    """Run a line of bash; `rankwood` is the command."""
    command = f'rankwood() {{ "{sys.executable}" -m rankwood "$@"; }}; {line}'
    found = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, env=found)


@pytest.mark.slow
def test_closed_streams_are_one_sentence(tables):
    done = shell("rankwood metrics ndcg >&-; echo $? >&2; rankwood metrics ndcg <&-", tables)
    sentence, code = done.stderr.decode().splitlines()
    assert code == "1"
    assert sentence == (
        "rankwood: error: standard output is closed: there is no place to write the result to."
    )
    assert b"Made of" in done.stdout
    labels = tables / "labels.txt"
    labels.write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    done = shell("rankwood evaluate labels.txt - <&-", tables)
    assert done.stderr.decode() == (
        "rankwood: error: standard input is closed, expected one score per line.\n"
    )


CHATTER = """
import ctypes, os, subprocess, sys, threading
import lightgbm, numpy
from rankwood.cli import main
from rankwood.cli.shared import arguments

def in_thread():  # LightGBM has a logger in Python for the thread that imports it only
    data = lightgbm.Dataset(numpy.ones((9, 1)), numpy.ones(9), params={"verbosity": 1})
    lightgbm.Booster({"objective": "binary", "verbosity": 1}, data)

def noisy(run):
    def made(args):
        print("from Python")
        ctypes.CDLL(None).printf(b"from C, in a buffer\\n")
        os.write(1, b"from C\\n")
        subprocess.run(["echo", "from a process"])
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
        return run(args)
    return made

add = arguments.command
arguments.command = lambda commands, name, about, example, run, show: add(
    commands, name, about, example, noisy(run), show
)
sys.exit(max(main(line.split()) for line in sys.argv[1:]))
"""


@pytest.mark.slow
def test_json_is_alone_on_standard_output(tables):
    lines = [
        "metrics ndcg --json",
        "objectives --json",
        "data list --json",
        "reproduce list --json",
        "compare low.csv high.csv --json",
    ]
    done = subprocess.run(
        [sys.executable, "-c", CHATTER, *lines], cwd=tables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rest = done.stdout
    for _ in lines:
        found, end = json.JSONDecoder().raw_decode(rest)
        assert isinstance(found, dict)
        rest = rest[end:].lstrip()
    assert rest == ""
    for text in ("from Python", "from C, in a buffer", "from C", "from a process", "[LightGBM]"):
        assert done.stderr.count(text) >= len(lines), text


@pytest.mark.slow
def test_signs_that_an_encoding_lacks_have_a_plain_form(tables):
    line = "rankwood compare high.csv low.csv --metric metric0"
    done = shell(line, tables, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("ascii")
    assert re.search(r"low +\| +0\.3500\+\+\+", text)  # three daggers
    assert "+ likewise worse" in text and "# At the limit of the draws" in text


def test_control_characters_of_names_are_shown(call, capsys, tables):
    code, out, err = call("@low.csv '@m\x1b[31m\x07.csv' --worst 1")
    assert (code, err) == (0, "")
    assert "m\\x1b[31m\\x07" in out and not set(out) & {"\x1b", "\x07"}
    for ending in ("html", "md", "tex", "txt"):
        assert call(f"@low.csv '@m\x1b[31m\x07.csv' --output 'x\x1b.{ending}'")[0] == 0
        with open(f"x\x1b.{ending}", encoding="utf-8") as file:
            assert not set(file.read()) & {"\x1b", "\x07"}
    code, out, err = caller(capsys, tables)("predict 'no\x1b[31m.csv' @low.csv")
    assert code == 1 and "no\\x1b[31m.csv" in err and "\x1b" not in err


@pytest.mark.parametrize("columns", [30, 44, 60, 100])
def test_tables_fit_the_width(call, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = call("@low.csv @high.csv --worst 2")
    assert code == 0
    assert max(map(len, out.splitlines())) <= columns
    for i in range(6):
        assert f"metric{i}" in out
    assert out.count("0.6500") == 6  # no number is broken, none is omitted


@pytest.mark.parametrize("line", ["objectives", "metrics", "data list", "reproduce list"])
def test_lists_fit_the_width(capsys, monkeypatch, tmp_path, line):
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = caller(capsys, tmp_path)(line)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 60
    monkeypatch.setenv("COLUMNS", "0")
    assert caller(capsys, tmp_path)(line)[0] == 0


def test_a_picture_of_queries(call, tmp_path):
    found = answer(call("@low.csv @high.csv --plot q.svg --json"))
    assert found["plot"] == "q.svg"
    assert "30 won, 0 tied, 0 lost" in (tmp_path / "q.svg").read_text()
    assert "expected a name that ends in" in call("@low.csv @high.csv --plot q.txt")[2]
    assert "must be different files" in call("@low.csv @high.csv --plot q.svg --output q.svg")[2]
