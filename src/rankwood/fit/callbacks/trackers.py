"""Callbacks for programs that compare runs: Optuna, MLflow, TensorBoard."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.fit.context import Round

LONGEST = 500  # characters of a parameter that every version of MLflow takes


def need(module: str, what: str, install: str) -> Any:
    """Return a module, or raise with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise checks.InputError(
            f"{what} needs the package {package}: pip install {install}."
        ) from None


class OptunaPruning:
    """Report the first metric to a trial of Optuna after each round, and end the trial if Optuna prunes it.

    Pruning raises ``optuna.TrialPruned``, as Optuna expects from an objective function. In `TwoStage` only the second
    stage is reported. `rankwood.tune` prunes without it.

    Parameters
    ----------
    trial : optuna.trial.Trial
        The trial.
    every : int
        Report every so many rounds.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.callbacks import OptunaPruning
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")
    >>> def objective(trial):
    ...     ranker = rw.Ranker(num_leaves=trial.suggest_int("num_leaves", 4, 64))
    ...     return ranker.fit(train, valid=valid, callbacks=[OptunaPruning(trial)]).score(valid)
    """

    def __init__(self, trial: Any, every: int = 1) -> None:
        self._optuna = need("optuna", "OptunaPruning", "'rankwood[tune]'")
        if not hasattr(trial, "should_prune"):
            raise checks.InputError(
                f"OptunaPruning takes a trial, the argument of an objective function, got {type(trial).__name__}."
            )
        self._trial = trial
        self._every = checks.at_least(every, 1, "every")

    def __call__(self, done: Round) -> None:
        """Report a round.

        Parameters
        ----------
        done : Round
            The round.

        Raises
        ------
        optuna.TrialPruned
            If Optuna prunes the trial.
        InputError
            If there is no validation data.
        """
        if done.stage == "first" or done.number % self._every:
            return
        if done.value is None:
            raise checks.InputError(
                "OptunaPruning reports a metric of the validation data: give fit valid=."
            )
        self._trial.report(done.value, done.number)
        if not done.ends and self._trial.should_prune():
            raise self._optuna.TrialPruned(f"pruned after round {done.number}.")


class MLflow:
    """Log the parameters and the metrics of each round to a run of MLflow.

    Metrics have names such as ``valid/ndcg_at_10``, as MLflow allows no @. In `TwoStage` the stage and the fold come
    before. The active run is used, and MLflow starts one if there is none.

    Parameters
    ----------
    run_id : str, optional
        A run to log to, in place of the active one.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.callbacks import MLflow
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")  # doctest: +SKIP
    >>> rw.Ranker().fit(train, valid=valid, callbacks=[MLflow()])  # doctest: +SKIP
    """

    def __init__(self, run_id: str | None = None) -> None:
        self._mlflow = need("mlflow", "MLflow", "mlflow")
        self._run = {} if run_id is None else {"run_id": run_id}
        self._began: set[tuple[str, int | None]] = set()

    def __call__(self, done: Round) -> None:
        """Log a round, and the parameters with the first one.

        Parameters
        ----------
        done : Round
            The round.
        """
        if (done.stage, done.fold) not in self._began:
            self._began.add((done.stage, done.fold))
            if done.fold in (None, 1):  # all folds have the same parameters
                prefix = f"{done.stage}." if done.stage else ""
                params = {prefix + k: str(v)[:LONGEST] for k, v in done.params.items()}
                self._mlflow.log_params(params, **self._run)
        values = _tagged(done)
        if values:
            self._mlflow.log_metrics(values, step=done.number, **self._run)

    def close(self) -> None:
        """Log the parameters again in another run."""
        self._began.clear()


class TensorBoard:
    """Write the metrics of each round for TensorBoard, by PyTorch's writer of event files.

    Parameters
    ----------
    folder : str or Path
        The folder of the run; ``tensorboard --logdir`` takes it, or one above it.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.callbacks import TensorBoard
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")  # doctest: +SKIP
    >>> rw.Ranker().fit(train, valid=valid, callbacks=[TensorBoard("runs/first")])  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path) -> None:
        self._module = need("torch.utils.tensorboard", "TensorBoard", "torch tensorboard")
        self._folder = str(folder)
        self._writer: Any = None

    def __call__(self, done: Round) -> None:
        """Write a round, and hand it to the system.

        Parameters
        ----------
        done : Round
            The round.
        """
        if self._writer is None:
            self._writer = self._module.SummaryWriter(self._folder)
        for name, value in _tagged(done).items():
            self._writer.add_scalar(name, value, done.number)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _tagged(done: Round) -> dict[str, float]:
    """Return the metrics of a round under names that every tracker takes, such as ``valid/ndcg_at_10``."""
    place = [done.stage] * bool(done.stage) + [f"fold{done.fold}"] * (done.fold is not None)
    return {
        "/".join(plain(word) for word in (*place, name, metric)): value
        for name, values in done.metrics.items()
        for metric, value in values.items()
    }


def plain(word: str) -> str:
    """Return a word with the letters that every tracker takes."""
    return re.sub(r"[^\w.-]+", "_", word.replace("@", "_at_")).strip("_")
