"""docs/benchmarks.md for users and benchmarks/targets.md for us, made from benchmarks/results.json."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
TARGETS = ROOT / "benchmarks" / "targets.md"
INTRO = """# Benchmarks

Most rows compare Rankwood with another program, in one process on 2 threads. The contenders run in turns, and the best
of several rounds counts. A ratio is the other program's number divided by Rankwood's, so that 3 means three times as
fast, or a third of the memory; for whole training and for the peak memory of a file it is Rankwood's number divided by
the other one. `python -m benchmarks --write` measures all rows and writes this page; `python -m benchmarks NAME
--write` measures one group again and keeps the others.

- The time of an objective is the time of a boosting round minus that of the same round with a custom objective that
  does nothing.
- LightGBM is loaded in the way Rankwood's engine loads it, for both contenders: its idle threads wait passively. With
  OpenMP's default waiting (LightGBM imported before Rankwood), the ratios measured on 2026-11-15 were 2.2 and 2.2 at
  truncation 10 (norm on and off), 3.0 and 3.3 at 30, and 4.3 and 6.1 without truncation.
- Rows with the name of an objective start from the scores of a model in the middle of its training (half the label plus
  noise, NDCG@10 0.47). The other rows start from equal scores, as training does.
"""
LENGTH = """
## Cost by the length of a list

Nanoseconds per document in float32 on 2 threads, the best of 7 calls (`python -m benchmarks.bench_length`, 2026-11-16,
two cores of an AMD EPYC):

| documents per list | 10 | 30 | 100 | 300 | 1,000 | 3,000 | 10,000 |
|---|---|---|---|---|---|---|---|
| `lambdarank-ndcg@10` | 26 | 20 | 18 | 21 | 28 | 26 | 26 |
| `lambdarank-p@10` | 15 | 20 | 17 | 15 | 14 | 14 | 14 |
| `lambdagap-s@10` | 8 | 9 | 9 | 13 | 19 | 17 | 17 |
| `lambdamart-ex-static@10` | 24 | 20 | 19 | 21 | 26 | 23 | 23 |
| `yetirank` | 113 | 73 | 75 | 76 | 79 | 77 | 79 |
| `yetiloss-ndcg@10` | 99 | 65 | 73 | 70 | 72 | 74 | 74 |
| `stochasticrank-ndcg@10` | 31 | 21 | 18 | 17 | 17 | 16 | 17 |
| `softmax` | 7 | 5 | 4 | 4 | 4 | 4 | 5 |
| `ranknet` | 30 | 30 | 31 | 42 | 103 | 247 |  |
| `stochasticrank-ndcg` | 41 | 40 | 47 | 74 | 177 | 467 |  |

`ranknet` and `stochasticrank-ndcg` have no cutoff: every document pairs with every other, or can pass every other,
because the scores of a query lie within a few standard deviations of the noise. Their cost is quadratic; with `@10` it
is linear.
"""
TARGETS_INTRO = """# Targets

What each row of `results.json` was to reach, and whether it did; `python -m benchmarks --write` writes this page.

"""


def load() -> dict[str, Any]:
    """Return the stored results: for each benchmark a stamp and its rows."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def store(results: dict[str, Any]) -> None:
    """Write results, and the page made from them."""
    # NumPy's numbers become Python's.
    text = json.dumps(results, indent=1, ensure_ascii=False, default=lambda value: value.item())
    RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")
    TARGETS.write_text(targets(results), encoding="utf-8")


def page(results: dict[str, Any]) -> str:
    """Return the page for users."""
    return f"{INTRO}\n{stamps(results)}\n\n{table(_rows(results))}{LENGTH}"


def targets(results: dict[str, Any]) -> str:
    """Return the page with targets and with the spread of rounds."""
    lines = ["| what | against | ratio | target | met |", "|---|---|---|---|---|"]
    for row in _rows(results):
        cells = [row["what"], row["against"], _ratio(row), row["bar"]]
        lines.append("| " + " | ".join([*cells, "yes" if row["met"] else "**no**"]) + " |")
    return TARGETS_INTRO + "\n".join(lines) + "\n\n" + spread(_rows(results))


def _rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for found in results.values() for row in found["rows"]]


def _ratio(row: dict[str, Any]) -> str:
    return "-" if row["ratio"] is None else f"{row['ratio']:.2f}"


def stamps(results: dict[str, Any]) -> str:
    """Return when and with what the benchmarks were measured."""
    groups: dict[str, list[str]] = {}
    for name, found in results.items():
        groups.setdefault(found["stamp"], []).append(name)
    if len(groups) == 1:
        return f"Measured on {next(iter(groups))}."
    lines = [f"- {', '.join(names)}: {stamp}." for stamp, names in groups.items()]
    return "\n".join(["Measured on different days:", "", *lines])


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of ratios."""
    lines = ["| what | against | Rankwood | other | ratio |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [row["what"], row["against"], row["ours"], row["other"], _ratio(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def spread(rows: list[dict[str, Any]]) -> str:
    """Return how far the rounds of each row are apart."""
    lines = [
        "## Spread",
        "",
        "Three numbers with slashes are the best, the median and the worst round.",
        "",
    ]
    lines += [f"- {row['what']}: {row['spread']}" for row in rows if row["spread"]]
    return "\n".join(lines) + "\n"
