"""A model of several tiles, and what annealing gives for it, however it is split."""

import pytest

from tests.support.annealing import run, tiled_model


@pytest.fixture(scope="session")
def model():
    """Return a model with several tiles of units in each layer."""
    return tiled_model()


@pytest.fixture(scope="session")
def expected(model):
    """Return what any split must give."""
    return run(model)
