"""Small random data with signal."""

import numpy as np


def random_lists(rng, queries=40, longest=60, features=8, grades=5):
    """Small random data with signal: X, y, sizes."""
    sizes = rng.integers(1, longest, queries)
    X = rng.normal(size=(sizes.sum(), features))
    raw = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=X.shape[0])
    y = np.digitize(raw, np.linspace(-0.5, 2.5, grades - 1)).astype(float)
    return X, y, sizes
