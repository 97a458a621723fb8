"""Networks as second stages, beside trees that compare: tables 3, 4 and 5 of the bivariate paper on your data.

    python examples/neural_two_stage.py --data FOLDER

FOLDER has S1.txt to S5.txt (five folds), all.txt, or train.txt, vali.txt and test.txt. The scores of a cross-fitted
first stage are kept in a file, so that networks can be trained on a machine that has no trees. Finished runs are
lines of the results file, so that a run that was stopped goes on where it was.
"""

import argparse
from pathlib import Path

import numpy as np
from folds import splits
from runs import finished, keep, pooled, versions
from sklearn.base import BaseEstimator

import rankwood as rw

METRICS = [f"ndcg@{k}" for k in (1, 3, 5, 10, 20)]
LOSSES = {"λRank": "lambdarank-ndcg@5(norm=False)", "softmax": "softmax"}
TOWER = {"hidden": (128, 64, 32), "dropout": 0.25}
ATTENTION = {"heads": 2, "size": 64, "attention_dropout": 0.25}
NETWORKS = {
    "DNN": {"architecture": "dnn", **TOWER},
    "GSF(2)": {"architecture": "gsf", "group_size": 2, **TOWER},
    "GSF(2), differences": {"architecture": "gsf", "differences": True, **TOWER},
    "GSF(20)": {"architecture": "gsf", "group_size": 20, **TOWER},
    "attn-DIN": {"architecture": "attn-din", "layers": 1, **TOWER, **ATTENTION},
    "SetRank": {"architecture": "setrank", "layers": 2, **ATTENTION},
}
FIRST = "first stage (λMART)"
#: Trees of the second stage: objective, ideal, engine, learning rate.
TREES = {
    "λMART*": ("lambdarank-ndcg@5", "full", "lightgbm", 0.05),
    "Bi-λMART": ("bi-lambdarank-ndcg@5", "full", "pairtree", 0.01),
    "Bi-GBT_softmax": ("bi-softmax", "full", "pairtree", 0.01),
}


class KnownScores(BaseEstimator):
    """A first stage whose scores of training, validation and test data are known already."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, train, valid=None):
        """There is nothing to learn."""
        self.fitted_ = True
        return self

    def predict(self, data):
        """Return the scores of the data that has as many rows."""
        return next(s for s in self.scores if s.size == len(data))


def first_scores(folder, number, folds, args):
    """Return the first stage's scores of the parts of a fold, cross-fitted; from a file if they are known."""
    path = Path(args.first) / f"{Path(folder).resolve().name}-{number}.npz"
    if path.exists():
        with np.load(path) as known:
            return [known[name] for name in ("train", "valid", "test")]
    train, valid, test = folds[number - 1]
    shared = {"num_leaves": 31, "n_jobs": args.threads, "verbose": False}
    first = rw.Ranker("lambdarank-ndcg@20", n_estimators=args.rounds, learning_rate=0.05, eval_metric="ndcg@20",
                      early_stopping_rounds=30, **shared)  # fmt: skip
    shortest = rw.Ranker(n_estimators=1, **shared)
    # The paper's protocol: test queries are split into folds too.
    model = rw.TwoStage(first, shortest, folds=args.stages, serve="fold", verbose=False)
    model.fit(train, valid=valid)
    scores = [*model.cross_scores_, model.first_scores(test)]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **dict(zip(("train", "valid", "test"), scores, strict=True)))
    return scores


def second_stage(model, loss, seed, args):
    """Return a second stage, and which ideal it knows."""
    shared = {
        "eval_metric": "ndcg@5",
        "random_state": seed,
        "n_jobs": args.threads,
        "verbose": False,
    }
    if model in TREES:
        objective, ideal, engine, rate = TREES[model]
        size = {"num_leaves": 31, "min_child_samples": 200 if engine == "pairtree" else 20}
        return rw.Ranker(objective, engine, n_estimators=args.rounds, learning_rate=rate, early_stopping_rounds=30,
                         **size, **shared), ideal  # fmt: skip
    network = rw.NeuralRanker(objective=LOSSES[loss], epochs=args.epochs, early_stopping_rounds=15,
                              batch_documents=640, device=args.device, **NETWORKS[model], **shared)  # fmt: skip
    return network, "list"


class Study:
    """One data set: its folds, and the runs that were made of them."""

    def __init__(self, folder, args):
        self.args, self.folder, self.name = args, folder, Path(folder).resolve().name
        self.folds = splits(folder, args.threads, args.absent)
        self.setting = {name: getattr(args, name) for name in ("epochs", "rounds", "top", "stages")}
        self.setting |= {"data": self.name, "absent": str(args.absent), "rankwood": rw.__version__}
        self.runs = {}
        for path in [args.results, *args.also]:
            self.runs |= finished(path, self.setting, "model", "loss", "fold", "seed")

    def rows(self):
        """Return the rows of the tables: model and loss."""
        networks = [(model, loss) for model in NETWORKS for loss in LOSSES]
        return [(FIRST, ""), *[(model, "") for model in TREES], *networks]

    def train(self, number):
        """Train what is missing of a fold, one after the other, and store the test results."""
        args = self.args
        wanted = [(m, loss, number, s) for s in range(args.seeds) for m, loss in self.rows()]
        wanted = [key for key in wanted if key not in self.runs and self.is_wanted(key)]
        if not wanted:
            return
        train, valid, test = self.folds[number - 1]
        scores = first_scores(self.folder, number, self.folds, args)
        assert len({s.size for s in scores}) == 3, "parts are told apart by their sizes"
        for model, loss, _, seed in wanted:
            if model == FIRST:
                self.write((model, loss, number, seed), rw.evaluate(METRICS, test, scores[2]), {})
                continue
            second, ideal = second_stage(model, loss, seed, args)
            stages = rw.TwoStage(
                KnownScores(scores), second, top=args.top, folds=1, ideal=ideal, verbose=False
            )
            stages.fit(train, valid=valid)
            facts = {"seconds": stages.seconds_["second"], "rounds": stages.second_.best_iteration_}
            self.write((model, loss, number, seed), stages.evaluate(METRICS, test), facts)
            yield model, loss, seed

    def is_wanted(self, key):
        """Tell whether a run is of those that were chosen; a first stage has one seed."""
        kind = "trees" if key[0] in (FIRST, *TREES) else "networks"
        chosen = kind == "trees" or key[0] in self.args.network
        return kind in self.args.kind and chosen and (key[0] != FIRST or key[3] == 0)

    def write(self, key, found, facts):
        """Keep a run, with the values of all test queries."""
        named = dict(zip(("model", "loss", "fold", "seed"), key, strict=True))
        table = found.per_query
        run = {**named, **facts, "qid": table["qid"].tolist(), "setting": self.setting}
        run["values"] = {m: table[m].tolist() for m in METRICS}
        self.runs[key] = run
        keep(self.args.results, run)

    def evaluation(self, model, loss, seeds):
        """Return all test queries, each the mean over these seeds."""
        numbers = range(1, len(self.folds) + 1)
        return pooled([[self.runs[model, loss, n, seed] for n in numbers] for seed in seeds])


def table(study):
    """Return the table as Markdown: means in percent, and the spread of seeds."""
    lines = [
        f"| | loss | {' | '.join(m.upper() for m in METRICS)} | seeds | seconds |",
        "|---" * 9 + "|",
    ]
    numbers = range(1, len(study.folds) + 1)
    for model, loss in study.rows():
        seeds = [s for s in range(100) if all((model, loss, n, s) in study.runs for n in numbers)]
        if not seeds:
            continue
        cells = [model, loss]
        whole = study.evaluation(model, loss, seeds)
        for metric in METRICS:
            each = [100 * study.evaluation(model, loss, [s]).mean()[metric] for s in seeds]
            spread = f" ± {np.std(each, ddof=1):.2f}" if len(each) > 1 else ""
            cells.append(f"{100 * whole.mean()[metric]:.2f}{spread}")
        spent = [
            r["seconds"]
            for key, r in study.runs.items()
            if key[:2] == (model, loss) and "seconds" in r
        ]
        lines.append(
            "| "
            + " | ".join([*cells, str(len(seeds)), f"{np.mean(spent):.0f}" if spent else "–"])
            + " |"
        )
    return "\n".join(lines)


def arguments(argv):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with the data")
    parser.add_argument("--kind", nargs="*", default=["trees", "networks"], help="what to train")
    parser.add_argument("--network", nargs="*", default=list(NETWORKS), help="which networks")
    parser.add_argument(
        "--results", default="neural_two_stage.jsonl", help="where finished runs are kept"
    )
    parser.add_argument("--also", nargs="*", default=[], help="more files with finished runs")
    parser.add_argument(
        "--first", default="first-stages", help="folder of the first stages' scores"
    )
    parser.add_argument("--seeds", type=int, default=3, choices=range(1, 101), metavar="N")
    parser.add_argument("--epochs", type=int, default=100, help="epochs, at most")
    parser.add_argument("--rounds", type=int, default=300, help="trees, at most")
    parser.add_argument("--top", type=int, default=20, help="documents that are ranked again")
    parser.add_argument("--stages", type=int, default=10, help="folds of the first stage")
    parser.add_argument("--absent", type=float, default=0.0, help="value of absent features (nan)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    return parser.parse_args(argv)


def main(argv=None):
    """Train what is missing, then print the table."""
    args = arguments(argv)
    study = Study(args.data, args)
    if study.folds is None:
        return 0
    for number in range(1, len(study.folds) + 1):
        for model, loss, seed in study.train(number):
            print(f"fold {number}, seed {seed}: {model} {loss}", flush=True)
    queries = sum(test.groups.ids.size for _, _, test in study.folds)
    print(
        f"\n{study.name}, {queries} test queries: means in percent ± standard deviation over seeds.\n"
    )
    print(f"{table(study)}\n\n{versions()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
