"""Texts of named objectives: their name, their cutoff, and other values of their parameters."""

from typing import Any

from rankwood._kernels import spec
from rankwood._util import checks
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.families.registry import objective as to_objective

_PAIRS = "bi-"


def with_parameters(objective: Any, params: dict[str, Any]) -> str:
    """Return the text of a named objective with other values of some parameters."""
    prefix, name, given = _split(objective)
    given = {**given, **params}
    k = given.pop("k", None)
    inside = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{prefix}{name}" + ("" if k is None else f"@{k}") + (f"({inside})" if inside else "")


def name_of(objective: Any) -> str | None:
    """Return the name of an objective without cutoff, parameters and prefix; None if it is a composition."""
    if not isinstance(objective, str):
        return None
    to_objective(objective)  # an unknown name is an error
    try:
        return _split(objective)[1]
    except checks.InputError:
        return None


def parameters_of(objective: Any) -> list[str]:
    """Return the names of the parameters of a named objective; none if it is a composition."""
    name = name_of(objective)
    return [] if name is None else [parameter.name for parameter in OBJECTIVES[name].parameters]


def cutoff_of(objective: Any) -> int | None:
    """Return the k of a named objective; None if it has none."""
    return _split(objective)[2].get("k") if parameters_of(objective) else None


def own_parameter(objective: Any, parameter: str) -> Any:
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
