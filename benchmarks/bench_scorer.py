"""The scorer against the engines' own predict and ONNX Runtime: `python -m benchmarks.bench_scorer [--models FOLDER]`.

In each round, each contender scores all queries, one after another: a query that is repeated is learnt by heart by the
processor's branch prediction, from which only walks down trees profit. Times are CPU time of the calling thread, which
does all the work, so that other work on the machine counts little; of each query the best of all rounds. Every score
is compared bit by bit. Models are kept in FOLDER and read from there if they exist.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankwood as rw
from rankwood.forest import Forest, forest_of
from rankwood.forest.score.fast import prepared

FEATURES, MISSING, QUERIES = 136, 0.05, 24
LENGTHS = (1, 10, 50, 100, 1000)
SIZES = (1000, 100)
ENGINES: dict[str, dict[str, Any]] = {
    "lightgbm": {"objective": "queryrmse", "num_leaves": 64, "extra_trees": False},
    "xgboost": {"objective": "queryrmse", "num_leaves": 64, "min_child_weight": 5.0},
    "catboost": {"objective": "queryrmse", "max_depth": 6},
}
COLD = """
import sys, time
import numpy as np, rankwood as rw
from rankwood.forest.score.fast import prepared
forest, X = rw.Forest.load(sys.argv[1]), np.load(sys.argv[2])
start = time.process_time()
fast = prepared(forest)
fast.scores(X[:100])
print(time.process_time() - start)
"""

Score = Callable[[np.ndarray], np.ndarray]


class Row(NamedTuple):
    """Microseconds a document of the scorer and of another program."""

    engine: str
    trees: int
    documents: int
    ours: float
    other: float
    against: str
    bar: float

    def text(self) -> str:
        """Return a row of the table."""
        ratio = self.other / self.ours
        met = "yes" if ratio >= self.bar else "**no**"
        bar, met = (f"{self.bar:g}", met) if self.bar else ("-", "-")
        return (
            f"| {self.engine} | {self.trees} | {self.documents} | {self.against} | {self.other:.2f} | "
            f"{self.ours:.2f} | {ratio:.1f} | {bar} | {met} |"
        )


def documents(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features of several kinds, 5 % of them missing, and labels that depend on half of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, FEATURES))
    X[:, ::3] = np.round(X[:, ::3] * 4)
    X[:, 1::5] = np.exp(X[:, 1::5] * 2)
    X[rng.random(X.shape) < MISSING] = np.nan
    known = np.nan_to_num(X)
    weights = np.random.default_rng(0).standard_normal(40)
    own = known[:, :40] @ weights + np.sin(known[:, 40:60]).sum(1)
    own += 3 * rng.standard_normal(rows)
    return X, np.digitize(own, np.quantile(own, [0.5, 0.75, 0.9, 0.97]))


def ranker_of(engine: str, trees: int, folder: Path) -> Any:
    """Return a trained ranker, from the folder if it is there."""
    path = folder / f"{engine}-{trees}.json"
    if not path.exists():
        X, y = documents(12_000, 1)
        ranker = rw.Ranker(
            engine=engine,
            n_estimators=trees,
            early_stopping_rounds=None,
            colsample_bytree=0.3,
            **ENGINES[engine],
        )
        ranker.fit(rw.RankingData(X, y, group=[100] * 120)).save(path)
    return rw.Ranker.load(path)


def engine_predict(ranker: Any) -> tuple[str, Score]:
    """Return the engine's own call on one thread."""
    booster = ranker.model_.loaded()
    if ranker.engine_ == "lightgbm":
        return "Booster.predict(num_threads=1)", lambda X: booster.predict(X, num_threads=1)
    if ranker.engine_ == "xgboost":
        booster.set_param({"nthread": 1})
        return "Booster.inplace_predict", lambda X: booster.inplace_predict(
            X, predict_type="margin"
        )
    return "CatBoost.predict(thread_count=1)", lambda X: booster[0].predict(
        X, prediction_type="RawFormulaVal", thread_count=1
    )


def onnx_predict(forest: Forest) -> Score:
    """Return ONNX Runtime on one thread: a TreeEnsembleRegressor in double precision."""
    import onnx
    import onnxruntime

    fields: dict[str, list[Any]] = {
        name: [] for name in ("tree", "node", "feature", "value", "mode")
    }
    fields |= {
        name: [] for name in ("yes", "no", "missing", "leaf_tree", "leaf_node", "leaf_value")
    }
    for t in range(forest.n_trees):
        first, nodes = (
            int(forest.first_node[t]),
            int(forest.first_node[t + 1] - forest.first_node[t]),
        )
        leaf = int(forest.first_leaf[t])

        def place(child: int, first: int = first, nodes: int = nodes, leaf: int = leaf) -> int:
            return child - first if child >= 0 else nodes + ~child - leaf

        for i in range(first, first + nodes):
            row = (t, i - first, int(forest.feature[i]), float(forest.threshold[i]), "BRANCH_LEQ")
            row += (place(int(forest.left[i])), place(int(forest.right[i])))
            for name, value in zip(
                list(fields)[:8], (*row, int(forest.missing_left[i])), strict=True
            ):
                fields[name].append(value)
        for i in range(nodes + 1):
            row = (t, nodes + i, 0, 0.0, "LEAF", 0, 0, 0)
            for name, value in zip(list(fields)[:8], row, strict=True):
                fields[name].append(value)
            fields["leaf_tree"].append(t)
            fields["leaf_node"].append(nodes + i)
            fields["leaf_value"].append(float(forest.leaf_value[leaf + i]))
    double = onnx.TensorProto.DOUBLE
    node = onnx.helper.make_node(
        "TreeEnsembleRegressor",
        ["X"],
        ["Y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=fields["tree"],
        nodes_nodeids=fields["node"],
        nodes_featureids=fields["feature"],
        nodes_values_as_tensor=onnx.helper.make_tensor(
            "v", double, [len(fields["value"])], fields["value"]
        ),
        nodes_modes=fields["mode"],
        nodes_truenodeids=fields["yes"],
        nodes_falsenodeids=fields["no"],
        nodes_missing_value_tracks_true=fields["missing"],
        target_treeids=fields["leaf_tree"],
        target_nodeids=fields["leaf_node"],
        target_ids=[0] * len(fields["leaf_node"]),
        target_weights_as_tensor=onnx.helper.make_tensor(
            "w", double, [len(fields["leaf_value"])], fields["leaf_value"]
        ),
    )
    graph = onnx.helper.make_graph(
        [node],
        "forest",
        [onnx.helper.make_tensor_value_info("X", double, [None, forest.n_features])],
        [onnx.helper.make_tensor_value_info("Y", onnx.TensorProto.FLOAT, [None, 1])],
    )
    versions = [onnx.helper.make_opsetid("ai.onnx.ml", 3), onnx.helper.make_opsetid("", 18)]
    model = onnx.helper.make_model(graph, opset_imports=versions, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )
    return lambda X: session.run(None, {"X": X})[0][:, 0]


def microseconds(
    contenders: dict[str, Score], queries: list[np.ndarray], rounds: int
) -> dict[str, float]:
    """Return CPU time a document: of each query the best of all rounds, contenders in turn."""
    best = {name: np.full(len(queries), np.inf) for name in contenders}
    for _ in range(rounds):
        for name, score in contenders.items():
            for i, query in enumerate(queries):
                start = time.thread_time()
                score(query)
                best[name][i] = min(best[name][i], time.thread_time() - start)
    return {name: 1e6 * found.sum() / sum(map(len, queries)) for name, found in best.items()}


def rows_of(ranker: Any, trees: int, X: np.ndarray, rounds: int) -> list[Row]:
    """Return the rows of one model, for each length of query."""
    against, engine = engine_predict(ranker)
    scorer = ranker.scorer()
    contenders: dict[str, Score] = {"ours": scorer, "engine": engine}
    with_onnx = ranker.engine_ == "lightgbm" and trees == 1000
    if with_onnx:
        contenders["onnx"] = onnx_predict(ranker.forest())
        assert np.array_equal(contenders["onnx"](X[:500]), scorer(X[:500]).astype(np.float32))
    rows = []
    for n in LENGTHS:
        queries = [X[i * n : (i + 1) * n].copy() for i in range(min(QUERIES, len(X) // n))]
        for query in queries:
            assert np.array_equal(scorer(query), engine(query))
        took = microseconds(contenders, queries, rounds)
        full = ranker.engine_ == "lightgbm" and trees == 1000
        bar = 1.0 if n < 50 else 20.0 if full and n >= 100 else 5.0
        rows.append(Row(ranker.engine_, trees, n, took["ours"], took["engine"], against, bar))
        if with_onnx:
            bar = 8.0 if n == 100 else 0.0
            rows.append(
                Row(ranker.engine_, trees, n, took["ours"], took["onnx"], "ONNX Runtime", bar)
            )
        print(*(row.text() for row in rows[-1 - with_onnx :]), sep="\n", flush=True)
    return rows


def preparing(ranker: Any) -> float:
    """Return the seconds, CPU time, from a model to a prepared forest: the best of three."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        prepared(forest_of(ranker.model_))
        seconds.append(time.process_time() - start)
    return min(seconds)


def compiling(ranker: Any, X: np.ndarray) -> tuple[float, float]:
    """Return the seconds, CPU time, of the first scores in a new process: without and with code on disk."""
    with tempfile.TemporaryDirectory() as folder:
        forest, rows = Path(folder) / "forest.json", Path(folder) / "X.npy"
        ranker.forest().save(forest)
        np.save(rows, X[:100])
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        cold, warm = (
            float(
                subprocess.run(
                    [sys.executable, "-c", COLD, str(forest), str(rows)],
                    env=env,
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
            for _ in range(2)
        )
    return cold, warm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, help="folder in which models are kept")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = args.models or Path(folder)
        X, _ = documents(12_000, 2)
        print("| engine | trees | documents | against | other, us | ours, us | times | bar | met |")
        print("|---|---|---|---|---|---|---|---|---|")
        for trees in SIZES:
            for engine in ENGINES:
                rows_of(ranker_of(engine, trees, models), trees, X, args.rounds)
        print(
            "\n| engine | nodes | preparing, s | first scores, s | with code on disk, s |\n|---|---|---|---|---|"
        )
        for engine in ENGINES:
            ranker = ranker_of(engine, 1000, models)
            cold, warm = compiling(ranker, X)
            nodes = ranker.forest().feature.size
            print(
                f"| {engine} | {nodes:,} | {preparing(ranker):.2f} | {cold:.2f} | {warm:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
