"""Networks beside trees: the same objective, learning rates tuned on the validation data for both.

    python examples/neural.py --data FOLDER [--data FOLDER ...]

FOLDER has S1.txt to S5.txt (five folds), all.txt, or train.txt, vali.txt and test.txt. For each fold, model and
seed, the learning rate with the best validation metric is kept, and the test queries are evaluated once. Finished
runs are lines of the results file, so that a run that was stopped goes on where it was; `--model` chooses what is
trained, so that networks can be trained on one machine and trees on another.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from folds import splits
from runs import finished, keep, pooled, versions

import rankwood as rw

METRICS = ["ndcg@5", "ndcg@10"]
OBJECTIVE = "lambdarank-ndcg@10"
TREES = "trees"
#: Learning rates to choose from: of trees, and of networks trained by Adam.
RATES = {TREES: (0.02, 0.05, 0.1), "networks": (0.0003, 0.001, 0.003)}
NETWORKS = {
    "dnn": {"hidden": (256, 128, 64), "dropout": 0.25},
    "attn-din": {
        **{"hidden": (256, 128, 64), "dropout": 0.25, "layers": 1, "heads": 2, "size": 64},
        "attention_dropout": 0.25,
    },
}


def new_ranker(model, rate, seed, args):
    """Return a ranker that isn't trained yet."""
    shared = {"learning_rate": rate, "eval_metric": "ndcg@10", "random_state": seed}
    shared |= {"n_jobs": args.threads, "verbose": False}
    if model == TREES:
        return rw.Ranker(OBJECTIVE, n_estimators=args.rounds, early_stopping_rounds=50, **shared)
    return rw.NeuralRanker(
        model,
        OBJECTIVE,
        epochs=args.epochs,
        early_stopping_rounds=15,
        batch_documents=args.batch,
        device=args.device,
        **NETWORKS[model],
        **shared,
    )


class Study:
    """One data set: its folds, and the runs that were made of them."""

    def __init__(self, folder, args):
        self.args, self.name = args, Path(folder).resolve().name
        self.folds = splits(folder, args.threads, args.absent)
        self.setting = {name: getattr(args, name) for name in ("epochs", "batch", "rounds")}
        self.setting |= {"data": self.name, "absent": str(args.absent), "rankwood": rw.__version__}
        self.runs = {}
        for path in [args.results, *args.also]:
            self.runs |= finished(path, self.setting, "model", "fold", "seed")

    def missing(self):
        """Return the runs that are to be trained: model, fold, seed."""
        numbers = range(1, len(self.folds) + 1)
        seeds = range(self.args.seeds)
        wanted = [(m, n, s) for s in seeds for m in self.args.model for n in numbers]
        return [key for key in wanted if key not in self.runs]

    def train(self, model, number, seed):
        """Train with each learning rate, keep the best one, and store its test results."""
        start, (train, valid, test) = time.perf_counter(), self.folds[number - 1]
        rates = RATES[TREES if model == TREES else "networks"]
        tried = [new_ranker(model, rate, seed, self.args).fit(train, valid=valid) for rate in rates]
        best = max(tried, key=lambda ranker: max(ranker.history_["ndcg@10"]))
        found = rw.evaluate(METRICS, test, best.predict(test)).per_query
        run = {"model": model, "fold": number, "seed": seed, "setting": self.setting}
        run |= {"rate": best.learning_rate, "rounds": best.best_iteration_}
        run |= {"seconds": time.perf_counter() - start, "qid": found["qid"].tolist()}
        run["values"] = {m: found[m].tolist() for m in METRICS}
        self.runs[model, number, seed] = run
        keep(self.args.results, run)
        return run

    def seeds(self, model):
        """Return the seeds with which a model was trained on all folds."""
        numbers = range(1, len(self.folds) + 1)
        return [s for s in range(100) if all((model, n, s) in self.runs for n in numbers)]

    def evaluation(self, model, seeds):
        """Return all test queries, each the mean over these seeds."""
        numbers = range(1, len(self.folds) + 1)
        return pooled([[self.runs[model, n, seed] for n in numbers] for seed in seeds])


def table(study):
    """Return the rows of a data set as Markdown: means, spread of seeds, p against trees, rates that were chosen."""
    models = {m: study.evaluation(m, study.seeds(m)) for m in (TREES, *NETWORKS) if study.seeds(m)}
    lines = []
    for model, found in models.items():
        cells = [study.name, f"`{OBJECTIVE}` trees" if model == TREES else f"`{model}`"]
        for metric in METRICS:
            each = [study.evaluation(model, [s]).mean()[metric] for s in study.seeds(model)]
            spread = f" ± {np.std(each, ddof=1):.4f}" if len(each) > 1 else ""
            cells.append(f"{found.mean()[metric]:.4f}{spread}")
        p = ""
        if model != TREES and TREES in models:
            both = {name: models[name] for name in (TREES, model)}
            value = rw.compare(both, metrics="ndcg@10", baseline=TREES).test(model)["p"]
            p = "<0.001" if value < 0.001 else f"{value:.3f}"
        runs = [run for key, run in study.runs.items() if key[0] == model]
        rates = sorted({run["rate"] for run in runs})
        cells += [p, str(len(study.seeds(model))), ", ".join(f"{rate:g}" for rate in rates)]
        cells.append(f"{np.mean([run['seconds'] for run in runs]):.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def arguments(argv):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--data", required=True, action="append", help="folder with the data; may be repeated"
    )
    parser.add_argument("--model", nargs="*", default=[TREES, *NETWORKS], help="what to train")
    parser.add_argument("--results", default="neural.jsonl", help="where finished runs are kept")
    parser.add_argument("--also", nargs="*", default=[], help="more files with finished runs")
    parser.add_argument("--seeds", type=int, default=3, choices=range(1, 101), metavar="N")
    parser.add_argument("--epochs", type=int, default=100, help="epochs, at most")
    parser.add_argument("--batch", type=int, default=1024, help="documents of a batch")
    parser.add_argument("--rounds", type=int, default=500, help="trees, at most")
    parser.add_argument("--absent", type=float, default=0.0, help="value of absent features (nan)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    return parser.parse_args(argv)


def main(argv=None):
    """Train what is missing, then print the table."""
    args, lines, used = arguments(argv), [], set()
    for folder in args.data:
        study = Study(folder, args)
        if study.folds is None:
            continue
        for model, number, seed in study.missing():
            run = study.train(model, number, seed)
            mean = np.mean(run["values"]["ndcg@10"])
            print(
                f"{study.name}, fold {number}, seed {seed}: {model}, rate {run['rate']}: {mean:.4f}",
                flush=True,
            )
        lines += table(study)
        used |= {key[0] for key in study.runs}
    if lines:
        heads = ["data", "model", *(m.upper() for m in METRICS), "p", "seeds", "rates", "seconds"]
        print("\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|\n" + "\n".join(lines))
        print(f"\n{versions(*(['lightgbm'] if TREES in args.model else []))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
