"""Checks of the parameters of a NeuralRanker."""

from typing import Any

from rankwood._core import checks
from rankwood._core.threads import threads
from rankwood.metrics.evaluate import named_metrics
from rankwood.neural.architectures.table import OWN_PARAMS, architecture_of
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


def check_params(ranker: Any) -> Any:
    """Raise unless a ranker's parameters make sense; return its objective."""
    row = architecture_of(ranker.architecture)
    objective = to_objective(ranker.objective)
    if unit_of(objective) == "pairs":
        raise checks.InputError(
            f"networks score documents, and {ranker.objective!r} has gradients of pairs: leave out bi-, or take "
            "Ranker."
        )
    for name, low in _AT_LEAST.items():
        checks.at_least(getattr(ranker, name), low, name)
    for name in _FLAGS:
        checks.one_of(getattr(ranker, name), (True, False), name)
    _check_layers(ranker)
    _check_training(ranker)
    own = ranker._defaults()
    for name in OWN_PARAMS:
        value = getattr(ranker, name)
        if name not in row.params and _plain(value) != _plain(own[name]):
            raise checks.InputError(
                f"architecture={ranker.architecture!r} has no parameter {name}, got {value!r}; it has "
                f"{', '.join(row.params)}."
            )
    return objective


def _plain(value: Any) -> Any:
    """Return a list as a tuple, so that the two compare as equal."""
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _check_layers(ranker: Any) -> None:
    """Check the shape of the network."""
    hidden = ranker.hidden
    if not isinstance(hidden, (tuple, list)):
        raise checks.InputError(
            f"hidden must be the sizes of the layers, such as (256, 128, 64), got {hidden!r}."
        )
    for size in hidden:
        checks.at_least(size, 1, "hidden")
    for name in ("dropout", "attention_dropout"):
        if not 0 <= checks.finite(getattr(ranker, name), name) < 1:
            raise checks.InputError(
                f"{name} must be at least 0 and below 1, got {getattr(ranker, name)}."
            )
    if not 0 < checks.finite(ranker.momentum, "momentum") <= 1:
        raise checks.InputError(f"momentum must be above 0 and at most 1, got {ranker.momentum}.")
    if ranker.inducing is not None:
        checks.at_least(ranker.inducing, 1, "inducing")
    if ranker.differences and ranker.group_size != 2:
        raise checks.InputError(
            f"differences are those of two documents: set group_size=2, got {ranker.group_size}."
        )
    if ranker.architecture == "setrank" and ranker.size % ranker.heads:
        raise checks.InputError(
            f"the heads of setrank share its units: size, {ranker.size}, must be a multiple of heads, "
            f"{ranker.heads}."
        )


def _check_training(ranker: Any) -> None:
    """Check how the network is trained."""
    checks.one_of(ranker.optimizer, OPTIMISERS, "optimizer")
    checks.one_of(ranker.schedule, SCHEDULES, "schedule")
    checks.one_of(ranker.precision, PRECISIONS, "precision")
    if ranker.learning_rate is not None:
        checks.positive(ranker.learning_rate, "learning_rate")
    checks.non_negative(ranker.weight_decay, "weight_decay")
    if ranker.clip is not None:
        checks.positive(ranker.clip, "clip")
    if ranker.early_stopping_rounds is not None:
        checks.at_least(ranker.early_stopping_rounds, 1, "early_stopping_rounds")
    check_steps(ranker.transform)
    named_metrics(ranker.eval_metric)
    threads(ranker.n_jobs)


def learning_rate(ranker: Any) -> float:
    """Return the learning rate, or the default of the optimiser."""
    given = ranker.learning_rate
    return float(LEARNING_RATES[ranker.optimizer] if given is None else given)
