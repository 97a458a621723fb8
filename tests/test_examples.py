"""The examples: each runs from a shell on small data, skips politely without data, and goes on where it stopped."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from conftest import random_lists

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "folds.py")
# What makes each of them quick.
SMALL = {
    "families.py": ["--family", "RankNet", "--trees", "3", "--k", "3"],
    "incoherency.py": ["--trees", "3", "--objective", "lambdarank-ndcg@{k}", "--k", "3"],
}


@pytest.fixture
def folder(tmp_path, rng):
    """A folder with S1 to S5, the last one compressed."""
    made = tmp_path / "tiny"
    made.mkdir()
    for part in range(1, 6):
        X, y, sizes = random_lists(rng, queries=8, longest=15, features=5, grades=3)
        qid = np.repeat(np.arange(part * 100, part * 100 + sizes.size), sizes)
        path = made / f"S{part}.txt{'.gz' if part == 5 else ''}"
        rw.save_letor(rw.RankingData(X.astype(np.float32), y, qid=qid), path)
    return made


def run(script, *args, cwd):
    line = [sys.executable, str(EXAMPLES / script), *map(str, args)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd)


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs(script, folder, tmp_path):
    done = run(script, "--data", folder, *SMALL.get(script, []), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "|" in done.stdout  # a table


@pytest.mark.parametrize("script", SCRIPTS)
def test_skips_without_data(script, tmp_path):
    done = run(script, "--data", tmp_path / "none", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Skipped: ")
    assert len(done.stdout.splitlines()) == 1


def test_families_go_on_where_they_stopped(folder, tmp_path):
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

    parts = folds.load(folder)
    train, valid, test = folds.fold(parts, 4)
    assert sorted(np.unique(train.qid // 100)) == [1, 4, 5]
    assert set(valid.qid // 100) == {2}
    assert set(test.qid // 100) == {3}
    assert len(train) == len(parts[3]) + len(parts[4]) + len(parts[0])
