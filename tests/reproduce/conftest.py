"""The tiny paper in place of the real ones, and its data."""

import pytest

from rankwood.reproduce.recipes import reading
from tests.helpers import tiny_paper as tiny


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with small data."""
    return tiny.write_data(tmp_path_factory.mktemp("data") / "small")


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """The tiny paper."""
    tiny.use(monkeypatch, tmp_path / "recipes")
    yield "tiny"
    reading.load_recipe.cache_clear()
