"""LightGBM on a cluster against one machine: NDCG@10 of test queries, paired, over folds and seeds.

    python benchmarks/cluster_quality.py path/to/mq2008 [--smallest 20] [--trees 100] [--results quality.jsonl]

Each line of the results file is a finished run; the same command goes on where it was stopped. The noise that a
difference is measured by is that between seeds on one machine.
"""

import argparse
import json
from pathlib import Path

import distributed
import numpy as np

import rankwood as rw
from rankwood.datasets import load_splits
from rankwood.stats import permutation

SEEDS = (0, 1, 2)
METRIC = "ndcg@10"


def arguments():
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--objective", default="lambdarank-ndcg@10")
    parser.add_argument("--smallest", type=int, default=20, help="min_child_samples")
    parser.add_argument("--subsample", type=float, default=1.0)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--results", default="cluster_quality.jsonl")
    return parser.parse_args()


def runs(args, client):
    """Return NDCG of the test queries by place ("local", "cluster"), fold and seed."""
    path, setting = Path(args.results), [Path(args.folder).name, args.objective, args.trees]
    setting += [args.smallest, args.subsample]
    lines = path.read_text().splitlines() if path.exists() else []
    known = [json.loads(line) for line in lines]
    done = {
        (r["place"], r["fold"], r["seed"]): r["values"] for r in known if r["setting"] == setting
    }
    for fold, split in enumerate(load_splits(args.folder, n_jobs=1)):
        for seed in SEEDS:
            for place, cluster in (("local", None), ("cluster", client)):
                if (place, fold, seed) in done:
                    continue
                ranker = rw.Ranker(
                    args.objective,
                    n_estimators=args.trees,
                    learning_rate=0.1,
                    min_child_samples=args.smallest,
                    subsample=args.subsample,
                    colsample_bytree=0.8,
                    random_state=seed,
                    n_jobs=1,
                )
                ranker.fit(split.train, cluster=cluster)
                found = rw.evaluate(METRIC, split.test, ranker.predict(split.test))
                values = done[place, fold, seed] = found.per_query[METRIC].tolist()
                run = {"setting": setting, "place": place, "fold": fold, "seed": seed}
                with path.open("a") as file:
                    file.write(json.dumps({**run, "values": values}) + "\n")
                print(
                    *setting, fold, seed, place, f"{found.per_query[METRIC].mean():.4f}", flush=True
                )
    return done


def table(args, done):
    """Print a row: both means, their difference over queries, and that of two seeds on one machine."""
    folds = sorted({fold for _, fold, _ in done})
    by_seed = {
        (place, seed): np.concatenate([done[place, fold, seed] for fold in folds])
        for place in ("local", "cluster")
        for seed in SEEDS
    }
    local, cluster = (
        np.mean([by_seed[place, seed] for seed in SEEDS], axis=0) for place in ("local", "cluster")
    )
    p = permutation(cluster - local, n_jobs=1).p
    pairs = [(a, b) for a in SEEDS for b in SEEDS if a < b]
    noise = [abs(np.mean(by_seed["local", a] - by_seed["local", b])) for a, b in pairs]
    error = (cluster - local).std(ddof=1) / np.sqrt(local.size)
    name = Path(args.folder).name
    print(
        f"| {name} | {args.smallest} | {args.subsample:g} | {local.size} | {local.mean():.4f} | {cluster.mean():.4f} | "
        f"{np.mean(cluster - local):+.4f} ± {error:.4f} | {p:.2f} | {max(noise):.4f} |"
    )


if __name__ == "__main__":
    given = arguments()
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        found = runs(given, client)
    table(given, found)
