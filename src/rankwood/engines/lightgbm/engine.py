"""Stock LightGBM, with our gradients."""

import re
from typing import Any

import numpy as np

from rankwood.data.groups import Groups
from rankwood.engines import _errors, _parameters, constraints, forks
from rankwood.engines.base import (
    Gradients,
    Learner,
    LearnerDefaults,
    Model,
    RunState,
    TextModel,
    TrainingTask,
)
from rankwood.engines.lightgbm import langevin, network, resuming, text_check
from rankwood.engines.lightgbm.langevin_learner import LangevinLearner
from rankwood.engines.lightgbm.parameters import parse, translate
from rankwood.engines.lightgbm.parameters import real_name as real_name
from rankwood.engines.round_seeds import LightGBMSeeds

with _parameters.passive_threads():
    import lightgbm as lgb

# Also what LightGBM does outside of training and prediction, as when it reads a model.
forks.watch(lambda: lgb.basic._LIB.LGBM_SetMaxThreads(1))


def _reason(message: str) -> str:
    """Return what is of use in a message of LightGBM, without the place in its sources."""
    if "num_features" in message:
        return "no feature can split the data; lower min_child_samples or give more documents"
    return re.sub(r" at \S+, line \d+ \.\s*$", "", message).strip()


_plain_errors = _errors.plain_errors(
    "LightGBM", (lgb.basic.LightGBMError, TypeError, ValueError), _reason
)


class LightGBMEngine(LearnerDefaults):
    """One training run of LightGBM."""

    _continuation: resuming.Continuation | None = None

    def __init__(self, params: dict[str, Any], task: TrainingTask) -> None:
        params = dict(params)
        columns = _parameters.whole(params.pop("categorical_feature", None), task.train)
        self.keeps_rounds = params.get("boosting") != "dart"
        self._backend = backend = network.backend_for(params, task.member)
        self._params, binning = backend.params, backend.binning
        self._seeds = LightGBMSeeds(self._params, resuming.obstacle(self._params) is None)
        self._rounds = 0 if task.before is None else task.before.rounds
        first = {**self._params, **self._seeds.before(self._rounds)}
        with _plain_errors():
            if task.before is not None:
                resuming.check(params)
                unused = _datasets(binning, columns, task, construct=False)
                self._continuation = resuming.Continuation(first, unused, task.before, backend)
                return
            data, valid = task.once(
                "binned", (binning, columns), lambda: _datasets(binning, columns, task)
            )
            self._booster = backend.with_network(lambda more: lgb.Booster({**first, **more}, data))
            if valid is not None:
                self._booster.add_valid(valid, "valid")

    def step(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""

        def objective(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            # Here and not before `update`, as the first `update` of a booster draws from its generators.
            seeds = self._seeds.at(self._rounds)
            if self._rounds == 0 and not self.keeps_rounds:
                # By memory that it hasn't initialised, LightGBM decides whether it has drawn drops for the first round,
                # when there is nothing to drop. This begins DART's generator anew, after that.
                seeds = {"learning_rate": self._params.get("learning_rate", 0.1)}
            if seeds:
                self._booster.reset_parameter(seeds)
            return self._backend.gradients(lambda: gradients(scores), self._rounds)

        with _plain_errors():
            if self._continuation is None:
                more = not self._booster.update(fobj=objective)
            else:
                more = self._continuation.first_round(self._set_booster, objective)
                self._continuation = None
        self._rounds += 1
        return more

    def _set_booster(self, booster: Any) -> None:
        self._booster = booster

    def state(self, rounds: int) -> RunState:
        """Return the trees of the first `rounds` rounds."""
        resuming.check(self._params)
        return RunState(rounds, self._text(rounds or -1), {})

    def _text(self, rounds: int) -> str:
        if self._continuation is not None:
            return self._backend.text(self._continuation.text(rounds))
        text = self._backend.text(self._booster.model_to_string(num_iteration=rounds))
        return text if self.keeps_rounds else langevin.undropped(text)

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        latest: list[np.ndarray] = []

        def keep(
            scores: np.ndarray, _: Any
        ) -> tuple[str, float, bool]:  # as a metric of LightGBM's
            latest.append(scores)
            return "none", 0.0, True

        self._booster.eval_valid(feval=keep)
        return latest[0] if latest else np.zeros(0)  # a process may have no validation data

    def model(self, rounds: int) -> "LightGBMModel":
        """Return the ensemble of the first `rounds` trees."""
        return LightGBMModel(self._text(rounds))


def _datasets(
    params: dict[str, Any], columns: list[int], task: TrainingTask, construct: bool = True
) -> tuple[Any, Any]:
    """Return the training data and the validation data, if there is any, binned or about to be."""
    train, valid = task.train, task.valid
    if valid is not None and not len(valid):  # a process of a cluster may have none
        valid = None
    names = train.feature_names
    # LightGBM refuses some characters in names; the header of the model file keeps the real names.
    plain = names is not None and all(re.fullmatch(r"[\w.+/-]+", name) for name in names)
    known = {"feature_name": names if plain else "auto", "categorical_feature": columns or "auto"}

    def in_memory(X: Any) -> tuple[Any, Any]:
        bins = None if task.member is None else task.member.reference
        data = lgb.Dataset(X, train.y, reference=bins, params=dict(params), **known)
        if valid is None:
            return data, None
        return data, data.create_valid(valid.matrix(), valid.y, params=dict(params))

    def in_files(files: Any) -> tuple[Any, Any]:
        from rankwood.engines.lightgbm import streams  # most runs do without

        return streams.datasets(files, valid, params, *known.values())

    data, other = train.built(in_memory, in_files)
    if construct:
        data.construct()
        if other is not None:
            other.construct()
    return data, other


class LightGBMModel(TextModel):
    """A trained LightGBM ensemble."""

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        X = _parameters.sparse_matrix(X)
        with _plain_errors("predict"):
            return self.loaded().predict(X, num_threads=forks.engine_threads(n_jobs))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.loaded().num_feature())

    def importances(self) -> np.ndarray:
        """Return the total gain of the splits on each feature."""
        return self.loaded().feature_importance("gain")

    def _read(self) -> Any:
        return lgb.Booster(model_str=self.text)


def start(params: dict[str, Any], task: TrainingTask) -> Learner:
    """Begin a training run; parameters have the shared names or LightGBM's own."""
    parsed = parse(params)
    if task.member is not None:
        network.check(parsed.booster, task.objective)
        network.check_goes_on(task.before, task.member.processes)
        if task.member.processes == 1:
            task = task._replace(member=None)  # it has all rows: this is a run of one machine
    engine = LightGBMEngine(parsed.booster, task)
    if parsed.langevin is None:
        return engine
    return LangevinLearner(parsed.langevin, engine, task)


def reference(params: dict[str, Any], X: Any) -> Any:
    """Return some rows as binned data, whose bins other data can have."""
    _, others = langevin.separate_params(constraints.renamed(params))
    binning = network.shared_binning(translate(others))
    with _plain_errors():
        return lgb.Dataset(X, np.zeros(X.shape[0]), params=binning).construct()


def check_share(params: dict[str, Any], objective: Any) -> None:
    """Raise unless several machines can train an objective with these parameters."""
    network.check(parse(constraints.renamed(params)).booster, objective)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless an objective can be trained with these parameters."""
    parse(params)


def load(text: str) -> Model:
    """Return the model that `text` holds, or raise if it is damaged: LightGBM itself doesn't notice."""
    if text.startswith("{"):
        from rankwood.engines.lightgbm import old_pairs  # it imports this module

        return old_pairs.load_pairs_model(text)
    text_check.check(text)
    return read(text)


def read(text: str) -> LightGBMModel:
    """Return the model that a checked text holds."""
    model = LightGBMModel(text)
    with _plain_errors("read the model"):
        model.loaded()
    return model
