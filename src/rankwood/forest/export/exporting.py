"""From a trained model to a file of another program: options are checked, the file is written, rows are compared."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.atomic import check_replaceable, replacing
from rankwood.forest import Forest
from rankwood.forest.convert.from_pairs import PairTrees
from rankwood.forest.export import cuts
from rankwood.forest.export.caveats import caveats, check_solr, guarantee
from rankwood.forest.export.export_report import ExportReport
from rankwood.forest.export.exported_model import (
    ExportedModel,
    features_by_missing,
    lowest_score,
    with_missing_as_zero,
)
from rankwood.forest.export.names import check_expressions, mapped_names, model_name
from rankwood.forest.export.row_check import Check, Rows, check_forest, worst_check
from rankwood.forest.export.target_table import Target, module_of, target_of
from rankwood.forest.export.targets.pairs import check_pairs, read_pair_trees, write_pair_trees


class TrainedForest(NamedTuple):
    """A model of documents."""

    forest: Forest
    #: Values of categorical features by name.
    categories: Mapping[str, Any]
    #: Rows to compare, or None.
    rows: Rows | None = None


class TrainedPairs(NamedTuple):
    """A model of pairs."""

    model: PairTrees
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
    trained: TrainedForest, path: str | Path, format: str, options: ExportOptions
) -> ExportReport:
    """Write a forest for another program.

    Parameters
    ----------
    trained : TrainedForest
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
    file, target, forest = os.fspath(path), target_of(format), trained.forest
    model = _exported(trained, file, format, options)
    module = module_of(target)
    size = _write(file, module.write(model))
    return ExportReport(
        format=format,
        target=target.title,
        path=file,
        bytes=size,
        trees=forest.n_trees,
        leaves=int(forest.leaf_value.size),
        features=len(model.used),
        shift=model.shift,
        exact=guarantee(format, target, model),
        notes=tuple(caveats(format, target, model, size)),
        upload=module.upload(model, file),
        check=None if trained.rows is None else _check(forest, target, model, trained.rows, file),
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


def _exported(
    trained: TrainedForest, path: str, format: str, options: ExportOptions
) -> ExportedModel:
    """Return what the writer gets; raise if the target can't express something that changes a ranking."""
    target, forest = target_of(format), trained.forest
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
    model = ExportedModel(
        forest=forest,
        names=mapped_names(forest.names, options.names, used if target.named else []),
        name=model_name(options.name, path, format),
        shift=_shift(forest, target, options.positive),
        categories=_by_column(trained),
        zeroed=bool((forest.missing_left != trained.forest.missing_left).any()),
        queries=_queries(options.queries, format),
    )
    if format == "vespa":
        check_expressions([model.names[column] for column in used])
    if format == "solr" and not options.approximate:
        check_solr(model)
    if not target.missing:
        _check_no_missing(model, format)
    return model


def _shift(forest: Forest, target: Target, positive: bool | None) -> float:
    """Return what makes every score positive: a float32 number, so that no target rounds it below 0."""
    lowest = lowest_score(forest)
    if not (target.positive if positive is None else positive) or lowest >= 0:
        return 0.0
    return float(cuts.above32(np.array(-lowest)))


def _check_no_missing(model: ExportedModel, format: str) -> None:
    """Raise if missing values go elsewhere than 0, and the target reads them as 0."""
    columns = features_by_missing(model.forest).tolist()
    if columns:
        name = model.names[columns[0]]
        raise checks.InputError(
            f"the model sends missing values of feature {name!r} elsewhere than 0, and {format} reads a missing value "
            "as 0: give missing='zero' if no document lacks a feature, or use ltr-plugin."
        )


def _by_column(trained: TrainedForest) -> dict[int, tuple[Any, ...]]:
    """Return the values of categorical features by column."""
    names, values = trained.forest.names, trained.categories
    return {i: tuple(values[name]) for i, name in enumerate(names) if name in values}


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


def _check(forest: Forest, target: Target, model: ExportedModel, rows: Rows, path: str) -> Check:
    """Return what the rows say of the file on disk."""
    module, content = module_of(target), Path(path).read_bytes()
    read = module.read(content if target.binary else content.decode(), model.names)
    written = module.trees(model)
    return worst_check(
        [
            check_forest(forest, written, read, semantics, rows, model.shift)
            for semantics in module.semantics(model)
        ]
    )


def export_pairs(trained: TrainedPairs, path: str | Path, options: ExportOptions) -> ExportReport:
    """Write a model of pairs as JSON.

    Parameters
    ----------
    trained : TrainedPairs
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
    file, trees = os.fspath(path), trained.model.trees
    used = np.unique(trees.feature % trained.model.n_features).tolist()
    names = mapped_names(trained.names, options.names, used)
    size = _write(file, write_pair_trees(trained.model, names))
    check = None
    if trained.rows is not None and trained.scores is not None:
        model = read_pair_trees(Path(file).read_text(encoding="utf-8"))
        check = check_pairs(model, trained.rows, trained.scores)
    return ExportReport(
        format="json",
        target="JSON, a model of pairs",
        path=file,
        bytes=size,
        trees=trees.n_trees,
        leaves=int(trees.leaf_value.size),
        features=len(used),
        shift=0.0,
        exact="every pair of documents keeps its leaves; scores differ by the rounding of a mean",
        notes=("A document's score needs the whole list of its query.",),
        upload="a walker of your own: docs/export.md has the format and one in Python",
        check=check,
    )
