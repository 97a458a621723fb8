"""What a reviewer broke once: paths, tables, files and models that are not what they seem."""

import json

import numpy as np
import pytest

import rankwood as rw
from rankwood.forest import EarlyExit
from rankwood.report.card import read_card


@pytest.fixture(scope="module")
def ranker():
    data = rw.make_ranking(12, seed=1)
    names = ["score", "qid", "row", *(f"x{i}" for i in range(data.n_features - 3))]
    named = rw.RankingData(data.X, data.y, qid=data.qid, feature_names=names)
    return rw.Ranker(n_estimators=2, num_leaves=4, n_jobs=1).fit(named), named


def test_a_path_that_ends_in_a_separator_names_no_file(ranker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("precious")
    with pytest.raises(rw.InputError, match="expected the name of a file"):
        ranker[0].export("a/", "json")
    assert (tmp_path / "a").read_text() == "precious"


def test_features_with_the_names_of_columns_lose_nothing(ranker):
    pytest.importorskip("pandas")
    model, data = ranker
    table = model.explain(data).to_frame()
    assert np.array_equal(table["score"], model.explain(data).scores)
    assert "score (feature)" in table and "qid (feature)" in table


@pytest.mark.parametrize("text", ["5", "NaN", '"x"', "[]", "null"])
def test_json_that_is_no_object(text, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(text)
    for read in (rw.Ranker.load, rw.Forest.load, read_card):
        with pytest.raises(rw.InputError) as error:
            read(path)
        assert "\n" not in str(error.value)


def test_early_exit_takes_several_places():
    with pytest.raises(rw.InputError, match="at must be a tuple"):
        EarlyExit(3, at=0.5)


def test_reports_of_changed_missing_values(ranker, tmp_path):
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
