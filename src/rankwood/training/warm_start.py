"""Going on from a fitted ranker: more rounds on top of the trees that there are."""

import warnings
from typing import Any

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.engines.base import RunState, abilities_of, find
from rankwood.engines.lightgbm import langevin
from rankwood.objectives.units import unit_of
from rankwood.training.monitoring import EarlyStopping


def earlier_rounds(ranker: Any, train: RankingData, rounds: int) -> RunState | None:
    """Return the trees of a fitted ranker with `warm_start`; None if it starts from none."""
    if not ranker.warm_start or not hasattr(ranker, "model_"):
        return None
    if not abilities_of(ranker.engine).takes_gradients:
        raise _cannot(f"engine={ranker.engine!r}", "it can't go on with the same bits")
    if any(ranker.engine_params.get(name) for name in langevin.NAMES):
        raise _cannot("Langevin boosting", "the trees of a model are shrunken")
    if unit_of(ranker.objective_) == "pairs" and ranker.engine == "lightgbm":
        raise _cannot(
            "objectives of pairs on engine='lightgbm'", "take engine='pairtree', which can"
        )
    try:
        find(ranker.engine).load(ranker.model_.text)
    except checks.InputError:
        raise checks.InputError(
            f"warm_start: the model was trained on another engine than {ranker.engine!r}; set warm_start=False to "
            "start over."
        ) from None
    if train.n_features != ranker.n_features_in_ or train.feature_names != ranker._feature_names():
        raise checks.InputError(
            "warm_start: the model was trained on other features; set warm_start=False to start over."
        )
    done = ranker.best_iteration_
    if rounds < done:
        raise checks.InputError(
            f"warm_start: the model has {done} trees, and n_estimators={rounds} is less: give a larger number, or set "
            "warm_start=False to start over."
        )
    if rounds == done:
        warnings.warn(
            f"warm_start adds no trees: the model has {done}, and n_estimators is {rounds}.",
            UserWarning,
            stacklevel=2,
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
            "warm_start=False to start over."
        )
    sets = getattr(ranker, "_validated_on", None)  # a loaded model doesn't know
    if sets is not None and sets != stopping.fingerprints():
        raise checks.InputError(
            "warm_start: the rounds so far were evaluated on other validation data, so that no best round can be "
            "chosen among all; give the same validation data, or set warm_start=False to start over."
        )
    stopping.restore({name: curve[:rounds] for name, curve in before.items()})
