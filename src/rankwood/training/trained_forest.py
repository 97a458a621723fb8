"""The trees of a fitted estimator: as a forest, and as a scorer."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks

if TYPE_CHECKING:
    from rankwood.forest import Forest
    from rankwood.training.scoring import Scorer


def trained_forest(estimator: Any) -> "Forest":
    """Return the forest of a ranker; raise if it has several models or no trees."""
    from rankwood.forest import forest_of  # most sessions don't need it

    _check_trees(estimator, "forest")
    return forest_of(estimator.model_, estimator._feature_names())


def scorer_of(estimator: Any, stop: Any) -> "Scorer":
    """Return the scorer of a ranker; raise if it has several models or no trees on documents."""
    from rankwood.training.scoring import Scorer

    _check_trees(estimator, "scorer")
    if getattr(estimator.model_, "needs_groups", False):
        raise checks.InputError(
            "a model of pairs (bi-...) scores documents by comparing them, so it has no scorer: call predict."
        )
    return Scorer(estimator, stop)


def hand_out(model: Any) -> None:
    """Note that a user has the engine's own object: scores come from it from now on, as it may be changed."""
    from rankwood.training.scoring import engine_only

    engine_only(model)


def _check_trees(estimator: Any, what: str) -> None:
    """Raise if an estimator has several models, or none of trees."""
    check_is_fitted(estimator)
    if hasattr(estimator, "second_"):
        raise checks.InputError(
            f"TwoStage has several models: take first_[0].{what}() and second_.{what}()."
        )
    if not hasattr(estimator.model_, "text"):
        raise checks.InputError(f"{type(estimator).__name__} has no trees, so it has no {what}.")
