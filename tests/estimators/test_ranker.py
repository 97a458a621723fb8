"""Ranker: training, stopping, scikit-learn's manners, files."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwood as rw
from rankwood.data.tables.schema import Schema
from rankwood.diagnostics import diagnose
from rankwood.fit.result import FitResult, Settings
from rankwood.metrics import DCG
from rankwood.objectives import Lambda, Swap, Top
from tests.helpers.optional import LazyPackage
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import signed

pl = LazyPackage("polars")


@pytest.fixture
def data(lists):
    X, y, sizes = lists
    return rw.RankingData(X, y, group=sizes)


def small(**params):
    return rw.Ranker(**{"n_estimators": 12, "num_leaves": 7, "n_jobs": 1, **params})


def test_it_learns(data):
    ranker = small(n_estimators=40).fit(data)
    learned = rw.evaluate("ndcg@10", data, ranker.predict(data)).mean()["ndcg@10"]
    untrained = rw.evaluate("ndcg@10", data, np.zeros(len(data)), ties="input").mean()["ndcg@10"]
    assert learned > untrained + 0.2


def test_predictions_are_in_the_callers_order(lists, rng):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    ranker = small(shuffle=False).fit(X, y, qid=qid)
    order = rng.permutation(y.size)
    np.testing.assert_array_equal(ranker.predict(X[order]), ranker.predict(X)[order])


def test_interleaved_queries_train_the_same_model(lists):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    place = np.concatenate([np.arange(n) for n in sizes])
    order = np.lexsort((qid, place))  # first documents of all queries, then second ones, ...
    # One bin per value and exact sums would be needed for equal bits; the gradients are equal bit for bit.
    straight = rw.gradients("lambdarank-ndcg@10", y, np.zeros(y.size), qid=qid)[0]
    mixed = rw.gradients("lambdarank-ndcg@10", y[order], np.zeros(y.size), qid=qid[order])[0]
    assert mixed.tobytes() == straight[order].tobytes()
    a = small(shuffle=False).fit(X, y, qid=qid).predict(X)
    b = small(shuffle=False).fit(X[order], y[order], qid=qid[order]).predict(X)
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_same_seed_same_bits_on_any_number_of_threads(data):
    params = {"subsample": 0.7, "colsample_bytree": 0.6, "random_state": 3}
    one = small(**params, n_jobs=1).fit(data).predict(data)
    two = small(**params, n_jobs=2).fit(data).predict(data)
    assert one.tobytes() == two.tobytes()
    other = small(**{**params, "random_state": 4}).fit(data).predict(data)
    assert one.tobytes() != other.tobytes()


def test_shuffling_makes_the_order_of_the_file_harmless(rng):
    """The first tree is as good for files sorted by label, up or down, as for others; without shuffling it isn't."""
    X, y, sizes = random_lists(rng, queries=60)
    Xt, yt, st = random_lists(rng, queries=200)
    qid, test = np.repeat(np.arange(sizes.size), sizes), rw.RankingData(Xt, yt, group=st)
    orders = [np.lexsort((-y, qid)), np.lexsort((y, qid)), np.arange(y.size)]

    def quality(order, **params):
        # One tree with random thresholds would say little about the order of the file.
        ranker = small(**params, n_estimators=1, extra_trees=False)
        return ranker.fit(X[order], y[order], qid=qid).score(test)

    seeds = range(20)
    sorted_files = [quality(order, shuffle=False) for order in orders]
    shuffled = np.array([[quality(order, random_state=s) for s in seeds] for order in orders])
    means, errors = shuffled.mean(axis=1), shuffled.std(axis=1, ddof=1) / np.sqrt(len(seeds))
    assert np.ptp(means) < 3 * np.hypot(*np.sort(errors)[-2:])  # no more than chance
    assert np.ptp(means) < 0.25 * np.ptp(sorted_files)
    assert (
        sorted_files[1] < means.min() - 3 * errors.max()
    )  # the worst documents first: a bad first tree


def test_early_stopping_keeps_the_best_round(rng):
    X, y, sizes = random_lists(rng, queries=30)
    Xv, yv, sv = random_lists(rng, queries=30)
    valid = rw.RankingData(Xv, yv, group=sv)
    ranker = small(
        n_estimators=200, learning_rate=0.5, early_stopping_rounds=5, eval_metric=["ndcg@5", "dcg"]
    )
    ranker.fit(X, y, group=sizes, valid=valid)
    curve = ranker.history_["ndcg@5"]
    assert len(curve) < 200
    assert set(ranker.history_) == {"ndcg@5", "dcg"}
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 == len(curve) - 5
    # What was seen in training is what the kept model gives, to the bit.
    mean = rw.evaluate("ndcg@5", valid, ranker.predict(valid)).mean()["ndcg@5"]
    assert mean == max(curve)
    assert ranker.score(valid) == mean
    kept = small(n_estimators=20, early_stopping_rounds=None).fit(X, y, group=sizes, valid=valid)
    assert kept.best_iteration_ == 20 and len(kept.history_["ndcg@10"]) == 20


def test_valid_as_a_tuple(lists):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    ranker = small().fit(X, y, qid=qid, valid=(X, y, qid))
    assert len(ranker.history_["ndcg@10"]) == 12
    assert set(ranker.seconds_) == {"compiling", "gradients", "trees", "evaluation"}


def test_query_weights_matter(lists):
    X, y, sizes = lists
    weight = np.where(np.arange(sizes.size) < 5, 50.0, 0.01)
    first = np.arange(sizes[:5].sum())
    plain, weighted = small().fit(X, y, group=sizes), small().fit(X, y, group=sizes, weight=weight)
    part = rw.RankingData(X[first], y[first], group=sizes[:5])
    assert weighted.score(part) > plain.score(part)


def test_engine_parameters_pass_through(data):
    plain = small().fit(data)
    lean = small(max_bin=3, min_gain_to_split=0.5).fit(data)
    assert not np.array_equal(plain.predict(data), lean.predict(data))
    assert "[max_bin: 3]" in lean.model_.text
    assert "[bagging_freq: 1]" in small(subsample=0.5).fit(data).model_.text


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"learning_rat": 0.1},
            "neither Ranker nor LightGBM has a parameter 'learning_rat'; did you mean 'learning_rate'",
        ),
        ({"warm_strat": True}, "has a parameter 'warm_strat'; did you mean 'warm_start'"),
        (
            {"num_iterations": 5},
            "num_iterations is set by Ranker itself: use n_estimators=",
        ),
        (
            {"objective": "lambdarank-ndgc@10"},
            "unknown objective 'lambdarank-ndgc'; did you mean 'lambdarank-ndcg'",
        ),
        (
            {"objective": "lambdarank-ndcg@0"},
            "^k must be at least 1, got 0",
        ),
        (
            {"objective": "lambdarank-ndcg(sigm=2)"},
            "objective 'lambdarank-ndcg' has no parameter 'sigm'; did you mean 'sigma'",
        ),
        ({"objective": "lambdarank-ndcg(sigma=-2)"}, "sigma must be positive, got -2"),
        ({"objective": Top(3)}, "objective must be .*, got Top"),
        ({"objective": 7}, "objective must be a name or a composition of parts, got 7"),
        ({"eval_metric": "ndcg@0"}, "NDCG.k must be at least 1, got 0"),
        ({"eval_metric": "ncdg"}, "unknown metric 'ncdg'; did you mean 'ndcg'"),
        ({"eval_metric": []}, "there is no metric"),
        ({"engine": "lightgmb"}, "unknown engine 'lightgmb'; did you mean 'lightgbm'"),
        ({"n_estimators": 0}, "n_estimators must be at least 1, got 0"),
        ({"n_estimators": 2.5}, "n_estimators must be an integer, got 2.5"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be at least 1, got 0"),
        ({"random_state": -1}, "random_state must be at least 0, got -1"),
        (
            {"label_gain": [0, 1]},
            r"label_gain belongs to LightGBM's own objective, .*30\(gain=.linear.\)",
        ),
        ({"sigmoid": 2.0}, r"sigmoid belongs to LightGBM's own objective, .*10\(sigma=...\)"),
        ({"bagging_by_query": True}, "bagging_by_query learns nothing in LightGBM"),
        ({"shuffle": "maybe"}, "shuffle must be one of True, False, got 'maybe'"),
        ({"subsample": "abc"}, "subsample must be a number, got 'abc'"),
        ({"min_child_samples": 10**6}, "no feature can split the data; lower min_child_samples"),
        ({"num_leaves": 1}, "num_leaves must be at least 2, got 1"),
        ({"learning_rate": -1}, "learning_rate must be positive, got -1"),
        ({"reg_lambda": -0.5}, "reg_lambda must not be negative, got -0.5"),
        ({"colsample_bytree": 1.5}, "colsample_bytree must be at most 1, got 1.5"),
        ({"seed": 3}, "seed is set by Ranker itself: use random_state="),
        ({"nthread": 3}, "nthread is set by Ranker itself: use n_jobs="),
        ({"num_class": 3}, "num_class means nothing to a ranker"),
        ({"n_jobs": "2"}, "n_jobs must be an integer or None, got '2'"),
        ({"max_bin": 1}, "LightGBM can't train: .*max_bin"),
        ({"categorical_feature": "zz"}, "categorical_feature: there is no feature 'zz'"),
        ({"objective": f"lambdarank-ndcg@{10**20}"}, "k must be below 2.62"),
        (
            {"objective": "lambdarank-ndcg(sigma=1e20)"},
            "overflow at these labels and scores; use smaller labels, or parameters nearer",
        ),
        ({"engine": ["lightgbm"]}, "unknown engine"),
    ],
)
def test_bad_parameters_get_one_plain_sentence(data, params, message):
    with pytest.raises(rw.InputError, match=message) as error:
        small(**params).fit(data)
    assert "\n" not in str(error.value)


def test_bad_data_gets_one_plain_sentence(lists, data):
    X, y, sizes = lists
    with pytest.raises(
        rw.InputError, match=r"integer labels, got 1\.5 at row 0; use gain=\"linear\""
    ):
        small().fit(X, y + 0.5, group=sizes)
    with pytest.raises(rw.InputError, match="fit needs to know the queries"):
        small().fit(X, y)
    with pytest.raises(rw.InputError, match="score needs to know the queries"):
        small().fit(data).score(X, y)
    with pytest.raises(rw.InputError, match="fit needs labels"):
        small().fit(X)
    with pytest.raises(rw.InputError, match="give it alone"):
        small().fit(data, y)
    with pytest.raises(rw.InputError, match="validation data has 2 features, the training data 8"):
        small().fit(data, valid=(X[:, :2], y, y))
    with pytest.raises(
        rw.InputError, match=r"valid must be a RankingData or \(X, y, qid\), got ndarray"
    ):
        small().fit(data, valid=X)
    with pytest.raises(rw.InputError, match="in the validation data, y must not be negative"):
        small().fit(data, valid=(X, -y - 1, y))
    linear = small(objective="lambdarank-ndcg@10(gain='linear')")
    with pytest.raises(
        rw.InputError, match=r"eval_metric on the validation data: .* needs integer"
    ):
        linear.fit(X, y + 0.5, group=sizes, valid=(X, y + 0.5, y))
    with pytest.raises(rw.InputError, match=r"valid must be \(X, y, qid\), got 2 values"):
        small().fit(data, valid=(X, y))
    ranker = small().fit(data)
    with pytest.raises(
        rw.InputError, match=r"X has 3 features, but .*Ranker is expecting 8 features"
    ):
        ranker.predict(X[:, :3])
    with pytest.raises(NotFittedError):
        small().predict(X)
    with pytest.raises(NotFittedError):
        small().save("nowhere.json")


def test_flat_data_trains_to_a_constant(lists):
    X, y, sizes = lists
    for labels in (np.zeros(y.size), np.full(y.size, 3.0)):
        ranker = small().fit(
            X, labels, group=sizes, valid=(X, labels, np.repeat(np.arange(sizes.size), sizes))
        )
        assert np.unique(ranker.predict(X)).size == 1
    one = small().fit(X, y, qid=np.arange(y.size))  # queries of one document
    assert np.unique(one.predict(X)).size == 1
    again = small(min_child_samples=1).fit(
        np.vstack([X, X]), np.r_[y, y], group=np.r_[sizes, sizes]
    )
    assert np.isfinite(again.predict(X)).all()  # duplicate rows


def test_sparse_missing_and_fortran(lists):
    X, y, sizes = lists
    holes = np.where(np.abs(X) < 0.3, np.nan, X)
    dense = small().fit(holes, y, group=sizes).predict(holes)
    fortran = np.asfortranarray(holes)
    fortran.setflags(write=False)
    np.testing.assert_array_equal(small().fit(fortran, y, group=sizes).predict(fortran), dense)
    zeros = np.where(np.abs(X) < 0.3, 0.0, X)
    csr = sparse.csr_matrix(zeros)
    np.testing.assert_array_equal(
        small().fit(csr, y, group=sizes).predict(csr),
        small().fit(zeros, y, group=sizes).predict(zeros),
    )


def test_tables_are_matched_by_column_name(lists):
    X, y, sizes = lists
    frame = pd.DataFrame(X, columns=[f"f {i}" for i in range(8)]).assign(
        q=np.repeat(np.arange(sizes.size), sizes), label=y
    )
    ranker = small().fit(frame, "label", qid="q")
    assert ranker.feature_names_in_.tolist() == [f"f {i}" for i in range(8)]
    expected = small().fit(X, y, group=sizes).predict(X)
    np.testing.assert_array_equal(ranker.predict(frame), expected)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(ranker.predict(turned), expected)
    np.testing.assert_array_equal(ranker.predict(pl.from_pandas(turned)), expected)
    np.testing.assert_array_equal(ranker.predict(pl.from_pandas(turned).to_arrow()), expected)
    with pytest.raises(rw.InputError, match="X lacks the column 'f 3'"):
        ranker.predict(frame.drop(columns="f 3"))


class Lists:
    """A model that compares the documents of a query: scores are the sizes of lists."""

    needs_groups = True

    def predict(self, X, groups=None, n_jobs=None):
        assert X.shape == (groups.rows.size, 2)
        return groups.per_row(groups.sizes).astype(float)


@pytest.mark.parametrize("names", [["a", "b"], []])
def test_queries_of_models_that_compare_documents(names):
    ranker = small()
    settings = Settings("Ranker", "lightgbm", None, {}, {})
    ranker.result_ = FitResult(settings, Lists(), Schema(2, names or None, {}), 1)
    X, qid = np.arange(8.0).reshape(4, 2), ["x", "y", "x", "x"]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=qid)
    sizes = [3, 1, 3, 3]
    for table in (frame, pl.from_pandas(frame), frame[["q", "a", "b"]]):
        assert ranker.predict(table, qid="q").tolist() == sizes
    assert (
        ranker.predict(X, qid=qid).tolist() == ranker.predict(frame[["a", "b"]], qid=qid).tolist()
    )
    assert ranker.predict(X, group=[1, 3]).tolist() == [1, 3, 3, 3]
    data = rw.RankingData(X, np.zeros(4), qid=qid)
    assert ranker.predict(data).tolist() == sizes
    for words in ({"qid": qid}, {"group": [4]}):
        with pytest.raises(rw.InputError, match="knows its queries: omit qid and group"):
            ranker.predict(data, **words)
    with pytest.raises(rw.InputError, match="the table has no column 'query'"):
        ranker.predict(frame, qid="query")
    with pytest.raises(rw.InputError, match="qid can name a column only if X is a table, got 'q'"):
        ranker.predict(X, qid="q")


def test_features_go_by_name_everywhere(lists):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    turned = frame[list("hgfedcba")]
    ranker = small().fit(frame, y, qid=qid, valid=(frame, y, qid))
    again = small().fit(frame, y, qid=qid, valid=(turned.assign(z=1.0), y, qid))
    assert again.history_ == ranker.history_
    expected = ranker.predict(frame)
    np.testing.assert_array_equal(ranker.predict(rw.RankingData(turned, y, qid=qid)), expected)
    assert ranker.score(turned.assign(z=1.0), y, qid=qid) == ranker.score(frame, y, qid=qid)
    renamed = turned.rename(columns={"a": "aa"})
    for call in (
        lambda: ranker.predict(rw.RankingData(renamed, y, qid=qid)),
        lambda: ranker.predict(renamed),
        lambda: small().fit(frame, y, qid=qid, valid=(renamed, y, qid)),
    ):
        with pytest.raises(rw.InputError, match="X lacks the column 'a'"):
            call()


def test_pandas_columns_that_are_numbers(lists):
    X, y, sizes = lists
    plain = pd.DataFrame(X)
    expected = small().fit(X, y, group=sizes).predict(X)
    np.testing.assert_array_equal(small().fit(plain, y, group=sizes).predict(plain), expected)


def test_feature_importances(data):
    shares = small(n_estimators=30).fit(data).feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert set(np.argsort(shares)[-3:]) == {0, 1, 2}  # the features that make the labels
    with pytest.raises(NotFittedError):
        _ = small().feature_importances_


def test_a_failed_fit_changes_nothing(lists, data):
    X, y, sizes = lists
    ranker = small().fit(data)
    before, scores = dict(vars(ranker)), ranker.predict(X)
    for bad in (
        lambda: ranker.fit(X[:, :2], y, group=sizes, valid=data),
        lambda: ranker.fit(np.ones((y.size, 2)), y, group=sizes),  # nothing to split
        lambda: ranker.fit(X, -y, group=sizes),
    ):
        with pytest.raises(rw.InputError):
            bad()
    assert {k: v for k, v in vars(ranker).items() if k.endswith("_")} == {
        k: v for k, v in before.items() if k.endswith("_")
    }
    np.testing.assert_array_equal(ranker.predict(X), scores)


def test_dart_can_not_keep_the_best_round(data):
    dart = small(boosting="dart", early_stopping_rounds=None).fit(data, valid=data)
    assert (
        rw.evaluate("ndcg@10", data, dart.predict(data)).mean()["ndcg@10"]
        == dart.history_["ndcg@10"][-1]
    )
    with pytest.raises(rw.InputError, match="set early_stopping_rounds=None"):
        small(boosting="dart").fit(data, valid=data)


def test_arrays_as_parameters_are_saved(data, tmp_path):
    ranker = small(monotone_constraints=np.array([1, 0, 0, 0, 0, 0, 0, 0])).fit(data)
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.get_params()["monotone_constraints"] == [1, 0, 0, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(clone(again).fit(data).predict(data), ranker.predict(data))


def test_clone_params_and_pickle(data):
    ranker = small(objective=rw.objective("lambdarank-ndcg@5"), max_bin=63)
    copy = clone(ranker)
    assert copy.get_params() == ranker.get_params()
    assert copy.get_params()["max_bin"] == 63
    assert ranker.set_params(num_leaves=5, max_bin=15).get_params()["max_bin"] == 15
    assert copy.get_params()["max_bin"] == 63
    assert "lambdarank" in repr(small(objective="lambdarank-ndcg@3"))
    fitted = ranker.fit(data)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(data).tobytes() == fitted.predict(data).tobytes()


def test_fit_leaves_parameters_alone(data):
    ranker = small()
    before = ranker.get_params()
    ranker.fit(data)
    assert ranker.get_params() == before


def test_pipeline_and_cross_validation_by_whole_queries(lists):
    X, y, sizes = lists
    qid = np.repeat(np.arange(sizes.size), sizes)
    pipe = make_pipeline(StandardScaler(), small())
    pipe.fit(X, y, ranker__qid=qid)
    assert pipe.predict(X).shape == y.shape
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), small()).fit(X, y, qid=qid)
        grid = {"num_leaves": [3, 7], "min_child_samples": [5]}
        search = GridSearchCV(small(), grid, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        values = cross_val_score(pipe, X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3))
        assert search.best_params_["min_child_samples"] == 5
        assert 0.3 < search.best_score_ < 1.0
        assert values.shape == (3,)
        # By hand: the same folds, the same model, the same value.
        cv = GroupKFold(3).split(X, y, qid)
        by_hand = [
            small(**search.best_params_).fit(X[a], y[a], qid=qid[a]).score(X[b], y[b], qid=qid[b])
            for a, b in cv
        ]
        assert search.best_score_ == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_save_and_load_predict_the_same_bits(data, tmp_path):
    ranker = small(objective=rw.objective("lambdarank-ndcg@7", norm=False), max_bin=31).fit(
        data, valid=data
    )
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.predict(data).tobytes() == ranker.predict(data).tobytes()
    assert again.objective_ == ranker.objective_
    assert isinstance(again.objective_, Lambda)
    assert again.history_ == ranker.history_
    assert again.best_iteration_ == ranker.best_iteration_
    assert again.get_params()["max_bin"] == 31
    header = json.loads((tmp_path / "m.json").read_text())
    assert header["rankwood"] == rw.__version__ and header["n_features"] == 8
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]  # nothing left over
    again.save(tmp_path / "m2.json")
    assert (
        rw.Ranker.load(tmp_path / "m2.json").predict(data).tobytes()
        == ranker.predict(data).tobytes()
    )


def test_categorical_features(rng):
    sizes = np.full(60, 20)
    kind = rng.integers(0, 12, 1200).astype(float)
    X = np.c_[kind, rng.normal(size=1200)]
    y = np.isin(kind, [1, 4, 5, 9]).astype(float)  # no threshold separates these
    rough = {"n_estimators": 1, "num_leaves": 2, "min_data_per_group": 1, "cat_smooth": 0.0}
    plain = small(**rough).fit(X, y, group=sizes)
    for columns in (0, [0], "0"):
        known = small(**rough, categorical_feature=columns).fit(
            X, y, group=sizes, valid=(X, y, np.repeat(np.arange(60), sizes))
        )
        assert known.score(X, y, group=sizes) > plain.score(X, y, group=sizes) + 0.1


def test_gains_beyond_float32_are_refused(lists):
    X, y, sizes = lists
    objective = Lambda(Swap(DCG()))
    assert np.unique(small(objective=objective).fit(X, y, group=sizes).predict(X)).size > 10
    with pytest.raises(rw.InputError, match=r"DCG\(\) has values of up to .* beyond float32"):
        small(objective=objective).fit(X, 50 * y, group=sizes)
    assert np.unique(small().fit(X, 50 * y, group=sizes).predict(X)).size > 10


def test_a_device_is_never_replaced(data, tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(rw.InputError, match="a directory or a device"):
        small().fit(data).save(tmp_path / "pipe")
    with pytest.raises(rw.InputError, match="a directory or a device"):
        rw.save_letor(data, tmp_path)


def test_damaged_and_foreign_files(data, tmp_path):
    ranker = small().fit(data)
    ranker.save(tmp_path / "m.json")
    whole = (tmp_path / "m.json").read_text()
    content = json.loads(whole)
    cases = {
        "not JSON at line": whole[: len(whole) // 2],
        "not a model that Ranker.save wrote": json.dumps([1, 2]),
        "JSON, but not a model": json.dumps({"a": 1}),
        "doesn't match its checksum": whole.replace("leaf_value=", "leaf_value=1"),
        "format version 99, this Rankwood reads 1": json.dumps({**content, "format_version": 99}),
        "is a model of LightGBM itself": ranker.model_.text,
        "content doesn't match its checksum": json.dumps({**content, "n_features": 9}),
        "'n_features' is missing": signed({k: v for k, v in content.items() if k != "n_features"}),
        "of the wrong kind": signed({**content, "n_features": "abc"}),
        "the text of the LightGBM model is damaged": signed({**content, "model": "not a model"}),
        "import the module that defines its parts": signed(
            {**content, "objective": "Lambda(weight=Mine())"}
        ),
        "'kind' must be a word": signed({**content, "kind": "Ran\nker"}),
        "JSON too deep": "[" * 100_000,
    }
    for message, text in cases.items():
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(rw.InputError, match=message) as error:
            rw.Ranker.load(tmp_path / "bad.json")
        assert "bad.json" in str(error.value)
    (tmp_path / "bad.json").write_bytes(b"\x80\x04\x95\xff\xfe")
    with pytest.raises(rw.InputError, match="binary file"):
        rw.Ranker.load(tmp_path / "bad.json")
    with pytest.raises(rw.InputError, match="can't be read: No such file"):
        rw.Ranker.load(tmp_path / "missing.json")
    with pytest.raises(rw.InputError, match="can't be written: No such file"):
        ranker.save(tmp_path / "nowhere" / "m.json")


def test_an_interrupted_run_keeps_its_trees(data, monkeypatch):
    from rankwood.engines.lightgbm.engine import LightGBMEngine

    update, calls = LightGBMEngine.step, []

    def interrupted(self, gradients):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return update(self, gradients)

    monkeypatch.setattr(LightGBMEngine, "step", interrupted)
    ranker = small()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data)
    assert ranker.best_iteration_ == 4
    assert np.unique(ranker.predict(data)).size > 10


def test_training_is_quiet_and_bar_shows_on_request(data, capfd):
    small().fit(data)
    out = capfd.readouterr()
    assert (out.out, out.err) == ("", "")
    small(verbose=True).fit(data, valid=data)
    assert "Training" in capfd.readouterr().err


# ---- records


def test_recording_changes_nothing(data):
    plain = small().fit(data, valid=data)
    everything = ["effective_pairs", "coherency", "seconds"]
    seen = small(record=everything).fit(data, valid=data)
    assert plain.predict(data).tobytes() == seen.predict(data).tobytes()
    assert plain.record_ == {} and "diagnostics" not in plain.seconds_
    assert set(map(len, seen.record_.values())) == {12}
    for part in ("gradients", "trees", "evaluation"):
        assert sum(seen.record_[f"seconds_{part}"]) == pytest.approx(seen.seconds_[part])
    assert seen.seconds_["diagnostics"] > 0


def test_a_record_is_what_diagnose_says(data):
    record = ["effective_pairs", "coherency"]
    ranker = small(n_estimators=3, record=record, shuffle=False).fit(data)
    shorter = small(n_estimators=2, shuffle=False).fit(data)
    found = diagnose("lambdarank-ndcg@10", data, shorter.predict(data))
    assert ranker.record_["effective_pairs"][2] == pytest.approx(found.effective_pairs)
    assert ranker.record_["incoherent"][2] == pytest.approx(found.incoherent, abs=0.051)
    assert ranker.record_["false_over_missed"][2] == pytest.approx(
        found.false_over_missed, abs=0.051
    )


def test_coherency_is_recorded_at_a_cutoff(data):
    """The cutoff of false and missed documents may be another than the objective's, which may have none."""
    for objective in ("lambdarank-ndcg@10", "lambdarank-ndcg"):
        options = {"objective": objective, "shuffle": False}
        ranker = small(n_estimators=3, record="coherency@2", **options).fit(data)
        scores = small(n_estimators=2, **options).fit(data).predict(data)
        found = diagnose(objective, data, scores, k=2)
        recorded = ranker.record_["false_over_missed"][2]
        assert recorded == pytest.approx(found.false_over_missed, abs=0.051)
        assert ranker.record_["incoherent"][2] == pytest.approx(found.incoherent, abs=0.051)
    same = [small(record=name).fit(data).record_ for name in ("coherency", "coherency@10")]
    assert same[0] == same[1]
    assert same[0] != small(record="coherency@1").fit(data).record_
    with pytest.raises(rw.InputError, match=r"give 'coherency' one cutoff, got \[3, 5\]"):
        small(record=["coherency@3", "coherency@5"]).fit(data)
    with pytest.raises(rw.InputError, match="unknown record 'coherency@0'"):
        small(record="coherency@0").fit(data)


def test_coherency_is_recorded_by_either_definition(data):
    shares = {}
    for definition in ("program", "paper"):
        options = {"objective": "lambdarank-ndcg@3", "shuffle": False, "n_estimators": 3}
        names = [f"coherency@3(definition={q}{definition}{q})" for q in ("", "'")]
        ranker, other = (small(record=name, **options).fit(data) for name in names)
        assert ranker.record_ == other.record_
        scores = np.zeros(len(data))  # before the first round
        found = diagnose("lambdarank-ndcg@3", data, scores, k=3, definition=definition)
        shares[definition] = ranker.record_["false_over_missed"][0]
        assert shares[definition] == pytest.approx(found.false_over_missed, abs=1e-12)
    assert shares["paper"] != shares["program"]
    default = small(record="coherency", **options).fit(data).record_["false_over_missed"]
    assert default[0] == shares["program"]
    with pytest.raises(rw.InputError, match=r"one definition, got \['paper', 'program'\]"):
        small(record=["coherency(definition=paper)", "coherency(definition=program)"]).fit(data)
    with pytest.raises(rw.InputError, match="unknown record 'coherency\\(definition=text\\)'"):
        small(record="coherency(definition=text)").fit(data)


def test_records_are_saved_and_survive_an_interrupt(data, monkeypatch, tmp_path):
    from rankwood.engines.lightgbm.engine import LightGBMEngine

    update, calls = LightGBMEngine.step, []

    def interrupted(self, gradients):
        calls.append(1)
        done = update(self, gradients)
        if len(calls) == 4:  # in the middle of a round: its pairs are counted, its tree is not
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(LightGBMEngine, "step", interrupted)
    ranker = small(record=("coherency", "seconds"))
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data)
    assert set(map(len, ranker.record_.values())) == {3}
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.record_ == ranker.record_ and again.record == ["coherency", "seconds"]


def test_models_without_a_record_can_be_read(data, tmp_path):
    path = tmp_path / "m.json"
    small().fit(data).save(path)
    content = json.loads(path.read_text())
    del content["record"], content["params"]["record"]
    path.write_text(signed(content))
    assert rw.Ranker.load(path).record_ == {}


def test_unknown_records(data):
    for record, text in {
        ("effective",): "unknown record 'effective'; did you mean 'effective_pairs'",
        "second": "unknown record 'second'; did you mean 'seconds'",
        3: "record must be a list of 'effective_pairs', 'coherency', 'seconds', got 3",
    }.items():
        with pytest.raises(rw.InputError, match=text):
            small(record=record).fit(data)
    assert clone(small(record=["seconds"])).record == ["seconds"]
    assert list(small(record="seconds", n_estimators=1).fit(data).record_) == [
        "seconds_gradients",
        "seconds_trees",
        "seconds_evaluation",
    ]
    # Without a cutoff no document is false or missed.
    assert list(small(objective="ranknet", record="coherency").fit(data).record_) == ["incoherent"]


@pytest.mark.slow
def test_random_objectives_draw_anew_in_each_round_and_by_the_seed(data):
    name = "lambdamart-ex-random@2"
    one, two, three = (
        small(objective=name, random_state=seed, shuffle=False).fit(data).predict(data)
        for seed in (1, 1, 2)
    )
    assert one.tobytes() == two.tobytes() != three.tobytes()
    static = small(objective="lambdamart-ex-static@2", shuffle=False).fit(data).predict(data)
    assert one.tobytes() != static.tobytes()


def test_score_is_higher_for_better_models_also_where_the_metric_is_lower(data):
    ranker = small(eval_metric="arp").fit(data)
    (mean,) = rw.evaluate("arp", data, ranker.predict(data)).mean().values()
    assert ranker.score(data) == -mean < 0


@pytest.mark.parametrize(("objective", "rate"), [("ranknet", 0.05), ("bi-ranknet", 0.01)])
def test_usual_learning_rate(data, objective, rate):
    same = {"engine": "pairtree" if "bi-" in objective else "lightgbm", "n_estimators": 2}
    usual = rw.Ranker(objective, **same).fit(data).predict(data)
    assert (usual == rw.Ranker(objective, learning_rate=rate, **same).fit(data).predict(data)).all()


@pytest.mark.parametrize("change", [{"engine": "xgboost"}, {"objective": "bi-ranknet"}])
def test_files_hold_the_parameters_of_the_fit(change, lists, tmp_path):
    """What is set after a fit is for the next one."""
    X, y, sizes = lists
    ranker = rw.Ranker(n_estimators=3, num_leaves=7, n_jobs=1).fit(X, y, group=sizes)
    scores = ranker.predict(X)
    ranker.set_params(num_leaves=99, **change).save(tmp_path / "m.json")
    loaded = rw.Ranker.load(tmp_path / "m.json")
    assert loaded.get_params()["num_leaves"] == 7 and loaded.engine_ == "lightgbm"
    assert loaded.predict(X).tobytes() == scores.tobytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_a_record_of_seconds_computes_no_gradients(lists):
    """CatBoost has losses of its own, and needs our gradients for records of them only."""
    pytest.importorskip("catboost")
    X, y, sizes = lists
    ranker = rw.Ranker("yetirank", engine="catboost", n_estimators=2, record="seconds", n_jobs=1)
    assert ranker.fit(X, y, group=sizes).seconds_["diagnostics"] == 0.0
    ranker.set_params(record=["seconds", "coherency"])
    assert ranker.fit(X, y, group=sizes).seconds_["diagnostics"] > 0.0
