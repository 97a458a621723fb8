"""The file of a training run: the best model so far, and what the run needs to go on.

It is a model file with one more field, "run", so that `Ranker.load` reads it.
"""

import base64
import os
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._version import __version__
from rankwood.engines.base import RunState, abilities_of
from rankwood.training import content_checks, model_file
from rankwood.training.checkpoint import Checkpoint, Clock

#: How digests of data on a cluster begin.
CLUSTER = "cluster-"
#: Parameters that may differ: they change no round that is done. Early stopping is compared by itself.
FREE = ("n_estimators", "early_stopping_rounds", "n_jobs", "verbose")
_RUN = {
    "rounds": int,
    "state": str,
    "arrays": dict,
    "ends": str,
    "curves": dict,
    "params": dict,
    "data": list,
    "versions": dict,
}


class RunFile:
    """The file of one run, with its parameters and data, which must be the same when it goes on.

    Parameters
    ----------
    checkpoint : Checkpoint
        What the user gave.
    ranker : Ranker
        Its parameters are compared.
    digests : list of str
        Of the training and the validation data.
    """

    writes = True

    def __init__(self, checkpoint: Checkpoint, ranker: Any, digests: list[str]) -> None:
        self.path = checkpoint.path
        self._checkpoint = checkpoint
        params = model_file.params_of(ranker)
        self._patience = ranker.early_stopping_rounds
        self._own: dict[str, Any] = {
            "params": {name: value for name, value in params.items() if name not in FREE},
            "data": digests,
            "versions": {"rankwood": __version__, "numpy": np.__version__, **_engine(ranker)},
        }
        self._clock = Clock(checkpoint)
        self._failed = False

    def read(self) -> dict[str, Any] | None:
        """Return the content of the file, None if the run starts anew; raise if it is of another run."""
        resume = self._checkpoint.resume
        if resume == "never" or not os.path.exists(self.path):
            if resume == "must":
                raise checks.InputError(f"there is no checkpoint {self.path} to go on from.")
            return None
        try:
            content = model_file.read_content(self.path, "Ranker")
        except checks.InputError as error:
            raise checks.InputError(
                f"{error} A run can't go on from it: give another file."
            ) from None
        run = content.get("run")
        if not isinstance(run, dict):
            raise checks.InputError(
                f"{self.path} is a model, not a checkpoint: give another file, so that it isn't lost."
            )
        model_file.require(run, _RUN, self.path)
        self._compare(run)
        self._check_patience(content["params"].get("early_stopping_rounds"))
        return content

    def _check_patience(self, before: int | None) -> None:
        """Raise if early stopping might have ended the rounds that are done sooner."""
        if self._patience is not None and (before is None or self._patience < before):
            raise checks.InputError(
                f"{self.path} belongs to a run with early_stopping_rounds={before}, and {self._patience} might have "
                "ended it sooner: give another file, or the same number or a larger one."
            )

    def _compare(self, run: dict[str, Any]) -> None:
        """Raise unless a file is of the same run: the same data, parameters and versions."""
        start = "give another file, or delete this one to start over"
        for number, both in enumerate(zip(self._own["data"], run["data"], strict=False)):
            here, there = (str(one).startswith(CLUSTER) for one in both)
            if here != there:
                place = "a cluster" if there else "one machine"
                raise checks.InputError(
                    f"{self.path} belongs to a run on {place}: go on there, {start}."
                )
            if both[0] != both[1]:
                what = "training data" if number == 0 else "validation data"
                raise checks.InputError(f"{self.path} belongs to a run on other {what}: {start}.")
        if len(self._own["data"]) != len(run["data"]):
            raise checks.InputError(
                f"{self.path} belongs to a run with other sets of validation data: {start}."
            )
        for kind in ("params", "versions"):
            if kind == "versions" and self._checkpoint.resume == "force":
                return
            own, theirs = self._own[kind], run[kind]
            for name in sorted({*own, *theirs}):
                if own.get(name) != theirs.get(name):
                    force = "" if kind == "params" else ", or set resume='force'"
                    raise checks.InputError(
                        f"{self.path} belongs to a run with {name}={theirs.get(name)!r}, and now it is "
                        f"{own.get(name)!r}: {start}{force}."
                    )

    def due(self, rounds_done: int) -> bool:
        """Return whether the file is to be written after a round."""
        return self._clock.due(rounds_done)

    def write(self, content: dict[str, Any], run: dict[str, Any]) -> None:
        """Replace the file; if that fails, training goes on, with one warning."""
        try:
            model_file.write_content({**content, "run": {**run, **self._own}}, self.path)
        except checks.InputError as error:
            if not self._failed:
                warnings.warn(
                    f"the checkpoint is not written, training goes on: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._failed = True
        self._clock.restart()


def state_of(run: dict[str, Any], path: str | Path) -> RunState:
    """Return the state of an engine from the field "run" of a file."""
    arrays = {}
    for name, text in run["arrays"].items():
        try:
            arrays[name] = np.frombuffer(base64.b64decode(text, validate=True), "<f8").copy()
        except (TypeError, ValueError):
            raise content_checks.damaged(path, f"{name!r} is no array") from None
    return RunState(checks.at_least(run["rounds"], 1, "rounds"), run["state"], arrays)


def content_of_state(state: RunState) -> dict[str, Any]:
    """Return the state of an engine as an object for JSON."""
    arrays = {
        name: base64.b64encode(array.astype("<f8").tobytes()).decode()
        for name, array in state.arrays.items()
    }
    return {"rounds": state.rounds, "state": state.text, "arrays": arrays}


def _engine(ranker: Any) -> dict[str, str]:
    """Return the version of the package that grows the trees."""
    package = abilities_of(ranker.engine).package
    return {package: import_module(package).__version__} if package else {}
