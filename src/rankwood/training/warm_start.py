"""Going on from a fitted ranker: more rounds on top of the trees that there are."""

from typing import Any

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.engines.base import RunState, abilities_of
from rankwood.engines.lightgbm import langevin
from rankwood.training.monitoring import EarlyStopping


def earlier_rounds(ranker: Any, train: RankingData, rounds: int) -> RunState | None:
    """Return the trees of a fitted ranker with `warm_start`; None if it starts from none."""
    if not ranker.warm_start or not hasattr(ranker, "model_"):
        return None
    if not abilities_of(ranker.engine).takes_gradients:
        raise _cannot(f"engine={ranker.engine!r}", "it can't go on with the same bits")
    if any(ranker.engine_params.get(name) for name in langevin.NAMES):
        raise _cannot("Langevin boosting", "the trees of a model are shrunken")
    if train.n_features != ranker.n_features_in_ or train.feature_names != ranker._feature_names():
        raise checks.InputError(
            "warm_start: the model was trained on other features; set warm_start=False to start anew."
        )
    done = ranker.best_iteration_
    if rounds < done:
        raise checks.InputError(
            f"warm_start: the model has {done} trees, and n_estimators={rounds} is less: give a larger number, or set "
            "warm_start=False to start anew."
        )
    return RunState(done, ranker.model_.text, {})


def _cannot(what: str, why: str) -> checks.InputError:
    return checks.InputError(f"warm_start can't be used with {what}: {why}.")


def restore_history(ranker: Any, stopping: EarlyStopping, rounds: int) -> None:
    """Give the values of the rounds that are done to early stopping, or raise if they are of other sets or metrics."""
    before = ranker.history_
    if set(before) != set(stopping.history):
        known = ", ".join(before) or "no validation data"
        raise checks.InputError(
            f"warm_start: the rounds so far have {known}; give the same validation sets and metrics, or set "
            "warm_start=False to start anew."
        )
    stopping.restore({name: curve[:rounds] for name, curve in before.items()})
