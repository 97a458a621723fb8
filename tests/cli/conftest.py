"""The tiny paper and its data, for `rankwood reproduce`."""

from tests.reproduce.conftest import data, paper  # noqa: F401
