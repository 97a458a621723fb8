"""TwoStage: who is trained on what, who ranks what, the ranking that comes out, files and manners."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

import rankwood as rw
from rankwood._util import envelope
from rankwood.data.groups import group_rows
from rankwood.data.truncation import merge_scores, top_mask
from rankwood.estimators.two_stage.cross_fit import Stream, cross_fit_folds
from rankwood.estimators.two_stage.lists import second_stage_lists
from tests.helpers.examples import examples

PLAIN = {"listwise": False}
SEEN = []  # what every spy has been told, in order


class Spy(BaseEstimator):
    """A ranker that notes the queries it sees; its scores are a fixed feature."""

    eval_metric = "ndcg@10"

    def __init__(self, stage=1, column=0, stop=False):
        self.stage, self.column, self.stop = stage, column, stop

    def fit(self, data, valid=None):
        self.train_, self.valid_ = data, valid
        SEEN.append((self, "fit", data, valid))
        if self.stop:
            raise KeyboardInterrupt
        self.history_ = {}
        return self

    def predict(self, data):
        assert isinstance(data, rw.RankingData)  # a second stage may need whole lists
        SEEN.append((self, "predict", data, None))
        return np.asarray(data.X[:, self.column], np.float64)


def made(rng, queries, name, longest=9, features=3, weight=True):
    """Queries of 1 to `longest` documents, rows mixed."""
    sizes = rng.integers(1, longest + 1, queries)
    qid = rng.permutation(np.repeat([f"{name}{q}" for q in range(queries)], sizes))
    X = rng.normal(size=(qid.size, features)).round(1)  # with ties
    y = rng.integers(0, 4, qid.size)
    return rw.RankingData(X, y, qid=qid, weight=rng.uniform(1, 2, queries) if weight else None)


@pytest.fixture
def seen():
    SEEN.clear()
    yield SEEN
    SEEN.clear()


def queries(data):
    return set(data.groups.ids.tolist())


@pytest.mark.parametrize("with_valid", [True, False])
def test_no_model_ranks_what_it_saw(rng, seen, with_valid):
    train, valid, test = made(rng, 23, "t"), made(rng, 11, "v"), made(rng, 13, "n")
    model = rw.TwoStage(Spy(), Spy(2), folds=5, top=4, serve="fold", random_state=3)
    model.fit(train, valid=valid if with_valid else None)
    first = [s for s in seen if s[0].stage == 1]
    ranked = {"t": [], "v": []}
    assert len(model.first_) == 5 and len({id(m) for m in model.first_}) == 5
    for ranker in model.first_:
        assert sum(s[0] is ranker and s[1] == "fit" for s in first) == 1
        scored = [s[2] for s in first if s[0] is ranker and s[1] == "predict"]
        own = queries(scored[0])
        assert own and not own & queries(ranker.train_)
        assert own | queries(ranker.train_) == queries(train)
        ranked["t"] += own
        assert len(scored) == 2 if with_valid else len(scored) == 1
        if with_valid:
            own = queries(scored[1])
            assert not own & queries(ranker.valid_)
            assert own | queries(ranker.valid_) == queries(valid)
            ranked["v"] += own
        else:
            assert ranker.valid_ is None
    assert sorted(ranked["t"]) == sorted(queries(train))  # each exactly once
    if with_valid:
        assert sorted(ranked["v"]) == sorted(queries(valid))
    fold = dict(zip(train.groups.ids.tolist(), model.folds_.tolist(), strict=True))
    for i, ranker in enumerate(model.first_):
        assert {q for q, f in fold.items() if f != i} == queries(ranker.train_)
    # Folds are of equal size, or one apart, and not those of the order of queries.
    assert np.ptp(np.bincount(model.folds_)) <= 1
    assert model.folds_.tolist() != (np.arange(23) % 5).tolist()
    seen.clear()
    model.predict(test)
    scored = [(s[0], queries(s[2])) for s in seen if s[0].stage == 1]
    assert [r for r, _ in scored] == model.first_
    assert sorted(q for _, ids in scored for q in ids) == sorted(queries(test))
    assert max(len(ids) for _, ids in scored) <= 3


@pytest.mark.parametrize("serve", ["mean", "fold", "refit"])
def test_one_fold_is_one_model_of_everything(rng, seen, serve):
    train, valid = made(rng, 6, "t"), made(rng, 1, "v")
    model = rw.TwoStage(Spy(), Spy(2), folds=1, serve=serve).fit(train, valid=valid)
    (ranker,) = model.first_
    assert queries(ranker.train_) == queries(train) and queries(ranker.valid_) == queries(valid)
    assert model.refit_ is None
    assert model.first_scores(train).tobytes() == train.X[:, 0].tobytes()  # not a mean of one


def test_new_queries_get_the_mean_of_all_models(rng, seen):
    train, test = made(rng, 9, "t"), made(rng, 4, "n")
    model = rw.TwoStage(Spy(), Spy(2), folds=3).fit(train)
    for column, ranker in enumerate(model.first_):
        ranker.column = column
    expected = [sum(row) / 3 for row in test.X.tolist()]
    np.testing.assert_allclose(model.first_scores(test), expected, rtol=1e-12, atol=1e-15)


def test_refit_is_one_more_model_of_all_queries(rng, seen):
    train, valid, test = made(rng, 9, "t"), made(rng, 4, "v"), made(rng, 4, "n")
    model = rw.TwoStage(Spy(), Spy(2), folds=3, serve="refit").fit(train, valid=valid)
    assert queries(model.refit_.train_) == queries(train)
    assert queries(model.refit_.valid_) == queries(valid)
    seen.clear()
    model.predict(test)
    assert [s[0] for s in seen] == [model.refit_, model.second_]
    other = rw.TwoStage(Spy(), Spy(2), folds=3).fit(train, valid=valid).set_params(serve="refit")
    with pytest.raises(rw.InputError, match=r"trained without: call fit again with serve='refit'"):
        other.predict(test)
    other.fit_second(train, valid=valid)  # trains what is missing, once
    assert queries(other.refit_.train_) == queries(train)
    whole = other.refit_
    assert other.fit_second(train, valid=valid).refit_ is whole
    with pytest.raises(rw.InputError, match="serve must be one of 'mean', 'fold', 'refit'"):
        other.set_params(serve="best").predict(test)


@pytest.mark.parametrize("serve", ["mean", "refit"])
def test_scores_of_a_query_depend_on_no_other_query(rng, seen, serve):
    copies = np.repeat(rng.integers(0, 2, (30, 2)), 2, axis=0) * 1.0  # ties between equal rows
    qid = rng.permutation(np.repeat([f"q{i}" for i in range(6)], 10))
    test = rw.RankingData(copies, np.zeros(60), qid=qid)
    train = rw.RankingData(rng.normal(size=(40, 2)), rng.integers(0, 3, 40), qid=np.arange(40) % 8)
    model = rw.TwoStage(Spy(), Spy(2, column=1), top=4, folds=4, serve=serve).fit(train)
    together = model.predict(test)
    for name in test.groups.ids:
        alone = model.predict(copies[qid == name], qid=qid[qid == name])
        assert alone.tobytes() == together[qid == name].tobytes()


@pytest.mark.parametrize("listwise", [True, False])
@pytest.mark.parametrize("ideal", ["full", "list"])
def test_second_stage_lists(rng, seen, listwise, ideal):
    train, valid = made(rng, 12, "t"), made(rng, 5, "v")
    model = rw.TwoStage(Spy(), Spy(2), folds=3, top=4, listwise=listwise, ideal=ideal)
    model.fit(train, valid=valid)
    for whole, lists in ((train, model.second_.train_), (valid, model.second_.valid_)):
        assert lists.feature_names[:4] == ["f1", "f2", "f3", "score"]
        assert lists.n_features == (20 if listwise else 4)
        np.testing.assert_array_equal(lists.X[:, 3], lists.X[:, 0])  # what the spies score by
        weight = dict(zip(whole.groups.ids.tolist(), whole.weight, strict=True))
        assert [weight[q] for q in lists.groups.ids.tolist()] == lists.weight.tolist()
        kept = top_mask(whole, whole.X[:, 0], 4, 0)
        for q, qid in enumerate(lists.groups.ids.tolist()):
            rows = np.flatnonzero(whole.qid == qid)
            keep = rows[kept[rows]]
            own = lists.groups.rows[lists.groups.ptr[q] : lists.groups.ptr[q + 1]]
            np.testing.assert_array_equal(lists.X[own, :3], whole.X[keep])
            np.testing.assert_array_equal(lists.y[own], whole.y[keep])
            if ideal == "full":
                gone = lists.unlisted.y[lists.unlisted.ptr[q] : lists.unlisted.ptr[q + 1]]
                assert sorted(gone) == sorted(whole.y[list(set(rows) - set(keep))])
        assert ideal == "full" or lists.unlisted is None
    assert train.n_features == 3 and train.unlisted is None and train.feature_names is None


@given(st.data())
@examples(60)
def test_re_ranked_documents_are_above_all_others(draw):
    n = draw.draw(st.integers(1, 14))
    coarse = st.sampled_from([0.0, 1e-17, 1.0, 1e9, 1e9 + 1e-6])
    scores = np.array(draw.draw(st.lists(coarse, min_size=n, max_size=n)))
    # Up to where the distance to the next number is far more than 1.
    large = st.sampled_from([2.0**51 - 1, 2.0**53 + 2, -(2.0**53) + 1, 1e17, -1e17, 1e300, -1e307])
    second = np.array(draw.draw(st.lists(coarse | large, min_size=n, max_size=n)))
    qid = draw.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    X = np.array(draw.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))[:, None]
    data = rw.RankingData(X, np.zeros(n), qid=qid)
    groups = data.groups
    top = draw.draw(st.integers(1, 5))
    mask = top_mask(data, scores, top, 0)
    got = merge_scores(second[mask], scores, mask, groups)
    for q in range(groups.ids.size):
        rows = groups.rows[groups.ptr[q] : groups.ptr[q + 1]].tolist()
        upper, rest = ([r for r in rows if mask[r] == side] for side in (True, False))
        assert len(upper) == min(top, len(rows))
        assert not rest or scores[upper].min() >= scores[rest].max()
        np.testing.assert_array_equal(got[upper], second[upper])
        for a in rest:
            assert got[a] < got[upper].min()
            for b in rest:
                assert (got[a] > got[b]) == (scores[a] > scores[b])
                assert (got[a] == got[b]) == (scores[a] == scores[b])


def test_steps_below_the_cut():
    def below(score, rest=3):
        mask = np.arange(rest + 1) == 0
        first = np.arange(rest, -1, -1.0)
        return merge_scores(np.array([score]), first, mask, group_rows(rest + 1)).tolist()

    assert below(0.25) == [0.25, -0.75, -1.75, -2.75]
    assert below(2.0**50) == [2.0**50 - i for i in range(4)]
    assert below(1e17) == [1e17 - 32 * i for i in range(4)]  # numbers there are 16 apart
    # At a power of 2 the distance doubles: all of these must differ on its far side too.
    assert len(set(below(-(2.0**56) + 8 * 7, 30))) == 31
    most = np.finfo(np.float64).max
    assert len(set(below(most))) == 4
    with pytest.raises(rw.InputError, match="second-stage scores are too large"):
        below(-most)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_refused(bad):
    mask = np.array([False, True, False, True])
    with pytest.raises(rw.InputError, match=f"second-stage .* finite numbers, got {bad} at row 3"):
        merge_scores(np.array([1.0, bad]), np.arange(4.0), mask, group_rows(4))
    X = np.array([[1.0], [bad], [2.0], [3.0]])
    with pytest.raises(rw.InputError, match=f"first-stage .* finite numbers, got {bad} at row 1"):
        rw.TwoStage(Spy(), Spy(2), folds=1).fit(rw.RankingData(X, [0, 1, 0, 1]))


def sorted_by_label(rng, queries, n=12, distinct=False):
    """Noise, in rows that are sorted by label."""
    y = -np.sort(-rng.integers(0, 5, (queries, n)), axis=1)
    X = rng.normal(size=(queries * n, 2)) if distinct else np.zeros((queries * n, 2))
    return rw.RankingData(X, y.ravel(), group=[n] * queries)


@pytest.mark.parametrize("by_query", [True, False])
@pytest.mark.parametrize("distinct", [True, False])
def test_order_of_rows_tells_the_cut_nothing(rng, distinct, by_query):
    data = sorted_by_label(rng, 400, distinct=distinct)
    mask = top_mask(data, np.zeros(len(data)), 4, 0, by_query=by_query)
    kept = mask.reshape(400, 12)
    assert (kept.sum(axis=1) == 4).all()
    # Each place is kept in 400 / 3 queries, about; four deviations.
    assert np.abs(kept.sum(axis=0) - 400 / 3).max() < 4 * np.sqrt(400 * 2 / 9)
    assert (top_mask(data, np.zeros(len(data)), 4, 0, by_query=by_query) == mask).all()
    assert (top_mask(data, np.zeros(len(data)), 4, 1, by_query=by_query) != mask).any()


def test_cut_of_different_documents_is_the_same_in_any_order(rng):
    data = sorted_by_label(rng, 30, distinct=True)
    order = rng.permutation(len(data))
    other = rw.RankingData(data.X[order], data.y[order], qid=data.qid[order])
    scores = rng.integers(0, 3, len(data)) * 1.0
    mask = top_mask(data, scores, 4, 0)
    assert (top_mask(other, scores[order], 4, 0) == mask[order]).all()


def test_no_value_of_a_feature_is_lucky_in_all_queries(rng):
    y = rng.integers(0, 5, 10_000)
    data = rw.RankingData(y[:, None] + 0.0, y, qid=np.repeat(range(500), 20))
    for seed in range(5):  # 5 of 20 in each of 500 queries: the deviation of a fair mean is 0.025
        assert abs(y[top_mask(data, np.zeros(10_000), 5, seed)].mean() - 2) < 0.2


def test_cut_of_sparse_features_is_that_of_dense_ones(rng):
    X = rng.integers(-1, 2, (300, 6)) * 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[X == 0] *= rng.choice([-1, 1], (X == 0).sum())  # zeros of either sign
    y, qid = np.zeros(300), np.repeat(range(30), 10)
    masks = [
        top_mask(rw.RankingData(Z, y, qid=qid), np.zeros(300), 3, 0)
        for Z in (X, sparse.csr_array(X))
    ]
    assert (masks[0] == masks[1]).all()


def test_first_stage_of_a_new_model_outlives_a_failing_second(rng, seen):
    train = made(rng, 8, "t")
    model = rw.TwoStage(Spy(), Spy(2, stop=True), folds=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(train)
    with pytest.raises(NotFittedError):
        model.predict(train)
    seen.clear()
    model.set_params(second__stop=False).fit_second(train)
    assert [spy.stage for spy, what, *_ in seen if what == "fit"] == [2]
    assert model.predict(train).shape == (len(train),)


def test_predict_ranks_by_both_stages(rng, seen):
    train, test = made(rng, 12, "t"), made(rng, 9, "n")
    model = rw.TwoStage(Spy(column=0), Spy(2, column=1), folds=3, top=3).fit(train)
    scores = model.predict(test)
    kept = top_mask(test, test.X[:, 0], 3, 0)
    for qid in test.groups.ids:
        rows = np.flatnonzero(test.qid == qid)
        first = sorted(rows, key=lambda r: (-test.X[r, 0], not kept[r], r))
        np.testing.assert_array_equal(scores[first[:3]], test.X[first[:3], 1])
        want = sorted(first[:3], key=lambda r: (-test.X[r, 1], r)) + first[3:]
        assert (
            sorted(rows, key=lambda r: (-scores[r], first.index(r) if r in first[3:] else r))
            == want
        )
    np.testing.assert_allclose(model.first_scores(test), test.X[:, 0], rtol=1e-15)  # a mean
    lists = model.lists(test)
    assert len(lists) == np.minimum(test.groups.sizes, 3).sum()
    ev = model.evaluate(["ndcg@5", "map"], test, ties="input")
    want = rw.evaluate(["ndcg@5", "map"], test, scores, ties="input")
    assert ev.mean() == want.mean() and ev.conventions["ties"] == "input"
    assert model.score(test) == rw.evaluate("ndcg@10", test, scores).mean()["ndcg@10"]
    # Matrices with query ids, and tables, are as good.
    assert model.predict(test.X, qid=test.qid).tobytes() == scores.tobytes()
    table = pd.DataFrame(test.X, columns=["a", "b", "c"])
    assert model.predict(table.assign(q=test.qid), qid="q").tobytes() == scores.tobytes()


def test_same_seed_same_folds(rng, seen):
    train, test = made(rng, 20, "t"), made(rng, 10, "n")

    def folds(seed):
        model = rw.TwoStage(Spy(), Spy(2), folds=4, serve="fold", random_state=seed).fit(train)
        seen.clear()
        model.predict(test)
        return model.folds_.tolist(), [sorted(queries(s[2])) for s in seen]

    assert folds(1) == folds(1)
    assert folds(1)[0] != folds(2)[0] and folds(1)[1] != folds(2)[1]


def test_features_go_by_name(rng, seen):
    train, test = made(rng, 8, "t"), made(rng, 4, "n")
    names = ["a", "b", "c"]
    train.feature_names = names
    model = rw.TwoStage(Spy(), Spy(2, column=1), folds=2).fit(
        train, valid=(test.X, test.y, test.qid)
    )
    assert model.second_.train_.feature_names[:5] == ["a", "b", "c", "score", "a:mean"]
    assert model.second_.valid_.feature_names == model.second_.train_.feature_names
    scores = model.predict(test)  # no names: by place
    turned = rw.RankingData(test.X[:, ::-1], test.y, qid=test.qid, feature_names=names[::-1])
    assert model.predict(turned).tobytes() == scores.tobytes()
    with pytest.raises(rw.InputError, match="lacks the column 'c'"):
        model.predict(rw.RankingData(test.X[:, :2], test.y, qid=test.qid, feature_names=["a", "b"]))


def test_an_interrupt_leaves_what_there_is_whole(rng, seen):
    train = made(rng, 8, "t")
    model = rw.TwoStage(Spy(), Spy(2), folds=2)
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(first__stop=True).fit(train)
    model.fit(train)
    before = dict(vars(model))
    for stage in ("first", "second"):
        model.set_params(**{f"{stage}__stop": True})
        with pytest.raises(KeyboardInterrupt):
            model.fit(train)
        model.set_params(**{f"{stage}__stop": False})
        assert all(vars(model)[k] is before[k] for k in before), stage


def test_an_interrupted_second_stage_keeps_its_trees(rng, seen, monkeypatch):
    train = made(rng, 8, "t")
    second = rw.Ranker("ranknet", n_estimators=9, min_child_samples=1, n_jobs=1)
    model = rw.TwoStage(Spy(), second, folds=2)
    from rankwood.engines.lightgbm.engine import LightGBMEngine

    rounds, update = [], LightGBMEngine.step

    def interrupted(self, gradients):
        rounds.append(1)
        if len(rounds) > 3:
            raise KeyboardInterrupt
        return update(self, gradients)

    monkeypatch.setattr(LightGBMEngine, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(train)
    assert model.second_.best_iteration_ == 3
    assert model.predict(train).shape == (len(train),)


def test_manners(rng):
    model = rw.TwoStage(rw.Ranker(n_estimators=3), rw.Ranker("softmax", max_bin=31), top=7)
    params = model.get_params()
    assert params["first__n_estimators"] == 3 and params["second__max_bin"] == 31
    other = clone(model).set_params(second__n_estimators=4, first__max_bin=15, top=5)
    assert other.second.n_estimators == 4 and other.first.get_params()["max_bin"] == 15
    assert model.top == 7 and "max_bin" not in model.first.get_params()
    assert "TwoStage" in repr(model)
    with pytest.raises(NotFittedError):
        model.predict(made(rng, 3, "t"))
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"top": 0}, "top must be at least 1"),
        ({"folds": 0}, "folds must be at least 1"),
        ({"folds": 9}, "folds must be at most the number of training queries, 8, got 9"),
        ({"serve": "folds"}, "serve must be one of 'mean', 'fold', 'refit', got 'folds'"),
        ({"ideal": "best"}, "ideal must be one of 'full', 'list'"),
        ({"listwise": "yes"}, "listwise must be one of True, False"),
        ({"random_state": -1}, "random_state must be at least 0"),
        (
            {"first": "lambdarank-ndcg"},
            "first must be a Ranker or a NeuralRanker, got 'lambdarank-ndcg'",
        ),
        ({"second": rw.Ranker}, "second must be a Ranker"),
        ({"second": rw.Ranker(engine="lightgbn")}, "in second, unknown engine 'lightgbn'"),
        ({"second": rw.Ranker("ndgc")}, "in second, unknown objective 'ndgc'"),
        ({"first": rw.Ranker(num_leaves=1)}, "in first, num_leaves must be at least 2"),
        (
            {"second": rw.Ranker("yetiloss-ndcg", "catboost")},
            "in second, engine='catboost' has losses",
        ),
        (
            {"first": rw.Ranker(num_leafs=3)},
            "in first, .*parameter 'num_leafs'; did you mean .*'num_leaves'",
        ),
        *(
            ({"second": rw.Ranker(name, engine, leafs=3)}, f"in second, .*{who}.* 'leafs'")
            for name, engine, who in (
                ("softmax", "lightgbm", "LightGBM"),
                ("softmax", "xgboost", "XGBoost"),
                ("softmax", "catboost", "CatBoost"),
                ("bi-softmax", "pairtree", "'pairtree'"),
            )
        ),
        (
            {"second": rw.Ranker("bi-softmax", differences=["f1", "zz"])},
            "in second, differences: there is no feature 'zz'",
        ),
        (
            {"second": rw.Ranker("bi-softmax", "lightgbm")},
            "in second, engine='lightgbm' can't train objectives of pairs .*engine='pairtree'",
        ),
        (
            {"second": rw.Ranker("bi-softmax", "pairtree", differences=["x0:mean"]), **PLAIN},
            "in second, differences: there is no feature 'x0:mean'",
        ),
        (
            {"second": rw.Ranker("bi-softmax", "pairtree", differences=[4]), **PLAIN},
            "in second, differences must be below 4",
        ),
        (
            {"second": rw.Ranker("softmax", differences="all")},
            "in second, differences are features of pairs",
        ),
        (
            {"second": rw.Ranker("bi-softmax", "pairtree"), "top": 1},
            "in second, objective='bi-softmax' compares .* top=1 leaves one of each",
        ),
        (
            {"second": rw.Ranker(categorical_feature=["zz"])},
            "in second, categorical_feature: there is no feature 'zz'",
        ),
        (
            {"second": rw.Ranker("bi-ranknet", "pairtree", record=["coherency"])},
            "in second, record: this objective has no 'coherency', only 'effective_pairs', 'seconds'",
        ),
        (
            {"second": rw.Ranker("softmax", record=["effective_pairs"])},
            "in second, record: this objective has no 'effective_pairs'",
        ),
    ],
)
def test_errors_come_before_any_training(rng, seen, params, message):
    with pytest.raises(rw.InputError, match=message):
        rw.TwoStage(**{"first": Spy(), "second": Spy(2), "folds": 2, **params}).fit(
            made(rng, 8, "t")
        )
    assert not seen


def test_errors_about_features_and_lists_come_before_any_training(rng, seen):
    train = made(rng, 8, "t")
    model = rw.TwoStage(Spy(), Spy(2), folds=2)
    for names, listwise in ((["a", "b", "score"], False), (["a", "a:mean", "c"], True)):
        train.feature_names = names
        twice = "score" if "score" in names else "a:mean"
        with pytest.raises(rw.InputError, match=f"in second, a feature '{twice}' would be added"):
            model.set_params(listwise=listwise).fit(train)
    single = rw.RankingData(train.X, train.y, qid=np.arange(len(train)))
    model.set_params(second=rw.Ranker("bi-softmax", "pairtree"))
    with pytest.raises(rw.InputError, match=r"in second, .* no training query has two"):
        model.fit(single)
    assert not seen


def test_another_second_stage_needs_the_same_rows(rng, seen):
    train, valid = made(rng, 8, "t", weight=False), made(rng, 3, "v", weight=False)
    model = rw.TwoStage(Spy(), Spy(2), folds=2).fit(train, valid=valid)

    def copied(data, X=1.0, order=slice(None)):
        return rw.RankingData(X * data.X[order], data.y[order], qid=data.qid[order])

    model.fit_second(copied(train), valid=copied(valid))
    back, forth = (
        copied(train, order=slice(None, None, -1)),
        copied(valid, order=slice(None, None, -1)),
    )
    wrong = [(back, valid), (train, forth), (copied(train, X=-1.0), valid), (train, None)]
    other = copied(train)
    other.y = other.y[::-1].copy()
    wrong.append((other, valid))
    for one, two in wrong:
        with pytest.raises(rw.InputError, match="fit_second needs the data that fit was given"):
            model.fit_second(one, valid=two)
    with pytest.raises(rw.InputError, match=r"fit_second needs a RankingData .* got ndarray"):
        model.fit_second(train.X)


def test_stages_of_other_classes(rng, seen, tmp_path):
    class Bare(Spy):
        @property
        def eval_metric(self):
            raise AttributeError

        @property
        def history_(self):
            raise AttributeError

        @history_.setter
        def history_(self, value):
            pass

    train = made(rng, 8, "t")
    model = rw.TwoStage(Spy(), Bare(2), folds=2).fit(train)
    with pytest.raises(
        rw.InputError, match=r"second, and this Bare has no eval_metric: use evaluate"
    ):
        model.score(train)
    assert model.history_ == {"first": [{}, {}], "second": {}}
    with pytest.raises(rw.InputError, match="stages that are Rankers, and first is a Spy"):
        model.save(tmp_path / "m.json")
    with pytest.raises(rw.InputError, match="stages that are Rankers, and second is a Bare"):
        model.set_params(first=None).save(tmp_path / "m.json")
    with pytest.raises(rw.InputError, match="stages that are Rankers, and first is a Spy"):
        model.set_params(second=None).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_errors_about_data(rng, seen):
    train, one = made(rng, 8, "t"), made(rng, 1, "v")
    model = rw.TwoStage(Spy(), Spy(2), folds=2)
    with pytest.raises(rw.InputError, match="validation data has a single query"):
        model.fit(train, valid=one)
    with pytest.raises(rw.InputError, match="fit needs to know the queries"):
        model.fit(train.X, train.y)
    model.fit(train)
    with pytest.raises(rw.InputError, match="predict needs to know the queries"):
        model.predict(train.X)
    with pytest.raises(rw.InputError, match="omit qid and group"):
        model.predict(train, qid=train.qid)
    with pytest.raises(rw.InputError, match="fit_second needs the data that fit was given"):
        model.fit_second(one)


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(5)
    train, valid, test = made(rng, 30, "t", 12), made(rng, 10, "v", 12), made(rng, 10, "n", 12)
    tiny = {"n_estimators": 4, "num_leaves": 4, "min_child_samples": 2, "n_jobs": 1}
    first, second = rw.Ranker("ranknet", **tiny), rw.Ranker("lambdarank-ndcg@10", **tiny)
    model = rw.TwoStage(first, second, top=5, folds=3).fit(train, valid=valid)
    return model, train, valid, test


def test_rankers_in_both_stages(trained):
    model, train, valid, test = trained
    assert set(model.seconds_) == {"first", "lists", "second"}
    assert len(model.history_["first"]) == 3
    assert set(model.history_["first"][0]) == set(model.history_["second"]) == {"ndcg@10"}
    # The second stage is stopped by NDCG with the ideal of full lists.
    lists = second_stage_lists(model, valid, model.cross_scores_[1])
    curve = model.history_["second"]["ndcg@10"]
    got = rw.evaluate("ndcg@10", lists, model.second_.predict(lists)).mean()["ndcg@10"]
    assert got == pytest.approx(curve[model.second_.best_iteration_ - 1], abs=1e-9)
    lists.unlisted = None
    alone = rw.evaluate("ndcg@10", lists, model.second_.predict(lists)).mean()["ndcg@10"]
    assert alone > got + 0.01  # nothing seems to be lost
    assert not hasattr(model.first, "model_") and not hasattr(model.second, "model_")
    short = rw.RankingData(train.X[:1], train.y[:1])
    assert model.predict(short).shape == (1,)
    thin = rw.RankingData(sparse.csr_matrix(test.X), test.y, qid=test.qid)
    assert model.predict(thin).tobytes() == model.predict(test).tobytes()


def test_another_second_stage_on_the_same_first(trained):
    model, train, valid, test = trained
    other = clone(model).fit(train, valid=valid)
    first = other.first_
    assert other.predict(test).tobytes() == model.predict(test).tobytes()
    other.set_params(ideal="list", listwise=False).fit_second(train, valid=valid)
    assert other.first_ is first and other.second_.n_features_in_ == 4
    whole = clone(other).fit(train, valid=valid)
    assert other.predict(test).tobytes() == whole.predict(test).tobytes()


def test_save_and_load(trained, tmp_path):
    model, train, valid, test = trained
    path = tmp_path / "m.json"
    model.save(path)
    again = rw.TwoStage.load(path)
    assert again.predict(test).tobytes() == model.predict(test).tobytes()
    assert again.get_params().keys() == model.get_params().keys()
    assert repr(again) == repr(model)
    assert again.folds_.tolist() == model.folds_.tolist()
    assert again.history_ == model.history_ and again.seconds_ == model.seconds_
    again.save(tmp_path / "m2.json")
    assert (tmp_path / "m2.json").read_bytes() == path.read_bytes()
    with pytest.raises(
        rw.InputError, match="holds a TwoStage, not a Ranker: read it with TwoStage"
    ):
        rw.Ranker.load(path)
    model.second_.save(tmp_path / "r.json")
    with pytest.raises(rw.InputError, match="holds a Ranker, not a TwoStage"):
        rw.TwoStage.load(tmp_path / "r.json")
    with pytest.raises(rw.InputError, match="a file doesn't keep the scores"):
        again.fit_second(train, valid=valid)


def test_older_files_predict_what_they_did(trained, tmp_path):
    model, _, _, test = trained
    path = tmp_path / "m.json"
    model.save(path)
    content = json.loads(path.read_text())
    del content["params"]["serve"], content["refit"]
    path.write_text(json.dumps({**content, "sha256": envelope.checksum(content)}))
    older = rw.TwoStage.load(path)
    assert older.serve == "fold" and older.refit_ is None
    # The protocol of that time, step by step: new queries are split into folds, and model i ranks fold i.
    fold = cross_fit_folds(test, 3, 0, Stream.UNSEEN)
    expected = np.empty(len(test))
    for i, ranker in enumerate(model.first_):
        rows = np.isin(test.qid, test.groups.ids[fold == i])
        expected[rows] = ranker.predict(test.X[rows])
    assert older.first_scores(test).tobytes() == expected.tobytes()
    assert clone(older).serve == "fold"


def test_a_refitted_first_stage_is_saved(trained, tmp_path):
    model, train, valid, test = trained
    other = clone(model).set_params(serve="refit").fit(train, valid=valid)
    alone = clone(model.first).fit(train, valid=valid)
    assert other.first_scores(test).tobytes() == alone.predict(test).tobytes()
    other.save(tmp_path / "m.json")
    again = rw.TwoStage.load(tmp_path / "m.json")
    assert again.predict(test).tobytes() == other.predict(test).tobytes()


def test_damaged_files(trained, tmp_path):
    model = trained[0]
    path = tmp_path / "m.json"
    model.save(path)
    content = json.loads(path.read_text())

    def load(changed):
        changed = {**changed, "sha256": envelope.checksum(changed)}
        path.write_text(json.dumps(changed))
        return rw.TwoStage.load(path)

    load(content)
    broken = {**content["second"]}
    del broken["engine"]
    for changed, message in (
        ({**content, "second": broken}, "'engine' is missing"),
        ({k: v for k, v in content.items() if k != "first"}, "'first' is missing"),
        ({**content, "first": 3}, "of the wrong kind"),
        ({**content, "params": {**content["params"], "depth": 3}}, "of the wrong kind"),
    ):
        with pytest.raises(rw.InputError, match=message):
            load(changed)
    path.write_text(json.dumps({**content, "folds": []}))
    with pytest.raises(rw.InputError, match="doesn't match its checksum"):
        rw.TwoStage.load(path)


@pytest.fixture(scope="module")
def compared():
    """A second stage that compares documents; queries of 1 and 2, lists shorter and longer than the cut."""
    rng = np.random.default_rng(9)

    def lists(sizes, name):
        qid = rng.permutation(np.repeat([f"{name}{q}" for q in range(len(sizes))], sizes))
        X = rng.normal(size=(qid.size, 3))
        y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0, 2.0])
        return rw.RankingData(X, y, qid=qid)

    train, test = (
        lists([1, 2, 12, 3, 9, 2, 7, 12, 10, 5, 1, 14] * 2, "t"),
        lists([1, 2, 2, 3, 11], "n"),
    )
    tiny = {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 3, "n_jobs": 1}
    second = rw.Ranker(
        "bi-lambdarank-ndcg@5",
        "pairtree",
        differences=["f1", "score"],
        eval_metric="ndcg@5",
        early_stopping_rounds=None,  # the ideal that training has must be what makes a difference
        **tiny,
    )
    # It must cut away relevant documents, or both ideals would be the same.
    first = rw.Ranker("ranknet", learning_rate=0.1, extra_trees=False, **tiny)
    return rw.TwoStage(first, second, top=5, folds=1).fit(train, valid=train), train, test


def test_a_second_stage_that_compares_documents(compared, rng):
    model, _, test = compared
    lists = model.lists(test)
    assert lists.groups.sizes.max() == 5 and sorted(lists.groups.sizes)[:3] == [1, 2, 2]
    second, scores = model.second_.predict(lists), model.predict(test)
    kept = top_mask(test, model.first_scores(test), 5, 0)
    np.testing.assert_array_equal(scores[kept], second)
    assert np.ptp(second) > 0
    for qid, size in zip(test.groups.ids, test.groups.sizes, strict=True):
        rows = test.qid == qid
        if size == 1:  # nobody to be compared with
            assert scores[rows].tolist() == [0.0]
        elif size == 2:  # s_1 = s_12 - s_21 = -s_2
            assert scores[rows].sum() == 0.0
        elif size > 5:
            assert scores[rows & ~kept].max() <= scores[rows & kept].min() - 1
        else:
            assert scores[rows].sum() == pytest.approx(0.0, abs=1e-12)
    order = rng.permutation(len(test))
    again = model.predict(test.X[order], qid=test.qid[order])
    assert again.tobytes() == scores[order].tobytes()
    # A table with a column of query ids is as good to the ranker itself.
    table = pd.DataFrame(lists.X, columns=lists.feature_names).assign(q=lists.qid)
    assert model.second_.predict(table, qid="q").tobytes() == second.tobytes()


def test_pairs_are_trained_with_the_ideal_of_the_full_list(compared):
    model, train, test = compared
    other = clone(model).fit(train, valid=train)
    assert other.predict(test).tobytes() == model.predict(test).tobytes()
    other.set_params(ideal="list").fit_second(train, valid=train)
    assert np.abs(other.predict(test) - model.predict(test)).max() > 1e-6
    curves = [m.history_["second"]["ndcg@5"] for m in (model, other)]
    assert all(full < cut for full, cut in zip(*curves, strict=True))


def test_pairs_are_saved_and_loaded(compared, tmp_path):
    model, _, test = compared
    model.save(tmp_path / "m.json")
    again = rw.TwoStage.load(tmp_path / "m.json")
    assert again.second_.objective_ == rw.objective("bi-lambdarank-ndcg@5")
    assert again.predict(test).tobytes() == model.predict(test).tobytes()
    assert again.second.get_params()["differences"] == ["f1", "score"]


def test_a_checkpoint_replaces_no_other_file(rng, tmp_path):
    train, file = made(rng, 12, "t"), tmp_path / "model.json"
    quick = rw.Ranker(n_estimators=2, num_leaves=3, min_child_samples=2, n_jobs=1, verbose=False)
    quick.fit(train).save(file)
    before = file.read_bytes()
    model = rw.TwoStage(quick, quick, folds=2, top=3, **PLAIN)
    with pytest.raises(rw.InputError, match="isn't the checkpoint of a TwoStage"):
        model.fit(train, checkpoint=file)
    assert file.read_bytes() == before
    with pytest.raises(rw.InputError, match="there is no checkpoint"):
        model.fit(train, checkpoint=rw.Checkpoint(tmp_path / "none", resume="must"))


def test_an_interrupted_run_is_resumed_if_it_must_be(rng, tmp_path):
    train, file = made(rng, 12, "t"), tmp_path / "run.ckpt"
    quick = rw.Ranker(n_estimators=2, num_leaves=3, min_child_samples=2, n_jobs=1, verbose=False)
    model = rw.TwoStage(quick, quick, folds=3, top=3, **PLAIN)

    def interrupt(done):
        if done.fold == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(train, checkpoint=file, callbacks=[interrupt])
    resumed = clone(model).fit(train, checkpoint=rw.Checkpoint(file, resume="must"))
    assert resumed.first_[0].resumed_after_ == 2 and resumed.first_[2].resumed_after_ == 0
    assert resumed.predict(train).tobytes() == model.fit(train).predict(train).tobytes()


@pytest.mark.parametrize("stage", ["first", "second"])
def test_stages_of_other_libraries(rng, seen, stage, tmp_path):
    train = made(rng, 12, "t")
    quick = rw.Ranker(n_estimators=2, num_leaves=3, min_child_samples=2, n_jobs=1, verbose=False)
    stages = {"first": quick, "second": quick, stage: Spy()}
    model = rw.TwoStage(**stages, folds=2, top=3, **PLAIN)
    with pytest.raises(rw.InputError, match=f"checkpoint needs stages .* {stage} is a Spy"):
        model.fit(train, checkpoint=tmp_path / "run.ckpt")
    assert not seen  # nothing was trained
    assert "of another library" in repr(model.fit(train).summary())
