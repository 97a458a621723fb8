"""The command line, as people and programs use it."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.cli.shared import file_access
from rankwood.cli.training.options import TUNING
from rankwood.data.demo import PARTS, load_demo
from rankwood.data.synthetic import make_ranking
from rankwood.estimators.ranker import Ranker
from tests.helpers.cli_calls import answer, caller, cases, check_help, check_refused, complaint
from tests.helpers.paths import DOCS

FAST = ["--n-estimators", "8", "--num-leaves", "7", "--threads", "2"]


@pytest.mark.parametrize("call", ["objectives lambdagap-s", "metrics arpk"])
def test_a_name_that_needs_a_cutoff_is_explained_without_one(call, capsys):
    kind, name = call.split()
    assert main([kind, name]) == 0
    shown = capsys.readouterr().out
    assert "lambdagap2025" in shown and "Made of with k=10" in shown
    assert main([kind, name, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    make = rw.objective if kind == "objectives" else rw.metric
    assert made["example"] == {"k": 10} and made["composition"] == repr(make(name, k=10))
    assert main([kind, f"{name}@3", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert "example" not in made and made["composition"] == repr(make(name, k=3))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small data set, and a model trained on it."""
    folder = tmp_path_factory.mktemp("cli")
    everything = make_ranking(45, documents=12, features=10, seed=3)
    for name, queries in {
        "train": range(25),
        "valid": range(25, 35),
        "test": range(35, 45),
    }.items():
        rw.save_letor(everything.select(list(queries)), folder / f"{name}.txt")
    files = [str(folder / f"{n}.txt") for n in ("train", "valid")]
    assert main(["train", files[0], "--valid", files[1], "--model", f"{folder}/m.json", *FAST]) == 0
    return folder


@pytest.fixture
def call(capsys, made, monkeypatch, tmp_path):
    """Run a command line in an empty directory; `@name` is a file of the fixture `made`."""
    monkeypatch.chdir(tmp_path)
    return caller(capsys, made)


SECOND = "--n-estimators 3 --num-leaves 4 --second-param n_estimators=3 --second-param num-leaves=4"


@pytest.mark.parametrize("objective", ["lambdarank-ndcg@5", "bi-softmax"])
def test_models_of_two_stages(call, made, objective):
    train, test = (rw.load_letor(made / f"{name}.txt") for name in ("train", "test"))
    small = {"n_estimators": 3, "num_leaves": 4, "n_jobs": 1}
    engine = "pairtree" if "bi-" in objective else "lightgbm"
    second = Ranker(objective, engine, **small)
    scores = rw.TwoStage(Ranker(**small), second, top=4, folds=2).fit(train).predict(test)
    # The same from the shell: the engine of the second stage follows from its objective.
    line = f"train @train.txt --model two.json --second {objective} --top 4 --folds 2 {SECOND}"
    result = answer(call(f"{line} --json"))
    assert result["second"]["engine"] == engine
    assert result["second"]["first_best_iterations"] == [3, 3] and result["rounds"] == 3
    code, out, err = call("predict two.json @test.txt --threads 2")
    assert (code, err) == (0, "")
    assert [float(line) for line in out.splitlines()] == scores.tolist()
    found = answer(call("evaluate @test.txt two.json --metric ndcg@5 --json"))
    assert found["metrics"] == rw.evaluate("ndcg@5", test, scores).mean()
    both = answer(call("compare @test.txt two.json @m.json --metric ndcg@5 --json"))
    assert both["models"] == ["two", "m"]
    Path("other.json").write_text(
        json.dumps(json.loads(Path("two.json").read_text()), separators=(",", ":"))
    )
    assert call("predict other.json @test.txt")[:2] == (0, out)


def test_two_stages_say_what_they_did_and_how_files_are_read(call):
    line = f"train @train.txt --valid @valid.txt --model two.json --absent nan {SECOND} "
    code, out, _ = call(line + "--second softmax --folds 3 --top 5 --eval-metric ndcg@5")
    assert code == 0
    assert re.search(r"First stage +3 models of [123]( to [123])? trees?", out)
    assert re.search(r"Second stage +softmax, lightgbm, top 5", out)
    assert re.search(r"ndcg@5 +0\.\d{4} on validation", out)
    model = rw.TwoStage.load("two.json")
    assert model.letor_["absent"] == "nan"
    both = [model.second.get_params(), model.first.get_params()]
    assert [(p["objective"], p["n_estimators"], p["eval_metric"]) for p in both] == [
        ("softmax", 3, ["ndcg@5"]),
        ("lambdarank-ndcg@10", 3, ["ndcg@5"]),
    ]
    model.save("again.json")
    assert Path("again.json").read_bytes() == Path("two.json").read_bytes()
    more = (
        "--second ranknet --second-param reg_lambda=2 --serve refit --ideal list --seed 4 --quiet"
    )
    assert call(f"{line} --learning-rate 0.3 --folds 2 {more}") == (0, "", "")
    model = rw.TwoStage.load("two.json")
    assert (model.serve, model.ideal, model.random_state) == ("refit", "list", 4)
    assert model.refit_.best_iteration_ <= 3
    assert (model.first.learning_rate, model.second.learning_rate) == (0.3, None)
    assert (model.first.reg_lambda, model.second.reg_lambda) == (0.0, 2)


# What works


def test_train_says_what_it_did(call):
    fast = " ".join(FAST)
    code, out, _ = call(f"train @train.txt --valid @valid.txt --model m.json {fast}")
    assert code == 0
    for text in ("25 queries, 300 documents, 10 features", "10 queries", "lambdarank-ndcg@10"):
        assert text in out
    assert re.search(r"Rounds +8 of 8, best \d", out)
    assert "rankwood predict m.json TEST --output scores.txt" in out
    assert "rankwood evaluate TEST m.json --metric ndcg@10" in out
    assert Ranker.load("m.json").best_iteration_ <= 8


def test_train_in_json(call):
    line = "train @train.txt --valid @valid.txt --model m.json --json --eval-metric ndcg@5 "
    result = answer(call(line + "--eval-metric dcg --early-stopping-rounds 2 --n-estimators 60"))
    model = Ranker.load("m.json")
    assert result["best_iteration"] == model.best_iteration_
    assert result["rounds"] == min(60, result["best_iteration"] + 2)
    assert list(result["valid_metrics"]) == ["ndcg@5", "dcg"]
    curve = model.history_["ndcg@5"]
    assert result["valid_metrics"]["ndcg@5"] == max(curve) == curve[model.best_iteration_ - 1]
    assert result["train"]["documents"] == 300
    seconds = dict(result["seconds"])
    assert seconds.pop("total") == pytest.approx(sum(seconds.values()))


def test_train_without_validation_keeps_every_round(call):
    result = answer(call(f"train @train.txt --model m.json --json {' '.join(FAST)}"))
    assert (result["rounds"], result["best_iteration"], result["valid"]) == (8, 8, None)
    assert result["valid_metrics"] == {}


def test_train_hands_parameters_on(call):
    line = "train @train.txt --model m.json --quiet --n-estimators 3 --seed 5 --learning-rate 0.3 "
    code, out, err = call(
        line + "--param max_depth=2 --param extra-trees=true --param reg_lambda=1.5"
    )
    assert (code, out, err) == (0, "", "")
    params = Ranker.load("m.json").get_params()
    assert params["max_depth"] == 2
    assert params["extra_trees"] is True
    assert params["reg_lambda"] == 1.5
    assert (params["random_state"], params["learning_rate"]) == (5, 0.3)


def test_files_of_different_width(call, made):
    wide = [line.replace(" 10:", " 12:") for line in (made / "train.txt").read_text().splitlines()]
    Path("wide.txt").write_text("\n".join(wide))
    for one, other in (("wide.txt", "@valid.txt"), ("@valid.txt", "wide.txt")):
        result = answer(call(f"train {one} --valid {other} --model m.json --json {' '.join(FAST)}"))
        assert result["train"]["features"] == result["valid"]["features"] == 12
        assert "features up to 10, the model was trained on 12" in complaint(
            call("predict m.json @test.txt --json")
        )
        code, out, err = call("predict m.json @test.txt --json --allow-missing-features")
        assert (code, json.loads(out)["data"]["features"]) == (0, 12)
        assert err.startswith("note: ") and "features up to 10, the model was trained on 12" in err


@pytest.mark.parametrize("absent", ["0", "nan"])
def test_a_file_that_lacks_the_last_features_is_refused_unless_allowed(call, made, absent):
    lines = (made / "test.txt").read_text().splitlines()
    full = [re.sub(r" (9|10):\S+", "", line) for line in lines]
    Path("narrow.txt").write_text("\n".join(full))
    how = f"--absent {absent}"
    note = (
        "note: narrow.txt has features up to 8, the model was trained on 10; "
        "the others are read as absent.\n"
    )
    for line in ("predict @m.json narrow.txt", "evaluate narrow.txt @m.json"):
        assert "--allow-missing-features" in complaint(call(f"{line} --json --cache {how}"))
        code, out, err = call(f"{line} --json --cache {how} --allow-missing-features")
        assert (code, err) == (0, note)
        assert json.loads(out)["data"]["features"] == 10
        code, out, err = call(f"{line} {how} --allow-missing-features")
        assert (code, err) == (0, note) and "note" not in out
    # A last feature that is there, but zero in every line, is not absent.
    Path("zero.txt").write_text("\n".join(f"{line} 10:{absent}" for line in full))
    assert answer(call(f"predict @m.json zero.txt --json {how}"))["data"]["features"] == 10


def test_a_file_with_more_features_than_the_model_is_refused(call):
    Path("wide.txt").write_text("0 qid:1 1:1\n1 qid:1 12:1\n")
    for line in ("predict @m.json wide.txt", "evaluate wide.txt @m.json"):
        words = complaint(call(line))
        assert "wide.txt, line 2: feature 12 in '12:1' is above 10, the number of" in words
        assert "the model was trained on" in words and "n_features" not in words
    words = complaint(call("train wide.txt --model m.json --features 11"))
    assert "line 2: feature 12 in '12:1' is above 11, the value of --features" in words


def test_labels_that_cannot_be_used_name_the_file(call, made, tmp_path):
    Path("half.txt").write_text("0 qid:1 10:1\n1.5 qid:1 1:1\n")
    Path("minus.txt").write_text("0 qid:1 10:1\n-1 qid:1 1:1\n")
    Path("s.txt").write_text("1\n2\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    for line in (
        "train {} --model m.json",
        "train {} --valid @valid.txt --model m.json",
        "train @train.txt --valid {} --model m.json",
        "evaluate {} s.txt",
        "evaluate {} @m.json",
    ):
        words = complaint(call(line.format("half.txt")))
        assert words.startswith("rankwood: error: half.txt: the gain 2^y - 1 needs integer labels")
        assert "got 1.5 at row 1" in words
        words = complaint(call(line.format("minus.txt")))
        assert words.startswith("rankwood: error: minus.txt, line 2: the label '-1' is negative")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    linear = answer(call("evaluate half.txt s.txt --metric 'dcg(gain=linear)' --json"))
    assert linear["metrics"]["dcg(gain=linear)"] == pytest.approx(1.5)


def test_a_model_remembers_how_files_are_read(call, tmp_path):
    # A missing feature 2 means label 1; read as 0 it would mean label 0.
    kinds = ["0 qid:{q} 1:1 2:0", "1 qid:{q} 1:1", "2 qid:{q} 1:1 2:2"]
    lines = [kinds[i % 3].format(q=i // 10) for i in range(400)]
    lines[1::6] = [line + " 2:?" for line in lines[1::6]]
    (tmp_path / "holes.txt").write_text("\n".join(lines))
    line = "train holes.txt --model 'my model.json' --absent nan --marker --json --n-estimators 5"
    code, _, error = call(line)
    assert code == 1 and "'2:?' is '?'" in error and "missing=['?'] (--missing '?')" in error
    line += " --missing '?'"
    predict, evaluate = answer(call(line))["next"]
    assert "'my model.json'" in evaluate
    for text in (predict, evaluate):
        assert call(text.removeprefix("rankwood ").replace("TEST", "holes.txt"))[0] == 0
    remembered = answer(call("predict 'my model.json' holes.txt --json"))["scores"]
    said = answer(call("predict 'my model.json' holes.txt --absent nan --json"))["scores"]
    other = answer(call("predict 'my model.json' holes.txt --absent 0 --json"))["scores"]
    assert remembered == said != other


def test_defaults_are_those_of_ranker():
    known = inspect.signature(Ranker).parameters
    for name, (_, default, _) in TUNING.items():
        assert known[name].default == default


def test_predict_gives_every_bit(call, made):
    expected = Ranker.load(made / "m.json").predict(rw.load_letor(made / "test.txt"))
    code, out, _ = call("predict @m.json @test.txt")
    assert code == 0
    assert [float(line) for line in out.splitlines()] == expected.tolist()
    code, out, _ = call("predict @m.json @test.txt --output scores.txt")
    assert (code, out) == (0, "scores.txt: scores of 120 documents\n")
    assert file_access.read_scores("scores.txt").tolist() == expected.tolist()
    assert answer(call("predict @m.json @test.txt --json"))["scores"] == expected.tolist()


def test_evaluate_scores_and_model_alike(call, made, monkeypatch):
    test = rw.load_letor(made / "test.txt")
    scores = Ranker.load(made / "m.json").predict(test)
    call("predict @m.json @test.txt --output s.txt")
    for source in ("s.txt", "@m.json"):
        result = answer(call(f"evaluate @test.txt {source} --metric ndcg@5 --metric dcg --json"))
        assert result["metrics"] == rw.evaluate(["ndcg@5", "dcg"], test, scores).mean()
    with open("s.txt") as file:
        monkeypatch.setattr(sys, "stdin", file)
        piped = answer(call("evaluate @test.txt - --metric ndcg@5 --json"))
    assert piped["metrics"]["ndcg@5"] == result["metrics"]["ndcg@5"]


def test_evaluate_states_its_rules(call):
    Path("s.txt").write_text("0\n" * 120)
    code, out, _ = call("evaluate @test.txt s.txt --convention sklearn --empty skip")
    assert code == 0
    assert re.search(r"ndcg@10 +0\.\d{5} +\d+", out)
    assert "Equal scores: average, mean over all orders." in out
    assert "Queries without relevant documents: omitted (" in out
    assert "Gain, unless a metric states another: the label." in out


def test_the_gain_is_stated_where_there_is_one(call):
    Path("s.txt").write_text("0\n" * 120)
    for words, said in {
        "arp": None,
        "map --metric bndcg@5": None,
        "ndcg(gain='linear')": None,
        "arp --metric dcg@5": "2^label - 1",
        "ndcg --metric dcg --convention trec_eval": "ndcg the label, dcg 2^label - 1",
    }.items():
        code, out, _ = call(f"evaluate @test.txt s.txt --metric {shlex.join(words.split())}")
        assert code == 0
        assert ("Gain" in out) == (said is not None)
        assert said is None or f"Gain, unless a metric states another: {said}." in out


def test_rules_go_to_evaluate(call, made):
    test = rw.load_letor(made / "test.txt")
    Path("s.txt").write_text("0\n" * 120)
    for rules in ({"ties": "best"}, {"empty": 1}, {"empty": "skip"}, {"convention": "lightgbm"}):
        words = " ".join(f"--{name} {value}" for name, value in rules.items())
        result = answer(call(f"evaluate @test.txt s.txt {words} --json"))
        expected = rw.evaluate("ndcg@10", test, np.zeros(120), **rules)
        assert result["metrics"] == expected.mean()
        assert expected.conventions.items() <= result["conventions"].items()


def test_per_query_table(call):
    assert call("evaluate @test.txt @m.json --metric ndcg@3 --per-query q.csv")[0] == 0
    first, *rows = Path("q.csv").read_text().splitlines()
    assert first == "qid,ndcg@3"
    assert len(rows) == 10


def test_means_of_nothing_are_null_in_json(call):
    Path("data.txt").write_text("0 qid:1 1:1\n0 qid:1 1:2\n")
    Path("s.txt").write_text("1\n2\n")
    result = answer(call("evaluate data.txt s.txt --empty skip --json"))
    assert result["metrics"] == {"ndcg@10": None}
    assert result["queries"] == {"ndcg@10": 0}


def test_demo_learns(call, tmp_path):
    result = answer(call("demo --json --threads 2"))
    file, single, learned = result["test_metrics"].values()
    assert list(learned) == ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "dcg@10"]
    for metric in learned:
        assert file[metric] < single[metric] < learned[metric]
    assert 0.6 < learned["ndcg@10"] < 0.85
    assert single["ndcg@10"] + 0.1 < learned["ndcg@10"]
    assert list(tmp_path.iterdir()) == []


def test_demo_keeps_what_it_used(call):
    code, out, err = call("demo --keep new/demo --threads 2")
    assert (code, err) == (0, "")
    assert "LambdaMART" in out
    for part in PARTS:
        kept, shipped = rw.load_letor(f"new/demo/{part}.txt"), load_demo(part)
        assert np.array_equal(kept.X, shipped.X, equal_nan=True)
    lines = re.findall(r"^  rankwood (.*)$", out, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        assert call(line)[0] == 0
    assert "exists already" in complaint(call("demo --keep new/demo"))


@pytest.mark.parametrize(
    ("kind", "name", "part"),
    [("objective", "lambdarank-ndcg", "Lambda"), ("metric", "ndcg", "NDCG")],
)
def test_names(call, kind, name, part):
    listed = answer(call(f"{kind}s --json"))[kind + "s"]
    about = next(entry for entry in listed if entry["name"] == name)
    assert about["parameters"]["gain"] == "exp"
    assert about["summary"].endswith(".")
    code, out, _ = call(f"{kind}s")
    assert code == 0
    assert out.count("bi-NAME: any of them") == (kind == "objective")
    # A pipe has no width: nothing is cut or broken.
    assert any(name in line and about["summary"] in line for line in out.splitlines())
    composed = answer(call(f"{kind}s {name}@7 --json"))["composition"]
    assert composed.startswith(part)
    assert repr(getattr(rw, kind)(f"{name}@7")) == composed
    for text in (f"{name}@7", composed):
        code, out, _ = call(f"{kind}s {shlex.quote(text)}")
        assert code == 0
        assert composed in out


@pytest.mark.parametrize(
    "command", ["train", "predict", "evaluate", "demo", "objectives", "metrics"]
)
def test_help_has_examples(call, command):
    check_help(call(f"{command} --help"), command)


def test_remarks_of_an_engine_are_no_output(call, monkeypatch):
    def talking(*args, **words):
        print("[LightGBM] [Warning] by the way")
        return rw.load_letor(*args, **words)

    monkeypatch.setattr("rankwood.cli.shared.file_access.load_letor", talking)
    code, out, err = call("predict @m.json @test.txt --json")
    assert code == 0
    assert len(json.loads(out)["scores"]) == 120
    assert err == "[LightGBM] [Warning] by the way\n"


# What is refused

WRONG_USE = """
trian x --model m.json -> unknown command 'trian'; did you mean 'train'
train @train.txt -> --model
train @train.txt --model m.json --n-estimator 5 -> did you mean '--n-estimators'
train @train.txt --model m.json --n-estimators many -> expected an integer, got 'many'
train @train.txt --model m.json --n-estimators 0 -> expected at least 1, got 0
train @train.txt --model m.json --param depth -> expected NAME=VALUE, got 'depth'
train @train.txt --model m.json --param num_leaves=3 -> option of its own: --num-leaves
train @train.txt --model m.json --second ranknet --second-param engine=xgboost -> option of its own: --second-engine
train @train.txt --model m.json --second ranknet --serve best -> invalid choice: 'best'
train @train.txt --model m.json --quiet --verbose -> not allowed with
predict @m.json -> DATA
evaluate @test.txt @m.json --ties lucky -> 'lucky'
evaluate @test.txt @m.json --empty 2 -> '2'
--bogus train @train.txt --model m.json -> unknown option '--bogus'
predict @m.json @test.txt --otput s.txt -> did you mean '--output'
predict @m.json @test.txt --hepl -> did you mean '--help'
"""


@pytest.mark.parametrize(("line", "message"), cases(WRONG_USE))
def test_wrong_use(call, made, tmp_path, line, message):
    check_refused(call, line, message, 2, made, tmp_path)


FAILURES = """
train @train.txt @train.txt --model m.json -> train.txt is given twice: give each file once.
train @train.txt --model m.json --y label -> --y names a column of a CSV or Parquet file
train none.txt --model m.json -> none.txt does not exist
train @train.txt --valid none.txt --model m.json -> none.txt does not exist
train @train.txt --model m.json --objective lambdarank-ndgc@10 -> did you mean 'lambdarank-ndcg' or
train @train.txt --model m.json --eval-metric ndgc@10 -> did you mean 'ndcg'
train @train.txt --model m.json --param bagging_fractoin=1 -> 'bagging_fraction'
train @train.txt --model m.json --top 5 -> --top needs --second.
train @train.txt --model m.json --second-param num_leaves=3 -> --second-param needs --second.
train @train.txt --model m.json --second ranknte -> unknown objective 'ranknte'; did you mean 'ranknet'
train @train.txt --model m.json --second ranknet --record seconds -> --record can't be combined with --second
train @train.txt --model m.json --second bi-ranknet --second-engine xgboost -> engine='xgboost'
train @train.txt --model m.json --second yetiloss-ndcg --second-engine catboost -> ideal='list'
train @train.txt --model m.json --second ranknet --second-param num_leafs=3 -> in second, neither Ranker nor
train @train.txt --model m.json --second ranknet --folds 26 -> at most the number of training queries, 25
train @train.txt --model no/m.json -> there is no directory no
train @train.txt --model . -> it is a directory
train @train.txt --model /dev/null -> it is a device
train @train.txt --model @train.txt -> is read by this command
train @train.txt --model m.json --features 4 -> feature
predict none.json @test.txt -> none.json can't be read
predict @m.json none.txt -> none.txt does not exist
predict @train.txt @test.txt -> not a Rankwood model
predict @m.json @test.txt --output no/s.txt -> there is no directory no
predict @m.json @test.txt --output /dev/stdout -> it is a device
predict @m.json @test.txt --output @test.txt -> is read by this command
evaluate @test.txt none.txt -> none.txt: No such file or directory.
evaluate none.txt @m.json -> none.txt does not exist
evaluate @test.txt @m.json --metric mdcg -> did you mean
evaluate @test.txt @m.json --metric ndcg@0 -> at least 1
evaluate @test.txt @test.txt -> line 1: expected one score, a number, got '
objectives lambdaran -> did you mean 'lambdarank-ndcg' or 'lambdarank-bndcg' or
metrics ndcg(gian=exp) -> did you mean 'gain'?
"""


@pytest.mark.parametrize(("line", "message"), cases(FAILURES))
def test_failures(call, made, tmp_path, line, message):
    if "catboost" in line:
        pytest.importorskip("catboost")
    check_refused(call, shlex.join(shlex.split(line)), message, 1, made, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.5\n" * 119, "s.txt has 119 scores, but "),
        ("", "s.txt has 0 scores, but "),
        (
            "1.5\n" * 60 + "high\n" + "1.5\n" * 59,
            "s.txt, line 61: expected one score, a number, got 'high'.",
        ),
        ("1.5\n" * 119 + "1 2\n", "s.txt, line 120: expected one score, a number, got '1 2'."),
        ("nan\n" * 120, "s.txt, line 1: expected a finite score, got 'nan'."),
        ("\xff\xfe", "s.txt is a binary file, expected one score per line."),
    ],
)
def test_bad_scores(call, text, message):
    Path("s.txt").write_bytes(text.encode("latin-1"))
    assert message in complaint(call("evaluate @test.txt s.txt"))


@pytest.mark.parametrize(
    "damage", [lambda t: t[:500], lambda t: t.replace("leaf_value=", "leaf_value=9", 1)]
)
def test_damaged_model(call, made, damage):
    Path("m.json").write_text(damage((made / "m.json").read_text()))
    assert "m.json" in complaint(call("predict m.json @test.txt"))
    assert "m.json" in complaint(call("evaluate @test.txt m.json"))


# What is interrupted


def interrupting(after):
    """Return a stand-in for a round's evaluation that the user interrupts after so many rounds."""
    from rankwood.fit.observers.evaluation import Evaluations

    after_round = Evaluations.after_round

    def interrupted(self, run):
        if run.number > after:
            raise KeyboardInterrupt
        return after_round(self, run)

    return interrupted


def test_an_interrupted_run_keeps_its_trees(call, monkeypatch):
    monkeypatch.setattr(
        "rankwood.fit.observers.evaluation.Evaluations.after_round", interrupting(4)
    )
    words = complaint(call("train @train.txt --model m.json --n-estimators 30"))
    assert re.search(r"interrupted; the model so far, [45] trees, is saved in m\.json\.", words)
    assert Ranker.load("m.json").best_iteration_ in (4, 5)
    assert call("predict m.json @test.txt")[0] == 0


def test_interrupted_before_anything_was_learned(call, monkeypatch, tmp_path):
    monkeypatch.setattr("rankwood.cli.shared.file_access.load_letor", interrupted_reading)
    assert complaint(call("train @train.txt --model m.json")) == "rankwood: error: interrupted.\n"
    assert list(tmp_path.iterdir()) == []


def interrupted_reading(*_, **__):
    raise KeyboardInterrupt


def test_out_of_memory(call, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rankwood.cli.shared.file_access.load_letor", full)
    assert "there is not enough memory." in complaint(call("train @train.txt --model m.json"))


# As a process


def process(*words):
    return subprocess.run(
        [sys.executable, "-m", "rankwood", *words], capture_output=True, text=True, check=False
    )


def test_exit_codes_of_a_process(made, tmp_path):
    done = process("--version")
    assert (done.returncode, done.stdout) == (0, f"rankwood {rw.__version__}\n")
    done = process("evaluate", str(made / "test.txt"), str(tmp_path / "none.txt"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_wrong_use_of_a_process():
    done = process("evaluate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rankwood: error: ")
    done = process()
    assert done.returncode == 2
    assert "Try: rankwood demo" in done.stderr


# The documentation


@pytest.mark.slow
def test_lines_of_the_documentation_run(call):
    pytest.importorskip("optuna", reason="a line tunes")
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        assert line.startswith("$ rankwood ")
        code, _, err = call(line.removeprefix("$ rankwood "))
        assert (code, err) == (0, ""), line
