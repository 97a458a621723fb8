"""Trained ensembles of CatBoost: prediction, importances, and their text."""

import base64
import json
import re
from typing import Any

import catboost as cb
import numpy as np

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.engines import _errors, _parameters
from rankwood.engines.base import TextModel


def _reason(message: str) -> str:
    """Return what is of use in a message of CatBoost, without the place in its sources."""
    if "constant or ignored" in message:
        return "no feature can split the data; give more documents or features that differ"
    return _errors.one_line(re.sub(r"^\S+\.(cpp|h|pyx):\d+: ", "", message))


plain_errors = _errors.plain_errors(
    "CatBoost", (cb.CatBoostError, KeyError, TypeError, ValueError), _reason
)


class CatBoostModel(TextModel):
    """A trained CatBoost ensemble; its text is JSON: the binary model, the number of trees, categorical columns."""

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        model, trees, columns = self.loaded()
        with plain_errors("predict"):
            return model.predict(
                pool_features(X, columns),
                prediction_type="RawFormulaVal",
                ntree_end=trees,
                thread_count=threads.threads(n_jobs),
            )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.loaded()[0].feature_names_)

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
        """A copy of the ``CatBoost`` object: whoever changes it changes nothing here."""
        if self._copy is None:
            self._copy = self._read()[0]
        return self._copy

    @classmethod
    def of(cls, booster: Any, trees: int, columns: list[int]) -> "CatBoostModel":
        """Return the model of a booster's first trees, whose categorical features are in these columns."""
        blob = base64.b64encode(booster._serialize_model()).decode()
        return cls(json.dumps({"trees": trees, "categorical": columns, "cbm": blob}))

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


def load(text: str) -> CatBoostModel:
    """Return the model that `text` holds, or raise if CatBoost can't read it.

    The binary model can't be checked here: its format is CatBoost's own, and a hostile one may crash CatBoost.
    """
    model = CatBoostModel(text)
    with plain_errors("read the model"):
        model.loaded()
    return model


def pool_features(X: Any, columns: list[int]) -> Any:
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


def _word(value: float) -> bytes:
    """Return a category as text: whole numbers without a decimal point."""
    return repr(int(value) if value.is_integer() else value).encode()
