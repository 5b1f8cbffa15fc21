"""A tiny table, as a configuration and finished."""

import pytest

from tests.support.figures import small_figures  # noqa: F401
from tests.support.tables import TINY, reproduce


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="session")
def done(tmp_path_factory):
    """A folder in which all cells of the tiny table are finished."""
    folder = tmp_path_factory.mktemp("table")
    (folder / "tiny.toml").write_text(TINY)
    assert reproduce(folder / "tiny.toml", folder / "out", "--quiet") == 0
    return folder / "out"
