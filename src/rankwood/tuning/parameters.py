"""From the parameters of a trial to a ranker, and from a ranker to the parameters it has."""

from math import ceil, log2
from typing import Any

from sklearn.base import clone

from rankwood._kernels import spec
from rankwood._util import checks
from rankwood.estimators.parameters import engine_params
from rankwood.estimators.ranker import Ranker
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.tuning.spaces.space import Space

_OBJECTIVE = "objective."
_PAIRS = "bi-"
#: Parameters that a trial may not change: what is trained, and what all trials share.
_KEPT = {
    *("objective", "engine", "eval_metric", "random_state", "shuffle"),
    *("n_jobs", "verbose", "record"),
}


def configured(ranker: Ranker, params: dict[str, Any]) -> Ranker:
    """Return a copy of a ranker with the parameters of a trial; it isn't fitted."""
    inner = {
        name.removeprefix(_OBJECTIVE): value
        for name, value in params.items()
        if name.startswith(_OBJECTIVE)
    }
    outer = {name: value for name, value in params.items() if not name.startswith(_OBJECTIVE)}
    copy: Ranker = clone(ranker).set_params(**outer)
    return copy.set_params(objective=with_parameters(ranker.objective, inner)) if inner else copy


def with_parameters(objective: Any, params: dict[str, Any]) -> str:
    """Return the text of a named objective with other values of some parameters."""
    prefix, name, given = _split(objective)
    given = {**given, **params}
    k = given.pop("k", None)
    inside = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{prefix}{name}" + ("" if k is None else f"@{k}") + (f"({inside})" if inside else "")


def own_values(ranker: Ranker, space: Space) -> dict[str, Any]:
    """Return the values of a ranker's own parameters, each moved into its dimension."""
    own = {**ranker.get_params(deep=False), **engine_params(ranker)}
    if own["max_depth"] <= 0:  # no limit: the depth of a balanced tree of as many leaves
        own["max_depth"] = ceil(log2(own["num_leaves"]))
    found = {}
    for name, dimension in space.items():
        value = own.get(name)
        if name.startswith(_OBJECTIVE):
            value = _own_of_objective(ranker.objective, name.removeprefix(_OBJECTIVE))
        found[name] = dimension.nearest(value)
    return found


def check_names(ranker: Ranker, space: Space) -> None:
    """Raise if a dimension is of a parameter that can't be tuned, or that the objective doesn't have."""
    for name in space:
        if name in _KEPT:
            raise checks.InputError(
                f"{name} can't be tuned: it is the same in all trials; set it in the ranker."
            )
        if name.startswith(_OBJECTIVE):
            _own_of_objective(ranker.objective, name.removeprefix(_OBJECTIVE))


def parameters_of(objective: Any) -> list[str]:
    """Return the names of the parameters of a named objective; none if it is a composition."""
    if not isinstance(objective, str):
        return []
    to_objective(objective)  # an unknown name is an error
    try:
        _, name, _ = _split(objective)
    except checks.InputError:
        return []
    return [parameter.name for parameter in OBJECTIVES[name].parameters]


def cutoff_of(objective: Any) -> int | None:
    """Return the k of a named objective; None if it has none."""
    return _split(objective)[2].get("k") if parameters_of(objective) else None


def _own_of_objective(objective: Any, parameter: str) -> Any:
    """Return the value of a parameter of an objective; raise if there is no such parameter."""
    _, name, given = _split(objective)
    known = {one.name: one.default for one in OBJECTIVES[name].parameters}
    if parameter not in known:
        raise checks.InputError(
            f"objective {name!r} has no parameter {parameter!r}{checks.nearest(parameter, known)}"
        )
    value = given.get(parameter, known[parameter])
    return given.get("k") if parameter == "truncation" and value is None else value


def _split(objective: Any) -> tuple[str, str, dict[str, Any]]:
    """Return the prefix, the name and the parameters of a named objective."""
    if isinstance(objective, str):
        text = objective.strip()
        prefix = _PAIRS if text.startswith(_PAIRS) else ""
        found = spec.read(text.removeprefix(prefix), OBJECTIVES, "objective")
        if found is not None:
            return prefix, found.name, found.given
    raise checks.InputError(
        f"parameters of the objective can be tuned if it is given by name, such as 'lambdagap-x+@5', got {objective!r}."
    )
