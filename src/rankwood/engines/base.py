"""What the rest of the package knows of an engine: it grows trees for an objective, round by round."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.objectives._kernels.plan import has_ideal
from rankwood.objectives.lifted import Bivariate

#: The driver's half of a round: scores in, gradients and hessians out.
Gradients = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Task(NamedTuple):
    """What there is to learn; an engine that takes gradients needs no more than the data."""

    train: RankingData
    #: Rows of the training data by query, in the order that equal scores have.
    groups: Groups
    valid: RankingData | None
    objective: Any
    rounds: int
    #: Whether someone looks at the gradients of each round, even if the engine has its own.
    recorded: bool = False


class Model(Protocol):
    """A trained ensemble that predicts, and that goes into a file as text."""

    text: str

    def predict(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per row."""

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all."""


class Engine(Protocol):
    """One training run."""

    #: False if later rounds change earlier trees, so that the best round can't be kept.
    keeps_rounds: bool
    #: False if the engine runs a loss of its own, and our gradients are for the record only.
    takes_gradients: bool

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""

    def model(self, rounds: int) -> Model:
        """Return the ensemble of the first `rounds` trees."""


#: Engines, and the package that each needs.
ENGINES = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "pairtree": "",
}
MODULES = {
    "lightgbm": "lightgbm.engine",
    "xgboost": "xgboost",
    "catboost": "catboost.engine",
    "pairtree": "pairtree.engine",
}
#: Engines that can train objectives of pairs, `bi-...`.
ON_PAIRS = ("pairtree", "lightgbm")


def find(name: Any) -> Any:
    """Return the module of an engine: `start(params, task)`, `check_params(params, objective)` and `load(text)`."""
    if not isinstance(name, str) or name not in ENGINES:
        raise checks.InputError(f"unknown engine {name!r}{checks.nearest(str(name), ENGINES)}")
    try:
        return import_module(f"rankwood.engines.{MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name != ENGINES[name]:
            raise
        raise checks.InputError(
            f"engine={name!r} needs the package {ENGINES[name]}: pip install 'rankwood[{name}]'."
        ) from None


def check(name: Any, objective: Any, beyond: bool = False) -> None:
    """Raise unless an engine is there and can train an objective, with documents beyond the lists if there are."""
    # First, so that nobody is told to install what won't help.
    if isinstance(objective, Bivariate) and str(name) in ENGINES and name not in ON_PAIRS:
        raise checks.InputError(
            f"engine={name!r} can't train objectives of pairs (bi-...). Engines that can: {', '.join(ON_PAIRS)}."
        )
    module = find(name)
    if not isinstance(objective, Bivariate) and name == "pairtree":
        raise checks.InputError(
            "engine='pairtree' trains objectives of pairs only: write bi- before the name of an objective, as in "
            "'bi-lambdarank-ndcg@5', or take another engine."
        )
    if hasattr(module, "native"):  # it takes no gradients
        module.native(objective)
        if beyond and has_ideal(objective):
            raise checks.InputError(
                f"engine={name!r} has losses of its own, whose ideal is that of the lists alone; leave out "
                "`beyond` (in TwoStage: ideal='list') or take another engine."
            )


def check_params(name: str, params: dict[str, Any], objective: Any) -> None:
    """Raise unless an engine knows these parameters; `start` says the same, but needs the data."""
    find(name).check_params(params, objective)


def start(name: str, params: dict[str, Any], task: Task) -> Engine:
    """Begin a training run."""
    engine: Engine = find(name).start(params, task)
    return engine
