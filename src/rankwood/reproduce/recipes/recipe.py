"""A recipe: what a paper did and printed, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SignificanceTest:
    """The test of significance that a paper made.

    Attributes
    ----------
    kind : {"permutation", "t"}
        Whether signs of differences are exchanged at random, or Student's paired test is made.
    sides : int
        1 to test for a row that is better than the baseline, 2 for one that is different.
    draws : int
        Random draws of the permutation test.
    strict : bool
        Whether only draws that are more extreme than the observed difference count.
    levels, marks : sequence
        Significance levels, and the mark that the paper prints at each.
    letters : bool
        Whether marks name the rows that are beaten.
    """

    kind: str = "permutation"
    sides: int = 2
    draws: int = 10_000
    strict: bool = False
    levels: Sequence[float] = (0.05,)
    marks: Sequence[str] = ("*",)
    letters: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper: how to cite it, its metrics and their conventions, its test, and why numbers may differ.

    `absent` has the value of features that a line omits by role, 0 or NaN, where it isn't that of the catalogue.
    """

    name: str
    number: str
    key: str
    title: str
    authors: str
    year: int
    metrics: Sequence[str]
    test: SignificanceTest
    conventions: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    absent: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """How the models of an item are trained.

    Attributes
    ----------
    engine : str
        The engine of `rankwood.Ranker`, or "neural" for `rankwood.NeuralRanker`.
    rounds : int
        Largest number of trees, or of epochs of a network.
    patience : int
        Rounds without an improvement after which training stops; 0 means all rounds, and keeping the best one.
    stop : str or None
        The metric of the validation data that chooses the round; None keeps all rounds.
    seeds : sequence of int
        A model is trained with each seed.
    folds : int
        How many folds of the data set that the paper used.
    record : sequence of str
        Curves of ``Ranker(record=...)``.
    train_curve : bool
        Whether `stop` is evaluated on the training data after each round too.
    tuner, two_stage : mapping or None
        Settings of `rankwood.tune`, where "none" is None, and of `rankwood.TwoStage`.
    params : mapping
        Parameters by role; those of ``"*"`` are of every role, and those of ``"other"`` take the place of all others
        if the data isn't that of the role: what a paper chose for large data may fit no small one.
    shuffle : bool
        Whether the documents of a query are shuffled before the first round.
    objective : str or None
        The objective, if this is the protocol of a first stage.
    """

    name: str
    rounds: int
    engine: str = "lightgbm"
    patience: int = 0
    stop: str | None = None
    seeds: Sequence[int] = (0,)
    folds: int = 1
    record: Sequence[str] = ()
    train_curve: bool = False
    tuner: Mapping[str, Any] | None = None
    two_stage: Mapping[str, Any] | None = None
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shuffle: bool = True
    objective: str | None = None


@dataclass(frozen=True)
class MetricColumn:
    """A column of a table: a metric, and the part of the data that it is computed on."""

    metric: str
    split: str = "test"


@dataclass(frozen=True)
class Row:
    """A row of an item: a model with its parameters, and what the paper printed, by role.

    Attributes
    ----------
    index : int
        The position in the item: names may repeat, in other groups or for other values of `over`.
    name, group : str
        The name, and a heading over several rows.
    model : str
        "trees", "two-stage", "first-stage" for that stage of two alone, "perfect" or "random"; others with `pending`
        only. What is trained in two stages is decided by the protocol.
    objective, role_objective : str, mapping
        The objective, and other ones by role.
    engine, protocol, stop, two_stage
        What takes the place of the protocol's.
    conventions : mapping
        Conventions of metrics that take the place of the item's.
    params, role_params : mapping
        Parameters for every role, and by role; both take the place of the protocol's.
    let : mapping
        Values of names in braces, beside those of `over`.
    only : mapping
        Values of `over` for which the row exists.
    printed, marks : mapping
        Numbers and marks of the paper by role, in the order of `over` and then of columns.
    split : str
        The part of the data, in a table of statistics.
    pending : str
        What the row waits for; it is named and not run.
    note : str
        What to know about the row.
    extra : mapping
        Keys that only the kind of the item knows.
    """

    name: str
    index: int = -1
    group: str = ""
    model: str = "trees"
    objective: str | None = None
    role_objective: Mapping[str, str] = field(default_factory=dict)
    let: Mapping[str, Any] = field(default_factory=dict)
    two_stage: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None
    engine: str | None = None
    protocol: str | None = None
    stop: str | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    role_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    printed: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    pending: str = ""
    note: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """A table or a figure; `columns` are `MetricColumn`s of metrics, or names; `extra` has the keys of its kind."""

    name: str
    kind: str
    title: str
    roles: Sequence[str] = ()
    protocol: str | None = None
    over: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    columns: Sequence[Any] = ()
    baseline: str | None = None
    digits: int = 4
    scale: float = 1.0
    rows: Sequence[Row] = ()
    notes: Sequence[str] = ()
    conventions: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """A paper with its protocols and items."""

    paper: Paper
    protocols: Mapping[str, Protocol]
    items: Mapping[str, Item]
