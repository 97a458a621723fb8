"""Explanations: centred within queries, pairs, tables, pictures, refusals, and the command line."""

import json

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.cli_calls import answer, caller, check_help, complaint

NAMES = ["price", "stock", "clicks", "shop"]


@pytest.fixture(scope="module")
def frame():
    import pandas

    rng = np.random.default_rng(1)
    table = pandas.DataFrame(rng.normal(size=(200, 3)), columns=NAMES[:3])
    table["shop"] = pandas.Categorical(rng.choice(["north", "south", "west"], 200))
    table.loc[rng.random(200) < 0.2, "stock"] = np.nan
    raw = table.price + 2 * (table["shop"] == "south") + table.stock.fillna(0)
    table["label"] = np.digitize(raw, [0.0, 1.0, 2.0])
    table["query"] = np.arange(200) % 10  # rows of a query are not adjacent
    return table


@pytest.fixture(scope="module")
def ranker(frame):
    model = rw.Ranker(n_estimators=8, num_leaves=7, n_jobs=1, min_data_per_group=5, cat_smooth=1)
    return model.fit(frame, y="label", qid="query")


@pytest.fixture(scope="module")
def found(ranker, frame):
    return ranker.explain(frame, qid="query")


def test_contributions_add_up(found, ranker, frame):
    scores = ranker.predict(frame)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), scores, rtol=0, atol=1e-9)
    assert found.feature_names == NAMES and len(found) == 200
    expected = np.empty_like(found.values)
    for q in range(10):
        rows = np.flatnonzero(frame["query"] == q)
        expected[rows] = found.values[rows] - found.values[rows].mean(axis=0)
        mean = scores[rows].mean()
        np.testing.assert_allclose(found.centred[rows].sum(axis=1), scores[rows] - mean, atol=1e-9)
    np.testing.assert_allclose(found.centred, expected, rtol=0, atol=1e-12)


def test_without_queries_all_rows_are_one(ranker, frame):
    found = ranker.explain(frame[NAMES])
    np.testing.assert_allclose(found.centred.sum(axis=0), 0.0, atol=1e-9)
    by_size = ranker.explain(frame[NAMES], group=[50, 150])
    assert abs(by_size.centred[:50].sum()) < 1e-9 and by_size.groups.sizes.tolist() == [50, 150]


def test_a_pair_is_the_difference_of_two_scores(found, ranker, frame):
    scores = ranker.predict(frame)
    for a, b in ((0, 10), (30, 20), (3, 193)):
        pair = found.pair(a, b)
        assert pair.values.sum() == pytest.approx(scores[a] - scores[b], abs=1e-9)
        assert (pair.start[1], pair.end[1]) == (scores[b], scores[a])
        place = "above" if scores[a] >= scores[b] else "below"
        assert pair.title == f"why row {a} is {place} row {b}, query {a % 10}"
        sizes = np.abs(pair.to_frame()["contribution"].to_numpy())
        assert (np.diff(sizes) <= 0).all()
        back = found.pair(b, a)
        np.testing.assert_array_equal(back.values, -pair.values)


def test_a_document_is_compared_with_its_query(found, frame):
    one = found.document(7)
    assert one.values.sum() == pytest.approx(one.end[1] - one.start[1], abs=1e-9)
    table = one.to_frame().set_index("feature")
    assert table.loc["shop", "value"] == frame["shop"][7]
    missing = int(np.flatnonzero(frame["stock"].isna())[0])
    assert (
        found.document(missing).to_frame().set_index("feature").loc["stock", "value"] == "missing"
    )
    whole, cut = one.to_dict(), one.to_dict(2)
    assert json.loads(json.dumps(whole)) == whole and whole["others"] == 0.0
    parts = sum(f["contribution"] for f in cut["features"]) + cut["others"]
    assert parts == pytest.approx(one.values.sum(), abs=1e-12)


def test_texts(found):
    lines = repr(found).splitlines()
    assert lines[0].split() == ["feature", "mean", "size", "within", "a", "query"]
    assert lines[-1].startswith("200 documents of 10 queries, base ")
    order = np.argsort(-found.importances)
    assert [line.split()[0] for line in lines[1:-1]] == [NAMES[i] for i in order]
    pair = found.pair(0, 10)
    assert repr(pair).splitlines()[0] == pair.title
    assert "<table>" in pair._repr_html_() and "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert list(frame.columns) == ["qid", "row", "score", *NAMES]
    np.testing.assert_array_equal(frame[NAMES].to_numpy(), found.centred)
    np.testing.assert_array_equal(found.to_frame(centred=False)[NAMES].to_numpy(), found.values)


def test_pictures(found):
    pytest.importorskip("matplotlib")
    assert len(found.plot(top=3).axes[0].patches) == 3
    pair = found.pair(0, 10)
    ax = pair.plot(top=2).axes[0]
    widths = [patch.get_width() for patch in ax.patches]
    assert len(widths) == 3 and sum(widths) == pytest.approx(pair.end[1] - pair.start[1])
    assert ax.get_yticklabels()[-1].get_text() == "2 other features"
    # Bars lead from the score of one document, at the bottom, to that of the other.
    assert ax.patches[-1].get_x() == pytest.approx(pair.start[1])
    assert ax.patches[0].get_x() + widths[0] == pytest.approx(pair.end[1])


@pytest.mark.filterwarnings("ignore")
def test_library_shap_draws_them(found):
    pytest.importorskip("shap")
    made = found.to_shap()
    np.testing.assert_array_equal(made.values, found.values)
    assert made.feature_names == NAMES and (made.base_values == found.base).all()
    centred = found.to_shap(centred=True)
    total = centred.values.sum(axis=1) + centred.base_values
    np.testing.assert_allclose(total, found.scores, rtol=0, atol=1e-9)
    labels = [text.get_text() for text in found.beeswarm(top=2).axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(
        NAMES[i] for i in np.argsort(-np.abs(found.centred).mean(0))[:2]
    )


def test_documents_with_ids():
    data = rw.RankingData(
        [[0.1], [0.9], [0.3], [0.4]] * 10,
        [0, 1, 0, 1] * 10,
        group=[4] * 10,
        comments=[f"docid = D{i}" for i in range(40)],
    )
    found = rw.Ranker(n_estimators=2, n_jobs=1, min_child_samples=1).fit(data).explain(data)
    assert found.pair("D1", "D0").title == "why D1 is above D0, query 0"
    assert found.to_frame()["document"].tolist() == [f"D{i}" for i in range(40)]
    with pytest.raises(rw.InputError, match="there is no document 'D99'"):
        found.document("D99")


def test_refusals(found, ranker, frame):
    with pytest.raises(rw.InputError, match="there is no row 200: rows are from 0 to 199"):
        found.document(200)
    with pytest.raises(rw.InputError, match="row must be at least 0"):
        found.document(-1)
    with pytest.raises(rw.InputError, match="row 1 is of query 1, and row 2 of query 2"):
        found.pair(1, 2)
    with pytest.raises(rw.InputError, match="got row 3 twice"):
        found.pair(3, 3)
    with pytest.raises(rw.InputError, match="lacks the column 'price'"):
        ranker.explain(frame.drop(columns="price"))
    data = rw.RankingData(frame[NAMES[:2]].to_numpy(), frame["label"], qid=frame["query"])
    small = {"n_estimators": 2, "n_jobs": 1, "num_leaves": 4}
    pairs = rw.Ranker("bi-lambdarank-ndcg@5", engine="pairtree", **small).fit(data)
    with pytest.raises(rw.InputError, match=r"a model of pairs \(bi-...\) scores a document by"):
        pairs.explain(data)
    both = rw.TwoStage(rw.Ranker(**small), pairs, top=5, folds=2, verbose=False).fit(data)
    with pytest.raises(rw.InputError, match="TwoStage has several models: explain each by itself"):
        both.explain(data)
    assert len(both.first_[0].explain(data)) == 200
    linear = rw.Ranker(**small, linear_tree=True).fit(rw.make_ranking(20))
    with pytest.raises(rw.InputError, match="linear"):
        linear.explain(rw.make_ranking(20))


def test_the_command(capsys, tmp_path, monkeypatch):
    data = rw.make_ranking(12, seed=3)
    rw.save_letor(data, tmp_path / "data.txt")
    model = rw.Ranker(n_estimators=5, n_jobs=1).fit(data)
    model.save(tmp_path / "m.json")
    call = caller(capsys, tmp_path, "explain")
    check_help(call("--help"), "explain")
    data = rw.load_letor(tmp_path / "data.txt", n_features=data.n_features)
    expected = model.explain(data)
    got = answer(call("@m.json @data.txt --json --top 3"))
    order = np.argsort(-expected.importances, kind="stable")[:3]
    assert [one["mean_size"] for one in got["importances"]] == expected.importances[order].tolist()
    query = data.groups.ids[2]
    rows = data.groups.rows[data.groups.ptr[2] : data.groups.ptr[3]]
    ranked = rows[np.argsort(-expected.scores[rows], kind="stable")]
    got = answer(call(f"@m.json @data.txt --query {query} --json"))
    assert [one["score"] for one in got["documents"]] == expected.scores[ranked].tolist()
    pair = answer(call(f"@m.json @data.txt --query {query} --pair 1 3 --json --top 99"))["pair"]
    same = expected.pair(int(ranked[0]), int(ranked[2])).to_dict()
    assert [f["contribution"] for f in pair["features"]] == [
        f["contribution"] for f in same["features"]
    ]
    code, out, err = call(f"@m.json @data.txt --query {query} --pair 1 3 --plot @pair.svg")
    assert (code, err) == (0, "") and f"why rank 1 is above rank 3, query {query}" in out
    assert (tmp_path / "pair.svg").read_bytes().startswith(b"<?xml")
    assert "what moves it most" in call(f"@m.json @data.txt --query {query}")[1]
    assert "there is no query 'x'" in complaint(call("@m.json @data.txt --query x"))
    assert "give --query too" in complaint(call("@m.json @data.txt --pair 1 2"))
    assert "no document '99'" in complaint(call(f"@m.json @data.txt --query {query} --pair 1 99"))


@pytest.fixture(scope="module")
def with_names_of_columns():
    data = rw.make_ranking(12, seed=1)
    names = ["score", "qid", "row", *(f"x{i}" for i in range(data.n_features - 3))]
    named = rw.RankingData(data.X, data.y, qid=data.qid, feature_names=names)
    return rw.Ranker(n_estimators=2, num_leaves=4, n_jobs=1).fit(named), named


def test_features_with_the_names_of_columns_lose_nothing(with_names_of_columns):
    pytest.importorskip("pandas")
    model, data = with_names_of_columns
    table = model.explain(data).to_frame()
    assert np.array_equal(table["score"], model.explain(data).scores)
    assert "score (feature)" in table and "qid (feature)" in table
