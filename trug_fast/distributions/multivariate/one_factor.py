"""Covariances of one factor, S = diag(D) + b b': how they are recognised, and what follows.

Tested in tests/distributions/multivariate/test_one_factor.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast.kernels.multivariate import one_factor as kernels
from trug_fast.kernels.multivariate.factor_draws import Placing
from trug_fast.kernels.multivariate.one_factor import FactorBox

from .reduction import BoxForm
from .tilting import EPSILON

APART_64, APART_32 = 1e-13, 1e-6  # of correlations from those of one factor, at most
COARSE = 0.01  # error of a log density by last digits that is too much
FALL = 45.0  # of the log of a density of the factor, beyond which it is left out


class FactorPeak(NamedTuple):
    """Where the factor's density exp(h) is."""

    peak: float
    top: float  # h there
    step: float  # small beside how h bends there
    left: float  # where h has fallen by FALL, or the end
    right: float


class OneFactor(NamedTuple):
    """A box form of one factor; those coordinates of it that have an end come first."""

    box: FactorBox  # of coordinates with noise
    placing: Placing  # of these, and of the one without, if there is one
    frame: FactorPeak | None  # None: all are independent
    rounding: float  # error of the log probability by the last digits of what was given, at a peak
    apart: NDArray[Any]  # (k, k) by how much correlations may be off, in the order of placing


def tolerance_of(cov: ArrayLike) -> float:
    """Return how far correlations may be from those of one factor: as far as rounding goes."""
    return APART_32 if getattr(cov, "dtype", None) == np.float32 else APART_64


def one_factor(form: BoxForm, tolerance: float | None) -> OneFactor | None:
    """Return the box form as one of one factor, or None if it is none, or not to be taken as one.

    It is one if the correlations of coordinates with an end are, to the tolerance.  What such a
    deviation may do is part of ``rounding``; where that is coarse, tilting may keep digits that
    sharp conditions on the factor do not.
    """
    if tolerance is None:
        return None
    y, cov, mean, lower, upper = form.bounded, form.cov, form.mean, form.lower, form.upper
    if y.size < mean.size:
        cov, mean, lower, upper = cov[y][:, y], mean[y], lower[y], upper[y]
    deviations = np.sqrt(np.diagonal(cov))
    correlations = cov / (deviations[:, None] * deviations)
    low, high = (lower - mean) / deviations, (upper - mean) / deviations
    found = _of_two(correlations, low, high) if y.size == 2 else _loadings(correlations, tolerance)
    if found is None:
        return None
    loading, noise = found
    apart = np.abs(correlations - loading[:, None] * loading)
    apart.reshape(-1)[:: y.size + 1] = 0.0
    pure = np.flatnonzero(noise == 0.0)
    if apart.max(initial=0.0) > tolerance or pure.size > 1:
        return None
    order = np.argsort(noise == 0.0, kind="stable")
    scale, noisy = np.sqrt(noise), order[: y.size - pure.size]
    parts = (low[noisy] / scale[noisy], high[noisy] / scale[noisy], loading[noisy] / scale[noisy])
    box = FactorBox(*parts, *_ends_of_factor(loading, low, high, pure))
    vectors = (mean, loading * deviations, scale * deviations, lower, upper, y)
    placing = Placing(*(vector[order] for vector in vectors))
    apart = (apart + EPSILON * np.abs(correlations))[order][:, order]
    whole = OneFactor(box, placing, *_framed(box, scale[noisy], apart), apart)
    return whole if whole.rounding <= COARSE else None


def _ends_of_factor(
    loading: NDArray[Any], low: NDArray[Any], high: NDArray[Any], pure: NDArray[Any]
) -> tuple[float, float]:
    if not pure.size:
        return -np.inf, np.inf
    p = pure[0]
    ends = sorted((low[p] / loading[p], high[p] / loading[p]))
    return float(ends[0]), float(ends[1])


def _of_two(
    correlations: NDArray[Any], low: NDArray[Any], high: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return loadings and noise of two: the factor is the one whose ends are farther out."""
    rho = correlations[0, 1]
    if rho == 0.0:
        return np.zeros(2), np.ones(2)
    first = int(np.argmax(np.maximum(low, -high)))
    loading, noise = np.ones(2), np.zeros(2)
    loading[1 - first], noise[1 - first] = rho, (1.0 - rho) * (1.0 + rho)
    return loading, noise


def _loadings(
    correlations: NDArray[Any], tolerance: float
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the loadings that explain the correlations, and the noise, if there are such."""
    loading = np.zeros(correlations.shape[0])
    others = correlations - np.diag(np.diagonal(correlations))
    sizes = np.einsum("ij,ij->i", others, others)
    if not sizes.any():
        return loading, np.ones(loading.size)
    p = int(np.argmax(sizes))
    row = others[p].copy()
    others[p] = others[:, p] = 0.0
    # r_jp r_pk = b_p**2 r_jk: least squares over all j, k.  Where no others go together, p is z.
    total = np.einsum("ij,ij->", others, others)
    square = row @ others @ row / total if total > 0.0 else 1.0
    if not square > 0.0:
        return None
    loading = row / min(square, 1.0) ** 0.5
    loading[p] = min(square, 1.0) ** 0.5
    noise = (1.0 - loading) * (1.0 + loading)
    if noise.min() < -tolerance:
        return None
    noise[noise < tolerance] = 0.0
    return loading, noise


def _framed(
    box: FactorBox, scale: NDArray[Any], apart: NDArray[Any]
) -> tuple[FactorPeak | None, float]:
    """Return where the factor is, and how much last digits change the log probability.

    Of correlations that is by their distance from one factor, too.  At the peak the derivative by
    the mean of coordinate i is g_i = M_i / scale_i, by a correlation g_i g_j, by a variance
    (M_i**2 + V_i - 1) / (2 scale_i**2), with M_i and V_i mean and variance of its cut noise.
    """
    out, push = np.empty(7), np.empty(apart.shape[0])
    matters = kernels.frame(box, FALL, out, push)
    *numbers, ends, turns = out.tolist()
    if box.most - box.least < np.inf:  # how much the width of the factor's own ends changes
        width = box.most - box.least
        ends += max(abs(box.least), abs(box.most)) / width if width > 0.0 else np.inf
    push[: scale.size] /= scale
    if not matters:
        return None, float(EPSILON * (1.0 + ends + turns) + 0.5 * (push @ apart @ push))
    frame = FactorPeak(*numbers)
    push[scale.size :] = abs(frame.peak) + 1.0 / frame.step  # what cuts the factor itself
    digits = EPSILON * (1.0 + 0.5 * frame.peak**2 + ends + turns)
    return frame, float(digits + 0.5 * (push @ apart @ push))
