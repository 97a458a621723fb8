"""Pages for people who come from other programs: both sides of every row run, and agree where it says so."""

import importlib
import re

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.paths import DOCS

PAGES = DOCS / "coming-from"
ROW = re.compile(r"^\| `([^|]*)` \| `([^|]*)` \|(?: (same|) *\|)?$", re.MULTILINE)
SHARED = {"n_estimators": 3, "learning_rate": 0.1, "n_jobs": 1}
OURS = {**SHARED, "shuffle": False, "verbose": 0}

#: By section: the module, its name on the page, and the call that a row's parameters go into, theirs and ours.
PROGRAMS = {
    "LightGBM": (
        *("lightgbm", "lgb", "LGBMRanker"),
        {**SHARED, "verbose": -1, "random_state": 0},
        {**OURS, "objective": "lambdarank", "extra_trees": False},
    ),
    "XGBoost": (
        *("xgboost", "xgb", "XGBRanker"),
        {**SHARED, "objective": "rank:ndcg", "max_depth": 3},
        {**OURS, "objective": "rank:ndcg", "engine": "xgboost", "max_depth": 3, "num_leaves": 8}
        | {"reg_lambda": 1, "min_child_weight": 1, "grow_policy": "depthwise"},
    ),
    "CatBoost": (
        *("catboost", "cb", "CatBoostRanker"),
        {"loss_function": "LambdaMart:metric=NDCG;top=10", "depth": 3, "l2_leaf_reg": 0.0}
        | {"iterations": 3, "learning_rate": 0.1, "bootstrap_type": "No", "random_seed": 0}
        | {"thread_count": 1, "verbose": False, "allow_writing_files": False},
        {**OURS, "objective": "LambdaMart:metric=NDCG;top=10", "engine": "catboost"}
        | {"max_depth": 3, "reg_lambda": 0.0},
    ),
}


def text_of(title):
    return (PAGES / f"{title.lower()}.md").read_text(encoding="utf-8")


def cases():
    for title in PROGRAMS:
        for left, right, result in ROW.findall(text_of(title)):
            if "theirs" not in left and "(" not in left.split("=")[0]:
                yield title, left, right, result


@pytest.fixture(scope="module")
def data():
    return rw.load_demo("train"), rw.load_demo("valid")


def test_the_tables_are_read():
    found = list(cases())
    assert {title for title, *_ in found} == set(PROGRAMS)
    assert len(found) > 40 and sum(result == "same" for *_, result in found) > 30
    text = "".join(map(text_of, PROGRAMS))
    rows = [row for row in re.findall(r"^\|.*$", text, re.MULTILINE) if row.startswith("| `")]
    heads = sum("`rw.Ranker` | scores |" in row for row in rows)
    assert len(ROW.findall(text)) == len(rows) - heads


@pytest.mark.slow
@pytest.mark.parametrize(("title", "left", "right", "result"), list(cases()))
def test_both_sides_train(title, left, right, result, data):
    train, valid = data
    module, short, name, base, own = PROGRAMS[title]
    program = pytest.importorskip(module)
    theirs = getattr(program, name)(**{**base, **eval(f"dict({left})")})
    ours = rw.Ranker(**{**own, **eval(f"dict({right})")})
    ours.fit(train)
    if title == "LightGBM":
        theirs.fit(train.X, train.y, group=train.groups.sizes)
    else:
        theirs.fit(train.X, train.y, **{"group_id" if short == "cb" else "qid": train.qid})
    got, expected = ours.predict(valid), theirs.predict(valid.X)
    assert np.unique(expected).size > 1
    if result == "same":
        # Of two splits with the same gain, rounded gradients may choose the other.
        assert np.mean(np.abs(got - expected) < 1e-4) >= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("title", PROGRAMS)
def test_both_sides_of_what_comes_after(title, data, tmp_path, monkeypatch):
    train, valid = data
    module, short, name, base, own = PROGRAMS[title]
    program = pytest.importorskip(module)
    rows = [
        row
        for row in ROW.findall(text_of(title))
        if "(" in row[0].split("=")[0] or "theirs" in row[0]
    ]
    assert len(rows) >= 4
    monkeypatch.chdir(tmp_path)
    theirs = getattr(program, name)(
        **base, **({"eval_metric": "ndcg@10"} if short == "xgb" else {})
    )
    X, y, qid = valid.X, valid.y, valid.qid
    if title == "LightGBM":
        more = {"eval_X": (X,), "eval_y": (y,), "eval_group": [valid.groups.sizes], "eval_at": [10]}
        theirs.fit(train.X, train.y, group=train.groups.sizes, **more)
    elif title == "XGBoost":
        theirs.fit(
            train.X, train.y, qid=train.qid, eval_set=[(X, y)], eval_qid=[qid], verbose=False
        )
    else:
        theirs.fit(train.X, train.y, group_id=train.qid)
    ranker = rw.Ranker(**own, eval_metric="ndcg@10").fit(train, valid=valid)
    scope = {
        short: importlib.import_module(module),
        "rw": rw,
        "theirs": theirs,
        "ranker": ranker,
        "Xv": X,
    }
    for left, right, _ in rows:
        eval(left, scope)
        eval(right, scope)
