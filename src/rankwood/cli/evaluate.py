"""``rankwood evaluate``."""

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from rankwood import evaluate, metric
from rankwood._core.checks import InputError
from rankwood.cli import _args, _files, _models, _show
from rankwood.data import trec
from rankwood.data.ranking_data import RankingData
from rankwood.metrics.evaluate import CONVENTIONS, EMPTY, TIES
from rankwood.metrics.evaluation import Evaluation

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


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "Evaluate scores, or a model, on a LETOR file; or a TREC run by its judgments."
    parser = _args.command(commands, "evaluate", about, _EXAMPLE, run, show)
    parser.add_argument(
        "data",
        metavar="DATA",
        help="LETOR file with labels, or TREC judgments (qid 0 doc label); plain or gzip",
    )
    parser.add_argument(
        "scores",
        metavar="SCORES",
        help="file with one score per line (- for standard input), a model, or the TREC run",
    )
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="see rankwood metrics; may be repeated (default: ndcg@10)",
    )
    parser.add_argument(
        "--ties", choices=TIES, help="order of documents with equal scores (default: worst)"
    )
    parser.add_argument(
        "--empty",
        type=lambda text: int(text) if text in ("0", "1") else text,
        choices=EMPTY,
        help="what a query without relevant documents scores, or skip (default: 0)",
    )
    parser.add_argument(
        "--convention", choices=tuple(CONVENTIONS), help="definitions and rules of a program"
    )
    parser.add_argument("--per-query", metavar="FILE", help="write a CSV table, one row per query")
    _args.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the means, and the rules behind them."""
    metrics = args.metric or ["ndcg@10"]
    for name in metrics:
        metric(name)
    if args.per_query is not None:
        _files.check_output(args.per_query, [args.data, args.scores])
    rules = {"ties": args.ties, "empty": args.empty, "convention": args.convention}
    with _show.busy(f"Evaluating {args.scores}"):
        judged = _models.go_together(args.data, args.scores) == "qrels"
        given, scores = _read_trec(args) if judged else _read(args)
        with _files.named(args.data):
            ev = evaluate(metrics, given, scores, **rules, n_jobs=args.threads)
    if args.per_query is not None:
        ev.to_csv(args.per_query)
    return {
        "data": _described(args.data, given, ev),
        "scores": args.scores,
        "metrics": ev.mean(),
        "queries": {name: int((~np.isnan(ev.per_query[name])).sum()) for name in ev.metrics},
        "queries_without_relevant": _without_relevant(given, ev),
        "conventions": {
            "convention": args.convention,
            "gain": _gain(metrics, args.convention),
            **ev.conventions,
        },
        "per_query": args.per_query,
    }


def _gain(metrics: list[str], convention: str | None) -> Any:
    """Return the gain of metrics that have one and state none, by name if they differ; None without any."""
    settings = CONVENTIONS.get(convention or "", {}).get("metrics", {})
    names = {name: name.split("(")[0].split("@")[0].strip() for name in metrics}
    gains = {
        name: settings.get(base, {}).get("gain", "exp")
        for name, base in names.items()
        if base in ("ndcg", "dcg") and "gain" not in name
    }
    said = set(gains.values())
    return gains if len(said) > 1 else next(iter(said), None)


def _described(path: str, given: RankingData | trec.Qrels, ev: Evaluation) -> dict[str, Any]:
    if isinstance(given, RankingData):
        return _files.described(path, given)
    return {"file": path, "queries": int(ev.per_query.size), "judgments": len(given.qid)}


def _without_relevant(given: RankingData | trec.Qrels, ev: Evaluation) -> int:
    """Return the number of evaluated queries that have no label above 0."""
    if isinstance(given, RankingData):
        groups = given.groups
        return int((np.maximum.reduceat(given.y[groups.rows], groups.ptr[:-1]) == 0).sum())
    some = {q for q, label in zip(given.qid, given.label, strict=True) if label > 0}
    return sum(q not in some for q in ev.per_query["qid"].tolist())


def _read_trec(args: argparse.Namespace) -> tuple[trec.Qrels, trec.Run]:
    """Return judgments and the run."""
    return trec.load_qrels(args.data), trec.load_run(args.scores)


def _read(args: argparse.Namespace) -> tuple[RankingData, np.ndarray]:
    """Return labelled documents, and their scores from a file or by a model."""
    if _files.looks_like_model(args.scores):
        ranker = _files.load_model(args.scores, args.threads)
        data = _files.read_data(args.data, args, ranker.n_features_in_, ranker)
        return data, ranker.predict(data)
    scores = _files.read_scores(args.scores)
    data = _files.read_data(args.data, args)
    if scores.size != len(data):
        raise InputError(
            f"{args.scores} has {_show.counted(scores.size, 'score')}, but {args.data} has "
            f"{_show.counted(len(data), 'document')}; expected one score per document."
        )
    return data, scores


def _said(empty: Any) -> str:
    """Return the rule for queries without relevant documents in words."""
    if isinstance(empty, dict):
        return ", ".join(f"{name} {_said(rule)}" for name, rule in empty.items())
    return "left out" if empty == "skip" else f"count as {empty}"


def _said_gain(gain: Any) -> str:
    if isinstance(gain, dict):
        return ", ".join(f"{name} {_GAINS[own]}" for name, own in gain.items())
    return _GAINS[gain]


def show(result: dict[str, Any], out: Console) -> None:
    """Write the table of means."""
    rows = (
        (name, f"{mean:.5f}", f"{result['queries'][name]:,}")
        for name, mean in result["metrics"].items()
    )
    out.print(_show.table(["metric", "mean", "queries"], rows, numbers=2))
    rules = result["conventions"]
    out.print(f"Equal scores: {rules['ties']}, {_TIES[rules['ties']]}.", style="dim")
    empty = _said(rules["empty"])
    without = f"{result['queries_without_relevant']:,} of {result['data']['queries']:,}"
    out.print(f"Queries without relevant documents: {empty} ({without}).", style="dim")
    if rules["gain"] is not None:
        gain = _said_gain(rules["gain"])
        out.print(f"Gain, unless a metric states another: {gain}.", style="dim")
    if result["per_query"]:
        out.print(f"Table of queries: {result['per_query']}", soft_wrap=True)
