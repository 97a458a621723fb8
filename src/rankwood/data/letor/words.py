"""What a reader of LETOR text says about a line it can't use, and the numbers it rounds by hand."""

from decimal import Decimal

import numpy as np

from rankwood._core.checks import InputError
from rankwood.data.letor import parse as k

_LONG = 40  # characters of the file that a message repeats


class TooWide(InputError):
    """A feature index above the number of features; `place` is the file and the line."""

    def __init__(self, place: str, token: str, n_features: int) -> None:
        self.place, self.n_features = place, n_features
        self.feature = f"feature {token.partition(':')[0]} in {short(token)}"
        super().__init__(
            f"{place}: {self.feature} is above {n_features}, the number of features expected "
            "here: give another n_features, or the file a model was trained for."
        )


def short(token: str) -> str:
    """Return a token in quotes, cut if it is long."""
    return repr(token if len(token) <= _LONG else token[:_LONG] + "…")


def reason(code: int, token: str) -> str:
    """Say what is wrong with a token that a kernel stopped at."""
    shown = short(token)
    index = token.partition(":")[0]
    if code == k.BAD_LABEL:
        return f"the line starts with {shown}, expected a label, a finite number of at least 0."
    if code == k.NEGATIVE_LABEL:
        return f"the label {shown} is negative, expected a number of at least 0."
    if code == k.NO_QID:
        found = shown if token else "nothing"
        return f"after the label comes {found}, expected a query id such as 'qid:1'."
    if code == k.EMPTY_QID:
        return "'qid:' has nothing behind it, expected a query id such as 'qid:1'."
    if code == k.TWICE:
        return f"feature {index} comes a second time as {shown}, expected every index once a line."
    return _bad_pair(token)


def _bad_pair(token: str) -> str:
    index, colon, value = token.partition(":")
    if colon and index.isascii() and index.isdigit():
        if not 1 <= int(index[:20]) <= k.LARGEST:
            return (
                f"the feature index in {short(token)} is {short(index)}, expected 1 to {k.LARGEST}."
            )
        if value.lstrip("+-").lower() in ("inf", "infinity"):
            return (
                f"the value in {short(token)} is infinite, expected a finite number, or 'nan' for a "
                "value that is missing."
            )
        return f"the value in {short(token)} is {short(value)}, expected a number such as '3:0.25'."
    return f"{short(token)} is not a feature, expected 'index:value' such as '3:0.25'."


def exact_label(token: str) -> float:
    """Return the double nearest to a label."""
    label = float(token)
    if not np.isfinite(label):
        raise InputError(f"the label {short(token)} is too large, expected a finite number.")
    return label


def exact_value(token: str, marker: bool) -> float:
    """Return the float32 nearest to a value, NaN for a marker."""
    near = float(token)
    if marker and abs(near) >= 1.797e308:
        return np.nan
    value = float(nearest_single(token)) if abs(near) < 3.5e38 else np.inf
    if not np.isfinite(value):
        raise InputError(
            f"the value {short(token)} is beyond the range of float32, expected at most 3.4028235e38 "
            "in magnitude, or marker=True to read values from 1.797e308 on as absent."
        )
    return value


def nearest_single(token: str) -> np.float32:
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
