"""Rows at which one wrong comparison, cast or rule for missing values sends a document to another leaf."""

import numpy as np

FLT_MAX = float(np.finfo(np.float32).max)
#: What LightGBM reads as 0 ends here.
NEARLY_ZERO = float(np.float32(1e-35))
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e-35, -1e-35, FLT_MAX, -FLT_MAX)
BESIDE_ZERO = tuple(
    sign * value
    for sign in (1.0, -1.0)
    for value in (NEARLY_ZERO, np.nextafter(NEARLY_ZERO, 0.0), np.nextafter(NEARLY_ZERO, 1.0))
)


def beside(threshold):
    """Return a threshold and the numbers next to it, in float64 and in float32."""
    with np.errstate(over="ignore"):
        narrow = np.float32(threshold)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    above = np.nextafter(narrow, up)
    exact = (threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf))
    rounded = (narrow, above, np.nextafter(above, up), np.nextafter(narrow, down))
    # Halfway between two float32, where rounding decides.
    with np.errstate(invalid="ignore", over="ignore"):
        halfway = (float(narrow) + float(above)) / 2
    near = (halfway, np.nextafter(halfway, np.inf), np.nextafter(halfway, -np.inf))
    return [float(value) for value in (*exact, *rounded, *near)]


def hard_rows(forest, X, splits=30, seed=0, infinite=True):
    """Return rows of float64: for sampled splits of a forest, a row of X with each hard value in the split's column.

    Every special value is tried in every column that is split on, as far as `splits` goes. `infinite=False` omits
    infinities and numbers that are infinite as float32.
    """
    rng = np.random.default_rng(seed)
    X = np.asarray(X, np.float64)
    rows = []
    for node in rng.permutation(forest.feature.size)[:splits]:
        column = forest.feature[node]
        if forest.categorical[node]:
            own = forest.category[forest.category_first[node] : forest.category_first[node + 1]]
            values = [*own[:3], own[-1] + 1, own[0] + 0.5, -1.0, -0.5, 1e9, 3e9, *SPECIAL]
        else:
            values = [*beside(forest.threshold[node]), *SPECIAL, *BESIDE_ZERO]
        for value in values:
            if infinite or not np.abs(value) > FLT_MAX:
                row = X[rng.integers(len(X))].copy()
                row[column] = value
                rows.append(row)
    if not rows:
        return X[:1].copy()
    return np.array(rows)
