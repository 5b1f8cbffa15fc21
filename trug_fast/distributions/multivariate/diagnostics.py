"""Whether chains have mixed, and what their draws are worth: by ranks (mathematics 1.16).

Tested in tests/distributions/multivariate/test_diagnostics.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

Values = NDArray[np.float64]  # (chains, draws, coordinates)
LEAST = 4  # draws of a chain: two halves with a variance each
AT_ONCE = 2**22  # numbers that one pass over some coordinates takes


def by_coordinates(measure: Callable[[Values], Values], samples: NDArray[Any]) -> Values:
    """Return a measure of each coordinate, of as many at once as fit."""
    d = samples.shape[2]
    width = max(1, AT_ONCE // (samples.shape[0] * samples.shape[1]))
    parts = [measure(samples[:, :, j : j + width].astype(np.float64)) for j in range(0, d, width)]
    return np.concatenate(parts)


def rhat(samples: Values) -> Values:
    """Return the larger of R-hat of split, rank-normalised chains, and of their distances."""
    halves = _split(samples)
    centre = np.median(halves, axis=(0, 1))
    bulk, tail = (_rhat(_ranked(values)) for values in (halves, np.abs(halves - centre)))
    return np.maximum(bulk, tail)


def ess_bulk(samples: Values) -> Values:
    """Return the effective number of draws for means, of split, rank-normalised chains."""
    return _ess(_ranked(_split(samples)))


def ess_tail(samples: Values) -> Values:
    """Return the lesser effective number of draws for the quantiles 5 % and 95 %."""
    low, high = np.quantile(samples, (0.05, 0.95), axis=(0, 1))
    found = [_ess(_split((samples <= level).astype(np.float64))) for level in (low, high)]
    return np.minimum(*found)


def ess_mean(samples: Values) -> Values:
    """Return the effective number of draws for the mean of the values as they are."""
    return _ess(_split(samples))


def _split(values: Values) -> Values:
    """Make two chains of each, without the draw in the middle of an odd number."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def _ranked(values: Values) -> Values:
    size = values.shape[0] * values.shape[1]
    ranks = rankdata(values.reshape(size, -1), axis=0)
    normal: Values = ndtri((ranks - 0.375) / (size + 0.25))
    return normal.reshape(values.shape)


def _rhat(values: Values) -> Values:
    n = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Values = np.sqrt((n - 1) / n + between / within)
    return result


def _autocovariance(values: Values) -> Values:
    """Return that of each chain at all lags, over the number of draws."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    result: Values = np.fft.irfft(power, size, axis=1)[:, :n] / n
    return result


def _ess(values: Values) -> Values:
    """Return the effective number of draws, by Geyer's initial monotone sequence."""
    m, n, _ = values.shape
    covariance = _autocovariance(values).mean(axis=0)  # (lags, coordinates)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2][: n // 2]
    last = max(0, (n - 3) // 2)  # of the last pair only the first counts, and once
    positive = (
        np.logical_and.accumulate(pairs > 0, axis=0) & (np.arange(len(pairs)) < last)[:, None]
    )
    count = positive.sum(axis=0)
    falling = np.minimum.accumulate(pairs, axis=0)
    tau = -1.0 + 2.0 * np.where(positive, falling, 0.0).sum(axis=0)
    after = np.take_along_axis(rho, np.minimum(2 * count, n - 1)[None], axis=0)[0]
    tau += np.maximum(after, 0.0)
    tau = np.maximum(tau, 1.0 / np.log10(m * n))
    result: Values = np.where(np.isfinite(total) & (total > 0), m * n / tau, np.nan)
    return result
