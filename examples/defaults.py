"""Study the defaults of `rw.Ranker` on real sets, or compare them with those of other programs.

python examples/defaults.py --data path/to/mq2008 --data path/to/hkjc-races:-76 --try "num_leaves=15"
python examples/defaults.py --data path/to/mq2008 --data path/to/hkjc-races:-76 --peers

Each `--try` is a setting: values that differ from `START`, which was `rw.Ranker()` before the study. Every setting is
trained on every fold of every set with every seed and stopped by the fold's validation data (`valid=False`: it isn't),
and its test queries are compared with those of `START`. `--peers` trains the defaults of four programs instead.
Finished runs are stored, and another call goes on where one stopped. `:-76` after a folder leaves a feature out.
"""

import argparse
import ast
import sys
import time
from pathlib import Path

import numpy as np
from folds import five_folds
from peers import PEERS
from runs import finished, in_turn, keep, publish

import rankwood as rw

METRICS = ["ndcg@10", "p@5", "map"]
START = {
    "objective": "lambdarank-ndcg@10",
    "engine": "lightgbm",
    "n_estimators": 100,
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 20,
    "min_child_weight": 1e-3,
    "reg_alpha": 0.0,
    "reg_lambda": 0.0,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "early_stopping_rounds": 50,
    "extra_trees": False,
}


def arguments(argv):
    """Return the options."""
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    about.add_argument("--data", action="append", required=True, metavar="DIR[:-FEATURE]")
    about.add_argument("--try", action="append", default=[], dest="settings", metavar="SETTING")
    about.add_argument("--peers", action="store_true", help="compare programs, not settings")
    about.add_argument("--metric", default="ndcg@10", choices=METRICS, help="metric of the tables")
    about.add_argument("--seeds", type=int, default=1, help="seeds (default: 1)")
    about.add_argument("--threads", type=int, default=1, help="threads (default: 1)")
    about.add_argument("--results", default="defaults.jsonl", help="file of finished runs")
    about.add_argument("--output", help="Markdown file to write")
    return about.parse_args(argv)


def parsed(setting):
    """Return the parameters of a setting, written as name=value, separated by spaces."""
    found = {}
    for word in setting.split():
        name, _, value = word.partition("=")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def read_set(text, threads):
    """Return the folds of a set, with one feature less if the text ends in :-FEATURE."""
    folder, _, without = text.partition(":-")
    made = five_folds(folder, threads, absent=np.nan)
    if made is None:
        return None
    if not without:
        return made
    return [tuple(_dropped(part, int(without) - 1) for part in fold) for fold in made]


def _dropped(data, column):
    """Return data without a feature."""
    left = np.delete(np.arange(data.n_features), column)
    return rw.RankingData(data.X[:, left], data.y, qid=data.qid)


def name_of(text):
    """Return the name of a set, with the feature that is omitted."""
    folder, colon, without = text.partition(":-")
    return Path(folder).resolve().name + colon + without


def train(setting, fold, seed, threads):
    """Return what to keep of a run: the values of the test queries, the number of trees, and the time."""
    start = time.perf_counter()
    if setting in PEERS:
        scores, trees = PEERS[setting](*fold, seed, threads)
    else:
        params = {**START, **parsed(setting)}
        valid = fold[1] if params.pop("valid", True) else None
        if params["engine"] != "lightgbm":  # others have no such trees
            del params["extra_trees"]
        ranker = rw.Ranker(**params, random_state=seed, n_jobs=threads, verbose=False)
        scores = ranker.fit(fold[0], valid=valid).predict(fold[2])
        trees = ranker.best_iteration_
    spent = time.perf_counter() - start
    found = rw.evaluate(METRICS, fold[2], scores, n_jobs=threads)
    return {
        "trees": int(trees),
        "seconds": round(spent, 2),
        "values": {m: np.round(found.per_query[m], 6).tolist() for m in METRICS},
    }


def complete(args, data, settings):
    """Train what is missing; return the values of the test queries by setting and set, as means over the seeds."""
    wanted = [
        (setting, name, number, seed)
        for seed in range(args.seeds)
        for setting in settings
        for name, folds in data.items()
        for number in range(len(folds))
    ]
    by = ("try", "set", "fold", "seed")
    done = finished(args.results, "runs", *by)
    for run, note in in_turn([one for one in wanted if one not in done], wanted, args.results):
        setting, name, number, seed = run
        made = train(setting, data[name][number], seed, args.threads)
        done[run] = {"setting": "runs", **dict(zip(by, run, strict=True)), **made}
        keep(args.results, done[run])
        note(f"{setting or 'start'}, {name} {number}: {np.mean(made['values']['ndcg@10']):.4f}")
    return {
        (setting, name): np.mean(
            [
                np.concatenate([done[setting, name, f, s]["values"][args.metric] for f in range(n)])
                for s in range(args.seeds)
            ],
            axis=0,
        )
        for setting in settings
        for name, n in ((name, len(folds)) for name, folds in data.items())
    }


def weights_of(names):
    """Return the weight of each set in a mean over sets: sets of the same folder share one."""
    folders = [name.partition(":-")[0] for name in names]
    shares = np.array([1 / folders.count(folder) for folder in folders])
    return shares / shares.sum()


def table_of_settings(values, settings, names):
    """Return the differences from START, in thousandths with their standard errors, and their means over sets."""
    rows = [f"| setting | {' | '.join(names)} | mean |", "|---" + "|--:" * (len(names) + 1) + "|"]
    means = {}
    for setting in settings:
        cells, found = [], []
        for name in names:
            d = 1000 * (values[setting, name] - values["", name])
            found.append(d.mean())
            cells.append(f"{d.mean():+.1f} ± {d.std() / np.sqrt(d.size):.1f}")
        means[setting] = np.array(found)
        mean = weights_of(names) @ means[setting]
        rows.append(f"| `{setting or 'start'}` | {' | '.join(cells)} | {mean:+.1f} |")
    return "\n".join(rows), means


def leave_one_out(means, names):
    """Return, for each folder, the setting that is best on the others, and what it gives on this one."""
    rows = ["| left out | best on the others | there | on the set left out |", "|---|---|--:|--:|"]
    for folder in dict.fromkeys(name.partition(":-")[0] for name in names):
        out = np.array([name.partition(":-")[0] == folder for name in names])
        kept = weights_of([name for name, o in zip(names, out, strict=True) if not o])
        others = {setting: kept @ found[~out] for setting, found in means.items()}
        best = max(others, key=others.get)
        here = means[best][out].mean()
        rows.append(f"| {folder} | `{best or 'start'}` | {others[best]:+.1f} | {here:+.1f} |")
    return "\n".join(rows)


def table_of_peers(values, names):
    """Return the means of the programs by set, and the tests of the first against each of the others."""
    ours, *others = PEERS
    p = {
        (peer, name): rw.stats.permutation(values[ours, name] - values[peer, name]).p
        for peer in others
        for name in names
    }
    corrected = dict(zip(p, rw.stats.holm(list(p.values())), strict=True))
    rows = [f"| set | `{'` | `'.join(PEERS)}` |", "|---" + "|--:" * len(PEERS) + "|"]
    for name in names:
        cells = [f"{values[ours, name].mean():.4f}"]
        for peer in others:
            cells.append(f"{values[peer, name].mean():.4f} ({corrected[peer, name]:.3f})")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    mean = [weights_of(names) @ [values[peer, name].mean() for name in names] for peer in PEERS]
    rows.append(f"| mean | {' | '.join(f'{one:.4f}' for one in mean)} |")
    return "\n".join(rows)


def main(argv=None):
    """Train what is missing, and show the tables."""
    args = arguments(argv)
    read = {name_of(text): read_set(text, args.threads) for text in args.data}
    data = {name: folds for name, folds in read.items() if folds is not None}
    names = list(data)
    if not data:
        return 0
    seeds = "one seed" if args.seeds == 1 else f"the mean of {args.seeds} seeds"
    if args.peers:
        values = complete(args, data, list(PEERS))
        how = "in brackets p against the first column, corrected by Holm's method over the table"
        text = f"{table_of_peers(values, names)}\n\n{args.metric}, {seeds}; {how}.\n"
        publish(text, args.output, "Defaults of four programs", "lightgbm")
        return 0
    settings = ["", *args.settings]
    table, means = table_of_settings(complete(args, data, settings), settings, names)
    how = f"Differences of {args.metric} in thousandths ± standard errors, {seeds}"
    text = f"{table}\n\n{how}.\n\n{leave_one_out(means, names)}\n"
    publish(text, args.output, "Settings against the start", "lightgbm")
    return 0


if __name__ == "__main__":
    sys.exit(main())
