"""The transcription of the Lambda-eX paper agrees with what its text says about its own tables."""

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.recipe_tables import load, marks, numbers, objectives, rows

RECIPE = load("lambda-ex")
ITEMS = RECIPE["items"]
ROLES = ["istella-x", "istella-s", "istella", "yahoo1", "mslr30k"]
ISTELLA = slice(0, 3)
BASE = "truncation k + 3"
STRATEGIES = ["eX static", "eX random", "eX all", "eX all-static", "eX all-random"]
NAMES = ["truncation k", BASE, "no truncation", *STRATEGIES]


def test_every_item_is_there():
    tables = [f"table{i}" for i in range(1, 7)]
    assert set(ITEMS) == {*tables, "figure1", "figure2", "figure3", "figure4"}


@pytest.mark.parametrize("name", ITEMS)
def test_objectives_resolve(name):
    for text in objectives(ITEMS[name]):
        made = rw.objective(text)
        assert rw.objective(repr(made)) == made


def test_effectiveness_has_its_rows_and_columns():
    found = rows(ITEMS["table5"])
    assert list(found) == [(group, n) for group in ("LambdaMART", "LambdaLoss") for n in NAMES]
    assert all(numbers(row, ROLES).shape == (5, 3) for row in found.values())


def test_only_rows_above_the_baseline_of_their_group_are_marked():
    found = rows(ITEMS["table5"])
    assert ITEMS["table5"]["baseline"] == BASE
    by_mark = {"": [], "*": [], "**": []}
    for (group, name), row in found.items():
        marked = marks(row, ROLES) != ""
        difference = numbers(row, ROLES) - numbers(found[group, BASE], ROLES)
        assert (difference[marked] > 0).all(), (group, name)
        if name in ("truncation k", BASE):
            assert not marked.any()
        for mark, differences in by_mark.items():
            differences += difference[marks(row, ROLES) == mark].tolist()
    means = [np.mean(differences) for differences in by_mark.values()]
    assert means == sorted(means)  # more stars for larger differences, in the mean


def test_effectiveness_as_the_text_says():
    values = {at: numbers(row, ROLES) for at, row in rows(ITEMS["table5"]).items()}
    for group in ("LambdaMART", "LambdaLoss"):
        # Without truncation the sets of Istella gain, and so do most of them by Lambda-eX.
        assert (values[group, "no truncation"] > values[group, BASE])[ISTELLA].all()
        for name in STRATEGIES:
            assert (values[group, name] > values[group, "truncation k"])[ISTELLA].all()
    # Without truncation LambdaLoss is worse than LambdaMART on Yahoo and MSLR-WEB30K.
    without = values["LambdaLoss", "no truncation"] < values["LambdaMART", "no truncation"]
    assert without[3:].all()
    assert (values["LambdaLoss", "no truncation"] < values["LambdaLoss", BASE])[3:].all()
    # The baseline is mostly better than truncation at k.
    ahead = [values[g, BASE] > values[g, "truncation k"] for g in ("LambdaMART", "LambdaLoss")]
    assert np.mean(ahead) > 0.8


def test_mu_is_half_on_two_sets():
    for (group, name), row in rows(ITEMS["table5"]).items():
        own = row.get("role_objective", {})
        if group == "LambdaLoss":
            assert "mu=5," in row["objective"]
        if group == "LambdaLoss" and name in STRATEGIES:
            assert set(own) == {"yahoo1", "mslr30k"}
            assert set(own.values()) == {row["objective"].replace("mu=5,", "mu=0.5,")}
        else:
            assert not own


def test_statistics_are_consistent():
    (row,) = ITEMS["table3"]["rows"]
    for line in numbers(row, ROLES):
        _, queries, documents, per_query, irrelevant = line
        assert documents / queries == pytest.approx(per_query, abs=0.011)
        assert 0 < irrelevant < 100


def test_parameters_are_those_that_are_trained_with():
    item, params = ITEMS["table4"], RECIPE["protocols"]["fixed"]["params"]
    (row,) = item["rows"]
    for role in ROLES:
        assert row["printed"][role] == [params[role][name] for name in item["columns"]]
    for protocol in RECIPE["protocols"].values():
        assert protocol["params"] == params


def test_times_are_those_of_lambdamart():
    found = rows(ITEMS["table6"])
    assert list(found) == [("LambdaMART", name) for name in NAMES]
    times = {name: numbers(row, ROLES) for (_, name), row in found.items()}
    assert all(v.shape == (5, 2) for v in times.values())
    for v in times.values():
        assert (v[:, 0] < v[:, 1]).all()  # a tree includes a call of the objective
    assert all((times["no truncation"][:, 0] >= v[:, 0]).all() for v in times.values())
    assert all((times["truncation k"][:, 0] <= v[:, 0]).all() for v in times.values())


def test_false_and_missed_documents_are_those_of_the_text():
    from rankwood.reproduce.kinds import curves

    item = ITEMS["figure3"]
    assert item["definition"] == "paper"
    wants = curves.wants_of(item["curve"], {"k": 5}, item["definition"])
    assert wants == {"record:coherency@5(definition=paper)"}
