"""Descriptions find what was planted, and count what plain loops count."""

import math

import numpy as np
import pytest
from scipy import sparse

import rankwood as rw
from rankwood.data.tables.hashing import column_hashes, row_hashes
from rankwood.datasets import describe, load_splits


def ranking(seed=0, n_queries=40, features=6):
    data = rw.make_ranking(n_queries, documents=(4, 9), seed=seed)
    return rw.RankingData(np.asarray(data.X)[:, :features], data.y, qid=data.qid)


def with_columns(data, *columns):
    X = np.column_stack([np.asarray(data.X), *columns]).astype(np.float32)
    return rw.RankingData(X, data.y, qid=data.qid)


def renumbered(data, first):
    qid = np.repeat(np.arange(first, first + data.groups.ids.size), data.groups.sizes)
    return rw.RankingData(data.X[data.groups.rows], data.y[data.groups.rows], qid=qid)


def said(found, text):
    return [sentence for sentence in found.advice if text in sentence]


def test_counts_by_hand():
    data = rw.RankingData(
        [[1, 5], [1, 5], [2, 5], [3, 5], [4, 5], [4, 5], [0, 5]],
        [0, 1, 0, 2, 0, 0, 2],
        qid=["a", "a", "a", "b", "c", "c", "d"],
    )
    [part] = describe(data).parts
    assert (part.queries, part.documents) == (4, 7)
    assert part.labels == {0.0: 4, 1.0: 1, 2.0: 2}
    assert part.lengths.tolist() == [3, 1, 2, 1]
    assert part.relevant.tolist() == [1, 1, 0, 1]
    assert (part.single, part.empty, part.uniform) == (2, 1, 0)
    assert (part.repeated, part.contradictory) == (2, 1)
    assert not part.scattered
    assert describe(rw.RankingData([[1], [2], [3]], [1, 1, 1], qid=[1, 1, 1])).parts[0].uniform == 1
    assert describe(rw.RankingData([[1], [2], [3]], [1, 0, 1], qid=[1, 2, 1])).parts[0].scattered


def test_kinds_of_features():
    data = ranking()
    n = len(data)
    query = data.groups.per_row(np.arange(data.groups.ids.size)).astype(float)
    nan = np.full(n, np.nan)
    half = np.where(np.arange(n) % 2, np.nan, 3.0)
    found = describe(
        with_columns(data, np.ones(n), nan, data.X[:, 2], query, half, half, -0.0 * query)
    )
    features = found.features
    assert np.flatnonzero(features.constant).tolist() == [6, 12]
    assert np.flatnonzero(features.absent).tolist() == [7]
    assert features.duplicate_of.tolist() == [-1] * 8 + [2, -1, -1, 10, -1]
    assert np.flatnonzero(features.per_query).tolist() == [3, 9]  # the fourth is made so
    assert all(np.ptp(data.X[data.qid == qid, 3]) == 0 for qid in data.groups.ids)
    assert features.missing[10] == pytest.approx(np.isnan(half).mean())
    assert features.maximum[9] == query.max()
    assert np.isnan(features.minimum[7])
    assert said(found, "Features f7 and f13 are the same in every document: they can")
    assert said(found, "Feature f8 is missing in every document: it can")
    assert said(found, "Features f9 and f12 repeat earlier ones (f9 is f3)")
    assert said(found, "Features f4 and f10 have one value in each query")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hashes_tell_rows_and_columns_apart(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2000, 4)).astype(dtype)  # 81 different rows
    assert np.unique(row_hashes(X)).size == np.unique(X, axis=0).shape[0]
    assert np.array_equal(row_hashes(X[::-1]), row_hashes(X)[::-1])
    Z = X.copy()
    Z[X == 0] = -0.0
    assert np.array_equal(row_hashes(Z), row_hashes(X))
    integers = np.arange(200_000).astype(dtype)[:, None] * np.ones((1, 2), dtype)
    assert np.unique(row_hashes(integers)).size == 200_000
    assert np.unique(column_hashes(X[:, [0, 1, 0, 3]])).size == 3
    X[0, 0] = np.nan
    assert np.array_equal(row_hashes(X), row_hashes(X.copy()))


def test_single_features_are_those_of_evaluate():
    data = ranking(n_queries=30)
    varied = [np.ptp(data.y[data.qid == qid]) > 0 for qid in data.groups.ids]
    some = data.select(np.array(varied))
    found = describe(data).single
    for j in range(data.n_features):
        column = np.nan_to_num(np.asarray(some.X[:, j], float), nan=-1e9)
        low = np.nan_to_num(-np.asarray(some.X[:, j], float), nan=-1e9)
        both = [
            rw.evaluate("ndcg@10", some, s, ties="worst").mean()["ndcg@10"] for s in (column, low)
        ]
        assert found.best[j] == pytest.approx(max(both), abs=1e-12)
        assert found.downward[j] == (both[1] > both[0])
    mean = rw.evaluate("ndcg@10", some, np.zeros(len(some)), ties="average").mean()["ndcg@10"]
    assert found.random == pytest.approx(mean, abs=1e-12)
    assert found.queries == sum(varied)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_feature_that_knows_the_labels_is_a_leak(sign):
    data = ranking()
    found = describe(with_columns(data, sign * data.y))
    [sentence] = said(found, "Leak: feature f7 alone")
    assert ("small" if sign < 0 else "large") + " values first" in sentence
    assert found.advice[0] == sentence
    assert found.single.best[6] == 1.0
    assert not said(describe(data), "Leak")


@pytest.mark.parametrize(
    ("sign", "text"), [(-1, "rows of a query are"), (1, "read from the end, are")]
)
def test_rows_sorted_by_label_are_a_leak(sign, text):
    data = ranking()
    order = np.lexsort((sign * data.y, data.qid))
    found = describe(rw.RankingData(data.X[order], data.y[order], qid=data.qid[order]))
    assert text in said(found, "sorted by label")[0]


def test_few_queries_tell_nothing_of_leaks():
    """In a few short lists, some of many random features rank perfectly: there is no alarm before twenty queries."""
    rng = np.random.default_rng(0)
    for n_queries, alarm in ((3, False), (19, False), (20, True)):
        y, qid = np.tile([0.0, 1.0], n_queries), np.repeat(np.arange(n_queries), 2)
        X = np.column_stack([rng.normal(size=(y.size, 40)), y])
        found = describe(rw.RankingData(X, y, qid=qid))
        assert bool(said(found, "Leak: feature f41")) is alarm
        assert bool(said(found, "Leak: rows")) is alarm
        assert bool(said(found, f"Only {n_queries} queries have documents")) is not alarm


def test_files_without_features(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1\n0 qid:1\n")
    with pytest.raises(rw.InputError, match="there is no feature to describe"):
        describe(tmp_path / "a.txt")


def test_what_parts_share():
    train, test = ranking(0), renumbered(ranking(1), 1000)
    clean = describe({"train": train, "test": test}).overlaps[0]
    assert clean[:5] == ("train", "test", 0, 0, 0)
    copied = renumbered(train.select([3, 7]), 5000)
    both = describe({"train": train, "test": rw.RankingData.concat([test, copied])})
    pair = both.overlaps[0]
    assert (pair.ids, pair.lists, pair.documents) == (0, 2, len(copied))
    assert said(both, "Leak: 2 queries of test have the very documents")
    X = np.array(test.X)
    X[0] = train.X[0]
    one = describe({"train": train, "test": rw.RankingData(X, test.y, qid=test.qid)})
    assert said(one, "1 document of test has exactly the features")
    numbered = describe({"train": train, "test": renumbered(ranking(1), 0)})
    assert numbered.overlaps[0].ids == len(set(train.groups.ids.tolist()) & set(range(40))) > 0
    assert said(numbered, "if each file is numbered on its own")
    zeros = rw.RankingData(np.zeros((4, 6), np.float32), [0, 1, 0, 1], qid=[1, 1, 2, 2])
    others = rw.RankingData(np.zeros((2, 6), np.float32), [0, 1], qid=[7, 8])
    assert describe({"a": zeros, "b": others}).overlaps[0].documents == 0


def test_document_ids_of_comments():
    first = rw.RankingData([[1], [2]], [0, 1], qid=[1, 1], comments=["docid = A", "docid = B"])
    second = rw.RankingData([[3], [4]], [0, 1], qid=[2, 2], comments=["docid = B", "docid = C"])
    assert describe({"a": first, "b": second}).overlaps[0].doc_ids == 1


def test_files_that_write_zeros_and_leave_out_others(tmp_path):
    lines = [f"{i % 2} qid:{i // 4} 1:{i} 2:0 3:1\n" for i in range(40)]
    (tmp_path / "a.txt").write_text("".join(lines))
    assert not describe(tmp_path / "a.txt").gaps
    lines[3] = "1 qid:0 1:7 2:0\n"
    (tmp_path / "a.txt").write_text("".join(lines))
    found = describe(tmp_path / "a.txt")
    assert found.gaps
    assert said(found, "--absent nan")
    assert not describe(tmp_path / "a.txt", absent=math.nan).gaps
    sparse_lines = [line.replace(" 2:0", "") for line in lines]
    (tmp_path / "a.txt").write_text("".join(sparse_lines).replace("1:0 ", ""))
    assert not describe(tmp_path / "a.txt").gaps


def test_folders_splits_and_sparse_matrices_are_described_alike(tmp_path):
    for part in ("train", "valid", "test"):
        rw.save_letor(rw.load_demo(part), tmp_path / f"{part}.txt")
    found = describe(tmp_path)
    [split] = load_splits(tmp_path)
    assert describe(split).to_dict() | {"title": found.title} == found.to_dict()
    assert [part.queries for part in found.parts] == [120, 40, 40]
    data = rw.load_demo("train")
    X = sparse.csr_array(np.nan_to_num(data.X))
    one = describe(rw.RankingData(X, data.y, qid=data.qid))
    other = describe(rw.RankingData(X.toarray(), data.y, qid=data.qid))
    assert one.to_dict() == other.to_dict()


def test_labels_that_need_care():
    data = ranking()
    assert said(describe(rw.RankingData(data.X, data.y / 2, qid=data.qid)), "not integers")
    many = rw.RankingData(data.X, np.arange(len(data)), qid=data.qid)
    found = describe(many)
    assert said(found, "Labels go up to")
    assert "distinct labels" in str(found)
    flat = describe(rw.RankingData(data.X, np.zeros(len(data)), qid=data.qid))
    assert said(flat, "no order to learn")
    assert len(flat.plot().axes) == 4


def test_text_and_pages():
    hostile = ranking(features=3)
    named = rw.RankingData(
        hostile.X, hostile.y, qid=hostile.qid, feature_names=["<b>", "$x$", "c|d"]
    )
    found = describe({"<train>": named})
    page = found.to_html()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "<b>" not in page.replace("<b></b>", "")
    assert "&lt;train&gt;" in page
    assert 'src="' not in page and 'href="http' not in page
    assert page == found.to_html()
    text = found.to_markdown()
    assert "c\\|d" in text
    assert "**Advice**" in text
    assert len(found.plot().axes) == 4
    assert "Description('data': <train>" in repr(found)
    assert "Best features" in found._repr_html_()
    with pytest.raises(rw.InputError, match="got list"):
        describe([1, 2])
    with pytest.raises(rw.InputError, match="3 and 5 features"):
        describe({"a": named, "b": ranking(features=5)})
