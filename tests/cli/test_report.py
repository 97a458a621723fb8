"""``rankwood report``, as people use it."""

import re

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.report.page import make_page
from tests.helpers.cli_calls import answer, caller, cases, check_help, check_refused


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set, scores, models of one and two stages, tables of queries, and TREC files."""
    folder = tmp_path_factory.mktemp("report")
    rw.save_letor(rw.make_ranking(20, documents=8, features=10, seed=3), folder / "data.txt")
    data = rw.load_letor(folder / "data.txt")
    scores = np.random.default_rng(1).normal(size=len(data)) + data.y
    (folder / "s.txt").write_text("".join(f"{s!r}\n" for s in scores.tolist()))
    rw.evaluate(["ndcg@10", "map"], data, scores).to_csv(folder / "q.csv")
    ranker = rw.Ranker(n_estimators=3, num_leaves=4, n_jobs=1, verbose=False)
    rw.TwoStage(ranker, ranker, top=5, folds=2, verbose=False).fit(data).save(folder / "two.json")
    words = ["train", f"{folder}/data.txt", "--model", f"{folder}/m.json", "--n-estimators", "3"]
    assert main([*words, "--threads", "1", "--quiet"]) == 0
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (folder / "run.txt").write_text("1 Q0 b 1 2.0 r\n1 Q0 a 2 1.0 r\n")
    return folder


@pytest.fixture
def call(capsys, made, monkeypatch, tmp_path):
    """Run `rankwood report` in an empty directory; `@name` is a file of the fixture `made`."""
    monkeypatch.chdir(tmp_path)
    return caller(capsys, made, "report")


def test_the_page_is_that_of_make_page(call, made, tmp_path):
    line = "@data.txt @m.json @s.txt --metric ndcg@5 --baseline s --train @data.txt --threads 1"
    found = answer(call(f"{line} --title T --output p.html --json"))
    data = rw.load_letor(made / "data.txt")
    ranker = rw.Ranker.load(made / "m.json").set_params(n_jobs=1)
    models = {"m": ranker, "s": np.loadtxt(made / "s.txt")}
    page = make_page(
        models, data, train=data, metrics=["ndcg@5"], baseline="s", title="T", n_jobs=1
    )
    written = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert written == page.html
    assert found["bytes"] == len(written.encode())
    assert found["files"] == {"m": f"{made}/m.json", "s": f"{made}/s.txt"}
    expected = rw.evaluate("ndcg@5", data, models["s"]).mean()
    assert found["means"]["s"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("files", "sections"),
    [
        ("@data.txt @s.txt", "metrics scatter queries breakdown parameters"),
        ("@data.txt @two.json", "metrics scatter queries breakdown features objective parameters"),
        ("@data.txt @q.csv @s.txt --metric map", "metrics scatter queries breakdown parameters"),
        ("@q.csv", "metrics queries parameters"),
        ("@qrels.txt @run.txt", "metrics scatter queries breakdown parameters"),
    ],
)
def test_what_can_be_reported_on(call, tmp_path, files, sections):
    code, out, err = call(f"{files} --output p.html --threads 1")
    assert (code, err) == (0, "")
    assert out.startswith("p.html: ") and out.endswith(" MB\n")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)">', page) == sections.split()


REFUSED = """
@data.txt --output p.html -> there is no model after
@data.txt @s.txt --output @s.txt -> is read by this command
@data.txt @s.txt --train @data.txt --output @data.txt -> is read by this command
@data.txt @s.txt --output no/p.html -> there is no directory
@data.txt @s.txt --metric ndgc@10 --output p.html -> did you mean 'ndcg'
@data.txt @s.txt --baseline x --output p.html -> baseline 'x' is none of the models
@data.txt @s.txt --name a=b.txt --output p.html -> is none of the models
@data.txt @run.txt --output p.html -> is a TREC run
@q.csv @s.txt --output p.html -> is not a table of queries
@none.txt @s.txt --output p.html -> does not exist
"""


@pytest.mark.parametrize(("line", "message"), cases(REFUSED))
def test_refused(call, made, tmp_path, line, message):
    check_refused(call, line, message, 1, made, tmp_path)


def test_an_output_is_needed(call, made, tmp_path):
    check_refused(call, "@data.txt @s.txt", "--output", 2, made, tmp_path)


def test_help(call):
    check_help(call("--help"), "report")
