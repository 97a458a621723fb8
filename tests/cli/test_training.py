"""Validation files by name, constraints and rows per round in a shell."""

import csv

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.cli_calls import answer, caller, cases, check_refused
from tests.helpers.random_lists import random_lists


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("letor")
    rng = np.random.default_rng(7)
    for number, name in enumerate(("train", "vali", "later")):
        X, y, sizes = random_lists(rng, queries=20, longest=20, features=4 - (name == "vali"))
        qid = np.repeat(np.arange(20) + 100 * number, sizes)
        rw.save_letor(rw.RankingData(X, y, qid=qid), folder / f"{name}.txt")
    return folder


OPTIONS = "--n-estimators 4 --min-child-samples 5 --threads 1"


def test_files_by_name(made, tmp_path, capsys):
    call = caller(capsys, made)
    model, log = tmp_path / "m.json", tmp_path / "log.csv"
    line = f"train @train.txt --valid @vali.txt --valid late=@later.txt --model {model} {OPTIONS}"
    found = answer(call(f"{line} --log-csv {log} --json"))
    assert list(found["valid_sets"]) == ["vali", "late"]
    assert found["valid"] == found["valid_sets"]["vali"]
    assert found["valid_sets"]["late"]["queries"] == 20
    assert {data["features"] for data in found["valid_sets"].values()} == {4}
    history = rw.Ranker.load(model).history_
    assert list(history) == list(found["valid_metrics"]) == ["ndcg@10", "late ndcg@10"]
    with open(log, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["late ndcg@10"]) for row in rows] == history["late ndcg@10"]
    assert [float(row["vali ndcg@10"]) for row in rows] == history["ndcg@10"]
    code, out, err = call(line)
    assert (code, err) == (0, "") and "Validation, late" in out


def test_constraints_by_the_numbers_of_the_file(made, tmp_path, capsys):
    call = caller(capsys, made)
    model = tmp_path / "m.json"
    line = f"train @train.txt --model {model} {OPTIONS} --monotone 1=-1 --monotone 3=1"
    answer(call(f"{line} --interactions 1,2 --json"))
    params = rw.Ranker.load(model).get_params()
    assert params["monotone"] == {"0": -1, "2": 1} and params["interactions"] == [[0, 1]]


@pytest.mark.parametrize(
    ("line", "message"),
    cases("""
train @train.txt --model m.json --valid a=@vali.txt --valid a=@later.txt -> two files of the name 'a'
train @train.txt --model m.json --valid =@vali.txt -> --valid must be NAME=FILE or FILE
train @train.txt --model m.json --valid late=@nowhere.txt -> nowhere.txt
train @train.txt --model m.json --log-csv m.json -> given for both the model and the rounds
train @train.txt --model m.json --log-csv nowhere/log.csv -> there is no directory nowhere
train @train.txt --model m.json --log-csv @train.txt -> is read by this command
train @train.txt --model m.json --monotone 9=1 -> train.txt has features 1 to 4, got 9.
train @train.txt --model m.json --interactions 1,2 --interactions 3,5 -> train.txt has features 1 to 4, got 5.
train @train.txt --model m.json --monotone 1=1 --monotone 1=-1 -> --monotone names a feature twice
train @train.txt --model m.json --interactions 1,x -> no feature 'x'; features have no names here, and are f1 to f4.
train @train.txt --model m.json --engine neural --monotone 1=1 -> --monotone applies to trees
"""),
)
def test_refused(made, tmp_path, capsys, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    check_refused(caller(capsys, made), line, message, 1, made, tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    cases("""
train @train.txt --model m.json --monotone 1=2 -> expected FEATURE=1 or FEATURE=-1, got '1=2'
train @train.txt --model m.json --monotone 0=1 -> expected at least 1, got 0
train @train.txt --model m.json --param monotone=1 -> monotone has an option of its own: --monotone
"""),
)
def test_refused_arguments(made, tmp_path, capsys, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    check_refused(caller(capsys, made), line, message, 2, made, tmp_path)
