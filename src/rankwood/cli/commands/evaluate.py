"""``rankwood evaluate``: metrics of scores, of a model or of a TREC run."""

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from rankwood import metric, stats
from rankwood._kernels import spec
from rankwood.cli.shared import arguments, display, evaluated_files, file_access
from rankwood.data.source import Source
from rankwood.data.trec.files import Qrels
from rankwood.metrics.evaluate import CONVENTIONS, METRICS
from rankwood.metrics.evaluation import Evaluation
from rankwood.render.table import Cell, Table

_EXAMPLE = """
rankwood evaluate test.txt scores.txt --metric ndcg@5 --metric ndcg@10
rankwood evaluate test.txt m.json --metric ndcg@10 --per-query queries.csv
rankwood evaluate qrels.txt run.txt --metric map --convention trec_eval
"""
_TIES = {
    "worst": "less relevant first",
    "input": "as in the file",
    "best": "more relevant first",
    "average": "mean over all orders",
}
_GAINS = {"exp": "2^label - 1", "linear": "the label"}


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Evaluate scores or a model on a LETOR, CSV or Parquet file, or a TREC run by its judgments."
    parser = arguments.command(commands, "evaluate", about, _EXAMPLE, run, show)
    text = "LETOR or CSV file with labels, or TREC judgments (qid 0 doc label), plain or gzipped; or Parquet file"
    arguments.add_file(parser, "data", text)
    text = "file with one score per line (- for standard input), model file, or TREC run"
    arguments.add_file(parser, "scores", text)
    text = "metric, see rankwood metrics; may be repeated (default: ndcg@10)"
    arguments.add_names(parser, "--metric", text)
    arguments.add_metric_rules(parser)
    _add_intervals(parser)
    parser.add_argument("--per-query", metavar="FILE", help="CSV file to write, one row per query")
    arguments.add_reading(parser)
    return parser


def _add_intervals(parser: argparse.ArgumentParser) -> None:
    """Add the options for confidence intervals."""
    parser.add_argument(
        "--interval",
        choices=stats.INTERVALS,
        default="t",
        help="confidence interval of a mean over queries: Student's (t), or one of the bootstrap (bca, percentile) "
        "(default: t)",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="LEVEL",
        help="confidence level of the interval, between 0 and 1 (default: 0.95)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the means, and the rules behind them."""
    metrics = args.metric or ["ndcg@10"]
    for name in metrics:
        metric(name)
    stats.confidence(args.confidence)
    if args.per_query is not None:
        file_access.check_output(args.per_query, [args.data, args.scores])
    with display.status(f"Evaluating {args.scores}"):
        source = evaluated_files.FileEvaluator(args.data, args, in_memory=False)
        data, ev = source.evaluate(args.scores, metrics)
    if args.per_query is not None:
        ev.to_csv(args.per_query)
    return {
        "data": _sizes(args.data, data, ev),
        "scores": args.scores,
        "metrics": ev.mean(),
        "intervals": ev.intervals(args.confidence, interval=args.interval),
        "interval": args.interval,
        "confidence": args.confidence,
        "queries": {name: int((~np.isnan(ev.per_query[name])).sum()) for name in ev.metrics},
        "queries_without_relevant": _without_relevant(data, ev),
        "conventions": {
            "convention": args.convention,
            "gain": _gain(metrics, args.convention),
            **ev.conventions,
        },
        "per_query": args.per_query,
    }


def _gain(metrics: list[str], convention: str | None) -> Any:
    """Return the gain of the metrics whose names do not state one, by metric if they differ; None if all state one."""
    settings = CONVENTIONS.get(convention or "", {}).get("metrics", {})
    readings = {name: spec.read(name, METRICS, "metric", convention) for name in metrics}
    gains = {
        name: settings.get(reading.name, {}).get("gain", "exp")
        for name, reading in readings.items()
        if reading is not None and reading.name in ("ndcg", "dcg") and "gain" not in reading.given
    }
    different = set(gains.values())
    return gains if len(different) > 1 else next(iter(different), None)


def _sizes(path: str, data: Source | Qrels, ev: Evaluation) -> dict[str, Any]:
    if isinstance(data, Source):
        return file_access.sizes(path, data)
    return {"file": path, "queries": int(ev.per_query.size), "judgments": len(data.qid)}


def _without_relevant(data: Source | Qrels, ev: Evaluation) -> int:
    """Return the number of evaluated queries that have no label above 0."""
    if isinstance(data, Source):
        groups = data.groups
        return int((np.maximum.reduceat(data.y[groups.rows], groups.ptr[:-1]) == 0).sum())
    with_relevant = {q for q, label in zip(data.qid, data.label, strict=True) if label > 0}
    return sum(q not in with_relevant for q in ev.per_query["qid"].tolist())


def show(result: dict[str, Any], out: Console) -> None:
    """Write the table of means, with the rules behind them as notes."""
    rows = [
        [
            Cell(name),
            Cell(f"{mean:.5f}"),
            _between(*result["intervals"][name]),
            Cell(f"{result['queries'][name]:,}"),
        ]
        for name, mean in result["metrics"].items()
    ]
    heads = ["metric", "mean", f"{100 * result['confidence']:g} % interval", "queries"]
    rules = result["conventions"]
    without = f"{result['queries_without_relevant']:,} of {result['data']['queries']:,}"
    notes = [
        f"Equal scores: {rules['ties']}, {_TIES[rules['ties']]}.",
        f"Queries without relevant documents: {_by_metric(rules['empty'], _empty_rule)} ({without}).",
    ]
    if rules["gain"] is not None:
        gain = _by_metric(rules["gain"], _GAINS.get)
        notes.append(f"Gain, unless a metric states another: {gain}.")
    display.show_table(out, Table("", heads, rows, 3, notes), ("queries",))
    if result["per_query"]:
        out.print(f"Table of queries: {result['per_query']}", soft_wrap=True)


def _between(low: float, high: float) -> Cell:
    """Return an interval; one query has none."""
    return Cell("" if np.isnan(low) else f"{low:.5f} to {high:.5f}")


def _by_metric(rule: Any, describe: Any) -> str:
    """Return a description of a rule, or of the rules of each metric."""
    if isinstance(rule, dict):
        return ", ".join(f"{name} {describe(value)}" for name, value in rule.items())
    return str(describe(rule))


def _empty_rule(empty: Any) -> str:
    return "omitted" if empty == "skip" else f"count as {empty}"
