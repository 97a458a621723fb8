"""Values of the parameters that a ranker leaves open; docs/defaults.md has the study behind them."""

from typing import Any

from rankwood.objectives.units import unit_of

#: Learning rates. Bivariate models get 0.01: a document's score averages the scores of 2(n - 1) pairs, each of which
#: takes a full Newton step.
_LEARNING_RATE = {"documents": 0.05, "pairs": 0.01}
#: Learning rates before the study.
_FORMER_RATE = {"documents": 0.1, "pairs": 0.01}
#: Further parameters of an engine, for objectives of documents: random thresholds of splits keep trees on few queries
#: from fitting noise.
_OF_ENGINE: dict[str, dict[str, Any]] = {"lightgbm": {"extra_trees": True}}
#: The same before the study: what the engine itself does.
_FORMER_OF_ENGINE: dict[str, dict[str, Any]] = {"lightgbm": {"extra_trees": False}}
#: Names that engines have for these parameters.
OTHER_NAMES = {"learning_rate": ("eta", "shrinkage_rate"), "extra_trees": ("extra_tree",)}
#: Largest number of trees, by whether validation data can stop training.
_TREES = {True: 500, False: 100}


def trees(stopped: bool) -> int:
    """Return the largest number of trees, by whether validation data can stop training."""
    return _TREES[stopped]


def automatic(engine: str, objective: Any) -> dict[str, Any]:
    """Return the values of the parameters that are None or left out, by name."""
    unit = unit_of(objective)
    extra = _OF_ENGINE.get(engine, {}) if unit == "documents" else {}
    return {"learning_rate": _LEARNING_RATE[unit], **extra}


def plain(engine: str, objective: Any) -> dict[str, Any]:
    """Return the values that rankers had before the study, and that reproductions of papers start from."""
    return {"learning_rate": _FORMER_RATE[unit_of(objective)], **_FORMER_OF_ENGINE.get(engine, {})}
