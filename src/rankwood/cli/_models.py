"""The models that a command evaluates: files of scores, models, TREC runs, and per-query tables."""

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

from rankwood import Evaluation, evaluate
from rankwood._core.checks import InputError, nearest
from rankwood._core.text import plural
from rankwood.cli import _files, _parquet
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec import Qrels, load_qrels, load_run, looks_like
from rankwood.report import read_evaluation
from rankwood.report.files import looks_like_evaluation


def split_files(files: list[str], least: int = 2) -> tuple[str | None, list[str]]:
    """Return the file of labels, None if all files are per-query tables, and the files of at least so many models."""
    tables = [looks_like_evaluation(file) for file in files]
    if len(set(files)) < len(files):
        repeated = next(f for i, f in enumerate(files) if f in files[:i])
        raise InputError(f"{repeated} is given twice, expected each file once.")
    if tables[0]:
        other = next((f for f, table in zip(files, tables, strict=True) if not table), None)
        if other is not None:
            raise InputError(
                f"{other} is not a table of queries, as {files[0]} is; expected only tables, or a "
                "LETOR file first."
            )
        labels, models = None, files
    else:
        labels, models = files[0], files[1:]
    if least == 1 and not models:
        raise InputError(
            f"there is no model after {files[0]}; expected a file of scores, a model, or a TREC run."
        )
    if len(models) < least:
        raise InputError(
            f"there must be at least two models to compare, got {len(models)}; expected a LETOR file and "
            "two files of scores or models, TREC judgments and two runs, or two tables of queries; with "
            "--bounds, one model is enough."
        )
    return labels, models


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add the options that name models: names of files, and the one that others are compared with."""
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="name of the model in a file; may be repeated (default: the name of the file)",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="model to compare the others with (default: the first)"
    )


def name_models(files: list[str], given: list[str]) -> dict[str, str]:
    """Return files by the names of their models: those of --name NAME=FILE, else the file names."""
    chosen: dict[str, str] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not name:
            raise InputError(f"--name takes NAME=FILE, got {text!r}.")
        if file not in files:
            raise InputError(f"--name {text}: {file!r} is none of the models{nearest(file, files)}")
        chosen[file] = name
    stems = {
        file: chosen.get(file, "standard input" if file == "-" else Path(file).stem)
        for file in files
    }
    taken = list(stems.values())
    # Files with the same name in different directories are called by their paths.
    names = {
        file: file if file not in chosen and taken.count(name) > 1 else name
        for file, name in stems.items()
    }
    by_name = {name: file for file, name in names.items()}
    if len(by_name) < len(files):
        raise InputError("two models have the same name; give each its own with --name NAME=FILE.")
    return by_name


def check_compatible(labels: str, file: str) -> str | None:
    """Return "qrels" if the labels are TREC judgments, else None; raise if a model's file does not match them."""
    if not os.path.exists(labels):
        raise InputError(f"{labels} does not exist, expected a LETOR file or TREC judgments.")
    first, second = looks_like(labels), looks_like(file)
    if first == "run":
        more = f": give {file} before it" if second == "qrels" else ""
        raise InputError(
            f"{labels} is a TREC run, expected labels first, TREC judgments (qrels) or a LETOR file{more}."
        )
    known = file == "-" or os.path.isfile(file)  # we can't look into a pipe
    if first == "qrels" and second != "run" and known:
        raise InputError(f"{file} is not a TREC run, which is expected with TREC judgments.")
    if first is None and second is not None:
        kind = "a TREC run" if second == "run" else "a file of TREC judgments"
        raise InputError(
            f"{file} is {kind}, expected scores or a model; a run goes with judgments (qrels), but "
            f"{labels} has none."
        )
    return first


class ScoredFile(NamedTuple):
    """Labelled documents as a model needs them, its scores or its run, and the model if the file has one."""

    data: RankingData | Qrels
    scores: Any
    ranker: Any = None


class FileEvaluator:
    """Evaluates files against one file of labels, which is read once for each way of reading it."""

    def __init__(self, labels: str | None, args: argparse.Namespace) -> None:
        self.labels, self.args = labels, args
        self._read: dict[tuple[Any, ...], RankingData | Qrels] = {}

    def data(self, ranker: Any = None) -> RankingData | Qrels:
        """Return the labelled documents, read as a model needs them, or in any way if there is no model."""
        if ranker is None and self._read:
            return next(iter(self._read.values()))
        n_features = None if ranker is None else ranker.n_features_in_
        key = (n_features, *map(str, _files.reading_options(self.args, ranker).values()))
        if key not in self._read:
            self._read[key] = (
                load_qrels(str(self.labels))
                if looks_like(str(self.labels)) == "qrels"
                else _parquet.read_data(str(self.labels), self.args, n_features, ranker)
            )
        return self._read[key]

    def evaluation(self, file: str, metrics: list[str] | None) -> Evaluation:
        """Return the evaluation of a file: a per-query table, a model, scores, or a run."""
        if looks_like_evaluation(file):
            return read_evaluation(file)
        _, ev = self.evaluate(file, metrics)
        if self.args.convention is not None:  # the perfect and the random model follow it as well
            ev.conventions["convention"] = self.args.convention
        return ev

    def evaluate(
        self, file: str, metrics: list[str] | None
    ) -> tuple[RankingData | Qrels, Evaluation]:
        """Return the labelled documents, and the evaluation of a model, scores, or a run on them."""
        found = self.scored(file)
        return found.data, self.evaluation_of(found, metrics)

    def evaluation_of(self, found: ScoredFile, metrics: list[str] | None) -> Evaluation:
        """Return the evaluation of scores or a run by the rules of the arguments."""
        rules = {name: getattr(self.args, name) for name in ("ties", "empty", "convention")}
        with _files.errors_naming(str(self.labels)):
            return evaluate(metrics, found.data, found.scores, **rules, n_jobs=self.args.threads)

    def scored(self, file: str) -> ScoredFile:
        """Return the labelled documents, and the scores or the run of a file."""
        if check_compatible(str(self.labels), file) == "qrels":
            return ScoredFile(self.data(), load_run(file))
        if _files.looks_like_model(file):
            ranker = _files.load_model(file, self.args.threads)
            data = self.data(ranker)
            return ScoredFile(data, ranker.predict(data), ranker)
        scores, data = _files.read_scores(file), self.data()
        if scores.size != len(data):
            raise InputError(
                f"{file} has {plural(scores.size, 'score')}, but {self.labels} has "
                f"{plural(len(data), 'document')}; expected one score per document."
            )
        return ScoredFile(data, scores)
