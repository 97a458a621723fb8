"""The file of a training run: the best model so far, and what resumes the run.

It is a model file with one more field, "run", so that `load` of the estimator reads it.
"""

import base64
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._kernels.parts import computed_text
from rankwood._util import checks
from rankwood._util.envelope import damaged, read_content, require, write_content
from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.data.source import Source
from rankwood.engines.base import RunState
from rankwood.fit.files import model_file
from rankwood.fit.files.checkpoint import Checkpoint, CheckpointStore, Clock, EarlierRounds, locked
from rankwood.fit.origin import package_of
from rankwood.fit.result import FitResult, flat_history
from rankwood.fit.run import Observer, TrainingRun
from rankwood.fit.spec import FitSpec

#: How digests of data on a cluster begin.
CLUSTER = "cluster-"
_PATIENCE = "early_stopping_rounds"
_RUN = {
    "rounds": int,
    "state": str,
    "arrays": dict,
    "ends": str,
    "params": dict,
    "data": list,
    "versions": dict,
}
_START_OVER = "give another file, or delete this one to start over"


class RunFile:
    """The file of one run, with its parameters and data, which must be the same when it is resumed.

    Parameters
    ----------
    checkpoint : Checkpoint
        What the user gave.
    spec : FitSpec
        Its parameters are compared, but for those that are free.
    digests : list of str
        Digests of the training and the validation data.
    """

    writes = True

    def __init__(self, checkpoint: Checkpoint, spec: FitSpec, digests: list[str]) -> None:
        self.path = checkpoint.path
        self._checkpoint, self._spec = checkpoint, spec
        params = model_file.params_as_json(spec.settings.params)
        if "engine" in params:  # None is the default of the objective
            params["engine"] = spec.settings.learner
        versions = {"rankwood": __version__, "numpy": np.__version__}
        if package := package_of(spec.settings.learner):
            versions[package] = str(version_of(package))
        self._identity: dict[str, Any] = {
            "params": {name: value for name, value in params.items() if name not in spec.free},
            "data": digests,
            "versions": versions,
            # A name may be registered for something else, and the code of a part of one's own may change.
            "computes": computed_text(spec.settings.objective),
        }
        self._clock = Clock(checkpoint)
        self._failed = False

    def read(self) -> dict[str, Any] | None:
        """Return the content of the file, None if the run starts anew; raise if it is of another run."""
        resume = self._checkpoint.resume
        if resume == "never" or not os.path.exists(self.path):
            if resume == "must":
                raise checks.InputError(f"there is no checkpoint {self.path} to resume from.")
            return None
        try:
            content = read_content(self.path, self._spec.settings.kind)
        except checks.InputError as error:
            raise checks.InputError(
                f"{error} A run can't be resumed from it: give another file."
            ) from None
        run = content.get("run")
        if not isinstance(run, dict):
            raise checks.InputError(
                f"{self.path} is a model, not a checkpoint: give another file, so that it isn't lost."
            )
        require(run, _RUN, self.path)
        self._compare(run)
        if _PATIENCE in self._spec.free:
            self._check_patience(content["params"].get(_PATIENCE))
        return content

    def _check_patience(self, before: int | None) -> None:
        """Raise if early stopping might have ended the rounds that are done sooner."""
        patience = self._spec.patience
        if patience is not None and (before is None or patience < before):
            raise checks.InputError(
                f"{self.path} belongs to a run with {_PATIENCE}={before}, and {patience} might have "
                "ended it sooner: give another file, or the same number or a larger one."
            )

    def _compare(self, run: dict[str, Any]) -> None:
        """Raise unless a file is of the same run: the same data, parameters and versions."""
        data = self._identity["data"]
        for number, (here, there) in enumerate(zip(data, run["data"], strict=False)):
            if str(here).startswith(CLUSTER) != str(there).startswith(CLUSTER):
                place = "a cluster" if str(there).startswith(CLUSTER) else "one machine"
                raise checks.InputError(
                    f"{self.path} belongs to a run on {place}: resume it there, {_START_OVER}."
                )
            if here != there:
                what = "training data" if number == 0 else "validation data"
                raise checks.InputError(
                    f"{self.path} belongs to a run on other {what}: {_START_OVER}."
                )
        if len(data) != len(run["data"]):
            raise checks.InputError(
                f"{self.path} belongs to a run with other sets of validation data: {_START_OVER}."
            )
        self._compare_values("params", run, "")
        here = self._identity["computes"]
        if run.get("computes", here) != here:  # files up to 0.4 don't have it
            raise checks.InputError(
                f"{self.path} belongs to a run whose objective was {run['computes']}, and now it is {here}: "
                f"{_START_OVER}."
            )
        if self._checkpoint.resume != "force":
            self._compare_values("versions", run, ", or set resume='force'")

    def _compare_values(self, kind: str, run: dict[str, Any], force: str) -> None:
        here, there = self._identity[kind], run[kind]
        for name in sorted({*here, *there}):
            if here.get(name) != there.get(name):
                raise checks.InputError(
                    f"{self.path} belongs to a run with {name}={there.get(name)!r}, and now it is "
                    f"{here.get(name)!r}: {_START_OVER}{force}."
                )

    def due(self, rounds_done: int) -> bool:
        """Return whether the file is to be written after a round."""
        return self._clock.due(rounds_done)

    def write(self, content: dict[str, Any], run: dict[str, Any]) -> None:
        """Replace the file; if that fails, training continues, with one warning."""
        whole = {**content, "run": {**run, **self._identity}}
        try:
            write_content(whole, self.path, self._spec.settings.kind)
        except checks.InputError as error:
            if not self._failed:
                warnings.warn(
                    f"the checkpoint is not written, training continues: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._failed = True
        self._clock.restart()


@contextmanager
def opened_store(
    checkpoint: Checkpoint | None, spec: FitSpec, sources: Callable[[], Sequence[Source]]
) -> Iterator[RunFile | None]:
    """Return the file of a run, which no other process uses meanwhile; None if there is none."""
    if checkpoint is None:
        yield None
        return
    with locked(checkpoint.path):
        yield RunFile(checkpoint, spec, [source.digest() for source in sources()])


def earlier_rounds(
    store: CheckpointStore, load_model: model_file.LoadModel, spec: FitSpec
) -> EarlierRounds | None:
    """Return the rounds of a checkpoint, None if there is none to resume from."""
    content = store.read()
    if content is None:
        return None
    run = content["run"]
    if run["rounds"] > spec.rounds:
        raise checks.InputError(
            f"{store.path} has done {run['rounds']} rounds, more than {spec.rounds_name}={spec.rounds}: give another "
            f"file, or a larger {spec.rounds_name}."
        )
    result = model_file.result_of(content, store.path, load_model)
    if any(len(curve) < run["rounds"] for curve in flat_history(result.history).values()):
        raise damaged(store.path, "'history' is shorter than 'rounds'")
    return EarlierRounds(
        _state_of(run, store.path),
        result,
        f"{store.path} belongs to a run with",
        ": give validation sets of the same names, or another file.",
        run["ends"],
    )


class CheckpointWriter(Observer):
    """Writes the run after some rounds, and at its end."""

    def __init__(self, store: CheckpointStore, rounds_done: int) -> None:
        self._store, self._written = store, (rounds_done, "")

    def after_round(self, run: TrainingRun) -> str:
        """Write the run if that is due or training ends."""
        if run.ends or self._store.due(run.number):
            self._write(run)
        return ""

    def close(self, run: TrainingRun) -> None:
        """Write what is complete."""
        self._write(run)

    def _write(self, run: TrainingRun) -> None:
        """Write the run, unless it is written already, or the last round was interrupted in its evaluation."""
        if (run.number, run.ends) == self._written or run.rounds_complete < run.number:
            return
        if run.number == run.resumed_after:
            return
        state = run.learner.state(run.number)
        if state is None:
            return
        result: FitResult = run.result()
        content = {**_content_of_state(state), "ends": run.ends}
        self._store.write(model_file.content_of(result), content)
        self._written = (run.number, run.ends)


def _state_of(run: dict[str, Any], path: str | Path) -> RunState:
    """Return the state of a learner from the field "run" of a file."""
    arrays = {}
    for name, value in run["arrays"].items():
        try:
            arrays[name] = _array_of(value)
        except (KeyError, TypeError, ValueError):
            raise damaged(path, f"{name!r} is no array") from None
    return RunState(checks.at_least(run["rounds"], 1, "rounds"), run["state"], arrays)


def _array_of(value: Any) -> np.ndarray:
    """Return an array; files up to version 0.4 have nothing but float64."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), "<f8").copy()
    dtype = np.dtype(str(value["dtype"]))
    if dtype.kind not in "fiub":
        raise ValueError(dtype)
    data = np.frombuffer(base64.b64decode(value["data"], validate=True), dtype)
    return data.reshape([int(n) for n in value["shape"]]).copy()


def _content_of_state(state: RunState) -> dict[str, Any]:
    """Return the state of a learner as an object for JSON."""
    arrays = {
        name: {
            "dtype": array.dtype.newbyteorder("<").str,
            "shape": list(array.shape),
            "data": base64.b64encode(
                np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
            ).decode(),
        }
        for name, array in state.arrays.items()
    }
    return {"rounds": state.rounds, "state": state.text, "arrays": arrays}
