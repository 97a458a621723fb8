"""Models on disk: one JSON object, a header and the engine's own text. Nothing is pickled.

The object that `content_of` returns for a ranker has no header, so that it can be a part of a larger file.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood._core.parts import is_part
from rankwood._version import __version__
from rankwood.data.categories import from_json
from rankwood.engines import base
from rankwood.objectives.families.registry import objective
from rankwood.training import content_checks, origin
from rankwood.training.defaults import plain
from rankwood.training.parameters import chosen

_FORMAT = "rankwood-model"
_VERSION = 1
#: Fields of every ranker, of trees or a network, and their types.
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
#: Fields of a ranker of trees. Older files have no "record" and no "chosen".
_RANKER = {"engine": str, **FITTED, "model": str}


def write(ranker: Any, path: str | Path, letor: dict[str, Any] | None = None) -> None:
    """Write a fitted ranker, and how the LETOR files of its training data were read."""
    content = ranker._files.content_of(ranker)
    write_content({**content, "letor": letor or content["letor"]}, path, ranker._kind)


def content_of(ranker: Any) -> dict[str, Any]:
    """Return a fitted ranker as an object for JSON."""
    return {
        "engine": ranker.engine,
        **fitted_content(ranker),
        "record": ranker.record_,
        "chosen": ranker.chosen_,
        "model": ranker.model_.text,
    }


def fitted_content(ranker: Any) -> dict[str, Any]:
    """Return the fields of `FITTED` of a fitted ranker."""
    return {
        "objective": repr(ranker.objective_),
        "n_features": ranker.n_features_in_,
        "feature_names": ranker._feature_names(),
        "categories": {n: list(v) for n, v in getattr(ranker, "categories_", {}).items()},
        "best_iteration": ranker.best_iteration_,
        "history": ranker.history_,
        "validation_sets": getattr(ranker, "validation_sets_", None),
        "seconds": ranker.seconds_,
        "letor": getattr(ranker, "letor_", None),
        "data_size": getattr(ranker, "data_size_", None),
        "origin": getattr(ranker, "origin_", None),
        "params": params_of(ranker),
    }


def fill_fitted(ranker: Any, content: dict[str, Any], path: str | Path) -> None:
    """Fill a new ranker from the fields of `FITTED`."""
    content_checks.check_fitted(content, path)
    ranker.set_params(**content["params"])
    ranker.objective_ = objective_of(content["objective"], path)
    names = content["feature_names"]
    categories = from_json(content.get("categories"), names, path)  # older files have none
    ranker._set_features(content["n_features"], names, categories)
    ranker.best_iteration_ = content["best_iteration"]
    ranker.history_ = content["history"]
    ranker.seconds_ = content["seconds"]
    if content["letor"]:
        ranker.letor_ = content["letor"]
    fill_data_size(ranker, content)
    if content.get("validation_sets") is not None:  # older files have none
        ranker.validation_sets_ = content["validation_sets"]


def fill_data_size(estimator: Any, content: dict[str, Any]) -> None:
    """Set what a model was trained on, numbers of queries and documents and its origin, if the file has them."""
    known = origin.checked(content.get("origin"))
    if known is not None:
        estimator.origin_ = known
    found, names = content.get("data_size"), ("queries", "documents")  # older files have none
    if isinstance(found, dict) and all(type(found.get(name)) is int for name in names):
        estimator.data_size_ = {name: found[name] for name in names}


def params_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as an object for JSON."""
    return {name: to_json(value) for name, value in estimator.get_params(deep=False).items()}


def fill(ranker: Any, content: Any, path: str | Path) -> None:
    """Fill a new ranker from the object that `content_of` returned."""
    require(content, _RANKER, path)
    content_checks.check_fitted(content, path)
    if content["params"].get("engine", content["engine"]) != content["engine"]:
        raise content_checks.damaged(path, "'engine' isn't that of 'params'")
    ranker.model_ = _load_model(content["engine"], content["model"], path)
    content_checks.check_model_features(ranker.model_.n_features, content["n_features"], path)
    fill_fitted(ranker, content, path)
    if "chosen" not in content:  # trained when other values were taken: a clone trains with those
        ranker.set_params(**_before(ranker))
    ranker.chosen_ = content.get("chosen", {})
    ranker.record_ = content.get("record", {})


def _before(ranker: Any) -> dict[str, Any]:
    """Return the values that older versions took for the parameters that a ranker leaves open."""
    former = plain(ranker.engine, ranker.objective_)
    return {name: former[name] for name in chosen(ranker)}


def require(content: Any, types: Mapping[str, Any], path: str | Path) -> None:
    """Raise unless an object of a file has these fields, with values of these types."""
    if not isinstance(content, dict):
        raise checks.InputError(
            f"{path} is damaged: a value in it is of the wrong kind, {type(content).__name__}."
        )
    for name, kind in types.items():
        if name not in content:
            raise checks.InputError(f"{path} is damaged: {name!r} is missing.")
        if not isinstance(content[name], kind):
            raise checks.InputError(
                f"{path} is damaged: {name!r} is of the wrong kind, {type(content[name]).__name__}."
            )


def _load_model(engine: str, text: str, path: str | Path) -> base.Model:
    """Return the model of an engine from its text."""
    module = base.find(engine)
    try:
        return module.load(text)
    except checks.InputError as error:
        raise checks.InputError(f"{path} is damaged: {error}") from None
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        raise content_checks.damaged(path, f"'model' is not a model of engine={engine!r}") from None


def write_content(content: dict[str, Any], path: str | Path, kind: str = "Ranker") -> None:
    """Write an object with a header and a checksum; `kind` is the class that reads it."""
    header: dict[str, Any] = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        "kind": kind,
    }
    whole = {**header, **content}
    whole["sha256"] = _checksum(whole)
    try:
        with replacing(path) as file:
            file.write(json.dumps(whole, indent=1).encode())
    except OSError as error:
        raise checks.InputError(f"{path} can't be written: {error.strerror}.") from None


def read_into(estimator: Any, path: str | Path) -> None:
    """Fill a new estimator from a file."""
    content = read_content(path, estimator._kind)
    try:
        estimator._files.fill(estimator, content, path)
    except checks.InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise content_checks.damaged(path, "its values don't make a model") from None


def read_content(path: str | Path, kind: str) -> dict[str, Any]:
    """Return the object of a file that `write_content` wrote for this class."""
    content = _parse(path)
    if content.get("sha256") != _checksum(content):
        raise checks.InputError(f"{path} is damaged: its content doesn't match its checksum.")
    got = content.get("kind", "Ranker")  # older files are all of rankers
    if not isinstance(got, str) or not got.replace(" ", "").isalpha():
        raise content_checks.damaged(path, "'kind' must be a word")
    if got != kind:
        how = f"give it as checkpoint={str(path)!r}" if " " in got else f"read it with {got}.load"
        raise checks.InputError(f"{path} holds a {got}, not a {kind}: {how}.")
    return content


def objective_of(text: str, path: str | Path) -> Any:
    """Return the objective of a model; the module that defines its parts may not have been imported yet."""
    try:
        return objective(text)
    except checks.InputError as error:
        raise checks.InputError(
            f"{path} was trained with {text}: {str(error).rstrip('.')}; import the module that defines "
            "its parts first."
        ) from None


def _checksum(content: dict[str, Any]) -> str:
    """Return a digest of everything in a file but the digest itself."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _parse(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a model file; raise, with what the file seems to be, if it is something else."""
    text = content_checks.read_text(path)
    if text.startswith("tree\n"):
        raise checks.InputError(
            f"{path} is a model of LightGBM itself, not one that Ranker.save wrote; "
            "read it with lightgbm.Booster(model_file=...)."
        )
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise checks.InputError(
            f"{path} is not a Rankwood model, or a damaged one: not JSON at line {error.lineno}."
        ) from None
    except RecursionError:
        raise checks.InputError(f"{path} is not a Rankwood model: JSON too deep.") from None
    except ValueError:  # Python limits the digits of a number
        raise content_checks.damaged(path, "a number in it has too many digits") from None
    content_checks.check_depth(content, path)
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise checks.InputError(f"{path} is JSON, but not a model that Ranker.save wrote.")
    if content.get("format_version") != _VERSION:
        raise checks.InputError(
            f"{path} has format version {content.get('format_version')}, this Rankwood reads "
            f"{_VERSION}; it was written by Rankwood {content.get('rankwood')}."
        )
    return content


def to_json(value: Any) -> Any:
    """Return the value of a parameter in a form that JSON has; parts become the text that `repr` returns."""
    if is_part(value):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value if isinstance(value, (str, int, float, bool, dict, NoneType)) else repr(value)
