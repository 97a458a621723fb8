"""CSV and Parquet files, and several training files, in every command that takes documents."""

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.cli_calls import answer, caller, cases, check_refused
from tests.helpers.optional import LazyPackage

pandas = LazyPackage("pandas")
pytest.importorskip("pyarrow")
FEW = "--n-estimators 4 --threads 1"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The same documents as LETOR text, CSV and Parquet, with columns of text too; halves of the training data."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(3)
    for part in ("train", "valid", "test"):
        data = rw.load_demo(part)
        data = rw.RankingData(data.X[:, :5], data.y, qid=data.qid)
        rw.save_letor(data, folder / f"{part}.txt")
        values = np.round(np.asarray(data.X, np.float64), 3)  # as they are written
        table = pandas.DataFrame(values, columns=["bm25", "clicks", "price", "age", "size"])
        table.insert(0, "query_id", data.qid)
        table["grade"] = data.y.astype(int)
        table.to_csv(folder / f"{part}.csv", index=False)
        table.to_parquet(folder / f"{part}.parquet")
        table["shop"] = rng.choice(["north", "south"], len(table))
        table["title"] = "words"
        table.to_csv(folder / f"{part}_words.csv.gz", index=False)
        table.to_parquet(folder / f"{part}_words.parquet")
        table.drop(columns=["query_id", "grade", "title"]).to_csv(
            folder / f"{part}_bare.csv", index=False
        )
        if part == "train":
            rw.save_letor(data.select(np.arange(60)), folder / "a.txt")
            rw.save_letor(data.select(np.arange(60, 120)), folder / "b.txt")
            table = table.drop(columns=["shop", "title"])
            first = table["query_id"].isin(data.groups.ids[:60])
            table[first].to_csv(folder / "a.csv", index=False)
            table[~first].to_csv(folder / "b.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def models(made, tmp_path_factory):
    """A model of the numbers, and one with a category, trained by the command line."""
    from rankwood.cli import main

    folder = tmp_path_factory.mktemp("models")
    shared = ["--valid", str(made / "valid.csv"), *FEW.split(), "-q"]
    assert main(["train", str(made / "train.csv"), "--model", str(folder / "m.json"), *shared]) == 0
    words = ["--ignore", "title", "--categorical", "shop", *FEW.split(), "-q"]
    file, model = str(made / "train_words.csv.gz"), str(folder / "w.json")
    assert main(["train", file, "--model", model, *words]) == 0
    return folder


@pytest.fixture
def call(capsys, made):
    return caller(capsys, made)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_train(made, tmp_path, call, ending):
    line = f"train @train.{ending} --valid @valid.{ending} --model {tmp_path}/m.json {FEW} --json"
    found = answer(call(line))
    ours = rw.load(tmp_path / "m.json")
    assert found["train"]["queries"] == 120 and found["valid"]["documents"] == len(
        rw.load_demo("valid")
    )
    read = pandas.read_csv if ending == "csv" else pandas.read_parquet
    tables = [read(made / f"{part}.{ending}") for part in ("train", "valid")]
    same = rw.Ranker(n_estimators=4, n_jobs=1)
    same.fit(tables[0], y="grade", qid="query_id", valid=tables[1])
    assert ours.model_.text == same.model_.text and ours.history_ == same.history_
    assert list(ours.feature_names_in_) == ["bm25", "clicks", "price", "age", "size"]


@pytest.mark.parametrize("files", ["@a.txt @b.txt", "@a.csv @b.csv"])
def test_several_files_are_one_set(made, tmp_path, call, files):
    whole = "@train.txt" if ".txt" in files else "@train.csv"
    lines = {"several": files, "one": whole}
    for name, given in lines.items():
        model = tmp_path / f"{name}.json"
        found = answer(call(f"train {given} --model {model} {FEW} --valid @valid.txt --json"))
        assert found["train"]["queries"] == 120
    several, one = (rw.load(tmp_path / f"{name}.json") for name in lines)
    assert several.model_.text == one.model_.text and several.history_ == one.history_
    page = f"tune {files} --folds 2 --trials 1 --tuner random {FEW} --json"
    pytest.importorskip("optuna")
    assert answer(call(page))["train"]["queries"] == 120


def test_predict_and_evaluate(made, models, tmp_path, call):
    model = rw.load(models / "m.json")
    data = rw.load_letor(made / "test.txt")
    scores = model.predict(np.asarray(pandas.read_csv(made / "test.csv").iloc[:, 1:6]))
    mean = rw.evaluate("ndcg@10", data, scores).mean()
    for ending in ("csv", "parquet"):
        for name in ("test", "test_words"):
            file = (
                f"@{name}.csv.gz"
                if (name, ending) == ("test_words", "csv")
                else f"@{name}.{ending}"
            )
            found = answer(call(f"predict {models}/m.json {file} --json"))
            assert found["scores"] == scores.tolist()
            assert answer(call(f"evaluate {file} {models}/m.json --json"))["metrics"] == mean
            best = answer(call(f"predict {models}/m.json {file} --top 1 --json"))["ranking"]
            assert [row["qid"] for row in best] == data.groups.ids.tolist()
            call(f"predict {models}/m.json {file} --output {tmp_path}/s.txt")
            # Scores need no features, so words don't matter.
            assert answer(call(f"evaluate {file} {tmp_path}/s.txt --json"))["metrics"] == mean
    bare = answer(call(f"predict {models}/m.json @test_bare.csv --json"))
    assert bare["scores"] == scores.tolist()  # neither labels nor queries


@pytest.mark.slow
def test_models_with_categories_and_of_two_stages(made, models, tmp_path, call):
    table = pandas.read_csv(made / "test_words.csv.gz")
    expected = rw.load(models / "w.json").predict(table)
    for file in ("@test_words.csv.gz", "@test_words.parquet", "@test_bare.csv"):
        assert answer(call(f"predict {models}/w.json {file} --json"))["scores"] == expected.tolist()
    two = f"{tmp_path}/two.json"
    assert call(f"train @train.csv --model {two} {FEW} -q --second ranknet --folds 2")[0] == 0
    expected = rw.load(two).predict(table, qid="query_id")
    for file in ("@test.csv", "@test.parquet"):
        assert answer(call(f"predict {two} {file} --json"))["scores"] == expected.tolist()


def test_columns_are_remembered(made, tmp_path, call):
    table = pandas.read_csv(made / "train_words.csv.gz").rename(
        columns={"grade": "stars", "query_id": "session", "title": "label"}
    )
    table.to_csv(tmp_path / "odd.csv", index=False)
    odd, model = tmp_path / "odd.csv", tmp_path / "m.json"
    words = "--y stars --qid session --ignore label --categorical shop"
    assert call(f"train {odd} --model {model} {FEW} -q {words}")[0] == 0
    assert rw.load(model).letor_["y"] == "stars"
    assert answer(call(f"evaluate {odd} {model} --json"))["data"]["queries"] == 120
    assert "y stars" in call(f"card {model}")[1]
    # Another file may have other columns.
    assert answer(call(f"evaluate @test_words.csv.gz {model} --json"))["data"]["queries"] == 40


@pytest.mark.slow
def test_compare_report_explain_and_export(made, models, tmp_path, call):
    pytest.importorskip("jinja2")
    expected = rw.evaluate("ndcg@10", rw.load_letor(made / "test.txt"), rw.load(models / "m.json").predict(
        rw.load_letor(made / "test.txt")
    )).mean()["ndcg@10"]  # fmt: skip
    for file in ("@test_words.csv.gz", "@test_words.parquet"):
        found = answer(call(f"compare {file} {models}/m.json {models}/w.json --bounds --json"))
        assert found["means"][0]["mean"] == pytest.approx(expected, abs=1e-12)
        page = f"report {file} {models}/m.json {models}/w.json --output {tmp_path}/p.html --json"
        assert answer(call(page))["means"]["m"]["ndcg@10"] == pytest.approx(expected, abs=1e-12)
        explained = answer(call(f"explain {models}/w.json {file} --json"))
        assert {row["feature"] for row in explained["importances"]} >= {"bm25", "price"}
    line = (
        f"export {models}/m.json --format json -o {tmp_path}/e.json --check @test_bare.csv --json"
    )
    assert answer(call(line))["check"]["rows"] == len(rw.load_demo("test"))


@pytest.mark.slow
def test_per_query_tables_are_still_recognised(made, models, tmp_path, call):
    for name in ("m", "w"):
        line = f"evaluate @test_words.csv.gz {models}/{name}.json --per-query {tmp_path}/{name}.csv"
        assert call(line)[0] == 0
    assert "ndcg@10" in call(f"compare {tmp_path}/m.csv {tmp_path}/w.csv")[1]
    table = pandas.read_csv(made / "test.csv").rename(columns={"query_id": "qid"})
    table.to_csv(tmp_path / "test.csv", index=False)  # it begins as a table of queries does
    assert call(f"compare {tmp_path}/test.csv {models}/m.json {models}/w.json")[0] == 1  # no shop
    assert call(f"compare {tmp_path}/test.csv {models}/m.json --bounds")[0] == 0


def test_constraints_by_name_and_tune(made, tmp_path, call):
    pytest.importorskip("optuna")
    line = f"train @train.csv --model {tmp_path}/m.json {FEW} -q --monotone price=1 --monotone 4=-1"
    assert call(line)[0] == 0
    assert rw.load(tmp_path / "m.json").get_params()["monotone"] == {"price": 1, "3": -1}
    words = "--ignore title --categorical shop --trials 2 --tuner random"
    line = (
        f"tune @train_words.parquet --valid @valid_words.csv.gz --test @test_words.csv.gz {words}"
    )
    found = answer(call(f"{line} --model {tmp_path}/t.json {FEW} --json"))
    assert found["test"]["queries"] == 40
    assert rw.load(tmp_path / "t.json").categories_ == {"shop": ("north", "south")}


@pytest.mark.parametrize(
    ("line", "message"),
    cases("""
train @train_words.csv.gz --model m.json -> column 'shop' has text, and features are numbers: leave it out by ignore
train @train.csv --model m.json --y grades -> has no column 'grades', which y names; did you mean 'grade'?
train @train_bare.csv --model m.json -> no column of labels with a usual name, such as 'label': name it by y
train @a.txt @train.txt --model m.json -> query '1' is in
train @a.csv @b.txt --model m.json --categorical age -> is categorical in another part
train @train.csv --stream --model m.json -> is a CSV file, which can't be read block by block
train @train.parquet --stream --ignore age --model m.json -> --ignore and --categorical can't be combined with --stream
train @train.txt --qid query --model m.json -> --qid names a column of a CSV or Parquet file
train @nowhere.csv --model m.json -> nowhere.csv does not exist
train @train.csv --model m.json --monotone prise=1 -> there is no feature 'prise'; did you mean 'price'?
tune @train.txt --ignore age --folds 2 -> --ignore names a column of a CSV or Parquet file
compare @test_bare.csv @train.txt @test.txt -> expected one score, a number
"""),
)
def test_refused(made, tmp_path, capsys, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    check_refused(caller(capsys, made), line, message, 1, made, tmp_path)


def test_refused_by_a_model(models, call):
    for line, message in cases("""
predict M @test_bare.csv --top 3 -> no column of query ids
evaluate @test_bare.csv M -> no column of labels
evaluate @test.csv W -> lacks the column 'shop'
"""):
        line = line.replace("M", f"{models}/m.json").replace("W", f"{models}/w.json")
        code, _, err = call(line)
        assert code == 1 and message in err


def test_a_validation_file_among_the_training_files_is_noted(made, tmp_path, call):
    code, _, err = call(f"train @train.csv @valid.csv --model {tmp_path}/m.json {FEW} -q")
    assert code == 0 and "valid.csv is trained on, too; to validate on it, write --valid" in err
