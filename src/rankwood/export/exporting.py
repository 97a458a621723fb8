"""From a trained model to a file of another program: options are checked, the file is written, rows are compared."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.atomic import check_replaceable, replacing
from rankwood.export import names as naming
from rankwood.export import notes, pairs, rules
from rankwood.export.checking import Check, Rows, check_forest, worst
from rankwood.export.report import ExportReport
from rankwood.export.source import (
    Source,
    features_by_missing,
    lowest_score,
    with_missing_as_zero,
)
from rankwood.export.targets import Target, module_of, target_of
from rankwood.forest import Forest


class TrainedForest(NamedTuple):
    """A model of documents."""

    forest: Forest
    #: Values of categorical features by name.
    categories: Mapping[str, Any]
    #: Rows to compare, or None.
    rows: Rows | None = None


class TrainedPairs(NamedTuple):
    """A model of pairs."""

    model: Any
    #: Names of the features of a document.
    names: tuple[str, ...]
    rows: Rows | None = None
    #: The model's scores of these rows.
    scores: np.ndarray | None = None


class ExportOptions(NamedTuple):
    """What the caller wants; `Ranker.export` explains each."""

    names: Any = None
    check: Any = None
    name: str | None = None
    missing: str = "model"
    positive: bool | None = None
    queries: Any = None
    approximate: bool = False
    overwrite: bool = False


def check_request(path: str | Path, format: Any, options: ExportOptions) -> None:
    """Raise, before any work, unless the format and the values of options exist, and the file can be written.

    Parameters
    ----------
    path : str or Path
        The file.
    format : str
        The name of a target.
    options : ExportOptions
        What the caller wants.
    """
    target_of(format)
    checks.one_of(options.missing, ("model", "zero"), "missing")
    checks.one_of(options.positive, (None, True, False), "positive")
    _check_path(os.fspath(path), options.overwrite)


def export_forest(
    model: TrainedForest, path: str | Path, format: str, options: ExportOptions
) -> ExportReport:
    """Write a forest for another program.

    Parameters
    ----------
    model : TrainedForest
        The forest, and what else is known of the model.
    path : str or Path
        The file.
    format : str
        The name of a target.
    options : ExportOptions
        What the caller wants; see `Ranker.export`.

    Returns
    -------
    ExportReport
        What was written.
    """
    check_request(path, format, options)
    file, target, forest = os.fspath(path), target_of(format), model.forest
    source = _source(model, file, format, options)
    module = module_of(target)
    size = _write(file, module.write(source))
    return ExportReport(
        format=format,
        target=target.title,
        path=file,
        bytes=size,
        trees=forest.n_trees,
        leaves=int(forest.leaf_value.size),
        features=len(source.used),
        shift=source.shift,
        exact=notes.exact(format, target, source),
        notes=tuple(notes.notes(format, target, source, size)),
        upload=module.upload(source, file),
        check=None if model.rows is None else _check(forest, module, source, model.rows, file),
    )


def _check_path(path: str, overwrite: bool) -> None:
    """Raise, before any work, unless a file can be written."""
    if not os.path.basename(path):
        raise checks.InputError(f"{path!r} can't be written: expected the name of a file.")
    if os.path.exists(path):
        check_replaceable(path, path)
        if not overwrite:
            raise checks.InputError(
                f"{path} exists: give another name, or overwrite=True to replace it."
            )
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise checks.InputError(f"{path} can't be written: there is no directory {folder}.")


def _source(model: TrainedForest, path: str, format: str, options: ExportOptions) -> Source:
    """Return what the writer gets; raise if the target can't express something that changes a ranking."""
    target, forest = target_of(format), model.forest
    if options.missing == "zero":
        forest = with_missing_as_zero(forest)
    if forest.categorical.any() and not target.categories:
        name = forest.names[int(forest.feature[forest.categorical][0])]
        raise checks.InputError(
            f"the model splits the categories of feature {name!r}, and {format} has no such splits: train on columns "
            "of 0 and 1, or export to vespa, c or json."
        )
    if options.names is not None and not target.named:
        raise checks.InputError(f"names has no use: {format} knows features by their numbers.")
    used = np.unique(forest.feature).tolist()
    source = Source(
        forest=forest,
        names=naming.mapped_names(forest.names, options.names, used if target.named else []),
        name=naming.model_name(options.name, path, format),
        shift=_shift(forest, target, options.positive),
        categories=_by_column(model),
        zeroed=bool((forest.missing_left != model.forest.missing_left).any()),
        queries=_queries(options.queries, format),
    )
    if format == "vespa":
        naming.check_expressions([source.names[column] for column in used])
    if format == "solr" and not options.approximate:
        notes.check_solr(source)
    if not target.missing:
        _check_no_missing(source, format)
    return source


def _shift(forest: Any, target: Target, positive: bool | None) -> float:
    """Return what makes every score positive: a float32 number, so that no target rounds it below 0."""
    lowest = lowest_score(forest)
    if not (target.positive if positive is None else positive) or lowest >= 0:
        return 0.0
    return float(rules.above32(np.array(-lowest)))


def _check_no_missing(source: Source, format: str) -> None:
    """Raise if missing values go elsewhere than 0, and the target reads them as 0."""
    columns = features_by_missing(source.forest).tolist()
    if columns:
        name = source.names[columns[0]]
        raise checks.InputError(
            f"the model sends missing values of feature {name!r} elsewhere than 0, and {format} reads a missing value "
            "as 0: give missing='zero' if no document lacks a feature, or take ltr-plugin."
        )


def _by_column(model: TrainedForest) -> dict[int, tuple[Any, ...]]:
    """Return the values of categorical features by column."""
    found = model.categories
    return {i: tuple(found[name]) for i, name in enumerate(model.forest.names) if name in found}


def _queries(queries: Any, format: str) -> dict[str, Any] | None:
    """Return Elasticsearch's queries by the names of features there."""
    if queries is None:
        return None
    if format != "elasticsearch":
        raise checks.InputError(f"queries has no use: {format} has no queries in its model.")
    if not isinstance(queries, dict) or not all(isinstance(q, dict) for q in queries.values()):
        raise checks.InputError("queries must be a dictionary of queries by names of features.")
    return queries


def _write(path: str, pieces: Iterable[str | bytes]) -> int:
    """Write a file piece by piece, and return its size; nothing is left of it if a piece fails."""
    size = 0
    with replacing(path) as file:
        for piece in pieces:
            size += file.write(piece.encode() if isinstance(piece, str) else piece)
    return size


def _check(forest: Any, module: Any, source: Source, rows: Rows, path: str) -> Check:
    """Return what the rows say of the file on disk."""
    content: Any = Path(path).read_bytes()
    if module.__name__ != "rankwood.export.onnx_model":
        content = content.decode()
    found, made = module.read(content, source.names), module.trees(source)
    return worst(
        [
            check_forest(forest, made, found, semantics, rows, source.shift)
            for semantics in module.semantics(source)
        ]
    )


def export_pairs(model: TrainedPairs, path: str | Path, options: ExportOptions) -> ExportReport:
    """Write a model of pairs as JSON.

    Parameters
    ----------
    model : TrainedPairs
        The model.
    path : str or Path
        The file.
    options : ExportOptions
        What the caller wants; `names` and `overwrite` have a meaning here.

    Returns
    -------
    ExportReport
        What was written.
    """
    check_request(path, "json", options)
    file, n = os.fspath(path), len(model.names)
    found = pairs.pair_trees(model.model, n)
    used = np.unique(found.trees.feature % n).tolist()
    size = _write(file, pairs.write(found, naming.mapped_names(model.names, options.names, used)))
    check = None
    if model.rows is not None and model.scores is not None:
        read = pairs.read(Path(file).read_text(encoding="utf-8"))
        check = pairs.check_pairs(read, model.rows, model.scores)
    return ExportReport(
        format="json",
        target="JSON, a model of pairs",
        path=file,
        bytes=size,
        trees=found.trees.n_trees,
        leaves=int(found.trees.leaf_value.size),
        features=len(used),
        shift=0.0,
        exact="every pair of documents keeps its leaves; scores differ by the rounding of a mean",
        notes=("A document's score needs the whole list of its query.",),
        upload="a walker of your own: docs/export.md has the format and one in Python",
        check=check,
    )
