"""The examples: each runs on small data, skips politely without data, and goes on where it stopped."""

import io
import json
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import numpy as np
import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.testing import interpreted
from tests.helpers.paths import ROOT
from tests.helpers.random_lists import random_lists

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
SCRIPTS = {path.name for path in EXAMPLES.glob("*.py")} - {"folds.py", "runs.py", "peers.py"}
APART = {
    "ablations.py",
    "neural.py",
    "neural_two_stage.py",
    "two_stage.py",
}  # these have tests of their own
# What makes each of them quick.
SMALL = {
    "families.py": ["--family", "RankNet", "--trees", "3", "--k", "3"],
    "two_stage.py": [
        "--rounds",
        "3",
        "--stages",
        "2",
        "--top",
        "3",
        "--seeds",
        "1",
        "--leaves",
        "3",
    ],
    "tuned.py": ["--trials", "2", "--trees", "3", "--folds", "1", "--cross", "2"],
    "defaults.py": ["--try", "num_leaves=5 n_estimators=3"],
    "incoherency.py": ["--trees", "3", "--objective", "lambdarank-ndcg@{k}", "--k", "3"],
}


@pytest.fixture
def folder(tmp_path, rng):
    """A folder with S1 to S5, the last one compressed."""
    names = [f"S{part}.txt{'.gz' if part == 5 else ''}" for part in range(1, 6)]
    return written(tmp_path / "tiny", names, rng, queries=8)


def written(made, names, rng, queries):
    """A folder with files of these names, whose query ids tell the file."""
    made.mkdir()
    for part, name in enumerate(names, 1):
        X, y, sizes = random_lists(rng, queries=queries, longest=15, features=5, grades=3)
        qid = np.repeat(np.arange(part * 100, part * 100 + sizes.size), sizes)
        rw.save_letor(rw.RankingData(X.astype(np.float32), y, qid=qid), made / name)
    return made


@pytest.fixture
def run(monkeypatch):
    """Run a script in this process: a new one would spend seconds on imports."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def call(script, *args, cwd):
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", [script, *map(str, args)])
        out, err, code = io.StringIO(), io.StringIO(), 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                runpy.run_path(str(EXAMPLES / script), run_name="__main__")
            except SystemExit as end:
                code = end.code or 0
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())

    return call


@pytest.fixture
def plain_python():
    """Interpret the kernels."""
    with interpreted():
        yield


@pytest.mark.parametrize("script", sorted(SCRIPTS - APART))
def test_runs(script, folder, tmp_path, run):
    done = run(script, "--data", folder, *SMALL.get(script, []), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "|" in done.stdout  # a table


def test_runs_from_a_shell(tmp_path):
    line = [sys.executable, str(EXAMPLES / "families.py"), "--data", "none"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Skipped: ")


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_skips_without_data(script, tmp_path, run):
    done = run(script, "--data", tmp_path / "none", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Skipped: ")
    assert len(done.stdout.splitlines()) == 1


def test_families_go_on_where_they_stopped(folder, tmp_path, run):
    args = ["--data", folder, *SMALL["families.py"], "--results", "runs.jsonl"]
    first = run("families.py", *args, "--output", "table.md", cwd=tmp_path)
    assert "15 runs, 0 of them" in first.stdout
    results, table = tmp_path / "runs.jsonl", (tmp_path / "table.md").read_text(encoding="utf-8")
    lines = results.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 15
    # As if the process had ended while it wrote its 13th line, and another setting before.
    other = json.loads(lines[0])
    other["setting"]["trees"] += 1
    other["values"]["map"] = [0.0 for _ in other["values"]["map"]]
    kept = [json.dumps(other), *lines[:12], lines[12][:50]]
    results.write_text("\n".join(kept), encoding="utf-8")
    second = run("families.py", *args, "--output", "again.md", cwd=tmp_path)
    assert (second.returncode, second.stderr) == (0, "")
    assert "15 runs, 12 of them" in second.stdout
    third = run("families.py", *args, "--output", "again.md", cwd=tmp_path)
    assert "15 runs, 15 of them" in third.stdout
    again = (tmp_path / "again.md").read_text(encoding="utf-8")
    assert values(again) == values(table)
    for word in ("lambdarank-ndcg@3", "bin-ranknet", "perfect model", "random model", "40 queries"):
        assert word in again


def values(text):
    """Return the comparison, without the times."""
    return text.split("| objective |")[0]


def test_names_of_families_exist(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import families

    names = families.names(families.arguments(["--data", "x"]), top=2)
    assert len(names) > 30
    assert names[0] == "lambdarank-ndcg@5"
    for name in names:
        rw.objective(name)


def test_folds_follow_the_rule(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import folds

    made = folds.splits(folder)
    train, valid, test = made[3]
    assert sorted(np.unique(train.qid // 100)) == [1, 4, 5]
    assert set(valid.qid // 100) == {2}
    assert set(test.qid // 100) == {3}
    sizes = {set(part.qid // 100).pop(): len(part) for _, _, part in made}
    assert len(train) == sizes[4] + sizes[5] + sizes[1]
    ((first, _, _),) = folds.splits(folder, folds=[1])
    assert sorted(np.unique(first.qid // 100)) == [1, 2, 3]


@pytest.mark.usefixtures("plain_python")  # to compile nine compositions would take longer
def test_ablations_run_and_go_on_where_they_stopped(tmp_path, rng, run):
    folder = written(tmp_path / "split", ["train.txt", "vali.txt.gz", "test.txt"], rng, queries=6)
    args = ["--data", folder, "--data", tmp_path / "none", "--metric", "MRR", "--rounds", "2"]
    first = run("ablations.py", *args, "--output", "t.md", cwd=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert "Skipped: " in first.stdout and "9 runs, 0 of them" in first.stdout
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    for number, rows in ((8, "123a"), (14, "LGN"), (20, "LGN")):
        table = text.split(f"**Table {number}. ")[1].split("\n\n")[1].splitlines()
        assert table[0] == "| | split |"
        assert "".join(line[2] for line in table[2:]) == rows
        assert sum("**" in line for line in table) == 1
    lines = (tmp_path / "ablations.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 9
    # Logistic noise and one neighbour are the same run in both tables of YetiLoss.
    values = {run["objective"]: run["values"] for run in map(json.loads, lines)}
    name = "yetiloss-mrr(variant='catboost', noise='logistic', neighbours=1)"
    mean = f"{100 * np.mean(values[name]):.2f}"
    for number, row in ((8, "| 1 |"), (20, "| Logistic |")):
        table = text.split(f"**Table {number}. ")[1]
        assert mean in table.split(row)[1].splitlines()[0]
    second = run("ablations.py", *args, "--output", "again.md", cwd=tmp_path)
    assert "9 runs, 9 of them" in second.stdout
    assert (tmp_path / "again.md").read_text(encoding="utf-8") == text


def test_ablations_are_those_of_the_paper(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import ablations

    args = ablations.arguments(["--data", "x"])
    made = list(ablations.variants(args))
    assert len(made) == 6 * (
        4 + 3 + 2
    )  # each target: neighbours, YetiRank, and noise that wasn't there yet
    for _, name, options in made:
        objective = rw.objective(ablations.spell(name, options, top=4, variant="catboost"))
        base.check("catboost", objective)  # all of them are losses of the paper's program


def test_marks_of_ablations(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import ablations

    values = {"1": [0.2, 0.4, 0.6, 0.8], "2": [0.19, 0.4, 0.62, 0.8], "3": [0.1, 0.3, 0.5, 0.6]}

    class Study:
        def pooled(self, target, name, options):
            ids = np.arange(4)
            column = {"metric": np.array(values[options["neighbours"]])}
            return rw.Evaluation(ids, column, {"ties": "worst", "empty": 0})

    varied = {key: {"neighbours": key} for key in values}
    # Differences of the third from the best: 0.09, 0.1, 0.12, 0.2, so t = 5.1; of the first: t = 0.4.
    expected = {"1": "50.00", "2": "**50.25**", "3": "37.50†"}
    assert ablations.cells(Study(), "MRR", "yetiloss", varied) == expected


def test_splits_of_a_folder(folder, tmp_path, rng, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import folds

    assert folds.splits(tmp_path / "none") is None
    five = folds.splits(folder)
    assert [sorted(set(test.qid // 100)) for _, _, test in five] == [[5], [1], [2], [3], [4]]
    whole = folds.splits(written(tmp_path / "whole", ["all.txt"], rng, queries=7))
    assert [len(set(test.qid)) for _, _, test in whole] == [1, 2, 2, 1, 1]
    for train, valid, test in whole:
        parts = [set(data.qid) for data in (train, valid, test)]
        assert sorted(qid for part in parts for qid in part) == list(range(100, 107))
    split = written(tmp_path / "split", ["train.txt", "vali.txt", "test.txt"], rng, queries=3)
    ((train, valid, test),) = folds.splits(split)
    assert [set(data.qid // 100) for data in (train, valid, test)] == [{1}, {2}, {3}]


def test_two_stages_go_on_where_they_stopped(tmp_path, rng, run):
    folder = written(tmp_path / "split", ["train.txt", "vali.txt.gz", "test.txt"], rng, queries=30)
    args = ["--data", folder, *SMALL["two_stage.py"], "--seeds", "2", "--absent", "nan"]
    first = run("two_stage.py", *args, cwd=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    rows = [line for line in first.stdout.splitlines() if line.startswith("|")]
    labels = ["first stage", "λMART", "λMART*", "Bi-λMART", "Bi-λMART, no", "Bi-softmax"]
    assert len(rows) == 2 + len(labels)
    results = tmp_path / "two_stage.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 12
    means = {}
    for line, (label, row) in zip(lines, zip(labels * 2, rows[2:] * 2, strict=True), strict=True):
        got = json.loads(line)
        assert got["model"].startswith(label) and got["seconds"] >= 0
        means.setdefault(row, []).append(100 * np.mean(got["values"]["ndcg@5"]))
    for row, values in means.items():  # mean of the seeds ± their deviation
        cell = f"{np.mean(values):.2f}", f"± {np.std(values, ddof=1):.2f}"
        assert all(text in row.split("|")[4] for text in cell)
    # Two second stages are gone: their first stage is trained again, and no other second stage.
    results.write_text("\n".join(lines[:8] + lines[10:]), encoding="utf-8")
    second = run("two_stage.py", *args, cwd=tmp_path)
    assert second.stdout.count(" trees, ") == 2
    assert cells(second.stdout) == cells(first.stdout)


def cells(text):
    """Return the table, without the times."""
    return [line.rsplit("|", 2)[0] for line in text.splitlines() if line.startswith("|")]


@pytest.mark.usefixtures("plain_python")
def test_networks_run_beside_trees(tmp_path, rng, run):
    folder = written(tmp_path / "split", ["train.txt", "vali.txt", "test.txt"], rng, queries=15)
    args = ["--data", folder, "--seeds", "1", "--epochs", "1", "--rounds", "2", "--device", "cpu"]
    both = run("neural.py", *args, "--model", "trees", "dnn", cwd=tmp_path)
    assert (both.returncode, both.stderr) == (0, "")
    shown = [line.split("|")[2].strip() for line in both.stdout.splitlines() if "| split |" in line]
    assert shown == ["`lambdarank-ndcg@10` trees", "`dnn`"]
    args += ["--kind", "networks", "--network", "DNN", "--stages", "2", "--top", "4"]
    done = run("neural_two_stage.py", *args, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "| DNN | λRank |" in done.stdout and "| DNN | softmax |" in done.stdout
