"""Models of all engines: `ranker.export(check=...)` on hard rows finds no row in another leaf, for any target."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.forest.export.target_table import TARGETS
from tests.forest.export.test_leaves import missed_by_solr
from tests.helpers.forest_models import MODELS, SMALL, features
from tests.helpers.hard_rows import hard_rows
from tests.helpers.made_forests import finite, narrow

#: What the targets tell apart: both engines of float32, missing values, dropped trees, noise, sizes of trees.
CHOSEN = ["lightgbm", "lightgbm-large", "lightgbm-langevin", "lightgbm-dart", "xgboost"]
CHOSEN += ["xgboost-dart", "catboost", "catboost-max"]
WITH_CATEGORIES = ["lightgbm-categorical", "xgboost-categorical"]


def table():
    """Return features of every kind, without numbers below 1e-10, which Solr can't tell apart."""
    X = features()
    X[:, 2] = np.maximum(X[:, 2], 1e-3)
    X[:, 3] *= 1e34
    return X


@pytest.fixture(scope="module")
def rankers():
    X = table()
    Z = np.nan_to_num(X)
    own = Z[:, 0] + Z[:, 1] + np.isnan(X[:, 9]) + (Z[:, 5] % 3) + np.sign(Z[:, 3]) + np.log(Z[:, 2])
    y = np.digitize(own, np.quantile(own, [0.5, 0.75, 0.9]))
    train = rw.RankingData(X, y, group=[20] * 30)
    names = [*CHOSEN, *WITH_CATEGORIES]
    return {
        name: rw.Ranker(**{**SMALL, "n_estimators": 6, **MODELS[name]}).fit(train) for name in names
    }


def rows_for(format, forest):
    """Return the rows that the page promises to be exact, and all hard rows."""
    with np.errstate(all="ignore"):
        every = np.concatenate([table()[:60], hard_rows(forest, table(), 30)])
    promised = narrow(every) if TARGETS[format].float32 else every
    if format == "elasticsearch":
        promised = finite(promised)
    if format == "solr":
        promised = promised[~missed_by_solr(forest, promised)]
    return promised


@pytest.mark.parametrize("name", CHOSEN)
def test_no_row_in_another_leaf(rankers, name, tmp_path):
    ranker = rankers[name]
    forest = ranker.forest()
    for format in TARGETS:
        X = rows_for(format, forest)
        zero = format == "ranklib"
        if zero:
            X = np.nan_to_num(X, nan=0.0)
        report = ranker.export(
            tmp_path / f"m.{format}", format, check=X, missing="zero" if zero else "model"
        )
        assert report.check.rows == len(X) > 100
        assert report.check.other_leaf == 0, format
        size = sum(
            np.abs(forest.leaf_value[a:b]).max()
            for a, b in zip(forest.first_leaf, forest.first_leaf[1:], strict=False)
        )
        bound = 0 if format in ("c", "json") else (size + abs(forest.base)) * len(forest) * 2.0**-23
        assert report.check.largest_difference <= bound, format
        assert report.trees == len(forest)


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_categories(rankers, name, tmp_path):
    ranker = rankers[name]
    assert ranker.forest().categorical.any()
    for format in TARGETS:
        file = tmp_path / format
        if format in ("c", "json"):
            X = rows_for(format, ranker.forest())
            check = ranker.export(file, format, check=X).check
            assert (check.other_leaf, check.largest_difference, check.other_rank) == (0, 0.0, 0)
            continue
        with pytest.raises(rw.InputError, match="categor"):
            ranker.export(file, format)
        assert not file.exists()


def test_numbers_between_two_float32_are_counted_apart(rankers, tmp_path):
    ranker = rankers["lightgbm"]
    forest = ranker.forest()
    with np.errstate(all="ignore"):
        X = finite(hard_rows(forest, table(), 60))
    check = ranker.export(tmp_path / "m", "ltr-plugin", check=X).check
    assert check.other_leaf == check.by_float32 > 0


def test_infinities_are_missing_in_elasticsearch(rankers, tmp_path):
    ranker = rankers["lightgbm"]
    X = table()[:50].copy()
    X[:, 0] = np.inf
    check = ranker.export(tmp_path / "m", "elasticsearch", check=X).check
    assert check.other_leaf > 0 and check.by_float32 == 0


def test_treelite_reads_lightgbm_text(rankers, tmp_path):
    """The page says so."""
    treelite = pytest.importorskip("treelite")
    ranker = rankers["lightgbm"]
    (tmp_path / "m.txt").write_text(ranker.model_.booster.model_to_string())
    model = treelite.frontend.load_lightgbm_model(tmp_path / "m.txt")
    found = treelite.gtil.predict(model, table(), nthread=1).ravel()
    np.testing.assert_allclose(found, ranker.predict(table()), rtol=0, atol=1e-12)
