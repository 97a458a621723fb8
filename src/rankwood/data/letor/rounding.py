"""Exact rounding of decimal numbers: slow, for the few that the compiled parser is uncertain about."""

from decimal import Decimal

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.letor.errors import quoted


def exact_label(token: str) -> float:
    """Return the double nearest to a label."""
    label = float(token)
    if not np.isfinite(label):
        raise InputError(f"the label {quoted(token)} is too large, expected a finite number.")
    return label


def exact_value(token: str, missing_marker: bool) -> float:
    """Return the float32 nearest to a value, NaN for a marker."""
    near = float(token)
    if missing_marker and abs(near) >= 1.797e308:
        return np.nan
    value = float(nearest_float32(token)) if abs(near) < 3.5e38 else np.inf
    if not np.isfinite(value):
        raise InputError(
            f"the value {quoted(token)} is beyond the range of float32, expected at most 3.4028235e38 "
            "in magnitude, or marker=True to read values from 1.797e308 on as absent."
        )
    return value


def nearest_float32(token: str) -> np.float32:
    """Round a decimal number once, to the nearest float32, ties to even."""
    near = np.float64(token)
    if abs(near) < 1e-60:
        return np.float32(near)
    # Rounding twice is right if the first rounding goes to the neighbour whose last bit is odd.
    exact = Decimal(token)
    side = exact.compare(Decimal(float(near)))
    if side and not near.view(np.int64) & 1:
        near = np.nextafter(near, np.inf * float(side))
    with np.errstate(over="ignore", under="ignore"):
        return np.float32(near)
