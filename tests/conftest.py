"""Shared fixtures: everything random is seeded, LightGBM's threads don't spin on busy machines."""

import json
import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.pop("COLUMNS", None)  # output in a pipe has the width it needs

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.helpers.demo_models import demo_model as _demo_model
from tests.helpers.examples import QUICK, THOROUGH
from tests.helpers.paths import GOLDEN
from tests.helpers.random_lists import random_lists

# `pytest --hypothesis-profile thorough` tries ten times as many examples.
for _name, _examples in {"quick": QUICK, "thorough": THOROUGH}.items():
    settings.register_profile(
        _name,
        deadline=None,  # the first example may compile
        derandomize=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


@pytest.fixture
def rng():
    return np.random.default_rng(20261115)


@pytest.fixture(scope="session")
def demo_model():
    """A function of the name of an engine, or of "two-stage": a fitted model, which no test may change."""
    return _demo_model


@pytest.fixture(scope="session")
def golden():
    return json.loads(GOLDEN.read_text())


@pytest.fixture
def lists(rng):
    return random_lists(rng)
