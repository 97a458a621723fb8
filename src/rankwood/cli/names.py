"""``rankwood objectives`` and ``rankwood metrics``: what there is, and what it is made of."""

import argparse
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console

from rankwood import metric, objective
from rankwood.cli import _args, _show
from rankwood.metrics.evaluate import METRICS
from rankwood.objectives.named import OBJECTIVES

_OBJECTIVES_EXAMPLE = """
rankwood objectives
rankwood objectives lambdarank-ndcg@10
"""
_METRICS_EXAMPLE = """
rankwood metrics
rankwood metrics ndcg@5
"""
Names = dict[str, Callable[..., Any]]


def add_objectives(commands: _args.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "List the objectives, or show what one is made of."
    run = partial(_run, "objective", OBJECTIVES, objective)
    parser = _args.command(commands, "objectives", about, _OBJECTIVES_EXAMPLE, run, show)
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as lambdarank-ndcg@10")
    return parser


def add_metrics(commands: _args.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "List the metrics, or show what one is made of."
    run = partial(_run, "metric", METRICS, metric)
    parser = _args.command(commands, "metrics", about, _METRICS_EXAMPLE, run, show)
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as ndcg@5")
    return parser


def _run(
    kind: str, names: Names, make: Callable[[str], Any], args: argparse.Namespace
) -> dict[str, Any]:
    """Return what there is of a kind, or one of it in detail."""
    if args.name is None:
        return {"kind": kind, kind + "s": [_about(name, names[name]) for name in names]}
    part = make(args.name)
    plain = args.name.split("(")[0].split("@")[0].strip()
    # The printed form of a composition is accepted too, and says everything itself.
    about = _about(plain, names[plain]) if plain in names else {"name": plain}
    return {"kind": kind, **about, "composition": repr(part)}


def _about(name: str, made_by: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(made_by).parameters.values()
    doc = inspect.getdoc(made_by) or ""
    return {
        "name": name,
        "parameters": {p.name: _default(p) for p in parameters},
        "summary": doc.split("\n\n")[0].replace("\n", " "),
        "doc": doc,
    }


def _default(parameter: inspect.Parameter) -> Any:
    value = parameter.default
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the table, or one in detail."""
    kind = result["kind"]
    if "composition" not in result:
        rows = ((r["name"], _parameters(r), r["summary"]) for r in result[kind + "s"])
        out.print(_show.table([kind, "parameters", "what it is"], rows))
        example = result[kind + "s"][0]["name"]
        _show.next_lines(out, [f"rankwood {kind}s {example}@10"])
        return
    out.print(result["name"], style="bold")
    facts = [("Made of", result["composition"])]
    if "doc" in result:
        out.print(f"\n{result['doc']}\n")
        facts.insert(0, ("Parameters", _parameters(result)))
    out.print(_show.facts(facts))


def _parameters(about: dict[str, Any]) -> str:
    return ", ".join(f"{name}={default!r}" for name, default in about["parameters"].items())
