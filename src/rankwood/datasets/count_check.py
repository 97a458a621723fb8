"""Compare a folder with the published counts of a data set."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.datasets.public_sets import DataSet, find
from rankwood.datasets.splits import Split, load_splits
from rankwood.datasets.statistics import count_values
from rankwood.render.result import TableResult
from rankwood.render.table import Cell, Table

_ROUNDING = 0.0051  # of shares that are printed with two digits


class CountComparison(NamedTuple):
    """A published number, the number found in the files, and whether they agree."""

    part: str
    what: str
    published: str
    found: str
    agrees: bool


@dataclass(frozen=True, repr=False)
class Check(TableResult):
    """The published counts of a data set beside those found in a folder.

    Attributes
    ----------
    name : str
        The name of the data set in the catalogue.
    folder : str
        Where the files are.
    rows : tuple
        For each number: `part`, `what`, `published`, `found`, `agrees`.

    Examples
    --------
    >>> from rankwood.datasets import Check
    >>> Check("mq2008", "MQ2008/Fold1", ()).agrees
    True
    """

    name: str
    folder: str
    rows: tuple[CountComparison, ...]

    @property
    def agrees(self) -> bool:
        """Whether all numbers agree."""
        return all(row.agrees for row in self.rows)

    @property
    def differences(self) -> list[str]:
        """What differs, one sentence each."""
        return [
            f"The value of '{row.what}' in {row.part} is {row.found}, but the published one is {row.published}."
            for row in self.rows
            if not row.agrees
        ]

    def table(self) -> Table:
        """Return all numbers as a table.

        Returns
        -------
        Table
            What the renderers of `rankwood.render.formats` take.
        """
        cells = [
            [Cell(text) for text in (row.part, row.what, "" if row.agrees else "differs")]
            + [Cell(row.published), Cell(row.found, bold=not row.agrees)]
            for row in self.rows
        ]
        headings = ["part", "what", "", "published", "found"]
        return Table(f"{find(self.name).title}: {self.folder}", headings, cells, 2)

    def tables(self, digits: int = 4, details: bool = False) -> list[Table]:
        """Return the table of `table`, in a list.

        Parameters
        ----------
        digits, details : int and bool
            Without effect: the published numbers decide the digits.

        Returns
        -------
        list of Table
        """
        return [self.table()]

    def columns(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return headings and rows for CSV.

        Returns
        -------
        headings, rows : list of str, list of list
        """
        return CountComparison._fields, self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values.

        Returns
        -------
        dict
            `name`, `folder`, `agrees`, `rows` and `differences`.
        """
        return {
            "name": self.name,
            "folder": self.folder,
            "agrees": self.agrees,
            "rows": [row._asdict() for row in self.rows],
            "differences": self.differences,
        }


def check(
    name: str,
    folder: str | os.PathLike[str],
    *,
    cache: bool = False,
    n_jobs: int | None = None,
) -> Check:
    """Compare a folder with the published counts of a data set.

    Parameters
    ----------
    name : str
        A name of `catalogue()`.
    folder : str or path
        The folder, as for `load_splits`; of several folds, the first is checked.
    cache : bool
        Whether to keep what was read beside the files, as `load_splits` does.
    n_jobs : int, optional
        Number of threads; None means every core.

    Returns
    -------
    Check
        `agrees` tells whether everything agrees, `differences` what doesn't.

    Examples
    --------
    The demo data is not MQ2008.

    >>> import rankwood as rw
    >>> from rankwood.datasets import check
    >>> for part, file in {"train": "train", "valid": "vali", "test": "test"}.items():
    ...     rw.save_letor(rw.load_demo(part), f"{file}.txt")
    >>> check("mq2008", ".").agrees
    False
    """
    data_set = find(name)
    [split] = load_splits(folder, data_set.name, folds=[1], cache=cache, n_jobs=n_jobs)
    return Check(data_set.name, os.fspath(folder), tuple(_rows(data_set, split)))


def _rows(data_set: DataSet, split: Split) -> list[CountComparison]:
    parts: dict[str, list[RankingData]] = {
        "train": [split.train],
        "valid": [split.valid],
        "test": [split.test],
        "all": [split.train, split.valid, split.test],
    }
    rows = []
    for part, counts in data_set.counts.items():
        for quantity, published in vars(counts).items():
            if published is not None:
                rows.append(_COUNTS[quantity](part, published, parts[part]))
    everything = parts["all"]
    top = max(data.y.max() for data in everything)
    rows.append(_equal("all", "largest label", data_set.max_label, int(top)))
    return [*rows, _features(data_set, everything)]


def _features(data_set: DataSet, parts: list[RankingData]) -> CountComparison:
    """Compare the number of features: all columns, or those that occur."""
    width = parts[0].n_features
    unused = sum(np.add(*count_values(part.X)) for part in parts) == sum(map(len, parts))
    used = ~unused
    widths = {width, int(used.sum())}
    published = " or ".join(map(str, data_set.feature_counts))
    text = f"{width}, {used.sum()} of them not always 0"
    return CountComparison(
        "all", "features", published, text, bool(widths & set(data_set.feature_counts))
    )


def _equal(part: str, quantity: str, published: int, counted: int) -> CountComparison:
    return CountComparison(part, quantity, f"{published:,}", f"{counted:,}", published == counted)


def _queries(part: str, published: int, data: list[RankingData]) -> CountComparison:
    return _equal(part, "queries", published, sum(part_data.groups.ids.size for part_data in data))


def _documents(part: str, published: int, data: list[RankingData]) -> CountComparison:
    return _equal(part, "documents", published, sum(map(len, data)))


def _lengths(part: str, published: tuple[int, ...], data: list[RankingData]) -> CountComparison:
    sizes = np.concatenate([part_data.groups.sizes for part_data in data])
    # A median between two lengths is printed as one of them, or as the number between.
    lengths = [int(sizes.min()), float(np.median(sizes)), int(sizes.max())]
    agrees = all(
        abs(a - b) <= (0.5 if i == 1 else 0)
        for i, (a, b) in enumerate(zip(published, lengths, strict=True))
    )
    printed, ours = (", ".join(f"{x:g}" for x in numbers) for numbers in (published, lengths))
    return CountComparison(part, "shortest, median and longest list", printed, ours, agrees)


def _labels(part: str, published: tuple[float, ...], data: list[RankingData]) -> CountComparison:
    labels = np.concatenate([part_data.y for part_data in data])
    shares_found = [float((labels == label).mean()) for label in range(len(published))]
    agrees = all(abs(a - b) <= _ROUNDING for a, b in zip(published, shares_found, strict=True))
    printed, ours = (", ".join(f"{x:.2f}" for x in shares) for shares in (published, shares_found))
    return CountComparison(part, "shares of labels", printed, ours, agrees)


def _irrelevant(part: str, published: float, data: list[RankingData]) -> CountComparison:
    labels = np.concatenate([part_data.y for part_data in data])
    share = 100 * float((labels == 0).mean())
    agrees = abs(share - published) <= _ROUNDING
    return CountComparison(part, "percent of label 0", f"{published:.2f}", f"{share:.2f}", agrees)


_COUNTS: dict[str, Any] = {
    "queries": _queries,
    "documents": _documents,
    "lengths": _lengths,
    "labels": _labels,
    "irrelevant": _irrelevant,
}
