"""The model of a model file: the text of its engine, and its features."""

from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood._util.envelope import damaged
from rankwood._util.text import plural
from rankwood.engines import base
from rankwood.engines._parameters import MOST_FEATURES


def saved_model(content: dict[str, Any], path: str | Path) -> base.Model:
    """Return the model of an object with `engine`, `model` (its text) and `n_features`."""
    engine = content["engine"]
    if engine not in base.ENGINES and engine != "neural":
        raise checks.InputError(
            f"{path} was trained by engine={engine!r}, which isn't registered: import the module that defines it "
            "first."
        )
    module = base.find(engine)
    try:
        model: base.Model = module.load(content["model"])
    except checks.InputError as error:
        raise checks.InputError(f"{path} is damaged: {error}") from None
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        raise damaged(path, f"'model' is not a model of engine={engine!r}") from None
    if model.n_features != content["n_features"]:
        trained = plural(model.n_features, "feature")
        raise damaged(
            path, f"'n_features' is {content['n_features']}, and its model was trained on {trained}"
        )
    return model


def check_features(content: dict[str, Any], path: str | Path) -> None:
    """Raise unless there is a possible number of features, and a name for each if there are names."""
    count, names = content["n_features"], content["feature_names"]
    check_number(count, MOST_FEATURES, "n_features", path)
    if names is None:
        return
    if len(names) != count or not all(isinstance(name, str) for name in names):
        raise damaged(path, f"'feature_names' must be {count} names")


def check_number(value: Any, most: int, name: str, path: str | Path) -> None:
    """Raise unless a value is a whole number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise damaged(path, f"{name!r} must be a whole number from 0 to {most}")
