"""Input transforms: they turn features into inputs of a network, and are fitted on the training data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from rankwood._util import checks

#: Steps by name, in words.
STEPS = {
    "log1p": "sign(x) log(1 + |x|)",
    "standardise": "mean 0 and standard deviation 1",
    "quantile": "a normal distribution, by the ranks of the values",
}
_QUANTILES = 1000  # reference points of the distribution of a feature
_ROWS_AT_ONCE = 1 << 15
_CLOSEST = 1e-7  # distance of a probability from 0 and 1


def check_steps(steps: Any) -> tuple[str, ...]:
    """Return the names of steps as a tuple; None means no steps, and a single name means one."""
    given = () if steps is None else (steps,) if isinstance(steps, str) else steps
    if not isinstance(given, (tuple, list)):
        known = ", ".join(map(repr, STEPS))
        raise checks.InputError(f"transform must be a list of {known}, got {steps!r}.")
    for name in given:
        if name not in STEPS:
            raise checks.InputError(f"unknown transform {name!r}{checks.nearest(str(name), STEPS)}")
    return tuple(given)


class InputTransform(NamedTuple):
    """Fitted steps.

    Missing values become 0 after all steps. Each feature that had any in training has an indicator; indicators come
    after all features. Infinite values count as the largest or smallest finite one of the training data.

    Attributes
    ----------
    steps : tuple of str
        Names of `STEPS`, in the order in which they are done.
    arrays : dict
        What was fitted, by name; numbers by feature.
    """

    steps: tuple[str, ...]
    arrays: dict[str, np.ndarray]

    @classmethod
    def fit(cls, X: Any, steps: tuple[str, ...]) -> "InputTransform":
        """Return the steps fitted on the rows of X, which is dense or sparse."""
        columns = X.tocsc() if sparse.issparse(X) else X
        fitted = [_fit_column(_column(columns, j), steps) for j in range(X.shape[1])]
        names = fitted[0] if fitted else {}
        return cls(steps, {name: np.stack([one[name] for one in fitted], -1) for name in names})

    @property
    def features(self) -> int:
        """Number of features."""
        return int(self.arrays["missing"].size)

    @property
    def inputs(self) -> int:
        """Number of inputs of the network: features and indicators."""
        return self.features + int(self.arrays["missing"].sum())

    def __call__(self, X: Any) -> np.ndarray:
        """Return the inputs of a network, float32."""
        out = np.empty((X.shape[0], self.inputs), np.float32)
        for first in range(0, X.shape[0], _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            part = X[rows]
            part = part.toarray() if sparse.issparse(part) else np.asarray(part)
            out[rows] = self._part(part.astype(np.float64))
        return out

    def _part(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs of some rows; x is changed in place."""
        absent = np.isnan(x)
        np.clip(x, self.arrays["low"], self.arrays["high"], out=x, where=np.isinf(x))
        for i, step in enumerate(self.steps):
            own = {
                name.partition(".")[2]: a
                for name, a in self.arrays.items()
                if name.startswith(f"{i}.")
            }
            x = _APPLY[step](x, own)
        x[absent] = 0.0
        indicators = absent[:, self.arrays["missing"].astype(bool)]
        return np.concatenate([x, indicators], axis=1)


def _column(X: Any, j: int) -> np.ndarray:
    """Return a feature of all rows as float64."""
    column = X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else np.asarray(X[:, j])
    return column.astype(np.float64)


def _fit_column(x: np.ndarray, steps: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return what the steps need to know of one feature."""
    known = x[np.isfinite(x)]
    if not known.size:
        known = np.zeros(1)
    found = {
        "missing": np.array(np.isnan(x).any(), np.uint8),
        "low": known.min(),
        "high": known.max(),
    }
    for i, step in enumerate(steps):
        own = {name: np.asarray(value)[..., None] for name, value in _FIT[step](known).items()}
        known = _APPLY[step](known[:, None], own)[:, 0]
        found |= {f"{i}.{name}": value[..., 0] for name, value in own.items()}
    return found


def _fit_standard(x: np.ndarray) -> dict[str, Any]:
    deviation = x.std()
    # The deviation of equal numbers may be a rounding error of their mean.
    constant = not deviation > 1e-12 * np.abs(x).max()
    return {"mean": x.mean(), "scale": 1.0 if constant else deviation}


def _fit_quantile(x: np.ndarray) -> dict[str, Any]:
    return {"quantiles": np.quantile(x, np.linspace(0, 1, _QUANTILES))}


def _symmetric_log(x: np.ndarray, fitted: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.sign(x) * np.log1p(np.abs(x))


def _standard(x: np.ndarray, fitted: Mapping[str, np.ndarray]) -> np.ndarray:
    return (x - fitted["mean"]) / fitted["scale"]


def _to_normal(x: np.ndarray, fitted: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the normal quantiles of the ranks; equal values have the middle of their ranks."""
    chance = np.linspace(0, 1, _QUANTILES)
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        points = fitted["quantiles"][:, j]
        up = np.interp(x[:, j], points, chance)
        down = -np.interp(-x[:, j], -points[::-1], -chance[::-1])
        out[:, j] = ndtri(np.clip((up + down) / 2, _CLOSEST, 1 - _CLOSEST))
    return out


_FIT: dict[str, Any] = {
    "log1p": lambda x: {},
    "standardise": _fit_standard,
    "quantile": _fit_quantile,
}
_APPLY = {"log1p": _symmetric_log, "standardise": _standard, "quantile": _to_normal}
