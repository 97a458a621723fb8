"""Watch how often truncated gradients push a better document less than a worse one above it, round by round.

python examples/incoherency.py --data path/to/ohsumed

Trains LambdaRank, truncated and not, and Lambda-eX on S1 to S3 of a LETOR set. The tables show, by round, the share of
queries with an incoherent pair, that of queries in which a document that doesn't belong into the top k is pushed
more than one that does, and the share of all pairs that the objective used.
"""

import argparse
import sys

from folds import splits

import rankwood as rw

OBJECTIVES = ("lambdarank-ndcg@{k}", "lambdarank-ndcg@{more}", "lambdarank-ndcg")
OBJECTIVES = (*OBJECTIVES, "lambdamart-ex-static@{k}", "lambdamart-ex-random@{k}")
CURVES = {
    "incoherent": "queries with an incoherent pair",
    "false_over_missed": "queries with a false document pushed more than a missed one",
    "effective_pairs": "pairs used",
}


def arguments(argv):
    """Return the options."""
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    about.add_argument("--data", required=True, help="folder with S1.txt to S5.txt")
    about.add_argument("--objective", action="append", help="only these; may repeat")
    about.add_argument("--k", type=int, default=5, help="cutoff (default: 5)")
    about.add_argument("--trees", type=int, default=100, help="rounds (default: 100)")
    about.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    return about.parse_args(argv)


def rounds(trees):
    """Return the rounds to show, from 1: a few, closer together at the beginning."""
    return sorted({r for r in (1, 2, 5, 10, 20, 50, 100, 200, 500, trees) if r <= trees})


def main(argv=None):
    """Train with a record, and show it."""
    args = arguments(argv)
    found = splits(args.data, args.threads, folds=[1])
    if found is None:
        return 0
    ((train, _, _),) = found
    records = {}
    for name in args.objective or OBJECTIVES:
        objective = name.format(k=args.k, more=args.k + 3)
        ranker = rw.Ranker(
            objective,
            n_estimators=args.trees,
            num_leaves=15,
            extra_trees=False,
            record=["coherency", "effective_pairs"],
            n_jobs=args.threads,
            verbose=False,
        )
        records[objective] = ranker.fit(train).record_
    shown = rounds(args.trees)
    for curve, title in CURVES.items():
        print(f"\n{title}, by round\n")
        print(f"| objective | {' | '.join(map(str, shown))} |\n|---|{'--:|' * len(shown)}")
        for objective, record in records.items():
            values = record.get(curve)  # without a cutoff nothing is false or missed
            if values is not None:
                # Training ends early if no tree can be grown.
                cells = [f"{values[r - 1]:.3f}" if r <= len(values) else "" for r in shown]
                print(f"| {objective} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
