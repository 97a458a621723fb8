"""Measure everything the project promises about speed: `python -m benchmarks [names] [--write]`.

With --write the results go to benchmarks/results.json, in place of earlier ones of the same benchmarks, and the page
docs/benchmarks.md is made from that file. With --page nothing is measured, and the page is made again.
"""

import argparse
import importlib
import platform
from datetime import date
from importlib.metadata import version
from typing import Any

from benchmarks import page

NAMES = [
    *("start", "objective", "objectives", "training", "letor", "evaluate", "metrics", "compare"),
    *("yeti", "trees", "pairtree", "torch", "explain", "grid", "checkpoint"),
]


def stamp() -> str:
    """Return the day, the machine and the versions of the contenders."""
    packages = ("lightgbm", "catboost", "numba", "numpy", "scikit-learn")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"{date.today()}, {platform.machine()}, Python {platform.python_version()}, {versions}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which to run, of {NAMES}; all without")
    parser.add_argument("--write", action="store_true", help="store the results, write the page")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    args = parser.parse_args()
    results = page.load()
    if args.page:
        page.store(results)
        return
    found: dict[str, Any] = {}
    for name in args.names or NAMES:
        rows = importlib.import_module(f"benchmarks.bench_{name}").run()
        found[name] = {"stamp": stamp(), "rows": rows}
        print(page.table(rows), flush=True)
    if args.write:
        merged = {**results, **found}
        page.store({name: merged[name] for name in NAMES if name in merged})


if __name__ == "__main__":
    main()
