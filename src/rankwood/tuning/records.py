"""Finished trials: how each ended, and what is known of it."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.tuning.spaces.space import Space
from rankwood.tuning.trials import TrialResult

_STATES = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}


class TrialOutcome(NamedTuple):
    """How a trial ended."""

    #: complete, pruned or failed
    state: str
    #: What a complete trial has found.
    fitted: TrialResult | None = None
    #: Why a trial failed.
    message: str = ""

    @property
    def optuna_state(self) -> Any:
        """The state in Optuna's words."""
        from optuna.trial import TrialState

        return next(TrialState[word] for word, ours in _STATES.items() if ours == self.state)


class TrialRecord(NamedTuple):
    """A finished trial."""

    number: int
    #: complete, pruned or failed
    state: str
    #: The metric; that of the last report if the trial was pruned, NaN if it failed.
    value: float
    seconds: float
    #: Trees of the model; those that were grown if the trial was pruned or failed.
    rounds: int
    params: dict[str, Any]
    message: str


def record_of(trial: Any, space: Space) -> TrialRecord:
    """Return the record of one of Optuna's trials."""
    known = {**space.fixed, **space.decoded(trial.params)}
    return TrialRecord(
        trial.number,
        _STATES[trial.state.name],
        np.nan if trial.value is None else trial.value,
        trial.user_attrs["seconds"],
        trial.user_attrs["rounds"],
        {name: known[name] for name in space},
        trial.user_attrs.get("message", ""),
    )
