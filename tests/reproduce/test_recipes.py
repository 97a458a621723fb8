"""Recipes: all that come with the package can be read and resolved, and slips in one are found."""

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.datasets import catalogue
from rankwood.engines import base
from rankwood.estimators.parameters import check_shared, engine_params
from rankwood.metrics.evaluate import evaluate
from rankwood.reproduce import items, kinds
from rankwood.reproduce.models import make_ranker
from rankwood.reproduce.plan import Work
from rankwood.reproduce.recipes import reading
from rankwood.reproduce.recipes.options import Options
from rankwood.reproduce.recipes.template import fill, settings
from rankwood.reproduce.sources import FoldFiles
from tests.helpers import tiny_paper as tiny

NAMES = reading.recipe_names()


def works(name, published=True):
    recipe = reading.load_recipe(name)
    for item in recipe.items.values():
        sources = {
            role: FoldFiles(role, "x", "x", published, ("0" * 64,), 1) for role in item.roles
        }
        yield Work(recipe, item, Options(), sources)


def cells_of(name, published=True):
    """Return each different cell that the items of a paper need, by digest."""
    made = {}
    for work in works(name, published):
        kind = kinds.find(work.item.kind)
        for request in kind.plan(work) if hasattr(kind, "plan") else []:
            made[request.cell.digest] = request
    return made.values()


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_row_can_be_trained(name, published):
    checked = set()
    for request in cells_of(name, published):
        spec = dict(request.cell.spec)
        if spec["model"] not in ("trees", "two-stage"):
            continue
        stages = [spec] if spec["two_stage"] is None else [spec, spec["two_stage"]["first"]]
        for stage in stages:
            known = repr([stage.get(key) for key in ("objective", "engine", "params", "stop")])
            if known in checked:
                continue
            checked.add(known)
            ranker = make_ranker({"seed": 0, **stage})
            if stage["stop"] is not None:
                rw.metric(stage["stop"])
            if stage["engine"] == "neural":
                ranker._check(False)
                continue
            check_shared(ranker)
            objective = rw.objective(stage["objective"])
            base.check(stage["engine"], objective, False)
            base.check_params(stage["engine"], engine_params(ranker), objective)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_and_columns_are_known(name):
    recipe = reading.load_recipe(name)
    rules = dict(recipe.paper.conventions)
    found = evaluate(list(recipe.paper.metrics), [1, 0, 2], [0.1, 0.2, 0.3], **rules)
    assert found.metrics == list(recipe.paper.metrics)
    for work in works(name):
        if work.item.kind not in ("metrics", "bars"):
            continue
        for row in work.item.rows:
            for setting in settings(work.item.over):
                for column in work.item.columns:
                    metric = fill(column.metric, {**setting, **row.let})
                    assert metric in recipe.paper.metrics, (work.item.name, row.name)


def test_items_have_the_names_of_papers():
    found = [item.name for item in items()]
    assert len(found) == len(set(found)) > 0
    assert {name.split("/")[0] for name in found} == set(NAMES)
    assert all(item.title for item in items())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("digits = 2", "digit = 2", "item 'table1': unknown key 'digit'; did you mean 'digits'"),
        ("over = { k = [3, 5] }\ncolumns", "over = { k = [3] }\ncolumns", "2 printed values of"),
        ('baseline = "LambdaMART"\ndigits', 'baseline = "Lambda"\ndigits', "is not a row"),
        ('kind = "metrics"', 'kind = "metric"', "no kind of item 'metric'; did you mean 'metrics'"),
        ('protocol = "short"', 'protocol = "shirt"', "no protocol 'shirt'; did you mean 'short'"),
        ("rounds = 4", "", "protocol 'short': the key 'rounds' is missing"),
        ('title = "NDCG@k"', "", "item 'table1': the key 'title' is missing"),
        ('name = "tiny"', 'name = "small"', "paper.name is 'small', expected 'tiny'"),
        ("marks = [", "marks = [ '+', ", "levels and marks must be equally many"),
        ('name = "RankNet"\ngroup', 'name = "LambdaMART"\ngroup', "two rows of one group"),
        (
            "printed.mslr10k = [40, 50]",
            "printed.mslr = [40, 50]",
            "which is not a role of the item",
        ),
        ('model = "perfect"', 'model = "ideal"', "model must be one of"),
        ('columns = ["queries"', 'columns = ["query"', "unknown statistic 'query'"),
        ('split = "all"', 'split = "whole"', "split must be one of"),
        ('curve = "valid"', 'curve = "vali"', "curve must be one of"),
        ('metric = "ndcg@{k}"\n', "", "give one of the keys 'metric' and 'record'"),
        ('of = "table1"', 'of_space = "x"\nof = "table1"', "give one of the keys 'of'"),
        ('columns = ["training"', 'columns = ["train"', "must be one of 'training'"),
        ("[paper]", "[paper", "can't be read"),
    ],
)
def test_a_slip_is_found(tmp_path, old, new, message):
    assert old in tiny.RECIPE
    path = tiny.write_recipe(tmp_path, tiny.RECIPE.replace(old, new, 1))
    with pytest.raises(InputError, match=r"tiny\.toml|item ") as error:
        reading.read_recipe(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names_in_braces():
    assert fill("p@{k}", {"k": 5}) == "p@5"
    assert fill("lambdarank-ndcg@{k+3}(mu={mu})", {"k": 5, "mu": 0.50}) == (
        "lambdarank-ndcg@8(mu=0.5)"
    )
    assert fill({"a": ["{k-1}", 2], "b": "{mu}"}, {"k": 5, "mu": 0.1}) == {"a": [4, 2], "b": 0.1}
    assert settings({"k": [1, 2], "m": ["x", "y"]})[1] == {"k": 1, "m": "y"}
    assert settings({}) == [{}]
    with pytest.raises(InputError, match="did you mean 'kk'"):
        fill("p@{k}", {"kk": 5})


def test_roles_are_in_the_catalogue():
    known = catalogue()
    for item in items():
        assert set(item.roles) <= set(known), item.name


def test_printed_numbers_are_numbers():
    for name in NAMES:
        for item in reading.load_recipe(name).items.values():
            for row in item.rows:
                for role, printed in row.printed.items():
                    numbers = [x for x in printed if not isinstance(x, str)]
                    assert np.isfinite([x for x in numbers if x == x]).all(), (item.name, role)


@pytest.mark.parametrize(
    ("paper", "preset"),
    [
        ("lambdagap", "lambdagap-2025"),
        ("lambda-ex", "lambda-ex-2023"),
        ("lambdaloss", "lambdaloss-2018"),
        ("which-tricks", "which-tricks-2023"),
        ("bivariate", "bivariate-2024"),
    ],
)
def test_the_test_of_a_recipe_is_that_of_the_preset(paper, preset):
    from rankwood.report.comparison.presets import PRESETS

    test, rules = reading.load_recipe(paper).paper.test, PRESETS[preset]
    assert test.kind == {"fisher": "permutation"}.get(rules["test"], rules["test"])
    assert test.sides == {"greater": 1, "two-sided": 2}[rules["alternative"]]
    assert tuple(test.levels) == rules["alphas"]
    assert test.letters == (rules.get("marks") == "letters")
    if test.kind == "permutation":
        assert test.draws == rules["draws"]
        assert test.strict == (rules["p_value"] == "strict")
