"""Categorical columns in training and prediction: every engine, by value, kept in the file."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import rankwood as rw
from rankwood._util import envelope
from tests.helpers.optional import LazyPackage
from tests.helpers.random_lists import random_lists

pl, pa = LazyPackage("polars"), LazyPackage("pyarrow")

ENGINES = {
    "lightgbm": "lambdarank-ndcg@10",
    "xgboost": "lambdarank-ndcg@10",
    "catboost": "queryrmse",
}
KINDS = np.array(["ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen"])


def small(engine, objective=None, **params):
    params = {"n_estimators": 8, "num_leaves": 4, "n_jobs": 1, **params}
    if engine == "lightgbm":
        params["cat_smooth"] = 1
    return rw.Ranker(objective or ENGINES[engine], engine, **params)


class Case:
    """Lists whose labels depend on a column of words, every second of which is good; some are missing."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        X, y, sizes = random_lists(rng)
        kind = rng.integers(0, KINDS.size, y.size)
        self.y = np.where(kind % 2 == 1, y + 2, y)
        self.words = np.where(rng.random(y.size) < 0.05, None, KINDS[kind].astype(object))
        self.qid = np.repeat(np.arange(sizes.size), sizes)
        self.numbers = {"a": X[:, 0], "b": X[:, 1]}
        codes = np.where(self.words == None, np.nan, kind.astype(float))  # noqa: E711
        self.coded = pd.DataFrame({"a": X[:, 0], "kind": codes, "b": X[:, 1]})

    def table(self, **options):
        a, b = self.numbers["a"], self.numbers["b"]
        return pd.DataFrame({"a": a, "kind": pd.Categorical(self.words, **options), "b": b})

    def data(self):
        return rw.RankingData(self.table(), self.y, qid=self.qid)


@pytest.fixture(scope="module")
def case():
    return Case()


@pytest.fixture(scope="module", params=ENGINES)
def fitted(request, case):
    pytest.importorskip(request.param)
    data = case.data()
    return small(request.param).fit(data, valid=data)


def test_the_same_as_numbers_that_are_declared_categorical(fitted, case):
    plain = small(fitted.engine_, categorical_feature=["kind"])
    plain.fit(case.coded, case.y, qid=case.qid, valid=(case.coded, case.y, case.qid))
    assert plain.predict(case.coded).tobytes() == fitted.predict(case.table()).tobytes()
    assert fitted.categories_ == {"kind": tuple(KINDS)} and plain.categories_ == {}
    assert fitted.feature_importances_[1] > 0.1
    as_numbers = small(fitted.engine_).fit(case.coded, case.y, qid=case.qid).predict(case.coded)
    assert as_numbers.tobytes() != plain.predict(case.coded).tobytes()


def test_values_count_and_not_their_numbers(fitted, case, tmp_path):
    expected = fitted.predict(case.table()).tobytes()
    fitted.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.categories_ == fitted.categories_
    text = [None if w is None else str(w) for w in case.words]
    tables = [
        case.table(categories=[*KINDS[::-1], "yak"]),
        case.table()[["b", "kind", "a"]],
        pl.DataFrame({**case.numbers, "kind": pl.Series(text, dtype=pl.Categorical)}),
        pl.DataFrame(
            {**case.numbers, "kind": pl.Series(text, dtype=pl.Enum(KINDS[::-1].tolist()))}
        ),
        pa.table({**case.numbers, "kind": pa.array(text).dictionary_encode()}),
        pd.DataFrame({**case.numbers, "kind": text}),  # plain text, as from a file
        pl.DataFrame({**case.numbers, "kind": text}),
        case.data(),
    ]
    for table in tables:
        assert again.predict(table).tobytes() == expected
    some = case.table()[case.words == "cow"]  # a table with one category has it at position 0
    some = some.assign(kind=some["kind"].cat.remove_unused_categories())
    assert (
        again.predict(some).tobytes() == again.predict(case.table())[case.words == "cow"].tobytes()
    )


def test_an_unseen_category_counts_as_missing_with_a_warning(fitted, case):
    missing, new = case.table()[:4], case.table()[:4]
    missing["kind"] = pd.Categorical([None] * 4, categories=KINDS)
    new["kind"] = pd.Categorical(["yak", "yak", "ape", "yak"])
    message = r"'kind' has 2 categories that the model lacks \('ape', 'yak'\): in 4 documents"
    with pytest.warns(UserWarning, match=message):
        scores = fitted.predict(new)
    assert scores.tobytes() == fitted.predict(missing).tobytes()


def test_numbers_in_place_of_categories_and_the_other_way_round(fitted, case):
    message = "feature 'kind' has categories in the model, but comes here as numbers: give a table"
    for numbers in (case.coded, rw.RankingData(case.coded, case.y, qid=case.qid)):
        with pytest.raises(rw.InputError, match=message):
            fitted.predict(numbers)
    with pytest.raises(rw.InputError, match="but comes here without names"):
        fitted.predict(case.coded.to_numpy())
    turned = case.table().assign(a=pd.Categorical(["x"] * len(case.y)))
    with pytest.raises(
        rw.InputError, match="feature 'a' is categorical here, but the model has numbers"
    ):
        fitted.predict(turned)


def test_validation_data_is_matched_by_value(case):
    table = case.table(categories=KINDS[::-1])
    expected = small("lightgbm").fit(case.data(), valid=case.data()).history_
    got = small("lightgbm").fit(case.data(), valid=(table, case.y, case.qid)).history_
    assert got == expected
    with pytest.raises(
        rw.InputError, match="has categories in the training data, but comes here as"
    ):
        small("lightgbm").fit(case.data(), valid=(case.coded, case.y, case.qid))


def test_files_without_categories_and_broken_ones(case, tmp_path):
    path, ranker = tmp_path / "m.json", small("lightgbm", n_estimators=1).fit(case.data())
    ranker.save(path)
    content = json.loads(path.read_text())

    def changed(**fields):
        made = {k: v for k, v in {**content, **fields}.items() if v is not ...}
        made["sha256"] = envelope.checksum(made)
        path.write_text(json.dumps(made))
        return rw.Ranker.load(path)

    assert changed(categories=...).categories_ == {}  # as older versions wrote
    for broken in ([], {"kind": "ant"}, {"kind": [None]}, {"kind": ["a", "a"]}, {"zz": ["a"]}):
        with pytest.raises(rw.InputError, match="is damaged: 'categories' must hold lists"):
            changed(categories=broken)


def test_both_stages_see_categories(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rw.TwoStage(small("lightgbm"), small("lightgbm"), top=5, folds=2).fit(case.data())
        scores = model.predict(case.table(), qid=case.qid)
    turned = model.predict(case.table(categories=KINDS[::-1]), qid=case.qid)
    assert scores.tobytes() == turned.tobytes()
    assert list(model.second_.categories_) == ["kind"]
    words = case.table().assign(kind=case.words)  # text, not categories, as `Ranker` takes it
    assert model.predict(words, qid=case.qid).tobytes() == scores.tobytes()
    words["kind"] = "yak"
    for X, qid in (
        (words, case.qid),
        (rw.RankingData(words.astype({"kind": "category"}), case.y, qid=case.qid), None),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.predict(X, qid=qid)
        (one,) = caught  # not one for each model
        assert f"that the model lacks ('yak'): in {len(case.y):,} documents" in str(one.message)


def test_models_of_pairs_take_numbers_only(case):
    message = "'kind' is categorical, and models of pairs take numbers only"
    ranker = rw.Ranker("bi-ranknet", n_estimators=1, n_jobs=1)
    with pytest.raises(rw.InputError, match=message):
        ranker.fit(case.data())
    with pytest.raises(rw.InputError, match="in second, feature " + message):
        rw.TwoStage(second=ranker, folds=2).fit(case.data())


def test_networks_take_numbers_only(case):
    pytest.importorskip("torch")
    with pytest.raises(
        rw.InputError, match="'kind' is categorical, and networks take numbers only"
    ):
        rw.NeuralRanker(epochs=1).fit(case.data())


def test_both_stages_keep_categories_in_their_file(case, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.DataWarning)
        model = rw.TwoStage(small("lightgbm"), small("lightgbm"), top=5, folds=2).fit(case.data())
    model.save(tmp_path / "two.json")
    loaded = rw.TwoStage.load(tmp_path / "two.json")
    assert loaded.categories_ == model.categories_ != {}
    scores = model.predict(case.table(), qid=case.qid)
    assert loaded.predict(case.table(), qid=case.qid).tobytes() == scores.tobytes()
