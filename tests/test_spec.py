"""Texts and parts."""

import pytest

import rankwood as rw
from rankwood.metrics import NDCG, Linear
from rankwood.objectives import ByDistance, Lambda, Logistic, Swap, Top


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


@pytest.mark.parametrize(
    ("text", "message"),
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
            r"Lambda.pairs must be a part that can 'select' \(.*All.*Top.*\), got NDCG\(\)",
        ),
        ("Top(1, 2, 3)", "Top"),
        ("__import__('os').system('true')", "can't be read|unknown"),
    ],
)
def test_what_can_not_be_read(text, message):
    with pytest.raises(rw.InputError, match=message):
        rw.objective(text)
