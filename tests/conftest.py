"""Shared fixtures: everything random is seeded, LightGBM's threads don't spin on busy machines."""

import json
import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.pop("COLUMNS", None)  # output in a pipe has the width it needs

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "rankwood",
    deadline=None,  # the first example may compile
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rankwood")


@pytest.fixture
def rng():
    return np.random.default_rng(20261115)


@pytest.fixture(scope="session")
def golden():
    return json.loads((Path(__file__).parent / "golden.json").read_text())


def random_lists(rng, queries=40, longest=60, features=8, grades=5):
    """Small random data with signal: X, y, sizes."""
    sizes = rng.integers(1, longest, queries)
    X = rng.normal(size=(sizes.sum(), features))
    raw = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=X.shape[0])
    y = np.digitize(raw, np.linspace(-0.5, 2.5, grades - 1)).astype(float)
    return X, y, sizes


@pytest.fixture
def lists(rng):
    return random_lists(rng)
