"""Training without exact sums, or without seeds by round, for comparison: what engines did before there were any."""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from rankwood.engines.lightgbm import engine as lightgbm
from rankwood.engines.lightgbm import network
from rankwood.engines.xgboost import engine as xgboost


def _as_they_are(compute: Any, share: Any = None) -> tuple[np.ndarray, np.ndarray]:
    grad, hess = compute()
    return np.asarray(grad, dtype=np.float32), np.asarray(hess, dtype=np.float32)


@contextlib.contextmanager
def no_grid() -> Iterator[None]:
    """Hand gradients to LightGBM and XGBoost as they are."""
    with (
        mock.patch.object(network, "exact", _as_they_are),
        mock.patch.object(xgboost, "exact", _as_they_are),
    ):
        yield


class _OneSeed:
    """The engine draws everything from generators of its own, seeded once."""

    def __init__(self, params: dict[str, Any], ranges: Any = None) -> None: ...

    def at(self, round_index: int) -> dict[str, Any]:
        return {}

    before = at

    def params(self, params: dict[str, Any]) -> dict[str, Any]:
        return params

    def rows(self, round_index: int, grad: Any, hess: Any) -> tuple[Any, Any]:
        return grad, hess

    def columns(self, round_index: int, matrix: Any) -> None: ...


@contextlib.contextmanager
def no_round_seeds() -> Iterator[None]:
    """Let LightGBM and XGBoost seed their generators once."""
    with (
        mock.patch.object(lightgbm, "LightGBMSeeds", _OneSeed),
        mock.patch.object(xgboost, "XGBoostDraws", _OneSeed),
    ):
        yield
