"""Stock CatBoost, with losses of its own that equal our objectives.

CatBoost trains all rounds in one call. The call runs on a thread of its own, which waits after each round until
`update` starts the next. Scores come from a metric of ours: after each round, CatBoost evaluates it on the training
data and then on the validation data.
"""

import base64
import json
import re
import threading
from queue import SimpleQueue
from typing import Any

import catboost as cb
import numpy as np

from rankwood._core import checks, threads
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _errors, _parameters
from rankwood.engines.base import Gradients, TextModel, TrainingTask
from rankwood.engines.catboost.losses import Native, native
from rankwood.engines.catboost.parameters import real_name as real_name
from rankwood.engines.catboost.parameters import translate
from rankwood.engines.lightgbm import langevin


def _reason(message: str) -> str:
    """Return what is of use in a message of CatBoost, without the place in its sources."""
    if "constant or ignored" in message:
        return "no feature can split the data; give more documents or features that differ"
    return _errors.one_line(re.sub(r"^\S+\.(cpp|h|pyx):\d+: ", "", message))


_plain_errors = _errors.plain_errors(
    "CatBoost", (cb.CatBoostError, KeyError, TypeError, ValueError), _reason
)


class CatBoostEngine:
    """One training run of CatBoost."""

    keeps_rounds = True
    #: CatBoost trains in one call, and has no model before the call returns.
    has_models_midway = False

    def __init__(self, params: dict[str, Any], loss: Native, task: TrainingTask) -> None:
        params = dict(params)
        self._columns = _parameters.categorical(params.pop("categorical_feature", None), task.train)
        if "monotone_constraints" in params:
            directions = enumerate(params["monotone_constraints"])
            params["monotone_constraints"] = _moved(dict(directions), self._columns)
        self._recorded = task.recorded
        self._symmetric = params.get("grow_policy", "SymmetricTree") == "SymmetricTree"
        labels, valid = loss.labels(task.train.y), task.valid

        def pools() -> tuple[Any, Any]:
            train = self._pool(task.train, task.groups, labels)
            # Only our metrics read validation labels: CatBoost gets some that are cheap and not all equal.
            return train, valid and self._pool(valid, valid.groups, np.eye(1, len(valid))[0])

        with _plain_errors():
            key = (self._columns, labels.tobytes())
            self._train, self._valid = task.once("binned", key, pools)
        self._latest = [_LatestScores(task.groups.rows)]
        if valid is not None:
            self._latest.append(_LatestScores(valid.groups.rows))
        self._model = cb.CatBoost(
            {
                **loss.params,
                **params,
                "loss_function": loss.text,
                "eval_metric": _ScoreTap(self._latest),
                "iterations": task.rounds,
            }
        )
        self._go: SimpleQueue[bool] = SimpleQueue()
        self._done: SimpleQueue[str] = SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._fit, name="catboost", daemon=True)

    def _pool(self, data: RankingData, groups: Groups, y: np.ndarray) -> Any:
        """Return data as CatBoost takes it: the rows of a query are consecutive."""
        rows = groups.rows
        X = data.X if np.array_equal(rows, np.arange(rows.size)) else data.X[rows]
        weight = None if data.weight is None else np.repeat(data.weight, groups.sizes)
        weights = {"group_weight": weight}
        if data.sample_weight is not None:
            weights = {"weight": data.sample_weight[rows] * (1.0 if weight is None else weight)}
        query = np.repeat(np.arange(groups.ids.size), groups.sizes)
        return cb.Pool(_features(X, self._columns), y[rows], group_id=query, **weights)

    def _fit(self) -> None:
        """Train all rounds; this runs on the thread."""
        try:
            self._model.fit(self._train, eval_set=self._valid, callbacks=[self])
        except BaseException as error:
            self._error = error
        self._done.put("training")

    def after_iteration(self, info: Any) -> bool:
        """Wait after a round until the next one may begin; CatBoost calls this on its thread."""
        self._done.put("round")
        return self._go.get()

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""
        if self._recorded:
            gradients(self._latest[0].scores)
        try:
            if self._thread.ident is None:
                self._thread.start()
            else:
                self._go.put(True)
            more = self._done.get() == "round"
        except BaseException:  # after an interrupt, the current round is the last
            self._stop()
            raise
        self._raise_error()
        return more

    def _raise_error(self) -> None:
        """Raise the error that ended the thread, if one did."""
        if self._error is not None:
            with _plain_errors():
                raise self._error

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        return self._latest[1].scores

    def model(self, rounds: int) -> "CatBoostModel":
        """Return the ensemble of the first `rounds` trees."""
        self._stop()
        self._raise_error()
        if rounds < self._model.tree_count_:
            scale = self._shrinkage(rounds)
            # CatBoost can truncate ensembles of symmetric trees only; `predict` leaves out what else is in the model.
            if self._symmetric:
                self._model.shrink(rounds)
            if scale != 1.0:
                self._model.set_scale_and_bias(1.0 / scale, 0.0)
        blob = base64.b64encode(self._model._serialize_model()).decode()
        held = {"trees": rounds, "categorical": self._columns, "cbm": blob}
        return CatBoostModel(json.dumps(held))

    def _shrinkage(self, rounds: int) -> float:
        """Return the factor by which later rounds have shrunk the first `rounds` trees, in Langevin boosting."""
        used = self._model.get_all_params()
        rate, later = used.get("model_shrink_rate", 0.0), np.arange(rounds, self._model.tree_count_)
        if used.get("model_shrink_mode") == "Decreasing":
            return float(np.prod(1.0 - rate / later))
        return float((1.0 - rate * used["learning_rate"]) ** later.size)

    def _stop(self) -> None:
        """End training after the current round."""
        if self._thread.is_alive():
            self._go.put(False)
            self._thread.join()


class _LatestScores:
    """The scores of a data set after the last round, in the caller's order."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self.scores = np.zeros(rows.size)

    def keep(self, scores: np.ndarray) -> None:
        """Keep scores, which come in the order of the pool: query by query."""
        self.scores = np.empty(self._rows.size)
        self.scores[self._rows] = scores


class _ScoreTap:
    """A metric that CatBoost evaluates after each round; it keeps the scores, and its value means nothing."""

    no_jit = True  # else CatBoost tries to compile it

    def __init__(self, latest: list[_LatestScores]) -> None:
        self._latest = latest
        self._turn = 0

    def __deepcopy__(self, memo: Any) -> "_ScoreTap":
        return self  # CatBoost copies its parameters

    def is_max_optimal(self) -> bool:
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        self._latest[self._turn].keep(approxes[0])
        self._turn = (self._turn + 1) % len(self._latest)
        return 0.0, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        return 0.0


class CatBoostModel(TextModel):
    """A trained CatBoost ensemble; its text is JSON: the binary model, the number of trees, categorical columns."""

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        model, trees, columns = self.loaded()
        with _plain_errors("predict"):
            return model.predict(
                _features(X, columns),
                prediction_type="RawFormulaVal",
                ntree_end=trees,
                thread_count=threads.threads(n_jobs),
            )

    def importances(self) -> np.ndarray:
        """Return how much predictions change with each feature, on average; CatBoost doesn't keep gains."""
        model, _, columns = self.loaded()
        found = np.array(model.get_feature_importance(type="PredictionValuesChange"))
        order = [*(i for i in range(found.size) if i not in columns), *columns]
        out = np.empty(found.size)
        out[order] = found
        return out

    @property
    def booster(self) -> Any:
        """The ``CatBoost`` object."""
        return self.loaded()[0]

    def _read(self) -> tuple[Any, int, list[int]]:
        """Return the model, its number of trees and its categorical columns."""
        held = json.loads(self.text)
        model = cb.CatBoost()
        model.load_model(blob=base64.b64decode(held["cbm"], validate=True))
        trees = checks.at_least(held["trees"], 0, "trees")
        columns = _parameters.column_numbers(
            held["categorical"], None, len(model.feature_names_), "categorical"
        )
        return model, min(trees, model.tree_count_), columns


def start(params: dict[str, Any], task: TrainingTask) -> CatBoostEngine:
    """Begin a training run; parameters have the shared names or CatBoost's own."""
    loss, real = _parse_params(params, task.objective)
    weighted = task.train.weight is not None
    if loss.name != "QueryRMSE" and task.train.sample_weight is not None:
        raise _refused(f"{loss.name} has weights of documents in its probabilities too;")
    if loss.name == "LambdaMart" and weighted:
        raise _refused("LambdaMart ignores the weights of queries;")
    if loss.name == "StochasticRank" and weighted:
        raise _refused(
            "StochasticRank divides by the weights of queries and doesn't multiply by them;"
        )
    return CatBoostEngine(real, loss, task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless an objective can be trained with these parameters."""
    _parse_params(params, objective)


def _parse_params(params: dict[str, Any], objective: Any) -> tuple[Native, dict[str, Any]]:
    """Return CatBoost's loss, and its parameters under its own names."""
    loss = native(objective)
    real = translate(params)
    langevin.parse(langevin.separate_params(params)[0], real.get("learning_rate", 0.1), None)
    if loss.name in ("YetiRank", "PairLogit") and real.get("monotone_constraints") is not None:
        raise _refused(f"{loss.name} doesn't keep to monotone;")
    if loss.name == "LambdaMart":
        if real["l2_leaf_reg"] > 0:
            raise _refused(
                "LambdaMart subtracts reg_lambda where it should add it; leave it at 0, or"
            )
        if real.get("leaf_estimation_method", "Newton") != "Newton":
            raise _refused(
                "LambdaMart has gradients of the wrong sign; leave out leaf_estimation_method, or"
            )
    return loss, real


def _refused(why: str) -> checks.InputError:
    """Return the error for a loss of CatBoost's own that would train something else."""
    return checks.InputError(f"CatBoost's {why} take engine='lightgbm'.")


def load(text: str) -> CatBoostModel:
    """Return the model that `text` holds, or raise if CatBoost can't read it.

    The binary model can't be checked here: its format is CatBoost's own, and a hostile one may crash CatBoost.
    """
    model = CatBoostModel(text)
    with _plain_errors("read the model"):
        model.loaded()
    return model


def _features(X: Any, columns: list[int]) -> Any:
    """Return features as CatBoost takes them: categorical ones come last, as text."""
    if not columns:
        return _parameters.sparse_matrix(X)
    X = _parameters.dense(X)
    numeric = [i for i in range(X.shape[1]) if i not in columns]
    words = np.empty((X.shape[0], len(columns)), object)
    for i, column in enumerate(columns):
        values, place = np.unique(X[:, column], return_inverse=True)
        words[:, i] = np.array([_word(value) for value in values.tolist()], object)[place]
    numbers = X[:, numeric].astype(np.float32) if numeric else None
    return cb.FeaturesData(num_feature_data=numbers, cat_feature_data=words)


def _moved(directions: dict[int, int], columns: list[int]) -> dict[int, int]:
    """Return the directions of features by their numbers in CatBoost's order, where categorical ones come last."""
    order = [i for i in directions if i not in columns]
    return {at: directions[i] for at, i in enumerate(order) if directions[i]}


def _word(value: float) -> bytes:
    """Return a category as text: whole numbers without a decimal point."""
    return repr(int(value) if value.is_integer() else value).encode()
