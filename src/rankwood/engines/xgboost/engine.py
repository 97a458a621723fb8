"""Stock XGBoost, with our gradients."""

import json
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.engines import _parameters, constraints, forks
from rankwood.engines._errors import not_resumable
from rankwood.engines.base import (
    Gradients,
    LearnerDefaults,
    RunState,
    TextModel,
    TrainingTask,
)
from rankwood.engines.exact_sums import exact
from rankwood.engines.round_seeds import XGBoostDraws
from rankwood.engines.xgboost import text_check as xgboost_text
from rankwood.engines.xgboost.parameters import plain_errors, translate
from rankwood.engines.xgboost.parameters import real_name as real_name

with _parameters.passive_threads():
    import xgboost as xgb

forks.watch()


class XGBoostEngine(LearnerDefaults):
    """One training run of XGBoost."""

    def __init__(self, params: dict[str, Any], task: TrainingTask) -> None:
        params = {name: _text(name, value) for name, value in params.items()}
        self.keeps_rounds = params.get("booster", "gbtree") == "gbtree"
        columns = _parameters.whole(params.pop("categorical_feature", None), task.train)
        kinds = ["c" if i in columns else "q" for i in range(task.train.n_features)]
        self._member, self._params = task.member, params
        self._draws = XGBoostDraws(params, None if task.member is None else task.member.rows)
        if task.before is not None:
            _check_resumable(params)
        with plain_errors():
            matrices = _matrices(params, kinds if columns else None, task)
            self._train, self._valid = matrices[0], matrices[1] if len(matrices) > 1 else None
            earlier = None if task.before is None else bytearray(task.before.text.encode())
            self._booster = xgb.Booster(self._draws.params(params), matrices, model_file=earlier)
        self._rounds = 0 if task.before is None else task.before.rounds

    def step(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""
        before = []

        def objective(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            before.append(scores)
            # Other engines have scores in float64 too: kernels are compiled for one type.
            grad, hess = exact(lambda: gradients(scores.astype(np.float64)), self._member)
            return self._draws.rows(self._rounds, grad, hess)

        with plain_errors():
            self._draws.columns(self._rounds, self._train)
            self._booster.update(self._train, self._rounds, fobj=objective)
            self._rounds += 1
            moved = self._booster.predict(self._train, output_margin=True) - before[0]
            # A tree is written out, to see whether it has splits, only if it moved all scores by about the same.
            return bool(np.ptp(moved) > 1e-5 * np.abs(moved).max()) or self._has_splits()

    def state(self, rounds: int) -> RunState:
        """Return the trees of the first `rounds` rounds."""
        _check_resumable(self._params)
        return RunState(rounds, self._text(rounds), {})

    def _text(self, rounds: int) -> str:
        whole = rounds == self._booster.num_boosted_rounds()
        return (self._booster if whole else self._booster[:rounds]).save_raw("json").decode()

    def _has_splits(self) -> bool:
        """Return whether the last tree has any split."""
        last = self._booster[self._rounds - 1 : self._rounds]
        return any("yes=" in tree for tree in last.get_dump())

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        if self._valid is None or self._valid.num_row() == 0:
            return np.zeros(0)
        return self._booster.predict(self._valid, output_margin=True).astype(np.float64)

    def model(self, rounds: int) -> "XGBoostModel":
        """Return the ensemble of the first `rounds` trees."""
        return XGBoostModel(self._text(rounds))


class XGBoostModel(TextModel):
    """A trained XGBoost ensemble; its text is JSON."""

    #: The booster that predicts, and its number of threads. Another number takes another booster: to change it would
    #: take away the configuration that another thread predicts with.
    _predictor: tuple[int, Any] | None = None

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        with plain_errors("predict"):
            booster = self._with_threads(forks.engine_threads(n_jobs))
            scores = booster.inplace_predict(_parameters.dense(X), predict_type="margin")
        return scores.astype(np.float64)

    def loaded(self) -> Any:
        """Return XGBoost's own object."""
        if self._predictor is None:
            return self._with_threads(forks.engine_threads(None))
        return self._predictor[1]

    def _with_threads(self, count: int) -> Any:
        """Return a booster that predicts with so many threads."""
        if self._predictor is None or self._predictor[0] != count:
            booster = self._read()
            booster.set_param({"nthread": count})
            booster.num_features()  # parameters are read only now
            self._predictor = count, booster
            return booster
        return self._predictor[1]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.loaded().num_features())

    def importances(self) -> np.ndarray:
        """Return the total gain of the splits on each feature."""
        with plain_errors("compute importances"):
            booster = self.loaded()
            gained = booster.get_score(importance_type="total_gain")
        return np.array([gained.get(f"f{i}", 0.0) for i in range(booster.num_features())])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_predictor": None}

    def _read(self) -> Any:
        _limit_forked()
        return xgb.Booster(model_file=bytearray(self.text.encode()))


def start(params: dict[str, Any], task: TrainingTask) -> XGBoostEngine:
    """Begin a training run; parameters have the shared names or XGBoost's own."""
    _limit_forked()
    return XGBoostEngine(translate(params), task)


def reference(params: dict[str, Any], X: Any) -> Any:
    """Return some rows as binned data, whose bins other data can have."""
    with plain_errors():
        return _maker(translate(params), None)(X)


def check_share(params: dict[str, Any], objective: Any) -> None:
    """Raise unless several machines can train with these parameters."""
    given = translate(constraints.renamed(params))
    if given.get("categorical_feature") is not None or given.get("booster", "gbtree") != "gbtree":
        raise checks.InputError(
            "a cluster trains boosted trees on numbers: omit categorical_feature and booster."
        )
    if given.get("sampling_method", "uniform") != "uniform":
        raise checks.InputError(
            "a cluster needs sampling_method='uniform': XGBoost would draw rows by their number on a worker."
        )
    if given["tree_method"] != "hist":
        raise checks.InputError("a cluster needs tree_method='hist', whose bins all workers share.")


def _limit_forked() -> None:
    """Let XGBoost use one thread in a forked process, also where it has no parameter; this holds for one thread."""
    if forks.in_child():
        xgb.set_config(nthread=1)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless XGBoost has these parameters."""
    translate(params)


def load(text: str) -> XGBoostModel:
    """Return the model that `text` holds, or raise if it is damaged: XGBoost itself may not notice."""
    xgboost_text.check(text)
    model = XGBoostModel(text)
    with plain_errors("read the model"):
        model.loaded()
    return model


def _text(name: str, value: Any) -> Any:
    """Return constraints as the text that XGBoost reads."""
    if name == "monotone_constraints":
        return "(" + ",".join(map(str, value)) + ")"
    return json.dumps(value) if name == "interaction_constraints" else value


def _check_resumable(params: dict[str, Any]) -> None:
    """Raise if a run with these parameters can't be resumed bit-identically."""
    if params.get("booster", "gbtree") != "gbtree":
        raise not_resumable("booster='dart'", "later rounds change earlier trees")
    if params.get("sampling_method", "uniform") != "uniform":
        raise not_resumable(
            "sampling_method='gradient_based'", "XGBoost draws these rows by itself"
        )
    for name in ("colsample_bylevel", "colsample_bynode"):
        if params.get(name, 1) != 1:
            why = "XGBoost draws these features from a generator that outlives the round"
            raise not_resumable(name, why)


def _matrices(params: dict[str, Any], kinds: list[str] | None, task: TrainingTask) -> list[Any]:
    """Return the training data and, if there is any, the validation data as XGBoost's matrices."""

    def in_memory(X: Any) -> list[Any]:
        make = _maker(params, kinds)
        train = make(X, None if task.member is None else task.member.reference)
        if task.valid is None:
            return [train]
        # A worker without validation data has an empty matrix: to make one takes messages between all workers.
        return [train, make(task.valid.matrix(), train)]

    # Weights of features, from which a share of them is drawn, stay in a matrix.
    weighted = float(params.get("colsample_bytree", 1.0)) < 1
    key = (params["tree_method"], params.get("max_bin"), params["nthread"], kinds, weighted)
    return task.train.built(
        lambda X: task.once("binned", key, lambda: in_memory(X)),
        # Matrices of files are in a folder of the run, and end with it: no other run can share them.
        lambda files: _streamed(params, kinds, files, task),
    )


def _streamed(
    params: dict[str, Any], kinds: list[str] | None, files: Any, task: TrainingTask
) -> list[Any]:
    """Return the matrices of a stream."""
    from rankwood.engines.xgboost import streams as xgboost_streams

    if params["tree_method"] != "hist":
        raise checks.InputError(
            f"tree_method={params['tree_method']!r} needs all features in memory: use 'hist' for a stream."
        )
    options = {"nthread": params["nthread"], "max_bin": params.get("max_bin", 256)}
    return xgboost_streams.matrices(files, task, kinds, **options)


def _maker(params: dict[str, Any], kinds: list[str] | None) -> Any:
    """Return a function that makes XGBoost's matrices: binned ones, which need no copy of the values, if possible."""
    options: dict[str, Any] = {"nthread": params["nthread"]}
    if kinds is not None:
        options |= {"feature_types": kinds, "enable_categorical": True}
    if params["tree_method"] == "hist":
        options["max_bin"] = params.get("max_bin", 256)
        return lambda X, ref=None: xgb.QuantileDMatrix(_parameters.dense(X), ref=ref, **options)
    return lambda X, ref=None: xgb.DMatrix(_parameters.dense(X), **options)
