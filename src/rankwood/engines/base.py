"""What the rest of the package knows of an engine: it grows trees for an objective, round by round."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankwood._core import checks
from rankwood._core.scratch import Scratch
from rankwood._core.shared import Shared
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _parameters, constraints
from rankwood.engines.sharing import Share
from rankwood.objectives._kernels.plan import has_ideal
from rankwood.objectives.units import Unit, unit_of

#: What an engine calls in each round: scores of the documents in, gradients and Hessians out.
Gradients = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
T = TypeVar("T")


class RunState(NamedTuple):
    """A training run after some rounds, from which an engine goes on with the same bits."""

    rounds: int
    #: All trees, as the engine wrote them.
    text: str
    #: Other numbers that the engine needs, by name.
    arrays: dict[str, np.ndarray]


class TrainingTask(NamedTuple):
    """What to learn; an engine that takes gradients needs no more of it than the data."""

    train: RankingData
    #: Rows of the training data by query, in the order in which ties are ranked.
    groups: Groups
    valid: RankingData | None
    objective: Any
    rounds: int
    #: Whether a `Recorder` needs the gradients of each round, even if the engine computes its own.
    recorded: bool = False
    #: What earlier runs on the same data, seed and number of threads have left.
    shared: Shared | None = None
    #: An earlier run on the same data with the same parameters, which goes on.
    before: RunState | None = None
    #: A folder for files of the engine, removed after training; None unless the training data is a stream.
    scratch: Scratch | None = None
    #: What other processes of a cluster have, if this is one of several.
    share: Share | None = None

    def once(self, kind: str, key: Any, make: Callable[[], T]) -> T:
        """Return what `make` returns, or what it returned in an earlier run for the same kind and an equal key."""
        return make() if self.shared is None else self.shared.once(kind, key, make)


class Model(Protocol):
    """A trained ensemble, which can predict and can be written to a file as text."""

    @property
    def text(self) -> str:
        """The whole model, as `load` of its engine reads it."""

    @property
    def n_features(self) -> int:
        """Number of features of a document, as the text tells it."""

    @property
    def needs_groups(self) -> bool:
        """True if a document's score depends on the other documents of its query."""

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row; `groups` are the queries of the rows, if the model needs them."""

    def importances(self) -> np.ndarray:
        """Return the total gain of the splits on each feature."""

    @property
    def booster(self) -> Any:
        """The engine's own object, which predicts."""


class TextModel(ABC):
    """A `Model` whose text is its whole state; the engine's own object is read from it on first use."""

    needs_groups = False
    _booster: Any = None

    def __init__(self, text: str) -> None:
        self.text = text

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_booster": None}

    def loaded(self) -> Any:
        """Return the engine's own object."""
        if self._booster is None:
            self._booster = self._read()
        return self._booster

    @property
    def booster(self) -> Any:
        """The engine's own object."""
        return self.loaded()

    @abstractmethod
    def _read(self) -> Any:
        """Return the engine's own object, read from the text."""


class Engine(Protocol):
    """One training run."""

    #: False if later rounds change earlier trees, so that an earlier round can't be restored.
    keeps_rounds: bool
    #: An engine may define `has_models_midway = False`: `model` ends its training.

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""

    def model(self, rounds: int) -> Model:
        """Return the ensemble of the first `rounds` trees."""

    def state(self, rounds: int) -> RunState | None:
        """Return what `start` needs to go on after so many complete rounds, in `TrainingTask.before`.

        An interrupt may have left a tree that belongs to no complete round. None if the state of these rounds is lost.
        """


class Abilities(NamedTuple):
    """What an engine can do; read before the engine is imported, as it need not be installed."""

    #: Module below `rankwood.engines`, with `start(params, task)`, `check_params(params, objective)`, `load(text)`;
    #: `native(objective)`, which raises unless the engine has a loss for it, if it takes no gradients; and
    #: `real_name(name)`, the engine's own name of a parameter, if parameters have several.
    module: str
    #: Package that the engine needs, and the extra of Rankwood that installs it; "" if it needs none.
    package: str
    #: What the objectives it can train have gradients of.
    units: tuple[Unit, ...] = ("documents",)
    #: False if the engine trains losses of its own only, and our gradients are for the record.
    takes_gradients: bool = True
    #: Parameters with which runs that grow different trees can share binned data.
    sharing: Mapping[str, Any] = MappingProxyType({})
    #: Constraints on features that it has, see `engines/constraints.py`.
    constraints: tuple[str, ...] = ()
    #: Whether it trains on files that don't fit in memory.
    streams: bool = False
    #: Values of its parameters on a stream, unless they are given.
    on_streams: Mapping[str, Any] = MappingProxyType({})


#: All engines, in the order in which errors suggest them.
ENGINES = {
    "pairtree": Abilities("pairtree.engine", "", units=("pairs",)),
    "lightgbm": Abilities(
        "lightgbm.engine",
        "lightgbm",
        units=("documents", "pairs"),
        # Otherwise LightGBM drops features that can't split leaves of the smallest size, which may be tuned.
        sharing=MappingProxyType({"feature_pre_filter": False}),
        constraints=("monotone", "interactions"),
        streams=True,
    ),
    "xgboost": Abilities(
        "xgboost",
        "xgboost",
        constraints=("monotone", "interactions"),
        streams=True,
        # By level, a tree needs a pass over the files for each level; by leaf, for each leaf.
        on_streams=MappingProxyType({"grow_policy": "depthwise"}),
    ),
    "catboost": Abilities(
        "catboost.engine", "catboost", takes_gradients=False, constraints=("monotone",)
    ),
}

#: Engine parameters that take the word "none", not None, for a value.
NONE_IS_A_WORD = frozenset({"differences"})


def abilities_of(name: Any) -> Abilities:
    """Return what an engine can do, or raise if there is no engine of this name."""
    if name == "neural":
        raise checks.InputError(
            "engine='neural' grows no trees: networks are trained by NeuralRanker."
        )
    if not isinstance(name, str) or name not in ENGINES:
        raise checks.InputError(f"unknown engine {name!r}{checks.nearest(str(name), ENGINES)}")
    return ENGINES[name]


def find(name: Any) -> Any:
    """Return the module of an engine (see `Abilities.module`), or raise if its package isn't installed."""
    abilities = abilities_of(name)
    try:
        return import_module(f"rankwood.engines.{abilities.module}")
    except ModuleNotFoundError as error:
        if error.name != abilities.package:
            raise
        # LightGBM comes with every installation, and has no extra.
        what = "lightgbm" if name == "lightgbm" else f"'rankwood[{name}]'"
        raise checks.InputError(
            f"engine={name!r} needs the package {abilities.package}: pip install {what}."
        ) from None


def check(name: Any, objective: Any, unlisted: bool = False) -> None:
    """Raise unless an engine is installed and can train an objective.

    `unlisted` tells whether queries have documents that are not in the lists, which ideals of metrics count.
    """
    abilities = abilities_of(name)
    # The units come first, so that no one installs an engine that can't help.
    if unit_of(objective) not in abilities.units:
        raise _cannot_train(name, unit_of(objective))
    module = find(name)
    if abilities.takes_gradients:
        return
    module.native(objective)
    if unlisted and has_ideal(objective):
        raise checks.InputError(
            f"engine={name!r} has losses of its own, whose ideal is that of the lists alone; leave out "
            "`unlisted` (in TwoStage: ideal='list') or take another engine."
        )


def _cannot_train(name: str, unit: Unit) -> checks.InputError:
    """Return the error for an engine that can't train objectives of a unit."""
    if unit == "documents":
        return checks.InputError(
            f"engine={name!r} trains objectives of pairs only: write bi- before the name of an objective, as in "
            "'bi-lambdarank-ndcg@5', or take another engine."
        )
    return checks.InputError(
        f"engine={name!r} can't train objectives of pairs (bi-...). {engines_that_can(unit)}"
    )


def engines_that_can(unit: Unit) -> str:
    """Return a sentence with the engines that train every objective of a unit."""
    able = [
        name
        for name, abilities in ENGINES.items()
        if unit in abilities.units and abilities.takes_gradients
    ]
    return f"Engines that can: {', '.join(able)}."


def check_params(name: str, params: dict[str, Any], objective: Any) -> None:
    """Raise unless an engine has these parameters; `start` raises the same errors, but needs the data."""
    constraints.check(name, abilities_of(name).constraints, params, objective)
    find(name).check_params(constraints.renamed(params), objective)


def check_synonyms(name: str, given: Iterable[str]) -> None:
    """Raise if two of the given parameters are one parameter of an engine."""
    real_name = getattr(find(name), "real_name", str)
    seen: dict[str, str] = {}
    # Other names of these two are refused in any case, with a sentence of their own.
    refused = {real_name("n_jobs"), real_name("random_state")}
    for word in given:
        real = constraints.KIND.get(word) or real_name(word)
        if real in seen and real not in refused:
            raise checks.InputError(
                f"{seen[real]} and {word} are the same parameter: give one of them."
            )
        seen[real] = word


def check_columns(params: dict[str, Any], data: RankingData) -> None:
    """Raise unless data has the features that parameters of an engine refer to, by name or number."""
    _parameters.categorical(params.get("categorical_feature"), data)
    constraints.by_number(params, data)
    if params.get("differences") is not None:
        from rankwood.engines.pair_lists import columns_of  # it imports this module

        columns_of(params["differences"], data.feature_names, data.n_features)


def refuse_categories(data: RankingData, who: str) -> None:
    """Raise if data has categorical features, and `who` subtracts and orders the values of a feature."""
    if data.categories:
        name = next(iter(data.categories))
        raise checks.InputError(
            f"feature {name!r} is categorical, and {who} take numbers only: leave it out, make a column of 0 and 1 of "
            "each category, or train an objective of documents on LightGBM, XGBoost or CatBoost."
        )


def start(name: str, params: dict[str, Any], task: TrainingTask) -> Engine:
    """Begin a training run."""
    if unit_of(task.objective) == "pairs":
        refuse_categories(task.train, "models of pairs")
    constraints.check(name, abilities_of(name).constraints, params, task.objective)
    engine: Engine = find(name).start(constraints.by_number(params, task.train), task)
    return engine
