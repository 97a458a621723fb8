"""Texts and parts."""

import re

import pytest

import rankwood as rw
from rankwood._kernels.named import Parameter, choice
from rankwood.metrics import NDCG, Linear, Precision
from rankwood.metrics.registry import METRICS, register_metric
from rankwood.objectives import ByDistance, Lambda, Logistic, Swap, Top
from rankwood.objectives.families.registry import OBJECTIVES, register_objective
from tests.helpers.refusals import refusal_test


@pytest.mark.parametrize(
    "text",
    [
        "lambdarank-ndcg",
        "lambdarank-ndcg@10",
        "lambdarank-ndcg@10(sigma=2.5, norm=False)",
        "lambdarank-ndcg@5(truncation=8, gain='linear')",
        " lambdarank-ndcg @ 5 (discount='truncated') ",
    ],
)
def test_an_objective_prints_what_gives_it_back(text):
    objective = rw.objective(text)
    assert rw.objective(repr(objective)) == objective
    assert rw.objective(objective) is objective


def test_a_composition_prints_what_gives_it_back():
    composed = Lambda(ByDistance(Swap(NDCG(3, Linear())), c=0.5), Top(4), Logistic(2.0))
    assert repr(composed) == (
        "Lambda(weight=ByDistance(base=Swap(metric=NDCG(k=3, gain=Linear())), c=0.5), "
        "pairs=Top(k=4), loss=Logistic(sigma=2.0))"
    )
    assert rw.objective(repr(composed)) == composed


def test_keywords_and_strings_agree():
    assert rw.objective("lambdarank-ndcg", k=7, norm=False) == rw.objective(
        "lambdarank-ndcg@7(norm=false)"
    )
    assert (
        rw.metric("ndcg@3(gain=linear)")
        == rw.metric("ndcg", k=3, gain="linear")
        == NDCG(3, Linear())
    )


test_what_can_not_be_read = refusal_test(
    rw.objective,
    [
        ("", "can't be read; expected a form such as"),
        ("lambdarank-ndcg@", "can't be read"),
        ("lambdarank-ndcg@1(k=2)", "gives k twice"),
        ("lambdarank-ndcg(2)", "parameters must be given by name"),
        ("lambdarank-ndcg(sigma=)", "can't be read as name"),
        ("lambdarank-ndcg(sigma=1+x)", "is not a plain value"),
        ("lambdarank-ndcg(sigma='a')", "sigma must be a number, got 'a'"),
        ("lambdarank-ndcg(norm=3)", "norm must be one of True, False, got 3"),
        ("lambdarank-ndcg(gain='exq')", "gain must be one of 'exp', 'linear', got 'exq'"),
        ("lambdarank-ndcg@-3", "must be at least 1, got -3"),
        ("Lambda(pairs=Topp(3))", "unknown part 'Topp'; did you mean 'Top'"),
        ("Lambda(pair=Top(3))", "Lambda has no parameter 'pair'; did you mean 'pairs'"),
        (
            "Lambda(pairs=NDCG())",
            r"Lambda.pairs must be a part that can 'count_anchors' or 'list_anchors' \(.*All.*Top.*\), got NDCG\(\)",
        ),
        ("Top(1, 2, 3)", "Top"),
        ("__import__('os').system('true')", "can't be read|unknown"),
    ],
)


@pytest.fixture
def names():
    """The tables of names, as they were when the test is over."""
    kept = dict(OBJECTIVES), dict(METRICS)
    yield
    for table, rows in zip((OBJECTIVES, METRICS), kept, strict=True):
        table.clear()
        table.update(rows)


def test_a_registered_objective_is_known_at_once(names, call):
    shape = Parameter("shape", "wide", choice(("wide", "narrow")), "how many documents there are")

    @register_objective("own-top", parameters=[shape], citation="burges2005")
    def own_top(k=3, *, shape="wide", strength=1.0):
        """Pairs of the first k.

        More about them.
        """
        return Lambda(pairs=Top(k if shape == "wide" else 1), loss=Logistic(strength))

    assert own_top(k=4) == Lambda(pairs=Top(4))  # still a function
    assert rw.objective("own-top") == Lambda(pairs=Top(3))
    assert rw.objective("own-top@5(strength=2.0)") == Lambda(pairs=Top(5), loss=Logistic(2.0))
    assert rw.objective("own-top", shape="narrow", k=9) == Lambda(pairs=Top(1))
    assert rw.objective("bi-own-top@5").base == rw.objective("own-top@5")
    for text, message in {
        "own-top(strenght=2)": "objective 'own-top' has no parameter 'strenght'; did you mean 'stre",
        "own-top(shape=tall)": "shape must be one of 'wide', 'narrow', got 'tall'",
        "own-tops": "unknown objective 'own-tops'; did you mean 'own-top'",
    }.items():
        with pytest.raises(rw.InputError, match=message):
            rw.objective(text)
    out = call("objectives own-top@5")
    assert "Pairs of the first k [burges2005].\n\nMore about them.\n" in out
    assert re.search(r"shape +'wide' +how many documents there are", out)
    assert re.search(
        r"own-top +k=3, shape='wide', strength=1.0 +Pairs of the f", call("objectives")
    )


def test_a_registered_metric_is_known_at_once(names, call):
    @register_metric("found")
    def found(k, rel=1):
        "Whether the first document is relevant."
        return Precision(k, rel)

    assert rw.metric("found@1(rel=2)") == rw.metric("found", k=1, rel=2) == Precision(1, 2)
    assert rw.evaluate("found@1", [1, 0], [2.0, 1.0]).mean() == {"found@1": 1.0}
    with pytest.raises(rw.InputError, match="found needs a cutoff: write found@10"):
        rw.metric("found")
    with pytest.raises(rw.InputError, match="'found' has no parameter 'rell'; did you mean 'rel'"):
        rw.metric("found@1(rell=2)")
    assert "Whether the first document is relevant." in call("metrics")


@pytest.fixture
def call(capsys):
    from rankwood.cli import main

    def called(line):
        assert main(line.split()) == 0
        return capsys.readouterr().out

    return called


@pytest.mark.parametrize(
    ("register", "name", "message"),
    [
        (register_objective, "ranknet", "there is an objective 'ranknet' already; .*replace=True"),
        (register_metric, "ndcg", "there is a metric 'ndcg' already; choose another name"),
        (register_objective, "9lives", "'9lives' can't be registered: a name starts with a letter"),
        (register_objective, "a name", "'a name' can't be registered"),
        (register_metric, "top@3", "'top@3' can't be registered"),
        (register_metric, None, "None can't be registered"),
        (register_objective, "bi-mine", "register 'mine', and 'bi-mine' exists too"),
        (
            register_objective,
            "Lambda",
            "'Lambda' can't be registered: there is a part of that name",
        ),
    ],
)
def test_names_that_can_not_be_registered(names, register, name, message):
    with pytest.raises(rw.InputError, match=message):
        register(name)(lambda k=3: Lambda())


def test_a_name_is_replaced_if_that_is_meant(names):
    register_metric("ndcg", replace=True)(lambda: NDCG(1))
    assert rw.metric("ndcg") == NDCG(1)
    with pytest.raises(rw.InputError, match="metric 'ndcg' has no cutoff; omit @5"):
        rw.metric("ndcg@5")


def test_functions_that_can_not_be_registered(names):
    with pytest.raises(
        rw.InputError, match=r"its function takes \*\*more, and every parameter must"
    ):
        register_objective("own")(lambda **more: Lambda())
    with pytest.raises(rw.InputError, match="its function has no parameter 'shape'"):
        register_objective("own", parameters=[Parameter("shape", 1)])(lambda: Lambda())
    register_objective("own")(lambda shape: Lambda())
    with pytest.raises(rw.InputError, match=r"own needs shape: write own\(shape=...\)"):
        rw.objective("own")
