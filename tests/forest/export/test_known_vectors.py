"""Trees and scores of the targets' own test suites: what their programs return, our files and scorers return."""

import json

import numpy as np
import pytest

from rankwood.forest import Forest
from rankwood.forest.export.reference import reference_scores
from rankwood.forest.export.targets import vespa
from tests.forest.export.test_leaves import text_of
from tests.oracles import naive_targets

BELOW = np.float32(-np.inf)


def forest_of(trees, names, float32=False):
    """Return a forest of nested tuples (column, threshold, missing_left, left, right) or leaf values."""
    columns = {name: [] for name in ("feature", "threshold", "missing_left", "left", "right")}
    leaves, first_node, first_leaf = [], [0], [0]

    def add(tree):
        if not isinstance(tree, tuple):
            leaves.append(tree)
            return ~(len(leaves) - 1)
        node = len(columns["left"])
        for name, value in zip(columns, (*tree[:3], 0, 0), strict=True):
            columns[name].append(value)
        columns["left"][node], columns["right"][node] = add(tree[3]), add(tree[4])
        return node

    for tree in trees:
        add(tree)
        first_node.append(len(columns["left"]))
        first_leaf.append(len(leaves))
    nodes = first_node[-1]
    return Forest(
        **columns,
        engine="xgboost" if float32 else "lightgbm",
        leaf_value=leaves,
        first_node=first_node,
        first_leaf=first_leaf,
        cover=np.zeros(nodes),
        leaf_cover=np.zeros(len(leaves)),
        gain=np.zeros(nodes),
        category_first=np.zeros(nodes + 1, int),
        category=[],
        categorical=np.zeros(nodes, bool),
        base=0.0,
        float32_input=float32,
        float32_sum=float32,
        n_features=len(names),
        feature_names=names,
    )


def scores(format, forest, X):
    """Return what our reference scorer and the plain loops make of the file."""
    text, trees, semantics = text_of(format, forest)
    X = np.array(X, float)
    loops = [naive_targets.SCORERS[format](text, forest.names, row)[1] for row in X]
    return reference_scores(trees, X, semantics[0]).score, loops


def test_elasticsearch_regression_inference():
    """EnsembleInferenceModelTests: two trees, whose sum is the score; a field that is missing goes left."""
    first = (0, 0.5, True, 0.3, (1, 0.8, True, 0.1, 0.2))
    second = (0, 0.5, True, 1.5, 0.9)
    forest = forest_of([first, second], ("foo", "bar"))
    for found in scores("elasticsearch", forest, [[0.4, 0.0], [2.0, 0.7], [0.3, np.nan]]):
        np.testing.assert_allclose(found, [1.8, 1.0, 1.8], rtol=1e-7)


@pytest.mark.parametrize("missing_left, expected", [(True, 0.5), (False, 0.2)])
def test_plugin_split(missing_left, expected):
    """XGBoostJsonParserTests: a value equal to the split condition goes to `no`; NaN to `missing`."""
    below = float(np.nextafter(np.float32(0.123), BELOW))
    forest = forest_of([(0, below, missing_left, 0.5, 0.2)], ("feat1",), float32=True)
    text, _, _ = text_of("ltr-plugin", forest)
    (tree,) = json.loads(json.loads(text)["model"]["model"]["definition"])
    assert np.float32(tree["split_condition"]) == np.float32(0.123)
    values = [[0.124], [0.122], [float(np.float32(0.123))], [np.nan]]
    for found in scores("ltr-plugin", forest, values):
        wanted = np.array([0.2, 0.5, 0.2, expected], np.float32)
        np.testing.assert_array_equal(np.float32(found), wanted)


def test_solr_multiple_additive_trees():
    """TestMultipleAdditiveTreesModel: 30 if the title matches, -120 if not; the second tree is -10 twice."""
    device = (2, 0.0, True, 50.0, 65.0)
    tree = (0, 0.5, False, -100.0, (1, 10.0, True, device, 75.0))
    forest = forest_of([tree, -20.0], ("matchedTitle", "constantScore", "userDevice"))
    rows = [[1, 1, 0], [0, 1, 0], [1, 1, 1], [np.nan, np.nan, np.nan]]
    for found in scores("solr", forest, rows):
        np.testing.assert_array_equal(found, [30.0, -120.0, 45.0, 30.0])


#: Trees of Vespa's regression.json: (feature, threshold or categories, missing values go left, left, right).
VESPA = [
    (
        *("numerical_2", 0.46643291586559305, True, 2.1594397038037663),
        ("categorical_2", "2||3||4", False, 2.235297305276056, 2.1792953471546546),
    ),
    (
        *("categorical_1", "3||4", False, 0.03070842919354316),
        ("numerical_1", 0.5102250691730842, True, -0.04439151147520909, 0.005117411709368601),
    ),
    (
        *("numerical_2", 0.668665477622446, True),
        ("numerical_2", 0.008118820676863816, True, -0.15361238490967524, -0.01192330846157292),
        0.03499044894987518,
    ),
    (
        *("numerical_1", 0.5201391072644542, True, -0.02141000620783247),
        ("categorical_1", "0||1", False, -0.004121485787596721, 0.04534090904886873),
    ),
    (
        *("categorical_2", "2||3||4", False),
        ("numerical_2", 0.27283279016959255, True, -0.01924803254356527, 0.03643772842347651),
        -0.02701711918923075,
    ),
]
VESPA_NAMES = ("numerical_1", "numerical_2", "categorical_1", "categorical_2")
WORDS = [["a", "b", "c", "d", "e"], ["i", "j", "k", "l", "m"]]


def vespa_text():
    """Return these trees as Vespa's importer takes them."""

    def node(tree):
        if not isinstance(tree, tuple):
            return {"leaf_value": tree}
        name, threshold, missing_left, left, right = tree
        return {
            "split_feature": VESPA_NAMES.index(name),
            "threshold": threshold,
            "decision_type": "==" if isinstance(threshold, str) else "<=",
            "default_left": missing_left,
            "left_child": node(left),
            "right_child": node(right),
        }

    model = {
        "objective": "regression",
        "feature_names": VESPA_NAMES,
        "tree_info": [{"tree_structure": node(tree)} for tree in VESPA],
        "pandas_categorical": WORDS,
    }
    return json.dumps(model, indent=2)


@pytest.mark.parametrize("large", [True, False])
def test_vespa_regression(large):
    """LightGBMImportEvaluationTestCase: four documents, features that aren't given are missing."""
    given = [(None,) * 4, (0.1, 0.2, "a", "i"), (None, 0.5, "b", "j"), (0.7, 0.8, None, "m")]
    expected = [1.91300868, 2.05469776, 2.0745534, 2.3571838]
    rows = [[np.nan if value is None else value for value in row] for row in given]
    loops = [naive_targets.vespa(vespa_text(), VESPA_NAMES, row, large)[1] for row in rows]
    np.testing.assert_allclose(loops, expected, rtol=0, atol=1e-6)
    codes = [
        [
            *row[:2],
            *(w.index(v) if isinstance(v, str) else v for w, v in zip(WORDS, row[2:], strict=True)),
        ]
        for row in rows
    ]
    evaluator = vespa.semantics(None)[0 if large else 1]
    found = reference_scores(
        vespa.read(vespa_text(), VESPA_NAMES), np.array(codes, float), evaluator
    )
    np.testing.assert_allclose(found.score, expected, rtol=0, atol=1e-6)
