"""Texts and parts."""

import re

import numpy as np
import pytest

import rankwood as rw
from objectives.oracle import interpreted
from rankwood import metrics, objectives
from rankwood._core.former import FORMER
from rankwood._core.named import Parameter, choice
from rankwood.metrics import AP, ARP, NDCG, Linear, NoDivisor, Precision, Relevant
from rankwood.metrics.registry import METRICS, register_metric
from rankwood.objectives import ByDistance, Lambda, Logistic, Swap, Top
from rankwood.objectives.families.registry import OBJECTIVES, register_objective
from refusals import refusal_test


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


#: Printed forms of earlier versions, and what they are now.
FORMER_TEXTS = {
    "Lambda(weight=One(), noise=Still())": "Lambda(weight=Uniform(), noise=NoNoise())",
    "Lambda(weight=LabelOf(), pairs=Ordered(base=Top(k=4)))": (
        "Lambda(weight=WinnerLabel(), pairs=BothDirections(Top(4)))"
    ),
    "Lambda(weight=Loss1(metric=NDCG(ideal=3)), pairs=Ordered())": (
        "Lambda(weight=NDCGLoss1(NDCG(ideal=3)), pairs=BothDirections(All()))"
    ),
    "Lambda(weight=Loss2())": "Lambda(weight=NDCGLoss2())",
    "Lambda(weight=Loss2(metric=DCG(), delta='shifted'))": (
        "Lambda(weight=NDCGLoss2(DCG(), 'shifted'))"
    ),
    "Lambda(weight=Loss2(mu=2.5))": "Lambda(weight=Scaled(NDCGLoss2(), 2.5))",
    "Lambda(weight=Loss2(rho=1.0))": "Lambda(weight=Sum(Swap(), NDCGLoss2(), 1))",
    "Lambda(weight=Loss2(metric=NDCG(ideal=3), delta='shifted', mu=0.5, rho=1.0))": (
        "Lambda(weight=Sum(Swap(NDCG(ideal=3)), NDCGLoss2(NDCG(ideal=3), 'shifted'), 0.5))"
    ),
    "Lambda(weight=Loss2(mu=2.0, rho=0.3))": (
        "Lambda(weight=Sum(Scaled(Swap(), 0.3), NDCGLoss2(), 2))"
    ),
    "Lambda(weight=Loss2(mu=0.0, rho=1.0))": "Lambda(weight=Sum(Swap(), NDCGLoss2(), 0))",
    "Lambda(weight=Times(base=Cross(k=3), by=0.2))": "Lambda(weight=Scaled(AcrossCutoff(3), 0.2))",
    "Lambda(weight=Times())": "Lambda(weight=Scaled(Uniform(), 1))",
    "Lambda(weight=Cross())": "Lambda(weight=AcrossCutoff(10))",
    "Lambda(weight=Gap())": "Lambda(weight=RanksApart(10))",
    "Lambda(weight=Gap(k=2, exactly=True))": "Lambda(weight=RanksApart(2, True))",
    "Lambda(pairs=Across(k=3))": "Lambda(pairs=AcrossCutoff(3))",
    "Lambda(pairs=Apart(k=2))": "Lambda(pairs=RanksApart(2))",
    "Lambda(pairs=Exactly())": "Lambda(pairs=RanksApart(10, True))",
    "Lambda(pairs=Either())": "Lambda(pairs=AcrossOrApart(10))",
    "Lambda(pairs=Either(first=Across(k=3), second=Apart(k=3)))": "Lambda(pairs=AcrossOrApart(3))",
    "Lambda(pairs=Either(first=Across(k=3), second=Exactly(k=3)), labels=Marked())": (
        "Lambda(pairs=AcrossOrApart(3, True), labels=Binary(1))"
    ),
    "Lambda(pairs=Near(h=2, k=4), labels=Marked(rel=2.0))": (
        "Lambda(pairs=Neighbours(2, 4), labels=Binary(2))"
    ),
    "Lambda(pairs=Near())": "Lambda(pairs=Neighbours(1, None))",
    "Lambda(pairs=Beyond(k=3))": "Lambda(pairs=ReachingBelow(3))",
    "Lambda(weight=Sum())": "Lambda(weight=Sum(Uniform(), RanksApart(10), 1))",
    "Lambda(weight=Swap(metric=AP(per=Relevant())), labels=Binary())": (
        "Lambda(weight=Swap(AP(divide_by=Relevant())), labels=Binary())"
    ),
    "Lambda(weight=Swap(metric=Precision(k=3, per=Cutoff())))": (
        "Lambda(weight=Swap(Precision(3, divide_by=Cutoff())))"
    ),
    "Lambda(weight=Swap(metric=ARP(per=Undivided())))": (
        "Lambda(weight=Swap(ARP(divide_by=NoDivisor())))"
    ),
    "Bi(base=Lambda(weight=One()))": "Bivariate(Lambda(weight=Uniform()))",
}


@pytest.mark.parametrize("text", FORMER_TEXTS)
def test_texts_of_earlier_versions_are_read(text):
    objective = rw.objective(text)
    assert objective == rw.objective(FORMER_TEXTS[text])
    assert rw.objective(repr(objective)) == objective
    assert not re.search(rf"\b({'|'.join(FORMER)})\(|\bper=", repr(objective))


def test_every_former_name_is_read():
    assert {name for name in FORMER if re.search(rf"\b{name}\(", str([*FORMER_TEXTS]))} == {*FORMER}


def test_a_former_weight_of_two_terms_is_their_sum(rng):
    # Gradients are linear in the weight.
    y, s = rng.integers(0, 3, 12), rng.normal(size=12)
    texts = ["Loss2(mu=2.0, rho=0.3)", "Swap()", "NDCGLoss2()"]
    with interpreted():
        both, swap, loss2 = (np.array(rw.gradients(f"Lambda(weight={t})", y, s)) for t in texts)
    np.testing.assert_allclose(both, 0.3 * swap + 2.0 * loss2, atol=1e-12)


test_texts_of_earlier_versions_that_can_not_be_read = refusal_test(
    rw.objective,
    [
        ("Lambda(weight=Loss2(mu=-1.0))", "Loss2.mu must not be negative, got -1.0"),
        ("Lambda(weight=Loss2(tau=1.0))", "Loss2 has no parameter 'tau'; known are delta, metric"),
        ("Lambda(pairs=Either(Across(3), Apart(4)))", r"with the same k; these are now .* got Acr"),
        ("Lambda(weight=Swap(AP(per=Relevant(), divide_by=Relevant())))", "divide_by= and per="),
    ],
)


def test_former_names_of_parts_warn_and_name_the_new_ones():
    for name, new in FORMER.items():
        module = metrics if name == "Undivided" else objectives
        with pytest.warns(DeprecationWarning, match=rf"{name} is now {re.escape(new.now)}"):
            part = getattr(module, name)
        assert part() == new.make()
    with pytest.warns(DeprecationWarning, match="Still is now NoNoise"):
        assert objectives.Still is objectives.NoNoise
    for module in (metrics, objectives):
        with pytest.raises(AttributeError, match="has no attribute 'Stil'"):
            _ = module.Stil


@pytest.mark.parametrize("cls", [AP, ARP, Precision])
def test_a_former_field_is_taken_with_a_warning(cls):
    with pytest.warns(DeprecationWarning, match=f"{cls.__name__}.per is now .*divide_by"):
        part = cls(per=Relevant())
    assert part == cls(divide_by=Relevant())
    assert part.per == Relevant() and cls().per == cls().divide_by
    assert repr(part) == f"{cls.__name__}(divide_by=Relevant())"


def test_a_former_parameter_is_taken_everywhere():
    assert rw.metric("map@10(per='relevant')") == rw.metric("map@10", per="relevant")
    assert rw.metric("map@10(per='relevant')") == AP(10, divide_by=Relevant())
    assert rw.metric("arp(per=one)") == ARP(divide_by=NoDivisor())
    y, s = [1, 0, 1, 1], [1.0, 2.0, 3.0, 0.0]
    for convention in (None, "trec_eval"):
        old, new = (
            rw.evaluate(f"map@2({word}=reachable)", y, s, convention=convention).mean()
            for word in ("per", "divide_by")
        )
        assert [*old.values()] == [*new.values()]


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
    with pytest.raises(rw.InputError, match="metric 'ndcg' has no cutoff; leave out @5"):
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


def test_a_former_weight_of_nothing_is_read():
    made = rw.objective("Lambda(weight=Loss2(mu=0.0))")
    with interpreted():
        assert not rw.gradients(made, [1, 0], [0.0, 1.0])[0].any()
