"""Descriptions of data sets: sizes, labels, features, signs of leaks, and advice."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwood._util.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.data.tables.hashing import row_hashes
from rankwood.datasets import description_views
from rankwood.datasets.advice import advice_for
from rankwood.datasets.letor_files import LetorArguments, read_files, writes_zeros_and_gaps
from rankwood.datasets.part_overlap import Overlap, identify_part, part_overlap
from rankwood.datasets.public_sets import find
from rankwood.datasets.split_files import find_layout
from rankwood.datasets.splits import Split, concat_parts
from rankwood.datasets.statistics import (
    FeatureStatistics,
    PartStatistics,
    feature_statistics,
    part_statistics,
)
from rankwood.metrics.single_features import SingleFeatures, single_features
from rankwood.render import formats as render
from rankwood.render import html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Description:
    """A description of a data set; it prints itself as tables with advice.

    Attributes
    ----------
    title : str
        The name of the folder or file, or "data".
    parts : tuple of PartStatistics
        Counts of each part: queries, documents, labels, lengths of lists.
    features : FeatureStatistics
        Statistics of each feature.
    single : SingleFeatures
        How well each feature alone, and the order of the rows, rank the first part.
    overlaps : tuple of Overlap
        Queries and documents that two parts share.
    gaps : bool
        Whether files omit features but write zeros.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import describe
    >>> description = describe(rw.make_ranking(20), n_jobs=1)
    >>> description.parts[0].queries
    20
    """

    title: str
    parts: tuple[PartStatistics, ...]
    features: FeatureStatistics
    single: SingleFeatures
    overlaps: tuple[Overlap, ...]
    gaps: bool

    @property
    def advice(self) -> tuple[str, ...]:
        """Sentences on what calls for attention, the most serious first."""
        return tuple(advice_for(self))

    def __str__(self) -> str:
        tables = description_views.description_tables(self)
        text = "\n\n".join(f"{table.title}\n{render.plain([table])}" for table in tables)
        return text + "\n\nAdvice\n" + "\n".join(f"- {sentence}" for sentence in self.advice)

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.parts)
        return f"Description({self.title!r}: {names}; {len(self.advice)} sentences of advice)"

    def to_markdown(self) -> str:
        """Return the description as GitHub Markdown.

        Returns
        -------
        str
        """
        lines = [
            f"# {self.title}",
            "",
            render.markdown(description_views.description_tables(self)),
            "**Advice**",
            "",
        ]
        return "\n".join([*lines, *(f"- {sentence}" for sentence in self.advice)]) + "\n"

    def to_html(self) -> str:
        """Return the description as one page with pictures, without external files.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If Jinja2 or matplotlib is not installed.
        """
        return description_views.description_page(self)

    def _repr_html_(self) -> str:
        """Return the tables to show in a notebook."""
        return html.fragment(
            [*description_views.description_tables(self), description_views.advice_table(self)]
        )

    def plot(self) -> "Figure":
        """Draw labels, lengths of lists, relevant documents and single features.

        Returns
        -------
        matplotlib.figure.Figure
            Four plots.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        return description_views.draw_description(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, as ``rankwood data describe --json`` writes them.

        Returns
        -------
        dict
        """
        single = self.single._asdict()
        single |= {key: single[key].tolist() for key in ("best", "downward")}
        return {
            "title": self.title,
            "parts": [part.to_dict() for part in self.parts],
            "features": self.features.to_dict(),
            "single_features": single,
            "overlaps": [pair._asdict() for pair in self.overlaps],
            "gaps": self.gaps,
            "advice": list(self.advice),
        }


def describe(
    data: Any,
    name: str | None = None,
    *,
    absent: float | None = None,
    missing: Iterable[str] = (),
    cache: bool = False,
    n_jobs: int | None = None,
) -> Description:
    """Describe a data set: sizes, labels, lists, features, signs of leaks, and advice.

    Parameters
    ----------
    data : RankingData, Split, dict, str or path
        Data in memory, a dictionary of parts, or a folder in a layout that `load_splits` knows (its first fold), or
        a LETOR file.
    name : str, optional
        The name of the data set in `catalogue()`, as in `load_splits`.
    absent : 0 or NaN, optional
        The value of a feature that a line of a file omits, as in `load_splits`.
    missing : list of str
        Words that mean a missing value in a file, as in `load_letor`.
    cache : bool
        Whether to keep what was read beside the files, as `load_splits` does.
    n_jobs : int, optional
        Number of threads; None means every core.

    Returns
    -------
    Description

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.datasets import describe
    >>> description = describe({"train": rw.load_demo("train"), "test": rw.load_demo("test")})
    >>> [part.queries for part in description.parts]
    [120, 40]
    """
    if isinstance(data, (str, os.PathLike)):
        data_set = None if name is None else find(name)
        if absent is None:
            absent = 0.0 if data_set is None else data_set.absent
        layout = find_layout(Path(data), data_set)
        files = {"all": (layout.whole,)} if layout.whole else _files(layout.folds[0])
        how = LetorArguments(absent=absent, missing=tuple(missing), cache=cache, n_jobs=n_jobs)
        read = read_files((path for paths in files.values() for path in paths), how)
        parts = {
            part: concat_parts([read[path] for path in paths]) for part, paths in files.items()
        }
        first = next(iter(read))
        gaps = not math.isnan(absent) and writes_zeros_and_gaps(first, read[first].n_features)
        return _describe_parts(Path(data).resolve().name, parts, gaps, n_jobs)
    return _describe_parts("data", _parts(data), False, n_jobs)


def _files(fold: Any) -> dict[str, tuple[Path, ...]]:
    files = {"train": fold.train, "valid": fold.valid, "test": fold.test}
    return {part: paths for part, paths in files.items() if paths}


def _parts(data: Any) -> dict[str, RankingData]:
    """Return data in memory as parts by name."""
    if isinstance(data, RankingData):
        return {"all": data}
    if isinstance(data, Split):
        return {"train": data.train, "valid": data.valid, "test": data.test}
    if (
        isinstance(data, Mapping)
        and data
        and all(isinstance(x, RankingData) for x in data.values())
    ):
        return {str(name): part for name, part in data.items()}
    raise InputError(
        f"data must be a RankingData, a Split, a dictionary of RankingData or a path, got {type(data).__name__}."
    )


def _describe_parts(
    title: str, parts: dict[str, RankingData], gaps: bool, n_jobs: int | None
) -> Description:
    """Describe parts of a data set, the first of which is training data."""
    widths = {part.n_features for part in parts.values()}
    if len(widths) > 1:
        raise InputError(
            f"parts have {' and '.join(map(str, sorted(widths)))} features, expected the same number in all."
        )
    if widths == {0}:
        raise InputError("there is no feature to describe: expected lines such as '0 qid:1 1:0.5'.")
    hashes = {name: row_hashes(dense(part.X)) for name, part in parts.items()}
    identities = [identify_part(name, part, hashes[name]) for name, part in parts.items()]
    return Description(
        title,
        tuple(part_statistics(name, part, hashes[name]) for name, part in parts.items()),
        feature_statistics(list(parts.values())),
        single_features(next(iter(parts.values())), n_jobs),
        tuple(part_overlap(*pair) for pair in combinations(identities, 2)),
        gaps,
    )
