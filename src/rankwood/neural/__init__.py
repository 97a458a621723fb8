"""Neural rankers: networks that train on every objective, with the interface of `Ranker`."""

from rankwood.neural.presets import PRESETS
from rankwood.neural.ranker import NeuralRanker

__all__ = ["PRESETS", "NeuralRanker"]
