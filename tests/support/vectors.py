"""Truncated normal vectors whose probabilities are known, and what draws of them must obey."""

import numpy as np
from scipy import special

import trug_fast as tf

INF = float("inf")


def equicorrelated(d, rho=0.5):
    """Return the covariance of unit variances and one correlation."""
    return (1 - rho) * np.eye(d) + rho


def toeplitz(d, rho):
    """Return the covariance of a stationary autoregression of one lag."""
    return rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


def one_factor(loadings):
    """Return the covariance of loadings * f + noise, of unit variances."""
    cov = np.outer(loadings, loadings)
    np.fill_diagonal(cov, 1.0)
    return cov


def log_probability_of_one_factor(loadings, lower, upper, reach, nodes=10_001):
    """Return log P(lower < x < upper), by the trapezoidal rule over the factor in +-reach."""

    def log_integrand(f):
        total = -0.5 * f * f - 0.5 * np.log(2 * np.pi)
        for loading, low, high in zip(loadings, lower, upper, strict=True):
            scale = np.sqrt(1 - loading**2)
            total += tf.truncnorm.log_mass(
                (low - loading * f) / scale, (high - loading * f) / scale
            )
        return total

    # It bends no less than a standard normal, so 12 about its peak hold all of it.
    f = np.linspace(-reach, reach, nodes)
    half = 12 + f[1] - f[0]
    f = f[np.argmax(log_integrand(f))] + np.linspace(-half, half, nodes)
    return special.logsumexp(log_integrand(f)) + np.log(2 * half / (nodes - 1))


def conditional_shares(x, mean, cov, lower, upper):
    """Return P(x_i' <= x_i | all others) of each coordinate: uniform if x are right draws."""
    precision = np.linalg.inv(cov)
    variance = 1 / np.diagonal(precision)
    away = x - mean
    centre = x - variance * (away @ precision)
    scale = np.sqrt(variance)
    a, b = (lower - centre) / scale, (upper - centre) / scale
    return tf.truncnorm.cdf((x - centre) / scale, a, b)
