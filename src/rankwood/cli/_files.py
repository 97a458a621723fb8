"""Files that commands read and write."""

import argparse
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankwood import load_letor
from rankwood._core.checks import InputError
from rankwood.data.letor.errors import TooWide
from rankwood.data.ranking_data import RankingData


def reading(args: argparse.Namespace, ranker: Any = None) -> dict[str, Any]:
    """Return how files are read: as the arguments say, else as the model's were."""
    known = {"absent": "0", "marker": False, **getattr(ranker, "letor_", {})}
    given = {"absent": args.absent, "marker": args.marker}
    return {name: known[name] if value is None else value for name, value in given.items()}


def read_data(
    path: str, args: argparse.Namespace, n_features: int | None = None, ranker: Any = None
) -> RankingData:
    """Read a LETOR file as the arguments say, or as those were that a model was trained on."""
    how = reading(args, ranker)
    options = {"absent": float(how["absent"]), "marker": how["marker"], "n_jobs": args.threads}
    try:
        data = load_letor(path, n_features=n_features, cache=args.cache, **options)
    except TooWide as error:
        said = (
            "the value of --features: give a larger one, or leave it out"
            if ranker is None
            else "the number of features the model was trained on: give a file with the same features"
        )
        raise InputError(f"{error.place}: {error.feature} is above {n_features}, {said}.") from None
    if ranker is not None:
        _remark_on_width(path, data, options)
    return data


def _remark_on_width(path: str, data: RankingData, options: dict[str, Any]) -> None:
    """Say on standard error if a file lacks the last features of the model it is read for."""
    last = data.X[:, -1]
    absent = np.isnan(last) if math.isnan(options["absent"]) else last == 0
    # Only a file whose last feature may be absent is read a second time, to see; a pipe can't be.
    if not absent.all() or not os.path.isfile(path):
        return
    width = load_letor(path, **options).n_features
    if width < data.n_features:
        print(
            f"note: {path} has features up to {width}, the model was trained on {data.n_features}; "
            "the others are read as absent.",
            file=sys.stderr,
        )


@contextmanager
def named(path: str) -> Iterator[None]:
    """Put the name of the file before a complaint about what is in it."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(path) else f"{path}: {text}") from None


def described(path: str, data: RankingData) -> dict[str, Any]:
    """Return the size of a data set."""
    return {
        "file": path,
        "queries": int(data.groups.ids.size),
        "documents": len(data),
        "features": data.n_features,
    }


def check_output(path: str, inputs: Iterable[str]) -> None:
    """Raise unless `path` can be written without harm, before any long work."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise InputError(f"{path} can't be written: there is no directory {folder}.")
    if target.is_dir():
        raise InputError(f"{path} can't be written: it is a directory, expected a file name.")
    # /dev/stdout may well be a file, but one that must not be replaced while others write to it.
    special = os.path.abspath(path).startswith(("/dev/", "/proc/"))
    if special or (target.exists() and not target.is_file()):
        raise InputError(
            f"{path} can't be written: it is a device or a pipe, expected a file name."
        )
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} can't be written: the directory {folder} is read-only.")
    for other in inputs:
        if target.exists() and os.path.exists(other) and os.path.samefile(target, other):
            raise InputError(f"{path} is read by this command, expected another name to write to.")


def looks_like_model(path: str) -> bool:
    """Whether a file is a model (a JSON object, or LightGBM's own text) and not a list of scores."""
    if path == "-":
        return False
    with open(path, "rb") as file:
        start = file.read(64).lstrip()
    return start.startswith((b"{", b"tree\n"))


def load_model(path: str, n_jobs: int | None) -> Any:
    """Read a model of one stage or two, which predicts on so many threads."""
    from rankwood.training.ranker import (
        Ranker,
    )  # takes a second that --help and score files need not wait for
    from rankwood.training.two_stage import TwoStage

    if not _has_two_stages(path):
        return Ranker.load(path).set_params(n_jobs=n_jobs)
    model = TwoStage.load(path)
    for ranker in (*model.first_, model.second_):
        ranker.set_params(n_jobs=n_jobs)
    return model


def _has_two_stages(path: str) -> bool:
    """Whether the head of a file says so; what isn't there or is no model is for Ranker.load to tell."""
    try:
        with open(path, "rb") as file:
            return re.search(rb'"kind"\s*:\s*"TwoStage"', file.read(1024)) is not None
    except OSError:
        return False


def read_scores(path: str) -> np.ndarray:
    """Read one finite number per line; `-` is standard input."""
    name = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{name} is a binary file, expected one score per line.") from None
    lines = text.rstrip().splitlines()
    try:
        scores = list(map(float, lines))
    except ValueError:
        scores = [_score(line, name, place) for place, line in enumerate(lines, 1)]
    bad = next((i for i, score in enumerate(scores) if not math.isfinite(score)), None)
    if bad is not None:
        raise InputError(f"{name}, line {bad + 1}: expected a finite score, got {lines[bad]!r}.")
    return np.array(scores)


def _score(line: str, name: str, place: int) -> float:
    try:
        return float(line)
    except ValueError:
        shown = line if len(line) <= 40 else line[:37] + "..."
        raise InputError(
            f"{name}, line {place}: expected one score, a number, got {shown!r}."
        ) from None
