"""Comparisons: numbers, rules, and what is refused."""

import numpy as np
import pytest

import rankwood as rw
from rankwood import stats
from rankwood._util.checks import InputError
from rankwood.metrics.evaluation import Evaluation
from rankwood.report import PRESETS, read_evaluation
from rankwood.report.comparison.compare import compare
from rankwood.report.comparison.presets import TESTS

RULES = {"ties": "worst", "empty": 0}


def evaluation(values, ids=None, rules=RULES, name="m"):
    """Return an Evaluation with these values of one metric, or of several by name."""
    columns = values if isinstance(values, dict) else {name: values}
    columns = {key: np.asarray(column, float) for key, column in columns.items()}
    size = next(iter(columns.values())).size
    return Evaluation(np.arange(size) if ids is None else np.asarray(ids), columns, rules)


@pytest.fixture
def three(rng):
    """Three models by two metrics over 60 queries: `b` a little better than `a`, `c` much worse."""
    base = {"ndcg@10": rng.random(60), "p@5": rng.integers(0, 6, 60) / 5}
    moved = {
        "a": {m: x for m, x in base.items()},
        "b": {m: x + 0.05 + 0.1 * rng.normal(size=60) for m, x in base.items()},
        "c": {m: x - 0.3 + 0.1 * rng.normal(size=60) for m, x in base.items()},
    }
    return {name: evaluation(values) for name, values in moved.items()}


# Numbers


def test_golden(golden):
    known = golden["tests"]
    zero = evaluation(np.full(8, 0.5))
    other = evaluation(0.5 + np.array(known["differences"]))
    found = compare({"zero": zero, "other": other})
    row = found.test("other")
    assert row["difference"] == pytest.approx(known["mean"], abs=1e-9)
    assert row["p"] == pytest.approx(known["p_two_sided_geq"], abs=1e-9)
    assert row["exact"]
    strict = compare({"zero": zero, "other": other}, preset="lambdagap-2025").test("other")
    assert strict["p"] == pytest.approx(known["p_one_sided_strict"], abs=1e-9)
    t = compare({"zero": zero, "other": other}, test="t").test("other")
    assert t["statistic"] == pytest.approx(known["paired_t"], abs=1e-9)


def test_rows_are_those_of_stats(three):
    found = compare(three, draws=500, seed=3)
    assert found.models == ["a", "b", "c"]
    assert found.metrics == ["ndcg@10", "p@5"]
    assert [tuple(r)[:3] for r in found.tests.tolist()] == [
        (model, "a", metric) for model in "bc" for metric in ("ndcg@10", "p@5")
    ]
    for row in found.tests:
        mine, base = (three[m].per_query[row["metric"]] for m in (str(row["model"]), "a"))
        d = mine - base
        assert row["difference"] == pytest.approx(d.mean())
        assert row["mean"] == pytest.approx(mine.mean())
        assert row["against_mean"] == pytest.approx(base.mean())
        assert (row["low"], row["high"]) == pytest.approx(stats.t_interval(d))
        assert row["p"] == stats.permutation(d, draws=500, seed=3).p
        assert row["cohen_d"] == pytest.approx(stats.cohen_d(d))
        assert row["rank_biserial"] == pytest.approx(stats.rank_biserial(d))
        assert (row["wins"], row["ties"], row["losses"]) == stats.wins_ties_losses(d)
    assert found.tests["p_corrected"].tolist() == stats.holm(found.tests["p"]).tolist()
    means = found.means[found.means["model"] == "b"]
    values = three["b"].per_query["p@5"]
    assert means["mean"][1] == pytest.approx(values.mean())
    assert means["error"][1] == pytest.approx(values.std(ddof=1) / 60**0.5)


@pytest.mark.parametrize("test", TESTS)
def test_every_test_finds_what_is_there(three, test):
    found = compare(three, test=test, draws=2000)
    for metric in found.metrics:
        assert found.test("c", metric)["p_corrected"] < 0.01
        assert found.test("c", metric)["stars"] < 0
        assert found.test("b", metric)["stars"] > 0
        assert found.test("c", metric)["high"] < 0 < found.test("b", metric)["high"]
    same = compare(three, test=test, draws=2000, n_jobs=1)
    assert same.tests.tolist() == found.tests.tolist()


@pytest.mark.parametrize("interval", ["t", "bca", "percentile"])
def test_intervals(three, interval):
    wide = compare(three, interval=interval, draws=500, confidence=0.99).tests
    narrow = compare(three, interval=interval, draws=500, confidence=0.5).tests
    assert (wide["low"] < narrow["low"]).all() and (narrow["high"] < wide["high"]).all()
    assert (narrow["low"] < narrow["difference"]).all()


def test_queries_are_matched_by_id(three, rng):
    order = rng.permutation(60)
    shuffled = Evaluation(
        three["b"].per_query["qid"][order],
        {m: three["b"].per_query[m][order] for m in three["b"].metrics},
        RULES,
    )
    expected = compare(three, draws=300)
    found = compare({**three, "b": shuffled}, draws=300)
    assert found.tests["p"].tolist() == expected.tests["p"].tolist()
    assert found.tests["difference"] == pytest.approx(expected.tests["difference"])
    moved = compare({"b": shuffled, "a": three["a"], "c": three["c"]}, "a", draws=300)
    assert moved.test("b")["p"] == expected.test("b")["p"]


def test_ids_that_are_numbers_here_and_text_there():
    a = evaluation([0.1, 0.2, 0.3], ids=[1, 2, 3])
    b = evaluation([0.3, 0.2, 0.2], ids=["3", "1", "2"])
    assert compare({"a": a, "b": b}).test("b")["difference"] == pytest.approx(0.1 / 3)


def test_skipped_queries_are_left_out_in_pairs():
    a = evaluation([0.1, np.nan, 0.5, 0.7])
    b = evaluation([0.2, 0.9, np.nan, 0.8])
    found = compare({"a": a, "b": b})
    row = found.test("b")
    assert (row["queries"], row["skipped"]) == (2, 2)
    assert row["difference"] == pytest.approx(0.1)
    assert found.mean("a") == pytest.approx(1.3 / 3)
    assert "2 without a value of both models omitted" in repr(found)


def test_rounding_errors_are_ties():
    a, b = evaluation([0.1 + 0.2, 0.5]), evaluation([0.3, 0.6])
    row = compare({"a": a, "b": b}).test("b")
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 0)


@pytest.mark.parametrize("test", TESTS)
def test_equal_models(test):
    a = evaluation([0.1, 0.4, 0.2])
    row = compare({"a": a, "b": a}, test=test).test("b")
    assert (row["p"], row["stars"], row["ties"]) == (1, 0, 3)
    assert (row["cohen_d"], row["rank_biserial"]) == (0, 0)
    for preset in PRESETS:
        assert compare({"a": a, "b": a}, preset=preset).test("b")["stars"] == 0


def test_less_may_be_better(monkeypatch):
    """ARP falls when a model gets better: that is a win, and "greater" means better."""
    monkeypatch.setattr("rankwood.report.comparison.align.metric_part", lambda name: Lower)
    old, new = evaluation(np.full(12, 5.0)), evaluation(np.linspace(3, 4, 12))
    for alternative in ("two-sided", "greater"):
        found = compare({"old": old, "new": new}, alternative=alternative)
        row = found.test("new")
        assert row["difference"] == pytest.approx(-1.5)
        assert (row["wins"], row["losses"]) == (12, 0)
        assert row["stars"] == 3 and row["cohen_d"] < 0
        assert "m ↓" in repr(found) and "**3.5000**\\*\\*\\*" in found.to_markdown()
    less = compare({"old": new, "new": old}, alternative="less")
    assert less.test("new")["stars"] == -3
    assert "Worse than old: † p < 0.05, †† p < 0.01" in repr(less)
    assert compare({"old": old, "new": new}, alternative="less").test("new")["p"] == 1
    assert found.worst("old", top=1).rows["qid"].tolist() == [0]
    assert found.worst("new", top=1).rows["value"].tolist() == [4.0]


class Lower:
    higher_is_better = False


def test_wilcoxon_says_better_by_ranks():
    """Many small gains outweigh two huge losses by rank, though not in the mean."""
    gains = np.concatenate([np.linspace(0.01, 0.05, 30), [-0.9, -0.95]])
    old, new = evaluation(np.full(32, 0.95)), evaluation(0.95 + gains)
    row = compare({"old": old, "new": new}, test="wilcoxon").test("new")
    assert row["difference"] < 0 < row["rank_biserial"]
    assert row["p"] < 0.001 and row["stars"] == 3
    letters = compare({"old": old, "new": new}, test="wilcoxon", marks="letters")
    assert letters.test("new", against="old")["stars"] == 3
    assert letters.test("old", against="new")["stars"] == -3


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_direction_no_stars(test, alternative):
    """Differences that cancel up to rounding errors are for neither model, whatever the level."""
    a = evaluation([0.1, 0.2, 0.3, 0.4, 0.3, 0.6])
    b = evaluation([0.2, 0.4, 0.6, 0.3, 0.1, 0.3])
    found = compare({"a": a, "b": b}, test=test, alternative=alternative, alphas=0.9999)
    assert abs(found.test("b")["difference"]) < 1e-15
    assert found.test("b")["stars"] == 0


@pytest.mark.parametrize("less", [False, True])
@pytest.mark.parametrize("test", TESTS)
def test_statistics_are_of_the_model_of_the_row(monkeypatch, test, less):
    """Both rows of a pair state what the test says of their model, in the direction of better."""
    if less:
        monkeypatch.setattr("rankwood.report.comparison.align.metric_part", lambda name: Lower)
    a, b = evaluation([0.1, 0.2, 0.3, 0.4, 0.5]), evaluation([0.3, 0.1, 0.7, 0.4, 0.9])
    found = compare({"a": a, "b": b}, test=test, marks="letters", draws=99)
    for model, other in (("a", "b"), ("b", "a")):
        direct = compare({"a": a, "b": b}, other, test=test, draws=99).test(model)["statistic"]
        assert found.test(model, against=other)["statistic"] == pytest.approx(direct, abs=1e-12)
    one, two = (found.test(*pair)["statistic"] for pair in (("b", "m", "a"), ("a", "m", "b")))
    assert (one < two) == less


def test_a_name_means_one_metric(tmp_path):
    y, qid = [2, 1, 0, 2, 0, 1], [1, 1, 1, 2, 2, 2]
    a = rw.evaluate("ndcg", y, [1, 2, 3, 3, 1, 2], qid=qid, ties="input")
    assert a.definitions == {"ndcg": "NDCG()"}
    assert a.conventions == {"ties": "input", "empty": 0}
    b = rw.evaluate("ndcg", y, [3, 2, 1, 3, 1, 2], qid=qid, convention="trec_eval")
    with pytest.raises(
        InputError, match=r"'ndcg' means NDCG\(\) for 'a' and NDCG\(.*Linear.* for 'b'"
    ):
        compare({"a": a, "b": b})
    b.to_csv(tmp_path / "b.csv")  # a table doesn't say
    assert compare({"a": a, "b": read_evaluation(tmp_path / "b.csv")}).test("b")["wins"] == 1


def test_corrections(three):
    raw = compare(three, draws=300, correction=None).tests["p"]
    for correct, function in (("holm", stats.holm), ("bonferroni", stats.bonferroni)):
        found = compare(three, draws=300, correction=correct)
        assert found.tests["p_corrected"].tolist() == function(raw).tolist()
        assert found.rules["family"] == 4
    assert compare(three, draws=300, correction=None).tests["p_corrected"].tolist() == raw.tolist()


# Letters


def test_letters_need_all_pairs(three):
    found = compare(three, marks="letters", draws=500)
    assert found.tests.size == 6 * 2
    assert found.rules["family"] == 3 * 2
    for model, other in (("a", "b"), ("b", "c"), ("c", "a")):
        one, two = found.test(model, against=other), found.test(other, against=model)
        assert one["p"] == two["p"] and one["stars"] == -two["stars"]
        assert one["difference"] == -two["difference"]
        assert (one["low"], one["high"]) == (-two["high"], -two["low"])
        assert (one["wins"], one["losses"]) == (two["losses"], two["wins"])
        assert (one["mean"], one["against_mean"]) == (two["against_mean"], two["mean"])
    text = found.to_markdown()
    assert "| a | a | " in text and "<sup>ac</sup>" in text
    one_sided = compare(three, marks="letters", draws=500, alternative="greater")
    assert one_sided.rules["family"] == 6 * 2
    assert "<sup>ac</sup>" in one_sided.to_markdown()


def test_letters_run_out():
    many = {str(i): evaluation([0.1, 0.2]) for i in range(53)}
    with pytest.raises(InputError, match="letters for 52 models, got 53"):
        compare(many, marks="letters")


# Presets


def test_presets(three):
    expected = {
        "lambdagap-2025": ("permutation", "greater", 10_000, "strict", (0.05, 0.01, 0.001)),
        "lambda-ex-2023": ("fisher", "two-sided", 100_000, "share", (0.05, 0.01)),
        "lambdaloss-2018": ("t", "two-sided", 10_000, "corrected", (0.05,)),
        "which-tricks-2023": ("t", "greater", 10_000, "corrected", (0.05,)),
        "bivariate-2024": ("t", "two-sided", 10_000, "corrected", (0.01,)),
    }
    assert expected.keys() == PRESETS.keys()
    for preset, values in expected.items():
        rules = compare(three, preset=preset, draws=None if "t" in values else 200).rules
        got = tuple(rules[n] for n in ("test", "alternative", "draws", "p_value", "alphas"))
        assert got[:2] + got[3:] == values[:2] + values[3:]
        assert rules["correction"] is None
        assert PRESETS[preset].get("draws", 10_000) == values[2]
        assert rules["marks"] == ("letters" if preset == "bivariate-2024" else "stars")


def test_what_is_stated_wins_over_the_preset(three):
    found = compare(
        three, preset="lambdagap-2025", alternative="less", draws=50, correction="holm", alphas=0.1
    )
    rules = found.rules
    assert (rules["alternative"], rules["draws"], rules["correction"]) == ("less", 50, "holm")
    assert (rules["p_value"], rules["alphas"]) == ("strict", (0.1,))
    assert compare(three, correction=None, draws=50).rules["correction"] is None
    assert compare(three, draws=50).rules["correction"] == "holm"


# What is refused


def test_lists_get_names():
    found = compare([evaluation([0.1, 0.2]), evaluation([0.2, 0.3])])
    assert found.models == ["model 1", "model 2"]


A, B = evaluation([0.1, 0.2, 0.3]), evaluation([0.2, 0.3, 0.4])
REFUSED = {
    "at least two models to compare, or one and references=, got 1": lambda: compare({"a": A}),
    "must be a dictionary such as": lambda: compare(A, "b"),
    "model 'b' must be an Evaluation": lambda: compare({"a": A, "b": [0.1, 0.2, 0.3]}),
    "same name as text": lambda: compare({1: A, "1": B}),
    "baseline 'modle' is none of the models; did you mean 'model'": lambda: compare(
        {"model": A, "b": B}, "modle"
    ),
    "model 'b' has no metric 'm'; there are n; evaluate every": lambda: compare(
        {"a": A, "b": evaluation([1, 2, 3], name="n")}
    ),
    "has no metric 'mm'": lambda: compare({"a": A, "b": B}, metrics="mm"),
    "'b' lacks 1 of the 3 queries of 'a' and has 2 others .such as 0": lambda: compare(
        {"a": A, "b": evaluation([1, 2, 3, 4], ids=[1, 2, 3, 4])}
    ),
    "'b' has query 1 twice": lambda: compare({"a": A, "b": evaluation([1, 2, 3], ids=[0, 1, 1])}),
    "'a' has query 1 twice": lambda: compare({"a": evaluation([1, 2], ids=[1, 1]), "b": B}),
    "with ties='worst' and 'b' with ties='best'": lambda: compare(
        {"a": A, "b": evaluation([1, 2, 3], rules={"ties": "best", "empty": 0})}
    ),
    "no query in common with a value": lambda: compare(
        {"a": A, "b": evaluation([np.nan, np.nan, np.nan])}
    ),
    "test must be one of 'permutation'": lambda: compare({"a": A, "b": B}, test="z"),
    "alternative must be one of": lambda: compare({"a": A, "b": B}, alternative="up"),
    "correction must be one of 'holm'": lambda: compare({"a": A, "b": B}, correction="fdr"),
    "preset must be one of": lambda: compare({"a": A, "b": B}, preset="mine"),
    "marks must be one of": lambda: compare({"a": A, "b": B}, marks="dots"),
    "letters show which models one is better than": lambda: compare(
        {"a": A, "b": B}, marks="letters", alternative="less"
    ),
    "digits must be at least 0": lambda: compare({"a": A, "b": B}).to_markdown(digits=-1),
    "interval must be one of": lambda: compare({"a": A, "b": B}, interval="z"),
    "draws must be at least 1": lambda: compare({"a": A, "b": B}, draws=0),
    "seed must be at least 0": lambda: compare({"a": A, "b": B}, seed=-1),
    "alphas must be numbers between 0 and 1": lambda: compare({"a": A, "b": B}, alphas=(5,)),
    "level must be between 0 and 1": lambda: compare({"a": A, "b": B}, confidence=95),
    "there is no model 'x'; known are a, b": lambda: compare({"a": A, "b": B}).mean("x"),
    "there is no metric 'x'": lambda: compare({"a": A, "b": B}).mean("a", "x"),
    "'a' was not compared with 'b'; give": lambda: compare({"a": A, "b": B}).test("a", against="b"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    with pytest.raises(InputError, match=message):
        REFUSED[message]()


def test_one_query_has_no_spread():
    found = compare({"a": evaluation([0.1]), "b": evaluation([0.4])}, test="t")
    row = found.test("b")
    assert np.isnan([row["p"], row["p_corrected"], row["low"]]).all()
    assert row["stars"] == 0 and found.rules["family"] == 0
    for text in (repr(found), found.to_markdown(details=True), found.to_html(), found.to_latex()):
        assert "nan" not in text


def test_real_evaluations(lists):
    X, y, sizes = lists
    evs = {
        name: rw.evaluate(["ndcg@10", "dcg@5"], y, scores, group=sizes)
        for name, scores in {"one": X[:, 0], "two": X[:, 0] + X[:, 1] * X[:, 2]}.items()
    }
    found = compare(evs, draws=500)
    assert found.test("two", "ndcg@10")["stars"] > 0
    assert found.mean("two", "dcg@5") == pytest.approx(evs["two"].mean()["dcg@5"])
