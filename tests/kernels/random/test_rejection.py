"""The cells of Chopin's sampler: what makes its draws exact."""

import math

import numpy as np
import pytest

from trug_fast.kernels.random import rejection

X = rejection._EDGES
HEIGHTS = np.exp(-X * X / 2)


def test_cells_have_one_area_and_so_has_the_tail():
    areas = np.diff(X) * HEIGHTS[:-1]
    np.testing.assert_allclose(areas, areas[0], rtol=1e-13)
    assert HEIGHTS[-1] / X[-1] == pytest.approx(areas[0], rel=1e-13)


def test_little_is_rejected():
    total = (len(X) + 0.0) * X[1]  # 256 cells and the tail
    assert math.sqrt(math.pi / 2) / total > 0.98


def test_the_part_below_the_top_layer_is_below_the_curve():
    np.testing.assert_allclose(rejection._FULL, HEIGHTS[1:] / HEIGHTS[:-1], rtol=1e-14)


def test_every_point_is_found_in_its_cell():
    rng = np.random.default_rng(1)
    bins = rejection._STARTS
    near = np.concatenate([X, bins])
    points = np.concatenate(
        [rng.uniform(0, 3.2, 20_000), near, np.nextafter(near, 0), np.nextafter(near, 9), [1e100]]
    )
    for z in points:
        assert rejection.cell_of(z) == np.searchsorted(X, z, "right") - 1, z
        if z > 0:
            assert rejection.cell_of(-z) == -1 - rejection.cell_of(z)


def test_the_tables_fit_the_first_level_cache():
    tables = (rejection._EDGES, rejection._FULL, rejection._FIRST)
    assert sum(t.nbytes for t in tables) < 8192
