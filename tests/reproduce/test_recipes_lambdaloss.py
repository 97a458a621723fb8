"""The recipe of the LambdaLoss paper: its printed numbers agree with what the paper says of them."""

import pytest

import rankwood as rw
from tests.helpers.printed import assert_trainable, best, one_of_each_protocol, printed, ranker
from tests.helpers.recipe_tables import load

CONTENT = load("lambdaloss")
ITEMS = CONTENT["items"]
ROLES = ["yahoo1", "mslr10k", "mslr30k"]


def test_every_table_and_figure_is_there():
    wanted = {f"{kind}{i}" for kind in ("table", "figure") for i in range(1, 6)}
    assert set(ITEMS) == wanted
    assert [len(ITEMS[f"table{i}"]["rows"]) for i in range(1, 6)] == [3, 3, 6, 3, 2]


def test_rows_can_be_trained():
    assert_trainable(CONTENT)


@pytest.mark.parametrize(("item", "role", "bold"), [
    # Boldface of the paper: training, validation, test.
    ("table3", "yahoo1", ["ARP-Loss1", "ARP-Loss1", "NDCG-Loss2++"]),
    ("table3", "mslr10k", ["NDCG-Loss2++", "NDCG-Loss2++", "NDCG-Loss2"]),
    ("table3", "mslr30k", ["NDCG-Loss2"] * 3),
    ("table4", "yahoo1", ["NDCG-Loss2++"] * 3),
    ("table4", "mslr10k", ["LambdaMART", "NDCG-Loss2", "NDCG-Loss2++"]),
    ("table4", "mslr30k", ["NDCG-Loss2++"] * 3),
])  # fmt: skip
def test_the_best_values_are_those_in_boldface(item, role, bold):
    assert [best(ITEMS[item], role, column) for column in range(3)] == [[name] for name in bold]


def test_stated_improvements_over_lambdamart():
    test = printed(ITEMS["table3"], "mslr30k", 2)
    for name, percent in (("NDCG-Loss2", 1.86), ("NDCG-Loss2++", 1.58)):
        gain = 100 * (test["", name] / test["", "LambdaMART"] - 1)
        assert gain == pytest.approx(percent, abs=0.01)


def test_loss2_is_better_than_loss1_everywhere_in_ranklib():
    for role in ROLES:
        for column in range(3):
            values = printed(ITEMS["table3"], role, column)
            assert values["", "NDCG-Loss2"] > values["", "NDCG-Loss1"]


def test_marked_rows_are_better_than_the_baseline():
    for name in ("table3", "table4"):
        for row in ITEMS[name]["rows"]:
            for role, marks in row.get("marks", {}).items():
                for column, mark in enumerate(marks):
                    values = printed(ITEMS[name], role, column)
                    if mark:
                        assert values["", row["name"]] > values["", "LambdaMART"]


def test_tables_2_4_and_5_share_their_parameters_and_values():
    columns = ITEMS["table2"]["columns"]
    for shown, row in zip(ITEMS["table2"]["rows"], ITEMS["table4"]["rows"], strict=True):
        assert shown["name"] == row["name"]
        for role in ROLES:
            assert [row["role_params"][role][c] for c in columns] == shown["printed"][role]
    base = ITEMS["table4"]["rows"][0]
    for row in ITEMS["table5"]["rows"]:
        assert row["role_params"] == base["role_params"]  # Loss2 with LambdaMART's
    for role in ROLES:
        assert ITEMS["table5"]["rows"][0]["printed"][role][0] == base["printed"][role][0]


def test_statistics_are_those_of_the_data_sets():
    totals = {
        role: [sum(row["printed"][role][i] for row in ITEMS["table1"]["rows"]) for i in (0, 1)]
        for role in ROLES
    }
    assert totals["mslr10k"] == [10_000, 1_200_192]
    assert totals["mslr30k"] == [31_531, 3_771_125]
    assert totals["yahoo1"] == [29_921, 709_877]


@pytest.mark.slow
def test_one_row_of_each_protocol_trains():
    train = rw.make_ranking(12)
    rows = one_of_each_protocol(CONTENT)
    assert set(rows) == set(CONTENT["protocols"])
    for row in rows.values():
        other = CONTENT["protocols"][row.protocol]["params"].get("other", {})
        assert ranker(row, **other).fit(train).best_iteration_ == 2


def test_losses_of_arp_are_truncated():
    """Section 6.2: a pair counts if one of its documents is among the first k; checked by plain loops."""
    from math import exp

    rows = {row["name"]: row["objective"].replace("{k}", "2") for row in ITEMS["table3"]["rows"]}
    y, scores, k = [1.0, 0.0, 3.0, 2.0, 1.0], [0.9, 0.5, 0.2, -0.1, -0.4], 2

    def expected(weight):
        grad = [0.0] * len(y)
        for i in range(len(y)):  # scores fall, so that i is the rank
            for j in range(len(y)):
                if i != j and (i < k or j < k):
                    slope = weight(y[i], y[j]) / (1 + exp(scores[i] - scores[j]))
                    grad[i] -= slope
                    grad[j] += slope
        return grad

    for name, weight in (
        ("ARP-Loss1", lambda a, b: a),  # every ordered pair, with the label of its first document
        ("ARP-Loss2", lambda a, b: max(a - b, 0.0)),
    ):
        found = rw.gradients(rows[name], y, scores)[0]
        assert found.tolist() == pytest.approx(expected(weight), abs=1e-12), name
        whole = rw.gradients(f"lambdaloss-arp{name[-1]}(norm=False)", y, scores)[0]
        assert found.tolist() != pytest.approx(whole.tolist(), abs=1e-3)


def test_ranklib_counts_empty_queries_alike_everywhere():
    for name in ("table3", "figure3", "figure4"):
        item = ITEMS[name]
        for row in item["rows"]:
            if row.get("protocol", item.get("protocol")) == "ranklib":
                rules = {**item.get("conventions", {}), **row.get("conventions", {})}
                assert rules == {"empty": 0}, name
    from rankwood.reproduce.plan import Work, row_spec
    from rankwood.reproduce.recipes.options import Options
    from rankwood.reproduce.recipes.reading import load_recipe

    recipe = load_recipe("lambdaloss")
    item = recipe.items["figure3"]
    specs = [
        row_spec(Work(recipe, item, Options(), {}), row, "mslr30k", {"mu": 1}) for row in item.rows
    ]
    assert [spec["conventions"]["empty"] for spec in specs] == [0, 1]
