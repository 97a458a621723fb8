"""Stock CatBoost, with losses of its own that equal our objectives.

CatBoost trains in one call, so it does that on a thread of its own and waits after each round until the next one
is asked for. Scores come from a metric of ours, which CatBoost hands those of the training data and then those
of the validation data after each round.
"""

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import catboost as cb
import numpy as np

from rankwood._core import checks, threads
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _parameters
from rankwood.engines.base import Gradients, Task
from rankwood.engines.catboost.losses import Native, native
from rankwood.engines.catboost.parameters import translate
from rankwood.engines.lightgbm import langevin


class CatBoostEngine:
    """One training run of CatBoost."""

    keeps_rounds = True
    takes_gradients = False

    def __init__(self, params: dict[str, Any], loss: Native, task: Task) -> None:
        params = dict(params)
        self._columns = _parameters.categorical(params.pop("categorical_feature", None), task.train)
        self._recorded = task.recorded
        self._symmetric = params.get("grow_policy", "SymmetricTree") == "SymmetricTree"
        with _plain_errors():
            self._train = self._pool(task.train, task.groups, loss.labels(task.train.y))
            valid = task.valid
            # Validation labels are for our metrics: CatBoost gets some that are cheap and not all equal.
            self._valid = valid and self._pool(valid, valid.groups, np.eye(1, len(valid))[0])
        self._seen = [_Seen(task.groups.rows)] + ([_Seen(valid.groups.rows)] if valid else [])
        self._model = cb.CatBoost(
            {
                **loss.params,
                **params,
                "loss_function": loss.text,
                "eval_metric": _Look(self._seen),
                "iterations": task.rounds,
            }
        )
        self._go: SimpleQueue[bool] = SimpleQueue()
        self._done: SimpleQueue[str] = SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._fit, name="catboost", daemon=True)

    def _pool(self, data: RankingData, groups: Groups, y: np.ndarray) -> Any:
        """Return data as CatBoost takes it: queries one after the other."""
        rows, weight = groups.rows, None
        X = data.X if np.array_equal(rows, np.arange(rows.size)) else data.X[rows]
        if data.weight is not None:
            weight = np.repeat(data.weight, groups.sizes)
        query = np.repeat(np.arange(groups.ids.size), groups.sizes)
        return cb.Pool(_features(X, self._columns), y[rows], group_id=query, group_weight=weight)

    def _fit(self) -> None:
        try:
            self._model.fit(self._train, eval_set=self._valid, callbacks=[self])
        except BaseException as error:
            self._error = error
        self._done.put("training")

    def after_iteration(self, info: Any) -> bool:
        """Wait after a round for what comes next; called by CatBoost on its thread."""
        self._done.put("round")
        return self._go.get()

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""
        if self._recorded:
            gradients(self._seen[0].scores)
        try:
            if self._thread.ident is None:
                self._thread.start()
            else:
                self._go.put(True)
            more = self._done.get() == "round"
        except BaseException:  # an interrupt: the round that is under way is the last
            self._stop()
            raise
        self._raise_error()
        return more

    def _raise_error(self) -> None:
        if self._error is not None:
            with _plain_errors():
                raise self._error

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        return self._seen[1].scores

    def model(self, rounds: int) -> "CatBoostModel":
        """Return the ensemble of the first `rounds` trees."""
        self._stop()
        self._raise_error()
        if rounds < self._model.tree_count_:
            scale = self._shrinkage(rounds)
            # CatBoost can't cut other trees off: then the model holds them, and `predict` leaves them out.
            if self._symmetric:
                self._model.shrink(rounds)
            if scale != 1.0:
                self._model.set_scale_and_bias(1.0 / scale, 0.0)
        blob = base64.b64encode(self._model._serialize_model()).decode()
        held = {"trees": rounds, "categorical": self._columns, "cbm": blob}
        return CatBoostModel(json.dumps(held))

    def _shrinkage(self, rounds: int) -> float:
        """Return what the rounds after the first ones made of their trees: langevin boosting shrinks the model."""
        used = self._model.get_all_params()
        rate, later = used.get("model_shrink_rate", 0.0), np.arange(rounds, self._model.tree_count_)
        if used.get("model_shrink_mode") == "Decreasing":
            return float(np.prod(1.0 - rate / later))
        return float((1.0 - rate * used["learning_rate"]) ** later.size)

    def _stop(self) -> None:
        """Let training end after the round that is under way."""
        if self._thread.is_alive():
            self._go.put(False)
            self._thread.join()


class _Seen:
    """The last scores of a data set, in the caller's order."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self.scores = np.zeros(rows.size)

    def take(self, scores: np.ndarray) -> None:
        """Keep scores that are in the order of the queries."""
        self.scores = np.empty(self._rows.size)
        self.scores[self._rows] = scores


class _Look:
    """A metric that CatBoost asks for after each round, which only looks at the scores."""

    no_jit = True  # else CatBoost tries to compile it

    def __init__(self, seen: list[_Seen]) -> None:
        self._seen = seen
        self._turn = 0

    def __deepcopy__(self, memo: Any) -> "_Look":
        return self  # CatBoost copies its parameters

    def is_max_optimal(self) -> bool:
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        self._seen[self._turn].take(approxes[0])
        self._turn = (self._turn + 1) % len(self._seen)
        return 0.0, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        return 0.0


class CatBoostModel:
    """A trained CatBoost ensemble; its text is its whole state: the binary model, and what columns are categorical."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_model": None}

    def predict(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per row."""
        model, trees, columns = self._loaded()
        with _plain_errors("predict"):
            return model.predict(
                _features(X, columns),
                prediction_type="RawFormulaVal",
                ntree_end=trees,
                thread_count=threads.threads(n_jobs),
            )

    def importances(self) -> np.ndarray:
        """Return how much predictions change with each feature, on average."""
        model, _, columns = self._loaded()
        found = np.array(model.get_feature_importance(type="PredictionValuesChange"))
        order = [*(i for i in range(found.size) if i not in columns), *columns]
        out = np.empty(found.size)
        out[order] = found
        return out

    def _loaded(self) -> tuple[Any, int, list[int]]:
        if self._model is None:
            held = json.loads(self.text)
            model = cb.CatBoost()
            model.load_model(blob=base64.b64decode(held["cbm"]))
            self._model = model, min(held["trees"], model.tree_count_), held["categorical"]
        return self._model


def start(params: dict[str, Any], task: Task) -> CatBoostEngine:
    """Begin a training run with parameters by the shared names or CatBoost's own."""
    loss, real = _asked(params, task.objective)
    weighted = task.train.weight is not None
    if loss.name == "LambdaMart" and weighted:
        raise _refused("LambdaMart ignores the weights of queries;")
    if loss.name == "StochasticRank" and weighted:
        raise _refused(
            "StochasticRank divides by the weights of queries and doesn't multiply by them;"
        )
    return CatBoostEngine(real, loss, task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless an objective can be trained with these parameters."""
    _asked(params, objective)


def _asked(params: dict[str, Any], objective: Any) -> tuple[Any, dict[str, Any]]:
    """Return CatBoost's loss and its parameters."""
    loss = native(objective)
    real = translate(params)
    langevin.asked(langevin.split(params)[0], real.get("learning_rate", 0.1), None)
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
    return checks.InputError(f"CatBoost's {why} take engine='lightgbm'.")


def load(text: str) -> CatBoostModel:
    """Return the model that `text` holds, or raise if CatBoost can't read it."""
    model = CatBoostModel(text)
    with _plain_errors("read the model"):
        model._loaded()
    return model


def _features(X: Any, columns: list[int]) -> Any:
    """Return features as CatBoost takes them; categorical ones go last, as text."""
    if not columns:
        return X
    X = _parameters.dense(X)
    rest = [i for i in range(X.shape[1]) if i not in columns]
    words = np.empty((X.shape[0], len(columns)), object)
    for at, column in enumerate(columns):
        values, place = np.unique(X[:, column], return_inverse=True)
        words[:, at] = np.array([_word(value) for value in values.tolist()], object)[place]
    numbers = X[:, rest].astype(np.float32) if rest else None
    return cb.FeaturesData(num_feature_data=numbers, cat_feature_data=words)


def _word(value: float) -> bytes:
    return repr(int(value) if value.is_integer() else value).encode()


@contextmanager
def _plain_errors(action: str = "train") -> Iterator[None]:
    """Turn an error of CatBoost into one of ours, without the place in its sources."""
    try:
        yield
    except checks.InputError:
        raise
    except (cb.CatBoostError, KeyError, TypeError, ValueError) as error:
        reason = re.sub(r"^\S+\.(cpp|h|pyx):\d+: ", "", str(error).strip())
        reason = "; ".join(line.strip() for line in reason.splitlines() if line.strip())
        if "constant or ignored" in reason:
            reason = "no feature can split the data; give more documents or features that differ"
        raise checks.InputError(f"CatBoost can't {action}: {reason.rstrip('.')}.") from None
