"""Vectors in any units."""

import numpy as np
import pytest

from tests.support.vectors import INF, equicorrelated
from trug_fast import truncmvn
from trug_fast.distributions import truncmvn_gibbs, truncmvn_hmc

COV, X = equicorrelated(3), np.array([[0.3, 1.0, 2.0], [-1.0, 1.0, 1.0]])
UNITS = np.exp2([-498.0, 3.0, 497.0])  # 1e-150 to 1e150
SMALL = np.exp2(-490.0)  # of what stands in A


def of_units(units, method):
    """Return all that is told of a vector, in these units."""
    ends = np.array([-0.5, 0.0, 0.5]) * units, np.array([2.0, INF, 1.5]) * units
    return truncmvn(0.25 * units, COV * units[:, None] * units, *ends, method=method), units


def told(frozen, units):
    mean, cov = frozen.mean(rng=1), frozen.cov(rng=1)
    pairs = units[:, None] * units
    shift = np.log(units[2])
    return [
        frozen.rvs(100, rng=1) / units,
        *frozen.logprob(rng=1)[:-1],
        *(part / units for part in mean),
        *(part / units[:, None] / units for part in cov),
        frozen.logpdf(X * units, rng=1) + np.log(units).sum(),
        frozen.marginal_logpdf(2, [units[2], -units[2]], rng=1).value + shift,
        pairs.shape,
    ]


@pytest.mark.parametrize("method", ["factor", "tilting"])
def test_units_change_nothing(method):
    these, ones = (told(*of_units(units, method)) for units in (UNITS, np.ones(3)))
    for found, expected in zip(these, ones, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_units_change_no_constraints():
    rows = np.array([[1.0, -1.0, 0.0], [0.5, 0.0, 2.0]])
    plain = truncmvn(None, COV, 0.0, [1.0, 2.0], rows)
    other = truncmvn(
        None, COV * UNITS[:, None] * UNITS, 0.0, [SMALL, 2.0], rows * [[SMALL], [1.0]] / UNITS
    )
    np.testing.assert_array_equal(other.rvs(50, rng=1) / UNITS, plain.rvs(50, rng=1))
    assert other.logprob(rng=1) == plain.logprob(rng=1)


@pytest.mark.filterwarnings("error")
def test_density_under_constraints_of_large_numbers():
    slab = truncmvn(None, 1e300 * COV, 0.0, A=[[1e308, -1e308, 0.0]])
    log = slab.logpdf(1e150 * np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 1.0]]))
    assert np.isfinite(log[0]) and log[1] == -INF


def test_units_change_no_chains():
    rows, begin = np.array([[1.0, -1.0, 0.0]]), np.array([3.0, 1.0, 1.0])
    given = {"n_samples": 20, "rng": 1}
    cov = COV * UNITS[:, None] * UNITS
    for sampler, plain, other in (
        (truncmvn_gibbs, {}, {}),
        (truncmvn_hmc, {}, {}),
        (truncmvn_hmc, {"A": rows, "start": begin}, {"A": rows / UNITS, "start": begin * UNITS}),
    ):
        found = sampler(None, cov, 0.0, **other, **given).samples / UNITS
        np.testing.assert_allclose(found, sampler(None, COV, 0.0, **plain, **given).samples)


def test_no_draw_crosses_an_end():
    scale, high = 1e-150, np.nextafter(1e-150, 1)
    x = truncmvn(None, COV * scale * scale, scale, high * (1 + 1e-9)).rvs(100, rng=1)
    assert x.min() >= scale and x.max() <= high * (1 + 1e-9)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((0, [1.0, 1e-320], 0), "cov must lie between 1e-305 and 1e.305, got 1e-320 at index 1"),
        ((0, np.diag([1.0, 1e307]), 0), "the diagonal of cov must lie between"),
        ((0, 1.0, 1e200), "lower must come within 1e.150 deviations of 0, got 1e.200 at index 0"),
        (([0, -1e200], 1.0, 0), "mean must come within .* got -1e.200 at index 1"),
        ((0, 1e-300, None, -1e10), "upper must come within"),
        ((0, [[1, 1e308], [1e308, 1]], 0), "cov must be positive definite"),
        ((0, [[1e-300, 1e308], [1e308, 1]], 0), "cov must be positive definite"),
    ],
)
def test_what_is_out_of_sight(arguments, words):
    with pytest.raises(ValueError, match=words):
        truncmvn(*arguments)


@pytest.mark.parametrize("given", [np.diag([1.0, 1e-320]), [[1e-320]]])
def test_precisions_out_of_sight(given):
    with pytest.raises(ValueError, match="the diagonal of precision must lie between"):
        truncmvn_gibbs(precision=given, lower=0)
