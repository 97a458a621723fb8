"""What the rest of the package knows of an engine: a learner that grows trees for an objective, round by round."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankwood._util import checks
from rankwood._util.run_cache import RunCache, TempFolder
from rankwood.data.groups import Groups
from rankwood.data.source import Source
from rankwood.engines import _parameters, constraints
from rankwood.engines.sharing import ClusterMember
from rankwood.objectives._kernels.plan import has_ideal
from rankwood.objectives.units import Unit, unit_of

#: What an engine calls in each round: scores of the documents in, gradients and Hessians out.
Gradients = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
T = TypeVar("T")


class RunState(NamedTuple):
    """A training run after some rounds, from which a learner resumes bit-identically."""

    rounds: int
    #: All trees, as the engine wrote them; of a network, what isn't an array.
    text: str
    #: Other numbers that the learner needs, by name.
    arrays: dict[str, np.ndarray]


class TrainingTask(NamedTuple):
    """What to learn; an engine that uses gradients needs no more of it than the data."""

    train: Source
    #: Rows of the training data by query, in the order in which ties are ranked.
    groups: Groups
    valid: Source | None
    objective: Any
    rounds: int
    #: Whether the gradients of each round are recorded, even if the learner computes its own.
    recorded: bool = False
    #: What earlier runs on the same data, seed and number of threads have left.
    shared: RunCache | None = None
    #: An earlier run on the same data with the same parameters, which is resumed.
    before: RunState | None = None
    #: A folder for files of the learner, removed after training.
    folder: TempFolder | None = None
    #: The worker of a cluster that this process is; None if it trains alone.
    member: ClusterMember | None = None

    def once(self, kind: str, key: Any, make: Callable[[], T]) -> T:
        """Return what `make` returns, or what it returned in an earlier run for the same kind and an equal key."""
        return make() if self.shared is None else self.shared.once(kind, key, make)


class Model(Protocol):
    """A trained model, which can predict and can be written to a file."""

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model, as an object for JSON."""

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

    def importances(self) -> np.ndarray | None:
        """Return the total gain of the splits on each feature; None if the model has no such thing."""


class TextModel(ABC):
    """A `Model` whose text is its whole state; the engine's own object is read from it on first use."""

    needs_groups = False
    _booster: Any = None
    _copy: Any = None

    def __init__(self, text: str) -> None:
        self.text = text

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_booster": None, "_copy": None}

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model."""
        return {"model": self.text}

    def loaded(self) -> Any:
        """Return the engine's own object."""
        if self._booster is None:
            self._booster = self._read()
        return self._booster

    @property
    def booster(self) -> Any:
        """A copy of the engine's own object: whoever changes it changes nothing here."""
        if self._copy is None:
            self._copy = self._read()
        return self._copy

    @abstractmethod
    def _read(self) -> Any:
        """Return the engine's own object, read from the text."""


class Learner(Protocol):
    """One training run as the loop over rounds sees it: trees of any engine, a network, or a registered learner."""

    #: False if later rounds change earlier ones, so that an earlier round can't be restored.
    keeps_rounds: bool
    #: False if the learner has losses of its own, and our gradients are for the record.
    uses_gradients: bool
    #: False if `model` ends training.
    has_models_midway: bool
    #: What `seconds_` calls the time of its steps.
    step_name: str

    @property
    def setup_seconds(self) -> dict[str, float]:
        """The time spent before the first round, by the steps that a round has."""

    def step(self, gradients: Gradients) -> bool:
        """Train a round: grow a tree, or train an epoch. Return False if there is nothing left to learn."""

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""

    def model(self, rounds: int) -> Model:
        """Return the model of the first `rounds` rounds: of the remembered round, the last, or the one before it."""

    def remember(self, rounds: int) -> None:
        """Note that `model(rounds)` may be called later: this round is the best so far.

        It is the last one, or one of an earlier run, whose state has its model.
        """

    def state(self, rounds: int) -> RunState | None:
        """Return what resumes after this many complete rounds, as `TrainingTask.before`.

        An interrupt may have left a round that isn't complete. None if the state of these rounds is lost.
        """


class LearnerDefaults:
    """What most learners of trees say of themselves."""

    keeps_rounds: bool = True
    uses_gradients: bool = True
    has_models_midway: bool = True
    step_name: str = "trees"

    @property
    def setup_seconds(self) -> dict[str, float]:
        """The steps of a round; nothing that comes before the first round is counted."""
        return {"gradients": 0.0, self.step_name: 0.0}

    def remember(self, rounds: int) -> None:
        """Do nothing: the trees of an earlier round are a part of those of a later one."""


class Diverged(Exception):
    """A round ended in numbers that aren't finite, and doesn't count; `advice` says what may help."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.advice = advice


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
    #: A registered learner, with the functions of an engine's module; see `engines/registered.py`.
    registered: Any = None
    #: What `tune` searches beside the learning rate, for a registered learner.
    space: Mapping[str, Any] = MappingProxyType({})


#: All engines, in the order in which errors suggest them; `register_learner` adds to them.
ENGINES = {
    "rankwood": Abilities(
        "trees.engine",
        "",
        units=("documents", "pairs"),
        constraints=("monotone", "interactions"),
        streams=True,
    ),
    "pairtree": Abilities("pairtree.engine", "", units=("pairs",)),
    "lightgbm": Abilities(
        "lightgbm.engine",
        "lightgbm",
        # Otherwise LightGBM drops features that can't split leaves of the smallest size, which may be tuned.
        sharing=MappingProxyType({"feature_pre_filter": False}),
        constraints=("monotone", "interactions"),
        streams=True,
    ),
    "xgboost": Abilities(
        "xgboost.engine",
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


def default_engine(objective: Any) -> str:
    """Return the engine that trains an objective unless another one is named."""
    return "pairtree" if unit_of(objective) == "pairs" else "lightgbm"


def find(name: Any) -> Any:
    """Return the module of an engine (see `Abilities.module`), or raise if its package isn't installed."""
    abilities = abilities_of(name)
    if abilities.registered is not None:
        return abilities.registered
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
            f"engine={name!r} has losses of its own, whose ideal is that of the lists alone; omit "
            "`unlisted` (in TwoStage: ideal='list') or use another engine."
        )


def _cannot_train(name: str, unit: Unit) -> checks.InputError:
    """Return the error for an engine that can't train objectives of a unit."""
    if unit == "documents":
        return checks.InputError(
            f"engine={name!r} trains objectives of pairs only: write bi- before the name of an objective, as in "
            "'bi-lambdarank-ndcg@5', or use another engine."
        )
    return checks.InputError(
        f"engine={name!r} can't train objectives of pairs (bi-...): omit engine, or use engine='pairtree'."
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
    # Other names of these two are refused in any case, with an error message of their own.
    refused = {real_name("n_jobs"), real_name("random_state")}
    for word in given:
        real = constraints.KIND.get(word) or real_name(word)
        if real in seen and real not in refused:
            raise checks.InputError(
                f"{seen[real]} and {word} are the same parameter: give one of them."
            )
        seen[real] = word


def check_columns(params: dict[str, Any], data: Source) -> None:
    """Raise unless data has the features that parameters of an engine refer to, by name or number."""
    _parameters.categorical(params.get("categorical_feature"), data)
    constraints.by_number(params, data)
    if params.get("differences") is not None:
        from rankwood.engines.pair_lists import columns_of  # it imports this module

        columns_of(params["differences"], data.feature_names, data.n_features)


def refuse_categories(data: Source, who: str) -> None:
    """Raise if data has categorical features, and `who` subtracts and orders the values of a feature."""
    if data.categories:
        name = next(iter(data.categories))
        raise checks.InputError(
            f"feature {name!r} is categorical, and {who} take numbers only: omit it, make a column of 0 and 1 of "
            "each category, or train an objective of documents on LightGBM, XGBoost or CatBoost."
        )


def start(name: str, params: Mapping[str, Any], task: TrainingTask) -> Learner:
    """Begin a training run."""
    if unit_of(task.objective) == "pairs":
        refuse_categories(task.train, "models of pairs")
    given = dict(params)
    constraints.check(name, abilities_of(name).constraints, given, task.objective)
    learner: Learner = find(name).start(constraints.by_number(given, task.train), task)
    return learner
