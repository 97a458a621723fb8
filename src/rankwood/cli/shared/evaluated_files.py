"""The models that a command evaluates: files of scores, models, TREC runs, and per-query tables."""

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

from rankwood import Evaluation, evaluate
from rankwood._util.checks import InputError, nearest
from rankwood._util.text import plural
from rankwood.cli.shared import file_access, tables
from rankwood.data.source import Source
from rankwood.data.trec.files import Qrels, load_qrels, load_run, trec_kind
from rankwood.report import read_evaluation
from rankwood.report.comparison.files import looks_like_evaluation


def split_files(files: list[str], least: int = 2) -> tuple[str | None, list[str]]:
    """Return the file of labels (None if all files are per-query tables) and the files of models, at least `least`."""
    tables = [looks_like_evaluation(file) for file in files]
    if len(set(files)) < len(files):
        repeated = next(f for i, f in enumerate(files) if f in files[:i])
        raise InputError(f"{repeated} is given twice, expected each file once.")
    if tables[0]:
        other = next((f for f, table in zip(files, tables, strict=True) if not table), None)
        if other is not None:
            raise InputError(
                f"{other} is not a table of queries, as {files[0]} is; expected only tables, or a "
                "file with labels first."
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
            f"there must be at least two models to compare, got {len(models)}; expected a file with labels and "
            "two files of scores or models, TREC judgments and two runs, or two tables of queries; with "
            "--bounds, one model is enough."
        )
    return labels, models


def add_model_names(parser: argparse.ArgumentParser) -> None:
    """Add the options that name models: names of files, and the baseline."""
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


def name_models(files: list[str], named: list[str]) -> dict[str, str]:
    """Return files by the names of their models, from --name NAME=FILE or else from the file names."""
    chosen: dict[str, str] = {}
    for text in named:
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
    first, second = trec_kind(labels), trec_kind(file)
    if first == "run":
        more = f": give {file} before it" if second == "qrels" else ""
        raise InputError(
            f"{labels} is a TREC run, expected labels first, TREC judgments (qrels) or a LETOR file{more}."
        )
    readable = file == "-" or os.path.isfile(file)  # we can't look into a pipe
    if first == "qrels" and second != "run" and readable:
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

    data: Source | Qrels
    scores: Any
    ranker: Any = None


class FileEvaluator:
    """Evaluates files against one file of labels, which is read once per set of reading options."""

    def __init__(
        self, labels: str | None, args: argparse.Namespace, in_memory: bool = True
    ) -> None:
        self.labels, self.args = labels, args
        self._read_documents = tables.read_documents if in_memory else tables.read_or_stream
        tables.check_column_options(args, [labels])
        self._read: dict[tuple[Any, ...], Source | Qrels] = {}

    def data(self, ranker: Any = None) -> Source | Qrels:
        """Return the labelled documents, read as a model needs them; without a model, any reading will do."""
        if ranker is None and self._read:
            return next(iter(self._read.values()))
        n_features = None if ranker is None else ranker.n_features_in_
        names = None if ranker is None else str(ranker._feature_names())
        rules = file_access.reading_options(self.args, ranker).values()
        key = (n_features, names, *map(str, rules))
        if key not in self._read:
            self._read[key] = (
                load_qrels(str(self.labels))
                if trec_kind(str(self.labels)) == "qrels"
                else self._read_documents(str(self.labels), self.args, n_features, ranker)
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

    def evaluate(self, file: str, metrics: list[str] | None) -> tuple[Source | Qrels, Evaluation]:
        """Return the labelled documents, and the evaluation of a model, scores, or a run on them."""
        scored = self.scored(file)
        return scored.data, self.evaluation_of(scored, metrics)

    def evaluation_of(self, scored: ScoredFile, metrics: list[str] | None) -> Evaluation:
        """Return the evaluation of scores or a run by the rules of the arguments."""
        rules = {name: getattr(self.args, name) for name in ("ties", "empty", "convention")}
        with file_access.errors_naming(str(self.labels)):
            return evaluate(metrics, scored.data, scored.scores, **rules, n_jobs=self.args.threads)

    def scored(self, file: str) -> ScoredFile:
        """Return the labelled documents, and the scores or the run of a file."""
        if check_compatible(str(self.labels), file) == "qrels":
            return ScoredFile(self.data(), load_run(file))
        if file_access.looks_like_model(file):
            ranker = file_access.read_model(file, self.args.threads)
            data = self.data(ranker)
            return ScoredFile(data, ranker.predict(data), ranker)
        scores, data = file_access.read_scores(file), self.data()
        if scores.size != len(data):
            raise InputError(
                f"{file} has {plural(scores.size, 'score')}, but {self.labels} has "
                f"{plural(len(data), 'document')}; expected one score per document."
            )
        return ScoredFile(data, scores)
