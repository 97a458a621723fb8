"""What every engine does: the same data, stopping, records and files, whatever grows the trees."""

import json
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import rankwood as rw
from rankwood.cli import main
from rankwood.engines import base
from rankwood.fit.observers.recording import Recorder
from tests.helpers.random_lists import random_lists

# test_bi.py has the engine that trains pairs only.
ENGINES = [name for name, abilities in base.ENGINES.items() if "documents" in abilities.units]


def small(engine, objective="queryrmse", **params):
    given = {"n_estimators": 12, "num_leaves": 7, "n_jobs": 1, **params}
    return rw.Ranker(objective, engine, **given)


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def data(lists):
    X, y, sizes = lists
    return rw.RankingData(X, y, group=sizes)


def test_it_learns(engine, data):
    ranker = small(engine, n_estimators=40).fit(data)
    learned = rw.evaluate("ndcg@10", data, ranker.predict(data)).mean()["ndcg@10"]
    untrained = rw.evaluate("ndcg@10", data, np.zeros(len(data)), ties="input").mean()["ndcg@10"]
    assert learned > untrained + 0.2
    shares = ranker.feature_importances_
    assert shares.shape == (8,) and shares.sum() == pytest.approx(1.0)
    assert set(np.argsort(shares)[-3:]) == {0, 1, 2}  # the features that make the labels


def test_same_seed_same_bits_on_any_number_of_threads(engine, rng):
    # Enough documents for engines to split them among threads.
    X, y, sizes = random_lists(rng, queries=400, longest=40)
    params = {"subsample": 0.7, "colsample_bytree": 0.6, "n_estimators": 6}

    def predicted(**more):
        return small(engine, **params, **more).fit(X, y, group=sizes).predict(X).tobytes()

    one = predicted(n_jobs=1, random_state=3)
    assert one == predicted(n_jobs=2, random_state=3) == predicted(n_jobs=3, random_state=3)
    assert one != predicted(random_state=4)


def test_rows_of_queries_may_be_mixed(engine, lists, rng):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    mixed = rng.permutation(y.size)
    params = {"shuffle": False, "n_estimators": 5}
    straight = small(engine, **params).fit(X, y, qid=qid, valid=(X, y, qid))
    other = small(engine, **params).fit(
        X[mixed], y[mixed], qid=qid[mixed], valid=(X[mixed], y[mixed], qid[mixed])
    )
    np.testing.assert_allclose(other.predict(X), straight.predict(X), atol=1e-5)
    assert other.history_["ndcg@10"] == pytest.approx(straight.history_["ndcg@10"])


def test_weights_of_queries_matter(engine, lists):
    X, y, sizes = lists
    weight = np.where(np.arange(sizes.size) < 5, 50.0, 0.01)
    first = np.arange(sizes[:5].sum())
    few = rw.RankingData(X[first], y[first], group=sizes[:5])
    plain = small(engine).fit(X, y, group=sizes)
    assert small(engine).fit(X, y, group=sizes, weight=weight).score(few) > plain.score(few)


def test_missing_values_sparse_matrices_and_tables(engine, lists):
    X, y, sizes = lists
    holes = np.where(np.abs(X) < 0.3, np.nan, X)
    dense = small(engine).fit(holes, y, group=sizes).predict(holes)
    frozen = np.asfortranarray(holes)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(small(engine).fit(frozen, y, group=sizes).predict(frozen), dense)
    zeros = np.where(np.abs(X) < 0.3, 0.0, X)
    assert not np.array_equal(small(engine).fit(zeros, y, group=sizes).predict(zeros), dense)
    csr = sparse.csr_matrix(zeros)  # what is absent is 0, not missing
    np.testing.assert_array_equal(
        small(engine).fit(csr, y, group=sizes).predict(csr),
        small(engine).fit(zeros, y, group=sizes).predict(zeros),
    )
    table = pd.DataFrame(X, columns=[f"[f< {i}" for i in range(8)])
    ranker = small(engine).fit(table, y, group=sizes)
    turned = ranker.predict(table[table.columns[::-1]])
    np.testing.assert_array_equal(turned, small(engine).fit(X, y, group=sizes).predict(X))


def test_duplicates_in_sparse_matrices_are_sums(engine, rng):
    values = rng.random(120)
    X = sparse.csr_matrix((values, np.tile([0, 0], 60), np.arange(0, 121, 2)), shape=(60, 2))
    y, sizes = np.tile([0.0, 1.0, 2.0], 20), [10] * 6
    ranker = small(engine, n_estimators=2).fit(X.toarray(), y, group=sizes)
    np.testing.assert_array_equal(ranker.predict(X), ranker.predict(X.toarray()))
    again = small(engine, n_estimators=2).fit(X, y, group=sizes)
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


def test_categorical_features(engine, rng, tmp_path):
    X, y, sizes = random_lists(rng)
    # Labels depend on a feature whose order means nothing: 12 kinds, every second one is good, some are missing.
    kind = rng.integers(0, 12, y.size).astype(float)
    y = np.where(kind % 2 == 1, y + 2, y)
    # LightGBM and XGBoost take small whole numbers, to CatBoost a value is a word.
    X[:, 3] = np.where(
        rng.random(y.size) < 0.05, np.nan, kind + (1e6 if engine == "catboost" else 0)
    )
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    qid = np.repeat(np.arange(sizes.size), sizes)
    params = {"num_leaves": 4, "n_estimators": 6, "cat_smooth": 1} if engine == "lightgbm" else {}
    params = {"num_leaves": 4, "n_estimators": 6, **params}
    plain = small(engine, **params).fit(table, y, qid=qid, valid=(table, y, qid))
    found = [
        small(engine, **params, categorical_feature=given).fit(
            table, y, qid=qid, valid=(table, y, qid)
        )
        for given in (["d"], [3], "d", "3")
    ]
    assert len({ranker.predict(table).tobytes() for ranker in found}) == 1
    ranker = found[0]
    assert ranker.history_["ndcg@10"][-1] > plain.history_["ndcg@10"][-1]
    assert ranker.score(table, y, qid=qid) == max(ranker.history_["ndcg@10"])
    assert int(np.argmax(ranker.feature_importances_)) == 3
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.predict(table).tobytes() == ranker.predict(table).tobytes()
    new = table.assign(d=7.0)  # a kind that was never seen
    assert np.isfinite(again.predict(new)).all()


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"], indirect=True)
def test_categories_must_be_whole_numbers(engine, lists):
    X, y, sizes = lists
    kinds = np.where(y > 1, 2.0, 1.0)
    kinds[7] = 1.5
    message = (
        r"values of feature 'f9' must be whole numbers, got 1\.5 at row 7; number the categories"
    )
    with pytest.raises(rw.InputError, match=message):
        small(engine, categorical_feature=8).fit(np.c_[X, kinds], y, group=sizes)


def test_records_and_seconds(engine, data):
    record = ["effective_pairs", "coherency", "seconds"]
    objective = "lambdarank-ndcg@10"
    ranker = small(engine, objective, n_estimators=3, record=record).fit(data, valid=data)
    curves = ranker.record_
    assert {len(curve) for curve in curves.values()} == {3}
    groups, expected = (
        data.groups.shuffled(0),
        [],
    )  # equal scores are in this order before the first round
    for q, n in enumerate(groups.sizes):
        y = data.y[groups.rows[groups.ptr[q] : groups.ptr[q + 1]]]
        pairs = sum(y[i] != y[j] for i in range(min(10, n)) for j in range(i + 1, n))
        expected.append(pairs / (n * (n - 1) / 2) if n > 1 else 0.0)
    assert curves["effective_pairs"][0] == pytest.approx(np.mean(expected))
    assert all(0.0 <= share <= 1.0 for share in curves["incoherent"])
    assert {*ranker.seconds_} == {"compiling", "gradients", "trees", "evaluation", "diagnostics"}
    takes = engine != "catboost"  # CatBoost's gradients are its own, and inside the time of trees
    assert (ranker.seconds_["gradients"] > 0) == takes
    assert ranker.seconds_["diagnostics"] > 0 and min(curves["seconds_trees"]) > 0


def test_the_record_sees_the_scores_of_the_engine(engine, data, monkeypatch):
    seen = []
    record = Recorder.gradients
    monkeypatch.setattr(
        Recorder,
        "gradients",
        lambda self, s, *rest: (seen.append(s.copy()), record(self, s, *rest)),
    )
    ranker = small(engine, n_estimators=4, record=["coherency"]).fit(data)
    assert len(seen) == 4 and not seen[0].any()
    for rounds in (1, 3):
        shorter = small(engine, n_estimators=rounds).fit(data).predict(data)
        np.testing.assert_allclose(seen[rounds], shorter, atol=1e-6)
    assert len(ranker.record_["incoherent"]) == 4


def test_scikit_learns_manners(engine, data):
    ranker = small(engine, random_state=7).fit(data)
    assert clone(ranker).get_params() == ranker.get_params()
    again = pickle.loads(pickle.dumps(ranker))
    assert again.predict(data).tobytes() == ranker.predict(data).tobytes()
    np.testing.assert_array_equal(clone(ranker).fit(data).predict(data), ranker.predict(data))
    assert ranker.predict(data.X[:0]).shape == (0,)


def test_flat_labels_train_to_a_constant(engine, data):
    for labels in (np.zeros(len(data)), np.full(len(data), 3.0)):
        ranker = small(engine, n_estimators=3).fit(data.X, labels, qid=data.qid)
        assert np.unique(ranker.predict(data)).size == 1
    one = small(engine, n_estimators=3).fit(data.X, data.y, qid=np.arange(len(data)))
    assert np.unique(one.predict(data)).size == 1


def test_the_command_line(engine, data, tmp_path, capsys):
    pytest.importorskip({"pairtree": "rankwood"}.get(engine, engine))
    train, model = str(tmp_path / "train.txt"), str(tmp_path / "m.json")
    rw.save_letor(data, train)
    common = ["train", train, "--model", model, "--n-estimators", "3", "--engine", engine, "--json"]
    assert main([*common, "--objective", "queryrmse"]) == 0
    assert json.loads(capsys.readouterr().out)["engine"] == engine
    assert rw.Ranker.load(model).engine == engine
    if engine == "catboost":
        assert main([*common, "--objective", "listnet"]) == 1
        assert "can't train ListNet()" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["xgboost", "catboost"])
def test_an_engine_that_is_not_installed(data, name, monkeypatch, tmp_path):
    ranker = small(name).fit(data)
    ranker.save(tmp_path / "m.json")
    for module in [m for m in sys.modules if m.startswith(f"rankwood.engines.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)  # as if it could not be imported
    message = rf"^engine='{name}' needs the package {name}: pip install 'rankwood\[{name}\]'\.$"
    with pytest.raises(rw.InputError, match=message):
        small(name).fit(data)
    with pytest.raises(rw.InputError, match=message):
        rw.Ranker.load(tmp_path / "m.json")


@pytest.mark.parametrize("name", base.ENGINES)
def test_the_table_of_abilities_is_true(name, data):
    abilities, module = base.ENGINES[name], base.find(name)
    assert all(callable(getattr(module, f)) for f in ("start", "check_params", "load"))
    assert hasattr(module, "native") != abilities.takes_gradients
    for unit, objective in (("documents", "queryrmse"), ("pairs", "bi-queryrmse")):
        ranker = rw.Ranker(objective, name, n_estimators=1, num_leaves=4, n_jobs=1)
        if unit in abilities.units:
            assert ranker.fit(data).model_.needs_groups == (unit == "pairs")
        else:
            with pytest.raises(rw.InputError, match="objectives of pairs"):
                ranker.fit(data)


def test_unknown_engines_suggest_near_names(data):
    for name, near in (("xgbost", "'xgboost'"), ("cat", "'catboost'"), ("LightGBM", "'lightgbm'")):
        with pytest.raises(rw.InputError, match=f"unknown engine {name!r}; did you mean {near}"):
            small(name).fit(data)


@pytest.mark.parametrize(
    ("engine", "objective", "params", "text"),
    [
        ("catboost", "lambdarank-ndcg", {"leaf_estimation_method": "Gradient"}, "wrong sign"),
        ("catboost", "yetirank", {"diffusion_temperature": 0}, "must be positive, got 0"),
        ("catboost", "yetirank", {"model_shrink_rate": 1.5}, r"must be in \[0, 1\), got 1.5"),
        ("xgboost", "softmax", {"langevin": True}, "XGBoost doesn't have; use engine='lightgbm'"),
        ("lightgbm", "softmax", {"diffusion_temperature": 1e-300}, "nothing but noise"),
    ],
)
def test_what_an_engine_would_do_wrongly_is_refused(engine, objective, params, text):
    with pytest.raises(rw.InputError, match=text):
        rw.Ranker(objective, engine, n_estimators=1, **params).fit(np.eye(3), [0, 1, 2], group=[3])


def test_weights_are_refused_where_catboost_divides_by_them():
    ranker = rw.Ranker("stochasticrank-ndcg", "catboost", n_estimators=1)
    with pytest.raises(rw.InputError, match="divides by the weights of queries"):
        ranker.fit(np.eye(3), [0, 1, 2], group=[3], weight=[2.0])


def test_numbers_of_numpy_are_numbers(lists):
    X, y, sizes = lists
    params = {"random_state": np.int64(2**40), "n_jobs": np.int64(1), "max_bin": np.int64(31)}
    for engine in ("lightgbm", "xgboost"):
        ranker = rw.Ranker("queryrmse", engine, n_estimators=1, **params).fit(X, y, group=sizes)
        assert ranker.best_iteration_ == 1
