"""Train on a data set of three times the memory that a process may take, and compare with training in memory.

    python -m benchmarks.bench_stream [--documents 1200000 --features 250]

Each run is a process of its own. After its imports and a tiny fit, which compiles kernels and starts threads, its
address space is limited (RLIMIT_AS) to what it has then plus a third of the data as float32. The models of both
ways are compared on test queries, by NDCG@10 and a paired permutation test.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.stats.paired import permutation

QUERY, CHUNK, FILES, TEST = (
    100,
    100,
    4,
    400,
)  # documents a query, queries a chunk, files, test queries
PARAMS = {"n_estimators": 20, "learning_rate": 0.2, "n_jobs": 2, "verbose": False}


def chunk(number: int, queries: int, features: int) -> rw.RankingData:
    """Return some queries; relevance depends on a tenth of the features, and all features have one digit."""
    rng = np.random.default_rng([7, number])
    rows = queries * QUERY
    X = rng.integers(0, 10, (rows, features), dtype=np.int8).astype(np.float32) / np.float32(10)
    few = max(4, features // 10)
    signal = X[:, :few] @ np.linspace(1, 0.2, few) + 2 * X[:, 0] * X[:, 1]
    noisy = signal + rng.normal(0, signal.std(), rows)
    y = np.digitize(noisy, np.quantile(noisy, [0.6, 0.8, 0.93, 0.98])).astype(float)
    qid = number * 1_000_000 + np.repeat(np.arange(queries), QUERY)
    return rw.RankingData(X, y, qid=qid)


def write(folder: Path, documents: int, features: int, kind: str) -> list[str]:
    """Write the training data in several files, chunk by chunk."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [str(folder / f"train-{documents}-{features}-{i}.{kind}") for i in range(FILES)]
    if all(map(os.path.exists, names)):
        return names
    chunks = documents // (QUERY * CHUNK)
    for i, name in enumerate(names):
        numbers = np.array_split(np.arange(chunks), FILES)[i].tolist()
        if kind == "txt":
            with open(name, "wb") as file:
                for number in numbers:
                    rw.save_letor(chunk(number, CHUNK, features), folder / "part.txt")
                    file.write((folder / "part.txt").read_bytes())
            continue
        writer = None
        for number in numbers:
            data = chunk(number, CHUNK, features)
            columns = {f"f{j}": data.X[:, j] for j in range(features)}
            table = pa.table({"query": data.qid, "label": data.y.astype(np.float32), **columns})
            writer = writer or pq.ParquetWriter(name, table.schema, use_dictionary=["query"])
            writer.write_table(table)
        writer.close()
    return names


def status(field: str) -> int:
    """Return a size of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise ValueError(field)


def child(job: dict[str, Any]) -> None:
    """Train as a job says, and write what came out."""
    import pyarrow.parquet  # noqa: F401  an import, which the limit leaves out

    ranker = rw.Ranker(engine=job["engine"], **job["params"])
    tiny = rw.make_ranking(40, seed=1)
    rw.Ranker(**{**ranker.get_params(), "n_estimators": 2}).fit(tiny)
    rw.save_letor(tiny, job["tiny"])
    rw.Ranker(**{**ranker.get_params(), "n_estimators": 2}).fit([job["tiny"]], stream=True)
    before, space = status("VmRSS"), status("VmSize")
    if job["limit"]:
        most = space + job["limit"]
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    begin = time.perf_counter()
    columns = {"y": "label", "qid": "query"} if job["files"][0].endswith("parquet") else {}
    if job["stream"]:
        ranker.fit(job["files"], **columns, stream=True)
    else:
        ranker.fit(rw.RankingData.concat([rw.load_letor(name) for name in job["files"]]))
    seconds = time.perf_counter() - begin
    peak = status("VmHWM") - before
    address = status("VmPeak") - space
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    test = chunk(10**6, TEST, job["features"])
    scores = np.concatenate([ranker.model_.predict(part) for part in np.array_split(test.X, 20)])
    values = rw.evaluate("ndcg@10", test, scores).per_query["ndcg@10"]
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": peak,
                "address": address,
                "ndcg": np.asarray(values).tolist(),
            }
        )
    )


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a process of its own."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.bench_stream",
        "--job",
        json.dumps(job),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_200_000)
    parser.add_argument("--features", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--ways", default="xgboost-txt,xgboost-parquet,lightgbm-txt,lightgbm-parquet"
    )
    parser.add_argument("--memory", action="store_true", help="train in memory too")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        child(json.loads(args.job))
        return
    size = 4 * args.documents * args.features
    with tempfile.TemporaryDirectory() as place:
        written: dict[str, list[str]] = {}
        compared: dict[str, Any] = {}
        for way in args.ways.split(","):
            engine, kind = way.split("-")
            begin = time.perf_counter()
            if kind not in written:
                written[kind] = write(Path(place), args.documents, args.features, kind)
            files = written[kind]
            print(
                "wrote",
                kind,
                sum(Path(n).stat().st_size for n in files) >> 20,
                "MiB",
                time.perf_counter() - begin,
                flush=True,
            )
            params = {**PARAMS, "n_estimators": args.rounds}
            if engine == "xgboost":
                params["grow_policy"] = "depthwise"
            job = {
                "engine": engine,
                "files": files,
                "params": params,
                "features": args.features,
                "stream": True,
            }
            job["tiny"] = str(Path(place) / "tiny.txt")
            limit = size // 3 if engine == "xgboost" else size // 2
            found = run({**job, "limit": limit})
            print(
                way,
                "limit",
                limit >> 20,
                {k: v for k, v in found.items() if k != "ndcg"},
                np.mean(found.get("ndcg", np.nan)),
                flush=True,
            )
            if args.memory and engine not in compared:
                compared[engine] = run(
                    {**job, "files": written["txt"], "stream": False, "limit": 0}
                )
                own = compared[engine]
                print(
                    engine, "memory", own["seconds"], own["peak"], np.mean(own["ndcg"]), flush=True
                )
            if engine in compared and "ndcg" in found:
                test = permutation(np.array(found["ndcg"]) - np.array(compared[engine]["ndcg"]))
                print(way, "difference", test, flush=True)


if __name__ == "__main__":
    main()
