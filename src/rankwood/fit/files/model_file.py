"""Models on disk: one JSON object, a header and the engine's own text. Nothing is pickled.

The object that `content_of` returns for a result has no header, so that it can be a part of a larger file.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

from rankwood._kernels.parts import is_part
from rankwood._util import checks
from rankwood._util.envelope import damaged, require
from rankwood.data.tables.categories import categories_from_json
from rankwood.data.tables.schema import Schema
from rankwood.engines.base import Model
from rankwood.engines.saved_model import saved_model
from rankwood.fit.files import content_checks
from rankwood.fit.origin import origin_from
from rankwood.fit.result import DataSize, FitResult, Settings, flat_history, nested_history
from rankwood.objectives.families.registry import objective

#: Fields of every ranker, of trees or a network, and their types. Others came later.
FITTED = {
    "objective": str,
    "n_features": int,
    "feature_names": (list, NoneType),
    "best_iteration": int,
    "history": dict,
    "seconds": dict,
    "letor": (dict, NoneType),
    "params": dict,
}


_START = 1024  # bytes that hold the header
#: Returns the model of an object that was read from a file, given the object and the name of the file.
LoadModel = Callable[[dict[str, Any], Any], Model]


def content_of(result: FitResult) -> dict[str, Any]:
    """Return a result as an object for JSON."""
    settings, size, origin = result.settings, result.data_size, result.origin
    return {
        "engine": settings.learner,
        "objective": repr(settings.objective),
        "n_features": result.schema.n_features,
        "feature_names": result.schema.names,
        "categories": {name: list(values) for name, values in result.schema.categories.items()},
        "best_iteration": result.rounds,
        "history": flat_history(result.history),
        "validation_sets": result.sets,
        "seconds": dict(result.seconds),
        "letor": result.letor,
        "data_size": None if size is None else size._asdict(),
        "origin": None if origin is None else origin._asdict(),
        "params": params_as_json(settings.params),
        "record": {name: list(curve) for name, curve in result.curves.items()},
        "chosen": dict(settings.chosen),
        "stopped": result.ends,
        **result.model.content(),
    }


def result_of(content: Any, path: str | Path, load_model: LoadModel, kind: str = "") -> FitResult:
    """Return the result of an object that `content_of` returned."""
    require(content, FITTED, path)
    content_checks.check_fitted(content, path)
    model = load_model(content, path)
    names = content["feature_names"]
    categories = categories_from_json(
        content.get("categories"), names, path
    )  # older files have none
    return FitResult(
        settings=Settings(
            kind=kind or content.get("kind", "Ranker"),
            learner=content.get("engine", "neural"),
            objective=objective_of(content["objective"], path),
            params=content["params"],
            chosen=content.get("chosen", {}),
        ),
        model=model,
        schema=Schema(content["n_features"], names, categories),
        rounds=content["best_iteration"],
        history=nested_history(content["history"], content.get("validation_sets")),
        seconds=content["seconds"],
        curves=content.get("record", {}),
        ends=str(content.get("stopped", "")),
        data_size=data_size_from(content.get("data_size")),
        origin=origin_from(content.get("origin")),
        letor=content["letor"],
    )


def data_size_from(value: Any) -> DataSize | None:
    """Return the size of the training data that a file has, None if it has none: older files don't."""
    if isinstance(value, dict) and all(type(value.get(name)) is int for name in DataSize._fields):
        return DataSize(value["queries"], value["documents"])
    return None


def params_as_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as an object for JSON."""
    return {name: to_json(value) for name, value in params.items()}


def load_trees(content: dict[str, Any], path: str | Path) -> Model:
    """Return the model of an engine from the object of a file."""
    require(content, {"engine": str, "model": str}, path)
    if (content["params"].get("engine") or content["engine"]) != content["engine"]:
        raise damaged(path, "'engine' isn't that of 'params'")
    return saved_model(content, path)


def kind_of(path: str | Path) -> str:
    """Return the class that a file starts with; `Ranker.load` reports files that are not a model."""
    try:
        with open(path, "rb") as file:
            kind = re.search(rb'"kind"\s*:\s*"(NeuralRanker|TwoStage)"', file.read(_START))
    except OSError:
        return "Ranker"
    return "Ranker" if kind is None else kind[1].decode()


@contextmanager
def explaining_values(path: str | Path) -> Iterator[None]:
    """Turn whatever odd values of a file raise into an error that names the file."""
    try:
        yield
    except checks.InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise damaged(path, "its values don't make a model") from None


def objective_of(text: str, path: str | Path) -> Any:
    """Return the objective of a model; the module that defines its parts may not have been imported yet."""
    try:
        return objective(text)
    except checks.InputError as error:
        raise checks.InputError(
            f"{path} was trained with {text}: {str(error).rstrip('.')}; import the module that defines "
            "its parts first."
        ) from None


def to_json(value: Any) -> Any:
    """Return the value of a parameter in a form that JSON has; parts become the text that `repr` returns."""
    if is_part(value):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value if isinstance(value, (str, int, float, bool, dict, NoneType)) else repr(value)
