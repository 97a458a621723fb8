"""Every document keeps its leaf in every target: forests made by hand, hard rows, scorers in plain loops."""

from dataclasses import replace

import numpy as np
import pytest

from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel, with_missing_as_zero
from rankwood.forest.export.exporting import ExportOptions, TrainedForest, export_forest
from rankwood.forest.export.reference import reference_scores
from rankwood.forest.export.row_check import Rows
from rankwood.forest.export.target_table import TARGETS, module_of
from tests.helpers.made_forests import (
    documents,
    finite,
    hard,
    labelled,
    made_forest,
    narrow,
)
from tests.oracles import naive_targets

FORESTS = {
    "doubles": made_forest(0),
    "floats": made_forest(1, float32=True),
    "plain": made_forest(2, odd=0.0),
    "one leaf": made_forest(3, sizes=(1,)),
    "no tree": made_forest(4, sizes=()),
}
#: Formats whose features or thresholds are float32.
NARROW = [name for name, target in TARGETS.items() if target.float32]


def rows_for(format, forest, seed=0):
    """Return rows that the page promises to be exact."""
    X = np.concatenate([documents(30, seed), hard(forest, 15, seed)])
    if format in NARROW:
        X = narrow(X)
    if format == "elasticsearch":
        X = finite(X)
    return X[~missed_by_solr(forest, X)] if format == "solr" else X


def missed_by_solr(forest, X):
    """Return the rows with a number between a threshold and what Solr compares with: the limit that the page names."""
    solr = cuts.at_most_solr(forest.threshold)
    want = cuts.floor32(forest.threshold)
    found = np.zeros(len(X), bool)
    for node in np.flatnonzero(~solr.exact):
        x = X[:, forest.feature[node]]
        found |= (x > solr.threshold[node] + np.float32(1e-6)) & (x <= want[node])
    return found


def text_of(format, forest, shift=0.0):
    """Return the file of a forest, and what the reference scorer reads it as."""
    module = module_of(TARGETS[format])
    model = ExportedModel(forest, forest.names, "m", shift)
    pieces = list(module.write(model))
    content = b"".join(pieces) if isinstance(pieces[0], bytes) else "".join(pieces)
    return content, module.read(content, model.names), module.semantics(model)


def expressible(format, forest):
    return with_missing_as_zero(forest) if format == "ranklib" else forest


@pytest.mark.parametrize("format", naive_targets.SCORERS)
@pytest.mark.parametrize("kind", FORESTS)
def test_no_row_changes_its_leaf(format, kind):
    forest = labelled(expressible(format, FORESTS[kind]))
    X = rows_for(format, forest)
    text, _, _ = text_of(format, forest)
    scorer = naive_targets.SCORERS[format]
    found = np.array([scorer(text, forest.names, row)[0] for row in X])
    assert len(X) > 10 and found.shape == (len(X), max(forest.n_trees, format != "json"))
    np.testing.assert_array_equal(
        found[:, : forest.n_trees], forest.leaf(X) + forest.first_leaf[:-1]
    )


@pytest.mark.parametrize("format", naive_targets.SCORERS)
@pytest.mark.parametrize("kind", ["doubles", "floats"])
def test_the_reference_scorer_equals_plain_loops(format, kind):
    forest = expressible(format, FORESTS[kind])
    X = np.concatenate([documents(20), hard(forest, 8)])
    text, trees, semantics = text_of(format, forest, shift=1.5)
    scorer = naive_targets.SCORERS[format]
    for evaluator in semantics:
        more = (evaluator.name == "large forest",) if format == "vespa" else ()
        expected = [scorer(text, forest.names, row, *more) for row in X]
        got = reference_scores(trees, X, evaluator)
        values = trees.leaf_value[got.leaf]
        np.testing.assert_array_equal(
            values[:, : forest.n_trees],
            np.array([e[0] for e in expected], values.dtype)[:, : forest.n_trees],
        )
        tolerance = 1e-7 if format == "elasticsearch" else 0.0  # a sum in other steps, then float32
        np.testing.assert_allclose(got.score, [e[1] for e in expected], rtol=tolerance, atol=0)


@pytest.mark.parametrize("format", [f for f in TARGETS if f != "ranklib"])
def test_scores_are_those_of_the_forest_and_the_shift(format, tmp_path):
    forest = FORESTS["doubles"]
    X = rows_for(format, forest)
    rows = Rows(X, np.array([0, len(X)]), np.arange(len(X)))
    report = export_forest(
        TrainedForest(forest, {}, rows),
        tmp_path / "m",
        format,
        ExportOptions(positive=True, approximate=True),
    )
    assert report.shift > 0
    assert report.check.other_leaf == report.check.by_float32 == 0
    size = np.abs(forest.leaf_value).sum()
    assert report.check.largest_difference <= size * len(forest) * 2.0**-24
    _, trees, semantics = text_of(format, forest, report.shift)
    assert all((reference_scores(trees, X, evaluator).score >= 0).all() for evaluator in semantics)


@pytest.mark.parametrize("name", ["doubles", "floats"])
def test_casts_and_other_comparisons_would_be_found(name):
    """The rows are hard: each shortcut that people take sends some of them elsewhere."""
    forest = FORESTS[name]
    X = rows_for("ltr-plugin", forest)
    wanted = forest.leaf(X)
    with np.errstate(over="ignore", under="ignore"):
        cast = forest.threshold.astype(np.float32).astype(np.float64)
    wrong = [
        replace(forest, threshold=np.nextafter(forest.threshold, -np.inf)),  # < for <=
        replace(forest, missing_left=~forest.missing_left),
        replace(forest, threshold=np.where(np.isinf(forest.threshold), 0, forest.threshold)),
    ]
    if name == "doubles":
        wrong.append(replace(forest, threshold=cast))
    for other in wrong:
        assert (other.leaf(X) != wanted).any()


def test_ranklib_has_no_blanks_between_tags():
    text, _, _ = text_of("ranklib", expressible("ranklib", FORESTS["doubles"]))
    assert not naive_targets.blank_between_tags(text)
    assert text.startswith("## LambdaMART\n")


def test_solr_differs_next_to_zero_only():
    forest = labelled(FORESTS["doubles"])
    X = narrow(hard(forest, 60))
    text, _, _ = text_of("solr", forest)
    found = np.array([naive_targets.solr(text, forest.names, row)[0] for row in X])
    other = (found[:, : len(forest)] != forest.leaf(X) + forest.first_leaf[:-1]).any(axis=1)
    assert other.any() and not (other & ~missed_by_solr(forest, X)).any()
