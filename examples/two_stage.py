"""The two-stage table of the bivariate paper on your data: re-ranking the best documents by comparing pairs of them.

    python examples/two_stage.py --data FOLDER

FOLDER has S1.txt to S5.txt (five folds), all.txt, or train.txt, vali.txt and test.txt. For each fold and seed a
cross-fitted first stage is trained once, and each second stage on the same lists. Finished runs are lines of the
results file, so that a run that was stopped goes on where it was.
"""

import argparse
from pathlib import Path

import numpy as np
from folds import splits
from runs import finished, keep, new_ranker, pooled, versions

import rankwood as rw

METRICS = [f"ndcg@{k}" for k in (1, 3, 5, 10, 20)]
#: Second stages: label, objective, ideal, and parameters of the engine.
SECOND = {
    "λMART": ("lambdarank-ndcg@{k}", "list", {}),
    "λMART*": ("lambdarank-ndcg@{k}", "full", {}),
    "Bi-λMART": ("bi-lambdarank-ndcg@{k}", "full", {}),
    "Bi-λMART, no differences": ("bi-lambdarank-ndcg@{k}", "full", {"differences": "none"}),
    "Bi-softmax": ("bi-softmax", "full", {}),
}
FIRST = "first stage (λMART)"
BASELINE = "λMART*"


def ranker(objective, seed, args, **params):
    """Return a ranker with the shared settings; models of pairs have an engine and a learning rate of their own.

    A document's score averages 2 (n - 1) pair scores, and each of these takes a full Newton step, so that steps are
    about n times as long as the learning rate says.
    """
    pairs = objective.startswith("bi-")
    rate = args.pair_rate if pairs else args.rate
    engine = "pairtree" if pairs else "lightgbm"
    options = {"engine": engine, "learning_rate": rate, "random_state": seed, **params}
    return new_ranker(objective, args, args.rounds, f"ndcg@{args.k}", **options)


class Study:
    """One data set: its folds, and the runs that were made of them."""

    def __init__(self, folder, args):
        self.args, self.name = args, Path(folder).resolve().name
        self.folds = splits(folder, args.threads, args.absent)
        shared = (
            "rounds",
            "leaves",
            "rate",
            "pair_rate",
            "patience",
            "k",
            "top",
            "stages",
            "queries",
        )
        self.setting = {key: getattr(args, key) for key in shared}
        self.setting |= {"data": self.name, "absent": str(args.absent), "rankwood": rw.__version__}
        self.runs = finished(args.results, self.setting, "model", "fold", "seed")

    def wanted(self):
        """Return the runs of this data set: model, fold, seed."""
        numbers = range(1, len(self.folds) + 1)
        return [(m, f, s) for f in numbers for s in range(self.args.seeds) for m in self.models()]

    def models(self):
        """Return the rows of the table."""
        return [FIRST, *SECOND]

    def train(self, number, seed):
        """Train a first stage and the second stages that are missing, and store their test results."""
        args, (train, valid, test) = self.args, self.folds[number - 1]
        train = some(train, args.queries)
        model = rw.TwoStage(top=args.top, folds=args.stages, random_state=seed, verbose=False)
        model.set_params(
            serve="fold"
        )  # the paper's protocol: test queries are split into folds too
        model.set_params(first=ranker(f"lambdarank-ndcg@{args.top}", seed, args))
        for label, (objective, ideal, params) in SECOND.items():
            if (label, number, seed) in self.runs:
                continue
            second = ranker(objective.format(k=args.k), seed, args, **params)
            model.set_params(second=second, ideal=ideal)
            if hasattr(model, "second_"):
                model.fit_second(train, valid=valid)
            else:
                model.fit(train, valid=valid)
                first = rw.evaluate(METRICS, test, model.first_scores(test))
                self.write(FIRST, number, seed, first, {"seconds": model.seconds_["first"]})
            spent = model.seconds_["lists"] + model.seconds_["second"]
            facts = {"seconds": spent, "trees": model.second_.best_iteration_}
            yield label, self.write(label, number, seed, model.evaluate(METRICS, test), facts)

    def write(self, label, number, seed, found, facts):
        """Keep a run, with the values of all test queries."""
        table = found.per_query
        run = {"model": label, "fold": number, "seed": seed, "qid": table["qid"].tolist(), **facts}
        run |= {"values": {m: table[m].tolist() for m in METRICS}, "setting": self.setting}
        self.runs[label, number, seed] = run
        keep(self.args.results, run)
        return run

    def pooled(self, label, seeds):
        """Return all test queries of a model, each the mean over these seeds."""
        numbers = range(1, len(self.folds) + 1)
        return pooled([[self.runs[label, n, seed] for n in numbers] for seed in seeds])


def some(data, queries):
    """Return the first queries of a data set; all of them without a number."""
    if queries is None or queries >= data.groups.ids.size:
        return data
    return data.select(range(queries))


def table(study):
    """Return the table as Markdown: means in percent, the spread of seeds, marks of paired t-tests."""
    seeds = range(study.args.seeds)
    models = {label: study.pooled(label, seeds) for label in study.models()}
    lines = [f"| | {' | '.join(m.upper() for m in METRICS)} | trees | seconds |", "|---" * 8 + "|"]
    marks = {m: _marks(models, m) for m in METRICS}
    for label, model in models.items():
        cells = []
        for m in METRICS:
            each = [100 * study.pooled(label, [s]).mean()[m] for s in seeds]
            spread = f" ± {np.std(each, ddof=1):.2f}" if len(each) > 1 else ""
            cells.append(f"{100 * model.mean()[m]:.2f}{marks[m][label]}{spread}")
        runs = [run for key, run in study.runs.items() if key[0] == label]
        trees = f"{np.mean([r['trees'] for r in runs]):.0f}" if "trees" in runs[0] else "–"
        cells += [trees, f"{np.mean([r['seconds'] for r in runs]):.0f}"]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _marks(models, metric):
    """Return ↑ or ↓ for models that are better or worse than the baseline: paired t-test, Holm, p < 0.05."""
    found = rw.compare(models, metrics=metric, baseline=BASELINE, test="t", correction="holm")
    marks = {BASELINE: ""}
    for label in models:
        if label != BASELINE:
            row, base = found.test(label), models[BASELINE].mean()[metric]
            sign = "↑" if models[label].mean()[metric] > base else "↓"
            marks[label] = sign if row["p"] < 0.05 else ""
    return marks


def arguments(argv):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with the data")
    parser.add_argument("--results", default="two_stage.jsonl", help="where finished runs are kept")
    parser.add_argument("--seeds", type=int, default=5, choices=range(1, 101), metavar="N")
    parser.add_argument("--rounds", type=int, default=200, help="trees, at most")
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--pair-rate", type=float, default=0.01, help="that of models of pairs")
    parser.add_argument("--patience", type=int, default=30)
    parser.add_argument("--k", type=int, default=5, help="cutoff of the second stage")
    parser.add_argument("--top", type=int, default=20, help="documents that are ranked again")
    parser.add_argument("--stages", type=int, default=10, help="folds of the first stage")
    parser.add_argument("--queries", type=int, help="train on the first so many queries only")
    parser.add_argument("--absent", type=float, default=0.0, help="value of absent features (nan)")
    parser.add_argument("--threads", type=int)
    return parser.parse_args(argv)


def main(argv=None):
    """Train what is missing, then print the table."""
    args = arguments(argv)
    study = Study(args.data, args)
    if study.folds is None:
        return 0
    missing = [key for key in study.wanted() if key not in study.runs]
    turns = sorted({(number, seed) for _, number, seed in missing})
    print(f"{len(turns)} fold(s) and seed(s) to train", flush=True)
    for number, seed in turns:
        for label, run in study.train(number, seed):
            print(
                f"fold {number}, seed {seed}: {label}: {run['trees']} trees, {run['seconds']:.0f} s, "
                f"{METRICS[2]} {np.mean(run['values'][METRICS[2]]):.4f}",
                flush=True,
            )
    queries = sum(test.groups.ids.size for _, _, test in study.folds)
    print(
        f"\n{study.name}, {queries} test queries, {len(study.folds)} fold(s), {args.seeds} seed(s): means in percent ± "
        f"standard deviation over seeds. ↑ ↓: better or worse than {BASELINE}, paired t-test over queries, each the "
        f"mean of its seeds, p < 0.05 after Holm's correction over the models of a column.\n\n{table(study)}\n\n"
        f"{versions('lightgbm')}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
