"""The parameters of a network, and their checks."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from rankwood._kernels.threads import threads
from rankwood._util import checks
from rankwood.metrics.evaluate import named_metrics
from rankwood.neural.architectures.table import OWN_PARAMS, REVISION, architecture_of
from rankwood.neural.optimisation import LEARNING_RATES, OPTIMISERS, SCHEDULES
from rankwood.neural.transforms import check_steps
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of

PRECISIONS = ("auto", "float32", "bfloat16")
#: Smallest values of integers.
_AT_LEAST = {
    "epochs": 1,
    "batch_documents": 2,
    "random_state": 0,
    "torch_threads": 1,
    "group_size": 1,
    "shuffles": 1,
    "layers": 1,
    "heads": 1,
    "size": 1,
}
_FLAGS = ("batch_norm", "input_norm", "differences")


class NetworkParams(SimpleNamespace):
    """The parameters of `NeuralRanker`, by name."""


def checked_objective(params: NetworkParams, defaults: Mapping[str, Any]) -> Any:
    """Raise unless parameters make sense; return the objective."""
    row = architecture_of(params.architecture)
    objective = to_objective(params.objective)
    if unit_of(objective) == "pairs":
        raise checks.InputError(
            f"networks score documents, and {params.objective!r} has gradients of pairs: omit bi-, or use "
            "Ranker."
        )
    for name, low in _AT_LEAST.items():
        checks.at_least(getattr(params, name), low, name)
    for name in _FLAGS:
        checks.one_of(getattr(params, name), (True, False), name)
    _check_layers(params)
    _check_training(params)
    for name in OWN_PARAMS:
        value = getattr(params, name)
        if name not in row.params and _plain(value) != _plain(defaults[name]):
            raise checks.InputError(
                f"architecture={params.architecture!r} has no parameter {name}, got {value!r}; it has "
                f"{', '.join(row.params)}."
            )
    return objective


def _plain(value: Any) -> Any:
    """Return a list as a tuple, so that the two compare as equal."""
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _check_layers(params: NetworkParams) -> None:
    """Check the shape of the network."""
    hidden = params.hidden
    if not isinstance(hidden, (tuple, list)):
        raise checks.InputError(
            f"hidden must be the sizes of the layers, such as (256, 128, 64), got {hidden!r}."
        )
    for size in hidden:
        checks.at_least(size, 1, "hidden")
    for name in ("dropout", "attention_dropout"):
        if not 0 <= checks.finite(getattr(params, name), name) < 1:
            raise checks.InputError(
                f"{name} must be at least 0 and below 1, got {getattr(params, name)}."
            )
    if not 0 < checks.finite(params.momentum, "momentum") <= 1:
        raise checks.InputError(f"momentum must be above 0 and at most 1, got {params.momentum}.")
    if params.inducing is not None:
        checks.at_least(params.inducing, 1, "inducing")
    if params.differences and params.group_size != 2:
        raise checks.InputError(
            f"differences are those of two documents: set group_size=2, got {params.group_size}."
        )
    if params.architecture == "setrank" and params.size % params.heads:
        raise checks.InputError(
            f"the heads of setrank share its units: size, {params.size}, must be a multiple of heads, "
            f"{params.heads}."
        )


def _check_training(params: NetworkParams) -> None:
    """Check how the network is trained."""
    checks.one_of(params.optimizer, OPTIMISERS, "optimizer")
    checks.one_of(params.schedule, SCHEDULES, "schedule")
    checks.one_of(params.precision, PRECISIONS, "precision")
    if params.learning_rate is not None:
        checks.positive(params.learning_rate, "learning_rate")
    checks.non_negative(params.weight_decay, "weight_decay")
    if params.clip is not None:
        checks.positive(params.clip, "clip")
    if params.early_stopping_rounds is not None:
        checks.at_least(params.early_stopping_rounds, 1, "early_stopping_rounds")
    check_steps(params.transform)
    named_metrics(params.eval_metric)
    threads(params.n_jobs)


def learning_rate(params: NetworkParams) -> float:
    """Return the learning rate, or the default of the optimiser."""
    given = params.learning_rate
    return float(LEARNING_RATES[params.optimizer] if given is None else given)


def fitted_params(params: NetworkParams) -> dict[str, Any]:
    """Return what predictions depend on: parameters, and the revision of the network."""
    row = architecture_of(params.architecture)
    names = ("architecture", "transform", "random_state", "shuffles", *row.params)
    revision = getattr(params, "revision", REVISION)
    return {"revision": revision, **{name: getattr(params, name) for name in names}}
