"""The engine `pairtree`: boosting with trees on pairs, for the objectives `bi-...`."""

from typing import Any

import numpy as np

from rankwood._kernels.numeric.rng import generator_at
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.engines import _parameters, pair_memory
from rankwood.engines.base import Gradients, LearnerDefaults, RunState, TrainingTask
from rankwood.engines.pair_lists import PairLists, columns_of, lists_of
from rankwood.engines.pairtree.binning import BinnedData, check_bins
from rankwood.engines.pairtree.forest import PairForest
from rankwood.engines.pairtree.grower import Grower
from rankwood.engines.pairtree.tree import Params, Tree

#: Shared parameter names, and the fields of `Params` that they set.
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


class PairTreeEngine(LearnerDefaults):
    """One training run on pairs.

    Parameters
    ----------
    params : dict
        Parameters by the shared names or the engine's own.
    task : TrainingTask
        The data and the objective.
    """

    def __init__(self, params: dict[str, Any], task: TrainingTask) -> None:
        params = dict(params)
        self._learning_rate = params.pop("learning_rate", 0.1)
        self._subsample = params.pop("subsample", 1.0)
        self._n_jobs = params.pop("n_jobs", None)
        differences, max_bin = params.pop("differences", "base"), params.pop("max_bin", 255)
        columns = columns_of(differences, task.train.feature_names, task.train.n_features)
        self._params = _tree_params(params)
        size = pair_memory.size_of(task, len(columns))
        pair_memory.check_memory(size, self._params.max_leaves(size.pairs))
        self._train, self._valid = lists_of(task)
        train = self._train
        binned = task.once(
            "binned",
            (columns, max_bin),
            lambda: BinnedData(train.X, train.layout, columns, max_bin, self._n_jobs),
        )
        self._grower = Grower(binned, self._params, self._n_jobs)
        self._forest = PairForest(task.train.n_features)
        if task.before is not None:
            for tree in PairForest.load(task.before.text).trees:
                self._go_on(tree)

    def _go_on(self, tree: Tree) -> None:
        """Add a tree of an earlier run, and its values to all scores."""
        self._forest.trees.append(tree)
        self._add_trees(self._train, len(self._forest.trees) - 1)
        if self._valid is not None:
            self._add_trees(self._valid, len(self._forest.trees) - 1)

    def step(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split, which only a tree on all data can tell."""
        iteration = len(self._forest.trees)
        grad, hess = gradients(self._train.item_scores(self._n_jobs))
        queries = self._sample_queries(iteration)
        tree, leaf = self._grower.grow(grad, hess, iteration, queries)
        tree = self._forest.add(tree, self._learning_rate)
        if queries is None:
            self._train.scores += tree.value[leaf]
        else:  # pairs of the other queries have no leaf yet
            self._add_trees(self._train, iteration)
        if self._valid is not None:
            self._add_trees(self._valid, iteration)
        sampled = queries is not None or self._params.feature_fraction < 1.0
        return sampled or tree.value.size > 1

    def _sample_queries(self, iteration: int) -> np.ndarray | None:
        """Return which queries take part in a round, or None for all of them."""
        if self._subsample >= 1.0:
            return None
        generator = generator_at(self._params.seed, iteration)
        sizes = self._train.layout.sizes
        paired = np.flatnonzero(sizes > 1)
        chosen = np.zeros(sizes.size, bool)
        count = max(1, _round_half_up(self._subsample * paired.size))
        chosen[generator.choice(paired, count, replace=False)] = True
        return chosen

    def _add_trees(self, lists: PairLists, begin: int) -> None:
        """Add the values of the trees from number `begin` on to the scores of pairs."""
        self._forest.add_pair_scores(lists.scores, lists.X, lists.layout, begin, self._n_jobs)

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        assert self._valid is not None
        return self._valid.item_scores(self._n_jobs)

    def state(self, rounds: int) -> RunState:
        """Return the trees of the first `rounds` rounds."""
        return RunState(rounds, self._forest.first(rounds).text, {})

    def model(self, rounds: int) -> "PairTreeModel":
        """Return the forest of the first `rounds` trees."""
        return PairTreeModel(self._forest.first(rounds))


class PairTreeModel:
    """A trained forest.

    Parameters
    ----------
    forest : PairForest
        The trees.
    """

    #: A document's score depends on the other documents of its query.
    needs_groups = True

    def __init__(self, forest: PairForest) -> None:
        self._forest = forest
        self._copy: PairForest | None = None

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return self._forest.n_features

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model."""
        return {"model": self.text}

    @property
    def booster(self) -> PairForest:
        """A copy of the trees: whoever changes it changes nothing here."""
        if self._copy is None:
            self._copy = PairForest.load(self.text)
        return self._copy

    @property
    def text(self) -> str:
        """The whole state, as JSON."""
        return self._forest.text

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row (see `engines.base.Model`); `groups` must be given."""
        assert groups is not None
        scores = np.empty(X.shape[0])
        rows = _parameters.dense(X[groups.rows])
        scores[groups.rows] = self._forest.predict(rows, groups.ptr, n_jobs)
        return scores

    def importances(self) -> np.ndarray:
        """Return the total gain of splits on each feature: as the first document's, the second's or a difference."""
        return self._forest.importances().sum(axis=0)


def start(params: dict[str, Any], task: TrainingTask) -> PairTreeEngine:
    """Begin a training run with parameters by the shared names or the engine's own."""
    check_params(params, task.objective)
    return PairTreeEngine(params, task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless these parameters exist and have valid values."""
    known = {*_SHARED, *_OWN}
    for name in params:
        if name not in known:
            raise _parameters.unknown("the engine 'pairtree'", name, known)
    _tree_params({name: value for name, value in params.items() if name in _SHARED})
    check_bins(params.get("max_bin", 255))


def _tree_params(params: dict[str, Any]) -> Params:
    """Return the parameters of trees; errors use the shared names."""
    real = {_SHARED[name]: value for name, value in params.items()}
    # Other engines accept 0 as "no limit"; a leaf has a pair in any case.
    real["min_data_in_leaf"] = max(1, real.get("min_data_in_leaf", 20))
    try:
        return Params(**real)
    except checks.InputError as error:
        field, *rest = str(error).partition(" ")
        name = {tree: shared for shared, tree in _SHARED.items()}.get(field, field)
        raise checks.InputError(name + "".join(rest)) from None


def load(text: str) -> PairTreeModel:
    """Return the model that `text` holds."""
    return PairTreeModel(PairForest.load(text))


def _round_half_up(x: float) -> int:
    """Round to the nearest whole number, halves up."""
    return int(np.floor(x + 0.5))
