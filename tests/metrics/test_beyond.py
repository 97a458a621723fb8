"""Documents that were cut away: ideals count them, in training and in evaluation; nothing else does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.position_weights import has_cutoff
from tests.helpers.examples import examples
from tests.helpers.oracle import interpreted
from tests.oracles import naive

# Two queries whose rows are mixed; of "b" the only relevant document was cut away.
X = np.arange(5.0)[:, None]
Y, QID = [2, 0, 0, 1, 0], ["a", "b", "a", "a", "b"]
BEYOND = [[3, 0], [1]]


def data(beyond=BEYOND):
    return rw.RankingData(X, Y, qid=QID, unlisted=beyond)


def test_golden_gradients_of_lambdamart_star(golden):
    known = golden["bivariate"]
    star = known["lambdamart_star"]
    full = star["full_labels"]
    lists = rw.RankingData(np.zeros((3, 1)), known["y"], unlisted=[full[3:]])
    objective = "lambdarank-ndcg(norm=False)"
    with interpreted():
        plain, _ = rw.gradients(objective, known["y"], known["item_scores"])
        got, _ = rw.gradients(objective, lists, known["item_scores"])
    np.testing.assert_allclose(plain, known["item_grad"], atol=1e-12)
    np.testing.assert_allclose(got, star["item_grad"], atol=1e-12)


def test_golden_ideals(golden):
    star = golden["bivariate"]["lambdamart_star"]
    scores = [3.0, 2.0, 1.0]
    lists = rw.RankingData(
        np.zeros((3, 1)), star["full_labels"][:3], unlisted=[star["full_labels"][3:]]
    )
    (dcg,) = rw.evaluate("dcg", lists, scores).per_query["dcg"]
    (part,) = rw.evaluate("ndcg", lists.y, scores).per_query["ndcg"]
    (full,) = rw.evaluate("ndcg", lists, scores).per_query["ndcg"]
    assert part == pytest.approx(dcg / star["idcg_second_stage"], abs=1e-12)
    assert full == pytest.approx(dcg / star["idcg_first_stage"], abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7), st.data())
@examples(60)
def test_ndcg_is_that_of_the_full_list_with_the_rest_behind(labels, draw):
    cut = draw.draw(st.integers(1, len(labels)))
    k = draw.draw(st.integers(1, cut))
    scores = np.arange(cut, 0, -1.0)
    lists = rw.RankingData(np.zeros((cut, 1)), labels[:cut], unlisted=[labels[cut:]])
    (got,) = rw.evaluate(f"ndcg@{k}", lists, scores).per_query[f"ndcg@{k}"]
    best = naive.ideal_dcg(labels, k)
    assert got == pytest.approx(naive.dcg(labels[:cut], k) / best if best else 0.0, abs=1e-12)


def test_a_query_that_lost_its_relevant_documents_is_not_empty():
    scores = [0.3, 0.2, 0.5, 0.1, 0.9]
    for ties in ("worst", "input", "best", "average"):
        for empty in (0, 1, "skip"):
            ev = rw.evaluate(["ndcg", "map", "recall"], data(), scores, ties=ties, empty=empty)
            for name in ("ndcg", "map", "recall"):
                assert ev.per_query[name][1] == 0.0
    truly = rw.evaluate("ndcg", data([[3, 0], [0]]), scores, empty="skip")
    assert math.isnan(truly.per_query["ndcg"][1])
    (recall, _) = rw.evaluate("recall@2", data(), scores).per_query["recall@2"]
    assert recall == pytest.approx(1 / 3)  # of labels 2, 1 and 3


def test_ties_are_among_those_that_were_ranked():
    scores = np.zeros(5)
    full = 7 + 3 / math.log2(3) + 1 / 2
    values = {
        "worst": (1 / math.log2(3) + 3 / 2) / full,
        "input": (3 + 1 / 2) / full,
        "best": (3 + 1 / math.log2(3)) / full,
        "average": (3 + 1) / 3 * (1 + 1 / math.log2(3) + 1 / 2) / full,
    }
    for ties, value in values.items():
        got = rw.evaluate("ndcg", data(), scores, ties=ties).per_query["ndcg"]
        assert got.tolist() == pytest.approx([value, 0.0], abs=1e-12)


def test_nothing_beyond_changes_nothing():
    scores = [0.3, 0.2, 0.5, 0.1, 0.9]
    nothing = data([[], []])
    for name in ("ndcg", "recall", "arp"):
        a, b = (rw.evaluate(name, d, scores).per_query[name] for d in (data(None), nothing))
        assert a.tobytes() == b.tobytes(), name
    with interpreted():
        for name in ("lambdarank-ndcg@2", "listnet", "approxndcg"):
            a, b = (rw.gradients(name, d, scores) for d in (data(None), nothing))
            assert a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes()


def test_objectives_count_them_in_ideals_alone():
    """The gradient of a loss over an ideal shrinks as that grows; targets and pair sets are of the list."""
    y, scores = [2, 0, 1, 1], [0.3, 0.2, 0.5, 0.1]
    lists = rw.RankingData(np.zeros((4, 1)), y, unlisted=[[3, 1]])
    whole, part = naive.ideal_dcg([2, 0, 1, 1, 3, 1]), naive.ideal_dcg(y)
    with interpreted():
        for name in sorted(OBJECTIVES.keys() - {"ranknet-pairs"}):  # its pairs come with the data
            text = f"{name}@2" if has_cutoff(name) else name
            plain, _ = rw.gradients(text, y, scores)
            got, _ = rw.gradients(text, lists, scores)
            assert np.isfinite(got).all(), name
            if name in ("listnet", "xendcg", "softmax", "queryrmse", "ranknet", "lambdagap-x"):
                assert got.tobytes() == plain.tobytes(), name
        for name in ("lambdarank-ndcg(norm=False)", "lambdaloss-ndcg(norm=False)", "approxndcg"):
            plain, _ = rw.gradients(name, y, scores)
            got, _ = rw.gradients(name, lists, scores)
            np.testing.assert_allclose(got * whole, plain * part, atol=1e-12, err_msg=name)
        # A reading of labels reads those that were cut away too.
        plain, _ = rw.gradients("lambdarank-bndcg(norm=False)", y, scores)
        got, _ = rw.gradients("lambdarank-bndcg(norm=False)", lists, scores)
        np.testing.assert_allclose(
            got * naive.ideal_dcg([1] * 5), plain * naive.ideal_dcg([1] * 3), atol=1e-12
        )


def test_where_less_is_better_they_come_last():
    # The others of "a" are behind, relevant ones last: 2 at place 1, 1 at 2, 3 at 5.
    got = rw.evaluate("arp", data(), [0.9, 0.2, 0.5, 0.6, 0.1]).per_query["arp"]
    assert got.tolist() == [2 * 1 + 1 * 2 + 3 * 5, 1 * 3]


def test_labels_that_a_metric_cant_read():
    with pytest.raises(rw.InputError, match="overflows"):
        rw.evaluate("ndcg", data([[2000], []]), np.zeros(5))


def test_cut_and_select():
    whole = rw.RankingData(
        X,
        Y,
        qid=QID,
        weight=[2, 5],
        feature_names=["f"],
        comments=list("vwxyz"),
        unlisted=[[4], []],
    )
    cut = whole.cut_to(np.array([False, True, True, False, False]))
    assert cut.groups.ids.tolist() == ["b", "a"]  # "a" lost its first row
    assert cut.y.tolist() == [0, 0] and cut.X.ravel().tolist() == [1, 2]
    assert cut.weight.tolist() == [5, 2] and list(cut.comments) == ["w", "x"]
    assert cut.feature_names == ["f"]
    assert cut.unlisted.ptr.tolist() == [0, 1, 4] and cut.unlisted.y.tolist() == [0, 4, 2, 1]
    one = cut.select([1])
    assert one.groups.ids.tolist() == ["a"] and one.unlisted.y.tolist() == [4, 2, 1]
    assert whole.cut_to(np.ones(5, bool)).unlisted.y.tolist() == [4]
    assert data(None).cut_to(np.ones(5, bool)).unlisted is None
    assert whole.with_features(["f"]).unlisted is whole.unlisted
    gone = whole.cut_to(np.array([True, False, True, True, False]))
    assert gone.groups.ids.tolist() == ["a"] and gone.unlisted.y.tolist() == [4]
    with pytest.raises(rw.InputError, match="mask of 5 values"):
        whole.cut_to([0, 1])


def test_errors():
    with pytest.raises(rw.InputError, match="labels for 1 query, but there are 2"):
        data([[1]])
    with pytest.raises(rw.InputError, match="in unlisted, y must not be negative"):
        data([[1], [-1]])


def test_catboost_has_an_ideal_of_its_own():
    ranker = rw.Ranker("yetiloss-ndcg", "catboost", n_estimators=1, n_jobs=1)
    with pytest.raises(rw.InputError, match=r"losses of its own.*ideal='list'"):
        ranker.fit(data())
