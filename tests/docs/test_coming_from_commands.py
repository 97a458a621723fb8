"""Pages for people who come from other programs' command lines, and from ranx: the right columns run."""

import re
import shlex
import warnings

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import _build, main
from tests.helpers.paths import DOCS

PAGES = DOCS / "coming-from"
ROW = re.compile(r"^\| `([^|]*)` \| `([^|]*)` \|", re.MULTILINE)


def rows(page, heading=None):
    """Return the first two cells of the rows of a page, or of one of its sections."""
    text = (PAGES / page).read_text(encoding="utf-8")
    if heading is not None:
        text = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [row for row in ROW.findall(text) if not row[1].startswith("rankwood train")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the pages name."""
    made = tmp_path_factory.mktemp("files")
    for part, name in (("valid", "train.txt"), ("test", "vali.txt"), ("test", "test.txt")):
        rw.save_letor(rw.load_demo(part), made / name)
    train, test = rw.load_demo("valid"), rw.load_demo("test")
    rw.Ranker(n_estimators=2, n_jobs=1).fit(train).save(made / "m.json")
    rw.save_qrels(test, made / "qrels.txt")
    rw.save_run(test, test.X[:, 0], made / "run.txt")
    return made


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(command, capsys):
    words = shlex.split(command)
    assert words[0] == "rankwood"
    code = main(words[1:])
    assert (code, capsys.readouterr().err) == (0, ""), command


def test_the_tables_are_read():
    assert len(rows("ranklib.md", "Training")) == 18
    assert len(rows("ranklib.md", "With a model")) == 4
    assert len(rows("trec-eval.md", "The command line")) == 7
    assert len(rows("ranx.md", "Call by call")) == 9


@pytest.mark.slow
@pytest.mark.parametrize("theirs,ours", rows("ranklib.md", "Training"))
def test_options_of_ranklib_train(theirs, ours, inside, capsys):
    assert theirs.startswith("-")
    short = {"--n-estimators": 2, "--model": "new.json", "--threads": 1}
    more = [f"{option} {value}" for option, value in short.items() if option not in ours]
    command = f"rankwood train train.txt {ours} {' '.join(more)}"
    if "--objective" not in ours:
        run(command, capsys)
        return
    # To compile them all would take a minute; other tests train them.
    given = _build()[0].parse_args(shlex.split(command)[1:])
    rw.objective(given.objective)
    assert ("--eval-metric" in ours) == ("-metric2t" in theirs)
    for name in given.eval_metric or ():
        rw.metric(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "theirs,ours",
    [*rows("ranklib.md", "With a model"), *rows("trec-eval.md", "The command line")],
)
def test_commands_run(theirs, ours, inside, capsys):
    run(ours, capsys)


@pytest.mark.slow
def test_calls_in_place_of_options_of_ranklib():
    found = rows("ranklib.md", "Splits, folds and features")
    assert len(found) == 5
    for _, ours in found:
        scope = {"rw": rw, "data": rw.load_demo("valid")}
        exec(ours, scope)
        assert len(scope) > 3, ours


@pytest.mark.slow
def test_both_sides_of_ranx(inside):
    ranx = pytest.importorskip("ranx")
    warnings.simplefilter("ignore")  # its own matter; pytest restores the filters
    qrels = ranx.Qrels({"q1": {"A": 2, "C": 1}, "q2": {"D": 1, "E": 3}})
    run = ranx.Run({"q1": {"B": 9.5, "A": 7.1}, "q2": {"D": 2.0, "A": 1.0}}, name="bm25")
    better = ranx.Run({"q1": {"A": 3.0, "C": 2.0}, "q2": {"E": 2.0, "D": 1.0}}, name="better")
    scope = {"rw": rw, "qrels": qrels, "run": run, "better": better}
    scope |= {name: getattr(ranx, name) for name in ("evaluate", "compare", "Qrels", "Run")}
    for i, (theirs, ours) in enumerate(rows("ranx.md", "Call by call")):
        old, new = eval(theirs, scope), eval(ours, scope)
        scope |= {"report": old} if theirs.startswith("compare") else {}
        scope |= {"found": new} if ours.startswith("rw.compare") else {}
        if i == 1:
            assert new == pytest.approx(old, abs=1e-12)
        elif i < 3:
            np.testing.assert_allclose(np.sort(np.ravel(new)), np.sort(np.ravel(old)), atol=1e-12)
