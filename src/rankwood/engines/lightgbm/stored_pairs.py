"""LightGBM on stored pairs: the method of the bivariate paper, kept as the reference for `pairtree` [bivariate2024]."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.engines import _parameters, pair_memory
from rankwood.engines._errors import not_resumable
from rankwood.engines.base import Gradients, RunState, TrainingTask
from rankwood.engines.lightgbm import text_check
from rankwood.engines.lightgbm.engine import (  # type: ignore[attr-defined]
    LightGBMEngine,
    LightGBMModel,
    lgb,
    read,
)
from rankwood.engines.pair_lists import Lists, columns_of, lists_of
from rankwood.engines.pairtree.binning import as_float32
from rankwood.engines.pairtree.pair_layout import PairLayout

_CHUNK = 4_000_000  # matrix entries that are made at a time when a model predicts


class PairRows(lgb.Sequence):  # type: ignore[misc]
    """A matrix of pairs whose rows are made on access: the first document's features, the second's, differences.

    Parameters
    ----------
    X : array
        The documents.
    layout : PairLayout
        Their pairs.
    differences : list of int
        The columns whose differences are features.
    """

    batch_size = 4096

    def __init__(self, X: np.ndarray, layout: PairLayout, differences: list[int]) -> None:
        self._X, self._differences = X, differences
        self._first, self._second = layout.first, layout.second

    def __len__(self) -> int:
        return self._first.size

    def __getitem__(self, where: Any) -> np.ndarray:
        """Return one pair or several as rows."""
        first, second = self._X[self._first[where]], self._X[self._second[where]]
        with np.errstate(all="ignore"):  # infinity minus itself is missing
            differences = first[..., self._differences] - second[..., self._differences]
        return np.concatenate([first, second, differences], axis=-1).astype(np.float64)


class _PairData(NamedTuple):
    """The attributes of a `RankingData` that LightGBM's engine reads, for rows that are pairs."""

    X: list[PairRows]
    y: np.ndarray
    feature_names: None = None


class PairsEngine:
    """One training run of LightGBM on the pairs of all lists.

    Parameters
    ----------
    params : dict
        LightGBM's parameters.
    differences : {"base", "all", "none"} or list of str or int
        The columns whose differences are features.
    task : TrainingTask
        The data and the objective.
    """

    takes_gradients = True

    def __init__(self, params: dict[str, Any], differences: Any, task: TrainingTask) -> None:
        if params.get("categorical_feature") is not None:
            raise checks.InputError(
                "categorical_feature means nothing to models of pairs; leave it out."
            )
        self._columns = columns_of(differences, task.train.feature_names, task.train.n_features)
        self._n_jobs = params.get("num_threads")
        pair_memory.check_lightgbm(
            pair_memory.size_of(task, len(self._columns)),
            params.get("num_leaves", 31),
            _integer(params.get("max_bin"), 255),
            _integer(params.get("bin_construct_sample_cnt"), 200_000),
        )
        self._train, self._valid = lists_of(task)
        # A `RankingData` can't hold rows that are made on access.
        train, valid = self._pair_data(self._train), self._pair_data(self._valid)
        pairs = task._replace(train=train, valid=valid)  # type: ignore[arg-type]
        self._engine = LightGBMEngine(params, pairs, self._columns)
        self.keeps_rounds = self._engine.keeps_rounds

    def _pair_data(self, lists: Lists | None) -> _PairData | None:
        """Return the pairs of lists as LightGBM reads them, or None if there are none."""
        if lists is None or lists.layout.n_pairs == 0:
            return None
        rows = PairRows(lists.X, lists.layout, self._columns)
        return _PairData([rows], np.zeros(len(rows)))

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""

        def of_pairs(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            self._train.scores = scores
            return gradients(self._train.item_scores(self._n_jobs))

        return self._engine.update(of_pairs)

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        assert self._valid is not None
        if self._valid.layout.n_pairs:
            self._valid.scores = self._engine.valid_scores()
        return self._valid.item_scores(self._n_jobs)

    def state(self, rounds: int) -> RunState:
        """Raise: LightGBM can't score pairs that are made on access, which going on needs."""
        raise not_resumable(
            "objectives of pairs on engine='lightgbm'", "take engine='pairtree', which can"
        )

    def model(self, rounds: int) -> "PairsModel":
        """Return the ensemble of the first `rounds` trees."""
        trees = self._engine.model(rounds).text
        return PairsModel(trees, self._columns, self._train.X.shape[1])


class PairsModel:
    """A trained ensemble on pairs.

    Parameters
    ----------
    trees : str
        LightGBM's text.
    differences : list of int
        The columns whose differences are features.
    n_features : int
        Number of features of a document.
    """

    #: A document's score depends on the other documents of its query.
    needs_groups = True

    def __init__(self, trees: str, differences: list[int], n_features: int) -> None:
        self._trees, self._differences, self.n_features = trees, differences, n_features
        self._model = LightGBMModel(trees)

    @property
    def text(self) -> str:
        """The whole state: LightGBM's text, and the features of pairs."""
        content = {
            "differences": self._differences,
            "n_features": self.n_features,
            "lightgbm": self._trees,
        }
        return json.dumps(content)

    @property
    def booster(self) -> Any:
        """The ``lightgbm.Booster`` of pairs of documents."""
        return self._model.booster

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row (see `engines.base.Model`), chunk by chunk of pairs; `groups` must be given."""
        assert groups is not None
        scores = np.empty(X.shape[0])
        limit = max(1, _CHUNK // (2 * self.n_features + len(self._differences)))
        for first, last in _chunks(groups.sizes, limit):
            begin, end = groups.ptr[first], groups.ptr[last]
            rows = groups.rows[begin:end]
            layout = PairLayout(groups.ptr[first : last + 1] - begin)
            pairs = PairRows(as_float32(_parameters.dense(X[rows])), layout, self._differences)
            pair_scores = np.zeros(layout.n_pairs)
            for start in range(0, layout.n_pairs, limit):
                chunk = slice(start, start + limit)
                pair_scores[chunk] = self._model.predict(pairs[chunk], n_jobs=n_jobs)
            scores[rows] = layout.item_scores(pair_scores, n_jobs)
        return scores

    def importances(self) -> np.ndarray:
        """Return the total gain of splits on each feature: as the first document's, the second's or a difference."""
        gains, n = self._model.importances(), self.n_features
        out = gains[:n] + gains[n : 2 * n]
        np.add.at(out, self._differences, gains[2 * n :])
        return out


def load(text: str) -> PairsModel:
    """Return the model that `text` holds, or raise if it is damaged."""
    try:
        content = json.loads(text)
        trees, n_features = content["lightgbm"], content["n_features"]
        checks.at_least(n_features, 1, "n_features")
        columns = columns_of(content["differences"], None, n_features)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise checks.InputError(f"there is no model of pairs in the text: {error}.") from None
    if not isinstance(trees, str) or columns != content["differences"]:
        raise checks.InputError("the model of pairs is damaged: its differences or its trees.")
    width = text_check.check(trees)
    if width != 2 * n_features + len(columns):
        raise checks.InputError(
            f"the model of pairs is damaged: its trees are on {width} features, and pairs have "
            f"{2 * n_features + len(columns)}."
        )
    read(trees)
    return PairsModel(trees, columns, n_features)


def _chunks(sizes: np.ndarray, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries with at most `limit` pairs in total, or of one query."""
    first, pairs = 0, 0
    for q, n in enumerate(sizes.tolist()):
        if q > first and pairs + n * (n - 1) > limit:
            yield first, q
            first, pairs = q, 0
        pairs += n * (n - 1)
    yield first, sizes.size


def _integer(value: Any, default: int) -> int:
    """Return a parameter of LightGBM if it is an integer; LightGBM itself reports what is wrong with others."""
    return value if isinstance(value, int) else default
