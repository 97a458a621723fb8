"""Data for the tests of networks."""

import pytest

from tests.helpers.small_networks import some_data


@pytest.fixture(scope="module")
def train():
    return some_data()


@pytest.fixture(scope="module")
def valid():
    return some_data(1)
