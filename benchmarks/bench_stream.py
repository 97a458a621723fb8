"""Train on files of three times the memory that a process may take, and compare with training in memory.

    python -m benchmarks.bench_stream     # XGBoost, Parquet and LETOR, 2.5 million documents of 300 features
    python -m benchmarks.bench_stream --without-limit --runs streamed --documents 250000 1000000

Each run is a process of its own. Its limit is RLIMIT_DATA (`ulimit -d`), which counts all private memory that can be
written, from the first import on. The address space (`ulimit -v`) would also count libraries, and pages of files, which
the system can drop at any time; a control group needs rights. All runs of an engine are compared on the same
test queries, by NDCG@10 and a paired permutation test.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import stream_data

PARAMS = {"learning_rate": 0.2, "n_jobs": 1, "verbose": False}
TEST_CHUNKS = 10
#: Freed memory goes back to the system at once, and Arrow reserves none in advance.
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "1000000",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
}


class Watch(threading.Thread):
    """Looks at the memory of this process all the time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = {"VmData": 0, "RssAnon": 0, "VmHWM": 0}

    def look(self) -> None:
        """Take the sizes of this moment, in bytes."""
        for line in Path("/proc/self/status").read_text().splitlines():
            name = line.split(":")[0]
            if name in self.peak:
                self.peak[name] = max(self.peak[name], int(line.split()[1]) * 1024)

    def run(self) -> None:
        """Look 50 times a second."""
        while True:
            self.look()
            time.sleep(0.02)


def child(job: dict[str, Any]) -> dict[str, Any]:
    """Train as a job says, and return what came out."""
    watch = Watch()
    watch.start()
    import rankwood as rw

    ranker = rw.Ranker(**job["params"])
    begin, cpu = time.perf_counter(), time.process_time()
    if job["stream"]:
        columns = {"y": "label", "qid": "query"} if job["files"][0].endswith("parquet") else {}
        ranker.fit(job["files"], **columns, stream=True)
    elif job["files"][0].endswith("txt"):
        sets = [rw.load_letor(name) for name in job["files"]]
        ranker.fit(rw.RankingData.concat(sets))
    else:
        ranker.fit(_in_memory(job["files"]))
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    watch.look()
    return {"seconds": seconds, "cpu": cpu, **watch.peak, "ndcg": _quality(ranker)}


def _in_memory(files: list[str]) -> Any:
    """Return all rows of Parquet files, batch by batch, so that no second copy is held."""
    import pyarrow.parquet as pq

    import rankwood as rw

    opened = [pq.ParquetFile(name) for name in files]
    rows, columns = sum(one.metadata.num_rows for one in opened), opened[0].schema_arrow.names
    X = np.empty((rows, len(columns) - 2), np.float32)
    y, qid, row = np.empty(rows), np.empty(rows, np.int64), 0
    for batch in (batch for one in opened for batch in one.iter_batches(10_000)):
        own = slice(row, row + batch.num_rows)
        qid[own], y[own] = batch.column(0).to_numpy(), batch.column(1).to_numpy()
        for j in range(X.shape[1]):
            X[own, j] = batch.column(j + 2).to_numpy()
        row += batch.num_rows
    return rw.RankingData(X, y, qid=qid)


def _quality(ranker: Any) -> list[float]:
    """Return NDCG@10 of the test queries."""
    import rankwood as rw

    values: list[float] = []
    for number in range(TEST_CHUNKS):
        data = stream_data.chunk(stream_data.TEST + number, ranker.n_features_in_)
        test = rw.RankingData(data.X, data.y, qid=data.qid)
        scores = ranker.model_.predict(test.X)
        values += rw.evaluate("ndcg@10", test, scores).per_query["ndcg@10"].tolist()
    return values


def run(job: dict[str, Any], limit: int | None) -> dict[str, Any]:
    """Run a job in a process of its own, which may take `limit` bytes."""

    def set_limit() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.bench_stream", "--job"]
    done = subprocess.run(
        [*command, json.dumps(job)],
        capture_output=True,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        preexec_fn=set_limit,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"exit status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def row(name: str, found: dict[str, Any], compared: dict[str, Any] | None) -> str:
    """Return a row of the table."""
    if "error" in found:
        return f"| {name} | fails: {found['error']} |"
    sizes = " | ".join(f"{found[kind] / 2**20:,.0f}" for kind in ("RssAnon", "VmData", "VmHWM"))
    quality = f"{np.mean(found['ndcg']):.4f}"
    if compared is not None and "ndcg" in compared:
        from rankwood.stats.paired_tests import permutation

        test = permutation(np.array(found["ndcg"]) - np.array(compared["ndcg"]))
        quality += f" ({test.statistic:+.4f} against memory, p = {test.p:.2f})"
    return f"| {name} | {sizes} | {found['seconds']:.0f} | {found['cpu']:.0f} | {quality} |"


def bench(args: argparse.Namespace, documents: int, place: Path) -> None:
    """Run all ways on one size of data; what is found is kept in the folder, next to the files."""
    size = 4 * documents * args.features
    limit = None if args.without_limit else size // 3
    allowed = "no limit" if limit is None else f"{limit / 2**20:,.0f} MiB allowed"
    print(f"\n{documents:,} x {args.features}, {size / 2**20:,.0f} MiB as float32, {allowed}")
    print("| run | private memory, MiB | that may be written | resident | s | CPU s | NDCG@10 |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for way in args.ways:
        engine, kind = way.split("-")
        params = {**PARAMS, "engine": engine, "n_estimators": args.rounds}
        if engine == "xgboost":
            params["grow_policy"] = "depthwise"  # as on a stream
        files = stream_data.write(place, documents, args.features, kind)
        job = {"params": params, "files": files, "stream": True}
        for name in args.runs:
            own = {**job, "stream": name == "streamed"}
            found = run(own, None if name == "memory" else limit)
            stem = f"{engine}-{documents}-{args.features}-{args.rounds}"
            (place / f"{stem}-{kind}-{name}.json").write_text(json.dumps(found))
            compared = sorted(place.glob(f"{stem}-*-memory.json")) if name != "memory" else []
            known = json.loads(compared[0].read_text()) if compared else None
            print(row(f"{way}, {name}", found, known), flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, nargs="+", default=[2_500_000])
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--ways", nargs="+", default=["xgboost-parquet", "xgboost-txt"])
    parser.add_argument(
        "--runs",
        nargs="+",
        default=["memory", "refused", "streamed"],
        help="memory: in memory, without limit; refused: in memory, with the limit; streamed: with the limit",
    )
    parser.add_argument("--without-limit", action="store_true", help="only measure the peak")
    parser.add_argument("--folder", help="where files are kept for another time")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        print(json.dumps(child(json.loads(args.job))))
        return
    with tempfile.TemporaryDirectory() as own:
        for documents in args.documents:
            bench(args, documents, Path(args.folder or own))


if __name__ == "__main__":
    main()
