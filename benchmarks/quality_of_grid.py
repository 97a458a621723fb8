"""NDCG@10 with exact sums and seeds by round against training without them, paired by query, on real data.

    python -m benchmarks.quality_of_grid DATA [--sets mq2008 ohsumed mslr-sample] [--seeds 3]

DATA is a folder of data sets by name, each in parts of whole queries (S1.txt to S5.txt) or in one file (all.txt), plain
or gzip. Each part, or each fifth of the queries, is the test data of a model trained on the others. A difference is
"with minus without" for one query, averaged over the seeds; intervals are 95 %, over queries. "Another seed" is the
difference that changing nothing but the seed makes, without exact sums: the noise to compare with.
"""

import argparse
import contextlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankwood as rw
from benchmarks._without import no_grid, no_round_seeds
from rankwood.stats.paired_tests import permutation

OBJECTIVES = ("lambdarank-ndcg@10", "lambdaloss-ndcg++@10", "xendcg")
SETS = ("mq2008", "ohsumed", "mslr-sample")
_SAMPLING = {"subsample": 0.7, "colsample_bytree": 0.7}
_OTHER_SEED = 1000


class Setting(NamedTuple):
    """Parameters of a ranker, and their name in the table."""

    engine: str
    what: str
    params: dict[str, Any]


SETTINGS = (
    Setting("lightgbm", "defaults", {}),
    Setting("lightgbm", "no sampling", {"extra_trees": False}),
    Setting("lightgbm", "rows and features sampled", {"extra_trees": False, **_SAMPLING}),
    Setting("xgboost", "defaults (no sampling)", {}),
    Setting("xgboost", "rows and features sampled", _SAMPLING),
)


class Difference(NamedTuple):
    """A mean of paired differences, half the width of its interval, and the p-value of a permutation test."""

    mean: float
    half: float
    p: float


def parts_of(folder: Path) -> list[rw.RankingData]:
    """Return the parts of a data set; a set in one file is dealt out by query."""
    files = sorted(folder.glob("S?.txt*"))
    if files:
        return [rw.load_letor(path) for path in files]
    data = rw.load_letor(next(folder.glob("all.txt*")))
    return [test for _, test in data.folds(5, seed=0)]


@contextlib.contextmanager
def way(name: str) -> Iterator[None]:
    """Train with or without exact sums and seeds by round."""
    with contextlib.ExitStack() as stack:
        if name != "with":
            stack.enter_context(no_grid())
            stack.enter_context(no_round_seeds())
        yield


def values(parts: list[rw.RankingData], name: str, setting: Setting, seed: int) -> np.ndarray:
    """Return NDCG@10 of every query, each by a model that hasn't seen its part."""
    out = []
    for i, test in enumerate(parts):
        train = rw.RankingData.concat([part for j, part in enumerate(parts) if j != i])
        ranker = rw.Ranker(
            name,
            engine=setting.engine,
            random_state=seed,
            n_jobs=1,
            verbose=False,
            **setting.params,
        )
        scores = ranker.fit(train).predict(test)
        found = rw.evaluate("ndcg@10", test.y, scores, qid=test.qid, n_jobs=1)
        out.append(found.per_query["ndcg@10"])
    return np.concatenate(out)


def difference(by_seed: list[np.ndarray]) -> Difference:
    """Return the mean over queries of differences that are averaged over seeds."""
    d = np.mean(by_seed, axis=0)
    half = 1.96 * d.std(ddof=1) / np.sqrt(d.size)
    return Difference(float(d.mean()), float(half), permutation(d, n_jobs=1).p)


def compare(parts: list[rw.RankingData], name: str, setting: Setting, seeds: int) -> dict[str, Any]:
    """Return NDCG without exact sums, the difference that they make, and that of another seed."""
    found: dict[str, list[np.ndarray]] = {"with": [], "without": [], "other": []}
    for seed in range(seeds):
        for key, rows in found.items():
            with way(key):
                rows.append(values(parts, name, setting, seed + _OTHER_SEED * (key == "other")))
    without = found["without"]
    return {
        "without": float(np.mean(without)),
        "grid": difference([a - b for a, b in zip(found["with"], without, strict=True)]),
        "seed": difference([a - b for a, b in zip(found["other"], without, strict=True)]),
        "by query": np.mean(found["with"], axis=0) - np.mean(without, axis=0),
    }


def shown(d: Difference) -> str:
    """Return a difference for the table."""
    return f"{d.mean:+.4f} ± {d.half:.4f} (p {d.p:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--objectives", nargs="*", default=OBJECTIVES)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    print(
        "| data | engine, setting | objective | NDCG@10 without | with − without | another seed |"
    )
    print("|---|---|---|---|---|---|", flush=True)
    every: dict[str, list[np.ndarray]] = {}
    sets = {name: parts_of(args.data / name) for name in args.sets}
    for objective, name, setting in product(args.objectives, sets, SETTINGS):
        row = compare(sets[name], objective, setting, args.seeds)
        what = f"{setting.engine}, {setting.what}"
        every.setdefault(what, []).append(row["by query"])
        print(
            f"| {name} | {what} | `{objective}` | {row['without']:.4f} | {shown(row['grid'])} "
            f"| {shown(row['seed'])} |",
            flush=True,
        )
    for what, differences in every.items():
        print(f"{what}, all queries: {shown(difference([np.concatenate(differences)]))}")


if __name__ == "__main__":
    main()
