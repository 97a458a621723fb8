"""Reading and writing files for commands."""

import argparse
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankwood import load_letor
from rankwood._util.atomic import check_replaceable
from rankwood._util.checks import InputError
from rankwood._util.text import printable, shortened
from rankwood.data.letor.errors import TooWide
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.trec.lines import is_plain


def reading_options(args: argparse.Namespace, ranker: Any = None) -> dict[str, Any]:
    """Return how to read files: by the arguments, else as the model's training data were read."""
    defaults = {"absent": "0", "marker": False, "missing": [], **getattr(ranker, "letor_", {})}
    values = {"absent": args.absent, "marker": args.marker, "missing": args.missing}
    return {name: defaults[name] if value is None else value for name, value in values.items()}


def read_data(
    path: str, args: argparse.Namespace, n_features: int | None = None, ranker: Any = None
) -> RankingData:
    """Read a LETOR file by the arguments, else as a model's training data were read."""
    how = reading_options(args, ranker)
    options = {**how, "absent": float(how["absent"]), "n_jobs": args.threads}
    if ranker is not None and os.path.exists(path) and not os.path.isfile(path):
        return _read_pipe(path, args, ranker, options)
    try:
        data = load_letor(path, n_features=n_features, cache=args.cache, **options)
    except TooWide as error:
        limit = (
            "the value of --features: give a larger one, or omit it"
            if ranker is None
            else "the number of features the model was trained on: give a file with the same features"
        )
        raise InputError(
            f"{error.place}: {error.feature} is above {n_features}, {limit}."
        ) from None
    if ranker is not None and _last_is_absent(data, options["absent"]):
        # We read a file a second time to find out, but only if its last feature is always absent.
        check_width(path, load_letor(path, **options).n_features, ranker, args)
    return data


def _read_pipe(
    path: str, args: argparse.Namespace, ranker: Any, options: dict[str, Any]
) -> RankingData:
    """Read a pipe, which can be read only once, and add the features that it lacks if that is allowed."""
    data = load_letor(path, **options)
    check_width(path, data.n_features, ranker, args)
    return with_absent_features(data, ranker.n_features_in_, options["absent"])


def with_absent_features(data: RankingData, width: int, absent: float) -> RankingData:
    """Return data with as many features: those that it lacks have the value `absent`."""
    if data.n_features == width:
        return data
    wide = np.full((len(data), width), absent, data.X.dtype)
    wide[:, : data.n_features] = data.X
    data.X, data.feature_names = wide, None
    return data


def _last_is_absent(data: RankingData, absent: float) -> bool:
    last = data.X[:, -1]
    return bool((np.isnan(last) if math.isnan(absent) else last == 0).all())


def check_width(path: str, width: int, ranker: Any, args: argparse.Namespace) -> None:
    """Raise unless a file has the features that the model was trained on; where fewer are allowed, write a note."""
    trained = ranker.n_features_in_
    if width > trained:
        raise InputError(
            f"{path}: feature {width} is above {trained}, the number of features the model was trained on: give a file "
            "with the same features."
        )
    if width == trained:
        return
    facts = f"{path} has features up to {width}, the model was trained on {trained}"
    if not getattr(args, "allow_missing_features", True):
        raise InputError(
            f"{facts}: give a file with the same features, or --allow-missing-features to read the others as absent."
        )
    print(printable(f"note: {facts}; the others are read as absent."), file=sys.stderr)


@contextmanager
def errors_naming(path: str) -> Iterator[None]:
    """Prefix error messages about the content of a file with the name of the file."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(path) else f"{path}: {text}") from None


def sizes(path: str, data: Source) -> dict[str, Any]:
    """Return a file name and the numbers of queries, documents and features in it."""
    return {
        "file": path,
        "queries": int(data.groups.ids.size),
        "documents": len(data),
        "features": data.n_features,
    }


def check_output(path: str, inputs: Iterable[str]) -> None:
    """Raise, before any long work, if `path` can't be written or is one of the inputs."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise InputError(f"{path} can't be written: there is no directory {folder}.")
    if target.is_dir():
        raise InputError(f"{path} can't be written: it is a directory, expected a file name.")
    # /dev/stdout may be a regular file, but must not be replaced while others write to it.
    special = os.path.abspath(path).startswith(("/dev/", "/proc/"))
    if special or (target.exists() and not target.is_file()):
        raise InputError(
            f"{path} can't be written: it is a device or a pipe, expected a file name."
        )
    check_replaceable(str(target), path)
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} can't be written: the directory {folder} is read-only.")
    for other in inputs:
        if target.exists() and os.path.exists(other) and os.path.samefile(target, other):
            raise InputError(f"{path} is read by this command, expected another name to write to.")


def looks_like_model(path: str) -> bool:
    """Return whether a file is a model (a JSON object, or LightGBM's own format) and not a list of scores."""
    if path == "-":
        return False
    with open(path, "rb") as file:
        start = file.read(64).lstrip()
    return start.startswith((b"{", b"tree\n"))


def read_model(path: str, n_jobs: int | None) -> Any:
    """Read a model of one or two stages that predicts with `n_jobs` threads."""
    # These take a second to import, for which --help and files of scores need not wait.
    from rankwood.estimators.loading import load_estimator

    model = load_estimator(path)
    model._set_n_jobs(n_jobs)
    return model


def read_scores(path: str) -> np.ndarray:
    """Read one finite number per line; `-` is standard input."""
    name = "standard input" if path == "-" else path
    if path == "-" and sys.stdin is None:
        raise InputError("standard input is closed, expected one score per line.")
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{name} is a binary file, expected one score per line.") from None
    lines = text.rstrip().splitlines()
    try:
        if not is_plain(text):
            raise ValueError
        scores = list(map(float, lines))
    except ValueError:
        scores = [_score(line, f"{name}, line {i}") for i, line in enumerate(lines, 1)]
    for i, score in enumerate(scores):
        if not math.isfinite(score):
            raise InputError(f"{name}, line {i + 1}: expected a finite score, got {lines[i]!r}.")
    return np.array(scores)


def _score(line: str, place: str) -> float:
    """Return the number on a line; raise if there is none or more than one."""
    try:
        if not is_plain(line):
            raise ValueError
        return float(line)
    except ValueError:
        shown = shortened(line, 40)
        raise InputError(f"{place}: expected one score, a number, got {shown!r}.") from None
