"""Write the reference: a page for each public name, tables of objectives and metrics, the command line."""

import inspect
import os
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

#: Public modules in the order of the reference, and what each is for.
MODULES = {
    "rankwood": "What most programs need: data, training, evaluation, comparison.",
    "rankwood.datasets": "Data sets as they are distributed.",
    "rankwood.metrics": "Metrics as parts.",
    "rankwood.objectives": "Objectives and what they are composed of.",
    "rankwood.diagnostics": "What an objective does, round by round and pair by pair.",
    "rankwood.report": "Tables of queries and of models.",
    "rankwood.report.plots": "Pictures.",
    "rankwood.explanation": "Why a document is where it is.",
    "rankwood.stats": "Tests of significance and intervals.",
    "rankwood.tuning": "The result of a search for parameters.",
    "rankwood.spaces": "Search spaces.",
    "rankwood.reproduce": "Tables and figures of papers.",
    "rankwood.neural": "Networks.",
    "rankwood.torch": "Objectives as losses in PyTorch.",
    "rankwood.mlflow": "Models in MLflow.",
    "rankwood.extend": "What parts of your own need.",
    "rankwood.testing": "Tests for parts of your own.",
    "rankwood.parts": "",  # the same parts as above, by one import
}


class Entry(NamedTuple):
    """A public name: its module and itself."""

    module: str
    name: str


def entries(module: str, seen: set[int]) -> Iterator[Entry]:
    """Return the public names of a module that no module before it has."""
    loaded = import_module(module)
    for name in sorted(loaded.__all__, key=str.lower):
        found = getattr(loaded, name)
        if isinstance(found, types.ModuleType) or name == "__version__":
            continue
        known = inspect.isclass(found) or callable(found)
        if known and id(found) in seen:
            continue
        seen.add(id(found))
        yield Entry(module, name)


def write_reference(out: Path) -> None:
    """Write all pages of the reference under `out`/reference."""
    folder = out / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[int] = set()
    pages = []
    for module, what in MODULES.items():
        found = list(entries(module, seen))
        if found:
            (folder / f"{module}.rst").write_text(_module_page(module, what, found))
            pages.append(module)
    (folder / "index.md").write_text(_index(pages))
    (folder / "command-line.md").write_text(_command_line())
    (folder / "objective-table.md").write_text(_objectives())
    (folder / "metric-table.md").write_text(_metrics())
    text = "# Bibliography\n\n```{bibliography}\n:all:\n```\n"
    (out / "bibliography.md").write_text(text)


def _index(modules: list[str]) -> str:
    lines = ["# Python reference", "", "| module | what it has |", "|---|---|"]
    lines += [f"| [`{module}`]({module}.rst) | {MODULES[module]} |" for module in modules]
    tree = "\n".join(modules)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"


def _module_page(module: str, what: str, found: list[Entry]) -> str:
    title = f"``{module}``"
    lines = [title, "=" * len(title), "", what, "", f".. currentmodule:: {module}", ""]
    groups: dict[str, list[str]] = {"Classes": [], "Functions": [], "Other names": []}
    loaded = import_module(module)
    for entry in found:
        value = getattr(loaded, entry.name)
        kind = "Classes" if inspect.isclass(value) else "Functions"
        groups[kind if callable(value) else "Other names"].append(entry.name)
    for title, names in groups.items():
        if names:
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: generated", ""]
            lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def _command_line() -> str:
    from rankwood.cli import _build

    os.environ["COLUMNS"] = "100"  # argparse asks for the width of the terminal
    lines = ["# Command-line reference", "", "What `--help` prints, command by command.", ""]
    _, commands = _build()
    for name, parser in commands.items():
        lines += [f"## `rankwood {name}`", "", "```text", parser.format_help().strip(), "```", ""]
    return "\n".join(lines)


def _rows(table: dict[str, Any]) -> list[str]:
    lines = []
    for name, row in table.items():
        sentence = " ".join((inspect.getdoc(row) or "").split("\n\n")[0].split())
        parameters = ", ".join(
            f"`{p.name}`" if p.default is None else f"`{p.name}={p.default}`"
            for p in row.parameters
        )
        lines.append(f"| `{name}` | {sentence} | {parameters} |")
    return lines


def _objectives() -> str:
    from rankwood.objectives.families.registry import OBJECTIVES

    lines = ["# Table of objectives", "", "| name | what it is | parameters |", "|---|---|---|"]
    return "\n".join([*lines, *_rows(OBJECTIVES)]) + "\n"


def _metrics() -> str:
    from rankwood.metrics.evaluate import METRICS

    lines = ["# Table of metrics", "", "| name | what it is | parameters |", "|---|---|---|"]
    return "\n".join([*lines, *_rows(METRICS)]) + "\n"
