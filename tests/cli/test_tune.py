"""``rankwood tune``."""

import json

import pytest

import rankwood as rw
from rankwood.render import theme
from tests.helpers.cli_calls import answer, caller, cases, check_help, check_refused, complaint
from tests.helpers.small_study import data, interrupt_fit

SMALL = "--n-estimators 6 --num-leaves 5 --threads 1"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    train, valid = data()
    rw.save_letor(train, folder / "train.txt")
    rw.save_letor(valid, folder / "valid.txt")
    rw.save_letor(rw.make_ranking(20, seed=9), folder / "test.txt")
    (folder / "space.txt").write_text("Space({'num_leaves': Integer(2, 9)})  # small")
    return folder


@pytest.fixture
def call(capsys, made):
    return caller(capsys, made, "tune")


def test_networks(call, made, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "space.txt").write_text("Space({'hidden': Choice((8,), (4, 2))})")
    line = (
        f"@train.txt --valid @valid.txt --engine neural --architecture gsf --n-estimators 2 --threads 1 "
        f"--space {tmp_path}/space.txt --tuner random --start none --trials 3 --model {tmp_path}/n.json --json"
    )
    found = answer(call(line))
    assert found["counts"] == {"complete": 3, "pruned": 0, "failed": 0}
    train, valid = (rw.load_letor(made / f"{n}.txt") for n in ("train", "valid"))
    ranker = rw.NeuralRanker("gsf", epochs=2, early_stopping_rounds=50, n_jobs=1)
    space = {"hidden": rw.spaces.Choice((8,), (4, 2))}
    same = rw.tune(ranker, train, valid, space=space, tuner="random", trials=3, start=None)
    assert [row["value"] for row in found["trials"]] == same.trials["value"].tolist()
    assert [tuple(row["hidden"]) for row in found["trials"]] == same.trials["hidden"].tolist()
    loaded = rw.NeuralRanker.load(tmp_path / "n.json")
    assert loaded.predict(valid).tolist() == same.best.predict(valid).tolist()
    code, _, err = call("@train.txt --valid @valid.txt --architecture gsf")
    assert code and "--architecture needs --engine neural" in err


def test_two_stages(call, made, tmp_path):
    (tmp_path / "space.txt").write_text(
        "Space({'second__num_leaves': Integer(2, 7), 'top': Choice(3, 5)})"
    )
    line = (
        f"@train.txt --valid @valid.txt {SMALL} --second lambdarank-ndcg@3 --second-param n_estimators=4 "
        f"--first-folds 2 --top 5 --metric ndcg@3 --space {tmp_path}/space.txt --tuner random --trials 3 "
        f"--model {tmp_path}/m.json"
    )
    found = answer(call(line + " --json"))
    train, valid = (rw.load_letor(made / f"{n}.txt") for n in ("train", "valid"))
    first = rw.Ranker(n_estimators=6, num_leaves=5, eval_metric="ndcg@3", n_jobs=1)
    second = rw.Ranker("lambdarank-ndcg@3", n_estimators=4, eval_metric="ndcg@3", n_jobs=1)
    stages = rw.TwoStage(first, second, top=5, folds=2)
    space = {"second__num_leaves": rw.spaces.Integer(2, 7), "top": rw.spaces.Choice(3, 5)}
    same = rw.tune(stages, train, valid, space=space, tuner="random", trials=3, metric="ndcg@3")
    assert [row["value"] for row in found["trials"]] == same.trials["value"].tolist()
    assert found["best_params"] == same.best_params
    assert found["trees"] == same.best.second_.best_iteration_
    loaded = rw.TwoStage.load(tmp_path / "m.json")
    assert loaded.predict(valid).tolist() == same.best.predict(valid).tolist()
    code, out, _ = call(line)
    assert code == 0 and "second__num_leaves" in out


def test_everything(call, made, tmp_path):
    line = (
        f"@train.txt --valid @valid.txt --valid later=@valid.txt --test @test.txt {SMALL} --space @space.txt "
        f"--tuner random --trials 4 --metric ndcg@5 --metric map --pruner none --model {tmp_path}/best.json "
        f"--output {tmp_path}/page.html "
        f"--storage {tmp_path}/study.db"
    )
    found = answer(call(line + " --json"))
    train, valid, test = (rw.load_letor(made / f"{n}.txt") for n in ("train", "valid", "test"))
    ranker = rw.Ranker(n_estimators=6, num_leaves=5, n_jobs=1, eval_metric=["ndcg@5", "map"])
    tuning = rw.tune(
        ranker,
        train,
        valid,
        space={"num_leaves": rw.spaces.Integer(2, 9)},
        tuner="random",
        trials=4,
        pruner=None,
    )
    assert found["best_params"] == tuning.best_params
    assert found["best_value"] == pytest.approx(tuning.best_value)
    assert list(found["valid_sets"]) == ["valid", "later"]
    assert [row["num_leaves"] for row in found["trials"]] == tuning.trials["num_leaves"].tolist()
    best = rw.Ranker.load(tmp_path / "best.json")
    mean = rw.evaluate(["ndcg@5", "map"], test, best.predict(test)).mean()
    assert found["test"]["metrics"] == pytest.approx(mean)
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    code, out, err = call(line)  # all trials are in the storage
    assert (code, err) == (0, "")
    for text in ("Best parameters", "num_leaves", "Test", "rankwood evaluate TEST", "study.db"):
        assert text in out


def test_folds_and_markdown(call, tmp_path):
    line = f"@train.txt --folds 2 {SMALL} --space @space.txt --trials 2 --output {tmp_path}/page.md"
    found = answer(call(line + " --json"))
    assert found["folds"] == 2
    assert found["valid"] is None
    assert "2 folds" in (tmp_path / "page.md").read_text()
    json.dumps(found, allow_nan=False)


def test_interrupt(call, monkeypatch, tmp_path):
    interrupt_fit(monkeypatch, 3)
    line = f"@train.txt --valid @valid.txt {SMALL} --space @space.txt --trials 5 --model {tmp_path}/m.json"
    code, out, err = call(line)
    assert (code, out) == (1, "")
    assert "2 finished trials" in err
    assert err.rstrip().endswith(f"its model is saved in {tmp_path}/m.json.")
    assert rw.Ranker.load(tmp_path / "m.json").best_iteration_ >= 1


@pytest.mark.parametrize(
    ("line", "message"),
    cases(
        """
@train.txt -> give either --valid FILE or --folds N
@train.txt --valid @valid.txt --folds 2 -> give either --valid FILE or --folds N
@train.txt --valid @valid.txt --space which-trick-2023 -> did you mean 'which-tricks-2023'?
@train.txt --valid @valid.txt --space @train.txt -> not a space
@train.txt --valid @valid.txt --metric ndgc -> did you mean 'ndcg'
@train.txt --valid @valid.txt --engine lightgmb -> unknown engine
@train.txt --valid @valid.txt --model no/such/m.json -> there is no directory
@train.txt --valid @valid.txt --model @valid.txt -> is read by this command
@train.txt --valid @valid.txt --model m.x --output m.x -> must be different files
@train.txt --valid @nothing.txt -> nothing.txt
@train.txt --folds 2 --second lambdarank-ndcg@5 -> two stages have folds of their own
@train.txt --valid @valid.txt --top 5 -> --top needs --second
@train.txt --valid @valid.txt --first-folds 5 -> --first-folds needs --second
@train.txt --valid @valid.txt --seconds 0 -> seconds must be positive
@train.txt --valid @valid.txt --param num_leafs=3 -> num_leafs
"""
    ),
)
def test_refused(call, made, tmp_path, monkeypatch, line, message):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    check_refused(call, line, message, 1, made, tmp_path)


def test_a_missing_package_is_found_before_the_search(call, monkeypatch, tmp_path):
    def missing():
        raise rw.InputError("pages need Jinja2")

    monkeypatch.setattr(theme, "environment", missing)
    interrupt_fit(monkeypatch, 1)
    line = f"@train.txt --valid @valid.txt {SMALL} --space @space.txt --trials 1"
    assert "pages need Jinja2" in complaint(call(f"{line} --output {tmp_path}/page.html"))
    assert "interrupted" in complaint(call(f"{line} --output {tmp_path}/page.md"))


def test_help(call):
    check_help(call("--help"), "tune")


def test_choices_are_those_of_the_library():
    from rankwood.cli.commands import tune
    from rankwood.tuning import pruners, tuners

    assert tune._TUNERS == tuners.TUNERS
    assert (*pruners.PRUNERS, "none") == tune._PRUNERS
