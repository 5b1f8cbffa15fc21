"""Coordinates of truncation points: the gradient by them is the slope along them."""

import numpy as np
import pytest

from trug_fast.kernels.unit import truncation_coordinates as coordinates


def height(lower, upper):
    """Return a function of the ends, and its gradient by them."""
    return np.sin(lower) * upper**2, np.cos(lower) * upper**2, 2 * np.sin(lower) * upper


@pytest.mark.parametrize("learn_upper", [True, False])
def test_slopes_are_those_along_the_coordinates(learn_upper):
    low_end, width, upper, step = 0.3, 1.7, 2.0, 1e-6

    def at(low_end, width):
        return height(*coordinates.ends(low_end, width, upper, learn_upper))[0]

    _, *by_ends = height(*coordinates.ends(low_end, width, upper, learn_upper))
    by_low_end, by_width = coordinates.slopes(*by_ends, learn_upper)
    slope = (at(low_end, width + step) - at(low_end, width - step)) / (2 * step)
    assert by_width == pytest.approx(slope, rel=1e-8)
    if learn_upper:
        slope = (at(low_end + step, width) - at(low_end - step, width)) / (2 * step)
        assert by_low_end == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("learn_upper", [True, False])
def test_compiled_scalars_do_what_arrays_do(learn_upper, dtype):
    one, two, three = np.random.default_rng(0).normal(size=(3, 50)).astype(dtype)
    for scalars, arrays in (
        (coordinates.scalar_slopes, coordinates.slopes),
        (coordinates.scalar_ends, coordinates.ends),
    ):
        given = (one, two) if arrays is coordinates.slopes else (one, abs(two), three)
        each = [scalars(*values, learn_upper) for values in zip(*given, strict=True)]
        np.testing.assert_array_equal(np.array(each).T, arrays(*given, learn_upper))


def test_the_widest_and_narrowest_interval_are_finite_in_single_precision():
    widths = np.exp(np.float32([-coordinates.LOG_WIDTH, coordinates.LOG_WIDTH]))
    assert 1e-4 < widths[0] < widths[1] < 1.0001e4
