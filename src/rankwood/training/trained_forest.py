"""The trees of a fitted estimator as a forest."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks

if TYPE_CHECKING:
    from rankwood.forest import Forest


def trained_forest(estimator: Any) -> "Forest":
    """Return the forest of a ranker; raise if it has several models or no trees."""
    from rankwood.forest import forest_of  # most sessions don't need it

    check_is_fitted(estimator)
    if hasattr(estimator, "second_"):
        raise checks.InputError(
            "TwoStage has several models: take first_[0].forest() and second_.forest()."
        )
    if not hasattr(estimator.model_, "text"):
        raise checks.InputError(f"{type(estimator).__name__} has no trees, so it has no forest.")
    return forest_of(estimator.model_, estimator._feature_names())
