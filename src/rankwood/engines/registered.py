"""Learners that users register: a step that improves a model by gradients, and a name for it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rankwood._kernels.named import NAME, Parameter
from rankwood._util import checks, interrupts
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
from rankwood.engines.learned_model import LearnedModel, plain_matrix, text_of

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
#: Other parameters of Ranker, which are never a learner's.
OF_RANKER = (
    *("objective", "engine", "n_estimators", "eval_metric", "early_stopping_rounds", "shuffle"),
    *("record", "warm_start", "verbose"),
)


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

    def begin(self, before: RunState | None, engine: "RegisteredEngine") -> None:
        """Start with the first model, or resume an earlier run.

        Parameters
        ----------
        before : RunState or None
            The earlier run.
        engine : RegisteredEngine
            Has the class of the models, and reads a model from its text.
        """
        self._engine, read = engine, engine.load
        self._models = (
            {} if before is not None else {0: self._checked(self.first_model(), "first_model")}
        )
        if before is not None:
            self.rounds = before.rounds
            if "best" in before.arrays:
                self._best_round = int(before.arrays["best_round"][0])
                self._models[self._best_round] = read(before.arrays["best"].tobytes().decode())
            self._models[self.rounds] = read(before.text)
        self._scores = self._models[self.rounds].predict(self.X)
        if not np.isfinite(self._scores).all():
            raise checks.InputError(
                f"engine={engine.name!r}: the scores of its first model aren't finite."
            )

    def _checked(self, model: Any, method: str) -> LearnedModel:
        """Return a model that a method returned; raise unless it is of the registered class."""
        if type(model) is not self._engine.model:
            raise checks.InputError(
                f"{method} of engine={self._engine.name!r} must return a {self._engine.model.__name__}, got "
                f"{type(model).__name__}."
            )
        return model

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
        with interrupts.released():  # nothing of the round is kept yet
            improved = self.improve(before, grad.astype(np.float64), hess.astype(np.float64))
        after = self._checked(improved, "improve")
        scores = after.predict(self.X)
        valid_scores = np.zeros(0) if self._valid is None else after.predict(self._valid)
        if not (np.isfinite(scores).all() and np.isfinite(valid_scores).all()):
            raise Diverged(
                f"round {self.rounds + 1} ended in scores that aren't finite",
                "use a smaller learning_rate.",
            )
        kept = {self._best_round, self.rounds}
        models = {number: model for number, model in self._models.items() if number in kept}
        self._models = {**models, self.rounds + 1: after}
        self._scores, self._valid_scores = scores, valid_scores
        self.rounds += 1
        return after is not before

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round.

        Returns
        -------
        array
            One score per row.
        """
        return self._valid_scores

    def remember(self, rounds: int) -> None:
        """Keep the model of this round, the best one so far.

        Parameters
        ----------
        rounds : int
            The round.
        """
        if rounds not in self._models:
            raise checks.InputError(
                f"the model of round {rounds} is lost, as its run had no early stopping: keep "
                "early_stopping_rounds as it was, or start over."
            )
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
        learner.begin(task.before, self)
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
        _check_parameters(engine)
        ENGINES[name] = Abilities("", "", registered=engine, space=dict(space))
        return learner

    return decorate


def _check_parameters(engine: RegisteredEngine) -> None:
    """Raise if a parameter would never reach the learner, as Ranker has one of its name."""
    for parameter in engine.parameters:
        name = parameter.name
        if name in _SHARED or name in OF_RANKER:
            raise checks.InputError(
                f"learner {engine.name!r} can't have a parameter {name!r}: Ranker has it, and every learner gets "
                f"{', '.join(_SHARED)}."
            )
        if name in OF_TREES and parameter.default != OF_TREES[name]:
            raise checks.InputError(
                f"the parameter {name!r} of learner {engine.name!r} must have the default of Ranker, "
                f"{OF_TREES[name]!r}, got {parameter.default!r}."
            )


def _is_again(row: RegisteredEngine | None, learner: type) -> bool:
    """Tell whether a registered learner is this class, or the same one of an earlier run of its code."""
    if row is None:
        return False
    before = row.learner
    return (before.__module__, before.__qualname__) == (learner.__module__, learner.__qualname__)
