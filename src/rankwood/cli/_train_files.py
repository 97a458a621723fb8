"""The files that ``rankwood train`` writes: the model, and the record of its rounds."""

import argparse
from typing import Any

from rankwood._core.atomic import written
from rankwood._core.csv_text import csv_text
from rankwood._core.text import plural
from rankwood.cli import _files, _neural, _two_stages
from rankwood.training import model_file


def save(ranker: Any, args: argparse.Namespace) -> None:
    """Write the model, and the record if it has a file of its own."""
    # Other files for this model are read in the same way as the training data.
    model_file.write(ranker, args.model, letor=_files.reading_options(args))
    if args.record_file is None:
        return
    rounds = range(1, 1 + max(map(len, ranker.record_.values()), default=0))
    columns = {"round": rounds, **ranker.record_}
    written(csv_text(list(columns), zip(*columns.values(), strict=True)), args.record_file)


def rescue(ranker: Any, args: argparse.Namespace) -> str:
    """Save the model of an interrupted run, and return a message about it."""
    unit = _neural.round_name(_two_stages.last_engine(args))
    if not (hasattr(ranker, "model_") or hasattr(ranker, "second_")):
        where = "" if args.second is None else " of the second stage"
        return f"interrupted before the first {unit}{where}; nothing was saved."
    save(ranker, args)
    rounds = plural(_two_stages.last_stage(ranker).best_iteration_, unit)
    return f"interrupted; the model so far, {rounds}, is saved in {args.model}."
