"""Files are run by the programs they are for, where these are installed: ONNX Runtime, gcc, Node, Java, treelite."""

import ctypes
import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import rankwood as rw
from rankwood.forest.export.exported_model import ExportedModel
from rankwood.forest.export.target_table import TARGETS, module_of
from tests.helpers.made_forests import documents, hard, labelled, made_forest
from tests.helpers.paths import DOCS

PAGE = (DOCS / "export.md").read_text(encoding="utf-8")
KINDS = {"doubles": made_forest(0), "floats": made_forest(1, float32=True)}


def categorical(forest):
    """Return a forest some of whose splits are on categories."""
    chosen = np.arange(forest.feature.size) % 3 == 0
    sets = [[0, 2, 5, 6][: 1 + i % 4] if c else [] for i, c in enumerate(chosen)]
    return replace(
        forest,
        categorical=chosen,
        category_first=np.cumsum([0, *map(len, sets)]),
        category=[c for own in sets for c in own],
        threshold=np.where(chosen, 0.0, forest.threshold),
    )


KINDS |= {f"{name} and categories": categorical(forest) for name, forest in KINDS.items()}


def rows_of(forest):
    X = np.concatenate([documents(30), hard(forest, 40)])
    X[::3] = np.where(np.isnan(X[::3]), np.nan, np.clip(np.trunc(X[::3]), -1, 7))
    return X


def content(format, forest, shift=0.0):
    pieces = list(module_of(TARGETS[format]).write(ExportedModel(forest, forest.names, "m", shift)))
    return b"".join(pieces) if isinstance(pieces[0], bytes) else "".join(pieces)


def only(forest, tree):
    """Return the forest of one tree."""
    nodes = slice(forest.first_node[tree], forest.first_node[tree + 1])
    leaves = slice(forest.first_leaf[tree], forest.first_leaf[tree + 1])

    def inside(child):
        return np.where(child >= 0, child - nodes.start, ~(~child - leaves.start))

    by_node = {
        name: getattr(forest, name)[nodes]
        for name in ("feature", "threshold", "missing_left", "cover", "gain", "categorical")
    }
    return replace(
        forest,
        **by_node,
        left=inside(forest.left[nodes]),
        right=inside(forest.right[nodes]),
        leaf_value=forest.leaf_value[leaves],
        leaf_cover=forest.leaf_cover[leaves],
        first_node=[0, nodes.stop - nodes.start],
        first_leaf=[0, leaves.stop - leaves.start],
        category_first=np.zeros(nodes.stop - nodes.start + 1, int),
        category=[],
    )


@pytest.mark.parametrize("name", ["doubles", "floats"])
def test_onnx_runtime(name):
    runtime = pytest.importorskip("onnxruntime")
    forest = KINDS[name]
    X = rows_of(forest)

    def run(forest):
        session = runtime.InferenceSession(content("onnx", forest))
        return session.run(None, {"features": X})[0][:, 0]

    total = run(forest)
    assert total.dtype == np.float32
    expected = forest.predict(X)
    if name == "doubles":
        np.testing.assert_array_equal(total, expected.astype(np.float32))
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-6 * len(forest))
    for tree in range(len(forest)):  # alone and labelled, a tree tells its leaf
        np.testing.assert_array_equal(
            run(labelled(only(forest, tree))), forest.leaf(X)[:, tree], str(tree)
        )


def test_the_onnx_file_says_what_it_is():
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(content("onnx", KINDS["doubles"]))
    onnx.checker.check_model(model)
    assert model.metadata_props[0].value.split("\n") == list(KINDS["doubles"].names)
    assert (model.producer_name, model.producer_version) == ("rankwood", rw.__version__)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", KINDS)
def test_gcc(name, tmp_path):
    forest = KINDS[name]
    (tmp_path / "m.c").write_text(content("c", forest, shift=1.5))
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(
        ["gcc", *flags, "m.c", "-o", "m.so", "-lm"], cwd=tmp_path, check=True, timeout=60
    )
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    library.rankwood_score.restype = ctypes.c_double
    pointer = ctypes.POINTER(ctypes.c_double)
    X = np.ascontiguousarray(rows_of(forest))
    found = [library.rankwood_score(row.ctypes.data_as(pointer)) for row in X]
    np.testing.assert_array_equal(found, replace(forest, base=forest.base + 1.5).predict(X))
    names = (ctypes.c_char_p * forest.n_features).in_dll(library, "rankwood_feature_name")
    assert [name.decode() for name in names] == list(forest.names)


def walker(language):
    """Return the walker that the page shows."""
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]


def numbers(values):
    """Return numbers as text that every language reads."""
    return [repr(float(v)) for v in values]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("name", KINDS)
def test_javascript(name, tmp_path):
    forest = KINDS[name]
    X = rows_of(forest)
    (tmp_path / "m.json").write_text(content("json", forest))
    (tmp_path / "x.json").write_text(json.dumps([numbers(row) for row in X]))
    number = '(t) => Number(t.replace("nan", "NaN").replace("inf", "Infinity"))'
    script = (
        f'{walker("js")}\nconst fs = require("fs");\nconst m = load(fs.readFileSync("m.json"));\n'
        f'for (const row of JSON.parse(fs.readFileSync("x.json"))) console.log(score(m, row.map({number})));\n'
    )
    done = subprocess.run(
        ["node", "-e", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    np.testing.assert_array_equal([float(line) for line in done.stdout.split()], forest.predict(X))


MAIN = """
import java.nio.file.*;
import java.util.*;

class Main {
    static Scanner in;
    static double next() { return Double.parseDouble(in.next()); }
    static int[] ints() {
        int[] a = new int[in.nextInt()];
        for (int i = 0; i < a.length; i++) a[i] = in.nextInt();
        return a;
    }
    static double[] doubles() {
        double[] a = new double[in.nextInt()];
        for (int i = 0; i < a.length; i++) a[i] = next();
        return a;
    }
    public static void main(String[] args) throws Exception {
        for (String file : args) {
        in = new Scanner(Files.newInputStream(Paths.get(file)));
        Walker m = new Walker();
        m.firstNode = ints(); m.firstLeaf = ints(); m.feature = ints(); m.left = ints(); m.right = ints();
        m.categoryFirst = ints(); m.category = ints(); m.threshold = doubles(); m.leafValue = doubles();
        int[] missing = ints(); m.missingLeft = new boolean[missing.length];
        for (int i = 0; i < missing.length; i++) m.missingLeft[i] = missing[i] == 1;
        int[] flags = ints(); m.float32Input = flags[0] == 1; m.float32Sum = flags[1] == 1; m.lightgbm = flags[2] == 1;
        m.base = next();
        int rows = in.nextInt();
        for (int i = 0; i < rows; i++) System.out.println(m.score(doubles()));
        }
    }
}
"""


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
def test_java(tmp_path):
    (tmp_path / "Main.java").write_text(MAIN + walker("java"))
    expected = []
    for name in ("doubles", "floats"):
        forest = KINDS[f"{name} and categories"]
        X = rows_of(forest)
        expected += forest.predict(X).tolist()
        file = json.loads(content("json", forest))
        lists = ["first_node", "first_leaf", "feature", "left", "right", "category_first"]
        parts = [file[name] for name in (*lists, "category", "threshold", "leaf_value")]
        flags = [file["float32_input"], file["float32_sum"], file["engine"] == "lightgbm"]
        parts += [list(map(int, file["missing_left"])), list(map(int, flags))]
        words = [f"{len(part)} {' '.join(map(str, part))}" for part in parts]
        words += [repr(file["base"]), str(len(X))]
        words += [f"{len(row)} {' '.join(numbers(row))}" for row in X]
        text = "\n".join(words).replace("inf", "Infinity").replace("nan", "NaN")
        (tmp_path / name).write_text(text)
    # A JVM starts slowly: it compiles and runs in one go.
    command = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "Main.java", "doubles", "floats"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert not done.stderr
    np.testing.assert_array_equal([float(line) for line in done.stdout.split()], expected)


def test_rankwood_reads_the_json(tmp_path):
    forest = KINDS["doubles and categories"]
    (tmp_path / "m.json").write_text(content("json", forest))
    again = rw.Forest.load(tmp_path / "m.json")
    X = rows_of(forest)
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))
