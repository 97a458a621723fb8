"""Worked examples of a recipe: reading them, and computing what the objective does with their documents."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.diagnostics import cutoff, diagnose
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.oracle import oracle_pairs
from rankwood.reproduce.recipes.recipe import Item


@dataclass(frozen=True)
class Example:
    """One query of a worked example, and what the paper says about it.

    Attributes
    ----------
    name, objective : str
        What the example is called, and the objective.
    documents, labels, scores : sequence
        Names, labels and current scores of the documents.
    pairs : sequence
        Pushes that the paper prints: the document that should be above, the other one, the number.
    pushes : sequence
        Pushes of the documents that the paper prints, in the order of `documents`; empty if it prints none.
    incoherent : sequence or None
        The pairs that the paper calls incoherent, each with the better document first; None if it says nothing.
    full : sequence
        The sets of documents that meet every document of another label, one of which is the right one.
    cut : bool
        Whether the paper cuts off the digits that it does not print, instead of rounding.
    """

    name: str
    objective: str
    documents: Sequence[str]
    labels: Sequence[float]
    scores: Sequence[float]
    pairs: Sequence[Sequence[Any]] = ()
    pushes: Sequence[float] = ()
    incoherent: Sequence[Sequence[str]] | None = None
    full: Sequence[Sequence[str]] = ()
    cut: bool = False

    def shown(self, value: float, digits: int) -> str:
        """Return a number with so many decimals, as the paper prints it."""
        if self.cut:
            value = math.trunc(value * 10**digits) / 10**digits
        return f"{value:.{digits}f}"


class PairPush(NamedTuple):
    """How far a pair pushes its winner up and its loser down; both are rows of the example."""

    winner: int
    loser: int
    push: float


class Worked(NamedTuple):
    """What an objective does with an example; documents are rows, in the order of the example."""

    example: Example
    k: int | None
    ranking: list[int]  # rows, from the first rank to the last
    pushes: np.ndarray
    pairs: list[PairPush]
    incoherent: list[
        tuple[int, int]
    ]  # the better document, and the one above it that is pushed more
    full: frozenset[int]  # documents that meet every document of another label

    @property
    def incoherent_names(self) -> list[list[str]]:
        """The incoherent pairs by the names of their documents."""
        names = self.example.documents
        return [[names[low], names[high]] for low, high in self.incoherent]

    def pairs_of(self, row: int) -> list[PairPush]:
        """Return the pairs that a document is part of, by the rank of the other document."""
        rank = {other: place for place, other in enumerate(self.ranking)}
        mine = [pair for pair in self.pairs if row in pair[:2]]
        return sorted(mine, key=lambda p: rank[p.loser if p.winner == row else p.winner])


def read_examples(item: Item) -> list[Example]:
    """Return the examples of an item; raise if one is not of the right form."""
    known = [f.name for f in fields(Example)]
    made = []
    for i, given in enumerate(item.extra.get("examples", ())):
        where = f"item {item.name!r}, example {i + 1}"
        for key in given:
            if key not in known:
                raise checks.InputError(f"{where}: unknown key {key!r}{checks.nearest(key, known)}")
        made.append(_example(given, where))
    if not made:
        raise checks.InputError(f"item {item.name!r} has no examples.")
    return made


def _example(given: Mapping[str, Any], where: str) -> Example:
    """Return an example; raise if its lists are not equally long."""
    for key in ("name", "objective", "documents", "labels", "scores"):
        if key not in given:
            raise checks.InputError(f"{where}: the key {key!r} is missing.")
    example = Example(**given)
    n = len(example.documents)
    for key in ("labels", "scores", "pushes"):
        size = len(getattr(example, key))
        if size != n and (size or key != "pushes"):
            raise checks.InputError(f"{where}: {n} documents, but {size} {key}.")
    return example


def work_out(example: Example, *, seed: int = 0, round: int = 0) -> Worked:
    """Return what the objective of an example does with its documents.

    Parameters
    ----------
    example : Example
        The example.
    seed, round : int
        As in `rankwood.gradients`: where pair sets that draw at random start.

    Returns
    -------
    Worked
    """
    objective = to_objective(example.objective)
    found = diagnose(objective, example.labels, example.scores, seed=seed, round=round, n_jobs=1)
    pairs = [
        PairPush(*((one.row, one.other) if one.push > 0 else (one.other, one.row)), abs(one.push))
        for one in oracle_pairs(objective, example.labels, example.scores, seed=seed, round=round)
        if one.push
    ]
    return Worked(
        example,
        cutoff(objective),
        sorted(range(len(example.scores)), key=lambda row: -example.scores[row]),
        found.push,
        pairs,
        [(int(one["lower_row"]), int(one["upper_row"])) for one in found.pairs()],
        _full(example, pairs),
    )


def _full(example: Example, pairs: Sequence[PairPush]) -> frozenset[int]:
    """Return the documents that have a pair with every document of another label."""
    met: dict[int, set[int]] = {row: set() for row in range(len(example.labels))}
    for pair in pairs:
        met[pair.winner].add(pair.loser)
        met[pair.loser].add(pair.winner)
    labels = example.labels
    return frozenset(
        row
        for row, others in met.items()
        if others == {other for other, label in enumerate(labels) if label != labels[row]}
    )
