"""What is to be trained: checked once, where an estimator makes it, and frozen from there on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankwood.engines.base import Learner, TrainingTask
from rankwood.fit.result import Settings


@dataclass(frozen=True)
class FitSpec:
    """The specification of a fit.

    Attributes
    ----------
    settings : Settings
        The objective, the learner, and parameters as the user wrote them.
    start : callable
        Starts the learner, given its parameters and the task.
    params : dict
        Parameters of the learner, with values for those that the user left open.
    metrics : dict
        Metrics of the validation data by name; the first one decides early stopping.
    rounds : int
        The most rounds.
    patience : int or None
        Rounds without an improvement after which training stops; None trains all rounds and keeps the last.
    seed : int
        Seed of the order of ties, and of objectives that draw.
    shuffle : bool
        Whether ties are ranked in a random order, and not by row.
    n_jobs : int or None
        Number of threads.
    record : str, list of str or None
        What to record in each round.
    computes_gradients : bool
        Whether gradients of whole rounds are computed for the learner; a network computes those of its batches.
    free : tuple of str
        Parameters of the estimator that may change when a run is resumed: they change no round that is done.
    verbose : bool or None
        Whether to show a progress bar; None means on a terminal.
    """

    settings: Settings
    start: Callable[[Mapping[str, Any], TrainingTask], Learner]
    params: Mapping[str, Any]
    metrics: Mapping[str, Any]
    rounds: int
    patience: int | None
    seed: int
    shuffle: bool = False
    n_jobs: int | None = None
    record: Any = None
    computes_gradients: bool = True
    free: tuple[str, ...] = ()
    verbose: bool | None = None

    @property
    def rounds_name(self) -> str:
        """The parameter of the estimator that limits the rounds."""
        return "epochs" if self.settings.learner == "neural" else "n_estimators"

    @property
    def objective(self) -> Any:
        """The objective as a composition of parts."""
        return self.settings.objective

    def on_worker(self, n_jobs: int) -> "FitSpec":
        """Return the specification for a worker of a cluster, which has its own threads and shows no progress."""
        params = {**self.params, "n_jobs": n_jobs}
        return replace(self, params=params, n_jobs=n_jobs, verbose=False)
