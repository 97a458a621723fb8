"""Run hostile inputs for some minutes and print a table of what became of them.

    python -m tests.fuzz --minutes 30

Inputs that went wrong are kept in a folder, and a second run goes on where the first one ended.
"""

import argparse
import os
from pathlib import Path

from tests.fuzz import models
from tests.fuzz.campaign import KINDS, Campaign, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time to spend (default: 1)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of input"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--seed", type=int, default=0, help="seed of all inputs (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("fuzz-out"), help="folder of what was found"
    )
    args = parser.parse_args()
    campaign = Campaign(args.out, args.seed)
    os.environ["RANKWOOD_FUZZ_BASES"] = str(args.out)
    if "models" in args.kinds:
        models.train_bases(args.out)
    campaign.run(args.minutes, args.kinds, args.jobs)
    print(table(campaign.counts))
    bad = sum(count.bad for count in campaign.counts.values())
    if bad:
        print(f"\n{bad} inputs went wrong; they are in {args.out}.")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
