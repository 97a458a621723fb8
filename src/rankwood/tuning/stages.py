"""Two stages in a trial: the first one is trained again only if a trial changes it."""

from copy import copy

from rankwood._util.run_cache import RunCache
from rankwood.data.ranking_data import RankingData
from rankwood.estimators.two_stage.estimator import TwoStage
from rankwood.fit.validation import ValidationSets
from rankwood.tuning.parameters import as_text, settings_of, stage_of


def fit_stages(
    model: TwoStage, train: RankingData, valid: ValidationSets, shared: RunCache
) -> TwoStage:
    """Return a fitted copy; its first stage is that of the trial before if it has the same parameters."""
    own = {"verbose": model.verbose, "second": stage_of(model, "second")}
    model = _silent(model)

    def fit() -> TwoStage:
        model._fit(train, valid)
        return model

    known = shared.once("first stage", _first_stage(model), fit)
    if known is not model:
        model = copy(known).set_params(**model.get_params(deep=False))
        model.fit_second(train, valid=valid)
    else:
        model = copy(model)  # the one in the cache stays as it is
    return model.set_params(**own)


def _silent(model: TwoStage) -> TwoStage:
    """Return stages that show no progress: the bar over trials is enough."""
    model.set_params(verbose=False)
    second = stage_of(model, "second")
    if "verbose" in second.get_params(deep=False):
        model.set_params(second=copy(second).set_params(verbose=False))
    return model


def _first_stage(model: TwoStage) -> str:
    """Return all that the first stage depends on."""
    first = stage_of(model, "first")
    how = [model.folds, model.random_state, model.serve == "refit"]
    return as_text([settings_of(first, ()), getattr(first, "eval_metric", None), *how])
