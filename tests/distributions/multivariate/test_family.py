"""The object truncmvn and its frozen distributions."""

import pickle
import re

import numpy as np
import pytest

import trug_fast as tf
from tests.support.vectors import INF, equicorrelated, toeplitz
from trug_fast import truncmvn, truncnorm

PARAMETERS = ([1.0, 0.0], [[1.0, 0.5], [0.5, 2.0]], [0.0, -1.0], [INF, 3.0])


def test_frozen_methods_are_the_functions():
    frozen = truncmvn(*PARAMETERS)
    np.testing.assert_array_equal(
        frozen.rvs((2, 3), rng=1), truncmvn.rvs(*PARAMETERS, size=(2, 3), rng=1)
    )
    assert frozen.logprob(rng=1) == truncmvn.logprob(*PARAMETERS, rng=1)
    x = [[0.5, 0.5], [2.0, -3.0]]
    np.testing.assert_array_equal(frozen.logpdf(x), truncmvn.logpdf(x, *PARAMETERS))
    for name in ("mean", "cov"):
        one, other = getattr(frozen, name)(rng=1), getattr(truncmvn, name)(*PARAMETERS, rng=1)
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.error, other.error)
    one = frozen.marginal_logpdf(1, [0.0, 9.0])
    other = truncmvn.marginal_logpdf(1, [0.0, 9.0], *PARAMETERS)
    np.testing.assert_array_equal(one.value, other.value)
    again = pickle.loads(pickle.dumps(frozen))  # noqa: S301
    np.testing.assert_array_equal(again.rvs(3, rng=1), frozen.rvs(3, rng=1))
    assert repr(frozen) == "FrozenVector(dimension=2, constraints=2)"
    assert repr(truncmvn) == "trug_fast.truncmvn" and tf.truncmvn is truncmvn


def test_density_integrates_to_1():
    nodes, weights = np.polynomial.legendre.leggauss(40)
    first, second = 5 + 5 * nodes, 1 + 2 * nodes
    x = np.stack(np.meshgrid(first, second, indexing="ij"), -1)
    density = np.exp(truncmvn.logpdf(x, *PARAMETERS))
    assert abs((density * np.outer(5 * weights, 2 * weights)).sum() - 1) < 1e-12


def test_density_outside_and_of_constraints():
    frozen = truncmvn(*PARAMETERS)
    assert frozen.logpdf([-0.1, 0.0]) == -INF and np.isnan(frozen.logpdf([np.nan, 0.0]))
    half = truncmvn(None, [1.0, 1.0], 0.0, None, [[1.0, 1.0]])
    assert abs(half.logpdf([1.0, 2.0]) - (np.log(2) - np.log(2 * np.pi) - 2.5)) < 1e-14
    assert half.logpdf([-1.0, -2.0]) == -INF
    with pytest.raises(ValueError, match="x must have 2 numbers in its last axis"):
        frozen.logpdf([1.0, 2.0, 3.0])


def test_marginal_densities():
    nodes, weights = np.polynomial.legendre.leggauss(30)
    frozen = truncmvn(None, toeplitz(4, 0.6), 0.0, [2.0, 2.0, 2.0, INF])
    marginal = frozen.marginal_logpdf(2, 1 + nodes, rng=1)
    total = (np.exp(marginal.value) * weights).sum()
    assert abs(total - 1) < 3 * marginal.error.max() < 1e-3
    mean = (np.exp(marginal.value) * weights * (1 + nodes)).sum()
    assert abs(mean - frozen.mean(rng=1).value[2]) < 1e-3
    assert frozen.marginal_logpdf(2, -1.0).value == -INF
    single = truncmvn(1.0, 4.0, 0.0, 2.0).marginal_logpdf(0, 0.5).value
    assert abs(single - truncnorm.logpdf(0.5, -0.5, 0.5, 1.0, 2.0)) < 1e-14
    with pytest.raises(ValueError, match="index must be below the dimension 4, got 4"):
        frozen.marginal_logpdf(4, 0.0)


def test_marginal_density_under_constraints():
    # x_0 and x_1 independent, x_0 < x_1: twice the density times P(x_1 > x_0).
    frozen = truncmvn([0.0, 0.0], 1, 0.0, None, [[-1.0, 1.0]])
    x = np.array([-1.0, 0.3])
    exact = np.log(2) - 0.5 * x**2 - 0.5 * np.log(2 * np.pi) + truncnorm.logsf(x, -INF, INF)
    np.testing.assert_allclose(frozen.marginal_logpdf(0, x).value, exact, rtol=1e-13)


def test_arguments_are_checked_before_anything_is_drawn():
    with pytest.raises(TypeError, match="size|must be an int"):
        truncmvn.rvs(cov=np.eye(2), size=1.5)
    with pytest.raises(TypeError, match="return_info must be True or False"):
        truncmvn.rvs(cov=np.eye(2), return_info="yes")
    with pytest.raises(TypeError, match="rng"):
        truncmvn.rvs(cov=np.eye(2), rng="yes")
    with pytest.raises(ValueError, match="lower must be below upper"):
        truncmvn(None, equicorrelated(2), 1.0, 0.0)


def test_size_and_what_is_missing():
    with pytest.raises(TypeError, match="cov must hold real numbers, got None"):
        truncmvn(None, None, 0)
    with pytest.raises(ValueError, match="with A lower or upper must be given"):
        truncmvn(None, 1, A=np.eye(2))
    with pytest.raises(ValueError, match="size must be of at most"):
        truncmvn.rvs(size=(2**40, 2**40))
    with pytest.raises(ValueError, match="mean must not be NaN, got nan at index 1"):
        truncmvn([0.0, np.nan])
    with pytest.raises(ValueError, match="mean must be finite, got inf$"):
        truncmvn(INF)


@pytest.mark.filterwarnings("error")
def test_densities_at_infinity():
    frozen = truncmvn(None, equicorrelated(2), 0.0)
    x = [[1.0, INF], [INF, INF], [1.0, np.nan], [INF, np.nan], [1e300, 1.0]]
    np.testing.assert_array_equal(frozen.logpdf(x), [-INF, -INF, np.nan, np.nan, -INF])
    slab = truncmvn(None, equicorrelated(2), 0.0, A=[[1.0, -1.0]])
    np.testing.assert_array_equal(slab.logpdf([[INF, INF], [INF, 1.0]]), -INF)
    for each in (frozen, slab):
        marginal = each.marginal_logpdf(0, [INF, -INF, 1e300])
        np.testing.assert_array_equal(marginal, [[-INF] * 3, [0.0] * 3])


def test_an_estimate_reads_with_its_error():
    words = repr(truncmvn.logprob(cov=toeplitz(10, 0.5), lower=0, rng=1))
    assert re.match(r"BoxProbability\(log=-\d\.\d{6}, relative_error=\d\.\de-05,", words)
    assert words.endswith(", n_points=9216, method='tilting')") and len(words) < 110
    assert repr(truncmvn.logprob(lower=0)).startswith("BoxProbability(log=-0.693147180559945,")
