"""Digests of results, one for each thing whose bits must be the same on every processor: `python digests.py [all]`.

Prints a JSON object. A test runs this program in processes that compile for other processors, and compares. For the
oldest of them, NumPy and the C library compute as they would there.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import group_rows
from rankwood.metrics.registry import METRICS
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.units import unit_of

#: Objectives that together use every step of the kernels; "all" takes every name.
FEW = (
    *(
        "ranknet",
        "lambdarank-ndcg@10",
        "lambdarank-map@10",
        "lambdaloss-ndcg++@5",
        "lambdagap-s+@3",
    ),
    *("lambdagap-x++@3", "lambdamart-ex-random@5", "yetirank", "stochasticrank-ndcg@5", "softmax"),
    *("xendcg", "approxndcg", "bi-ranknet"),
)
_ROUNDS = {"n_estimators": 8, "random_state": 3}


def digest(*arrays: Any) -> str:
    """Return a digest of the bits of arrays and texts."""
    whole = hashlib.sha256()
    for array in arrays:
        text = isinstance(array, str)
        whole.update(array.encode() if text else np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def lists() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, sizes and scores: lists of 1 to 140 documents, ties, and scores too far apart to embed."""
    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 140, 12, 5, 40, 40])
    y = rng.choice(5, sizes.sum(), p=[0.5, 0.25, 0.15, 0.06, 0.04]).astype(float)
    scores = rng.integers(-2000, 2000, y.size) / 512.0
    scores[-80:-40] *= 100.0
    scores[-40:] = np.round(scores[-40:])
    return y, sizes, scores


def all_names() -> list[str]:
    """Return all names; those with a cutoff have one."""
    cut = [any(p.name == "k" for p in row.parameters) for row in OBJECTIVES.values()]
    return [f"{name}@5" if k else name for name, k in zip(OBJECTIVES, cut, strict=True)]


def gradients(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a digest of the gradients of each objective in both precisions."""
    y, sizes, scores = lists()
    for name in names:
        made = rw.objective(name)
        if unit_of(made) == "pairs":
            one = slice(0, 33)
            S = np.subtract.outer(scores[one], scores[one] / 3)
            yield name, digest(*rw.bivariate_gradients(made, y[one], S))
            continue
        found, pairs = [], GivenPairs.by_labels(y, group_rows(y.size, group=sizes))
        for real in (np.float32, np.float64):
            groups = group_rows(y.size, group=sizes)
            options = {"dtype": real, "n_jobs": 2, "seed": 5, "pairs": pairs}
            compute = GradientComputer(made, y, groups, **options)
            found += [compute(scores, 0), compute(scores * 0.5, 1)]
        yield name, digest(*(column for pair in found for column in pair))


def metrics() -> Iterator[tuple[str, str]]:
    """Yield a digest of the values of each metric, query by query."""
    y, sizes, scores = lists()
    without = {"arp": ("arp",), "arpk": ("arpk@5",), "rprec": ("rprec",)}
    for name in METRICS:
        names = without.get(name, (name, f"{name}@5"))
        values = [rw.evaluate([one], y, scores, group=sizes).per_query[one] for one in names]
        yield f"metric {name}", digest(*values)


def models() -> Iterator[tuple[str, str]]:
    """Yield a digest of the file and the scores of a small model of each engine but CatBoost."""
    train, test = rw.make_ranking(40, seed=1), rw.make_ranking(10, seed=2)
    made = {
        "lightgbm": rw.Ranker(**_ROUNDS),
        "lightgbm, yetirank": rw.Ranker("yetirank", subsample=0.7, **_ROUNDS),
        "langevin": rw.Ranker("stochasticrank-ndcg@10", langevin=True, **_ROUNDS),
        "xgboost": rw.Ranker(engine="xgboost", subsample=0.7, **_ROUNDS),
        "pair trees": rw.Ranker("bi-ranknet", engine="pairtree", **_ROUNDS),
        "two stages": rw.TwoStage(rw.Ranker(**_ROUNDS), rw.Ranker(**_ROUNDS)),
    }
    for name, model in made.items():
        model.fit(train)
        yield f"model {name}", digest(model.predict(test))
        yield f"file {name}", digest(_file(model))
    ranker = made["lightgbm"]
    yield "scorer", digest(ranker.scorer()(test.X))
    yield "contributions", digest(ranker.explain(test).values)


def _file(model: Any) -> str:
    """Return what `save` writes, without how long training took and the checksum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return json.dumps(_lasting(json.loads(path.read_text(encoding="utf-8"))))


def _lasting(content: Any) -> Any:
    if isinstance(content, dict):
        passing = ("seconds", "sha256")
        return {name: _lasting(value) for name, value in content.items() if name not in passing}
    return [_lasting(value) for value in content] if isinstance(content, list) else content


def others() -> Iterator[tuple[str, str]]:
    """Yield digests of statistics and listwise features."""
    from rankwood import stats

    rng = np.random.default_rng(7)
    d = rng.integers(-500, 700, 150) / 1024.0
    tests = [stats.permutation(d), stats.bootstrap(d), stats.t_test(d), stats.wilcoxon(d)]
    sizes = [stats.t_interval(d), stats.bootstrap_interval(d), (stats.cohen_d(d),)]
    found = rw.Evaluation(np.arange(d.size), {"difference": d}, {})
    sizes += [found.intervals(interval=kind)["difference"] for kind in stats.INTERVALS]
    yield (
        "statistics",
        digest(np.concatenate([np.ravel(list(map(float, t))) for t in tests + sizes])),
    )
    yield "listwise features", digest(rw.listwise_features(rw.make_ranking(10, seed=3)).X)


def main() -> None:
    """Print the digests."""
    warnings.simplefilter("ignore")
    every = sys.argv[1:] == ["all"]
    found = dict(gradients([*FEW, *(all_names() if every else ())]))
    for more in (metrics(), models(), others()):
        found.update(more)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
