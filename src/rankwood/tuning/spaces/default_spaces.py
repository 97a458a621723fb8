"""The spaces that `tune` searches if none is given, by engine and by network."""

from collections.abc import Mapping
from typing import Any

from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.neural.architectures.table import ARCHITECTURES
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of
from rankwood.tuning.spaces.dimensions import Choice, Dimension, Float, Integer
from rankwood.tuning.spaces.space import Space

_RATE = Float(0.01, 0.3, log=True)
_DEFAULTS: dict[str, dict[str, Dimension]] = {
    "lightgbm": {
        "learning_rate": _RATE,
        "num_leaves": Integer(7, 255, log=True),
        "min_child_samples": Integer(5, 500, log=True),
        "min_child_weight": Float(1e-3, 10.0, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "colsample_bytree": Float(0.3, 1.0),
        "extra_trees": Choice(False, True),
    },
    "xgboost": {
        "learning_rate": _RATE,
        "num_leaves": Integer(7, 255, log=True),
        "min_child_weight": Float(1e-3, 100.0, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "subsample": Float(0.5, 1.0),
        "colsample_bytree": Float(0.3, 1.0),
    },
    "catboost": {
        "learning_rate": _RATE,
        "max_depth": Integer(4, 10),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "subsample": Float(0.5, 1.0),
    },
    "pairtree": {
        "learning_rate": Float(0.001, 0.1, log=True),
        "num_leaves": Integer(15, 511, log=True),
        "min_child_samples": Integer(20, 5000, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "colsample_bytree": Float(0.3, 1.0),
    },
}


_NETWORKS: dict[str, Dimension] = {
    "learning_rate": Float(1e-4, 0.1, log=True),
    "hidden": Choice((64, 32), (128, 64, 32), (256, 128, 64), (512, 256, 128)),
    "dropout": Float(0.0, 0.6),
    "layers": Integer(1, 4),
    "heads": Choice(1, 2, 4),
    "size": Choice(32, 64, 128),
    "attention_dropout": Float(0.0, 0.6),
}


def own_dimensions(architecture: str, known: Mapping[str, Dimension]) -> dict[str, Dimension]:
    """Return those of some dimensions whose parameters a network has."""
    own = {"learning_rate", *ARCHITECTURES[architecture].params}
    return {name: one for name, one in known.items() if name in own}


def default(engine: str = "lightgbm", objective: Any = None) -> Space:
    """Return the space that `rankwood.tune` searches if none is given.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost", "catboost", "pairtree", "dnn", "gsf", "attn-din", "setrank"}
        The engine, or the architecture of a network; or a registered learner, whose space is the learning rate and
        what it was registered with.
    objective : str or part, optional
        The objective. Parameters that the engine can't combine with it are omitted, and an objective of pairs
        (``bi-...``) has the ranges of pair trees.

    Returns
    -------
    Space

    Raises
    ------
    InputError
        If there is no such engine or objective.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.spaces.default("catboost")
    Space({
        'learning_rate': Float(0.01, 0.3, log=True),
        'max_depth': Integer(4, 10),
        'reg_lambda': Float(0.001, 100.0, log=True),
        'subsample': Float(0.5, 1.0),
    })
    """
    if engine in ARCHITECTURES:
        return Space(own_dimensions(engine, _NETWORKS))
    dimensions = _dimensions(engine)
    if objective is None:
        return Space(dimensions)
    part = to_objective(objective)
    if unit_of(part) == "pairs":
        return Space(_DEFAULTS["pairtree"])
    refused = refused_by_catboost(part) if engine == "catboost" else ()
    return Space({name: one for name, one in dimensions.items() if name not in refused})


def _dimensions(engine: str) -> dict[str, Dimension]:
    """Return the ranges of an engine's parameters."""
    abilities = base.abilities_of(engine)
    if abilities.registered is not None:
        return {"learning_rate": _RATE, **abilities.space}
    return _DEFAULTS[engine]


def refused_by_catboost(objective: Any) -> tuple[str, ...]:
    """Return the parameters that our engine refuses: CatBoost's LambdaMart subtracts the L2 penalty."""
    return ("reg_lambda",) if native(objective).name == "LambdaMart" else ()
