"""Gradients against the published expected values, to 1e-9.

The kernels run as plain Python here; `test_named` shows that compiled they give the same.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels.parts import lower
from rankwood.metrics import Ranked
from rankwood.metrics.verbs import label_values
from rankwood.objectives import TopMissed
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import list_anchors
from tests.helpers.golden_names import NAMES
from tests.helpers.oracle import interpreted

#: What the expected values call the two definitions of a missed document.
GOLDEN_WORDS = {"program": "code", "paper": "text"}

STRATEGIES = ("static", "random", "all", "all-static", "all-random")


def close(got, expected, end=""):
    np.testing.assert_allclose(got[0], expected["grad" + end], rtol=0, atol=1e-9)
    if "hess" + end in expected:
        np.testing.assert_allclose(got[1], expected["hess" + end], rtol=0, atol=1e-9)


def test_no_value_is_left_out(golden):
    assert {key for case in golden["pairwise"].values() for key in case} == set(NAMES)
    assert set(golden["pairwise"]) == set(golden["cases"])
    assert set(golden["lambda_ex"]) == {"A", "B", "C_ties", "D_definitions_differ"}


@pytest.mark.parametrize("key", NAMES)
def test_gradients_equal_golden_values(golden, key):
    seen = 0
    for case, given in golden["cases"].items():
        expected = golden["pairwise"][case].get(key)
        if expected is None:
            continue
        for norm, end in ((False, ""), (True, "_lgbnorm")):
            if "grad" + end not in expected:  # those with another mu or sigma have one of the two
                continue
            text = NAMES[key].format(k=given["k"], mu=expected.get("mu"))
            with interpreted():
                close(
                    rw.gradients(rw.objective(text, norm=norm), given["y"], given["s"]),
                    expected,
                    end,
                )
            seen += 1
    assert seen >= (1 if "|" in key else 16)


@pytest.mark.parametrize("variant", ["exact", "catboost"])
@pytest.mark.parametrize("name", ["mrr", "map", "err"])
@pytest.mark.parametrize("case", ["A", "B"])
def test_any_metric_equals_golden_values(golden, case, name, variant):
    given = golden["cases"][case]
    expected = golden["lambdamart_any_metric"][case][f"{name.upper()}|{variant}"]
    for norm, end in ((False, ""), (True, "_norm")):
        objective = rw.objective(f"lambdarank-{name}", variant=variant, norm=norm)
        with interpreted():
            got = rw.gradients(objective, given["y"], given["s"])
        close(got, expected, end)
        assert np.abs(got[0]).max() > 0


class Given:
    """Shuffle as the published values do, whatever the seed."""

    def __init__(self, order):
        self.order = order

    def __call__(self, scan, n, state):
        by_slot = scan.copy()
        for i, document in enumerate(self.order):
            scan[i] = by_slot[document]


@pytest.mark.parametrize("definition", ["program", "paper"])
@pytest.mark.parametrize("how", STRATEGIES)
@pytest.mark.parametrize("case", ["A", "B", "C_ties", "D_definitions_differ"])
def test_lambda_ex_equals_golden_values(golden, monkeypatch, case, how, definition):
    table = golden["lambda_ex"][case]
    given = golden["cases"].get(case, table)
    expected = table.get(f"{how}|{GOLDEN_WORDS[definition]}")
    if expected is None:
        assert case == "D_definitions_differ" and how not in ("static", "all")
        return
    monkeypatch.setattr(
        "rankwood.objectives.parts.missed.shuffle", Given(table.get("shuffled_order_for_random"))
    )
    if isinstance(expected, list):  # the set X alone
        assert set(chosen(given, how, definition)) == set(expected)
        return
    assert set(chosen(given, how, definition)) == set(expected["X"])
    for name, mu, delta, key in (
        ("lambdamart-ex", None, None, ""),
        ("lambdaloss-ex++", 5.0, "exact", "loss2pp_mu5_"),
        ("lambdaloss-ex++", 5.0, "shifted", "loss2pp_mu5_shifted_"),
    ):
        params = {} if mu is None else {"mu": mu, "delta": delta}
        for norm, end in ((False, ""), (True, "_lgbnorm")):
            if f"{key}grad{end}" not in expected:
                continue
            objective = rw.objective(
                f"{name}-{how}", k=given["k"], definition=definition, norm=norm, **params
            )
            with interpreted():
                got = rw.gradients(objective, given["y"], given["s"])
            np.testing.assert_allclose(got[0], expected[f"{key}grad{end}"], rtol=0, atol=1e-9)
            if f"{key}hess{end}" in expected:
                np.testing.assert_allclose(got[1], expected[f"{key}hess{end}"], rtol=0, atol=1e-9)


def chosen(given, how, definition):
    """Documents that are anchors, in the order they are found."""
    y, s = np.array(given["y"], float), np.array(given["s"], float)
    slot = np.argsort(-s, kind="stable")
    order, values = (
        np.arange(y.size + 7),
        SimpleNamespace(number=np.empty(y.size), often=np.empty(y.size)),
    )
    part = TopMissed(given["k"], how, definition)
    label_values(lower(part), y, None, values)
    ranked, room = Ranked(y.size, y[slot], s[slot], slot, None), Memory(y.size, float).room(part)
    m = list_anchors(lower(part), ranked, values, 0, room, order)
    assert len(set(order[:m])) == m
    return [int(slot[r]) for r in order[:m]]


def test_the_two_definitions_of_missed():
    # In rank order 1 2 3 2 0, k = 2: the ideal top is {3, 2}; one 2 is there already.
    given = {"y": [1, 2, 3, 2, 0], "s": [5, 4, 3, 2, 1], "k": 2}
    assert chosen(given, "all", "program") == [0, 1, 2]
    assert chosen(given, "all", "paper") == [0, 1, 2, 3]
    assert chosen(given, "static", "paper") == [
        0,
        1,
        2,
    ]  # one document of the top has a label too low
