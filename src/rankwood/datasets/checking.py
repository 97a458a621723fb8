"""Compare a folder with the published counts of a data set."""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.datasets.facts import count_values
from rankwood.datasets.published import DataSet, find
from rankwood.datasets.splits import Split, load_splits
from rankwood.report import render
from rankwood.report.table import Cell, Table

_ROUNDING = 0.0051  # of shares that are printed with two digits


class Counted(NamedTuple):
    """One number: what was published, what was found, and whether these agree."""

    part: str
    what: str
    published: str
    found: str
    agrees: bool


@dataclass(frozen=True)
class Check:
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
    rows: tuple[Counted, ...]

    @property
    def agrees(self) -> bool:
        """Whether all numbers agree."""
        return all(row.agrees for row in self.rows)

    @property
    def differences(self) -> list[str]:
        """What differs, a sentence each."""
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
            What the renderers of `rankwood.report.render` take.
        """
        cells = [
            [Cell(text) for text in (row.part, row.what, "" if row.agrees else "differs")]
            + [Cell(row.published), Cell(row.found, bold=not row.agrees)]
            for row in self.rows
        ]
        headings = ["part", "what", "", "published", "found"]
        return Table(f"{find(self.name).title}: {self.folder}", headings, cells, 2)

    def __str__(self) -> str:
        return render.plain([self.table()])

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
    known = find(name)
    [split] = load_splits(folder, known.name, folds=[1], cache=cache, n_jobs=n_jobs)
    return Check(known.name, os.fspath(folder), tuple(_rows(known, split)))


def _rows(known: DataSet, split: Split) -> list[Counted]:
    parts: dict[str, list[RankingData]] = {
        "train": [split.train],
        "valid": [split.valid],
        "test": [split.test],
        "all": [split.train, split.valid, split.test],
    }
    rows = []
    for part, counts in known.counts.items():
        for what, published in vars(counts).items():
            if published is not None:
                rows.append(_COUNTS[what](part, published, parts[part]))
    everything = parts["all"]
    top = max(data.y.max() for data in everything)
    rows.append(_equal("all", "largest label", known.max_label, int(top)))
    return [*rows, _features(known, everything)]


def _features(known: DataSet, parts: list[RankingData]) -> Counted:
    """Compare the number of features: all columns, or those that occur."""
    width = parts[0].n_features
    unused = sum(np.add(*count_values(part.X)) for part in parts) == sum(map(len, parts))
    used = ~unused
    found = {width, int(used.sum())}
    published = " or ".join(map(str, known.feature_counts))
    text = f"{width}, {used.sum()} of them not always 0"
    return Counted("all", "features", published, text, bool(found & set(known.feature_counts)))


def _equal(part: str, what: str, published: int, found: int) -> Counted:
    return Counted(part, what, f"{published:,}", f"{found:,}", published == found)


def _queries(part: str, published: int, data: list[RankingData]) -> Counted:
    return _equal(part, "queries", published, sum(one.groups.ids.size for one in data))


def _documents(part: str, published: int, data: list[RankingData]) -> Counted:
    return _equal(part, "documents", published, sum(map(len, data)))


def _lengths(part: str, published: tuple[int, ...], data: list[RankingData]) -> Counted:
    sizes = np.concatenate([one.groups.sizes for one in data])
    # A median between two lengths is printed as one of them, or as the number between.
    found = [int(sizes.min()), float(np.median(sizes)), int(sizes.max())]
    agrees = all(
        abs(a - b) <= (0.5 if i == 1 else 0)
        for i, (a, b) in enumerate(zip(published, found, strict=True))
    )
    printed, ours = (", ".join(f"{x:g}" for x in numbers) for numbers in (published, found))
    return Counted(part, "shortest, median and longest list", printed, ours, agrees)


def _labels(part: str, published: tuple[float, ...], data: list[RankingData]) -> Counted:
    labels = np.concatenate([one.y for one in data])
    found = [float((labels == label).mean()) for label in range(len(published))]
    agrees = all(abs(a - b) <= _ROUNDING for a, b in zip(published, found, strict=True))
    printed, ours = (", ".join(f"{x:.2f}" for x in shares) for shares in (published, found))
    return Counted(part, "shares of labels", printed, ours, agrees)


def _irrelevant(part: str, published: float, data: list[RankingData]) -> Counted:
    labels = np.concatenate([one.y for one in data])
    share = 100 * float((labels == 0).mean())
    agrees = abs(share - published) <= _ROUNDING
    return Counted(part, "percent of label 0", f"{published:.2f}", f"{share:.2f}", agrees)


_COUNTS: dict[str, Any] = {
    "queries": _queries,
    "documents": _documents,
    "lengths": _lengths,
    "labels": _labels,
    "irrelevant": _irrelevant,
}
