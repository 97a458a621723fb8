"""Stock CatBoost, with losses of its own that equal our objectives.

CatBoost trains all rounds in one call. The call runs on a thread of its own, which waits after each round until
`step` starts the next. Scores come from a metric of ours: after each round, CatBoost evaluates it on the training
data and then on the validation data.
"""

import threading
from queue import SimpleQueue
from typing import Any

import catboost as cb
import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.data.source import Source
from rankwood.engines import _parameters
from rankwood.engines.base import Gradients, LearnerDefaults, RunState, TrainingTask
from rankwood.engines.catboost.losses import Native, native
from rankwood.engines.catboost.model import CatBoostModel, plain_errors, pool_features
from rankwood.engines.catboost.model import load as load
from rankwood.engines.catboost.parameters import by_new_number, translate
from rankwood.engines.catboost.parameters import real_name as real_name
from rankwood.engines.lightgbm import langevin
from rankwood.objectives.units import reads_pairs


class CatBoostEngine(LearnerDefaults):
    """One training run of CatBoost."""

    uses_gradients = False
    #: CatBoost trains in one call, and has no model before the call returns.
    has_models_midway = False

    def __init__(self, params: dict[str, Any], loss: Native, task: TrainingTask) -> None:
        params = dict(params)
        self._columns = _parameters.categorical(params.pop("categorical_feature", None), task.train)
        if "monotone_constraints" in params:
            directions = enumerate(params["monotone_constraints"])
            params["monotone_constraints"] = by_new_number(dict(directions), self._columns)
        self._recorded = task.recorded
        self._symmetric = params.get("grow_policy", "SymmetricTree") == "SymmetricTree"
        labels, valid = loss.labels(task.train.y), task.valid
        with_pairs = reads_pairs(task.objective)

        def pools() -> tuple[Any, Any]:
            train = self._pool(task.train, task.groups, labels, with_pairs)
            # Only our metrics read validation labels: CatBoost gets some that are cheap and not all equal.
            return train, valid and self._pool(valid, valid.groups, np.eye(1, len(valid))[0])

        with plain_errors():
            key = (self._columns, labels.tobytes(), with_pairs)
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

    def _pool(self, data: Source, groups: Groups, y: np.ndarray, with_pairs: bool = False) -> Any:
        """Return data as CatBoost takes it: the rows of a query are consecutive."""
        rows = groups.rows
        X = data.matrix()
        X = X if np.array_equal(rows, np.arange(rows.size)) else X[rows]
        weight = None if data.weight is None else np.repeat(data.weight, groups.sizes)
        weights: dict[str, Any] = {"group_weight": weight}
        if data.sample_weight is not None:
            weights = {"weight": data.sample_weight[rows] * (1.0 if weight is None else weight)}
        if with_pairs:
            weights = _pairs(data, groups)
        query = np.repeat(np.arange(groups.ids.size), groups.sizes)
        return cb.Pool(pool_features(X, self._columns), y[rows], group_id=query, **weights)

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

    def step(self, gradients: Gradients) -> bool:
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
            with plain_errors():
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
            # CatBoost can truncate ensembles of symmetric trees only; `predict` omits what else is in the model.
            if self._symmetric:
                self._model.shrink(rounds)
            if scale != 1.0:
                self._model.set_scale_and_bias(1.0 / scale, 0.0)
        return CatBoostModel.of(self._model, rounds, self._columns)

    def state(self, rounds: int) -> RunState | None:
        """Return None: CatBoost has no model before training ends."""
        return None

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


def _pairs(data: Source, groups: Groups) -> dict[str, Any]:
    """Return the pairs of data as a pool takes them; with pairs, CatBoost ignores the weights of queries."""
    pairs = data.pairs
    assert pairs is not None  # whoever computes the gradients has raised an error before
    place = np.empty(groups.rows.size, np.int64)
    place[groups.rows] = np.arange(groups.rows.size)
    factor = 1.0 if data.weight is None else groups.per_row(data.weight)[pairs.winner]
    rows = np.column_stack([place[pairs.winner], place[pairs.loser]])
    return {"pairs": rows, "pairs_weight": pairs.weight * factor}


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


def start(params: dict[str, Any], task: TrainingTask) -> CatBoostEngine:
    """Begin a training run; parameters have the shared names or CatBoost's own."""
    loss, real = _parse_params(params, task.objective)
    weighted = task.train.weight is not None
    if loss.name not in ("QueryRMSE", "RMSE") and task.train.sample_weight is not None:
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
                "LambdaMart has gradients of the wrong sign; omit leaf_estimation_method, or"
            )
    return loss, real


def _refused(why: str) -> checks.InputError:
    """Return the error for a loss of CatBoost's own that would train something else."""
    return checks.InputError(f"CatBoost's {why} use engine='lightgbm'.")
