"""Fitted models as reports see them: anything that predicts, and the result of the fit if the model is one of ours."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.fit.result import FitResult, Result, StagesResult


class Predictor(Protocol):
    """A fitted model, of ours or not."""

    def predict(self, X: Any) -> np.ndarray:
        """Return one score per document."""


class FittedRanker(Predictor, Protocol):
    """A fitted model of ours."""

    @property
    def result_(self) -> Result:
        """The result of the fit."""


class FittedStages(Predictor, Protocol):
    """A fitted model of two stages."""

    second_: Predictor

    def lists(self, X: Any) -> RankingData:
        """Return the truncated lists that the second stage sees."""


@runtime_checkable
class SelfExplaining(Protocol):
    """A model that may say what its features contribute."""

    def explain(self, X: Any) -> Any:
        """Return the contributions, or raise an InputError if the model has none."""


@runtime_checkable
class Configured(Protocol):
    """An estimator in the manner of scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def fit_result(model: object) -> Result | None:
    """Return the result of the fit of a model; None if it isn't fitted, or is none of ours."""
    result = getattr(model, "result_", None)
    return result if isinstance(result, (FitResult, StagesResult)) else None
