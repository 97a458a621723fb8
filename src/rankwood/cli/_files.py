"""Files that commands read and write."""

import argparse
import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rankwood import load_letor
from rankwood._check import InputError
from rankwood.data.lists import RankingData


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
    return load_letor(
        path,
        n_features=n_features,
        absent=float(how["absent"]),
        marker=how["marker"],
        cache=args.cache,
        n_jobs=args.threads,
    )


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
