"""The engine `pairtree`: boosting with trees on pairs, for the objectives `bi-...`."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.engines import _parameters
from rankwood.engines import pair_memory as pairs_memory
from rankwood.engines.base import Gradients, Task
from rankwood.engines.pair_lists import Lists, columns_of, lists_of
from rankwood.engines.pairtree.binning import Binned, check_bins
from rankwood.engines.pairtree.forest import Forest
from rankwood.engines.pairtree.grower import Grower, Params

#: Names that engines share, and what a tree calls them.
_SHARED = {
    "num_leaves": "num_leaves",
    "max_depth": "max_depth",
    "min_child_samples": "min_data_in_leaf",
    "min_child_weight": "min_sum_hessian",
    "reg_alpha": "lambda_l1",
    "reg_lambda": "lambda_l2",
    "colsample_bytree": "feature_fraction",
    "min_split_gain": "min_gain",
    "random_state": "seed",
}
_OWN = {"learning_rate", "subsample", "n_jobs", "differences", "max_bin"}


class PairTreeEngine:
    """One training run on pairs."""

    keeps_rounds = True
    takes_gradients = True

    def __init__(self, params: dict[str, Any], task: Task) -> None:
        self._rate = params.pop("learning_rate", 0.1)
        self._share = params.pop("subsample", 1.0)
        self._jobs = params.pop("n_jobs", None)
        wanted, max_bin = params.pop("differences", "base"), params.pop("max_bin", 255)
        columns = columns_of(wanted, task.train.feature_names, task.train.n_features)
        self._params = _tree_params(params)
        size = pairs_memory.size_of(task, len(columns))
        pairs_memory.check_pairtree(size, self._params.most_leaves(size.pairs))
        self._train, self._valid = lists_of(task)
        binned = Binned(self._train.X, self._train.layout, columns, max_bin, self._jobs)
        self._grower = Grower(binned, self._params, self._jobs)
        self._forest = Forest(task.train.n_features)

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split, which a sample can't tell."""
        round = len(self._forest.trees)
        grad, hess = gradients(self._train.item_scores(self._jobs))
        mask = self._sample(round)
        tree, leaf = self._grower.grow(grad, hess, round, mask)
        tree = self._forest.add(tree, self._rate)
        if mask is None:
            self._train.scores += tree.value[leaf]
        else:  # pairs of other queries are in no leaf yet
            self._add(self._train, round)
        if self._valid is not None:
            self._add(self._valid, round)
        sampled = mask is not None or self._params.feature_fraction < 1.0
        return sampled or tree.value.size > 1

    def _sample(self, round: int) -> np.ndarray | None:
        """Return which queries take part in a round, or None for all of them."""
        if self._share >= 1.0:
            return None
        draw = np.random.Generator(np.random.Philox(key=[self._params.seed, round]))
        sizes = self._train.layout.sizes
        able = np.flatnonzero(sizes > 1)  # the others have no pairs
        mask = np.zeros(sizes.size, bool)
        count = max(1, round_half(self._share * able.size))
        mask[draw.choice(able, count, replace=False)] = True
        return mask

    def _add(self, lists: Lists, begin: int) -> None:
        self._forest.add_pair_scores(lists.scores, lists.X, lists.layout, begin, self._jobs)

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        assert self._valid is not None
        return self._valid.item_scores(self._jobs)

    def model(self, rounds: int) -> "PairTreeModel":
        """Return the forest of the first `rounds` trees."""
        return PairTreeModel(self._forest.first(rounds))


class PairTreeModel:
    """A trained forest; it compares the documents of a list, so it needs to know the lists."""

    needs_lists = True

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    @property
    def text(self) -> str:
        """The whole state, as JSON."""
        return self._forest.text

    def predict(self, X: Any, n_jobs: int | None, groups: Any) -> np.ndarray:
        """Return one score per row."""
        scores = np.empty(X.shape[0])
        rows = _parameters.dense(X[groups.rows])
        scores[groups.rows] = self._forest.predict(rows, groups.ptr, n_jobs)
        return scores

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all: as the first document's, the second's, as a difference."""
        return self._forest.importances().sum(axis=0)


def start(params: dict[str, Any], task: Task) -> PairTreeEngine:
    """Begin a training run with parameters by the shared names or the engine's own."""
    check_params(params, task.objective)
    return PairTreeEngine(dict(params), task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless there are such parameters, and a tree can respect them."""
    known = {*_SHARED, *_OWN}
    for name in params:
        if name not in known:
            raise _parameters.unknown("the engine 'pairtree'", name, known)
    _tree_params({name: value for name, value in params.items() if name in _SHARED})
    check_bins(params.get("max_bin", 255))


def _tree_params(params: dict[str, Any]) -> Params:
    """Return what a tree must respect; errors call it what the caller does."""
    real = {_SHARED[name]: value for name, value in params.items()}
    # Leaves of no pairs can't be; 0 is what others call "no limit".
    real["min_data_in_leaf"] = max(1, real.get("min_data_in_leaf", 20))
    try:
        return Params(**real)
    except checks.InputError as error:
        name, *rest = str(error).partition(" ")
        theirs = {tree: shared for shared, tree in _SHARED.items()}.get(name, name)
        raise checks.InputError(theirs + "".join(rest)) from None


def load(text: str) -> PairTreeModel:
    """Return the model that `text` holds."""
    return PairTreeModel(Forest.load(text))


def round_half(x: float) -> int:
    """Round to the nearest whole number, halves up."""
    return int(np.floor(x + 0.5))
