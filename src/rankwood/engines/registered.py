"""Learners of users: a model that turns features into scores, and a step that improves it by gradients."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from rankwood._kernels.named import NAME, Parameter
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.data.source import Source
from rankwood.engines import _parameters
from rankwood.engines.base import (
    ENGINES,
    Abilities,
    Diverged,
    Gradients,
    LearnerDefaults,
    RunState,
    TrainingTask,
    refuse_categories,
)

L = TypeVar("L", bound="type[GradientLearner]")

#: Parameters of Ranker that every learner may use.
_SHARED = ("learning_rate", "random_state", "n_jobs")
#: Parameters of Ranker about trees, and their defaults, which a learner without trees ignores.
OF_TREES = MappingProxyType(
    {
        **{"num_leaves": 31, "max_depth": -1, "min_child_samples": 20, "min_child_weight": 1e-3},
        **{"reg_alpha": 0.0, "reg_lambda": 0.0, "subsample": 1.0, "colsample_bytree": 1.0},
    }
)
#: Kinds of arrays that a file can hold: floats, whole numbers, booleans.
_KINDS = "fiub"


class LearnedModel(ABC):
    """A model of a learner of your own: a few arrays, and a function of them and of the features.

    A subclass defines `scores`. Files hold the arrays; numbers are read bit-identically.

    Parameters
    ----------
    n_features : int
        Number of features.
    **arrays
        All that the model has learned; each array is an attribute of its name, and can't be changed.

    Examples
    --------
    >>> from rankwood.extend import LearnedModel
    >>> class Sum(LearnedModel):
    ...     def scores(self, X):
    ...         return X.sum(axis=1) * self.factor
    >>> Sum(2, factor=2.0).predict([[1, 2], [3, 4]]).tolist()
    [6.0, 14.0]
    """

    #: Scores of documents don't depend on the other documents of a query.
    needs_groups = False

    def __init__(self, n_features: int, **arrays: Any) -> None:
        self.n_features = n_features
        self._names = tuple(arrays)
        for name, values in arrays.items():
            if hasattr(LearnedModel, name) or name == "_names":
                raise checks.InputError(
                    f"every model has {name!r} already, so no array of {type(self).__name__} can have this name: "
                    "choose another one."
                )
            array = np.array(values)
            if array.dtype.kind not in _KINDS:
                raise checks.InputError(f"{name} must be an array of numbers, got {array.dtype}.")
            array.setflags(write=False)
            setattr(self, name, array)

    def __getattr__(self, name: str) -> np.ndarray:
        """Say what there is; arrays are attributes, so that this is called for other names only."""
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    @abstractmethod
    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per row: the higher, the better.

        Parameters
        ----------
        X : array of float64, of shape (n_documents, n_features)
            Features, row by row in memory; missing values are NaN.

        Returns
        -------
        array
            The scores.
        """

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row, of any matrix.

        Parameters
        ----------
        X : matrix
            Features, dense or sparse.
        groups, n_jobs
            Queries and number of threads, which most models don't need.

        Returns
        -------
        array of float64
            The scores.
        """
        return np.asarray(self.scores(plain_matrix(X)), dtype=np.float64)

    def importances(self) -> np.ndarray | None:
        """Return how much each feature matters, as numbers that aren't negative.

        Returns
        -------
        array or None
            One number per feature; None, the default, if the model doesn't know.
        """
        return None

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model.

        Returns
        -------
        dict
            An object for JSON.
        """
        arrays = {name: getattr(self, name) for name in self._names}
        held = {
            name: {"dtype": a.dtype.str, "shape": a.shape, "values": a.ravel().tolist()}
            for name, a in arrays.items()
        }
        return {"model": json.dumps({"n_features": self.n_features, "arrays": held})}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the model that a file holds.

        Parameters
        ----------
        text : str
            The field ``"model"`` of `content`.

        Returns
        -------
        LearnedModel
            The model.
        """
        held = json.loads(text)
        arrays = {
            name: np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
            for name, value in held["arrays"].items()
        }
        return cls(int(held["n_features"]), **arrays)


class GradientLearner(LearnerDefaults, ABC):
    """A learner of your own: a model before the first round, and a step that improves a model by gradients.

    A subclass defines `first_model` and `improve`. The model of a round is the whole state of a run, so that early
    stopping, checkpoints and warm starts need nothing more.

    Parameters
    ----------
    params : dict
        Values of ``learning_rate``, ``random_state`` and ``n_jobs``, and of the parameters that were registered.
    task : TrainingTask
        The data and the objective.

    Attributes
    ----------
    params : dict
        The same values.
    X : array of float64, of shape (n_documents, n_features)
        Features of the training data; missing values are NaN.
    train : Source
        The training data; ``train.y`` are its labels.
    rounds : int
        The rounds that are done. A learner that draws draws from ``numpy.random.default_rng([seed, rounds])``, and its
        runs can be resumed.

    Examples
    --------
    A learner that makes the only number of its model larger:

    >>> from rankwood.extend import GradientLearner, LearnedModel
    >>> class Scaled(LearnedModel):
    ...     def scores(self, X):
    ...         return X[:, 0] * self.factor
    >>> class Larger(GradientLearner):
    ...     def first_model(self):
    ...         return Scaled(self.X.shape[1], factor=0.0)
    ...     def improve(self, model, gradients, hessians):
    ...         return Scaled(model.n_features, factor=model.factor + self.params["learning_rate"])
    """

    step_name = "steps"

    def __init__(self, params: Mapping[str, Any], task: TrainingTask) -> None:
        self.params = dict(params)
        self.train: Source = task.train
        self.X = plain_matrix(task.train.matrix())
        self._valid = None if task.valid is None else plain_matrix(task.valid.matrix())
        self.rounds = 0
        self._best_round: int | None = None
        #: Models by round: the best one, the last one, and the one before it, if the last one isn't complete.
        self._models: dict[int, LearnedModel] = {}

    @abstractmethod
    def first_model(self) -> LearnedModel:
        """Return the model before the first round.

        Returns
        -------
        LearnedModel
            The model.
        """

    @abstractmethod
    def improve(self, model: Any, gradients: np.ndarray, hessians: np.ndarray) -> LearnedModel:
        """Return the model after a round.

        Parameters
        ----------
        model : LearnedModel
            The model before the round.
        gradients, hessians : array of float64
            First and second derivatives of the objective by the scores of the rows of `X`.

        Returns
        -------
        LearnedModel
            A new model; `model` itself if there is nothing left to learn.
        """

    def begin(self, before: RunState | None, read: Callable[[str], LearnedModel]) -> None:
        """Start with the first model, or resume an earlier run.

        Parameters
        ----------
        before : RunState or None
            The earlier run.
        read : callable
            Reads a model from its text.
        """
        self._models = {0: self.first_model()} if before is None else {}
        if before is not None:
            self.rounds = before.rounds
            if "best" in before.arrays:
                self._best_round = int(before.arrays["best_round"][0])
                self._models[self._best_round] = read(before.arrays["best"].tobytes().decode())
            self._models[self.rounds] = read(before.text)
        self._scores = self._models[self.rounds].predict(self.X)

    def step(self, gradients: Gradients) -> bool:
        """Train a round.

        Parameters
        ----------
        gradients : callable
            Returns gradients and Hessians of scores.

        Returns
        -------
        bool
            False if there is nothing left to learn.
        """
        before = self._models[self.rounds]
        grad, hess = gradients(self._scores)
        after = self.improve(before, grad.astype(np.float64), hess.astype(np.float64))
        scores = after.predict(self.X)
        if not np.isfinite(scores).all():
            raise Diverged(
                f"round {self.rounds + 1} ended in scores that aren't finite",
                "use a smaller learning_rate.",
            )
        kept = {self._best_round, self.rounds}
        models = {number: model for number, model in self._models.items() if number in kept}
        self._models = {**models, self.rounds + 1: after}
        self._scores = scores
        self.rounds += 1
        return after is not before

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round.

        Returns
        -------
        array
            One score per row.
        """
        X = self._valid
        return np.zeros(0) if X is None else self._models[self.rounds].predict(X)

    def remember(self, rounds: int) -> None:
        """Keep the model of this round, the best one so far.

        Parameters
        ----------
        rounds : int
            The round.
        """
        self._best_round = rounds

    def model(self, rounds: int) -> LearnedModel:
        """Return the model of a round that is kept: the best one, the last one, or the one before it.

        Parameters
        ----------
        rounds : int
            The round.

        Returns
        -------
        LearnedModel
            The model.
        """
        if rounds not in self._models:
            raise checks.InputError(
                f"the model of round {rounds} is lost, as its run had no early stopping: keep "
                "early_stopping_rounds as it was, or start over."
            )
        return self._models[rounds]

    def state(self, rounds: int) -> RunState | None:
        """Return what resumes after a round.

        Parameters
        ----------
        rounds : int
            The round.

        Returns
        -------
        RunState or None
            The state; None if it is lost.
        """
        if rounds not in self._models:
            return None
        arrays: dict[str, np.ndarray] = {}
        if self._best_round is not None:
            best = text_of(self._models[self._best_round])
            arrays["best"] = np.frombuffer(best.encode(), np.uint8)
            arrays["best_round"] = np.array([self._best_round])
        return RunState(rounds, text_of(self._models[rounds]), arrays)


class RegisteredEngine(NamedTuple):
    """What `engines.base.find` returns for a registered learner; it has the functions of an engine's module."""

    name: str
    learner: type[GradientLearner]
    model: type[LearnedModel]
    parameters: tuple[Parameter, ...] = ()

    def start(self, params: Mapping[str, Any], task: TrainingTask) -> GradientLearner:
        """Begin a training run."""
        refuse_categories(task.train, f"models of engine={self.name!r}")
        learner = self.learner(self.checked(params), task)
        learner.begin(task.before, self.load)
        return learner

    def check_params(self, params: Mapping[str, Any], objective: Any) -> None:
        """Raise unless the learner has these parameters."""
        self.checked(params)

    def load(self, text: str) -> LearnedModel:
        """Return the model that `text` holds."""
        try:
            return self.model.from_text(text)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
            raise checks.InputError(
                f"'model' is not a model of engine={self.name!r}; was its class changed?"
            ) from None

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters of the learner; raise if others are given."""
        described = {parameter.name: parameter for parameter in self.parameters}
        for name, value in params.items():
            if name in described or name in _SHARED or value is None:
                continue
            if name not in OF_TREES:
                known = {*described, *_SHARED, "n_estimators"}
                raise _parameters.unknown(f"engine={self.name!r}", name, known)
            _parameters.lacks(
                f"engine={self.name!r}", name, value, OF_TREES[name], "leave it at its default"
            )
        values = {name: params.get(name) for name in _SHARED}
        for name, parameter in described.items():
            value = params.get(name)
            values[name] = parameter.check(parameter.default if value is None else value, name)
        return values


def register_learner(
    name: str,
    model: type[LearnedModel],
    *,
    parameters: Iterable[Parameter] = (),
    space: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[L], L]:
    """Give a learner a name, by which ``Ranker(engine=name)`` trains it.

    It then trains every objective of documents, with early stopping, callbacks, checkpoints, model files, `tune`,
    `compare` and `TwoStage`. The result decorates a subclass of `GradientLearner`.

    Parameters
    ----------
    name : str
        A name that no engine has: a letter, then letters, digits, ``_``, ``-`` and ``+``.
    model : type
        The subclass of `LearnedModel` that the learner makes, and that files are read as.
    parameters : iterable of Parameter
        Parameters beyond ``learning_rate``, ``random_state`` and ``n_jobs``: keywords of `Ranker` that it has no
        meaning for, or names of its own parameters about trees, such as ``reg_lambda``, that the learner uses too.
    space : dict
        What `tune` searches beside ``learning_rate``: ranges of `rankwood.spaces` by parameter.

    Returns
    -------
    callable
        A decorator that registers a class and returns it.

    Raises
    ------
    InputError
        If there is an engine of this name; but a class that is registered again, by a notebook that runs a cell twice,
        replaces its earlier self.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.extend import GradientLearner, LearnedModel, register_learner
    >>> class OneFeature(LearnedModel):
    ...     def scores(self, X):
    ...         return X[:, 3] * self.factor
    >>> @register_learner("one-feature", OneFeature)
    ... class OneFeatureLearner(GradientLearner):
    ...     def first_model(self):
    ...         return OneFeature(self.X.shape[1], factor=0.0)
    ...     def improve(self, model, gradients, hessians):
    ...         slope = (self.X[:, 3] * gradients).sum()
    ...         factor = model.factor - self.params["learning_rate"] * slope
    ...         return OneFeature(model.n_features, factor=factor)
    >>> ranker = rw.Ranker(engine="one-feature", n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> ranker.best_iteration_
    3
    """
    if not isinstance(name, str) or not re.fullmatch(NAME, name) or name == "neural":
        raise checks.InputError(
            f"learner {name!r} can't be registered: a name starts with a letter, letters, digits, '_', '-' and '+' "
            "may follow, and 'neural' stands for networks."
        )

    def decorate(learner: L) -> L:
        if not issubclass(learner, GradientLearner) or not issubclass(model, LearnedModel):
            raise checks.InputError(
                f"learner {name!r} can't be registered: expected a subclass of GradientLearner, and one of "
                "LearnedModel for its models."
            )
        row = ENGINES.get(name)
        if row is not None and not _is_again(row.registered, learner):
            raise checks.InputError(f"there is an engine {name!r} already; choose another name.")
        engine = RegisteredEngine(name, learner, model, tuple(parameters))
        ENGINES[name] = Abilities("", "", registered=engine, space=dict(space))
        return learner

    return decorate


def plain_matrix(X: Any) -> np.ndarray:
    """Return features as float64, row by row in memory: sums over a row don't depend on the layout of X then."""
    return np.ascontiguousarray(_parameters.dense(X), dtype=np.float64)


def text_of(model: LearnedModel) -> str:
    """Return the text of a model, as files hold it."""
    return str(model.content()["model"])


def _is_again(row: RegisteredEngine | None, learner: type) -> bool:
    """Tell whether a registered learner is this class, or the same one of an earlier run of its code."""
    if row is None:
        return False
    before = row.learner
    return (before.__module__, before.__qualname__) == (learner.__module__, learner.__qualname__)
