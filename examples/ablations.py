"""What YetiRank and YetiLoss owe to their noise and to their neighbours: tables 3 and 5 to 22 of [whichtricks2023].

python examples/ablations.py --data path/to/mq2008 --data path/to/ohsumed

A folder holds S1.txt to S5.txt (five folds), all.txt (five folds are made by query), or train.txt, vali.txt and
test.txt; .txt.gz will do. Every finished run is a line of the results file; start the same command again, and
only what is missing is trained.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from folds import splits
from runs import finished, in_turn, keep, new_ranker, pooled, publish

import rankwood as rw

#: What is optimised and measured, in the order of the paper's tables: metric, and YetiLoss for it. {top} is the
#: highest label, {variant} the weights: those of the paper's program, or the exact change of the metric.
TARGETS = {
    "NDCG@1": ("ndcg@1", "yetiloss-ndcg@1", {}),
    "NDCG@5": ("ndcg@5", "yetiloss-ndcg@5", {}),
    "NDCG@10": ("ndcg@10", "yetiloss-ndcg@10", {}),
    "MRR": ("mrr", "yetiloss-mrr", {"variant": "{variant}"}),
    "MAP": ("map", "yetiloss-map", {"variant": "{variant}"}),
    "ERR": ("err(gain='linear',max_label={top})", "yetiloss-err", {"max_label": "{top}"}),
}
SMOOTHING = {
    "Logistic": {"noise": "logistic"},
    "Gaussian": {"noise": "gaussian"},
    "No smoothing": {"noise": "none"},
}
NEIGHBOURS = {name: {"neighbours": name} for name in ("1", "2", "3", "all")}
#: The number of the paper's table for the first target, its title, the objective, and what is varied.
ABLATIONS = [
    (5, "The effect of the number of neighbours for YetiLoss", "yetiloss", NEIGHBOURS),
    (11, "The effect of stochastic smoothing for YetiRank", "yetirank", SMOOTHING),
    (17, "The effect of stochastic smoothing for YetiLoss", "yetiloss", SMOOTHING),
]
LEVEL = 0.05


def arguments(argv):
    """Return the options."""
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = about.add_argument
    add("--data", action="append", required=True, help="folder of a data set; may repeat")
    add("--metric", action="append", choices=TARGETS, help="only these; may repeat")
    add("--rounds", type=int, default=100, help="trees, at most (default: 100)")
    add("--seeds", type=int, default=1, help="models per fold, seeds 0, 1, ... (default: 1)")
    add("--engine", default="lightgbm", choices=("lightgbm", "xgboost", "catboost"))
    add("--leaves", type=int, default=15, help="leaves of a tree (default: 15)")
    add("--rate", type=float, default=0.1, help="learning rate (default: 0.1)")
    add("--patience", type=int, default=30, help="rounds to wait for a gain (default: 30)")
    add("--variant", default="catboost", choices=("catboost", "exact"), help="weights of MRR, MAP")
    add(
        "--layout",
        default="paper",
        choices=("paper", "wide"),
        help="a table each, or one for all metrics",
    )
    add("--threads", type=int, default=2, help="threads (default: 2)")
    add("--results", default="ablations.jsonl", help="one line per finished run")
    add("--output", help="write the tables here too")
    return about.parse_args(argv)


def variants(args):
    """Yield target, objective and its options for everything that is trained, each once."""
    seen = []
    for target in args.metric or TARGETS:
        for _, _, family, varied in ABLATIONS:
            for options in varied.values():
                made = (target, *objective(target, family, options))
                if made not in seen:
                    seen.append(made)
                    yield made


def objective(target, family, options):
    """Return the name and the options of an objective: those of the target, and what is varied."""
    _, name, own = TARGETS[target]
    options = {"noise": "logistic", "neighbours": "1"} | options
    return (name, own | options) if family == "yetiloss" else (family, options)


def spell(name, options, **facts):
    """Return an objective as text."""
    made = {key: str(value).format(**facts) for key, value in options.items()}
    return f"{name}({', '.join(f'{k}={v if v.isdigit() else repr(v)}' for k, v in made.items())})"


class Study:
    """One data set: its folds, and the runs that were made of them."""

    def __init__(self, folder, args):
        self.name, self.args = Path(folder).resolve().name, args
        self.folds = splits(folder, args.threads)
        if self.folds is None:
            return
        tests = [test for _, _, test in self.folds]
        self.facts = {"top": int(max(t.y.max() for t in tests)), "variant": args.variant}
        self.queries = sum(test.groups.ids.size for test in tests)
        shared = ("rounds", "engine", "leaves", "rate", "patience")
        self.setting = {key: getattr(args, key) for key in shared}
        self.setting |= {"data": self.name, "rankwood": rw.__version__, "queries": self.queries}
        self.runs = finished(args.results, self.setting, "objective", "metric", "fold", "seed")

    def wanted(self):
        """Return the runs of this data set, by objective, metric, fold and seed."""
        numbers = range(1, len(self.folds) + 1)
        return [
            (*self.key(*made), fold, seed)
            for made in variants(self.args)
            for fold in numbers
            for seed in range(self.args.seeds)
        ]

    def key(self, target, name, options):
        """Return an objective and its metric as text."""
        return spell(name, options, **self.facts), TARGETS[target][0].format(**self.facts)

    def train(self, key):
        """Train one objective on one fold, keep the round that is best in validation, and write it down."""
        name, metric, number, seed = key
        args, (data, valid, test) = self.args, self.folds[number - 1]
        model = new_ranker(name, args, args.rounds, metric, engine=args.engine, random_state=seed)
        model.fit(data, valid=valid)
        table = rw.evaluate(metric, test, model.predict(test)).per_query
        run = {"objective": name, "metric": metric, "fold": number, "seed": seed}
        run |= {"trees": model.best_iteration_, "qid": table["qid"].tolist()}
        run |= {"values": table[metric].tolist(), "setting": self.setting}
        self.runs[key] = run
        keep(args.results, run)
        return run

    def pooled(self, target, name, options):
        """Return the values of all test queries, each the mean over seeds."""
        key, numbers = self.key(target, name, options), range(1, len(self.folds) + 1)
        runs = [[self.runs[(*key, n, seed)] for n in numbers] for seed in range(self.args.seeds)]
        # One name for the metric: the marks need no more.
        return pooled([[{**r, "values": {"metric": r["values"]}} for r in folds] for folds in runs])


def cells(study, target, family, varied):
    """Return a column of a table: percent, the best in bold, † where the best is better than by chance."""
    models = {
        label: study.pooled(target, *objective(target, family, options))
        for label, options in varied.items()
    }
    means = {label: model.mean()["metric"] for label, model in models.items()}
    best = max(means, key=means.get)
    found = rw.compare(
        models, baseline=best, preset="which-tricks-2023", alternative="less", n_jobs=1
    )
    column = {}
    for label, mean in means.items():
        worse = label != best and bool(found.test(label)["p"] < LEVEL)
        column[label] = (
            f"**{100 * mean:.2f}**" if label == best else f"{100 * mean:.2f}{'†' * worse}"
        )
    return column


def table(title, columns, family, varied):
    """Return a table as Markdown; `columns` are pairs of a study and a target."""
    targets = {target for _, target in columns}
    studies = {study.name for study, _ in columns}
    heads = [
        " ".join(
            [target] * (len(targets) > 1) + [study.name] * (len(studies) > 1 or len(targets) == 1)
        )
        for study, target in columns
    ]
    made = [cells(study, target, family, varied) for study, target in columns]
    lines = [f"**{title}**", "", f"| | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    lines += [f"| {label} | {' | '.join(col[label] for col in made)} |" for label in varied]
    return "\n".join(lines)


def tables(studies, args):
    """Return all tables: those of the paper by number, or one for each thing that is varied."""
    targets = args.metric or list(TARGETS)
    made = []
    for first, title, family, varied in ABLATIONS:
        numbers = {target: first + i for i, target in enumerate(TARGETS) if target in targets}
        if args.layout == "paper":
            for target, number in numbers.items():
                columns = [(study, target) for study in studies]
                made.append(table(f"Table {number}. {title}, {target}", columns, family, varied))
            continue
        columns = [(study, target) for target in targets for study in studies]
        listed = ", ".join(map(str, numbers.values()))
        made.append(table(f"{title} (tables {listed} of the paper)", columns, family, varied))
    main = [target for target in ("NDCG@10", "MRR", "MAP") if target in targets]
    if args.layout == "paper" and len(main) > 1:
        columns = [(study, target) for target in main for study in studies]
        _, title, family, varied = ABLATIONS[2]
        made.insert(0, table(f"Table 3. {title}", columns, family, varied))
    return "\n\n".join(made)


def note(studies, args):
    """Return what the numbers are."""
    sets = ", ".join(f"{s.name}: {len(s.folds)} folds, {s.queries} test queries" for s in studies)
    return (
        f"Percent; {sets}; {args.seeds} seed(s), at most {args.rounds} trees of {args.leaves} leaves, learning "
        f"rate {args.rate}, stopped by the table's metric on validation data; engine {args.engine}; "
        f"weights of MRR and MAP: {args.variant}. Bold: the best mean. † the bold one is significantly better "
        f"(paired one-tailed t-test, p < {LEVEL}, not corrected for the number of tests)."
    )


def main(argv=None):
    """Train what is missing, then print the tables."""
    args = arguments(argv)
    studies = [Study(folder, args) for folder in args.data]
    studies = [study for study in studies if study.folds is not None]
    if not studies:
        return 0
    wanted = [(study, key) for study in studies for key in study.wanted()]
    missing = [(study, key) for study, key in wanted if key not in study.runs]
    for (study, key), report in in_turn(missing, wanted, args.results):
        run = study.train(key)
        report(
            f"{study.name}: {key[0]}, fold {key[2]}, seed {key[3]}: {run['trees']} trees, "
            f"{key[1]} {np.mean(run['values']):.4f}"
        )
    text = f"{tables(studies, args)}\n\n{note(studies, args)}\n"
    publish(text, args.output, "Ablations of YetiRank and YetiLoss", args.engine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
