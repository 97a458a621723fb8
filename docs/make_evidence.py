"""Make the pages of docs/evidence: python docs/make_evidence.py DATA RESULTS.

DATA is a folder with the data sets by name (mq2008, mq2007-partial, ohsumed, hkjc-races, mslr-sample), and RESULTS
one for the cells, which stay there: a killed run is resumed, and a second run trains nothing. A page is what
``rankwood reproduce`` writes, with the paragraph of docs/evidence/notes under its title; docs/evidence/README.md is
docs/evidence/notes/README.md with a table of the pages and the commands.
"""

import argparse
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rankwood
from rankwood import reproduce

FOLDER = Path(__file__).parent / "evidence"
#: One of them, and several.
WORDS = {
    "trees": ("tree", "trees"),
    "queries": ("query", "queries"),
    "folds": ("fold", "folds"),
    "seeds": ("seed", "seeds"),
    "trials": ("trial", "trials"),
    "top": ("document of a list in the second stage", "documents of a list in the second stage"),
}


class Run(NamedTuple):
    """A command: items, the data set of each role, and limits."""

    items: Sequence[str]
    data: Mapping[str, str]
    limits: Mapping[str, int]

    def command(self) -> str:
        """Return the command line."""
        words = ["rankwood reproduce", *self.items]
        words += [f"--data {role}={name}" for role, name in self.data.items()]
        words += [f"--{name} {value}" for name, value in self.limits.items()]
        return " ".join(words)

    def data_of(self, item: str) -> dict[str, str]:
        """Return the data sets that fill roles of an item."""
        [roles] = [known.roles for known in reproduce.items() if known.name == item]
        return {role: name for role, name in self.data.items() if role in roles}


RUNS = (
    Run(
        ("lambdagap/table4", "lambdagap/figure3", "lambdagap/figure5"),
        {"mslr30k": "mq2007-partial"},
        {"trees": 100, "folds": 1},
    ),
    Run(("lambda-ex/table5",), {"mslr30k": "mq2008"}, {"trees": 100, "folds": 3}),
    Run(("lambda-ex/figure3",), {"istella-x": "ohsumed", "mslr30k": "mq2008"}, {"trees": 100}),
    Run(
        ("lambdaloss/table4", "lambdaloss/table5", "lambdaloss/figure3", "lambdaloss/figure5"),
        {"mslr30k": "mq2008"},
        {"trees": 300},
    ),
    Run(
        ("which-tricks/table4", "which-tricks/table3", "which-tricks/figure1"),
        {"mslr10k": "mq2008"},
        {"trees": 100, "folds": 2},
    ),
    Run(
        ("bivariate/table2",),
        {"mslr10k": "mq2007-partial", "mslr30k": "hkjc-races", "yahoo1": "mslr-sample"},
        {"trees": 200, "queries": 1000, "folds": 1, "seeds": 3, "top": 10},
    ),
    Run(
        ("bivariate/table3", "bivariate/table4", "bivariate/table5"),
        {"mslr10k": "mslr-sample", "mslr30k": "hkjc-races"},
        {"trees": 200, "queries": 1000, "folds": 1, "seeds": 3},
    ),
)


def stem(item: str) -> str:
    """Return the name of an item's files."""
    return item.replace("/", "-")


def with_note(page: str, note: str) -> str:
    """Return a page with a paragraph under its title."""
    title, rest = page.split("\n\n", 1)
    return f"{title}\n\n{note.strip()}\n\n{rest}"


def note_of(name: str) -> str:
    """Return the text that is written by hand for a page."""
    return (FOLDER / "notes" / f"{name}.md").read_text(encoding="utf-8")


def index(rows: Sequence[Sequence[str]]) -> str:
    """Return the page that lists the others."""
    lines = [
        "| page | what it is | data | limits | cells | minutes |",
        "|---|---|---|---|---:|---:|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    commands = "\n".join(run.command() + " --out results" for run in RUNS)
    names = ("lightgbm", "catboost", "numba", "numpy", "scikit-learn")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    parts = {
        "TABLE": "\n".join(lines),
        "COMMANDS": f"```sh\n{commands}\n```",
        "VERSIONS": f"rankwood {rankwood.__version__}, {versions}",
    }
    text = note_of("README")
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text


def written(result: Any, run: Run) -> list[str]:
    """Write the page and the pictures of an item; return its row in the list of pages."""
    name = stem(result.name)
    page = with_note(result.to_markdown(), note_of(name))
    (FOLDER / f"{name}.md").write_text(page, encoding="utf-8")
    for path in result.files:
        if path.suffix == ".svg":
            (FOLDER / path.name).write_bytes(path.read_bytes())
    data = ", ".join(run.data_of(result.name).values())
    limits = ", ".join(f"{value:,} {WORDS[name][value != 1]}" for name, value in run.limits.items())
    title = result.page.title.partition(": ")[2]
    minutes = f"{result.seconds / 60:.0f}" if result.seconds >= 30 else "< 1"
    return [f"[{result.name}]({name}.md)", title, data, limits, str(result.cells), minutes]


def main() -> None:
    """Run all commands and write all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    args = parser.parse_args()
    rows = []
    for run in RUNS:
        folders = {role: args.data / name for role, name in run.data.items()}
        results = reproduce.run(
            list(run.items), folders, args.results, jobs=args.jobs, **run.limits
        )
        rows += [written(result, run) for result in results]
    (FOLDER / "README.md").write_text(index(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
