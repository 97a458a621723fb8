"""Write the reference: a page for each public name, tables of objectives and metrics."""

import inspect
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from names import MODULES, Entry, entries, is_part


def write_reference(out: Path) -> None:
    """Write all pages of the reference under `out`/reference."""
    folder = out / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    by_module = {
        module: list(found) for module, found in groupby(entries(), lambda entry: entry.module)
    }
    for module, found in by_module.items():
        (folder / f"{module}.rst").write_text(_module_page(module, found), encoding="utf-8")
        for entry in found:
            if entry.kind == "data":
                page = folder / "generated" / f"{module}.{entry.name}.rst"
                page.parent.mkdir(exist_ok=True)
                page.write_text(_data_page(entry), encoding="utf-8")
    pages = {
        "index.md": _index(list(by_module)),
        "objective-table.md": _objectives(),
        "metric-table.md": _metrics(),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    text = "# Bibliography\n\n```{bibliography}\n:all:\n```\n"
    (out / "bibliography.md").write_text(text, encoding="utf-8")


def _index(modules: list[str]) -> str:
    lines = ["# Python reference", "", "| module | what it has |", "|---|---|"]
    for module, what in MODULES.items():  # one without names of its own has no page
        name = f"[`{module}`]({module}.rst)" if module in modules else f"`{module}`"
        lines += [f"| {name} | {what} |"]
    tree = "\n".join(modules)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"


def _module_page(module: str, found: list[Entry]) -> str:
    title = f"``{module}``"
    lines = [title, "=" * len(title), "", MODULES[module], "", f".. currentmodule:: {module}", ""]
    for title, template, wanted in _GROUPS:
        names = [entry.name for entry in found if wanted(entry)]
        if names and template:
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: generated"]
            lines += [f"   :template: autosummary/{template}.rst", ""]
            lines += [f"   {name}" for name in names] + [""]
    constants = [entry for entry in found if entry.kind == "data"]
    if constants:
        lines += ["Constants and annotations", "-" * 25, "", ".. list-table::", ""]
        for entry in constants:
            lines += [f"   * - :doc:`{entry.name} <generated/{module}.{entry.name}>`"]
            lines += [f"     - {_first_sentence(entry.comment)}"]
        lines += ["", ".. toctree::", "   :hidden:", ""]
        lines += [f"   generated/{module}.{entry.name}" for entry in constants]
    return "\n".join(lines) + "\n"


#: Groups of names on the page of a module: title, template, and which names belong to it.
_GROUPS: list[tuple[str, str, Callable[[Entry], bool]]] = [
    ("Classes", "class", lambda entry: entry.kind == "class" and not is_part(entry.value)),
    ("Parts", "base", lambda entry: is_part(entry.value)),
    ("Functions", "base", lambda entry: entry.kind == "function" and not _is_verb(entry)),
    ("Verbs", "base", lambda entry: entry.kind == "function" and _is_verb(entry)),
]


def _is_verb(entry: Entry) -> bool:
    return hasattr(entry.value, "verb")


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _data_page(entry: Entry) -> str:
    """Return the page of a constant or of an annotation: its comment and, if it is short, its value."""
    title = entry.name
    lines = [title, "=" * len(title), "", f".. currentmodule:: {entry.module}", ""]
    lines += [f".. data:: {entry.name}"]
    if isinstance(entry.value, (int, tuple)):
        lines += [f"   :value: {entry.value!r}"]
    lines += ["", *(f"   {line}".rstrip() for line in entry.comment.splitlines())]
    if isinstance(entry.value, Mapping):
        shown = ", ".join(f"``{key!r}``" for key in entry.value)
        lines += ["", f"   Its keys are {shown}."]
    return "\n".join(lines) + "\n"


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
