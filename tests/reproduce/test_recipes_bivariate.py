"""The recipe of the bivariate paper: its printed numbers agree with each other and with what the paper says."""

import math

import numpy as np
import pytest

import rankwood as rw
from rankwood.neural.presets import PRESETS
from tests.helpers.printed import assert_trainable, best, one_of_each_protocol, printed, ranker
from tests.helpers.recipe_tables import load

CONTENT = load("bivariate")
ITEMS = CONTENT["items"]
ROLES = ["mslr10k", "mslr30k", "yahoo1"]
NETWORKS = ["DNN", "GSF(2)", "GSF(20)", "attn-DIN", "SetRank"]


def ndcg5(item, role):
    """Return the printed values of NDCG@5 by name of the row."""
    column = ITEMS[item]["columns"].index("ndcg@5")
    return {name: value for (_, name), value in printed(ITEMS[item], role, column).items()}


def percent(value, base):
    """Return by how many percent a value is above another."""
    return 100 * (value / base - 1)


def test_every_table_and_figure_is_there():
    assert list(ITEMS) == [*(f"table{i}" for i in range(1, 9)), "figure1"]
    rows = [len(ITEMS[f"table{i}"]["rows"]) for i in range(1, 9)]
    assert rows == [3, 4, 5, 4, 7, 5, 2, 4]
    for name in ("table2", "table3", "table4", "table5"):
        for row in ITEMS[name]["rows"]:
            assert all(len(values) == 5 for values in row["printed"].values())


def test_rows_can_be_trained():
    assert_trainable(CONTENT)


def test_networks_have_the_parameters_of_tables_6_and_7():
    """So have the presets of NeuralRanker: they and the recipe are the paper's."""
    presets = {
        "DNN": "dnn",
        "GSF(2)": "gsf-2",
        "GSF(20)": "gsf-20",
        "attn-DIN": "attn-din",
        "SetRank": "setrank",
    }
    data = dict(zip(ROLES, ("web10k", "web30k", "yahoo"), strict=True))
    assert not [
        row for item in ITEMS.values() for row in item.get("rows", ()) if row.get("pending")
    ]
    assert [row["name"] for row in ITEMS["table3"]["rows"]] == NETWORKS
    assert [row["name"] for row in ITEMS["table5"]["rows"]][:5] == NETWORKS
    for row in ITEMS["table3"]["rows"]:
        params = CONTENT["protocols"][row["protocol"]]["params"]
        for role in ROLES:
            own = {**params["*"], **params[role]}
            for table in ("table6", "table7"):
                for i, column in enumerate(ITEMS[table]["columns"]):
                    value = printed(ITEMS[table], role, i).get(("", row["name"]))
                    if value is not None and value == value:
                        found = own[column]
                        assert (",".join(map(str, found)) if column == "hidden" else found) == value
            preset = dict(rw.NeuralRanker.preset(presets[row["name"]], data[role]).get_params())
            made = rw.NeuralRanker(
                objective=row["objective"], eval_metric="ndcg@5", **own
            ).get_params()
            assert {
                **made,
                "hidden": tuple(made["hidden"]),
                "transform": tuple(made["transform"]),
            } == preset


def test_bi_lambdamart_is_best_by_as_much_as_stated():
    # Smallest and largest improvement of NDCG@5 over each row, in percent, as stated.
    stated = {"1 - λMART": (3.2, 12.2), "2 - λMART": (0.5, 1.2), "2 - λMART*": (0.7, 1.1)}
    for name, (low, high) in stated.items():
        gains = [
            percent(ndcg5("table2", role)["2 - Bi-λMART"], ndcg5("table2", role)[name])
            for role in ROLES
        ]
        assert (min(gains), max(gains)) == pytest.approx((low, high), abs=0.06)
    for role in ROLES:
        for column in range(5):
            assert best(ITEMS["table2"], role, column) == ["2 - Bi-λMART"]


def test_differences_of_features_help_by_as_much_as_stated():
    values = ndcg5("table4", "mslr30k")
    assert percent(values["GSF(2) with"], values["GSF(2) without"]) == pytest.approx(0.29, abs=6e-3)
    gain = percent(values["Bi-λMART with"], values["Bi-λMART without"])
    assert gain == pytest.approx(0.67, abs=6e-3)


def test_rows_of_table_4_are_those_of_tables_2_and_3():
    columns = range(5)
    table2, table3, table4 = (
        [printed(ITEMS[f"table{i}"], "mslr30k", c) for c in columns] for i in (2, 3, 4)
    )
    for two, three, four in zip(table2, table3, table4, strict=True):
        assert four["", "Bi-λMART with"] == two["", "2 - Bi-λMART"]
        assert four["", "GSF(2) without"] == three["", "GSF(2)"]
        assert four["", "GSF(2) with"] == three["", "GSF(20)"]  # probably a slip of the paper


def test_softmax_differs_by_as_much_as_stated():
    softmax, lambdas = ndcg5("table5", "mslr30k"), ndcg5("table2", "mslr30k")
    networks = ndcg5("table3", "mslr30k")
    pairs = softmax["Bi-GBT_softmax"]
    assert percent(pairs, softmax["GBT_softmax"]) == pytest.approx(1.3, abs=0.06)
    assert percent(pairs, softmax["SetRank"]) == pytest.approx(6.0, abs=0.06)
    assert percent(softmax["GBT_softmax"], lambdas["2 - λMART"]) == pytest.approx(-0.27, abs=6e-3)
    assert max(percent(softmax[n], networks[n]) for n in NETWORKS) == pytest.approx(1.27, abs=0.02)
    assert pairs > lambdas["2 - Bi-λMART"]


def test_statistics_of_the_stages_follow_from_each_other():
    for row in ITEMS["table1"]["rows"]:
        for role in ROLES:
            named = dict(zip(ITEMS["table1"]["columns"], row["printed"][role], strict=True))
            assert named["listwise_features"] == 5 * (named["features"] + 1)
            assert named["pair_features"] == 11 * (named["features"] + 1)
            assert named["top_documents"] <= 20 * named["queries"]
            assert named["top_pairs"] <= 19 * named["top_documents"]
            assert named["top_pairs"] % 2 == 0


def test_models_have_the_parameters_of_table_8():
    names = ITEMS["table8"]["columns"]
    first = CONTENT["protocols"]["first"]["params"]
    for shown, row in zip(ITEMS["table8"]["rows"], ITEMS["table2"]["rows"], strict=True):
        assert shown["name"] == row["name"]
        for role in ROLES:
            params = row.get("role_params", first)
            assert [params[role][name] for name in names] == shown["printed"][role]


def _tiny(protocol):
    """Return the sizes that the recipe has for small data, even smaller."""
    other = protocol["params"]["other"]
    sizes = {"hidden": [8], "size": 4}
    return {
        **other,
        **{k: v for k, v in sizes.items() if k in other},
        "eval_metric": "ndcg@5",
        "epochs": 1,
    }


def test_two_stages_train_with_one_row_of_each_protocol():
    train, valid = rw.make_ranking(12), rw.make_ranking(12, seed=1)
    protocols = CONTENT["protocols"]
    small = {"min_child_samples": 5, "num_leaves": 4, "eval_metric": "ndcg@5"}
    rows = one_of_each_protocol(CONTENT)
    networks = {"dnn", "gsf2", "gsf20", "attn_din", "setrank"}
    assert set(rows) == {"second", "pairs"} | networks
    for row in rows.values():
        is_network = row.protocol in networks
        settings = dict(protocols[row.protocol]["two_stage"])
        start = protocols[settings.pop("first")]
        first = rw.Ranker(
            start["objective"], start["engine"], n_estimators=2, n_jobs=1, verbose=False,
            **{**start["params"]["*"], **small},
        )  # fmt: skip
        settings |= {"top": 5, "folds": 2}
        tiny = _tiny(protocols[row.protocol]) if is_network else small
        model = rw.TwoStage(first, ranker(row, **tiny), verbose=False, **settings)
        model.fit(train, valid=valid)
        assert len(model.evaluate(CONTENT["paper"]["metrics"], valid).per_query) == 12


def test_networks_on_other_data_have_the_presets_for_small_data():
    names = {"dnn": "dnn", "gsf2": "gsf-2", "gsf20": "gsf-20", "attn_din": "attn-din"}
    for protocol, name in {**names, "setrank": "setrank"}.items():
        params = CONTENT["protocols"][protocol]["params"]
        own, preset = {**params["*"], **params["other"]}, PRESETS[name, "small"]
        own["hidden"] = tuple(own["hidden"]) if "hidden" in own else None
        transform = tuple(own.pop("transform"))
        assert transform == rw.NeuralRanker().transform
        assert {key: preset.get(key) for key in own} == own
        assert set(preset) - set(own) <= {"objective", "eval_metric", "input_norm", "momentum"}


def _gradient_of_eq_8(labels, scores):
    """Return the derivatives of the loss by the scores, in plain loops; the weights of pairs are constants."""
    by_score = sorted(range(len(scores)), key=lambda i: -scores[i])
    rank = {i: place for place, i in enumerate(by_score, 1)}
    ideal = sum(
        (2**y - 1) / math.log2(1 + place) for place, y in enumerate(sorted(labels, reverse=True), 1)
    )
    found = [0.0] * len(scores)
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j]:
                gains = 2 ** labels[i] - 2 ** labels[j]
                discounts = 1 / math.log2(1 + rank[i]) - 1 / math.log2(1 + rank[j])
                push = gains * abs(discounts) / ideal / (1 + math.exp(scores[i] - scores[j]))
                found[i] -= push
                found[j] += push
    return found


@pytest.mark.parametrize("item", ["table3", "table4"])
def test_networks_train_on_the_loss_of_eq_8(item, rng):
    """It has no normalisation, unlike LightGBM's; lists of five documents don't reach beyond the cutoff."""
    networks = [row for row in ITEMS[item]["rows"] if row["name"].split(" ")[0] in NETWORKS]
    assert networks
    names = {row["objective"] for row in networks}
    names |= {preset["objective"] for preset in PRESETS.values()}
    for name in names:
        for _ in range(5):
            labels, scores = rng.integers(0, 5, 5), rng.normal(size=5) * 3
            found = rw.gradients(name, labels, scores)[0]
            wanted = _gradient_of_eq_8(labels.tolist(), scores.tolist())
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13)


def test_the_scheme_is_that_of_the_formulas():
    arrows = [(arrow["from"], arrow["to"]) for arrow in ITEMS["figure1"]["arrows"]]
    into = {
        box["id"]: {a for a, b in arrows if b == box["id"]} for box in ITEMS["figure1"]["boxes"]
    }
    pairs = [f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3) if i != j]
    for i, j in pairs:
        assert into[f"x{i}{j}"] == {f"X{i}", f"X{j}"}  # features of a pair
        assert into[f"s{i}{j}"] == {f"x{i}{j}"}
        assert into[f"t{i}{j}"] == {f"s{i}{j}", f"s{j}{i}"}  # equation 4
    for i in "123":
        assert into[f"s{i}"] == {f"t{pair}" for pair in pairs if pair[0] == i}  # equation 5
    assert into["loss"] == {"s1", "s2", "s3"}
    frames = [box for box in ITEMS["figure1"]["boxes"] if box["shape"] == "frame"]
    assert len(frames) == 3


def test_the_smallest_leaf_is_explained_where_pairs_are_trained():
    for name in ("table2", "table4", "table5", "table8"):
        assert sum("Min data" in note for note in ITEMS[name]["notes"]) == 1, name


def test_the_two_forms_of_lambdamart_differ_on_lists_that_were_cut(tmp_path):
    from rankwood.reproduce import run

    made = rw.make_ranking(60, documents=8, seed=2)
    turn = np.arange(60) % 3
    for i, name in enumerate(("train", "vali", "test")):
        rw.save_letor(made.select(turn == i), tmp_path / f"{name}.txt")

    def values(out, **limits):
        how = {"rows": "2 - λMART*", "trees": 3, "verbose": False, **limits}
        result = run("bivariate/table2", {"mslr10k": tmp_path}, tmp_path / out, **how)
        assert not result.failed
        lines = [line.split(",") for line in result.to_csv().splitlines()[1:]]
        rows = {name: [x[7] for x in lines if x[3] == name] for name in {x[3] for x in lines}}
        return result.to_markdown(), rows["2 - λMART"], rows["2 - λMART*"]

    page, of_list, of_whole = values(
        "whole"
    )  # lists of 8 documents, all of which the second stage ranks
    assert "mslr10k: 0.0% of the training lists were cut" in page
    assert of_list == of_whole
    page, of_list, of_whole = values("cut", top=4)
    assert "mslr10k: 100.0% of the training lists were cut" in page
    assert "lists of at most 4 documents in the second stage" in page
    assert of_list != of_whole
