"""Objectives as callables, for training loops that aren't ours: `lightgbm` and `xgboost`, alone, on Spark or on Ray."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rankwood._util import checks
from rankwood.data.arguments import checked_weights
from rankwood.data.groups import Groups, group_rows
from rankwood.engines.exact_sums import exact
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.units import refuse_given_pairs, unit_of


@dataclass
class _Run:
    """The training on one data set: what computes its gradients, and the rounds so far."""

    computer: GradientComputer
    rounds: int = 0


class EngineObjective:
    """An objective that LightGBM and XGBoost call in each round; `engine_objective` makes it.

    Parameters
    ----------
    objective : part
        The objective.
    shuffle : bool
        Whether the documents of each query are shuffled once, so that the order of the file decides no tie.
    seed : int
        Seed of everything random.
    n_jobs : int or None
        Threads; None means every core.
    """

    def __init__(self, objective: Any, shuffle: bool, seed: int, n_jobs: int | None) -> None:
        self._objective, self._shuffle, self._seed, self._n_jobs = objective, shuffle, seed, n_jobs
        self._runs: WeakKeyDictionary[Any, _Run] = WeakKeyDictionary()

    def __call__(self, scores: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians at some scores.

        Parameters
        ----------
        scores : array
            One score per row, as an engine passes it.
        data : lightgbm.Dataset or xgboost.DMatrix
            The training data; its labels, queries and weights are read in the first round.

        Returns
        -------
        (array, array)
            Gradients and Hessians in float32, on a grid on which engines sum them exactly.
        """
        if not hasattr(data, "get_label"):
            raise checks.InputError(
                "engine_objective is for lightgbm.train, xgboost.train and Booster.update, which pass their training "
                "data; the scikit-learn classes of these libraries pass arrays: use rankwood.Ranker in their place."
            )
        if data not in self._runs:
            self._runs[data] = _Run(self._computer(data))
        run = self._runs[data]
        run.rounds += 1
        return exact(
            lambda: run.computer(np.asarray(scores, dtype=np.float64).ravel(), run.rounds - 1)
        )

    def __repr__(self) -> str:
        return f"engine_objective({self._objective!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_runs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._runs = WeakKeyDictionary()

    def _computer(self, data: Any) -> GradientComputer:
        """Return what computes gradients, from the labels, queries and weights of training data."""
        y = np.asarray(data.get_label(), dtype=np.float64)
        groups = _groups(data, y.size)
        weight = data.get_weight()
        by_query = by_row = None
        if weight is not None and len(weight):
            weight = np.asarray(weight, dtype=np.float64)
            if weight.size == groups.ids.size:
                by_query = weight
            else:
                by_query, by_row = checked_weights(None, weight, groups)
        if self._shuffle:
            groups = groups.shuffled(self._seed)
        return GradientComputer(
            self._objective,
            y,
            groups,
            by_query,
            dtype=np.float32,
            n_jobs=self._n_jobs,
            seed=self._seed,
            sample_weight=by_row,
        )


def engine_objective(
    objective: Any, *, shuffle: bool = True, seed: int = 0, n_jobs: int | None = None
) -> EngineObjective:
    """Return an objective as a callable for the training loops of LightGBM and XGBoost themselves.

    It is for code that has a loop of its own: Spark, Ray, another library. The gradients are those that `Ranker`
    gives to its engine, so without sampling the trees are the same if the parameters are.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdaloss-ndcg++@10"`` or a composition of parts, of documents, not of pairs (``bi-``).
    shuffle : bool
        Whether the documents of each query are shuffled once, so that the order of the file decides no tie.
    seed : int
        Seed of everything random.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    EngineObjective
        Takes scores and training data, and returns gradients and Hessians: ``xgboost.train(obj=...)``,
        ``lightgbm.train({"objective": ...})``, ``Booster.update(fobj=...)``. The training data needs its queries.
        It counts the rounds on each data set, so training twice on one data set takes two objectives.

    Raises
    ------
    InputError
        If there is no such objective, if it is one of pairs, or, in the first round, if the data has no queries.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import rankwood as rw
    >>> train = rw.load_demo("train")
    >>> data = lgb.Dataset(train.X, train.y, group=train.groups.sizes)
    >>> params = {"objective": rw.engine_objective("lambdaloss-ndcg++@10"), "verbosity": -1, "num_threads": 1}
    >>> lgb.train(params, data, num_boost_round=3).num_trees()
    3
    """
    made = to_objective(objective)
    if unit_of(made) == "pairs":
        raise checks.InputError(
            "an objective of pairs (bi-...) has no gradients of documents: train it with Ranker."
        )
    refuse_given_pairs(made, "data of LightGBM or XGBoost")
    checks.at_least(seed, 0, "seed")
    return EngineObjective(made, bool(shuffle), seed, n_jobs)


def _groups(data: Any, size: int) -> Groups:
    """Return the queries of LightGBM's or XGBoost's training data."""
    if hasattr(data, "get_uint_info"):  # XGBoost
        ptr = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
        sizes = np.diff(ptr) if ptr.size else None
    else:
        sizes = data.get_group()
    if sizes is None or len(sizes) == 0:
        raise checks.InputError(
            "the training data has no queries: give lightgbm.Dataset(group=sizes) or xgboost.DMatrix(qid=ids)."
        )
    return group_rows(size, None, sizes)
