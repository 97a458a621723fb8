"""Export and load of 1,000 trees of 64 leaves: CPU seconds, sizes, and the peak of memory by the model's text.

`python -m benchmarks.bench_export [--write] [--model FILE]`; with --write the table goes to docs/export.md, and --model
keeps the trained model for the next time. Needs Linux, for the peak.
"""

import argparse
import multiprocessing
import re
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.forest.export.exporting import ExportOptions, TrainedForest, export_forest
from rankwood.forest.export.target_table import TARGETS, module_of

PAGE = Path(__file__).parent.parent / "docs" / "export.md"
TREES, LEAVES, FEATURES = 1000, 64, 136


def model() -> rw.Ranker:
    """Train a model of the size that is measured."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.digitize(np.nan_to_num(X[:, :9]).sum(1) + rng.standard_normal(len(X)), [0, 2, 4])
    params = {"n_estimators": TREES, "num_leaves": LEAVES, "min_child_samples": 1}
    params |= {"min_child_weight": 0.0, "learning_rate": 0.02, "n_jobs": 1, "verbose": False}
    return rw.Ranker(**params).fit(rw.RankingData(X, y, group=[30] * 100))


def memory(name: str) -> float:
    """Return a line of the process's status, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1e3  # type: ignore[index]


def measure(forest: rw.Forest, format: str, folder: str) -> dict[str, float]:
    """Return CPU seconds, the best of three rounds, and the peak of memory of writing and of reading back."""
    module, target = module_of(TARGETS[format]), TrainedForest(forest, {})
    if format == "onnx":
        module.library()  # its import isn't part of the work
    path = Path(folder) / format
    options = ExportOptions(missing="zero" if format == "ranklib" else "model", overwrite=True)
    write, read = [], []
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    for _ in range(3):
        start = time.process_time()
        report = export_forest(target, path, format, options)
        written = time.process_time()
        load(module, path, forest)
        read.append(time.process_time() - written)
        write.append(written - start)
    resident = memory("VmHWM") - before
    tracemalloc.start()  # sees memory that the process has kept from before; not that of libraries in C
    export_forest(target, path, format, options)
    load(module, path, forest)
    peak = max(resident, tracemalloc.get_traced_memory()[1] / 1e6)
    return {"write": min(write), "read": min(read), "size": report.bytes / 1e6, "peak": peak}


def load(module: Any, path: Path, forest: rw.Forest) -> None:
    """Read a file as its reference scorer does."""
    content = path.read_bytes() if path.name == "onnx" else path.read_text()
    module.read(content, forest.names)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--model")
    args = parser.parse_args()
    if args.model and Path(args.model).exists():
        ranker = rw.Ranker.load(args.model)
    else:
        ranker = model()
        if args.model:
            ranker.save(args.model)
    text = len(ranker.model_.text) / 1e6
    start = time.process_time()
    forest = ranker.forest()
    seconds = time.process_time() - start
    lines = [
        f"The model's text has {text:.1f} MB and {forest.leaf_value.size:,} leaves; its forest takes {seconds:.1f} s.",
        "",
        "| format | write | read back | together | file | peak | times the model |",
        "|---|---|---|---|---|---|---|",
    ]
    # A process for each format: memory that one has freed would hide the peak of the next.
    forking = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        for format in TARGETS:
            with forking.Pool(1) as pool:
                m = pool.apply(measure, (forest, format, folder))
            both = m["write"] + m["read"]
            lines.append(
                f"| `{format}` | {m['write']:.2f} s | {m['read']:.2f} s | {both:.2f} s | {m['size']:.1f} MB "
                f"| {m['peak']:.0f} MB | {m['peak'] / text:.1f} |"
            )
            print(lines[-1], flush=True)
    print("\n".join(lines))
    if args.write:
        page = PAGE.read_text(encoding="utf-8")
        found = re.sub(
            r"<!-- bench_export -->.*?(?=\n## |\Z)",
            lambda _: "<!-- bench_export -->\n\n" + "\n".join(lines) + "\n",
            page,
            flags=re.DOTALL,
        )
        PAGE.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
