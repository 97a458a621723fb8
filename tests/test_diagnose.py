"""Pairs used, coherency, heat maps and records, against the papers and plain loops."""

import csv
import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.cli import main
from rankwood.data.groups import group_rows
from rankwood.diagnostics import cutoff, diagnose, heat, pair_counts
from rankwood.fit.observers.recording import records_of
from rankwood.metrics import NDCG
from rankwood.objectives import (
    All,
    BothDirections,
    Lambda,
    NDCGLoss1,
    RanksApart,
    Softmax,
    Sum,
    Swap,
    Top,
    Uniform,
    WinnerLabel,
)
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.incoherence import IncoherenceCheck
from rankwood.objectives.inspection import (
    HalfSquared,
    NonZero,
    PairCounter,
    counts_only,
    single_use_computer,
)
from rankwood.objectives.lifted import Bivariate
from rankwood.testing import check_part
from tests.helpers.examples import examples

GOLDEN = {
    "BinRankNet": "bin-ranknet",
    "LambdaRank-ARPbk": "lambdarank-arpk",
    "LambdaRank-P@k": "lambdarank-p",
    "truncated": "lambdarank-ndcg",
}
SCORES = st.lists(st.tuples(st.integers(0, 3), st.integers(-8, 8)), min_size=1, max_size=9)


def ranks_of(scores):
    """0-based ranks by decreasing score; equal scores by row."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    ranks = [0] * len(scores)
    for rank, i in enumerate(order):
        ranks[i] = rank
    return ranks


def incoherent_pairs(y, scores, push):
    """Definition 3.1 in plain loops: (lower, upper) rows."""
    ranks, bound = ranks_of(scores), 1e-9 * max(map(abs, push))
    rows = range(len(y))
    return [
        (i, j)
        for i in rows
        for j in rows
        if y[i] > y[j] and ranks[i] > ranks[j] and push[j] > push[i] + bound
    ]


def false_and_missed(y, scores, k, text):
    """Documents of the first k that should not be there, and those behind that should, in plain loops."""
    ranks = ranks_of(scores)
    ideal = sorted(y, reverse=True)[:k]
    now = [y[i] for i in range(len(y)) if ranks[i] < k]
    false, missed = [], []
    for i, label in enumerate(y):
        too_many = label not in ideal if text else now.count(label) > ideal.count(label)
        too_few = label in ideal and label > 0 if text else now.count(label) < ideal.count(label)
        if ranks[i] < k and too_many:
            false.append(i)
        if ranks[i] >= k and too_few:
            missed.append(i)
    return false, missed


# ---- the papers


@pytest.mark.parametrize(
    "table, objective, y, printed",
    [
        ("table1", "lambdarank-ndcg@1(norm=False)", [1, 2, 0, 0, 0], [152, 124, -83, -93, -100]),
        # The paper cuts sums of printed digits: 0.176 + 0.221 is its 0.397.
        ("table2", "lambdarank-ndcg(norm=False)", [4, 0, 1], [398, -180, -217]),
    ],
)
def test_the_examples_of_the_paper(golden, table, objective, y, printed):
    scores = [0.01 * i for i in reversed(range(len(y)))]
    found = diagnose(objective, y, scores)
    want = golden["paper001_examples"][table]
    np.testing.assert_allclose(found.push, want["lambda_up"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.rint(found.push * 1000), printed)
    pairs = found.pairs()
    assert [[p["lower_row"], p["upper_row"]] for p in pairs] == want["incoherent"]
    assert found.per_query["incoherent_pairs"].tolist() == [1]
    (pair,) = pairs
    assert pair["upper_label"] < pair["lower_label"] and pair["upper_push"] > pair["lower_push"]
    assert pair["lower_position"] == pair["upper_position"] + 1 == pair["lower_row"] + 1


def test_pair_counts_of_the_paper(golden):
    for case, counts in golden["pair_counts"].items():
        n, k = (int(text.split("=")[1]) for text in case.split(","))
        for key, count in counts.items():
            assert pair_counts(GOLDEN.get(key, key.lower()), n, [k]).tolist() == [count], (
                case,
                key,
            )


def test_pair_counts_are_the_formulas():
    n = 7
    k = np.arange(1, n + 1)
    rest, apart = np.maximum(n - 2 * k, 0), np.maximum((n - 2 * k) * (n - 2 * k + 1) // 2, 0)
    apart[n < 2 * k] = 0
    formulas = {
        "ranknet": np.full(n, n * (n - 1) // 2),
        "lambdaloss-ndcg++": k * (2 * n - k - 1) // 2,
        "lambdarank-p": k * (n - k),
        "lambdagap-s": n - k,
        "lambdagap-x": (n - k) * (n - k + 1) // 2,
        "lambdagap-s+": k * (n - k) + rest,
        "lambdagap-x+": k * (n - k) + apart,
        "lambdagap-s++": n * (n - 1) // 2 - k * (k - 1) // 2,
    }
    for name, want in formulas.items():
        np.testing.assert_array_equal(pair_counts(name, n), want, err_msg=name)
    assert pair_counts("lambdagap-x@99", n, [2]).tolist() == [15]  # ks rule over @k
    assert pair_counts(rw.objective("lambdagap-x@2"), n, [1, 5]).tolist() == [15, 15]


# ---- heat maps


def test_heat_is_the_weight_of_each_pair():
    n, k = 8, 3
    i, j = np.indices((n, n)) + 1
    low, high, off = np.minimum(i, j), np.maximum(i, j), i != j
    step = 1 / np.log2(1 + low) - 1 / np.log2(1 + high)
    m = np.maximum(high - low, 1)
    near = 1 / np.log2(1 + m) - 1 / np.log2(2 + m)
    beyond = np.maximum(high - k, 0) - np.maximum(low - k, 0)
    crosses = ((low <= k) & (high > k)).astype(float)
    formulas = {
        "ranknet": off,
        "lambdarank-ndcg": step,
        f"lambdarank-ndcg@{k}": step * (low <= k),
        f"lambdaloss-ndcg@{k}": near * (low <= k) * off,
        f"lambdaloss-ndcg++@{k}(mu=2.0)": (step + 2 * near) * (low <= k) * off,
        f"lambdarank-p@{k}": crosses,
        f"lambdarank-arpk@{k}": beyond,
        f"lambdagap-s@{k}(definition=paper)": (high - low == k) / k,
        f"lambdagap-x+@{k}": crosses + (high - low >= k),
        f"lambdagap-x++@{k}(rel=2)": beyond + (high - low >= k),
        "lambdarank-mrr": 1 / low - 1 / high,
        "lambdaloss-ndcg1": off / np.log2(1 + i),  # row: where the relevant document is
        # A single relevant document is either in the top k or missed.
        f"lambdamart-ex-static@{k}": step,
    }
    for name, want in formulas.items():
        np.testing.assert_allclose(heat(name, n), want, rtol=1e-12, atol=1e-15, err_msg=name)


def test_heat_of_a_composition_without_norm_and_of_one_document():
    part = Lambda(weight=Sum(Uniform(), RanksApart(2), mu=0.5), pairs=Top(2))
    want = [[0, 1, 1.5, 1.5], [1, 0, 1, 1.5], [1.5, 1, 0, 0], [1.5, 1.5, 0, 0]]
    np.testing.assert_array_equal(heat(part, 4), want)
    assert heat("ranknet", 1).tolist() == [[0.0]]
    with pytest.raises(rw.InputError, match="n must be at least 1"):
        heat("ranknet", 0)


def test_long_lists_are_compiled():
    short, long = (single_use_computer(Lambda(), np.zeros(n), group_rows(n)) for n in (100, 1000))
    assert hasattr(long._kernel, "py_func") and not hasattr(short._kernel, "py_func")


# ---- pairs used


def count_naively(objective, y, scores):
    """Pairs of different labels whose two hessians are not 0 when they are alone: by the printed weights."""
    ranks = ranks_of(scores)
    n = len(y)
    weights = heat(objective, n) if n > 1 else np.zeros((1, 1))
    used = 0
    for i in range(n):
        for j in range(i):
            a, b = sorted((ranks[i], ranks[j]))
            used += y[i] != y[j] and weights[a, b] != 0
    return used


@given(SCORES, st.sampled_from(["ranknet", "lambdarank-ndcg@2", "lambdaloss-ndcg++@3"]))
@examples(30)
def test_pairs_used_on_graded_labels(documents, name):
    y, scores = (list(map(float, column)) for column in zip(*documents, strict=True))
    found = diagnose(name, y, scores)
    used = count_naively(name, y, scores)
    assert found.per_query["pairs"].tolist() == [used]
    assert found.effective_pairs == pytest.approx(2 * used / max(1, len(y) * (len(y) - 1)))


@given(SCORES, st.sampled_from(["p@2", "arpk@2"]), st.sampled_from(["x@2", "s+@2", "x++@2"]))
@examples(20)
def test_pairs_used_on_binary_labels(documents, rank, gap):
    y, scores = (list(map(float, column)) for column in zip(*documents, strict=True))
    for name in (f"lambdarank-{rank}", f"lambdagap-{gap}"):
        binary = [min(label, 1.0) for label in y]
        used = count_naively(name, binary, scores)
        assert diagnose(name, y, scores).per_query["pairs"].tolist() == [used], name


def test_metrics_leave_pairs_without_a_weight():
    # The first relevant document is at position 2: swaps below it don't change the reciprocal rank.
    found = diagnose("lambdarank-mrr", [0, 1, 0, 1], [4, 3, 2, 1])
    assert found.per_query["pairs"].tolist() == [3]
    found = diagnose(Lambda(weight=Swap(NDCG(1))), [1, 0, 1], [3, 2, 1])  # a true NDCG@1
    assert found.per_query["pairs"].tolist() == [1]


def test_an_ordered_pair_counts_once():
    y, scores = [2, 0, 1, 0], [4, 3, 2, 1]
    both = Lambda(
        weight=WinnerLabel(), pairs=BothDirections(All())
    )  # all but the two zeros, which have no weight
    assert diagnose(both, y, scores).per_query["pairs"].tolist() == [5]
    first = Lambda(weight=NDCGLoss1(), pairs=BothDirections(Top(1)))
    assert diagnose(first, y, scores).per_query["pairs"].tolist() == [3]


@pytest.mark.parametrize("name", ["lambdarank-ndcg@3", "lambdaloss-ndcg++@3", "lambdarank-map@3"])
def test_what_is_certain_is_counted_the_same(name, rng):
    objective = rw.objective(name)
    y, scores = rng.integers(0, 4, 60).astype(float), rng.normal(size=60)
    groups = group_rows(60, group=[20, 1, 39])
    asked = Lambda(
        NonZero(objective.weight.base), objective.pairs, HalfSquared(), labels=objective.labels
    )
    ends = GradientComputer(asked, y, groups, compiled=False)(scores)[1]
    used = PairCounter(objective, y, groups, single_use_computer)
    assert used(scores).tolist() == [ends[a:b].sum() / 2 for a, b in ((0, 20), (20, 21), (21, 60))]
    shares = diagnose(objective, y, scores, group=[20, 1, 39]).per_query["effective"]
    assert used.share(scores) == pytest.approx(shares.mean())
    assert shares[1] == 0  # a single document


def test_counting_needs_no_ranking_where_pairs_need_none():
    assert counts_only(rw.objective("ranknet")).ranks() == 0
    assert counts_only(rw.objective("lambdarank-ndcg")).ranks() == 0
    assert counts_only(rw.objective("lambdaloss-ndcg++@5")).ranks() == 5
    assert isinstance(counts_only(rw.objective("lambdarank-map@5")).weight, NonZero)
    assert isinstance(counts_only(rw.objective("lambdaloss-ndcg1")).weight, NonZero)


def test_the_half_squared_loss_is_a_loss():
    check_part(HalfSquared(), compiled=False)


def test_plain_and_compiled_kernels_agree(rng):
    objective = rw.objective("lambdarank-ndcg@5")
    y, scores = rng.integers(0, 3, 50).astype(float), rng.normal(size=50)
    groups = group_rows(50, group=[30, 20])
    for one, two in zip(
        GradientComputer(objective, y, groups, compiled=False)(scores),
        GradientComputer(objective, y, groups)(scores),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-15)


# ---- coherency


@given(SCORES, st.sampled_from(["lambdarank-ndcg@1", "lambdarank-ndcg@3", "lambdaloss-ndcg@2"]))
@examples(40)
def test_coherency_is_the_definition(documents, name):
    y, scores = (list(map(float, column)) for column in zip(*documents, strict=True))
    for definition in ("program", "paper"):
        found = diagnose(name + "(norm=False)", y, scores, definition=definition)
        push = found.push.tolist()
        want = incoherent_pairs(y, scores, push)
        pairs = found.pairs()
        assert sorted((int(p["lower_row"]), int(p["upper_row"])) for p in pairs) == sorted(want)
        assert found.incoherent == (len(want) > 0)
        false, lost = false_and_missed(y, scores, cutoff(rw.objective(name)), definition == "paper")
        assert found.false_over_missed == any((j, i) in want for i in false for j in lost)


@given(SCORES)
@examples(30)
def test_some_objectives_are_always_coherent(documents):
    y, scores = (list(map(float, column)) for column in zip(*documents, strict=True))
    for name in ("ranknet", "bin-ranknet", "lambdaloss-arp2"):
        assert diagnose(f"{name}(norm=False)", y, scores).incoherent == 0, name


TWO_CLASSES = st.lists(st.tuples(st.integers(0, 1), st.integers(-8, 8)), min_size=1, max_size=9)


@given(TWO_CLASSES)
@examples(30)
def test_on_binary_labels_only_pairs_of_two_relevant_documents_with_norm_are_incoherent(documents):
    y, scores = (list(map(float, column)) for column in zip(*documents, strict=True))
    for name in ("lambdarank-ndcg@2", "bin-ranknet", "lambdagap-x@2", "lambdaloss-ndcg"):
        assert diagnose(name, y, scores).incoherent == 0, name
    for name in ("lambdaloss-arp1", "lambdaloss-ndcg1", "lambdaloss-ndcg1@2"):
        bare = rw.objective(name, norm=False)
        assert diagnose(bare, y, scores).incoherent == 0, name


def test_norm_makes_ordered_pairs_of_binary_labels_incoherent():
    y, scores = [0.0, 1.0, 1.0], [10.0, 0.0005, 0.0]
    found = diagnose("lambdaloss-ndcg1", y, scores)
    # The irrelevant document loses about 1/10 of both weights, the lower relevant one half their difference times 95.
    assert found.push[2] < found.push[0] < 0 < found.push[1]
    assert [(p["lower_row"], p["upper_row"]) for p in found.pairs()] == [(2, 0)]
    assert diagnose("lambdaloss-ndcg1(norm=False)", y, scores).incoherent == 0
    # Equal weights need scores that differ.
    assert diagnose("lambdaloss-arp1", y, scores).incoherent == 0
    assert diagnose("lambdaloss-arp1", y, [10.0, 0.5, 0.0]).incoherent == 1


def made_lists(rng, queries=45, n=25):
    """Lists of graded documents whose scores have just begun to follow the labels."""
    y = (rng.random((queries, n)) < 0.5) * rng.integers(1, 5, (queries, n))
    scores = 0.1 * (0.5 * (y > 0) + 0.2 * y + rng.normal(size=y.shape))
    return y.ravel().astype(float), scores.ravel(), np.full(queries, n)


@pytest.mark.slow
def test_lambda_ex_has_fewer_incoherent_queries(rng):
    """The effect of the paper's Figure 3."""
    y, scores, sizes = made_lists(rng)
    names = ("lambdarank-ndcg@5", "lambdarank-ndcg@5(truncation=8)", "lambdamart-ex-static@5")
    cut, wider, extended = (diagnose(name, y, scores, group=sizes) for name in names)
    assert cut.incoherent > wider.incoherent > 2 * extended.incoherent > 0
    assert cut.false_over_missed > extended.false_over_missed
    # As few as without a truncation, with fewer pairs.
    full = diagnose("lambdarank-ndcg", y, scores, group=sizes, k=5)
    assert extended.incoherent - full.incoherent < 0.05
    assert cut.effective_pairs < extended.effective_pairs < full.effective_pairs


def test_coherency_in_float32_is_nearly_the_same(rng):
    y, scores, sizes = made_lists(rng, 20)
    groups = group_rows(y.size, group=sizes)
    grad = rw.gradients("lambdarank-ndcg@5", y, scores, group=sizes)[0]
    exact = IncoherenceCheck(y, groups, 5)(scores, grad)
    rough = IncoherenceCheck(y, groups, 5, tolerance=1e-5)(scores, grad.astype(np.float32))
    assert (exact != rough).mean() < 0.06
    assert exact[:, 0].any() and not exact[:, 0].all()


def test_coherency_follows_the_scores(rng):
    y, scores, sizes = made_lists(rng, 8)
    groups = group_rows(y.size, group=sizes)
    kept = IncoherenceCheck(y, groups, 5)
    for _ in range(3):  # the order of the last call is only where the next one starts
        grad = rng.normal(size=y.size)
        np.testing.assert_array_equal(
            kept(scores, grad), IncoherenceCheck(y, groups, 5)(scores, grad)
        )
        scores = scores + rng.normal(size=y.size)


def test_cutoffs_of_objectives():
    for name, k in {
        "lambdarank-ndcg@10(truncation=13)": 10,
        "lambdarank-ndcg@4(discount=truncated)": 4,
        "lambdagap-x++@7": 7,
        "lambdarank-p@3": 3,
        "lambdarank-map@6": 6,
        "lambdaloss-ex++-all@5": 5,
        "ranknet": None,
        "lambdarank-ndcg": None,
    }.items():
        assert cutoff(rw.objective(name)) == k, name


# ---- the result


def test_the_result(tmp_path, rng):
    y, scores, _ = made_lists(rng, 5, 30)
    qid = np.repeat(["e", "d", "c", "b", "a"], 30)
    mixed = rng.permutation(y.size)
    straight = diagnose("lambdarank-ndcg@2", y, scores, qid=qid)
    found = diagnose("lambdarank-ndcg@2", y[mixed], scores[mixed], qid=qid[mixed], seed=3, round=4)
    for name in ("pairs", "incoherent_pairs", "gradient_norm"):
        by_id = dict(zip(found.per_query["qid"], found.per_query[name], strict=True))
        np.testing.assert_allclose([by_id[q] for q in "edcba"], straight.per_query[name])
    grad = rw.gradients("lambdarank-ndcg@2", y, scores, qid=qid)[0]
    np.testing.assert_allclose(straight.push, -grad, atol=1e-15)
    assert straight.per_query["gradient_norm"][0] == pytest.approx(np.linalg.norm(grad[:30]))
    worst = straight.per_query["qid"][straight.per_query["incoherent_pairs"].argmax()]
    table = straight.pairs(worst)
    assert table.size == straight.per_query["incoherent_pairs"].max() > 0
    assert (np.diff(table["upper_push"] - table["lower_push"]) <= 0).all()
    assert set(qid[table["upper_row"]]) == {worst}
    straight.to_csv(tmp_path / "d.csv")
    rows = list(csv.DictReader((tmp_path / "d.csv").read_text().splitlines()))
    assert [row["qid"] for row in rows] == list("edcba")
    assert [int(row["pairs"]) for row in rows] == straight.per_query["pairs"].tolist()
    text = repr(straight)
    assert "5 queries, 150 documents" in text and "Top(k=2)" in text
    assert f"{straight.incoherent:.1%}" in text


def test_bad_requests():
    y, scores = [1, 0, 0], [1.0, 2.0, 3.0]
    found = diagnose("ranknet", y, scores, qid=["a", "b", "b"])
    assert found.k is None and found.false_over_missed == 0
    for call, text in {
        lambda: found.pairs("c"): "there is no query 'c'; known are 'a', 'b'",
        lambda: found.pairs(): "there are 2 queries: give the id of one, such as 'a'",
        lambda: diagnose("ranknet", y, scores, k=0): "k must be at least 1",
        lambda: diagnose("ranknet", y, scores, definition="some"): "definition must be one of",
        lambda: diagnose("ranknet", y, scores[:2]): "scores has 2 values",
        lambda: pair_counts("lambdagap-x", 5, [0]): "ks must be at least 1",
        lambda: diagnose(
            "bi-ranknet", y, scores
        ): "'bi-ranknet' is on pairs of .* lifts, 'ranknet'",
        lambda: diagnose(Bivariate(Softmax()), y, scores): r"is on pairs .* it lifts, Softmax\(\)",
        lambda: heat("bi-lambdarank-p@3"): "an objective on documents, .* lifts, 'lambdarank-p@3'",
        lambda: pair_counts("bi-lambdarank-p@3"): "an objective on documents, but 'bi-lambda",
    }.items():
        with pytest.raises(rw.InputError, match=text):
            call()


def test_every_objective_can_be_looked_at(rng):
    y, scores = rng.integers(0, 3, 12).astype(float), rng.normal(size=12)
    for name, make in OBJECTIVES.items():
        if name == "ranknet-pairs":  # its pairs come with the data: test_given_pairs.py
            continue
        k = {"k": 3} if "k" in inspect.signature(make).parameters else {}
        objective = rw.objective(name, **k)
        found = diagnose(objective, y, scores)
        if isinstance(objective, Lambda):
            assert 0 < found.effective_pairs <= 1, name
        else:
            assert found.effective_pairs is None, name
        assert np.abs(found.push).max() > 0, name
        assert make.__doc__


# ---- the command line


@pytest.fixture
def letor(tmp_path, lists):
    X, y, sizes = lists
    rw.save_letor(rw.RankingData(X, y, group=sizes), tmp_path / "train.txt")
    return tmp_path


def test_train_records(letor, capsys):
    model, table = str(letor / "m.json"), letor / "r.csv"
    words = ["train", str(letor / "train.txt"), "--model", model, "--n-estimators", "3"]
    assert main([*words, "--record", "coherency", "--record", "seconds", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["record"]
    assert len(record["incoherent"]) == len(record["seconds_trees"]) == 3
    assert rw.Ranker.load(model).record_ == record
    assert main([*words, "--record-file", str(table)]) == 0
    out = capsys.readouterr().out
    assert "Effective pairs" in out and str(table) in out
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["round"] for row in rows] == ["1", "2", "3"]
    assert [float(r["incoherent"]) for r in rows] == record["incoherent"]
    assert 0 < float(rows[0]["effective_pairs"]) < 1


def test_everything_is_what_an_objective_has(letor, capsys):
    """Documents of a pair have no coherency, and listwise losses have no pairs to count."""
    table, words = letor / "r.csv", ["train", str(letor / "train.txt"), "--n-estimators", "2"]
    words += ["--model", str(letor / "m.json"), "--record-file", str(table)]
    seconds = {"round", "seconds_gradients", "seconds_trees", "seconds_evaluation"}
    for name, more in {"softmax": {"incoherent"}, "bi-softmax": set()}.items():
        engine = "pairtree" if name.startswith("bi-") else "lightgbm"
        assert main([*words, "--objective", name, "--engine", engine]) == 0, capsys.readouterr().err
        assert set(table.read_text().splitlines()[0].split(",")) == seconds | more
    everything = ["effective_pairs", "coherency", "seconds"]
    assert records_of(rw.objective("ranknet")) == everything
    assert records_of(rw.objective("bi-ranknet")) == ["effective_pairs", "seconds"]


def test_train_refuses_bad_records(letor, capsys):
    train = str(letor / "train.txt")
    words = ["train", train, "--model", str(letor / "m.json")]
    for more, text in {
        ("--record", "coherence"): "unknown record 'coherence'; did you mean 'coherency'?",
        ("--record-file", train): "is read by this command",
        ("--record-file", str(letor / "m.json")): "is given for both the model and the record",
        ("--record-file", str(letor / "no" / "r.csv")): "there is no directory",
    }.items():
        assert main([*words, *more]) == 1
        assert text in capsys.readouterr().err
    assert not (letor / "m.json").exists()
