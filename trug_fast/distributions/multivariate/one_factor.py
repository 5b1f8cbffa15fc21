"""Covariances of one factor, S = diag(D) + b b': recognised, integrated over, and drawn through.

Tested in tests/distributions/multivariate/test_one_factor.py.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common.threads import UNIT, computing
from trug_fast.kernels.multivariate import factor_draws, tangents
from trug_fast.kernels.multivariate import one_factor as kernels
from trug_fast.kernels.multivariate.factor_draws import Placing
from trug_fast.kernels.multivariate.one_factor import FactorBox
from trug_fast.kernels.multivariate.tangents import Hull
from trug_fast.kernels.unit.quantile_rows import ROW

from .boxes import BoxForm, BoxProbability, DrawInfo, Estimate
from .checking import Array
from .tilting import COARSE, EPSILON, NUMBERS, standard_moments

APART_64, APART_32 = 1e-13, 1e-6  # of correlations from those of one factor, at most
TANGENTS = 192  # at most
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
    apart: Array  # (k, k) by how much correlations may be off, in the order of placing


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
    found = _loadings(correlations, np.maximum(low, -high), tolerance)
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


def _ends_of_factor(loading: Array, low: Array, high: Array, pure: Array) -> tuple[float, float]:
    if not pure.size:
        return -np.inf, np.inf
    p = pure[0]
    ends = sorted((low[p] / loading[p], high[p] / loading[p]))
    return float(ends[0]), float(ends[1])


def _loadings(correlations: Array, far: Array, tolerance: float) -> tuple[Array, Array] | None:
    """Return the loadings that explain the correlations, and the noise, if there are such.

    Of two coordinates always: the factor is the one whose ends are farther out.
    """
    loading = np.zeros(correlations.shape[0])
    others = correlations - np.diag(np.diagonal(correlations))
    sizes = np.einsum("ij,ij->i", others, others)
    if not sizes.any():
        return loading, np.ones(loading.size)
    pair = far.size == 2
    p = int(np.argmax(far if pair else sizes))
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
    if not pair:
        noise[noise < tolerance] = 0.0
    return loading, noise


def _framed(box: FactorBox, scale: Array, apart: Array) -> tuple[FactorPeak | None, float]:
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


NODES, THIN = 20, 5  # of a panel; one of so many tells of rounding
HALVINGS = 60
SECTIONS, ROUNDS = np.linspace(0.0, 1.0, 17), 12  # of an interval: to the last digit
CLOSE = 1e-13  # of a panel and its halves, over the whole


class Nodes(NamedTuple):
    """A sum that is the integral of the factor's density."""

    z: Array  # (n,)
    shares: Array  # (n,), of sum 1
    log: float  # of the integral
    error: float  # over the integral


def probability_of_factor(factor: OneFactor) -> tuple[float, float]:
    """Return the log of the probability of the box, and the error of it."""
    if factor.frame is None:
        rounding = 4 * (EPSILON + factor.rounding) if factor.placing.mean.size else 0.0
        return float(standard_moments(factor.box.low, factor.box.high)[0].sum()), rounding
    nodes = nodes_of(factor, factor.frame)
    return nodes.log, nodes.error + 4 * (EPSILON + _rounding(factor, nodes))


def _rounding(factor: OneFactor, nodes: Nodes) -> float:
    """Return how much last digits change the log of the integral.

    That is at the peak, or the average along the factor, which is much more where little noise
    makes steps of the density.  Derivatives are those of ``one_factor._framed``; where the factor
    ends it has one by its correlations, too.
    """
    box, apart, n = factor.box, factor.apart, factor.box.low.size
    over = np.sqrt(1.0 + box.slope**2)  # 1 / scale
    some = np.argsort(nodes.z)[THIN // 2 :: THIN]  # of each panel, enough for a doubt
    z, shares = nodes.z[some], THIN * nodes.shares[some]
    inner, spread = _noise(factor, z)
    push = np.abs(inner) * over
    sums = np.minimum(np.abs(box.low), np.abs(box.high)) + np.abs(z[:, None] * box.slope)
    digits = (np.abs(inner) * sums).sum(1) + np.abs(inner**2 + spread - 1.0) @ over**2
    pairs = (push * shares[:, None]).T @ push
    total = EPSILON * float(shares @ digits) + 0.5 * float((apart[:n, :n] * pairs).sum())
    ends = np.array([end for end in (box.least, box.most) if np.isfinite(end)])
    if ends.size:
        heights = np.empty(ends.size)
        kernels.log_densities(box, ends, heights)
        densities = np.exp(heights - nodes.log - 0.5 * np.log(2 * np.pi))
        total += float(densities @ (np.abs(_noise(factor, ends)[0]) * over) @ apart[n, :n])
    return max(total, factor.rounding)


def nodes_of(factor: OneFactor, frame: FactorPeak) -> Nodes:
    """Return nodes of Gauss-Legendre panels, halved until that changes nothing."""
    unit, weight = np.polynomial.legendre.leggauss(NODES)
    edges = _edges(factor, frame)
    panels = np.stack([edges[:-1], edges[1:]], 1)
    z, terms, sums = _integrated(factor, frame, panels, unit, weight)
    taken: list[tuple[Array, Array]] = []
    done = error = 0.0
    close = CLOSE + 4 * factor.rounding
    for _ in range(HALVINGS):
        middle = panels.mean(1)
        halves = np.stack([panels[:, 0], middle, middle, panels[:, 1]], 1).reshape(-1, 2)
        z, terms, parts = _integrated(factor, frame, halves, unit, weight)
        apart = np.abs(parts.reshape(-1, 2).sum(1) - sums)
        total = done + float(parts.sum())
        good = np.repeat(apart <= close * total, 2)
        taken.append((z[good], terms[good]))
        done, error = done + float(parts[good].sum()), error + float(apart[good[::2]].sum())
        panels, sums = halves[~good], parts[~good]
        if not panels.size:
            break
    else:
        taken.append((z[~good], terms[~good]))
        done, error = done + float(sums.sum()), error + float(apart[~good[::2]].sum())
    places, shares = (np.concatenate([pair[i].ravel() for pair in taken]) for i in (0, 1))
    log = frame.top + float(np.log(done)) - 0.5 * float(np.log(2 * np.pi))
    return Nodes(places, shares / done, log, error / done)


def _edges(factor: OneFactor, frame: FactorPeak) -> Array:
    """Return edges of panels that grow with their distance from the peak, and from where it ends.

    Little noise makes a step of the density as narrow as itself, and beyond it nothing is left: so
    what is narrow lies at the peak or where h falls to nothing (h'' stays what it is in the step).
    """
    (left, inner_left), (right, inner_right) = _falls(factor, frame)
    doubled = 2.0 ** np.arange(0, 1024)
    with np.errstate(over="ignore"):
        below, above = frame.peak - frame.step * doubled, frame.peak + frame.step * doubled
        rising = left + (inner_left - left) * doubled
        falling = right - (right - inner_right) * doubled
    within = [below[below > left], above[above < right]]
    within += [rising[rising < frame.peak], falling[falling > frame.peak]]
    return np.unique(np.concatenate([*within, [left, frame.peak, right]]))


def _falls(factor: OneFactor, frame: FactorPeak) -> Array:
    """Return where h has fallen by FALL, or its ends, and where by less, on the left and right."""
    far, heights = np.array([frame.left, frame.right]), np.empty(2)
    kernels.log_densities(factor.box, far, heights)
    most = np.minimum(frame.top - heights, FALL)
    fall = np.stack([most, most - np.minimum(0.5 * most, np.maximum(0.5, most / 8))], 1).ravel()
    near, far = np.full(4, frame.peak), np.repeat(far, 2)
    heights = np.empty(4 * SECTIONS.size)
    for _ in range(ROUNDS):
        points = near[:, None] + (far - near)[:, None] * SECTIONS
        kernels.log_densities(factor.box, points.ravel(), heights)
        fallen = frame.top - heights.reshape(points.shape) >= fall[:, None]
        fallen[:, -1] = True
        first = fallen.argmax(1)
        far = points[np.arange(4), first]
        near = points[np.arange(4), np.maximum(first - 1, 0)]
    return far.reshape(2, 2)


def _integrated(
    factor: OneFactor, frame: FactorPeak, panels: Array, unit: Array, weight: Array
) -> tuple[Array, Array, Array]:
    """Return nodes of panels, terms and sums of the density over the peak's."""
    half = 0.5 * (panels[:, 1:] - panels[:, :1])
    z = panels[:, :1] + half * (1 + unit)
    heights = np.empty(z.size)
    with computing(z.size * max(1, factor.box.low.size) * UNIT):
        kernels.log_densities(factor.box, z.ravel(), heights)
    terms = np.exp(heights.reshape(z.shape) - frame.top) * half * weight
    return z, terms, terms.sum(1)


def moments_of_factor(factor: OneFactor) -> tuple[Estimate, Estimate]:
    """Return mean and covariance of the coordinates that have an end, in their own order."""
    box, placing, frame = factor.box, factor.placing, factor.frame
    z, shares, error, rounding = np.zeros(1), np.ones(1), 0.0, factor.rounding
    if frame is not None:
        nodes = nodes_of(factor, frame)
        z, shares, _, error = nodes
        rounding = _rounding(factor, nodes)
    peak = 0.0 if frame is None else frame.peak
    n = box.low.size
    centre = placing.mean + placing.loading * peak
    noise = _noise(factor, np.array([peak]))[0][0]
    centre[:n] += placing.scale[:n] * noise
    away = placing.loading * (z - peak)[:, None]
    inner, spread = _noise(factor, z)
    away[:, :n] += placing.scale[:n] * (inner - noise)
    first = shares @ away
    away -= first
    cov = (away * shares[:, None]).T @ away
    cov[np.arange(n), np.arange(n)] += placing.scale[:n] ** 2 * (shares @ spread)
    deviation = np.sqrt(np.diagonal(cov))
    lost = 4 * EPSILON * (np.abs(centre) + np.abs(placing.loading * peak) + deviation)
    doubt = error + 4 * (EPSILON + rounding)
    mean_error = lost + doubt * deviation
    cov_error = np.outer(lost, deviation) + np.outer(deviation, lost)
    cov_error += doubt * np.outer(deviation, deviation)
    order = np.argsort(placing.place)  # bounded ascends
    square = np.ix_(order, order)
    mean = Estimate((centre + first)[order], mean_error[order])
    return mean, Estimate(cov[square], cov_error[square])


def _noise(factor: OneFactor, z: Array) -> tuple[Array, Array]:
    """Return mean and variance of the noise of coordinates, given the factor: (z, n) each."""
    box = factor.box
    shift = z[:, None] * box.slope
    _, mean, variance = standard_moments((box.low - shift).ravel(), (box.high - shift).ravel())
    return mean.reshape(shift.shape), variance.reshape(shift.shape)


class ByFactor:
    """Numbers of a box of one factor, by integrals over it, and draws through it."""

    method = "factor"

    def __init__(self, form: BoxForm, factor: OneFactor) -> None:
        self.form, self.factor = form, factor

    def probability(self, n_points: int, seed: int) -> BoxProbability:
        """Return the log of the probability of the box; points are not needed."""
        log, error = probability_of_factor(self.factor)
        return BoxProbability(log, error, min(log + 3 * error, 0.0), 0, "factor")

    def moments(
        self, mean: Array, cov: Array, n_points: int, seed: int
    ) -> tuple[Estimate, Estimate]:
        """Return the mean and the covariance of x, of which y has ends."""
        form, (first, second) = self.form, moments_of_factor(self.factor)
        gain, size = form.gain, np.abs(form.gain)
        rest = mean - gain @ form.mean[form.bounded]
        whole = form.rest + gain @ second.value @ gain.T
        return (
            Estimate(rest + gain @ first.value, size @ first.error),
            Estimate(0.5 * (whole + whole.T), size @ second.error @ size.T),
        )

    @cached_property
    def _source(self) -> tuple[Any, ...]:
        """What draws take: x = offset + back @ w, with w drawn, or x = w; top is the highest h."""
        # Coordinates without ends are normal given the others: numbers without ends are drawn
        # beside these, and mixed.
        form, factor = self.form, self.factor
        y, d = form.bounded, form.mean.size
        box, placing, offset, back = factor.box, factor.placing, form.offset, form.back
        if free := d - y.size:
            if back is None:
                values, vectors = np.linalg.eigh(form.rest)
                root = vectors[:, y.size :] * np.sqrt(np.maximum(values[y.size :], 0.0))
                root[y] = 0.0
                back = np.hstack([form.gain, root])
                offset = form.mean - form.gain @ form.mean[y]
            box, placing = _with_free(box, placing, y, free)
        if factor.frame is None:
            nothing = np.empty(0)
            hull = Hull(nothing, nothing, nothing, np.empty((0, 8)), np.empty(0, np.int64))
            log_bound = probability_of_factor(factor)[0]
            return box, placing, hull, 0.0, log_bound, offset, back
        room = np.empty((11, TANGENTS))
        table, guide = room[3:].reshape(TANGENTS, 8), np.empty(tangents.GUIDES, np.int64)
        hull = Hull(room[0], room[1], room[2], table, guide)
        count, top, area = tangents.cover(box, hull)
        hull = Hull(room[0, :count], room[1, :count], room[2, :count], table[:count], guide)
        log_bound = top + math.log(area) - 0.5 * math.log(2 * math.pi)
        return box, placing, hull, top, log_bound, offset, back

    def draws(self, count: int, seed: int) -> tuple[Array, DrawInfo]:
        """Return so many draws, (count, d), and how they were had."""
        box, placing, hull, top, bound, offset, back = self._source
        k, blocks = placing.mean.size, -(-count // ROW)
        draws, proposals = np.empty((blocks * ROW, k)), np.empty(blocks, np.int64)
        most = max(1, NUMBERS // (ROW * k))
        for first in range(0, blocks, most):
            stop = min(first + most, blocks)
            part = draws[first * ROW : stop * ROW]
            with computing(part.size * 2 * UNIT):
                factor_draws.draw(
                    box, placing, hull, top, np.uint64(seed), first, part, proposals[first:stop]
                )
        draws, made = draws[:count], int(proposals.sum())
        if back is not None and offset is not None:
            draws = draws @ back.T + offset
        rate = blocks * ROW / made if made else float("nan")
        return draws, DrawInfo(rate, made, bound, "factor")


def _with_free(box: FactorBox, placing: Placing, y: Array, free: int) -> tuple[FactorBox, Placing]:
    """Put standard normals without ends behind the coordinates y that have noise."""
    n, place = box.low.size, np.searchsorted(y, placing.place)
    zero, infinite = np.zeros(free), np.full(free, np.inf)
    new = (zero, zero, zero + 1.0, -infinite, infinite, y.size + np.arange(free))
    old = placing._replace(place=place)
    parts = (np.concatenate([a[:n], b, a[n:]]) for a, b in zip(old, new, strict=True))
    low, high = np.append(box.low, -infinite), np.append(box.high, infinite)
    wider = box._replace(low=low, high=high, slope=np.append(box.slope, zero))
    return wider, Placing(*parts)
