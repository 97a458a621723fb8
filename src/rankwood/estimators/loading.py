"""Model files of any kind: the file names the class that reads it."""

from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.estimators.base import RankingEstimator
from rankwood.fit.files.model_file import kind_of

_KINDS = ("Ranker", "NeuralRanker", "TwoStage")


def estimator_class(kind: str) -> type[RankingEstimator]:
    """Return the class that files name, or raise if there is none."""
    if kind == "Ranker":
        from rankwood.estimators.ranker import Ranker

        return Ranker
    if kind == "NeuralRanker":
        from rankwood.estimators.neural_ranker import NeuralRanker

        return NeuralRanker
    if kind == "TwoStage":
        from rankwood.estimators.two_stage.estimator import TwoStage

        return TwoStage
    raise checks.InputError(f"unknown kind of model {kind!r}{checks.nearest(kind, _KINDS)}")


def load_estimator(path: str | Path) -> Any:
    """Return the fitted `Ranker`, `NeuralRanker` or `TwoStage` of a file."""
    return estimator_class(kind_of(path)).load(path)
