"""``rankwood objectives`` and ``rankwood metrics``: lists of both, and their compositions."""

import argparse
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from rankwood import metric, objective
from rankwood._kernels import spec
from rankwood._kernels.named import Named
from rankwood._util.checks import InputError
from rankwood.cli.shared import arguments, display, file_access
from rankwood.metrics.evaluate import METRICS
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.report import plots

_OBJECTIVES_EXAMPLE = """
rankwood objectives
rankwood objectives lambdarank-ndcg@10
rankwood objectives --plot lambdagap-x+@3
rankwood objectives lambdagap-x+@3 --plot picture.svg
"""
_METRICS_EXAMPLE = """
rankwood metrics
rankwood metrics ndcg@5
"""
_ROOM = 100  # columns of a terminal that has space for parameters beside descriptions
_EXAMPLE_K = 10  # cutoff with which a name that needs one is shown
Names = dict[str, Named]


def add_objectives(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "List the objectives, show what one is made of, or draw its pairs."
    parser = arguments.command(
        commands, "objectives", about, _OBJECTIVES_EXAMPLE, _objectives, show
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as lambdarank-ndcg@10")
    group = parser.add_argument_group("pictures")
    group.add_argument(
        "--plot",
        metavar="NAME|FILE",
        help="draw the weight of each pair of positions, and the number of pairs against the cutoff, of NAME "
        "into two PNG files; behind a NAME: into one FILE, a name that ends in .png, .svg or .pdf",
    )
    group.add_argument("--output", metavar="DIR", help="where the two files go (default: here)")
    group.add_argument(
        "--documents",
        type=arguments.integer_at_least(2),
        metavar="N",
        help="length of the list (default: 10)",
    )
    return parser


def add_metrics(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "List the metrics, or show what one is made of."
    run = partial(_run, "metric", METRICS, metric)
    parser = arguments.command(commands, "metrics", about, _METRICS_EXAMPLE, run, show)
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as ndcg@5")
    return parser


def _objectives(args: argparse.Namespace) -> dict[str, Any]:
    """Return the objectives or one of them, and draw one if asked to."""
    if args.plot is None and (args.output or args.documents):
        option = "--output" if args.output else "--documents"
        raise InputError(f"{option} is about pictures: give --plot NAME too.")
    into = args.plot if args.name is not None else None
    if args.plot is not None and into is None:
        args.name = args.plot
    result = _run("objective", OBJECTIVES, objective, args)
    if args.plot is not None:
        result["pictures"] = _draw(args.name, into, args.output, args.documents or 10)
    return result


def _draw(name: str, into: str | None, folder: str | None, n: int) -> list[str]:
    """Draw an objective into one file, or into two in a folder; return their paths."""
    if into is not None:
        if folder is not None:
            raise InputError(
                f"--output is for rankwood objectives --plot NAME; {into} has its place."
            )
        if Path(into).suffix.lower() not in plots.FORMATS:
            raise InputError(
                f"--plot {into}: expected a file name that ends in {', '.join(plots.FORMATS)}, as there is a "
                "NAME already."
            )
        figures = {into: partial(plots.overview, name, n)}
    else:
        # The parameters of a composition can't be part of a file name.
        plain = re.sub(r"[^\w.+@=-]+", "_", name).strip("_")[:80]
        start = str(Path(folder or ".") / plain)
        figures = {
            f"{start}-heat.png": partial(plots.heat_map, name, n=n),
            f"{start}-pairs.png": partial(plots.pair_curves, name, n=n),
        }
    for path in figures:
        file_access.check_output(path, [])
    for path, draw in figures.items():
        plots.save(draw(), path)
    return list(figures)


def _run(
    kind: str, names: Names, make: Callable[..., Any], args: argparse.Namespace
) -> dict[str, Any]:
    """Return all names of a kind, or one in detail."""
    if args.name is None:
        return {
            "kind": kind,
            kind + "s": [_about(row) for row in names.values() if not row.same_as],
        }
    # The printed form of a composition is accepted too, and says everything itself; so is one for pairs.
    reading = None if args.name.strip().startswith("bi-") else spec.read(args.name, names, kind)
    if reading is None:
        plain = args.name.split("(")[0].split("@")[0].strip()
        return {"kind": kind, "name": plain, "composition": repr(make(args.name))}
    row = names[reading.name]
    # A name that needs a cutoff is explained without one too, by an example.
    needed = {p.name for p in row.parameters if p.required} - set(reading.given)
    given = {"k": _EXAMPLE_K} if "k" in needed else {}
    about = {"kind": kind, **_about(row), **({"example": given} if given else {})}
    return {**about, "composition": repr(make(args.name, **given))}


def _about(row: Named) -> dict[str, Any]:
    return {
        "name": row.name,
        "parameters": {p.name: _plain(p.default) for p in row.parameters},
        "descriptions": {p.name: p.description for p in row.parameters},
        "summary": row.headline,
        "doc": row.__doc__,
    }


def _plain(value: Any) -> Any:
    """Return a default as JSON can hold it."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the table, or one in detail."""
    kind = result["kind"]
    if "composition" not in result:
        rows = ((r["name"], _parameters(r), r["summary"]) for r in result[kind + "s"])
        dispensable = ["parameters"] if out.width < _ROOM else []
        display.show_texts(out, [kind, "parameters", "what it is"], rows, dispensable)
        if kind == "objective":
            out.print("\nbi-NAME: any of them for models that compare pairs of documents.")
        example = next(r["name"] for r in result[kind + "s"] if "k" in r["parameters"])
        display.next_lines(out, [f"rankwood {kind}s {example}@10"])
        return
    out.print(result["name"], style="bold")
    if "doc" in result:
        out.print(f"\n{result['doc']}\n")
    if result.get("parameters"):
        about = result["descriptions"]
        rows = ((name, repr(value), about[name]) for name, value in result["parameters"].items())
        display.show_texts(out, ["parameter", "default", "meaning"], rows)
    example = "".join(f" with {name}={value}" for name, value in result.get("example", {}).items())
    out.print(display.fact_table([(f"Made of{example}", result["composition"])]))
    if "pictures" in result:
        out.print()
        for path in result["pictures"]:
            out.print(f"Drawn: {path}", soft_wrap=True)


def _parameters(about: dict[str, Any]) -> str:
    return ", ".join(f"{name}={default!r}" for name, default in about["parameters"].items())
