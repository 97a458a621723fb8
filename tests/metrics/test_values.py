"""Metrics against the oracle and the golden values."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.metrics import (
    AP,
    ARP,
    ARPK,
    DCG,
    RBP,
    AtLeast,
    Cost,
    Cutoff,
    ExpChance,
    Hits,
    Precision,
    Relevant,
    SwapCost,
)
from tests.helpers.refusals import refusal_test
from tests.oracles import naive
from tests.oracles.naive_metrics import ORACLE

one_query = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])),
    min_size=1,
    max_size=7,
)
TIES = ["worst", "input", "best", "average"]
# Every metric, and every parameter in a form that is not its default.
VARIANTS = [
    ("ndcg", {}),
    ("ndcg", {"gain": "linear"}),
    ("dcg", {}),
    ("bndcg", {"rel": 2}),
    ("p", {"rel": 3}),
    ("p", {"divide_by": "k"}),
    ("recall", {"rel": 2}),
    ("map", {"rel": 2}),
    ("map", {"divide_by": "relevant"}),
    ("mrr", {"rel": 2}),
    ("err", {"max_label": 5}),
    ("err", {"gain": "linear"}),
    ("arp", {}),
    ("arp", {"divide_by": "relevant"}),
    ("arpk", {"rel": 2}),
    ("expdcg", {"base": 0.5}),
    ("pfound", {"decay": 0.5, "max_label": 6}),
    ("rbp", {"p": 0.3, "rel": 2}),
    ("hits", {"rel": 2}),
    ("success", {"rel": 2}),
    ("rprec", {"rel": 2}),
    ("ndcgcost", {}),
    ("ndcgcost", {"gain": "linear"}),
    ("lambdarankcost", {"gain": "linear"}),
]


@given(one_query, st.sampled_from(TIES), st.sampled_from([None, 1, 2, 3, 20]))
def test_values_equal_the_oracle(query, ties, k):
    y, s = [q[0] for q in query], [q[1] for q in query]
    parts = []
    for name, params in VARIANTS:
        cut = {} if name in ("arp", "rprec") else {"k": 2 if name == "arpk" and k is None else k}
        parts.append((rw.metric(name, **cut, **params), name, {**cut, **params}))
    got = rw.evaluate([part for part, _, _ in parts], y, s, ties=ties, n_jobs=1).mean()
    for part, name, params in parts:

        def value(order, name=name, params=params):
            return ORACLE[name](order, **params)

        assert got[repr(part)] == pytest.approx(naive.metric(y, s, value, ties), abs=1e-12), part


@given(one_query, st.sampled_from([1, 2, 3]))
def test_costs_of_the_theorems(query, k):
    y, s = [q[0] for q in query], [q[1] for q in query]
    order = [y[i] for i in naive.ranking(s)]
    b = [float(label > 0) for label in order]
    gap = [max(0, i - k) for i in range(1, len(y) + 1)]
    want = {
        Cost(ARP()): sum(label * i for i, label in enumerate(order)),  # 002 section 5.1: ARP - C1
        Cost(RBP(p=0.5)): 0.5 * sum(x * (1 - 0.5**i) for i, x in enumerate(b)),
        # 000 Corollary 5.7, times k.
        SwapCost(ARPK(k)): sum(x * (k * g + g * (g - 1) / 2) for x, g in zip(b, gap, strict=True)),
        # 000 Corollary 5.8, times k.
        SwapCost(Hits(k)): k * sum(b[k:]),
    }
    got = rw.evaluate(list(want), y, s, ties="input", n_jobs=1).mean()
    for part, value in want.items():
        assert got[repr(part)] == pytest.approx(value, abs=1e-12), part


# Golden names without cutoff are sums over the whole list.
GOLDEN = {
    "DCG_exp": lambda k: rw.metric("dcg", k=k),
    "DCG_003": lambda k: DCG(k, ExpChance(4)),
    "NDCG_exp": lambda k: rw.metric("ndcg", k=k),
    "NDCG_linear": lambda k: rw.metric("ndcg", k=k, gain="linear"),
    "BNDCG": lambda k: rw.metric("bndcg", k=k),
    "AP_divAllRel": lambda k: AP(k, divide_by=Relevant()),
    "AP_divMinRelK": lambda k: rw.metric("map", k=k),
    "RR": lambda k: rw.metric("mrr", k=k),
    "ERR_pow": lambda k: rw.metric("err", k=k),
    "ERR_lin": lambda k: rw.metric("err", k=k, gain="linear"),
    "PFound": lambda k: rw.metric("pfound", k=k),
    "P_minkn": lambda k: rw.metric("p", k=k),
    "P_strict": lambda k: Precision(k, divide_by=Cutoff()),
    "Recall": lambda k: rw.metric("recall", k=k),
    "ARPbk": lambda k: rw.metric("arpk", k=k),
    "ARP_graded_sum": lambda k: rw.metric("arp"),
    "ARP_binary_sum": lambda k: ARP(AtLeast()),
    "ARP_graded_mean_TFR": lambda k: rw.metric("arp", divide_by="relevant"),
    "ExpDCG_b0.85": lambda k: rw.metric("expdcg"),
    "RBP_p0.8_binary": lambda k: rw.metric("rbp"),
    "RBP_p0.8_pow": lambda k: RBP(gain=ExpChance(4)),
}
# In the golden values a query without relevant documents has 1 in the NDCG family and 0 elsewhere.
ONE_IF_EMPTY = ("NDCG_exp", "NDCG_linear", "BNDCG")
CASES = ("A", "B", "C_ties", "E_single", "E_all_zero", "E_n_le_k")


def golden_parts(keys):
    for key in keys:
        name, _, k = key.partition("@")
        if name not in ("order", "k"):
            yield key, name, GOLDEN[name](None if k in ("", "all") else int(k))


@pytest.mark.parametrize("ties", ["stable", "worst", "best"])
def test_values_equal_golden(golden, ties):
    checked = set()
    for case in CASES:
        given_, expected = golden["cases"][case], golden["metrics"][f"{case}|{ties}"]
        rule = "input" if ties == "stable" else ties
        for key, name, part in golden_parts(expected):
            empty = 1 if name in ONE_IF_EMPTY else 0
            ev = rw.evaluate(part, given_["y"], given_["s"], ties=rule, empty=empty, n_jobs=1)
            assert ev.mean()[repr(part)] == pytest.approx(expected[key], abs=1e-9), key
            checked.add(name)
    assert checked == set(GOLDEN)  # every name of the golden values, none left out


def test_means_over_ties_equal_golden(golden):
    case, expected = golden["cases"]["C_ties"], golden["metrics"]["C_ties|expected_over_ties"]
    for key, _, part in golden_parts(expected):
        ev = rw.evaluate(part, case["y"], case["s"], ties="average")
        assert ev.mean()[repr(part)] == pytest.approx(expected[key], abs=1e-9), key
    assert len(expected) == 5


def test_precision_of_a_random_order_equals_golden(golden):
    given_ = golden["metrics"]["hypergeometric_expectation_check"]
    y = [1] * given_["B"] + [0] * (given_["n"] - given_["B"])
    part = rw.metric("p", k=given_["k"])
    ev = rw.evaluate(part, y, [0.0] * len(y), ties="average")
    assert ev.mean()[repr(part)] == pytest.approx(given_["expected_P@k"], abs=1e-12)


test_bad_parameters_get_one_plain_sentence = refusal_test(
    rw.metric,
    [
        ("arp@3", "arp has no cutoff, got @3: .* use arp, or arpk@3"),
        ("arpk", "arpk needs a cutoff: write arpk@10, or give k=10"),
        ("p@0", "Precision.k must be at least 1, got 0"),
        ("p(divide_by=R)", "divide_by must be one of 'places', 'k', got 'R'"),
        ("map(divide_by=k)", "divide_by must be one of 'reachable', 'relevant', got 'k'"),
        ("p(divide_by=R)", "divide_by must be one of 'places', 'k', got 'R'"),
        ("map(per=relevant)", "metric 'map' has no parameter 'per'; known are divide_by, k, rel"),
        ("mrr(rel=0)", "RR.rel must be positive, got 0"),
        ("bndcg(rel=-1)", "AtLeast.rel must be positive, got -1"),
        ("rbp(p=1)", "RBP.p must be between 0 and 1, got 1"),
        ("expdcg(base=1.5)", "ExpDCG.base must be between 0 and 1, got 1.5"),
        ("pfound(decay=0)", "PFound.decay must be between 0 and 1, got 0"),
        ("err(max_label=0)", "ExpChance.max_label must be positive, got 0"),
        ("err(max_label=1001)", "ExpChance.max_label must be at most 1000, .* got 1001"),
        ("err(gain=cubic)", "gain must be one of 'exp', 'linear', got 'cubic'"),
        ("mrr(relevant=2)", "metric 'mrr' has no parameter 'relevant'; known are k, rel"),
    ],
)


@pytest.mark.parametrize("name", ["err", "err(gain=linear)", "pfound@3"])
def test_labels_beyond_the_largest_are_named(name):
    message = re.escape(
        "max_label is 4, but there is a label 5 at row 2; give max_label=5 or more."
    )
    with pytest.raises(rw.InputError, match=message):
        rw.evaluate(name, [0, 4, 5], [1, 2, 3])
