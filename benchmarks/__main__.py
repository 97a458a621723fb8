"""Measure everything the project promises about speed: `python -m benchmarks [names] [--write]`.

With --write the table goes to docs/benchmarks.md.
"""

import argparse
import importlib
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

NAMES = [
    *("start", "objective", "objectives", "training", "letor", "evaluate", "metrics", "compare"),
    *("yeti", "pairtree", "torch", "explain"),
]
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
INTRO = """# Benchmarks

Ratios measured side by side in one process, contenders interleaved, best of several rounds, 2 threads.
Made by `python -m benchmarks --write`; the spread shows best / median / worst where three numbers stand together.
A boosting round's objective is what remains after subtracting the same round with a custom objective that does nothing.
LightGBM is loaded as our engine loads it, for both contenders: its idle threads wait passively.
Measured apart with OpenMP's default waiting (LightGBM imported before Rankwood), on 2026-11-15: 2.2 and 2.2 at
truncation 10 (norm on and off), 3.0 and 3.3 at 30, 4.3 and 6.1 without truncation.
Rows that carry the name of an objective start from the scores of a model in the middle of its training
(half the label plus noise, NDCG@10 0.47); the others, as a training does, from nothing.

"""


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| what | against | ours | other | ratio | bar | met |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
        cells = [row["what"], row["against"], row["ours"], row["other"], ratio, row["bar"]]
        lines.append("| " + " | ".join([*cells, "yes" if row["met"] else "**no**"]) + " |")
    lines += ["", "Spread:", ""]
    lines += [f"- {row['what']}: {row['spread']}" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which to run, of {NAMES}; all without")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.names or NAMES:
        rows += importlib.import_module(f"benchmarks.bench_{name}").run()
        print(
            table(rows[-1:]) if len(rows) == 1 else f"{rows[-1]['what']}: {rows[-1]['ratio']}",
            flush=True,
        )
    packages = ", ".join(
        f"{p} {version(p)}" for p in ("lightgbm", "catboost", "numba", "numpy", "scikit-learn")
    )
    stamp = (
        f"{date.today()}, {platform.machine()}, Python {platform.python_version()}, {packages}.\n\n"
    )
    text = INTRO + stamp + table(rows)
    print(text)
    if args.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
