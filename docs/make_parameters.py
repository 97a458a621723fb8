"""Write the parameters that objectives.md lists, from the tables of the package.

    python docs/make_parameters.py

It rewrites lines that start with "- Parameters: " (of a name), "- Parameters of `base`: " (of Lambda-eX),
"Parameters of all: " (of a family), and the rows of the table of common parameters.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rankwood.extend import Parameter
from rankwood.objectives.families.parameters import COMMON, RANKING_OPTIONS
from rankwood.objectives.families.registry import FAMILIES, OBJECTIVES
from rankwood.objectives.families.rows import Family, Named

PAGE = Path(__file__).parent / "objectives.md"
BY_TITLE = {family.title: family for family in FAMILIES}
FAMILY_OF = {row.name: family for family in FAMILIES for row in family.rows}


def default(parameter: Parameter) -> str:
    """Return a default as Python writes it, whole numbers without a point."""
    value = parameter.default
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if type(value) is float else repr(value)


def listed(parameters: Iterable[Parameter]) -> str:
    """Return parameters with their defaults, separated by commas."""
    return ", ".join(map(entry, parameters)) or "none"


def entry(parameter: Parameter) -> str:
    """Return a parameter with its default."""
    if parameter.required:
        return f"`{parameter.name}` (needed)"
    shown = parameter.default_text or ("" if parameter.default is None else default(parameter))
    text = f"`{parameter.name}={shown}`" if shown else f"`{parameter.name}`"
    return f"{text} ({parameter.note})" if parameter.note else text


def own(row: Named) -> list[Parameter]:
    """Return the parameters of a name that neither its family nor the common ones have."""
    elsewhere = (*FAMILY_OF[row.name].shared, *RANKING_OPTIONS)
    return [parameter for parameter in row.parameters if parameter not in elsewhere]


def common() -> Iterator[str]:
    """Yield the rows of the table of common parameters."""
    for parameter in COMMON:
        name = "`k`, or `@k`" if parameter.name == "k" else f"`{parameter.name}`"
        shown = parameter.default_text or default(parameter).replace("None", "none")
        shown = f"`{shown}`" if isinstance(parameter.default, str) else shown
        yield f"| {name} | {shown} | {parameter.description} |"


def line(text: str, name: str, family: Family | None) -> str:
    """Return a line of the page as the tables have it."""
    start = text.partition(": ")[0]
    if start == "- Parameters":
        return f"{start}: {listed(own(OBJECTIVES[name]))}."
    if start.startswith("- Parameters of `"):
        base = start.split("`")[1]
        graded, two_classes = (own(OBJECTIVES[f"{base}-static{end}"]) for end in ("", "-bin"))
        return f"{start}: {listed(graded)}; with `-bin` {listed(two_classes)}."
    if start == "Parameters of all" and family is not None:
        return f"{start}: {listed(family.shared)}."
    return text


def made(page: str) -> str:
    """Return the page with the parameters of the tables."""
    lines: list[str] = []
    name, family, in_table = "", None, False
    for text in page.split("\n"):
        if text.startswith("## "):
            family = BY_TITLE.get(text.removeprefix("## "))
        if text.startswith("#"):
            name, in_table = text.strip("#` "), text == "### The common parameters"
        if in_table and text.startswith("| `"):
            continue
        lines.append(line(text, name, family))
        if in_table and text.startswith("|---"):
            lines += common()
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
