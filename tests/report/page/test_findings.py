"""What a page says: its numbers against plain loops, the metrics themselves, and the engines."""

import math

import numpy as np
import pytest

import rankwood as rw
from rankwood.data.trec.files import Qrels, Run
from rankwood.report.page import breakdown, make_page, queries
from rankwood.report.page.documents import documents_of
from rankwood.report.page.findings import findings_of
from rankwood.report.page.scored import score_models


@pytest.fixture(scope="module")
def data():
    """40 queries whose lists have 3 to 20 documents, some of them without a relevant one."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(3, 21, 40)
    y = rng.choice(4, sizes.sum(), p=[0.6, 0.2, 0.1, 0.1]).astype(float)
    y[: sizes[0]] = 0
    names = [f"docid = D{i} a remark" for i in range(y.size)]
    X = np.column_stack([y + rng.normal(size=y.size), rng.normal(size=y.size)])
    return rw.RankingData(X, y, group=sizes, comments=names)


def found(models, test, metrics=None, baseline=None, train=None, **rules):
    rules = {**rules, "n_jobs": 1}
    return findings_of(
        score_models(models, test, train, metrics, rules), test, metrics, baseline, rules
    )


def plain_ranks(y, scores):
    """Ranks from 1: by decreasing score, less relevant documents first among equal scores."""
    order = sorted(range(len(y)), key=lambda i: (-scores[i], y[i]))
    return {i: rank for rank, i in enumerate(order, 1)}


def test_ranks_and_ndcg_by_label_are_those_of_a_plain_loop(data):
    scores = np.round(data.X[:, 0])  # many ties
    documents = documents_of(score_models(scores, data, None, ["ndcg@5"], {}), data)
    expected = dict.fromkeys((0.0, 1.0, 2.0, 3.0), 0.0)
    for q in range(data.groups.ids.size):
        rows = documents.rows(q)
        ranks = plain_ranks(data.y[rows], scores[rows])
        assert [documents.ranks[0, r] for r in rows] == [ranks[i] for i in range(rows.size)]
        gains = sorted((2**label - 1 for label in data.y[rows]), reverse=True)
        ideal = sum(g / math.log2(i + 2) for i, g in enumerate(gains[:5]))
        for i, row in enumerate(rows):
            if ranks[i] <= 5 and ideal:
                gain = (2 ** data.y[row] - 1) / math.log2(ranks[i] + 1)
                expected[data.y[row]] += gain / ideal / data.groups.ids.size
    rows = found(scores, data, ["ndcg@5"]).by_label.rows
    assert [row.label for row in rows] == ["0", "1", "2", "3"]
    assert [row.parts[0] for row in rows] == pytest.approx(list(expected.values()))


def test_labels_add_up_to_the_metric_and_to_the_ideal(data):
    models = {"a": data.X[:, 0], "b": data.X[:, 1]}
    own = found(models, data, ["ndcg@7", "map"])
    assert own.by_label.k == 7
    for i, name in enumerate(models):
        mean = rw.evaluate("ndcg@7", data, models[name]).mean()["ndcg@7"]
        assert sum(row.parts[i] for row in own.by_label.rows) == pytest.approx(mean)
    best = rw.report.perfect("ndcg@7", data).mean()["ndcg@7"]
    assert sum(row.ideal for row in own.by_label.rows) == pytest.approx(best)
    assert sum(row.documents for row in own.by_label.rows) == len(data)


def test_labels_of_documents_that_a_first_stage_cut_away_count_in_the_ideal(data):
    kept = data.cut_to(data.X[:, 0] > 0)
    own = found(kept.X[:, 0], kept, ["ndcg@10"])
    mean = rw.evaluate("ndcg@10", kept, kept.X[:, 0]).mean()["ndcg@10"]
    assert sum(row.parts[0] for row in own.by_label.rows) == pytest.approx(mean)


def test_bins_hold_every_query_once_and_keep_the_mean(data):
    own = found({"a": data.X[:, 0], "b": data.X[:, 1]}, data, ["ndcg@10"])
    for bins in (own.by_length, own.by_relevant):
        assert sum(one.queries for one in bins) == 40
        assert min(one.queries for one in bins) >= 5
        total = sum(one.queries * one.differences[0][0] for one in bins) / 40
        assert total == pytest.approx(own.outcome.comparison.test("b")["difference"])


def test_kinds_are_distinct_values_or_ranges():
    kinds = breakdown._kinds(np.array([0.0, 2.0, 2.0, 5.0]), 3)
    assert [(name, mask.sum()) for name, mask in kinds] == [("0", 1), ("2", 2), ("5", 1)]
    kinds = breakdown._kinds(np.arange(100), 4)
    assert [name for name, _ in kinds] == ["0 to 24", "25 to 49", "50 to 74", "75 to 99"]


def test_means_tests_and_bounds_are_those_of_compare(data):
    models = {"a": data.X[:, 0], "b": data.X[:, 1]}
    own = found(models, data, ["ndcg@10", "p@5"], baseline="b").outcome
    evaluations = {n: rw.evaluate(["ndcg@10", "p@5"], data, s) for n, s in models.items()}
    expected = rw.compare(evaluations, "b", references=data)
    assert own.comparison.to_dict() == expected.to_dict()
    by_name = {(m.model, m.metric): m.mean for m in own.means}
    for model in ("a", "b", "perfect model", "random model"):
        assert by_name[model, "p@5"] == pytest.approx(expected.mean(model, "p@5"))
    (pair,) = own.pairs
    assert (pair.name, pair.against, pair.model) == ("a", "b", 0)
    values = evaluations["a"].per_query["ndcg@10"]
    low, high = rw.stats.t_interval(values)
    assert own.means[0][2:5] == pytest.approx((values.mean(), low, high))


def test_one_model_stands_against_a_random_order(data):
    own = found(data.X[:, 0], data, ["ndcg@10"]).outcome
    assert own.comparison is None
    (pair,) = own.pairs
    expected = rw.report.random("ndcg@10", data).per_query["ndcg@10"]
    np.testing.assert_allclose(pair.others, expected)


def test_an_evaluation_in_another_order_is_matched_by_query(data):
    ev = rw.evaluate(["ndcg@10"], data, data.X[:, 0])
    backward = rw.Evaluation(
        ev.per_query["qid"][::-1], {"ndcg@10": ev.per_query["ndcg@10"][::-1]}, ev.conventions
    )
    one, other = (found(model, data) for model in (ev, backward))
    for a, b in zip(one.by_length, other.by_length, strict=True):
        assert (a.label, a.queries) == (b.label, b.queries)
        assert a.differences[0] == pytest.approx(b.differences[0])
    assert one.outcome.pairs[0].gain.tolist() == other.outcome.pairs[0].gain.tolist()[::-1]


def test_chosen_queries_are_the_largest_changes_and_the_worst(data):
    models = {"a": data.X[:, 0], "b": data.X[:, 1]}
    own = found(models, data, ["ndcg@10"])
    a, b = own.outcome.values[:, 0]
    gains, losses, worst_a, _ = own.queries.tables
    largest = np.argsort(-(b - a), kind="stable")
    assert gains.rows["qid"].tolist() == [q for q in largest if b[q] > a[q]][: queries.TOP]
    assert losses.rows["difference"].tolist() == sorted(losses.rows["difference"])
    assert losses.rows["difference"].min() == pytest.approx((b - a).min())
    relevant = np.add.reduceat(data.y > 0, data.groups.ptr[:-1])
    assert 0 in relevant and (relevant[worst_a.rows["qid"]] > 0).all()
    assert worst_a.rows["value"][0] == a[relevant > 0].min()


def test_entries_have_labels_ranks_scores_and_names(data):
    own = found({"a": data.X[:, 0], "b": data.X[:, 1]}, data, ["ndcg@10"]).queries
    entry = own.entries[7]
    rows = data.groups.rows[data.groups.ptr[7] : data.groups.ptr[8]]
    assert (entry.n_documents, entry.n_relevant) == (rows.size, (data.y[rows] > 0).sum())
    for document in entry.documents:
        row = int(document.name.split()[2][1:])
        assert row in rows
        assert document.label == data.y[row]
        assert document.scores == data.X[row].tolist()
        assert document.ranks == [
            plain_ranks(data.y[rows], data.X[rows, j])[row - rows[0]] for j in (0, 1)
        ]
    assert [d.ranks[0] for d in entry.documents] == sorted(d.ranks[0] for d in entry.documents)


def test_many_documents_are_cut_but_relevant_ones_stay():
    y = np.zeros(300)
    y[[5, 250]] = 1
    data = rw.RankingData(np.zeros((300, 1)), y)
    (entry,) = found(-np.arange(300.0), data, ["ndcg@10"]).queries.entries
    assert len(entry.documents) == queries.DOCUMENTS
    assert [d.ranks[0] for d in entry.documents if d.label] == [6, 251]
    assert {d.ranks[0] for d in entry.documents} > set(range(1, 11))


def test_runs_and_judgments():
    qrels = Qrels(["1", "1", "1", "2"], ["a", "b", "c", "a"], np.array([1.0, 0.0, 2.0, 1.0]))
    one = Run(["1", "1", "2"], ["a", "new", "a"], np.array([3.0, 2.0, 1.0]))
    other = Run(["1", "2"], ["c", "a"], np.array([1.0, 1.0]))
    own = found({"one": one, "other": other}, qrels, ["ndcg@5"])
    first = own.queries.entries[0]
    assert {d.name: (d.label, d.ranks) for d in first.documents} == {
        "a": (1.0, [1, 0]),
        "b": (0.0, [0, 0]),
        "c": (2.0, [0, 1]),
        "new": (0.0, [2, 0]),
    }
    for i, run in enumerate((one, other)):
        mean = rw.evaluate("ndcg@5", qrels, run).mean()["ndcg@5"]
        assert sum(row.parts[i] for row in own.by_label.rows) == pytest.approx(mean)


def test_a_query_that_a_run_lacks_may_be_left_out():
    qrels = Qrels(["1", "2"], ["a", "a"], np.array([1.0, 1.0]))
    run = Run(["1"], ["a"], np.array([1.0]))
    own = found(run, qrels, ["map"], convention="trec_eval").outcome
    assert own.ids.tolist() == ["1"]
    assert own.pairs[0].others.size == 1


@pytest.fixture(scope="module")
def trained():
    """Models of one and of two stages on the demo data, with their records."""
    train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
    options = {"n_estimators": 4, "num_leaves": 5, "n_jobs": 1, "verbose": False}
    # Few trees, which must split on the score of the first stage.
    exact = {**options, "learning_rate": 0.1, "extra_trees": False}
    ranker = rw.Ranker("lambdarank-ndcg@10", record=["effective_pairs", "coherency"], **exact)
    plain = rw.Ranker("lambdarank-ndcg@10", **exact)
    models = {
        "one": ranker.fit(train, valid=valid),
        "two": rw.TwoStage(plain, plain, top=10, folds=2, verbose=False).fit(train, valid=valid),
        "pairs": rw.Ranker("bi-ranknet", "pairtree", **options).fit(train),
    }
    return models, train, test


@pytest.fixture(scope="module")
def told(trained):
    """What a page says about these models."""
    models, train, test = trained
    return found(models, test, ["ndcg@10"], train=train, empty="skip")


def test_training_is_told_by_stage(trained, told):
    (models, train, _), own = trained, told
    (curves,) = own.curves.values()
    assert [stage.name for stage, _ in curves] == [
        "one",
        *["two, first stage"] * 2,
        "two, second stage",
    ]
    assert curves[0][1].y.tolist() == models["one"].history_["ndcg@10"]
    assert curves[0][1].kept == models["one"].best_iteration_
    assert set(own.records) == {"effective_pairs", "incoherent", "false_over_missed"}
    one, two, pairs = own.objectives
    expected = rw.diagnose("lambdarank-ndcg@10", train, models["one"].predict(train), n_jobs=1)
    assert one.effective_pairs == expected.effective_pairs
    assert one.incoherent == expected.incoherent
    assert (one.data, two.data) == ("training data", "training data, truncated lists")
    assert pairs.effective_pairs is None and "pairs of documents" in pairs.note
    means = {(row.model, row.metric): row.train for row in own.training_means}
    expected = models["two"].evaluate("ndcg@10", train, empty="skip").mean()["ndcg@10"]
    assert means["two", "ndcg@10"] == pytest.approx(expected)


def test_contributions_are_those_of_models_that_can_be_explained(trained, told):
    own = told.contributions
    assert own.stages == ["one"]  # two stages have several models
    models, _, test = trained
    queries = np.linspace(0, 39, 24).astype(int)  # these have about 500 of the 847 documents
    assert 400 < len(test.select(queries)) < 600
    explained = models["one"].explain(test.select(queries))
    shares = explained.importances / explained.importances.sum()
    order = np.argsort(-shares, kind="stable")[: len(own.features)]
    assert own.features == [explained.feature_names[i] for i in order]
    np.testing.assert_allclose(own.shares[:, 0], shares[order], rtol=1e-12)


def test_importance_is_by_feature_and_stage(trained, told):
    models, own = trained[0], told.importance
    assert own.stages == ["one", "two, first stage", "two, second stage", "pairs"]
    best = int(np.argmax(models["one"].feature_importances_))
    row = own.shares[own.features.index(f"f{best + 1}")]
    assert row[0] == pytest.approx(models["one"].feature_importances_[best])
    first = np.mean([r.feature_importances_[best] for r in models["two"].first_])
    assert row[1] == pytest.approx(first)
    assert all(
        name.startswith(("f", "score")) for name in own.features
    )  # "f4:rank" is of feature 4
    assert math.isnan(own.shares[own.features.index("score"), 0])


def test_parameters_rules_and_versions(told):
    own = told.provenance
    rows = {row.name: row for row in own.parameters}
    assert rows["objective"].values == ["lambdarank-ndcg@10", None, "bi-ranknet"]
    assert rows["objective"].differs and not rows["num_leaves"].differs
    assert rows["second__num_leaves"].values == [None, "5", None]
    assert ("ndcg@10", "NDCG(k=10)") in own.rules and ("rule: empty", "skip") in own.rules
    assert dict(own.versions)["rankwood"] == rw.__version__
    assert {"numpy", "lightgbm"} <= dict(own.versions).keys()


@pytest.mark.parametrize("engine", ["xgboost", "catboost"])
def test_every_engine(engine, trained):
    pytest.importorskip(engine)
    _, train, test = trained
    ranker = rw.Ranker("softmax", engine, n_estimators=2, n_jobs=1, verbose=False)
    own = found(ranker.fit(train), test, ["ndcg@10"])
    assert own.importance.shares.sum() == pytest.approx(1.0, abs=0.05)
    assert own.objectives[0].effective_pairs is None  # softmax isn't made of pairs
    assert any(name.startswith(engine) for name, _ in own.provenance.versions)


WRONG = [
    ({"models": {}}, "there is no model"),
    ({"models": {"a": "m.json"}}, "must be a fitted ranker"),
    ({"test": None}, "there must be test data"),
    ({"test": [1, 2]}, "test must be a RankingData or Qrels"),
    ({"train": [1, 2]}, "train must be a RankingData"),
    ({"baseline": "c"}, "baseline 'c' is none of the models"),
    ({"metrics": "ndgc@10"}, "did you mean 'ndcg'"),
    ({"models": {1: [1.0], "1": [1.0]}}, "two models have the same name"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_refused(data, change, message):
    given = {"models": {"a": data.X[:, 0], "b": data.X[:, 1]}, "test": data, "n_jobs": 1, **change}
    with pytest.raises(rw.InputError, match=message):
        make_page(given.pop("models"), given.pop("test"), **given)


def test_a_run_needs_judgments_and_a_ranker_features(trained):
    models, _, test = trained
    qrels = Qrels(["1"], ["a"], np.array([1.0]))
    with pytest.raises(rw.InputError, match="can't rank judgments"):
        make_page(models["one"], qrels)
    with pytest.raises(rw.InputError, match="scores"):
        make_page(Run(["1"], ["a"], np.array([1.0])), test)
