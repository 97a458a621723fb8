"""From the parameters of a trial to an estimator, and from an estimator to the parameters it has."""

import json
from math import ceil, log2
from typing import Any

from sklearn.base import clone

from rankwood._kernels.parts import computed_text, is_part
from rankwood._util import checks
from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.estimators.parameters import chosen, engine_params
from rankwood.estimators.ranker import Ranker
from rankwood.estimators.two_stage.estimator import TwoStage
from rankwood.neural.architectures.table import OWN_PARAMS, REVISION, architecture_of
from rankwood.neural.parameters import NetworkParams, learning_rate
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.tuning.objective_texts import own_parameter, with_parameters
from rankwood.tuning.spaces.space import OBJECTIVE, Space, stage_and_name

#: What `tune` searches parameters of.
Tunable = Ranker | NeuralRanker | TwoStage
#: Parameters that a trial may not change: what is trained, and what all trials share.
_KEPT = {
    *("objective", "engine", "eval_metric", "random_state", "shuffle", "first", "second"),
    *("n_jobs", "verbose", "record", "device", "precision", "torch_threads"),
}


def stage_of(model: TwoStage, stage: str) -> Any:
    """Return the ranker of a stage; the default one if the model has none."""
    ranker = getattr(model, stage)
    return Ranker() if ranker is None else ranker


def _stages(estimator: Tunable) -> TwoStage:
    """Return an estimator that has stages; raise if it has none."""
    if not isinstance(estimator, TwoStage):
        raise checks.InputError(f"only TwoStage has stages, not {type(estimator).__name__}.")
    return estimator


def _objective(estimator: Tunable) -> Any:
    return estimator.get_params(deep=False).get("objective")


def configured(estimator: Tunable, params: dict[str, Any]) -> Any:
    """Return a copy of an estimator with the parameters of a trial; it isn't fitted."""
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    stages: dict[str, dict[str, Any]] = {}
    for name, value in params.items():
        stage, own = stage_and_name(name)
        if stage:
            stages.setdefault(stage, {})[own] = value
        elif name.startswith(OBJECTIVE):
            inner[name.removeprefix(OBJECTIVE)] = value
        else:
            outer[name] = value
    if inner:
        outer["objective"] = with_parameters(_objective(estimator), inner)
    for stage, given in stages.items():
        outer[stage] = configured(stage_of(_stages(estimator), stage), given)
    return clone(estimator).set_params(**outer)


def own_values(estimator: Tunable, space: Space) -> dict[str, Any]:
    """Return the values of an estimator's own parameters, each moved into its dimension."""
    return {name: one.nearest(_own_value(estimator, name)) for name, one in space.items()}


def _own_value(estimator: Tunable, name: str) -> Any:
    """Return the value that an estimator has for the name of a dimension; None if it has none."""
    stage, own = stage_and_name(name)
    if stage:
        return _own_value(stage_of(_stages(estimator), stage), own)
    if name.startswith(OBJECTIVE):
        return own_parameter(_objective(estimator), name.removeprefix(OBJECTIVE))
    value = _own_params(estimator).get(name)
    return tuple(value) if isinstance(value, list) else value


def _own_params(estimator: Tunable) -> dict[str, Any]:
    """Return the parameters of an estimator, with values for those that it leaves open."""
    own: dict[str, Any] = estimator.get_params(deep=False)
    if isinstance(estimator, NeuralRanker):
        return {**own, "learning_rate": learning_rate(NetworkParams(**own))}
    if isinstance(estimator, Ranker):
        own |= engine_params(estimator)
        if own["max_depth"] <= 0:  # no limit: the depth of a balanced tree of as many leaves
            own["max_depth"] = ceil(log2(own["num_leaves"]))
    return own


def check_names(estimator: Tunable, space: Space) -> None:
    """Raise if a dimension is of a parameter that can't be tuned, or that the estimator doesn't have."""
    for name in space:
        _check_name(estimator, name)


def _check_name(estimator: Tunable, name: str) -> None:
    stage, own = stage_and_name(name)
    if stage:
        if not isinstance(estimator, TwoStage):
            raise checks.InputError(
                f"{name} is a parameter of a stage, and only TwoStage has stages, not {type(estimator).__name__}: "
                f"tune {own}."
            )
        _check_name(stage_of(estimator, stage), own)
    elif name in _KEPT:
        raise checks.InputError(
            f"{name} can't be tuned: it is the same in all trials; set it in the ranker."
        )
    elif name.startswith(OBJECTIVE):
        if isinstance(estimator, TwoStage):
            raise checks.InputError(
                f"{name}: the objective is that of a stage; write 'first__{name}' or 'second__{name}'."
            )
        own_parameter(_objective(estimator), name.removeprefix(OBJECTIVE))
    elif not isinstance(estimator, Ranker):  # the engine knows what else a Ranker has
        known = set(estimator.get_params(deep=False))
        if isinstance(estimator, NeuralRanker):  # an architecture has some of the parameters only
            known -= set(OWN_PARAMS) - set(architecture_of(estimator.architecture).params)
        if name not in known:
            raise checks.InputError(
                f"this {type(estimator).__name__} has no parameter {name!r}{checks.nearest(name, sorted(known))}"
            )


def settings_of(estimator: Tunable, tuned: Any) -> dict[str, Any]:
    """Return what trials of an estimator have in common, by name, for the identity of a study.

    Objectives are what they compute: a name may mean something else in another version.
    """
    ignored = {*tuned, "n_jobs", "verbose", "record", "eval_metric"}
    whole = estimator.get_params(deep=False)
    if isinstance(estimator, (Ranker, NeuralRanker)):
        whole["objective"] = computed_objective(whole["objective"], tuned)
    if isinstance(estimator, Ranker):
        whole |= {**chosen(estimator), "engine": estimator.engine_}
    if isinstance(estimator, NeuralRanker):
        whole["revision of networks"] = REVISION
    if isinstance(estimator, TwoStage):
        for stage in ("first", "second"):
            names = [own for one, own in map(stage_and_name, tuned) if one == stage]
            whole[stage] = settings_of(stage_of(estimator, stage), names)
        # The first stage has a metric of its own, which stops it.
        whole["first metric"] = getattr(stage_of(estimator, "first"), "eval_metric", None)
    return {name: value for name, value in whole.items() if name not in ignored}


def computed_objective(objective: Any, tuned: Any) -> str:
    """Return what an objective computes; with its name before it if some of the name's parameters are tuned."""
    text = computed_text(to_objective(objective))
    named = any(name.startswith(OBJECTIVE) for name in tuned)
    return f"{objective}: {text}" if named else text


def as_text(value: Any) -> str:
    """Return values as a text that is the same in each process: parts by what they compute, objects by their type."""

    def text(x: Any) -> str:
        return computed_text(x) if is_part(x) else type(x).__name__

    return json.dumps(value, sort_keys=True, default=text)


def rounds_word(estimator: Tunable) -> str:
    """Return what the rounds of an estimator are called: those of the second stage, if there are two."""
    if isinstance(estimator, TwoStage):
        return rounds_word(stage_of(estimator, "second"))
    return "epochs" if isinstance(estimator, NeuralRanker) else "trees"
