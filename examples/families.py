"""Train every family of objectives on five folds of a LETOR set, and compare them query by query.

python examples/families.py --data path/to/mq2008

The folder holds S1.txt to S5.txt (or .txt.gz), as LETOR 4.0's MQ2007 and MQ2008 and LETOR 3.0's OHSUMED do. Every
finished run is a line of the results file; start the same command again, and only what is missing is trained.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from folds import splits
from runs import finished, in_turn, keep, new_ranker, pooled, publish

import rankwood as rw

METRICS = ["ndcg@10", "p@5", "p@10", "map"]
#: {k} is the cutoff of training, {top} the highest label of the data.
FAMILIES = {
    "RankNet": ["ranknet", "bin-ranknet"],
    "LambdaRank": [
        *("lambdarank-ndcg@{k}", "lambdarank-ndcg", "lambdarank-bndcg@{k}", "lambdarank-p@{k}"),
        *("lambdarank-arpk@{k}", "lambdarank-map", "lambdarank-mrr"),
        "lambdarank-err(max_label={top})",
    ],
    "LambdaLoss": [
        *("lambdaloss-arp1", "lambdaloss-arp2", "lambdaloss-ndcg1@{k}", "lambdaloss-ndcg@{k}"),
        *("lambdaloss-ndcg++@{k}", "lambdaloss-bndcg@{k}", "lambdaloss-bndcg++@{k}"),
    ],
    "LambdaGap": [f"lambdagap-{end}@{{k}}" for end in ("s", "x", "s+", "x+", "s++", "x++")],
    "Lambda-eX": [
        f"{base}-{how}@{{k}}"
        for base in ("lambdamart-ex", "lambdaloss-ex", "lambdaloss-ex++")
        for how in ("static", "random", "all")
    ],
}
BASELINE = "lambdarank-ndcg@{k}"


def arguments(argv):
    """Return the options."""
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    about.add_argument("--data", required=True, help="folder with S1.txt to S5.txt")
    about.add_argument("--k", type=int, default=5, help="cutoff of training (default: 5)")
    about.add_argument("--family", action="append", choices=FAMILIES, help="only these; may repeat")
    about.add_argument("--trees", type=int, default=150, help="trees, at most (default: 150)")
    about.add_argument("--leaves", type=int, default=15, help="leaves of a tree (default: 15)")
    about.add_argument("--rate", type=float, default=0.1, help="learning rate (default: 0.1)")
    about.add_argument("--stop", default="ndcg@10", help="validation metric (default: ndcg@10)")
    about.add_argument("--patience", type=int, default=30, help="rounds to wait (default: 30)")
    about.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    about.add_argument("--results", default="families.jsonl", help="one line per finished run")
    about.add_argument("--output", help="write the Markdown table here too")
    return about.parse_args(argv)


def names(args, top):
    """Return the objectives to train; all are compared with the first."""
    chosen = [name for family in args.family or FAMILIES for name in FAMILIES[family]]
    chosen = dict.fromkeys([BASELINE, *chosen])
    return [name.format(k=args.k, top=top) for name in chosen]


def train(name, number, folds, args, setting):
    """Train one objective on one fold; return the run as it is stored."""
    data, valid, test = folds[number - 1]
    # The first call compiles: times are to be those of training.
    rw.Ranker(name, n_estimators=1, verbose=False).fit(valid)
    model = new_ranker(name, args, args.trees, args.stop).fit(data, valid=valid)
    ev = rw.evaluate(METRICS, test, model.predict(test))
    return {
        "objective": name,
        "fold": number,
        "trees": model.best_iteration_,
        "seconds": {part: round(spent, 4) for part, spent in model.seconds_.items()},
        "qid": ev.per_query["qid"].tolist(),
        "values": {metric: ev.per_query[metric].tolist() for metric in METRICS},
        "setting": setting,
    }


def summary(runs, objectives):
    """Return a table of what training took: trees of the best round, and seconds by part."""
    lines = [
        "| objective | trees | gradients, s | trees, s | evaluation, s |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in objectives:
        folds = [runs[name, number] for number in range(1, 6)]
        trees = np.mean([run["trees"] for run in folds])
        spent = [
            f"{sum(r['seconds'][part] for r in folds):.2f}"
            for part in ("gradients", "trees", "evaluation")
        ]
        lines.append(f"| {name} | {trees:.0f} | {' | '.join(spent)} |")
    return "\n".join(lines)


def main(argv=None):
    """Train what is missing, then compare."""
    args = arguments(argv)
    folds = splits(args.data, args.threads)
    if folds is None:
        return 0
    parts = [test for _, _, test in folds]  # each query is tested on once
    setting = {key: getattr(args, key) for key in ("trees", "leaves", "rate", "stop", "patience")}
    setting |= {"data": Path(args.data).resolve().name, "rankwood": rw.__version__}
    setting |= {"rows": sum(map(len, parts)), "metrics": METRICS}
    objectives = names(args, int(max(part.y.max() for part in parts)))
    runs = finished(args.results, setting, "objective", "fold")
    wanted = [(name, number) for name in objectives for number in range(1, 6)]
    missing = [run for run in wanted if run not in runs]
    for (name, number), report in in_turn(missing, wanted, args.results):
        run = runs[name, number] = train(name, number, folds, args, setting)
        keep(args.results, run)
        mean = np.mean(run["values"]["ndcg@10"])
        report(f"{name}, fold {number}: {run['trees']} trees, ndcg@10 {mean:.4f}")
    models = {n: pooled([[runs[n, number] for number in range(1, 6)]]) for n in objectives}
    table = rw.compare(models, references=rw.RankingData.concat(parts), n_jobs=args.threads)
    text = f"{table.to_markdown().strip()}\n\n{summary(runs, objectives)}\n"
    publish(text, args.output, f"Families of objectives on {setting['data']}", "lightgbm")
    return 0


if __name__ == "__main__":
    sys.exit(main())
