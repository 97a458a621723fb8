"""DART: trees are dropped at random before each round, and weigh less afterwards [rashmi2015]."""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import generator_at
from rankwood.engines.trees.parameters import DartParams

_DROPS = 5  # a stream of random numbers of a round


class DartRound(NamedTuple):
    """The trees that a round drops, the learning rate of the new one, and the factor of the dropped ones afterwards."""

    dropped: list[int]
    rate: float
    factor: float


def draw_round(
    params: DartParams, seed: int, number: int, rates: list[float], rate: float
) -> DartRound:
    """Return what a round drops, as LightGBM does it; `rates` are those of the trees so far."""
    dropped = _dropped(params, seed, number, rates)
    k = len(dropped)
    if params.xgboost_dart_mode:
        return DartRound(dropped, rate if k == 0 else rate / (rate + k), k / (k + rate))
    return DartRound(dropped, rate / (1 + k), k / (k + 1))


def _dropped(params: DartParams, seed: int, number: int, rates: list[float]) -> list[int]:
    draws = generator_at(seed, number, _DROPS).random(len(rates) + 1)
    if not rates or draws[0] < params.skip_drop:
        return []
    rate, share = params.drop_rate, np.ones(len(rates))
    total = float(share.sum()) if params.uniform_drop else sum(rates)
    if not params.uniform_drop:
        share = np.array(rates) * (len(rates) / total)
    if params.max_drop > 0:
        # LightGBM divides by the sum of rates twice.
        most = params.max_drop / total * (1.0 if params.uniform_drop else len(rates) / total)
        rate = min(rate, most)
    dropped = np.flatnonzero(draws[1:] < rate * share).tolist()
    return dropped[: params.max_drop] if params.max_drop > 0 else dropped
