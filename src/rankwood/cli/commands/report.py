"""``rankwood report``: one HTML page about one or several models."""

import argparse
import os
from typing import Any

from rich.console import Console

from rankwood import metric
from rankwood.cli.shared import arguments, display, evaluated_files, file_access, tables
from rankwood.data.ranking_data import RankingData
from rankwood.render import theme
from rankwood.report import read_evaluation
from rankwood.report.comparison.files import looks_like_evaluation
from rankwood.report.page.make import page_of
from rankwood.report.page.scored import METRICS, ScoredModel

_EXAMPLE = """
rankwood report test.txt m.json --output report.html
rankwood report test.txt old.json new.json --train train.txt --metric ndcg@10 --metric map --output report.html
rankwood report test.txt scores_a.txt model_b.json --name old=scores_a.txt --baseline old --output report.html
rankwood report qrels.txt run1.txt run2.txt --metric map --output report.html
"""


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Write one HTML page about one model or several, which needs no other file."
    parser = arguments.command(commands, "report", about, _EXAMPLE, run, show)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a LETOR, CSV or Parquet file with labels, followed by models or files of scores (one per line); or TREC "
        "judgments, followed by runs; or tables of queries from rankwood evaluate --per-query",
    )
    parser.add_argument("--output", metavar="FILE", required=True, help="HTML file to write")
    evaluated_files.add_model_names(parser)
    default = "ndcg@10, map and mrr, or all metrics of the tables"
    text = "metric, see rankwood metrics; may be repeated, queries are shown by the first"
    arguments.add_names(parser, "--metric", f"{text} (default: {default})")
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="LETOR, CSV or Parquet file that the models were trained on: adds the metrics on it, and what the "
        "objectives did is shown there",
    )
    parser.add_argument("--title", help="heading of the page (default: the names of the models)")
    arguments.add_metric_rules(parser.add_argument_group("rules of metrics"))
    arguments.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Write the page, and return what it is about."""
    labels, files = evaluated_files.split_files(args.files, least=1)
    names = evaluated_files.name_models(files, args.name)
    for name in args.metric or [] if labels else []:  # tables may have metrics that we don't know
        metric(name)
    metrics = args.metric or (list(METRICS) if labels else None)
    file_access.check_output(args.output, [*args.files, *([args.train] if args.train else [])])
    theme.check_installed()
    source = evaluated_files.FileEvaluator(labels, args)
    models = []
    for name, file in names.items():
        with display.status(f"Evaluating {file}"):
            models.append(_scored(name, file, source, metrics))
    test = None if labels is None else source.data()
    rules = {key: getattr(args, key) for key in ("ties", "empty", "convention")}
    with display.status("Writing the page"):
        rules["n_jobs"] = args.threads
        page = page_of(models, test, metrics, args.baseline, args.title, rules)
        page.save(args.output)
    return {
        "output": args.output,
        "bytes": os.path.getsize(args.output),
        "title": page.title,
        "files": names,
        "metrics": metrics or models[0].evaluation.metrics,
        "means": {model.name: model.evaluation.mean() for model in models},
    }


def _scored(
    name: str, file: str, source: evaluated_files.FileEvaluator, metrics: list[str] | None
) -> ScoredModel:
    """Return a model with its evaluation, and with its scores and training data where there are any."""
    if looks_like_evaluation(file):
        return ScoredModel(name, read_evaluation(file))
    scored = source.scored(file)
    ev = source.evaluation_of(scored, metrics)
    data = scored.data if isinstance(scored.data, RankingData) else None
    model = ScoredModel(name, ev, scored.scores, scored.ranker, data)
    path = source.args.train
    if scored.ranker is None or path is None:
        return model
    train = tables.read_documents(path, source.args, scored.ranker.n_features_in_, scored.ranker)
    return model._replace(train=train)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the name of the file, and how large it is."""
    size = f"{result['bytes'] / 1e6:.1f} MB"
    out.print(f"{result['output']}: {result['title']}, {size}", soft_wrap=True)
