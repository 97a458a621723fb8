"""docs/benchmarks.md, made from benchmarks/results.json: computing apart from rendering."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
INTRO = """# Benchmarks

Most rows compare Rankwood with another program, in one process on 2 threads. The contenders run in turns, and the best
of several rounds counts. `python -m benchmarks --write` measures all rows and writes this page;
`python -m benchmarks NAME --write` measures one group again and keeps the others. The results are in
`benchmarks/results.json`.

- The time of an objective is the time of a boosting round minus that of the same round with a custom objective that
  does nothing.
- LightGBM is loaded in the way Rankwood's engine loads it, for both contenders: its idle threads wait passively. With
  OpenMP's default waiting (LightGBM imported before Rankwood), the ratios measured on 2026-11-15 were 2.2 and 2.2 at
  truncation 10 (norm on and off), 3.0 and 3.3 at 30, and 4.3 and 6.1 without truncation.
- Rows with the name of an objective start from the scores of a model in the middle of its training (half the label plus
  noise, NDCG@10 0.47). The other rows start from equal scores, as training does.
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


def page(results: dict[str, Any]) -> str:
    """Return the page."""
    rows = [row for found in results.values() for row in found["rows"]]
    return f"{INTRO}\n{stamps(results)}\n\n{table(rows)}\n{spread(rows)}"


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
    lines = [
        "| what | against | Rankwood | other | ratio | bar | met |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
        cells = [row["what"], row["against"], row["ours"], row["other"], ratio, row["bar"]]
        lines.append("| " + " | ".join([*cells, "yes" if row["met"] else "**no**"]) + " |")
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
