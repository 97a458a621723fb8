"""The summary that ``rankwood train`` writes for people."""

import shlex
from typing import Any

from rich.console import Console

from rankwood._util.text import plural
from rankwood.cli.shared import display
from rankwood.cli.training import neural, two_stages

_CURVES = {
    "effective_pairs": "Effective pairs",
    "incoherent": "Incoherent queries",
    "false_over_missed": "False over missed",
}


def next_commands(model: str, metrics: list[str]) -> list[str]:
    """Return the commands that predict with a model and evaluate it."""
    options = [word for name in metrics for word in ("--metric", name)]
    return [
        shlex.join(["rankwood", "predict", model, "TEST", "--output", "scores.txt"]),
        shlex.join(["rankwood", "evaluate", "TEST", model, *options]),
    ]


def show_summary(result: dict[str, Any], out: Console) -> None:
    """Write the summary of a training run."""
    best = result["best_iteration"]
    seconds = dict(result["seconds"])
    total = seconds.pop("total")
    rows = [("Training", _size(result["train"]))]
    several = len(result["valid_sets"]) > 1
    for name, data in result["valid_sets"].items():
        rows.append((f"Validation, {name}" if several else "Validation", _size(data)))
    rows += [("Objective", result["objective"]), ("Engine", result["engine"])]
    rows += two_stages.summary_rows(result)
    chosen = {name: value for name, value in result["chosen"].items() if name != "n_estimators"}
    if chosen:
        rows.append(("By default", ", ".join(f"{name}={value}" for name, value in chosen.items())))
    rows.append(("Rounds", _rounds(result)))
    rows += [(name, f"{mean:.4f} on validation") for name, mean in result["valid_metrics"].items()]
    parts = ", ".join(f"{name} {spent:.2f}" for name, spent in seconds.items())
    rows.append(("Seconds", f"{total:.2f} ({parts})"))
    rows += _recorded(result)
    unit = neural.round_name((result["second"] or result)["engine"])
    rows.append(("Model", f"{result['model']}, {plural(best, unit)}"))
    out.print(display.fact_table(rows))
    display.next_lines(out, result["next"])


def _rounds(result: dict[str, Any]) -> str:
    """Return the number of rounds, the best one, and the round after which training resumed."""
    text = f"{result['rounds']} of {result['n_estimators']}"
    if result["valid"]:
        text += f", best {result['best_iteration']}"
    if result["resumed_after"]:
        text += f"; resumed after {result['resumed_after']}"
    return text


def _recorded(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the recorded shares in the first and the last round, and the file with all rounds."""
    record = result["record"]
    rows = [
        (title, f"{record[name][0]:.2%} in the first round, {record[name][-1]:.2%} in the last")
        for name, title in _CURVES.items()
        if record.get(name)
    ]
    if result["record_file"]:
        rows.append(("Record", result["record_file"]))
    return rows


def _size(data: dict[str, Any]) -> str:
    """Return a file name and the numbers of queries, documents and features in it."""
    counts = (plural(data[n], n[:-1]) for n in ("documents", "features"))
    return ", ".join([f"{data['file']}: {plural(data['queries'], 'query')}", *counts])
