"""Compare tuned rankers with defaults on test data that no trial has seen.

python examples/tuned.py --data path/to/mq2008 --data path/to/ohsumed --trials 40

On each fold of each set, one ranker has its default parameters and another those that `rw.tune` found. The same
validation data stops both, and both are evaluated once on the test data. The table has a row for each set: means over
all test queries, the difference with its interval, and a test with Holm's correction for the number of sets.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from folds import splits
from runs import publish
from sklearn.base import clone

import rankwood as rw

HEAD = "| set | queries | default | tuned | difference | 95 % interval | p | p, Holm | trials stopped early |"


def arguments(argv):
    """Return the options."""
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = "folder with S1.txt to S5.txt, all.txt, or train, vali and test.txt; may repeat"
    about.add_argument("--data", action="append", required=True, help=folder)
    about.add_argument("--objective", default="lambdarank-ndcg@10", help="objective of both")
    about.add_argument("--engine", default="lightgbm", help="engine of both (default: lightgbm)")
    about.add_argument("--metric", default="ndcg@10", help="metric (default: ndcg@10)")
    about.add_argument("--tuner", default="tpe", help="optimiser (default: tpe)")
    how = "tune by N folds of training and validation data together, not by the validation data"
    about.add_argument("--cross", type=int, metavar="N", help=how)
    about.add_argument("--trials", type=int, default=40, help="trials per fold (default: 40)")
    about.add_argument("--folds", type=int, default=5, help="folds of each set (default: all)")
    about.add_argument("--trees", type=int, default=300, help="largest number (default: 300)")
    about.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    about.add_argument("--storage", help="folder for the studies, so that they can be resumed")
    about.add_argument("--output", help="Markdown file to write")
    return about.parse_args(argv)


def one_fold(args, parts, storage):
    """Return the test evaluations of the default and the tuned ranker, and the study."""
    train, valid, test = parts
    ranker = rw.Ranker(
        args.objective,
        args.engine,
        n_estimators=args.trees,
        eval_metric=args.metric,
        n_jobs=args.threads,
        verbose=False,
    )
    how = {"tuner": args.tuner, "trials": args.trials, "storage": storage, "verbose": False}
    if args.cross is None:
        study = rw.tune(ranker, train, valid, **how)
        tuned = study.best
    else:  # both rankers are trained on the same queries in the end, and stopped by the same
        study = rw.tune(ranker, rw.RankingData.concat([train, valid]), folds=args.cross, **how)
        patience = ranker.early_stopping_rounds
        tuned = clone(study.best).set_params(
            n_estimators=args.trees, early_stopping_rounds=patience
        )
        tuned.fit(train, valid=valid)
    models = {"default": ranker.fit(train, valid=valid), "tuned": tuned}
    found = {name: rw.evaluate(args.metric, test, m.predict(test)) for name, m in models.items()}
    return found, study


def one_set(args, folder):
    """Return the comparison over all folds of a set, and the share of trials that were stopped early."""
    made = splits(folder, args.threads)
    if made is None:
        return None
    name = Path(folder).resolve().name
    found, stopped = [], []
    for number, parts in enumerate(made[: args.folds], 1):
        storage = args.storage and Path(args.storage) / f"{name}-{number}.db"
        evaluations, study = one_fold(args, parts, storage)
        found.append(evaluations)
        stopped.append(study.count("pruned") / len(study.trials))
        means = ", ".join(f"{key} {ev.mean()[args.metric]:.4f}" for key, ev in evaluations.items())
        print(f"{name}, fold {number}: {means} on test; {study.best_params}", flush=True)
    models = {
        key: rw.Evaluation.concat([fold[key] for fold in found]) for key in ("default", "tuned")
    }
    return name, rw.compare(models, "default", n_jobs=args.threads), float(np.mean(stopped))


def table(args, results):
    """Return the table of all sets."""
    rows = [found.tests[found.tests["metric"] == args.metric][0] for _, found, _ in results]
    corrected = rw.stats.holm([row["p"] for row in rows])
    lines = [HEAD, "|---" + "|--:" * 8 + "|"]
    for (name, _, stopped), row, p in zip(results, rows, corrected, strict=True):
        cells = [
            *(name, str(row["queries"]), f"{row['against_mean']:.4f}", f"{row['mean']:.4f}"),
            *(f"{row['difference']:+.4f}", f"{row['low']:+.4f} to {row['high']:+.4f}"),
            *(f"{row['p']:.3f}", f"{p:.3f}", f"{stopped:.0%}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    what = f"{args.metric} of {args.objective} on {args.engine}"
    by = "the validation data" if args.cross is None else f"{args.cross} folds"
    how = f"{args.trials} trials per fold by {args.tuner} on {by}, up to {args.trees} trees"
    return "\n".join([*lines, "", f"{what}; {how}; the default space of the engine.", ""])


def main(argv=None):
    """Tune on each set and show the table."""
    args = arguments(argv)
    if args.storage:
        Path(args.storage).mkdir(parents=True, exist_ok=True)
    results = [found for folder in args.data if (found := one_set(args, folder)) is not None]
    if results:
        publish(table(args, results), args.output, "Tuned against default", args.engine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
