"""``rankwood compare``, as people and programs use it."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.data.synthetic import make_ranking
from rankwood.data.trec.files import save_qrels, save_run
from rankwood.report import movers
from rankwood.report.comparison.compare import compare
from tests.helpers.cli_calls import answer, caller, cases, check_help, check_refused, complaint

NOISE = {"near": 0.3, "far": 3.0, "lost": 9.0}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set, scores of three models, a trained model, and tables of queries."""
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(7)
    data = make_ranking(30, documents=12, features=10, seed=3)
    rw.save_letor(data, folder / "data.txt")
    data = rw.load_letor(folder / "data.txt")
    for name, noise in NOISE.items():
        scores = data.y + noise * rng.normal(size=data.y.size)
        (folder / f"{name}.txt").write_text("".join(f"{s!r}\n" for s in scores.tolist()))
        ev = rw.evaluate(["ndcg@10", "ndcg@3"], data, scores)
        ev.to_csv(folder / f"{name}.csv")
    words = ["train", f"{folder}/data.txt", "--model", f"{folder}/m.json", "--n-estimators", "3"]
    assert main([*words, "--threads", "2", "--quiet"]) == 0
    return folder


@pytest.fixture
def call(capsys, made, monkeypatch, tmp_path):
    """Run `rankwood compare` in an empty directory; `@name` is a file of the fixture `made`."""
    monkeypatch.chdir(tmp_path)
    return caller(capsys, made, "compare")


def evaluations(made, metrics, **rules):
    data = rw.load_letor(made / "data.txt")
    scores = {n: np.loadtxt(made / f"{n}.txt") for n in NOISE}
    return {n: rw.evaluate(metrics, data, s, **rules) for n, s in scores.items()}


# What works


def test_numbers_are_those_of_compare(call, made):
    line = "@data.txt @near.txt @far.txt @lost.txt --metric ndcg@5 --metric p@3 --baseline far "
    found = answer(call(line + "--draws 500 --seed 4 --json --threads 2"))
    metrics = ["ndcg@5", "p@3"]
    expected = compare(evaluations(made, metrics), "far", draws=500, seed=4).to_dict()
    assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))
    assert list(found["files"]) == ["near", "far", "lost"]
    assert found["tests"][0]["against"] == "far"


def test_every_option_arrives(call, made):
    line = "@near.txt @far.txt --test bootstrap --alternative greater --correct bonferroni --draws 300 "
    rules = answer(call("@data.txt " + line + "--marks letters --json"))["rules"]
    assert (rules["test"], rules["alternative"], rules["correction"]) == (
        "bootstrap",
        "greater",
        "bonferroni",
    )
    assert (rules["draws"], rules["marks"], rules["preset"]) == (300, "letters", None)
    line = "@data.txt @near.txt @far.txt --json --preset lambdagap-2025"
    rules = answer(call(line + " --draws 99"))["rules"]
    assert (rules["p_value"], rules["draws"], rules["correction"]) == ("strict", 99, None)
    assert answer(call(line + " --correct holm"))["rules"]["correction"] == "holm"
    plain = "@data.txt @near.txt @far.txt --json --correct none --ties best --empty skip"
    result = answer(call(plain))
    assert result["rules"]["correction"] is None
    assert result["conventions"] == {"ties": "best", "empty": "skip"}


def test_table_for_people(call):
    line = "@data.txt @far.txt @near.txt --metric ndcg@10 --bounds --movers 2 --worst 1"
    code, out, err = call(line)
    assert (code, err) == (0, "")
    assert re.search(r"near +0\.\d{4}\*\*\*", out)
    assert re.search(r"perfect model +\d\.\d{4}", out)
    assert re.search(r"random model +0\.\d{4}", out)
    assert re.search(r"near +ndcg@10 +\+0\.\d{4} +\+0\.\d+ to \+0\.\d+ +0\.0001‡", out)
    assert "At the limit of the draws: none of 10,000 was as extreme" in out
    for text in (
        "Paired permutation test, two-sided, 10,000 draws, seed 0",
        "Largest changes of ndcg@10 from far to near",
        "Worst queries of far by ndcg@10",
    ):
        assert text in out


def test_tables_of_queries_need_no_labels(call, made):
    found = answer(call("@near.csv @far.csv --json --draws 300"))
    assert found["metrics"] == ["ndcg@10", "ndcg@3"]
    expected = compare(evaluations(made, ["ndcg@10", "ndcg@3"]), "near", draws=300)
    assert found["tests"][0]["p"] == expected.test("far")["p"]
    one = answer(call("@near.csv @far.csv --json --metric ndcg@3"))
    assert one["metrics"] == ["ndcg@3"]
    mixed = answer(call("@data.txt @near.csv @far.txt --json --draws 300"))
    assert mixed["tests"][0]["p"] == expected.test("far")["p"]


def test_models_and_scores_together(call, made):
    found = answer(call("@data.txt @m.json @far.txt --metric ndcg@5 --json"))
    data = rw.load_letor(made / "data.txt")
    from rankwood.estimators.ranker import Ranker

    ev = rw.evaluate("ndcg@5", data, Ranker.load(made / "m.json").predict(data))
    assert found["means"][0]["mean"] == ev.mean()["ndcg@5"]
    assert found["models"] == ["m", "far"]


def test_judgments_and_runs(call, made):
    data = rw.load_letor(made / "data.txt")
    save_qrels(data, "qrels.txt")
    for name in ("near", "far"):
        save_run(data, np.loadtxt(made / f"{name}.txt"), f"{name}.run", tag=name)
    found = answer(call("qrels.txt near.run far.run --metric ndcg@5 --bounds --json"))
    expected = answer(call("@data.txt @near.txt @far.txt --metric ndcg@5 --bounds --json"))
    for kind, column in (("tests", "p"), ("tests", "difference"), ("means", "mean")):
        got, want = ([row[column] for row in answer_[kind]] for answer_ in (found, expected))
        assert got == pytest.approx(want, abs=1e-12)
    assert "far.txt is not a TREC run, which is expected with" in complaint(
        call("qrels.txt near.run @far.txt")
    )
    words = complaint(call("@data.txt @near.txt far.run"))
    assert "far.run is a TREC run, expected scores or a model" in words and "judgments" in words


def test_names(call, made, tmp_path):
    line = "@data.txt @near.txt @far.txt --name new=@near.txt --name old=@far.txt --baseline old"
    found = answer(call(line + " --json"))
    assert found["models"] == ["new", "old"]
    assert found["rules"]["baseline"] == "old"
    Path("near.txt").write_text((made / "far.txt").read_text())
    same = answer(call("@data.txt @near.txt near.txt --json"))
    assert same["models"] == [f"{made}/near.txt", "near.txt"]


@pytest.mark.parametrize("kind", ["markdown", "latex", "csv", "html", "json", "table"])
def test_formats(call, made, kind):
    line = "@data.txt @near.txt @far.txt --draws 300 --format " + kind
    code, out, err = call(line)
    assert (code, err) == (0, "")
    expected = compare(
        {n: e for n, e in evaluations(made, "ndcg@10").items() if n != "lost"}, draws=300
    )
    if kind == "json":
        assert json.loads(out)["tests"] == expected.to_dict()["tests"]
    elif kind == "csv":
        assert len(list(csv.DictReader(io.StringIO(out)))) == 2
    elif kind != "table":
        assert out == getattr(expected, f"to_{kind}")()
    code, said, err = call(line + " --output out")
    assert (code, err) == (0, "")
    assert said == "out: comparison of 2 models\n"
    assert kind == "table" or Path("out").read_text() == out


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.md", "| model"),
        ("t.tex", r"\begin{table}"),
        ("t.html", "<!DOCTYPE"),
        ("t.csv", "model,"),
    ],
)
def test_format_by_ending(call, name, start):
    assert call(f"@near.csv @far.csv --output {name} --draws 99")[0] == 0
    assert Path(name).read_text().startswith(start)


def test_details(call):
    code, out, _ = call("@near.csv @far.csv --format markdown --details --movers 1 --draws 99")
    assert code == 0
    assert "**Differences from near**" in out and "**Largest changes of ndcg@10" in out


def test_movers_in_json(call, made):
    found = answer(call("@near.csv @far.csv --movers 3 --json --draws 99"))
    evs = evaluations(made, ["ndcg@10"])
    expected = movers(evs["near"], evs["far"], top=3).rows["qid"].tolist()
    assert [row["qid"] for row in found["queries"][0]["rows"]] == expected


def test_bounds_follow_the_convention(call, made):
    found = answer(
        call("@data.txt @near.txt @far.txt --metric dcg@3 --convention sklearn --bounds --json")
    )
    data = rw.load_letor(made / "data.txt")
    best = rw.evaluate("dcg@3", data, data.y, convention="sklearn").mean()["dcg@3"]
    assert found["means"][2]["mean"] == pytest.approx(best)


def test_one_model_beside_bounds(call, made):
    found = answer(call("@data.txt @near.txt --bounds --json"))
    assert [row["model"] for row in found["means"]] == ["near", "perfect model", "random model"]
    assert found["tests"] == []
    assert "near" in call("@data.txt @near.txt --bounds")[1]


def test_help_has_examples(call):
    check_help(call("--help"), "compare")


def test_a_narrow_terminal_leaves_effect_sizes_out(call):
    from rich.console import Console

    from rankwood.cli.commands.compare import show
    from rankwood.report.comparison import view

    data = np.array([0.1, 0.5, 0.4])
    evs = {n: rw.Evaluation(np.arange(3), {"m": data + i}, {}) for i, n in enumerate("ab")}
    tables = view.tables(compare(evs), 4, True)
    texts = []
    for width in (67, 140):
        out = Console(file=io.StringIO(), width=width, markup=False)
        show({"tables": tables}, out)
        texts.append(out.file.getvalue())
    assert "Cohen" not in texts[0] and "Cohen" in texts[1]
    assert "W/T/L" in texts[0] and max(map(len, texts[0].splitlines())) <= 67


# What is refused

WRONG_USE = """
 -> FILE
@near.csv @far.csv --test z -> 'z'
@near.csv @far.csv --alternative up -> 'up'
@near.csv @far.csv --correct fdr -> 'fdr'
@near.csv @far.csv --draws 0 -> expected at least 1, got 0
@near.csv @far.csv --preset mine -> 'mine'
@near.csv @far.csv --formt csv -> did you mean '--format'
@near.csv @far.csv --movers none -> expected an integer, got 'none'
"""


@pytest.mark.parametrize(("line", "message"), cases(WRONG_USE))
def test_wrong_use(call, made, tmp_path, line, message):
    check_refused(call, line, message, 2, made, tmp_path)


FAILURES = """
@near.csv -> at least two models to compare, got 1
@data.txt @near.txt -> at least two models to compare, got 1
@near.csv @far.txt -> far.txt is not a table of queries
@near.csv @near.csv -> is given twice
@data.txt none.txt @far.txt -> none.txt: No such file or directory.
none.txt @near.txt @far.txt -> none.txt does not exist
@near.txt @far.txt @lost.txt -> near.txt, line 1
@near.csv @far.csv --baseline nera -> baseline 'nera' is none of the models; did you mean 'near'?
@near.csv @far.csv --metric p@3 -> has no metric 'p@3'
@data.txt @near.txt @far.txt --metric pq -> metric
@data.txt @near.txt @data.txt -> is given twice
@near.csv @far.csv --bounds -> --bounds needs labels
@near.csv @far.csv --name x -> --name takes NAME=FILE, got 'x'
@near.csv @far.csv --name x=no.csv -> 'no.csv' is none of the models
@near.csv @far.csv --name x=@near.csv --name x=@far.csv -> the same name
@near.csv @far.csv --output no/t.md -> there is no directory no
@near.csv @far.csv --output @near.csv -> is read by this command
@near.csv @far.csv --output . -> it is a directory
"""


@pytest.mark.parametrize(("line", "message"), cases(FAILURES))
def test_failures(call, made, tmp_path, line, message):
    check_refused(call, line, message, 1, made, tmp_path)


def test_bad_files(call):
    Path("short.txt").write_text("1\n2\n")
    words = complaint(call("@data.txt short.txt @far.txt"))
    assert "short.txt has 2 scores, but " in words and "360 documents" in words
    Path("bad.csv").write_text("qid,ndcg@10\n1,high\n")
    assert "row 2: expected a number as 'ndcg@10'" in complaint(call("@near.csv bad.csv"))
    Path("other.csv").write_text("qid,ndcg@10,ndcg@3\n1,0.5,0.5\n")
    assert "'other' lacks 29 of the 30 queries of 'near'" in complaint(call("@near.csv other.csv"))
