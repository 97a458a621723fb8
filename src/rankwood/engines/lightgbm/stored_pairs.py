"""LightGBM on stored pairs: the recipe of the bivariate paper, kept as the reference for `pairtree` [bivariate2024]."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood.engines import _parameters
from rankwood.engines import pair_memory as pairs_memory
from rankwood.engines.base import Gradients, Task
from rankwood.engines.lightgbm.engine import (  # type: ignore[attr-defined]
    LightGBMEngine,
    LightGBMModel,
    lgb,
)
from rankwood.engines.pair_lists import Lists, columns_of, lists_of
from rankwood.engines.pairtree.binning import single
from rankwood.engines.pairtree.layout import Layout

_CHUNK = 4_000_000  # numbers that are made at a time when a model predicts


class PairRows(lgb.Sequence):  # type: ignore[misc]
    """Features of pairs, made when they are asked for: those of the first document, of the second, differences."""

    batch_size = 4096

    def __init__(self, X: np.ndarray, layout: Layout, differences: list[int]) -> None:
        self._X, self._differences = X, differences
        self._first, self._second = layout.first, layout.second

    def __len__(self) -> int:
        return self._first.size

    def __getitem__(self, where: Any) -> np.ndarray:
        """Return one pair or several as rows."""
        a, b = self._X[self._first[where]], self._X[self._second[where]]
        with np.errstate(all="ignore"):  # infinity minus itself is missing
            apart = a[..., self._differences] - b[..., self._differences]
        return np.concatenate([a, b, apart], axis=-1).astype(np.float64)


class _Rows(NamedTuple):
    """As much of a data set as LightGBM's engine looks at."""

    X: list[PairRows]
    y: np.ndarray
    feature_names: None = None


class PairsEngine(LightGBMEngine):
    """One training run of LightGBM on the pairs of all lists."""

    def __init__(self, params: dict[str, Any], differences: Any, task: Task) -> None:
        if params.get("categorical_feature") is not None:
            raise checks.InputError(
                "categorical_feature means nothing to models of pairs; leave it out."
            )
        self._columns = columns_of(differences, task.train.feature_names, task.train.n_features)
        self._jobs = params.get("num_threads")
        size = pairs_memory.size_of(task, len(self._columns))
        pairs_memory.check_lightgbm(
            size,
            params.get("num_leaves", 31),
            _number(params.get("max_bin"), 255),
            _number(params.get("bin_construct_sample_cnt"), 200_000),
        )
        self._train, self._valid = lists_of(task)
        super().__init__(params, self._rows(self._train), self._rows(self._valid))  # type: ignore[arg-type]

    def _rows(self, lists: Lists | None) -> _Rows | None:
        if lists is None or lists.layout.n_pairs == 0:
            return None
        rows = PairRows(lists.X, lists.layout, self._columns)
        return _Rows([rows], np.zeros(len(rows)))

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""

        def of_pairs(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            self._train.scores = scores
            return gradients(self._train.item_scores(self._jobs))

        return super().update(of_pairs)

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        assert self._valid is not None
        if self._valid.layout.n_pairs:
            self._valid.scores = super().valid_scores()
        return self._valid.item_scores(self._jobs)

    def model(self, rounds: int) -> "PairsModel":  # type: ignore[override]
        """Return the ensemble of the first `rounds` trees."""
        return PairsModel(super().model(rounds).text, self._columns, self._train.X.shape[1])


class PairsModel:
    """A trained ensemble on pairs."""

    needs_lists = True

    def __init__(self, trees: str, differences: list[int], n_features: int) -> None:
        self._trees, self._differences, self._n_features = trees, differences, n_features
        self._model = LightGBMModel(trees)

    @property
    def text(self) -> str:
        """The whole state: LightGBM's text, and which features pairs have."""
        content = {
            "differences": self._differences,
            "n_features": self._n_features,
            "lightgbm": self._trees,
        }
        return json.dumps(content)

    def predict(self, X: Any, n_jobs: int | None, groups: Any) -> np.ndarray:
        """Return one score per row; pairs are made chunk by chunk."""
        scores = np.empty(X.shape[0])
        limit = max(1, _CHUNK // (2 * self._n_features + len(self._differences)))
        for first, last in _chunks(groups.sizes, limit):
            start, end = groups.ptr[first], groups.ptr[last]
            rows = groups.rows[start:end]
            layout = Layout(groups.ptr[first : last + 1] - start)
            pairs = PairRows(single(_parameters.dense(X[rows])), layout, self._differences)
            found = np.zeros(layout.n_pairs)
            for begin in range(0, layout.n_pairs, limit):
                some = slice(begin, begin + limit)
                found[some] = self._model.predict(pairs[some], n_jobs=n_jobs)
            scores[rows] = layout.item_scores(found, n_jobs)
        return scores

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all: as the first document's, the second's, as a difference."""
        gained, m = self._model.importances(), self._n_features
        out = gained[:m] + gained[m : 2 * m]
        np.add.at(out, self._differences, gained[2 * m :])
        return out


def load(text: str) -> PairsModel:
    """Return the model that `text` holds."""
    content = json.loads(text)
    return PairsModel(content["lightgbm"], content["differences"], content["n_features"])


def _chunks(sizes: np.ndarray, limit: int) -> Iterator[tuple[int, int]]:
    """Give ranges of queries that have at most `limit` pairs together, or are one query."""
    first, pairs = 0, 0
    for q, n in enumerate(sizes.tolist()):
        if q > first and pairs + n * (n - 1) > limit:
            yield first, q
            first, pairs = q, 0
        pairs += n * (n - 1)
    yield first, sizes.size


def _number(value: Any, default: int) -> int:
    """Return a parameter of LightGBM if it is a whole number; what is wrong with others is for it to say."""
    return value if isinstance(value, int) else default
