"""RankNet on the pairs of the data: against plain loops, on every engine, and where there are no pairs."""

import warnings
from contextlib import chdir
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import group_rows
from rankwood.diagnostics import heat
from rankwood.fit.arguments import FitArguments
from rankwood.objectives import Bivariate, RankNetPairs
from rankwood.objectives.batches import BatchComputer
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.valued import valued
from tests.helpers.examples import examples
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists
from tests.oracles import naive_given_pairs as naive

NAME = "ranknet-pairs"


def random_pairs(rng, y, sizes, count=300):
    """Return pairs of rows of the same query, mostly in the order of the labels, and their weights."""
    query = np.repeat(np.arange(sizes.size), sizes)
    a, b = rng.integers(0, y.size, (2, 60 * count))
    inside = (query[a] == query[b]) & (a != b) & (y[a] >= y[b])
    chosen = np.column_stack([a, b])[inside][:count]
    chosen[::10] = chosen[::10, ::-1]
    return [
        (*pair, w)
        for pair, w in zip(chosen.tolist(), rng.gamma(1.0, size=len(chosen)), strict=True)
    ]


@pytest.fixture
def paired(rng):
    """Return data of which the rows of queries are mixed, with pairs."""
    X, y, sizes = random_lists(rng, queries=30, longest=20)
    qid = np.repeat(np.arange(sizes.size), sizes)
    pairs = random_pairs(rng, y, sizes)
    mixed = rng.permutation(y.size)
    place = np.argsort(mixed)
    moved = [(place[high], place[low], w) for high, low, w in pairs]
    return rw.RankingData(X[mixed], y[mixed], qid=qid[mixed], pairs=moved)


def triples(data):
    return list(zip(*(column.tolist() for column in data.pairs), strict=True))


@st.composite
def one_list(draw):
    """Draw scores, and pairs of their places with a weight."""
    s = draw(st.lists(st.floats(-30, 30), min_size=2, max_size=9))
    place = st.integers(0, len(s) - 1)
    weight = st.one_of(st.just(0.0), st.floats(0.001, 100))
    pair = st.tuples(place, place, weight).filter(lambda pair: pair[0] != pair[1])
    return s, draw(st.lists(pair, max_size=12))


def data_of(s, pairs, **other):
    n = len(s)
    return rw.RankingData(np.zeros((n, 1)), np.zeros(n), pairs=pairs, **other)


@examples(100)
@given(one_list())
def test_gradients_equal_the_oracle(drawn):
    s, pairs = drawn
    with interpreted():
        got = rw.gradients(NAME, data_of(s, pairs), s, n_jobs=1)
    scale = 1e-9 * (1 + sum(w for *_, w in pairs))
    for found, expected in zip(got, naive.gradients(pairs, s), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=scale)


def test_the_oracle_is_the_derivative_of_its_loss():
    s, pairs = [0.3, -0.4, 1.2], [(0, 1, 2.0), (1, 2, 0.5), (2, 1, 1.5), (0, 1, 1.0)]
    gradient, hessian = naive.gradients(pairs, s)
    for i in range(3):
        for j in range(3):
            up, down = ([x + e * (k == j) for k, x in enumerate(s)] for e in (1e-5, -1e-5))
            slope = naive.gradients(pairs, up)[0][i] - naive.gradients(pairs, down)[0][i]
            expected = hessian[i] if i == j else -naive.mixed(pairs, s)[i][j]
            assert slope / 2e-5 == pytest.approx(expected, abs=1e-8)
            if i == j:
                rise = (naive.loss(pairs, up) - naive.loss(pairs, down)) / 2e-5
                assert rise == pytest.approx(gradient[i], abs=1e-8)


@examples(50)
@given(one_list(), st.randoms())
def test_properties(drawn, random):
    s, pairs = np.array(drawn[0]), drawn[1]
    with interpreted():
        grad, hess = rw.gradients(NAME, data_of(s, pairs), s, n_jobs=1)
        total = 1 + sum(w for *_, w in pairs)
        assert abs(grad.sum()) < 1e-12 * total and hess.min() >= 0
        shifted, _ = rw.gradients(NAME, data_of(s, pairs), s + 2.0, n_jobs=1)
        np.testing.assert_allclose(shifted, grad, atol=1e-9 * total)
        # The order of the pairs changes no bit, a pair given twice is one of twice the weight.
        mixed = random.sample(pairs, len(pairs))
        again = rw.gradients(NAME, data_of(s, mixed), s, n_jobs=1)
        assert again[0].tobytes() == grad.tobytes() and again[1].tobytes() == hess.tobytes()
        twice, _ = rw.gradients(NAME, data_of(s, pairs + pairs), s, n_jobs=1)
        np.testing.assert_allclose(twice, 2 * grad, atol=1e-12 * total)
        # Opposite pairs of the same weight push towards equal scores.
        both = pairs + [(low, high, w) for high, low, w in pairs]
        level, _ = rw.gradients(NAME, data_of(s, both), 0 * s, n_jobs=1)
        assert np.abs(level).max() < 1e-12 * total


def test_with_the_pairs_of_labels_it_is_ranknet(rng):
    _, y, sizes = random_lists(rng, queries=12, longest=20)
    s, groups = rng.normal(size=y.size), group_rows(y.size, group=sizes)
    data = rw.RankingData(np.zeros((y.size, 1)), y, group=sizes)
    data.pairs = GivenPairs.by_labels(y, groups)
    with interpreted():
        found = rw.gradients(NAME, data, s, n_jobs=1)
        wanted = rw.gradients("ranknet(norm=False)", data, s, n_jobs=1)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_compiled_in_both_precisions_on_any_number_of_threads(paired, rng):
    s = rng.normal(size=len(paired)) * 3
    expected = naive.gradients(triples(paired), s.tolist())
    groups = paired.groups.shuffled(4)  # as in training
    for real, error in ((np.float64, 1e-12), (np.float32, 1e-5)):
        found = [
            GradientComputer(
                RankNetPairs(), paired.y, groups, dtype=real, n_jobs=jobs, pairs=paired.pairs
            )(s)
            for jobs in (1, 2, 5)
        ]
        assert len({grad.tobytes() + hess.tobytes() for grad, hess in found}) == 1
        np.testing.assert_allclose(found[0], expected, atol=error * np.abs(expected).max())


def test_scores_far_apart_are_finite():
    data = data_of([0, 0], [(0, 1, 2.0)])
    with interpreted():
        for far in (1e3, 1e30):
            right, wrong = (rw.gradients(NAME, data, [a, -a])[0] for a in (far, -far))
            assert np.abs(right).max() < 1e-30 and wrong.tolist() == [-2.0, 2.0]


def test_weights_of_queries_and_of_documents(paired):
    weight = np.arange(1.0, paired.groups.ids.size + 1)
    computer = GradientComputer(
        RankNetPairs(), paired.y, paired.groups, weight, n_jobs=1, pairs=paired.pairs
    )
    s, by_row = np.zeros(len(paired)), paired.groups.per_row(weight)
    moved = [(high, low, w * by_row[high]) for high, low, w in triples(paired)]
    np.testing.assert_allclose(computer(s), naive.gradients(moved, s.tolist()), atol=1e-10)
    paired.sample_weight = np.linspace(1, 2, len(paired))
    with pytest.raises(rw.InputError, match="this objective is a sum over pairs"):
        rw.Ranker(NAME).fit(paired)


@examples(25)
@given(one_list())
def test_the_loss_is_that_of_the_formula(drawn):
    s, pairs = drawn
    groups = group_rows(len(s))
    options = {"n_jobs": 1, "pairs": GivenPairs.of(pairs, groups)}
    with interpreted():
        inside = valued(RankNetPairs())
        shares = GradientComputer(inside.objective, np.zeros(len(s)), groups, **options)(
            np.array(s)
        )
    expected = naive.loss(pairs, s)
    assert inside.share * shares[1].sum() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@examples(25)
@given(one_list())
def test_lifted_to_pairs_of_documents(drawn):
    s, pairs = drawn
    n, data = len(s), data_of(*drawn)
    S = (
        np.subtract.outer(np.array(s), np.array(s)) / 2
    )  # its scores of documents are s, up to a constant
    np.fill_diagonal(S, 0.0)
    items = (S.sum(axis=1) - S.sum(axis=0)) / (n - 1)
    with interpreted():
        found, curves = rw.bivariate_gradients(NAME, data, S)
    gradient, hessian = naive.gradients(pairs, items.tolist())
    mixed = naive.mixed(pairs, items.tolist())
    scale = 1e-9 * (1 + sum(w for *_, w in pairs))
    for i in range(n):
        for j in range(n):
            if i != j:
                # The score of the pair is in both scores of documents, with opposite signs.
                first = (gradient[i] - gradient[j]) / (n - 1)
                second = (hessian[i] + hessian[j] + 2 * mixed[i][j]) / (n - 1) ** 2
                assert found[i, j] == pytest.approx(first, abs=scale)
                assert curves[i, j] == pytest.approx(second, abs=scale)


def misplaced(data, scores):
    """Return the share of the weight of pairs that are in the wrong order."""
    winner, loser, weight = data.pairs
    return weight[scores[winner] <= scores[loser]].sum() / weight.sum()


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost", "catboost", "pairtree"])
def test_engines_learn_the_pairs_and_not_the_labels(paired, engine):
    pytest.importorskip({"pairtree": "rankwood"}.get(engine, engine))
    data = rw.RankingData(
        paired.X, np.zeros(len(paired)), qid=paired.qid, pairs=np.column_stack(paired.pairs)
    )
    name = f"bi-{NAME}" if engine == "pairtree" else NAME
    with warnings.catch_warnings():
        warnings.simplefilter("error", rw.DataWarning)
        ranker = rw.Ranker(name, engine=engine, n_estimators=20, n_jobs=1).fit(data)
    assert misplaced(data, ranker.predict(data)) < 0.25
    turned = data._take(np.arange(len(data)))[0]
    turned.pairs = data.pairs._replace(winner=data.pairs.loser, loser=data.pairs.winner)
    again = rw.Ranker(name, engine=engine, n_estimators=20, n_jobs=1).fit(turned)
    assert misplaced(data, again.predict(data)) > 0.75


@pytest.mark.parametrize("weighted", [False, True])
def test_catboost_takes_the_same_steps(paired, weighted, tmp_path):
    """The leaves of each tree are the Newton steps of the oracle's derivatives, and its loss is the oracle's mean."""
    cb = pytest.importorskip("catboost")
    weight = np.linspace(0.5, 3, paired.groups.ids.size) if weighted else None
    triple = np.column_stack(paired.pairs)
    data = rw.RankingData(paired.X, paired.y, qid=paired.qid, weight=weight, pairs=triple)
    options = {"n_estimators": 3, "learning_rate": 1.0, "reg_lambda": 0.0, "random_strength": 0.0}
    ranker = rw.Ranker(NAME, engine="catboost", num_leaves=8, n_jobs=1, **options).fit(data)
    by_row = np.ones(len(data)) if weight is None else data.groups.per_row(data.weight)
    pairs = [(high, low, w * by_row[high]) for high, low, w in triples(data)]
    booster, scores = ranker.booster_, np.zeros(len(data))
    for leaf, end in zip(booster.calc_leaf_indexes(data.X).T, (1, 2, 3), strict=True):
        grad, hess = naive.gradients(pairs, scores.tolist())
        sums, curvature = np.bincount(leaf, grad), np.bincount(leaf, hess)
        after = booster.predict(data.X, prediction_type="RawFormulaVal", ntree_end=end)
        # A leaf without curvature stays where it is; leaves may be shifted by one constant, which changes no ranking.
        step = -sums / np.where(curvature > 0, curvature, 1.0)
        difference = step[leaf] - (after - scores)
        assert np.unique(leaf).size > 3 and np.ptp(after - scores) > 0.1
        assert np.ptp(difference) < 1e-6 * max(1.0, np.abs(step).max())
        scores = after
    rows = data.groups.rows
    place = np.argsort(rows)
    pool = cb.Pool(
        data.X[rows],
        data.y[rows],
        group_id=np.repeat(np.arange(data.groups.ids.size), data.groups.sizes),
        pairs=[(place[high], place[low]) for high, low, _ in pairs],
        pairs_weight=[w for *_, w in pairs],
    )
    with chdir(tmp_path):  # it writes files
        theirs = booster.eval_metrics(pool, "PairLogit")["PairLogit"][-1]
    mean = naive.loss(pairs, scores.tolist()) / sum(w for *_, w in pairs)
    assert theirs == pytest.approx(mean, rel=1e-6)  # its weights are float32


def test_catboost_with_validation_data(paired):
    pytest.importorskip("catboost")
    train, valid = paired.split(0.3)
    valid.pairs = None
    ranker = rw.Ranker(NAME, engine="catboost", n_estimators=8, n_jobs=1).fit(train, valid=valid)
    (curve,) = ranker.history_.values()
    last = rw.evaluate("ndcg@10", valid, ranker.predict(valid)).mean()["ndcg@10"]
    assert len(curve) == 8 and curve[ranker.best_iteration_ - 1] == pytest.approx(last)


def test_checkpoints_models_and_two_stages(paired, tmp_path):
    options = {"n_jobs": 1, "random_state": 3}
    whole = rw.Ranker(NAME, n_estimators=12, **options).fit(paired)
    path = tmp_path / "run.ckpt"
    rw.Ranker(NAME, n_estimators=6, **options).fit(paired, checkpoint=path)
    resumed = rw.Ranker(NAME, n_estimators=12, **options).fit(paired, checkpoint=path)
    assert resumed.predict(paired).tobytes() == whole.predict(paired).tobytes()
    other = rw.RankingData(
        paired.X, paired.y, qid=paired.qid, pairs=np.column_stack(paired.pairs[:2])
    )
    with pytest.raises(rw.InputError, match="data"):
        rw.Ranker(NAME, n_estimators=14, **options).fit(other, checkpoint=path)
    whole.save(tmp_path / "model.json")
    again = rw.Ranker.load(tmp_path / "model.json")
    assert again.objective_ == RankNetPairs()
    assert again.predict(paired).tobytes() == whole.predict(paired).tobytes()
    stages = rw.TwoStage(
        rw.Ranker(NAME, n_estimators=5, n_jobs=1),
        rw.Ranker(f"bi-{NAME}", n_estimators=3, n_jobs=1),
        top=5,
        folds=2,
    )
    assert stages.fit(paired).predict(paired).size == len(paired)


def test_diagnose_and_records(paired):
    s = np.zeros(len(paired))
    with interpreted():
        found = rw.diagnose(NAME, paired, s)
    query = paired.groups.per_row(np.arange(paired.groups.ids.size))
    used = {(query[high], frozenset((high, low))) for high, low, w in triples(paired) if w > 0}
    assert found.per_query["pairs"].tolist() == [
        sum(q == number for q, _ in used) for number in range(paired.groups.ids.size)
    ]
    expected = naive.gradients(triples(paired), s.tolist())[0]
    np.testing.assert_allclose(found.push, np.negative(expected), atol=1e-12)
    with pytest.raises(
        rw.InputError, match=r"no 'effective_pairs', .*: its pairs are those of the data"
    ):
        rw.Ranker(NAME, record="effective_pairs").fit(paired)
    ranker = rw.Ranker(NAME, n_estimators=2, record="coherency@3", n_jobs=1).fit(paired)
    assert len(ranker.record_["incoherent"]) == 2
    with pytest.raises(rw.InputError, match="weighs the pairs that come with the data"):
        heat(NAME)


def test_data_without_pairs_and_who_cannot_know_them(paired):
    y, qid, demo_train = paired.y, paired.qid, rw.load_demo("train")
    none = "RankNetPairs() is a sum over the pairs that come with the data, and this data has none"
    alone = "RankNetPairs\\(\\) is a sum over RankingData.pairs, which {} doesn't know"
    for call in (
        lambda: rw.gradients(NAME, y, np.zeros(y.size), qid=qid),
        lambda: rw.diagnose(NAME, demo_train, np.zeros(len(demo_train))),
        lambda: rw.bivariate_gradients(NAME, [1, 0], np.zeros((2, 2))),
        lambda: rw.Ranker(NAME).fit(demo_train),
        lambda: rw.Ranker(NAME, engine="xgboost").fit(demo_train),
        lambda: rw.Ranker(f"bi-{NAME}").fit(demo_train),
    ):
        with pytest.raises(rw.InputError) as error:
            call()
        assert str(error.value).startswith(none)
    for call, who in (
        (lambda: rw.engine_objective(NAME), "data of LightGBM or XGBoost"),
        (lambda: BatchComputer(RankNetPairs(), np.float32), "RankingLoss"),
    ):
        with pytest.raises(rw.InputError, match=alone.format(who)):
            call()
    with pytest.raises(rw.InputError, match=r"give RankingData\(X, y, qid=qid, pairs=pairs\)"):
        rw.Ranker(NAME).fit(paired.X, y, qid=qid, pairs=[[0, 1]])


def test_streams_and_catboost_without_pairs(tmp_path):
    data = rw.load_demo("valid")
    rw.save_letor(data, tmp_path / "data.txt")
    sources = [(rw.stream_files(tmp_path / "data.txt"), "lightgbm")]
    if find_spec("catboost"):
        sources.append((data, "catboost"))
    for source, engine in sources:
        with pytest.raises(rw.InputError, match="this data has none: give RankingData"):
            rw.Ranker(NAME, engine=engine).fit(source)


def test_networks_refuse_them(paired):
    pytest.importorskip("torch")
    with pytest.raises(
        rw.InputError, match="which NeuralRanker doesn't know: train it with Ranker"
    ):
        rw.NeuralRanker(objective=NAME).fit(paired)


def test_clusters_refuse_them(paired):
    pytest.importorskip("distributed")
    from rankwood.cluster.sources import futures_of

    with pytest.raises(rw.InputError, match="pairs can't go to a cluster"):
        futures_of(None, FitArguments(paired), 2, None)


def test_pairs_that_nobody_reads_are_a_warning(paired):
    with pytest.warns(rw.DataWarning, match="the data has pairs, and 'ranknet' doesn't read them"):
        rw.Ranker("ranknet", n_estimators=2, n_jobs=1).fit(paired)


def test_names():
    assert rw.objective(NAME) == RankNetPairs()
    assert rw.objective(f"bi-{NAME}") == Bivariate(RankNetPairs())
    with pytest.raises(rw.InputError, match="has no cutoff"):
        rw.objective(f"{NAME}@5")
