"""Models of pairs that LightGBM trained in Rankwood 0.1 to 0.4: their files load and predict; `pairtree` trains now."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.engines import _parameters
from rankwood.engines.lightgbm import text_check
from rankwood.engines.lightgbm.engine import LightGBMModel, read
from rankwood.engines.pair_lists import columns_of
from rankwood.engines.pairtree.binning import as_float32
from rankwood.engines.pairtree.pair_layout import PairLayout

_CHUNK = 4_000_000  # matrix entries that are made at a time


class PairsModel:
    """LightGBM's trees on pairs of documents.

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

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model."""
        return {"model": self.text}

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
            documents = as_float32(_parameters.dense(X[rows]))
            pair_scores = np.zeros(layout.n_pairs)
            for start in range(0, layout.n_pairs, limit):
                chunk = slice(start, start + limit)
                pairs = self._features(
                    documents[layout.first[chunk]], documents[layout.second[chunk]]
                )
                pair_scores[chunk] = self._model.predict(pairs, n_jobs=n_jobs)
            scores[rows] = layout.item_scores(pair_scores, n_jobs)
        return scores

    def _features(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the features of pairs: the first document's, the second's, differences."""
        with np.errstate(all="ignore"):  # infinity minus itself is missing
            differences = first[:, self._differences] - second[:, self._differences]
        return np.concatenate([first, second, differences], axis=1).astype(np.float64)

    def importances(self) -> np.ndarray:
        """Return the total gain of splits on each feature: as the first document's, the second's or a difference."""
        gains, n = self._model.importances(), self.n_features
        out = gains[:n] + gains[n : 2 * n]
        np.add.at(out, self._differences, gains[2 * n :])
        return out


def load_pairs_model(text: str) -> PairsModel:
    """Return the model that `text` holds, or raise if it is damaged."""
    try:
        content = json.loads(text)
        trees, differences = content["lightgbm"], content["differences"]
        n_features = checks.at_least(content["n_features"], 1, "n_features")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise checks.InputError(f"there is no model of pairs in the text: {error}.") from None
    if not isinstance(trees, str) or not isinstance(differences, list):
        raise checks.InputError("the model of pairs is damaged: its differences or its trees.")
    # The trees say how many features there are before anything is made for each feature.
    width = text_check.check(trees)
    if width != 2 * n_features + len(differences):
        raise checks.InputError(
            f"the model of pairs is damaged: its trees are on {width} features, and pairs have "
            f"{2 * n_features + len(differences)}."
        )
    columns = columns_of(differences, None, n_features)
    if columns != differences:
        raise checks.InputError("the model of pairs is damaged: its differences.")
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
