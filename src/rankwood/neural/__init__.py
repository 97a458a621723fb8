"""Networks that train on every objective; `NeuralRanker` is their estimator."""

from typing import TYPE_CHECKING, Any

from rankwood.neural.presets import PRESETS

if TYPE_CHECKING:
    from rankwood.estimators.neural_ranker import NeuralRanker

__all__ = ["PRESETS", "NeuralRanker"]


def __getattr__(name: str) -> Any:
    if name != "NeuralRanker":
        raise AttributeError(f"module 'rankwood.neural' has no attribute {name!r}")
    import rankwood  # the estimator stands above the networks

    return rankwood.NeuralRanker
