"""The model of these trees: LightGBM's text, scored without LightGBM."""

from functools import cached_property
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood.data.groups import Groups
from rankwood.engines import _parameters
from rankwood.engines.base import TextModel
from rankwood.engines.lightgbm.text_trees import TextTrees, trees_of_text
from rankwood.engines.model_trees import walking
from rankwood.engines.model_trees.arrays import ARRAYS, TreeArrays, min_category

_ROWS = 1024  # documents that a thread scores at a time


class TreesModel(TextModel):
    """A trained ensemble."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.loaded().n_features

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        trees, scores = self._arrays, np.zeros(X.shape[0])

        def work(first: int, last: int) -> None:
            rows = slice(first * _ROWS, last * _ROWS)
            part = np.ascontiguousarray(_parameters.dense(X[rows]), np.float64)
            scores[rows] = walking.scores(trees, part, 0.0)

        threads.run_ranges(work, np.ones(-(-X.shape[0] // _ROWS)), n_jobs)
        return scores

    def importances(self) -> np.ndarray:
        """Return the total gain of the splits on each feature."""
        arrays = self.loaded().arrays
        return np.bincount(arrays["feature"], arrays["gain"], minlength=self.n_features)

    @cached_property
    def _arrays(self) -> TreeArrays:
        """The trees as kernels read them."""
        arrays = {
            name: np.asarray(self.loaded().arrays[name], ARRAYS[name])
            for name in TreeArrays._fields[:-1]
        }
        for array in arrays.values():
            array.setflags(write=False)
        return TreeArrays(**arrays, min_category=min_category("rankwood"))

    @property
    def booster(self) -> Any:
        """The trees as a LightGBM `Booster`, if that is installed."""
        import lightgbm as lgb

        return lgb.Booster(model_str=self.text)

    def _read(self) -> TextTrees:
        return trees_of_text(self.text)
