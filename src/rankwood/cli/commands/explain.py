"""``rankwood explain``: the features that move documents, by SHAP values."""

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console

from rankwood._util.checks import InputError, nearest
from rankwood._util.text import shortened
from rankwood.cli.shared import arguments, display, file_access, tables
from rankwood.data.ranking_data import RankingData
from rankwood.render.table import Cell, Table

_EXAMPLE = """
rankwood explain m.json test.txt
rankwood explain m.json test.txt --query 17
rankwood explain m.json test.txt --query 17 --pair 3 5 --plot pair.png
"""
_DOCUMENTS = 5  # of a query that are shown
_FEATURES = 3  # beside each document


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = (
        "Tell why documents are where they are: the features that lift them, by exact SHAP values."
    )
    parser = arguments.command(commands, "explain", about, _EXAMPLE, run, show)
    arguments.add_file(parser, "model", "model file written by rankwood train")
    arguments.add_file(parser, "data", "LETOR or CSV file, plain or gzipped, or Parquet file")
    parser.add_argument(
        "--query", metavar="Q", help="the query to explain (default: all, as means)"
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        metavar=("A", "B"),
        help="why document A is above B: ids, or ranks in the query, from 1",
    )
    arguments.add_number(parser, "--top", "number of features to show (default: 10)", default=10)
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the contributions: a .png, .svg or .pdf file"
    )
    arguments.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return contributions: means over all queries, the best documents of a query, or a pair."""
    if args.pair is not None and args.query is None:
        raise InputError("--pair compares two documents of a query: give --query too.")
    if args.plot is not None:
        file_access.check_output(args.plot, [args.model, args.data])
    ranker = file_access.read_model(args.model, args.threads)
    with display.status(f"Explaining {args.data}"):
        data = tables.read_documents(args.data, args, ranker.n_features_in_, ranker, ("qid",))
        if args.query is not None:
            data = _one_query(data, args.query)
        explanation = ranker.explain(data)
    result = {
        "model": args.model,
        "data": file_access.sizes(args.data, data),
        "base": explanation.base,
    }
    if args.query is None:
        picture, contributions = explanation, {"importances": _importances(explanation, args.top)}
    else:
        order = np.argsort(-explanation.scores, kind="stable")
        explanation = _named(explanation, order)
        result["query"] = str(explanation.qid[0])
        if args.pair is None:
            picture = explanation.document(int(order[0]))
            contributions = {"documents": _documents(explanation, order, args.top)}
        else:
            picture = explanation.pair(*(_row(text, explanation, order) for text in args.pair))
            contributions = {"pair": picture.to_dict(args.top)}
    if args.plot is not None:
        from rankwood.report import plots

        plots.save(picture.plot(args.top), args.plot)
        contributions["plot"] = args.plot
    return {**result, **contributions}


def _one_query(data: RankingData, query: str) -> RankingData:
    """Return the documents of one query."""
    ids = [str(qid) for qid in data.groups.ids.tolist()]
    if query not in ids:
        raise InputError(f"there is no query {query!r} in the file{nearest(query, ids)}")
    return data.select([ids.index(query)])


def _row(text: str, explanation: Any, order: np.ndarray) -> int:
    """Return the row of a document: by its id, else by its rank."""
    ids = list(explanation.documents)
    if text in ids:
        return ids.index(text)
    if text.isdecimal() and 1 <= int(text) <= order.size:
        return int(order[int(text) - 1])
    raise InputError(
        f"--pair: there is no document {text!r}, expected an id or a rank from 1 to {order.size}."
    )


def _named(explanation: Any, order: np.ndarray) -> Any:
    """Return an explanation of one query whose documents without ids are named by their ranks."""
    names = list(explanation.documents or [""] * order.size)
    for rank, row in enumerate(order.tolist(), 1):
        names[row] = names[row] or f"rank {rank}"
    return replace(explanation, documents=names)


def _importances(explanation: Any, top: int) -> list[dict[str, Any]]:
    """Return the features with the largest mean contributions."""
    sizes = explanation.importances
    order = np.argsort(-sizes, kind="stable")[:top]
    return [{"feature": explanation.feature_names[i], "mean_size": float(sizes[i])} for i in order]


def _documents(explanation: Any, order: np.ndarray, top: int) -> list[dict[str, Any]]:
    """Return the documents of a query, best first, each with its largest contributions."""
    return [
        {
            "rank": rank,
            "document": explanation.name_of(int(row)),
            "score": float(explanation.scores[row]),
            **{
                name: value
                for name, value in explanation.document(int(row)).to_dict(top).items()
                if name in ("features", "others")
            },
        }
        for rank, row in enumerate(order, 1)
    ]


def show(result: dict[str, Any], out: Console) -> None:
    """Write a table: features of all queries, documents of one, or a pair."""
    if "importances" in result:
        rows = [[Cell(r["feature"]), Cell(f"{r['mean_size']:.4f}")] for r in result["importances"]]
        note = "Mean size of what a feature adds to a document, less its mean over the query."
        table = Table("", ["feature", "contribution"], rows, 1, [note])
    elif "pair" in result:
        table = _pair_table(result["pair"])
    else:
        table = _document_table(result)
    display.show_table(out, table)
    if "plot" in result:
        out.print(f"{result['plot']}: the picture", soft_wrap=True)


def _pair_table(pair: dict[str, Any]) -> Table:
    """Return the contributions between two documents."""
    start, end = pair["start"], pair["end"]
    rows = [[Cell(start["name"]), Cell(""), Cell(""), Cell(f"{start['score']:.4f}")]]
    for feature in pair["features"]:
        values = [feature["values"][name["name"]] for name in (end, start)]
        rows.append(
            [Cell(feature["feature"]), *map(Cell, values), Cell(f"{feature['contribution']:+.4f}")]
        )
    rows.append([Cell("other features"), Cell(""), Cell(""), Cell(f"{pair['others']:+.4f}")])
    rows.append([Cell(end["name"]), Cell(""), Cell(""), Cell(f"{end['score']:.4f}")])
    heads = ["feature", end["name"], start["name"], "contribution"]
    return Table(pair["title"], heads, rows, 3, breaks=(1, len(rows) - 1))


def _document_table(result: dict[str, Any]) -> Table:
    """Return the best documents of a query with the features that move them most."""
    rows = []
    for document in result["documents"][:_DOCUMENTS]:
        name = shortened(document["document"], 30)
        moved = [
            f"{f['feature']} {f['contribution']:+.3f}" for f in document["features"][:_FEATURES]
        ]
        rows.append(
            [
                Cell(name),
                Cell(", ".join(moved)),
                Cell(str(document["rank"])),
                Cell(f"{document['score']:.4f}"),
            ]
        )
    notes = [
        "Contributions are less their means over the query; --pair A B compares two documents."
    ]
    left = len(result["documents"]) - _DOCUMENTS
    if left > 0:
        notes.append(f"{left} more documents are in the output of --json.")
    heads = ["document", "what moves it most", "rank", "score"]
    return Table(f"query {result['query']}", heads, rows, 2, notes)
