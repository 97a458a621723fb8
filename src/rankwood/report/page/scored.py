"""The models of a page: each with its evaluation and, where they are known, its scores and its estimator."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec.files import Qrels, Run
from rankwood.fit.result import Result
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation
from rankwood.report.fitted import Predictor, fit_result

#: Metrics of a page if none are given.
METRICS = ("ndcg@10", "map", "mrr")


class ScoredModel(NamedTuple):
    """A model and what it did with the test data; everything but the evaluation may be unknown."""

    name: str
    evaluation: Evaluation
    scores: np.ndarray | Run | None = None
    estimator: Predictor | None = None
    #: The test data as this model needs them: files may be read in another way for another model.
    data: RankingData | None = None
    train: RankingData | None = None

    @property
    def result(self) -> Result | None:
        """The result of the fit; None if the model is none of ours."""
        return fit_result(self.estimator)


def named_models(models: Any) -> dict[str, Any]:
    """Return models by name, whether there is one of them, a list, or a dictionary."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
        if len(named) < len(models):
            raise checks.InputError("two models have the same name as text; give each its own.")
    elif isinstance(models, (list, tuple)) and not isinstance(models, Run) and not _numbers(models):
        named = {f"model {i}": model for i, model in enumerate(models, 1)}
    else:
        named = {"model": models}
    if not named:
        raise checks.InputError("there is no model to report on; give at least one.")
    return named


def score_models(
    models: Any,
    test: Any,
    train: RankingData | None,
    metrics: Sequence[str] | None,
    rules: dict[str, Any],
) -> list[ScoredModel]:
    """Evaluate models on test data; those that are evaluations already stay as they are."""
    if train is not None and not isinstance(train, RankingData):
        raise checks.InputError(f"train must be a RankingData, got {type(train).__name__}.")
    if test is not None and not isinstance(test, (RankingData, Qrels)):
        raise checks.InputError(f"test must be a RankingData or Qrels, got {type(test).__name__}.")
    named = named_models(models)
    return [
        _scored(name, m, test, metrics, rules)._replace(train=train) for name, m in named.items()
    ]


def _scored(
    name: str, model: Any, test: Any, metrics: Sequence[str] | None, rules: dict[str, Any]
) -> ScoredModel:
    """Return one model with its evaluation."""
    if isinstance(model, Evaluation):
        return ScoredModel(name, model)
    if test is None:
        raise checks.InputError(
            f"model {name!r} is not an Evaluation, so there must be test data to evaluate it on; give test=."
        )
    predicts = hasattr(model, "predict")
    if predicts and isinstance(test, Qrels):
        raise checks.InputError(
            f"model {name!r} can't rank judgments, which have no features; give test a RankingData."
        )
    if not (predicts or isinstance(model, Run) or _numbers(model)):
        raise checks.InputError(
            f"model {name!r} must be a fitted ranker, scores, a run or an Evaluation, got "
            f"{type(model).__name__}."
        )
    scores = model.predict(test) if predicts else model
    ev = evaluate(list(metrics or METRICS), test, scores, **rules)
    kept = scores if isinstance(scores, Run) else np.asarray(scores, np.float64).ravel()
    data = test if isinstance(test, RankingData) else None
    return ScoredModel(name, ev, kept, model if predicts else None, data)


def _numbers(model: Any) -> bool:
    """Return whether an object is an array or a list of scores."""
    if isinstance(model, (list, tuple)):
        return bool(model) and all(isinstance(x, (int, float, np.number)) for x in model)
    return hasattr(model, "__array__")
