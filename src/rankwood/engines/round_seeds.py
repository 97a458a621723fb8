"""What is random inside an engine, as a function of seed and round.

No generator of an engine survives a round, so that training can be resumed after any round, bit-identically. Runs that
can't be resumed for another reason keep the engine's own generators.
"""

from typing import Any

import numpy as np

from rankwood._kernels.numeric.rng import generator_at, uniform_at

#: Seeds of engines are integers of 31 bits; LightGBM adds the numbers of blocks of rows to them.
_LARGEST = 2**31 - 2**20
#: Streams of one round: none of them is that of pair trees, which is 0.
_SEEDS, _ROWS, _COLUMNS = 1, 2, 3
_SURELY = 1e30  # a weight beside which the others, 0, are never drawn


class LightGBMSeeds:
    """Seeds of LightGBM's generators for each round, for what is in use.

    Parameters
    ----------
    params : dict
        Parameters under LightGBM's names.
    resumable : bool
        Whether the run can be resumed. LightGBM can't change a seed without forgetting more: the weights of trees and
        the generator of drops of DART, the features that were paid for. Such runs have its own generators.
    """

    def __init__(self, params: dict[str, Any], resumable: bool) -> None:
        self._seed = int(params.get("seed") or 0)
        self._fraction = float(params.get("bagging_fraction", 1.0))
        self._bags = resumable and self._fraction < 1 and bool(params.get("bagging_freq"))
        features = ("feature_fraction", "feature_fraction_bynode")
        sampled = any(float(params.get(name, 1.0)) < 1 for name in features)
        self._samples_features = resumable and sampled
        self._extra = resumable and bool(params.get("extra_trees"))

    def at(self, round_index: int) -> dict[str, Any]:
        """Return the parameters to set before a round; none if nothing is random."""
        bagging, feature, extra = (int(word) for word in self._words(round_index))
        out: dict[str, Any] = {}
        if self._bags:
            # LightGBM begins its generators anew only if the fraction differs from that of the round before.
            share = self._fraction if round_index % 2 == 0 else np.nextafter(self._fraction, 1.0)
            out |= {"bagging_seed": bagging, "bagging_fraction": float(share)}
        if self._samples_features:
            out["feature_fraction_seed"] = feature
        if self._extra or out:  # any change of parameters begins these generators anew
            out["extra_seed"] = extra
        return out

    def before(self, round_index: int) -> dict[str, Any]:
        """Return the parameters of a booster that begins with a round: a seed that equals the next would not be set."""
        first = self.at(round_index)
        if "feature_fraction_seed" in first:
            first["feature_fraction_seed"] += 1
        return first

    def _words(self, round_index: int) -> np.ndarray:
        return generator_at(self._seed, round_index, _SEEDS).integers(0, _LARGEST, 3)


class RowDraws:
    """The rows that each round uses, drawn here, by the number of a row among all rows.

    Parameters
    ----------
    share : float
        Of all rows.
    seed : int
        Seed of the run.
    ranges : array of shape (n, 2), optional
        Where the rows are among all rows, as ranges, if others are elsewhere.
    """

    def __init__(self, share: float, seed: int, ranges: np.ndarray | None = None) -> None:
        self.share = share
        self._seed, self._ranges = seed, ranges

    def used(
        self, round_index: int, grad: np.ndarray, hess: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians, 0 for the rows that a round omits."""
        if self.share >= 1:
            return grad, hess
        ranges = [(0, grad.size)] if self._ranges is None else self._ranges.tolist()
        uniform = np.concatenate(
            [uniform_at(self._seed, round_index, _ROWS, first, last) for first, last in ranges]
        )
        used = (uniform < self.share).astype(np.float32)
        return grad * used, hess * used


class XGBoostDraws:
    """Rows and features that XGBoost uses in each round, drawn here: its own generators keep a state.

    Parameters
    ----------
    params : dict
        Parameters under XGBoost's names.
    ranges : array of shape (n, 2), optional
        Where the rows are among all rows, as ranges, if others are elsewhere.
    """

    def __init__(self, params: dict[str, Any], ranges: np.ndarray | None = None) -> None:
        self._seed = int(params.get("seed") or 0)
        rows = float(params.get("subsample", 1.0))
        if params.get("sampling_method", "uniform") != "uniform":
            rows = 1.0  # XGBoost samples by gradients, on a GPU
        self._rows = RowDraws(rows, self._seed, ranges)
        self._columns = float(params.get("colsample_bytree", 1.0))

    def params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return XGBoost's parameters, without what is drawn here."""
        out = {**params, "seed_per_iteration": True}
        if self._rows.share < 1:
            out["subsample"] = 1.0
        return out

    def rows(
        self, round_index: int, grad: np.ndarray, hess: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and Hessians, 0 for the rows that a round omits: XGBoost itself does the same."""
        return self._rows.used(round_index, grad, hess)

    def columns(self, round_index: int, matrix: Any) -> None:
        """Give weights to the features of a matrix, so that XGBoost draws those of the round."""
        if self._columns >= 1:
            return
        count = matrix.num_col()
        order = generator_at(self._seed, round_index, _COLUMNS).permutation(count)
        weights = np.zeros(count, dtype=np.float32)
        weights[order[: max(1, int(self._columns * count))]] = _SURELY
        matrix.set_info(feature_weights=weights)
