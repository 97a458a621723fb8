"""Worked examples: given labels and scores, what an objective does with each document; no data is needed."""

import math
from collections.abc import Sequence
from typing import Any

from rankwood._util.text import listed
from rankwood.render.table import Cell, Table
from rankwood.reproduce.kinds._examples import Worked, read_examples, work_out
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.recipes.recipe import Item

KEYS: frozenset[str] = frozenset({"examples"})

_HEADINGS = ["document", "rank", "label", "score", "pushes of its pairs", "push", "paper"]
_CAPTION = (
    "Documents from the first rank down, and how far each is pushed up (to the right) or down. Pairs that are pushed "
    "the wrong way are orange; the dashed line is the cutoff; a dot marks documents that meet all others."
)
_CSV = ["example", "document", "rank", "label", "score", "push", "paper", "meets_all"]


def check(item: Item) -> None:
    """Raise if an example is not of the right form."""
    read_examples(item)


def show(work: Any, found: Any) -> Content:
    """Return a table for each example, what it shows in words, and a picture of all."""
    from rankwood.reproduce.kinds._example_drawing import draw

    item = work.item
    solved = [work_out(example) for example in read_examples(item)]
    return Content(
        paragraphs=[sentence for one in solved for sentence in _said(one)],
        tables=[_table(one, item.digits) for one in solved],
        drawings=[Drawing("", draw(solved), _CAPTION)],
        headings=_CSV,
        records=[record for one in solved for record in _records(one)],
    )


def _table(one: Worked, digits: int) -> Table:
    """Return a table of the documents by rank; a push that is not the printed one is marked."""
    example = one.example
    rows = []
    for rank, row in enumerate(one.ranking):
        push = example.shown(one.pushes[row], digits)
        paper = f"{example.pushes[row]:.{digits}f}" if example.pushes else ""
        dot = " •" if example.full and row in one.full else ""
        texts = [str(rank + 1), f"{example.labels[row]:g}", f"{example.scores[row]:.2f}"]
        rows.append(
            [
                Cell(example.documents[row] + dot),
                *(Cell(text) for text in (*texts, _terms(one, row, digits))),
                Cell(push, "≠" if paper not in ("", push) else ""),
                Cell(paper),
            ]
        )
    kept = len(_HEADINGS) if example.pushes else len(_HEADINGS) - 1
    notes = ["• meets every document of another label."] if example.full else []
    title = f"{example.name}: {example.objective}"
    return Table(title, _HEADINGS[:kept], [line[:kept] for line in rows], kept - 1, notes)


def _terms(one: Worked, row: int, digits: int) -> str:
    """Return the pushes of the pairs of a document as a sum."""
    terms = []
    for pair in one.pairs_of(row):
        sign = "+" if pair.winner == row else "-"
        terms.append(f"{sign} {one.example.shown(pair.push, digits)}")
    return " ".join(terms).removeprefix("+ ")


def _said(one: Worked) -> list[str]:
    """Say in words what an example shows, and whether the paper says the same."""
    example = one.example
    start = f"Example {example.name!r}, with {example.objective}:"
    made = []
    if example.incoherent is not None:
        said = f"{start} {_incoherent_sentence(one)}"
        made.append(_compared(said, one.incoherent_names, example.incoherent))
    if example.full:
        names = [example.documents[row] for row in sorted(one.full)]
        said = f"{start} {listed(names)} meet every document of another label."
        allowed = [sorted(choice) for choice in example.full]
        expected = sorted(names) if sorted(names) in allowed else allowed[0]
        made.append(_compared(said, sorted(names), expected))
    return made


def _incoherent_sentence(one: Worked) -> str:
    if not one.incoherent:
        return "no document is pushed less than a worse one above it."
    said = "{} is pushed less than {}, which is worse and above it"
    return " and ".join(said.format(low, high) for low, high in one.incoherent_names) + "."


def _compared(said: str, ours: Sequence[Any], paper: Sequence[Any]) -> str:
    same = list(ours) == list(paper)
    return f"{said} The paper says {'the same' if same else f'otherwise: {paper}'}."


def _records(one: Worked) -> list[list[Any]]:
    example = one.example
    printed = example.pushes or [math.nan] * len(example.labels)
    return [
        [
            *(example.name, example.documents[row], rank + 1, example.labels[row]),
            *(example.scores[row], float(one.pushes[row]), printed[row], row in one.full),
        ]
        for rank, row in enumerate(one.ranking)
    ]
