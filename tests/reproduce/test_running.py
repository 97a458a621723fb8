"""Runs: what is finished stays, whatever happens, and the numbers don't depend on how a run went."""

import errno
import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.metrics.evaluate import evaluate
from rankwood.reproduce import cells, plan, programs, run, running
from rankwood.reproduce.cells import RecipeCell, Store, pack, unpack
from tests.helpers import tiny_paper as tiny

#: Forks a process for each run and kills it, so that the package is imported once.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from rankwood.reproduce import run
from rankwood.reproduce.recipes import reading
import lightgbm, matplotlib.figure, rankwood.estimators.two_stage.estimator
recipes, data, out, kills = sys.argv[1:]
reading._FOLDER = Path(recipes)
draw, killed = random.Random(7), 0
def go():
    run("tiny/all", {"mslr10k": data}, out, verbose=False)
while True:
    child = os.fork()
    if child == 0:
        go()
        os._exit(0)
    if killed == int(kills):
        break
    time.sleep(draw.uniform(0.02, 0.5))
    os.kill(child, signal.SIGKILL)
    killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    for path in Path(out).rglob("*.json"):
        path.read_text().index('"digest"')
assert os.waitpid(child, 0)[1] == 0
"""


def pages(folder, skip=("tiny-table4",)):
    """Return the bytes of all pages and pictures, but those of times."""
    return {
        path.name: path.read_bytes()
        for path in Path(folder).iterdir()
        if path.is_file() and path.stem not in skip
    }


def cell_files(folder):
    return sorted(Path(folder).rglob("cells/*/*.json"))


@pytest.mark.slow
def test_a_killed_run_goes_on(paper, data, tmp_path):
    run("tiny/all", {"mslr10k": data}, tmp_path / "undisturbed", verbose=False)
    words = [tmp_path / "recipes", data, tmp_path / "killed", 10]
    command = [sys.executable, "-c", KILLER, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert pages(tmp_path / "killed") == pages(tmp_path / "undisturbed")
    names = [[path.name for path in cell_files(tmp_path / f)] for f in ("killed", "undisturbed")]
    assert names[0] == names[1]


@pytest.mark.slow
def test_processes_give_the_same_bytes(paper, data, tmp_path):
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        result = run("tiny/table1", {"mslr10k": data}, out, jobs=jobs, verbose=False)
        assert (result.cells, result.computed) == (6, 6)
    assert pages(tmp_path / "1") == pages(tmp_path / "2")
    again = run("tiny/table1", {"mslr10k": data}, tmp_path / "1", jobs=2, verbose=False)
    assert again.computed == 0
    cells = [json.loads(path.read_text())["result"] for path in cell_files(tmp_path / "1")]
    spent = sum(cell["seconds"]["total"] for cell in cells if "seconds" in cell)
    assert again.seconds == pytest.approx(spent) and spent > 0


def test_values_are_those_of_a_ranker(paper, data, tmp_path):
    result = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    train, valid, test = (rw.load_letor(data / f"{n}.txt") for n in ("train", "vali", "test"))
    ranker = rw.Ranker(
        "lambdarank-ndcg@5",
        n_estimators=4,
        learning_rate=0.2,
        num_leaves=5,
        subsample=0.7,
        subsample_freq=1,
        extra_trees=False,
        eval_metric="ndcg@5",
        early_stopping_rounds=4,
    )
    scores = ranker.fit(train, valid=valid).predict(test)
    wanted = evaluate("ndcg@5", test, scores, ties="input", empty=1).mean()["ndcg@5"]
    lines = [line.split(",") for line in result.to_csv().splitlines()]
    ours = lines[0].index("ours")
    [found] = [x[ours] for x in lines if x[3:6] == ["LambdaMART", "k=5", "ndcg@5"]]
    assert float(found) == pytest.approx(100 * wanted, rel=1e-12)


def test_items_share_cells(paper, data, tmp_path):
    run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    assert run("tiny/figure1", {"mslr10k": data}, tmp_path, verbose=False).computed == 0
    assert run("tiny/figure3", {"mslr10k": data}, tmp_path, verbose=False).computed == 0


def test_what_is_recorded_beside_is_added(paper, data, tmp_path, monkeypatch):
    run("tiny/table1", {"mslr10k": data}, tmp_path / "out", verbose=False)
    before = {path.name for path in cell_files(tmp_path / "out")}
    text = tiny.RECIPE.replace('curve = "valid"', 'curve = "effective_pairs"')
    tiny.use(monkeypatch, tmp_path / "more", text)
    found = run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False)
    assert found.computed == 2
    assert {path.name for path in cell_files(tmp_path / "out")} == before
    # What a cell has stays when more is asked of it, and then nothing is computed again.
    tiny.use(monkeypatch, tmp_path / "train", text.replace('"effective_pairs"', '"train"'))
    assert run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False).computed == 2
    tiny.use(monkeypatch, tmp_path / "more", text)
    assert run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False).computed == 0


def test_limits_make_other_cells(paper, data, tmp_path):
    first = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    for limit in ({"trees": 2}, {"queries": 10}):
        smaller = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False, **limit)
        trained = 4 if "trees" in limit else 6
        assert smaller.computed == trained
        assert "This run was made smaller" in smaller.to_markdown()
    two = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False, seeds=2)
    assert (two.computed, two.cells) == (4, 10)
    assert "made smaller" not in first.to_markdown()
    few = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False, rows="rank*")
    assert few.cells == 4  # RankNet and the baseline


def test_cells_of_other_programs_are_computed_again(paper, data, tmp_path, monkeypatch):
    how = {"verbose": False, "rows": "rank*"}
    first = run("tiny/table1", {"mslr10k": data}, tmp_path, **how)
    assert first.computed == 4
    known = programs.programs_of({"engine": "lightgbm"})
    assert set(known) == {"rankwood", "code", "lightgbm"}
    for change, text in (
        ({"code": "0"}, "the code of rankwood has changed"),
        ({"lightgbm": "0.1"}, f"lightgbm was {known['lightgbm']} and is 0.1"),
        ({"rankwood": "9.9"}, f"rankwood was {rw.__version__} and is 9.9"),
    ):
        monkeypatch.setattr(plan, "programs_of", lambda spec, change=change: {**known, **change})
        with pytest.warns(UserWarning, match=rf"computed by other programs.*{re.escape(text)}"):
            again = run("tiny/table1", {"mslr10k": data}, tmp_path, **how)
        assert again.computed == 4
        assert again.to_csv() == first.to_csv()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run("tiny/table1", {"mslr10k": data}, tmp_path, **how).computed == 0


def test_cells_of_earlier_versions_are_named(paper, data, tmp_path):
    how = {"verbose": False, "rows": "rank*"}
    run("tiny/table1", {"mslr10k": data}, tmp_path, **how)
    for path in cell_files(tmp_path):  # as 0.4 wrote them
        content = json.loads(path.read_text())
        del content["cell"]["programs"]
        content["cell"]["version"] = "0.4.0"
        path.rename(path.with_name("0" * 64 + path.stem[:8] + ".json")).write_text(
            json.dumps(content)
        )
    with pytest.warns(
        UserWarning, match=rf"4 cells in .* rankwood was 0.4.0 and is {rw.__version__}"
    ):
        assert run("tiny/table1", {"mslr10k": data}, tmp_path, **how).computed == 4


def test_programs_are_those_that_a_cell_depends_on():
    def code(**spec):
        return programs.programs_of(spec)["code"]

    trees = code(engine="lightgbm", tuner=None)
    assert trees == code(engine="lightgbm")
    assert len({trees, code(engine="catboost"), code(engine="neural"), code()}) == 4
    assert code(engine="lightgbm", tuner={"name": "random"}) != trees
    first = {"first": {"engine": "lightgbm"}}
    stages = programs.programs_of({"engine": "neural", "two_stage": first})
    assert {"lightgbm", "torch"} <= set(stages)
    names = [str(path) for path in programs._files([*programs._EVERY, "neural", "tuning"])]
    for part in (
        "objectives/families/lambdaex.py",
        "fit/loop.py",
        "neural/learner.py",
        "_kernels/",
    ):
        assert any(part in name for name in names)
    assert not any(part in name for name in names for part in ("cli/", "render/", "kinds/"))
    # Every pattern stands for something.
    assert all(programs._files([name]) for name in [*programs._EVERY, *programs._TUNED])


def test_a_damaged_cell_is_computed_again(paper, data, tmp_path):
    run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    wanted = pages(tmp_path)
    first, second, third, fourth, fifth, _ = cell_files(tmp_path)
    first.write_bytes(first.read_bytes()[:100])
    second.write_text(json.dumps({"digest": "other", "result": {}}))
    third.write_text(json.dumps({"digest": third.stem}))
    for path, damage in (
        (fourth, b"AAAA"),
        (fifth, b""),
    ):  # values that can't be unpacked; lost ones
        text = path.read_bytes()
        at = text.index(b'"float64": "') + len(b'"float64": "')
        path.write_bytes(text[:at] + damage + text[at + 4 :])
    assert run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False).computed == 5
    assert pages(tmp_path) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_is_one_sentence(paper, data, tmp_path, monkeypatch, jobs):

    if jobs == 2:  # other processes can't be changed from here: their error arrives as it is

        def fail(*args):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(running, "_side_by_side", fail)
    else:
        written = []
        true_write = Store.write

        def write(self, cell, about, result):
            if len(written) == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            written.append(cell.digest)
            true_write(self, cell, about, result)

        monkeypatch.setattr(Store, "write", write)
    with pytest.raises(InputError, match=r"no space left .* finished cells stay"):
        run("tiny/table1", {"mslr10k": data}, tmp_path, jobs=jobs, verbose=False)
    assert len(cell_files(tmp_path)) == (2 if jobs == 1 else 0)
    assert not list(tmp_path.rglob("*.tmp"))
    monkeypatch.undo()


@pytest.mark.slow
def test_a_killed_process_is_one_sentence(paper, data, tmp_path, monkeypatch):
    def cells_of_which_one_is_killed(todo, store, jobs):
        from joblib import Parallel, delayed

        yield running.run_cell(todo[0], store.folder, 1)
        Parallel(n_jobs=2)(delayed(os._exit)(1) for _ in range(2))

    monkeypatch.setattr(running, "_side_by_side", cells_of_which_one_is_killed)
    with pytest.raises(InputError, match=r"a process was killed.*finished cells stay"):
        run("tiny/table1", {"mslr10k": data}, tmp_path, jobs=2, verbose=False)
    assert len(cell_files(tmp_path)) == 1


@pytest.mark.slow
def test_an_interrupt_says_what_stays(paper, data, tmp_path, monkeypatch):
    done = []

    def compute(*args, **kwargs):
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(1)
        return {"has": []}

    monkeypatch.setattr(running, "compute", compute)
    with pytest.raises(KeyboardInterrupt, match="finished cells stay"):
        run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    assert len(cell_files(tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_fails_stops_no_other(paper, data, tmp_path, monkeypatch, jobs):
    text = tiny.RECIPE.replace(
        "params = { learning_rate = 0.1 }\nprinted", "params = { max_bin = 1 }\nprinted"
    )
    tiny.use(monkeypatch, tmp_path / "wrong", text)
    found = run("tiny/table1", {"mslr10k": data}, tmp_path / "out", jobs=jobs, verbose=False)
    assert (found.cells, found.computed, len(found.failed)) == (6, 4, 2)
    page = found.to_markdown()
    assert "Could not be computed: RankNet, k = 3, small: " in page
    assert "max\\_bin" in page
    assert "| LambdaMART |" in page
    again = run("tiny/table1", {"mslr10k": data}, tmp_path / "out", jobs=jobs, verbose=False)
    assert (again.computed, len(again.failed)) == (0, 2)
    tiny.use(monkeypatch, tmp_path / "all", text.replace("num_leaves = 5", "max_bin = 1"))
    with pytest.raises(InputError, match="no cell could be computed"):
        run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False)


def test_digests_are_of_values_alone():
    one = RecipeCell({"a": 1, "b": {"c": [1, 2.5], "d": None}})
    same = RecipeCell({"b": {"d": None, "c": [1, 2.5]}, "a": 1})
    assert one.digest == same.digest != RecipeCell({"a": 2, "b": {"c": [1, 2.5], "d": None}}).digest
    # Cells of earlier versions must be found: the canonical text must not change.
    text = '{"a":1,"format":1}'
    assert RecipeCell({"a": 1}).digest == hashlib.sha256(text.encode()).hexdigest()
    assert cells.FORMAT == 1


def test_packed_values_keep_all_bits(rng):
    values = np.concatenate([rng.normal(size=50), [np.nan, np.inf, -0.0, 5e-324]]).reshape(2, 27)
    again = unpack(json.loads(json.dumps(pack(values))))
    assert values.tobytes() == again.tobytes()
    assert again.shape == (2, 27)
