"""How much each parameter matters."""

from typing import Any

from rankwood.tuning.store import quiet

_FEWEST = 4  # complete trials, below which shares of variance mean nothing


def importance(study: Any, names: list[str]) -> dict[str, float]:
    """Return shares of the variance of the metric by parameter, largest first, by Optuna's fANOVA.

    The result is empty if there are few complete trials or all of them have the same value.
    """
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < _FEWEST or len({trial.value for trial in complete}) < 2:
        return {}
    with quiet():
        found = get_param_importances(
            study, evaluator=FanovaImportanceEvaluator(seed=0), params=names
        )
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    return {name: float(share) for name, share in ordered}
