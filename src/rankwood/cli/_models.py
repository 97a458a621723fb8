"""Models that a command compares: files of scores, models, TREC runs, and tables of queries."""

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from rankwood import Evaluation, evaluate
from rankwood._core.checks import InputError, nearest
from rankwood.cli import _files, _show
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec import Qrels, load_qrels, load_run, looks_like
from rankwood.report import read_evaluation
from rankwood.report.files import looks_like_evaluation


def split(files: list[str]) -> tuple[str | None, list[str]]:
    """Return the file of labels, if there is one, and those of models."""
    tables = [looks_like_evaluation(file) for file in files]
    if len(set(files)) < len(files):
        twice = next(f for i, f in enumerate(files) if f in files[:i])
        raise InputError(f"{twice} is given twice, expected each file once.")
    if tables[0]:
        other = next((f for f, table in zip(files, tables, strict=True) if not table), None)
        if other is not None:
            raise InputError(
                f"{other} is no table of queries, as {files[0]} is; expected tables alone, or a LETOR "
                "file first."
            )
        labels, models = None, files
    else:
        labels, models = files[0], files[1:]
    if len(models) < 2:
        raise InputError(
            f"there must be at least two models to compare, got {len(models)}; expected a LETOR file and "
            "two files of scores or models, TREC judgments and two runs, or two tables of queries."
        )
    return labels, models


def named(files: list[str], given: list[str]) -> dict[str, str]:
    """Return files by the names of their models."""
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
    # Two files of one name are told apart by their folders.
    names = {
        file: file if file not in chosen and taken.count(name) > 1 else name
        for file, name in stems.items()
    }
    made = {name: file for file, name in names.items()}
    if len(made) < len(files):
        raise InputError("two models have the same name; give each its own with --name NAME=FILE.")
    return made


def go_together(labels: str, file: str) -> str | None:
    """Return "qrels" if labels are TREC judgments, None if not; raise if a model's file is none for them."""
    if not os.path.exists(labels):
        raise InputError(f"{labels} does not exist, expected a LETOR file or TREC judgments.")
    first, second = looks_like(labels), looks_like(file)
    if first == "run":
        more = f": give {file} before it" if second == "qrels" else ""
        raise InputError(
            f"{labels} is a TREC run, expected labels first, TREC judgments (qrels) or a LETOR file{more}."
        )
    known = file == "-" or os.path.isfile(file)  # a pipe may be anything
    if first == "qrels" and second != "run" and known:
        raise InputError(f"{file} is no run, expected a TREC run, as it goes with judgments.")
    if first is None and second is not None:
        kind = "a TREC run" if second == "run" else "a file of TREC judgments"
        raise InputError(
            f"{file} is {kind}, expected scores or a model; a run goes with judgments (qrels), and "
            f"{labels} is none."
        )
    return first


class Source:
    """Where evaluations come from; the file of labels is read once for each way of reading it."""

    def __init__(self, labels: str | None, args: argparse.Namespace) -> None:
        self.labels, self.args = labels, args
        self._read: dict[tuple[Any, ...], RankingData | Qrels] = {}

    def data(self, ranker: Any = None) -> RankingData | Qrels:
        """Return what is judged: documents as a model needs them, or as they are."""
        if ranker is None and self._read:
            return next(iter(self._read.values()))
        width = None if ranker is None else ranker.n_features_in_
        key = (width, *map(str, _files.reading(self.args, ranker).values()))
        if key not in self._read:
            self._read[key] = (
                load_qrels(str(self.labels))
                if looks_like(str(self.labels)) == "qrels"
                else _files.read_data(str(self.labels), self.args, width, ranker)
            )
        return self._read[key]

    def evaluation(self, file: str, metrics: list[str] | None) -> Evaluation:
        """Return the evaluation of a file: a table of queries, a model, scores, or a run."""
        if looks_like_evaluation(file):
            return read_evaluation(file)
        data, scores = self._scored(file)
        rules = {name: getattr(self.args, name) for name in ("ties", "empty", "convention")}
        with _files.named(str(self.labels)):
            ev = evaluate(metrics, data, scores, **rules, n_jobs=self.args.threads)
        if self.args.convention is not None:  # a perfect and a random model follow it too
            ev.conventions["convention"] = self.args.convention
        return ev

    def _scored(self, file: str) -> tuple[RankingData | Qrels, Any]:
        """Return what is judged, and what a file says about it."""
        if go_together(str(self.labels), file) == "qrels":
            return self.data(), load_run(file)
        if _files.looks_like_model(file):
            ranker = _files.load_model(file, self.args.threads)
            data = self.data(ranker)
            return data, ranker.predict(data)
        scores, data = _files.read_scores(file), self.data()
        self._check_size(file, scores, data)
        return data, scores

    def _check_size(self, file: str, scores: np.ndarray, data: RankingData | Qrels) -> None:
        if scores.size != len(data):
            raise InputError(
                f"{file} has {_show.counted(scores.size, 'score')}, but {self.labels} has "
                f"{_show.counted(len(data), 'document')}; expected one score per document."
            )
