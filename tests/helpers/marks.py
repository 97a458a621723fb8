"""Parameters of a test of which a plain `pytest` runs a few."""

import pytest


def slow_but(fast, values):
    """Return the values as parameters; those that aren't in `fast` are slow."""
    values = list(values)
    assert set(fast) <= set(values)
    return [v if v in fast else pytest.param(v, marks=pytest.mark.slow) for v in values]
