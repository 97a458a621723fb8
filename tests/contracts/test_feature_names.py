"""Features without names have one name everywhere: feature 41 of a LETOR file, column 40 of an array, is `f41`."""

import re

import numpy as np
import pytest

import rankwood as rw
from rankwood import datasets
from rankwood.explanation import partial_dependence, permutation_importance
from rankwood.forest.export.target_table import TARGETS
from rankwood.forest.tree_picture import tree_boxes
from tests.helpers.cli_calls import answer, caller

#: Other spellings of features when there are 41: those of the engines, and those that Rankwood had.
OTHERS = re.compile(r"\b(f0|x40|x41|feature 4[01]|number 4[01]|Column_4[01])\b")
TARGETS_WITH_NAMES = [name for name, target in TARGETS.items() if target.named]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A LETOR file in which feature 41 alone decides the label, and a folder."""
    folder = tmp_path_factory.mktemp("f41")
    rng = np.random.default_rng(1)
    X = np.full((400, 41), 0.5)
    X[:, 40] = rng.random(400)
    y = (X[:, 40] > 0.5).astype(float) + (X[:, 40] > 0.8)
    wrong = rng.random(400) < 0.2  # not so well that it looks like a leak
    y[wrong] = rng.integers(0, 3, wrong.sum())
    rw.save_letor(rw.RankingData(X, y, group=[20] * 20), folder / "train.txt")
    return folder


@pytest.fixture(scope="module")
def data(made):
    return rw.load_letor(made / "train.txt")


@pytest.fixture(scope="module")
def ranker(data):
    return rw.Ranker(n_estimators=3, n_jobs=1, min_child_samples=5).fit(data)


@pytest.fixture(scope="module")
def staged(data):
    first = rw.Ranker(n_estimators=3, n_jobs=1, min_child_samples=5)
    second = rw.Ranker(n_estimators=3, n_jobs=1, min_child_samples=5, monotone={"f41:mean": 1})
    return rw.TwoStage(first, second, folds=2, top=10).fit(data)


def check(text):
    """Check that a text names feature 41 in the one way."""
    assert re.search(r"\bf41\b", text), text[:2000]
    assert not OTHERS.search(text), OTHERS.search(text)


def test_an_array_of_the_same_columns_has_the_same_names(data, ranker):
    other = rw.Ranker(n_estimators=3, n_jobs=1, min_child_samples=5)
    other.fit(np.asarray(data.X), data.y, qid=data.qid)
    assert other.result_.ranked_importances()[0] == ("f41", 1.0)
    assert ranker.result_.ranked_importances()[0] == ("f41", 1.0)


def test_importances_cards_and_summaries(ranker, staged):
    check(str(ranker.summary(top=1)))
    check(ranker.card().to_markdown())
    check(staged.card().to_markdown())


def test_explanations(data, ranker):
    explanation = ranker.explain(data)
    check(str(explanation))
    check(str(explanation.pair(0, 1)))
    check(str(explanation.document(0)))
    assert explanation.feature_names[40] == "f41"
    found = permutation_importance(ranker, data, repeats=1)
    check(str(found))
    assert partial_dependence(ranker, data, 40).feature == "f41"
    by_name = partial_dependence(ranker, data, "f41")
    assert by_name.mean.tolist() == partial_dependence(ranker, data, 40).mean.tolist()


def test_forests_and_their_pictures(ranker, tmp_path):
    forest = ranker.forest()
    assert forest.names[40] == "f41" and len(forest.names) == 41
    check(tree_boxes(forest, 0, None)[0].text)
    check(forest.to_frame().to_string())
    forest.save(tmp_path / "forest.json")
    check(rw.Forest.load(tmp_path / "forest.json").to_frame().to_string())


@pytest.mark.parametrize("format", TARGETS_WITH_NAMES)
def test_exports(ranker, format, tmp_path):
    if format == "onnx":
        pytest.importorskip("onnx")
    report = ranker.export(tmp_path / "m", format, names=None, name="m")
    content = (tmp_path / "m").read_bytes().decode("utf-8", "replace")
    check(content)
    assert "f1 is feature 1 of LETOR files" in str(report)


def test_exports_map_names_by_the_same_name(ranker, tmp_path):
    ranker.export(tmp_path / "m.json", "solr", names={"f41": "bm25"}, name="m")
    assert "bm25" in (tmp_path / "m.json").read_text()
    with pytest.raises(rw.InputError, match=r"'f0'.*count from 1"):
        ranker.export(tmp_path / "n.json", "solr", names={"f0": "bm25"}, name="m")


def test_conversion_and_tables_made_by_it(made, data, ranker, tmp_path):
    pandas = pytest.importorskip("pandas")
    datasets.convert(made / "train.txt", tmp_path / "train.csv")
    frame = pandas.read_csv(tmp_path / "train.csv")
    other = rw.Ranker(n_estimators=3, n_jobs=1, min_child_samples=5)
    other.fit(frame, y="label", qid="qid")
    assert other.result_.ranked_importances() == ranker.result_.ranked_importances()
    np.testing.assert_array_equal(other.predict(data), ranker.predict(data))


def test_lists_of_two_stages(data, staged):
    names = rw.listwise_features(data).feature_names
    assert names[40] == "f41" and "f41:rank" in names
    second = staged.result_.second
    check(" ".join(second.schema.labels()))
    assert second.ranked_importances()[0][0].startswith("f41")


def test_parameters_name_features_as_results_do(data):
    def scores(**params):
        return rw.Ranker(n_estimators=3, n_jobs=1, **params).fit(data).predict(data).tobytes()

    assert scores(monotone={"f41": -1}) == scores(monotone={40: -1}) != scores()
    with pytest.raises(rw.InputError, match=r"no feature 'price'.*f1 to f41"):
        scores(monotone={"price": 1})
    with pytest.raises(rw.InputError, match="values of feature 'f41' must be whole numbers"):
        scores(categorical_feature=["f41"])


def test_descriptions_and_warnings(made, data):
    assert datasets.describe(made / "train.txt").features.names[-1] == "f41"
    leak = rw.RankingData(np.where(np.arange(41) == 40, data.y[:, None], 0.5), data.y, qid=data.qid)
    with pytest.warns(rw.DataWarning, match="feature 'f41' alone ranks nearly perfectly"):
        rw.Ranker(n_estimators=1, n_jobs=1).fit(leak)


def test_pictures_and_pages(made, data, ranker, staged, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from rankwood.report import plots

    (axes,) = plots.importance(ranker).axes
    check(" ".join(label.get_text() for label in axes.get_yticklabels()))
    ranker.save(tmp_path / "one.json")
    staged.save(tmp_path / "two.json")
    run = caller(capsys, made, "report", str(made / "train.txt"))
    files = " ".join(str(tmp_path / name) for name in ("one.json", "two.json"))
    assert run(f"{files} --output {tmp_path / 'page.html'}")[0] == 0
    check((tmp_path / "page.html").read_text())


def test_the_command_line(made, ranker, tmp_path, capsys):
    run = caller(capsys, made)
    ranker.save(tmp_path / "m.json")
    model = tmp_path / "m.json"
    found = answer(run(f"explain {model} @train.txt --json"))
    assert found["importances"][0]["feature"] == "f41"
    for options in ("", "--query 0", "--query 0 --pair 1 20"):
        check(run(f"explain {model} @train.txt {options}")[1])
    check(run(f"card {model}")[1])
    check(run("data describe @train.txt")[1])
    options = "--n-estimators 3 --threads 1 -q"
    assert run(f"train @train.txt --model {tmp_path}/a.json {options} --monotone f41=-1")[0] == 0
    assert run(f"train @train.txt --model {tmp_path}/b.json {options} --monotone 41=-1")[0] == 0
    first, second = (rw.Ranker.load(tmp_path / name).model_.text for name in ("a.json", "b.json"))
    assert first == second
