"""`ranker.export` and `rankwood export`: names, options, the report, and what is refused with nothing written."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import rankwood as rw
from rankwood.forest.export.exporting import ExportOptions, TrainedForest, export_forest
from rankwood.forest.export.target_table import TARGETS
from tests.helpers.cli_calls import answer, caller, complaint
from tests.helpers.made_forests import made_forest
from tests.oracles import naive_targets

SMALL = {"n_estimators": 4, "num_leaves": 5, "n_jobs": 1, "verbose": False}


@pytest.fixture(scope="module")
def train():
    return rw.load_demo("train")


@pytest.fixture
def ranker(demo_model):
    return demo_model("lightgbm")


@pytest.fixture(scope="module")
def named():
    """A ranker on a table with names and a column of words."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((400, 2)), columns=["price", "clicks"])
    table["colour"] = pd.Categorical(rng.choice(["red", "green", "blue", "a b"], 400))
    y = (table["colour"].isin(["red", "a b"]) * 2 + (table["price"] > 0)).to_numpy()
    params = {"min_data_per_group": 5, "cat_smooth": 1, "min_child_samples": 5}
    return rw.Ranker(**SMALL, **params).fit(table, y, group=[20] * 20), table


@pytest.fixture(scope="module")
def pairs(train):
    few = train.groups.ptr[15]
    lists = rw.RankingData(train.X[:few], train.y[:few], group=train.groups.sizes[:15])
    return rw.Ranker("bi-lambdarank-ndcg@5", **SMALL).fit(lists)


def refused(call, path, *words):
    """The call raises one sentence with these words, and no file is left."""
    before = set(path.parent.iterdir())
    with pytest.raises(rw.InputError) as caught:
        call()
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert text.endswith((".", "?")) and "\n" not in text
    assert set(path.parent.iterdir()) == before


def test_what_is_refused(ranker, tmp_path):
    file = tmp_path / "m"
    twice = dict.fromkeys(ranker.forest().names, "same")
    cases = [
        ({"format": "solar"}, "unknown format 'solar'", "did you mean 'solr'?"),
        ({"format": None}, "unknown format None", "elasticsearch"),
        ({"format": "solr", "names": {"f1": "a"}}, "names has no name for 'f", "more"),
        ({"format": "solr", "names": {"price": "a"}}, "'price'", "no such feature"),
        ({"format": "solr", "names": ["a"]}, "names has 1 names", "20 features"),
        ({"format": "solr", "names": "abc"}, "mapping or a list"),
        ({"format": "solr", "names": twice}, "'same'", "names="),
        ({"format": "solr", "names": [*"abcdefghijklmnopqrs", ""]}, "must be words"),
        ({"format": "solr", "names": [*"abcdefghijklmnopqrs", 7]}, "must be words, got 7"),
        ({"format": "vespa", "names": [f"a b{i}" for i in range(20)]}, "'a b", "attribute(price)"),
        ({"format": "ranklib", "names": ["a"] * 20}, "numbers"),
        ({"format": "solr", "missing": "nan"}, "missing", "'model', 'zero'"),
        ({"format": "solr", "positive": "yes"}, "positive"),
        ({"format": "solr", "name": ""}, "name must be a word"),
        ({"format": "elasticsearch", "name": "My Model"}, "'My Model'", "letters from a to z"),
        ({"format": "solr", "queries": {}}, "queries has no use"),
        ({"format": "elasticsearch", "queries": {"f1": 3}}, "queries must be a dictionary"),
        ({"format": "solr", "check": np.zeros((0, 20))}, "check has no rows"),
        ({"format": "solr", "check": np.zeros((3, 4))}, "X has 4 features"),
    ]
    for options, *words in cases:
        refused(lambda given=options: ranker.export(file, **given), file, *words)
    missing = tmp_path / "nowhere" / "m"
    refused(lambda: ranker.export(missing, "solr"), file, "no directory")
    refused(lambda: ranker.export(tmp_path, "solr", overwrite=True), file, "directory")


def test_an_existing_file_stays_unless_overwritten(ranker, tmp_path):
    file = tmp_path / "m.json"
    file.write_text("mine")
    refused(lambda: ranker.export(file, "solr"), file, "exists", "overwrite=True")
    assert file.read_text() == "mine"
    assert ranker.export(file, "solr", overwrite=True).bytes == file.stat().st_size


def test_kinds_of_models_that_are_refused(ranker, pairs, tmp_path):
    file = tmp_path / "m"
    two = rw.TwoStage(ranker, ranker)
    two.first_, two.second_, two.refit_ = [ranker], ranker, ranker
    refused(
        lambda: two.export(file, "solr"), file, "refit_.export(path, format)", "service", "predict"
    )
    two.refit_ = None
    refused(lambda: two.export(file, "solr"), file, "first_[0].export(")
    for format in set(TARGETS) - {"json"}:
        refused(lambda f=format: pairs.export(file, f), file, "pairs", "format='json'")
    network = rw.NeuralRanker()
    network.result_ = replace(ranker.result_, model=object())
    refused(lambda: network.export(file, "onnx"), file, "network", "torch.onnx.export")
    with pytest.raises(NotFittedError):
        rw.Ranker().export(file, "c")


def export_made(forest, file, format, **options):
    return export_forest(TrainedForest(forest, {}), file, format, ExportOptions(**options))


def test_rankings_that_would_change_are_refused(tmp_path):
    file = tmp_path / "m"
    forest = made_forest(0)
    refused(lambda: export_made(forest, file, "ranklib"), file, "missing='zero'", "attribute(")
    tiny = replace(forest, threshold=np.full(forest.threshold.size, 3e-20))
    refused(lambda: export_made(tiny, file, "solr"), file, "3e-20", "approximate=True")
    assert "can be met only up to" in str(export_made(tiny, file, "solr", approximate=True))
    deep = made_forest(1, sizes=(2,))
    chain = chained(deep, 460)
    refused(lambda: export_made(chain, tmp_path / "d", "solr"), file, "460 splits", "max_depth")
    for format in ("elasticsearch", "onnx", "c", "json"):
        assert export_made(chain, tmp_path / f"d.{format}", format).leaves == 461


def chained(forest, splits):
    """Return a forest of one tree that is a single long path."""
    number = np.arange(splits)
    return replace(
        forest,
        feature=number % forest.n_features,
        threshold=number / 7,
        missing_left=number % 2 == 0,
        left=[*(number[1:]), ~splits],
        right=~number,
        leaf_value=number_of_leaves(splits),
        first_node=[0, splits],
        first_leaf=[0, splits + 1],
        cover=np.zeros(splits),
        leaf_cover=np.zeros(splits + 1),
        gain=np.zeros(splits),
        category_first=np.zeros(splits + 1, int),
        categorical=np.zeros(splits, bool),
    )


def number_of_leaves(splits):
    return np.arange(splits + 1) / 3


def test_names_are_mapped(named, tmp_path):
    ranker, table = named
    names = {"price": "attribute(price)", "clicks": "query(clicks)", "colour": "attribute(colour)"}
    report = ranker.export(tmp_path / "v.json", "vespa", names=names)
    model = json.loads((tmp_path / "v.json").read_text())
    assert set(model["feature_names"]) <= set(names.values())
    assert model["pandas_categorical"] == [["a b", "blue", "green", "red"]]
    assert "string attributes" in str(report)
    by_list = ranker.export(tmp_path / "w.json", "vespa", names=list(names.values()))
    assert by_list.bytes == report.bytes
    kept = ranker.export(tmp_path / "c.c", "c", check=table)
    assert kept.check.other_leaf == kept.check.largest_difference == 0
    assert '"price", "clicks", "colour"' in (tmp_path / "c.c").read_text()


def test_vespa_scores_words_as_the_model_does(named, tmp_path):
    ranker, table = named
    ranker.export(tmp_path / "v.json", "vespa")
    text = (tmp_path / "v.json").read_text()
    rows = [[*row[:2], row[2]] for row in table[["price", "clicks", "colour"]].to_numpy()[:60]]
    narrow = table[:60].copy()
    for column in ("price", "clicks"):
        narrow[column] = narrow[column].astype(np.float32).astype(float)
    for row, (price, clicks) in zip(rows, narrow[["price", "clicks"]].to_numpy(), strict=True):
        row[:2] = price, clicks
    found = [naive_targets.vespa(text, ("price", "clicks", "colour"), r, False)[1] for r in rows]
    np.testing.assert_allclose(found, ranker.predict(narrow), rtol=0, atol=1e-15)


def test_elasticsearch_queries_and_placeholders(ranker, tmp_path):
    used = [ranker.forest().names[i] for i in np.unique(ranker.forest().feature)]
    report = ranker.export(tmp_path / "a.json", "elasticsearch")
    body = json.loads((tmp_path / "a.json").read_text())
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [e["query_extractor"]["feature_name"] for e in extractors] == used
    assert all(e["query_extractor"]["query"] == {"replace_me": {}} for e in extractors)
    assert "replace_me" in str(report)
    queries = {name: {"match": {"title": name}} for name in used}
    report = ranker.export(tmp_path / "b.json", "elasticsearch", queries=queries, name="m-1")
    body = json.loads((tmp_path / "b.json").read_text())
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert {
        e["query_extractor"]["feature_name"]: e["query_extractor"]["query"] for e in extractors
    } == queries
    assert "replace_me" not in str(report) and "_ml/trained_models/m-1" in report.upload
    for tree in body["definition"]["trained_model"]["ensemble"]["trained_models"]:
        assert tree["tree"]["target_type"] == "regression" and tree["tree"]["feature_names"]


def test_positive_and_missing(ranker, train, tmp_path):
    low = ranker.predict(train).min()
    assert low < 0
    shifted = ranker.export(tmp_path / "a", "ltr-plugin")
    assert shifted.shift >= -low and "is added to every score" in str(shifted)
    assert ranker.export(tmp_path / "b", "ltr-plugin", positive=False).shift == 0
    X = np.where(np.arange(len(train))[:, None] % 3 == 0, np.nan, train.X)
    report = ranker.export(tmp_path / "c", "ranklib", missing="zero", check=np.nan_to_num(X))
    assert report.check.other_leaf == 0


def test_models_of_pairs(pairs, tmp_path):
    test = rw.load_demo("test")
    file = tmp_path / "p.json"
    names = [f"x{i}" for i in range(20)]
    report = pairs.export(file, "json", names=names, check=test)
    assert report.check.largest_difference < 1e-12 and report.check.other_rank == 0
    assert report.check.other_leaf is None and "whole list" in str(report)
    content = json.loads(file.read_text())
    assert (content["format"], content["feature_names"]) == ("rankwood-pairs", names)
    assert set(content["side"]) <= {0, 1, 2} and max(content["column"]) < 20


def test_the_report_prints_itself(ranker, train, tmp_path):
    report = ranker.export(tmp_path / "m.txt", "c", check=train)
    text = str(report)
    assert text == repr(report) and text.startswith("Export to C\n")
    assert "2,543 rows of 120 queries" in text and "0 rows in another leaf" in text
    assert "<table" in report._repr_html_()
    values = report.to_dict()
    assert json.loads(json.dumps(values))["check"]["rows"] == len(train)
    assert values["leaves"] == ranker.forest().leaf_value.size


def test_nothing_that_was_given_changes(ranker, train, tmp_path):
    X = np.array(train.X)
    before, names = X.copy(), {n: f"x_{n}" for n in ranker.forest().names}
    kept = dict(names)
    for format in TARGETS:
        zero = {"missing": "zero"} if format == "ranklib" else {"names": names}
        ranker.export(tmp_path / format, format, check=X, **zero)
    assert np.array_equal(X, before, equal_nan=True) and names == kept


def test_the_command(ranker, train, tmp_path, capsys):
    run = caller(capsys, tmp_path, "export")
    ranker.save(tmp_path / "m.json")
    rw.save_letor(train, tmp_path / "rows.txt")
    names = {f"f{i + 1}": f"x{i}" for i in range(20)}
    (tmp_path / "names.json").write_text(json.dumps(names))
    code, out, err = run("@m.json --format solr -o @s.json --check @rows.txt")
    assert (code, err) == (0, "") and "0 rows in another leaf" in out and "curl -X PUT" in out
    line = "@m.json --format ltr-plugin -o @p.json --names @names.json --no-positive --name best"
    found = answer(run(f"{line} --json"))
    assert found["shift"] == 0 and found["format"] == "ltr-plugin" and "facts" not in found
    assert json.loads((tmp_path / "p.json").read_text())["model"]["name"] == "best"
    assert "'solr'" in complaint(run("@m.json --format solar -o @x.json"))
    assert "--overwrite" in complaint(run("@m.json --format solr -o @s.json"))
    assert run("@m.json --format solr -o @s.json --overwrite")[0] == 0
    (tmp_path / "bad.json").write_text("[1")
    assert "not JSON" in complaint(run("@m.json --format solr -o @x.json --names @bad.json"))
    (tmp_path / "bad.json").write_text("3")
    assert "no JSON object" in complaint(run("@m.json --format solr -o @x.json --names @bad.json"))
    assert "read by this command" in complaint(run("@m.json --format c -o @m.json --overwrite"))
    assert not (tmp_path / "x.json").exists()


def test_the_report_says_what_options_change(ranker, tmp_path):
    plain = ranker.export(tmp_path / "a.c", "c")
    moved = ranker.export(tmp_path / "b.c", "c", positive=True)
    assert plain.exact == "every document keeps its leaves and its score, bit for bit"
    assert f" plus {moved.shift:.6g}, " in moved.exact and moved.shift > 0


def test_a_path_that_ends_in_a_separator_names_no_file(ranker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("precious")
    with pytest.raises(rw.InputError, match="expected the name of a file"):
        ranker.export("a/", "json")
    assert (tmp_path / "a").read_text() == "precious"


def test_reports_of_changed_missing_values(tmp_path):
    X = rw.make_ranking(20, seed=3).X.copy()
    X[::3, :4] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=3.0) > 0.5).astype(float)
    model = rw.Ranker(n_estimators=5, num_leaves=8, n_jobs=1, extra_trees=False)
    model.fit(X, y, group=[len(X)])
    plain = model.export(tmp_path / "a.json", "json", check=X)
    zero = model.export(tmp_path / "b.json", "json", missing="zero", check=X)
    assert plain.check.other_leaf == 0 and "missing" not in plain.exact
    assert zero.check.other_leaf > 0 and zero.exact.startswith("missing values go where 0 goes")
    assert json.loads((tmp_path / "b.json").read_text())
