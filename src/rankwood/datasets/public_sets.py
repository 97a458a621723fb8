"""The catalogue of public data sets, read from catalogue.toml in the package."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rankwood._util.checks import InputError, nearest


@dataclass(frozen=True)
class PublishedCounts:
    """What papers print about one part of a data set; None where none of them says.

    Attributes
    ----------
    queries, documents : int or None
        How many there are.
    lengths : tuple of int or None
        The smallest, median and largest number of documents in a query.
    labels : tuple of float or None
        The share of documents with label 0, 1, and so on, to two decimal places.
    irrelevant : float or None
        The share of documents with label 0, in percent with two decimal places.

    Examples
    --------
    >>> from rankwood.datasets import catalogue
    >>> catalogue()["mslr30k"].counts["train"].queries
    18919
    """

    queries: int | None = None
    documents: int | None = None
    lengths: tuple[int, ...] | None = None
    labels: tuple[float, ...] | None = None
    irrelevant: float | None = None


@dataclass(frozen=True)
class DataSet:
    """A public data set: its files, its published counts, and where to ask for it.

    Attributes
    ----------
    name, title : str
        The name in this catalogue, such as ``"mslr30k"``, and the full one.
    files : tuple of str
        The files as they are distributed, relative to the folder.
    folders : tuple of str
        How the folder with these files is named where several sets are kept together.
    prefix : str or None
        How the names of the files begin where one folder holds several sets.
    features, max_label : int
        The number of features as published, and the largest label.
    feature_counts : tuple of int
        All numbers of features that a check accepts: papers count columns that are never used or not.
    absent : float
        The value of a feature that a line omits: 0, or NaN for missing.
    marker : bool
        Whether 1.797e308 stands for a missing value.
    valid_share : float
        Which share of the training queries becomes validation data if there is no file of them.
    counts : dict of str to PublishedCounts
        By part: ``"train"``, ``"valid"``, ``"test"`` of the first fold, and ``"all"``.
    licence, source : str
        The terms of use in a few words, and where to ask for the data.
    references : tuple of str
        The tables that the counts were taken from.
    notes : tuple of str
        What to know about the data and about misprints in papers.

    Examples
    --------
    >>> from rankwood.datasets import catalogue
    >>> data_set = catalogue()["mslr30k"]
    >>> data_set.features, data_set.max_label
    (136, 4)
    """

    name: str
    title: str
    files: tuple[str, ...]
    features: int
    max_label: int
    licence: str
    source: str
    counts: dict[str, PublishedCounts]
    references: tuple[str, ...]
    folders: tuple[str, ...] = ()
    prefix: str | None = None
    feature_counts: tuple[int, ...] = ()
    absent: float = 0.0
    marker: bool = False
    valid_share: float = 0.2
    notes: tuple[str, ...] = ()


@cache
def _read() -> dict[str, DataSet]:
    text = (files("rankwood.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    return {name: _data_set(name, row) for name, row in tomllib.loads(text).items()}


def _data_set(name: str, row: dict[str, Any]) -> DataSet:
    """Return a row of the file as a record: lists become tuples."""
    counts = {
        part: PublishedCounts(**{key: _frozen(value) for key, value in values.items()})
        for part, values in row.pop("counts").items()
    }
    fields = {key: _frozen(value) for key, value in row.items()}
    fields.setdefault("feature_counts", (row["features"],))
    return DataSet(name=name, counts=counts, **fields)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def catalogue() -> dict[str, DataSet]:
    """Return the public data sets by name.

    Returns
    -------
    dict of str to DataSet
        A new dictionary; changing it changes nothing else.

    Examples
    --------
    >>> from rankwood.datasets import catalogue
    >>> catalogue()["mslr30k"].counts["train"].queries
    18919
    """
    return dict(_read())


def find(name: str) -> DataSet:
    """Return the data set of a name.

    Parameters
    ----------
    name : str
        A name of the catalogue, in letters of either case.

    Returns
    -------
    DataSet
        Its entry in the catalogue.

    Raises
    ------
    InputError
        If there is no such name; the message suggests similar ones.

    Examples
    --------
    >>> from rankwood.datasets import find
    >>> find("MSLR30K").features
    136
    """
    data_sets = _read()
    if not isinstance(name, str) or name.lower() not in data_sets:
        raise InputError(
            f"there is no data set {name!r} in the catalogue{nearest(str(name), data_sets)}"
        )
    return data_sets[name.lower()]
