"""A file with one line for each finished run, so that a long example goes on where it stopped, and what runs say."""

import json
import platform
import time
from importlib import import_module
from pathlib import Path

import numpy as np

import rankwood as rw


def finished(path, setting, *by):
    """Return the runs of this setting in a results file, by these of their fields."""
    runs = {}
    if Path(path).exists():
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            try:
                run = json.loads(line)
            except json.JSONDecodeError:  # the process ended while it wrote
                continue
            if run["setting"] == setting:
                runs[tuple(run[name] for name in by)] = run
    return runs


def keep(path, run):
    """Add a line to the results file; a line that an interrupt cut short is ended first."""
    with open(path, "a+b") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 1, 0))
        whole = file.read() in (b"", b"\n")
        file.write(b"" if whole else b"\n")
        file.write(json.dumps(run).encode() + b"\n")


def pooled(seeds):
    """Return one evaluation of all test queries; `seeds` has the runs of all folds for each seed.

    The value of a query is its mean over the seeds.
    """
    each = [rw.Evaluation.concat([evaluation(run) for run in folds]) for folds in seeds]
    means = {m: np.mean([e.per_query[m] for e in each], axis=0) for m in each[0].metrics}
    return rw.Evaluation(each[0].per_query["qid"], means, each[0].conventions)


def evaluation(run):
    """Return the test queries of a run, whose values were found by the default rules of `rw.evaluate`."""
    values = {metric: np.array(found) for metric, found in run["values"].items()}
    return rw.Evaluation(np.array(run["qid"]), values, {"ties": "worst", "empty": 0})


def new_ranker(objective, args, trees, metric, **others):
    """Return an untrained ranker with the options of an example, and others."""
    plain = {"extra_trees": False} if others.get("engine", "lightgbm") == "lightgbm" else {}
    options = {
        **plain,
        "n_estimators": trees,
        "num_leaves": args.leaves,
        "learning_rate": args.rate,
        "eval_metric": metric,
        "early_stopping_rounds": args.patience,
        "n_jobs": args.threads,
        "verbose": False,
    }
    return rw.Ranker(objective, **{**options, **others})


def in_turn(missing, wanted, results):
    """Yield the missing runs, and a function that prints what a run gave and how long the others will take."""
    print(f"{len(wanted)} runs, {len(wanted) - len(missing)} of them in {results} already")
    start = time.perf_counter()
    for done, run in enumerate(missing, 1):

        def note(text, done=done):
            gone = time.perf_counter() - start
            left = gone / done * (len(missing) - done)
            print(
                f"{done}/{len(missing)}  {gone:4.0f} s, about {left:.0f} s left  {text}", flush=True
            )

        yield run, note


def publish(text, path, title, engine):
    """Print the results, and write them to a file if there is a path."""
    print(f"\n{text}")
    if path:
        page = f"# {title}\n\n{versions(engine)}\n\n{text}"
        Path(path).write_text(page, encoding="utf-8")


def versions(*engines):
    """Return a line that says what was used."""
    names = ("rankwood", *engines, "numpy", "numba")
    used = [f"{name} {import_module(name).__version__}" for name in names]
    return f"Python {platform.python_version()}, {', '.join(used)}."
