"""The result of a study."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.tuning.parameters import rounds_word
from rankwood.tuning.records import TrialRecord
from rankwood.tuning.spaces.dimensions import Choice, Float, Integer
from rankwood.tuning.spaces.space import Space
from rankwood.tuning.store import parameter_shares
from rankwood.tuning.trials import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TuningInterrupt(KeyboardInterrupt):
    """A study was interrupted.

    Attributes
    ----------
    tuning : Tuning
        The finished trials. `tuning.best` is trained when it is first read, if any trial is complete.

    Examples
    --------
    Ctrl-C stops a long study, and the trials so far are kept.

    >>> from rankwood.tuning import TuningInterrupt, tune
    >>> def patient(ranker, train, valid, **options):
    ...     try:
    ...         return tune(ranker, train, valid=valid, **options)
    ...     except TuningInterrupt as stop:
    ...         return stop.tuning
    >>> issubclass(TuningInterrupt, KeyboardInterrupt)
    True
    """

    def __init__(self, message: str, tuning: "Tuning") -> None:
        super().__init__(message)
        self.tuning = tuning


class Tuning:
    """The trials of a study, and the best of them; `rankwood.tune` returns it.

    Attributes
    ----------
    best : Ranker, NeuralRanker or TwoStage
        The fitted ranker with the best parameters.
    best_params : dict
        Its values of the tuned parameters.
    best_value, best_trial : float, int
        Its metric on the validation data, and the number of its trial. It is the best of many values, so expect a
        worse one on new data.
    ties : list of int
        The numbers of all complete trials with the best value; the first of them is the best trial.
    metric : str
        The name of the metric.
    space : Space
        What was tuned.
    trials : structured array
        One row per trial: `number`, `state` (complete, pruned or failed), `value`, `seconds`, `rounds`, one column
        per parameter, and `message`, the reason why a trial failed. `pandas.DataFrame(tuning.trials)` accepts it.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.spaces import Choice, Space
    >>> data = rw.make_ranking(20)
    >>> ranker = rw.Ranker("softmax", n_estimators=2, n_jobs=1)
    >>> tuning = rw.tune(ranker, data, data, space=Space({"num_leaves": Choice(2, 4)}), tuner="random", trials=2)
    >>> tuning.trials["state"].tolist()
    ['complete', 'complete']
    """

    def __init__(
        self,
        task: Task,
        space: Space,
        records: list[TrialRecord],
        study: Any,
        fitted: Any = None,
    ) -> None:
        self.space = space
        self.records = list(records)
        self._task = task
        self._study = study
        #: The best ranker if it is fitted already, else None.
        self.fitted = fitted

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self._task.measure.name

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values of the metric are better."""
        return self._task.measure.higher_is_better

    @property
    def ranker(self) -> Any:
        """The unfitted ranker with the parameters that all trials have in common."""
        return self._task.ranker

    @property
    def folds(self) -> int | None:
        """The number of folds; None if there was fixed validation data."""
        return self._task.folds

    @property
    def rounds_word(self) -> str:
        """What rounds are called: trees, or epochs of a network."""
        return rounds_word(self._task.ranker)

    @property
    def best(self) -> Any:
        """The fitted ranker with the best parameters."""
        if self.fitted is None:
            record = self._best_record()
            self.fitted = self._task.refit(record.params, record.rounds)
        return self.fitted

    def _best_record(self) -> TrialRecord:
        """Return the first of the best complete trials."""
        complete = [record for record in self.records if record.state == "complete"]
        if not complete:
            raise checks.InputError("no trial is complete, so there is no best one.")
        return max(complete, key=lambda record: self._task.measure.sign * record.value)

    @property
    def best_params(self) -> dict[str, Any]:
        """The tuned parameters of the best trial."""
        return dict(self._best_record().params)

    @property
    def best_value(self) -> float:
        """The metric of the best trial on the validation data."""
        return self._best_record().value

    @property
    def best_trial(self) -> int:
        """The number of the best trial."""
        return self._best_record().number

    @property
    def ties(self) -> list[int]:
        """The numbers of all complete trials with the best value."""
        best = self.best_value
        return [one.number for one in self.records if one.state == "complete" and one.value == best]

    @property
    def trials(self) -> np.ndarray:
        """The table of trials."""
        kinds = [("number", np.int64), ("state", "U8"), ("value", np.float64)]
        kinds += [("seconds", np.float64), ("rounds", np.int64)]
        kinds += [(name, _kind(self.space[name])) for name in self.space]
        rows = [
            (
                r.number,
                r.state,
                r.value,
                r.seconds,
                r.rounds,
                *map(r.params.get, self.space),
                r.message,
            )
            for r in self.records
        ]
        return np.array(rows, dtype=[*kinds, ("message", object)])

    def count(self, state: str) -> int:
        """Return the number of trials in a state.

        Parameters
        ----------
        state : {"complete", "pruned", "failed"}
            The state.

        Returns
        -------
        int
        """
        return sum(record.state == state for record in self.records)

    def importance(self) -> dict[str, float]:
        """Return how much of the variance of the metric each parameter explains, by Optuna's fANOVA.

        Returns
        -------
        dict
            Shares of 1 by name, largest first; empty if there are too few different trials to tell.
        """
        return parameter_shares(self._study, list(self.space.free))

    def plot_history(self) -> "Figure":
        """Draw the value of each trial, and the best so far.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from rankwood.tuning import pictures

        return pictures.history(self)

    def plot_importance(self) -> "Figure":
        """Draw the importance of each parameter.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from rankwood.tuning import pictures

        return pictures.importance(self)

    def plot_slices(self) -> "Figure":
        """Draw the value of each trial against each parameter.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from rankwood.tuning import pictures

        return pictures.slices(self)

    def to_markdown(self) -> str:
        """Return the best parameters and the table of trials as GitHub Markdown.

        Returns
        -------
        str
        """
        from rankwood.render import formats as render
        from rankwood.tuning import page

        return render.markdown(page.tables(self))

    def to_html(self) -> str:
        """Return a page with the best parameters, the pictures and the table of trials; it needs no other file.

        Returns
        -------
        str
        """
        from rankwood.tuning import page

        return page.tuning_page(self)

    def __repr__(self) -> str:
        done = plural(len(self.records), "trial")
        if not self.count("complete"):
            return f"Tuning({done}, none of them complete)"
        best = ", ".join(f"{name}={value!r}" for name, value in self.best_params.items())
        return f"Tuning({self.metric}={self.best_value:.5f} by trial {self.best_trial} of {done}: {best})"


def _kind(dimension: Any) -> Any:
    """Return the type of a column of the table."""
    if isinstance(dimension, (Integer, Float)):
        return np.int64 if isinstance(dimension, Integer) else np.float64
    assert isinstance(dimension, Choice)
    kinds = {type(value) for value in dimension.values}
    plain = {frozenset({bool}): np.bool_, frozenset({int}): np.int64}
    plain |= {frozenset({float}): np.float64, frozenset({int, float}): np.float64}
    return plain.get(frozenset(kinds), object)
