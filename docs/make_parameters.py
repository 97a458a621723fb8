"""Write the tables of objectives and metrics, and the parameters that their pages list, from the tables of the package.

    python docs/make_parameters.py

In docs/objectives/ it rewrites lines that start with "- Parameters: " (of a name), "- Parameters of `base`: " (of
Lambda-eX), "Parameters of all: " (of a family), and the rows of the table of common parameters. In docs/objectives.md
it rewrites the tables between the comments "begin" and "end", one for each family. In docs/metrics.md it rewrites all
but the first two columns of the table of metrics, and the table of conventions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import rankwood as rw
from rankwood.engines import base
from rankwood.extend import Parameter
from rankwood.metrics.conventions import CONVENTIONS, DEFAULTS
from rankwood.metrics.registry import METRICS, NO_K
from rankwood.metrics.verbs import higher_is_better, is_normalised
from rankwood.objectives.families.parameters import COMMON, RANKING_OPTIONS
from rankwood.objectives.families.registry import FAMILIES, OBJECTIVES
from rankwood.objectives.families.rows import Family, Named

DOCS = Path(__file__).parent
OVERVIEW, METRIC_PAGE = DOCS / "objectives.md", DOCS / "metrics.md"
FAMILY_OF = {row.name: family for family in FAMILIES for row in family.rows}
#: Parameters with which CatBoost trains some objectives that it can't train by default.
SETTINGS: tuple[dict[str, Any], ...] = ({}, {"norm": False}, {"variant": "catboost"})


def heading(page: Path) -> str:
    """Return the title of a page."""
    return page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


PAGES = {heading(page): page for page in sorted((DOCS / "objectives").glob("*.md"))}


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
        return f"`{parameter.name}` (required)"
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
    """Return a line of a page as the tables have it."""
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
    """Return a page of docs/objectives/ with the parameters of the tables."""
    lines: list[str] = []
    title = page.split("\n", 1)[0].removeprefix("# ")
    family = next((family for family in FAMILIES if family.title == title), None)
    name, in_table = "", False
    for text in page.split("\n"):
        if text.startswith("#"):
            name, in_table = text.strip("#` "), text == "## The common parameters"
        if in_table and text.startswith("| `"):
            continue
        lines.append(line(text, name, family))
        if in_table and text.startswith("|---"):
            lines += common()
    return "\n".join(lines)


def anchors(headings: Iterable[str]) -> dict[str, str]:
    """Return the anchors of headings: letters, digits and hyphens in lower case, and a number if it repeats."""
    found: dict[str, str] = {}
    for text in headings:
        bare = re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")
        before = sum(re.fullmatch(rf"{bare}(-\d)?", other) is not None for other in found.values())
        found[text] = f"{bare}-{before}" if before else bare
    return found


def trains(engine: str, row: Named, **settings: Any) -> bool:
    """Return whether an engine trains an objective with these parameters."""
    needed = {p.name: 10 for p in row.parameters if p.required}
    try:
        base.check(engine, rw.objective(row.name, **needed, **settings))
    except rw.InputError:
        return False
    return True


def catboost(row: Named) -> str:
    """Return whether CatBoost trains an objective; the other engines of documents must train every one."""
    assert trains("lightgbm", row) and trains("xgboost", row), row.name
    names = {parameter.name for parameter in row.parameters}
    for settings in SETTINGS:
        if names.issuperset(settings) and trains("catboost", row, **settings):
            given = ", ".join(f"`{key}={value!r}`" for key, value in settings.items())
            return f"with {given}".replace("'", '"') if given else "yes"
    return "no"


def names_of(family: Family) -> Iterator[str]:
    """Yield the table of a family."""
    page = PAGES[family.title].name
    titles = re.findall(r"^#+ (.*)$", PAGES[family.title].read_text(encoding="utf-8"), re.MULTILINE)
    here, there = anchors(OBJECTIVES), anchors(titles)
    yield f"Formulas, costs and pictures are on the page [{family.title}](objectives/{page}).\n"
    yield "| name | what it is | parameters | paper | CatBoost |"
    yield "|---|---|---|---|---|"
    for row in (row for row in family.rows if not row.same_as):
        place = there.get(f"`{row.name}`")
        # The heading of the family has the anchor of RankNet; Lambda-eX has no heading for each name.
        mark = f'<a id="{here[row.name]}"></a>' if place and row.name != "ranknet" else ""
        link = f"objectives/{page}#{place}" if place else f"objectives/{page}"
        parameters = listed(p for p in row.parameters if p not in RANKING_OPTIONS)
        cells = [f"{mark}[`{row.name}`]({link})", row.summary, parameters]
        yield "| " + " | ".join([*cells, f"[{row.citation}]", catboost(row)]) + " |"


def between(text: str, mark: str, change: Callable[[str], str]) -> str:
    """Return a text in which what stands between two comments is changed."""
    pattern = rf"(<!-- begin {re.escape(mark)} -->\n)(.*?)(<!-- end {re.escape(mark)} -->)"
    return re.sub(pattern, lambda found: found[1] + change(found[2]) + found[3], text, flags=re.S)


def overview(text: str) -> str:
    """Return docs/objectives.md with the tables of all families."""
    for family in FAMILIES:
        table = "\n".join(names_of(family)) + "\n"
        text = between(text, family.title, lambda old, table=table: table)
    return text


def of_metric(row: Named) -> list[Parameter]:
    """Return the parameters of a metric, with a cutoff only if it has one."""
    return [p for p in row.parameters if p is not NO_K]


def best(row: Named) -> str:
    """Return which values of a metric are good."""
    given = {p.name: 10 for p in of_metric(row) if p.required}
    metric = rw.metric(row.name, **given)
    direction = "higher" if higher_is_better(metric) else "lower"
    return f"{direction}, ≤ 1" if is_normalised(metric) else direction


def metric_row(found: re.Match[str]) -> str:
    """Return a row of the table of metrics: name and formula are the page's, the rest is the code's."""
    row = METRICS[found[1]]
    cells = [f"`{row.name}`", found[2], listed(of_metric(row)), best(row), f"[{row.citation}]"]
    return "| " + " | ".join(cells) + " |"


def metrics(text: str) -> str:
    """Return docs/metrics.md with what the code knows: columns of the table of metrics, and the conventions."""
    rows = r"^\| `(\w+)` \| (.*?) \| .* \|$"
    text = between(text, "metrics", lambda old: re.sub(rows, metric_row, old, flags=re.MULTILINE))
    return between(text, "conventions", lambda old: "\n".join(conventions()) + "\n")


def conventions() -> Iterator[str]:
    """Yield the table of conventions: what differs from the defaults of the metrics."""
    yield "| `convention=` | ties | scores | queries without relevant documents | definitions |"
    yield "|---|---|---|---|---|"
    for name, given in {"": {}, **CONVENTIONS}.items():
        rules = {**DEFAULTS, **given}
        ties = "by decreasing document id, else " if rules["by_id"] else ""
        empty = [f"`{metric}` 1" for metric, own in rules["metrics"].items() if own.get("empty")]
        others = "others 0" if empty else "0"
        shown = f'`"{name}"`' if name else "none"
        cells = [shown, ties + rules["ties"], rules["scores"], ", ".join([*empty, others])]
        yield "| " + " | ".join([*cells, definitions(rules)]) + " |"


def definitions(rules: Mapping[str, Any]) -> str:
    """Return the parameters that a convention gives to metrics, those with equal values together."""
    same: dict[str, list[str]] = {}
    for metric, own in rules["metrics"].items():
        usual = {p.name: p.default for p in METRICS[metric].parameters}
        for key, value in own.items():
            if key != "empty" and usual[key] != value:
                same.setdefault(setting(key, value), []).append(f"`{metric}`")
    found = [f"{', '.join(names)}: {text}" for text, names in same.items()]
    if rules["missing"] == "skip":
        found.append("judged queries that a run lacks are omitted")
    return "; ".join(found) or "as in the table of metrics"


def setting(key: str, value: object) -> str:
    """Return a parameter of a convention as the page writes it."""
    if key == "rel":
        return f"relevant is y > {0.5 if value > 0.1 else 0:g}"
    if key == "k":
        return f"without `@k`, cut at {value}"
    return f'`{key}="{value}"`' if isinstance(value, str) else f"`{key}={value}`"


if __name__ == "__main__":
    for path in PAGES.values():
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
    OVERVIEW.write_text(overview(OVERVIEW.read_text(encoding="utf-8")), encoding="utf-8")
    METRIC_PAGE.write_text(metrics(METRIC_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
