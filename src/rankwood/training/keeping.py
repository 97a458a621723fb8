"""What a ranker keeps of a training run, at its end or in the middle of it."""

from typing import Any, NamedTuple

from sklearn.base import clone

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.training.context import FitContext, Reporter, check_round_is_last
from rankwood.training.monitoring import EarlyStopping
from rankwood.training.parameters import chosen
from rankwood.training.run import TrainingRun
from rankwood.training.streaming import parameters_on


class FitOutcome(NamedTuple):
    """What a run leaves, of trees or of a network: the model of the first `rounds` rounds, and what was measured."""

    model: Any
    rounds: int
    stopping: EarlyStopping
    seconds: dict[str, float]
    objective: Any
    train: RankingData

    def keep(self, ranker: Any) -> None:
        """Set the fitted attributes that every ranker has."""
        ranker.model_ = self.model
        ranker.best_iteration_ = self.rounds
        ranker.history_ = {name: list(curve) for name, curve in self.stopping.history.items()}
        ranker.validation_sets_ = self.stopping.set_names
        ranker.seconds_ = dict(self.seconds)
        ranker.objective_ = self.objective
        ranker._set_data(self.train)


class TreeFit(NamedTuple):
    """A training run of a ranker of trees, and what the run is about."""

    run: TrainingRun
    objective: Any
    rounds: int
    train: RankingData

    def keep(self, ranker: Any, rounds: int) -> None:
        """Set the fitted attributes of a ranker: the model of the first `rounds` rounds, and all that is recorded."""
        run = self.run
        model = run.engine.model(rounds)  # it may fail, so it comes first
        FitOutcome(model, rounds, run.stopping, run.seconds, self.objective, self.train).keep(
            ranker
        )
        ranker.record_ = run.recorder.first_rounds(run.rounds_done)
        ranker.resumed_after_ = run.resumed_after
        ranker.chosen_ = chosen(ranker)
        if ranker.n_estimators is None:
            ranker.chosen_["n_estimators"] = self.rounds
        ranker.chosen_ |= parameters_on(ranker.engine_params, ranker.engine, self.train)

    def so_far(self, ranker: Any, number: int) -> Any:
        """Return a copy of a ranker, fitted with the rounds that are done."""
        check_round_is_last(number, self.run.rounds_done)
        if not getattr(self.run.engine, "has_models_midway", True):
            raise checks.InputError(
                f"engine={ranker.engine!r} has no model before training ends: call model() of the other engines "
                "only, or read the model after fit."
            )
        other = clone(ranker)
        self.keep(other, number)
        return other

    def report_to(self, ranker: Any, context: FitContext) -> None:
        """Let the run call the callbacks of a context."""
        if context.callbacks:
            params = {**ranker.get_params(deep=False), **chosen(ranker)}
            params["n_estimators"] = self.rounds
            self.run.reporter = Reporter(
                context, params, self.rounds, lambda n: self.so_far(ranker, n)
            )
            self.run.seconds["callbacks"] = 0.0
