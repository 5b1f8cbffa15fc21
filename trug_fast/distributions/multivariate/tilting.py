"""Minimax tilting (Botev, JRSS B 79, 2017): order of coordinates, factor, and saddle point.

Its proposal gives exact draws by rejection, and weighs quasi-random points.  Tested in
tests/distributions/multivariate/test_tilting.py, test_probability.py and test_draws.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from trug_fast._common.threads import UNIT, computing
from trug_fast.kernels.multivariate import ordering, sequential
from trug_fast.kernels.multivariate.sequential import Proposal
from trug_fast.kernels.unit.quantile_rows import ROW

from .boxes import BoxForm, BoxProbability, DrawInfo, Estimate
from .checking import Array

STEPS, HALVINGS = 500, 40
CLOSE = 1e-13  # of a step over the tilt
EPSILON = 2.3e-16
COARSE = 0.01  # error of a log density by last digits that is too much
LEAST_REPLICATES = 9  # random scramblings; up to twice as many less one
WEIGHING = 3e-12  # of a coordinate's mass in psi, see sequential.py
NUMBERS = 4_000_000  # of points that are weighed, or drawn, at once
LEAST = 1e-5  # share of proposals accepted below which there is an error,
TRIED = 16_384  # once so many have been tried


class Tilting(NamedTuple):
    """A proposal for a cut normal vector, and the log of a bound on the box's probability."""

    proposal: Proposal
    bound: float  # psi at the saddle point: log P <= bound, and psi <= bound everywhere
    rounding: float  # error of psi from the last digits of the ends


def tilting(mean: Array, cov: Array, lower: Array, upper: Array) -> Tilting:
    """Return the proposal of a normal vector cut to a box."""
    d = mean.size
    order, factor = np.empty(d, np.int64), np.empty((d, d))
    low, high = lower - mean, upper - mean
    ordering.ordered_factor(cov, low, high, order, factor)
    diag = np.diagonal(factor).copy()
    strict = np.tril(factor / diag[:, None], -1)
    low /= diag
    high /= diag
    tilt, bound, rounding = saddle_point(strict, low, high)
    proposal = Proposal(
        strict, low, high, tilt, diag, mean[order], lower[order], upper[order], order
    )
    return Tilting(proposal, bound, rounding)


def bound_holds(tilted: Tilting, psi: float) -> bool:
    """Tell whether psi is not above its bound, but for rounding."""
    return psi <= tilted.bound + 1e-8 + 8 * tilted.rounding


def standard_moments(lower: Array, upper: Array) -> Array:
    """Return log mass, mean and variance of standard normals cut to intervals, as rows."""
    out = np.empty((3, lower.size))
    ordering.standard_moments(lower, upper, *out)
    return out


def saddle_point(factor: Array, lower: Array, upper: Array) -> tuple[Array, float, float]:
    """Return the tilt that makes the highest psi lowest, by Newton; that psi, and its rounding."""
    bounded = np.isfinite(lower) | np.isfinite(upper)
    d, m = lower.size, int(bounded.sum())  # the first m: see ordering.py
    tilt = np.zeros(d)
    if m == 0:
        return tilt, 0.0, 0.0
    state = _State(np.ascontiguousarray(factor[:m, :m]), lower[:m], upper[:m], np.zeros(m))
    for _ in range(STEPS):
        improved = state.improved()
        if improved is None:
            break
        state = improved
    tilt[:m] = state.tilt
    return tilt, state.psi(), state.rounding()


class _State:
    """A tilt, whose last number stays 0, the means under it, and the slope of psi there."""

    def __init__(self, factor: Array, lower: Array, upper: Array, tilt: Array) -> None:
        self.factor, self.lower, self.upper, self.tilt = factor, lower, upper, tilt
        self.point, found = np.empty(tilt.size), np.empty((tilt.size, 4))
        ordering.mean_path(factor, lower, upper, tilt, self.point, found)
        self.origin, self.distance, self.variance, self.log_value = found.T
        self.mean = (self.origin - tilt) + self.distance
        self.slope = (factor.T @ self.mean - tilt)[:-1]

    def psi(self) -> float:
        # The last coordinate of the point counts for nothing: its tilt is 0.
        terms = self.log_value - self.tilt * self.distance - 0.5 * self.origin**2
        return float(terms.sum())

    def rounding(self) -> float:
        """Return how much psi changes with the last digits of ends, point and covariance.

        Derivatives by the mean are M / diag, half their products those by the covariance, and the
        error of S = L L' is that of the digits of |L| |L'| with L = diag (1 + factor).
        """
        ends = np.minimum(np.abs(self.lower), np.abs(self.upper))
        sums = ends + np.abs(self.factor) @ np.abs(self.point)
        widths = (sums + np.abs(self.tilt)) / (self.upper - self.lower)
        push = np.abs(self.mean)
        along = push + np.abs(self.factor).T @ push
        return EPSILON * float(push @ sums + 0.5 * along @ along + widths.sum())

    def improved(self) -> _State | None:
        """Return the state after Newton's step, or a part of it; None if there is nothing to gain.

        A part is taken where the step from there, by the same matrix, is shorter: the natural test
        of monotony.
        """
        n = self.lower.size - 1
        held = (1.0 - self.variance)[:, None] * self.factor
        moved = np.linalg.solve(np.eye(n + 1) + held, np.diag(self.variance))
        matrix = np.eye(n) - (self.factor.T @ (moved - np.eye(n + 1)))[:n, :n]
        inverse = np.linalg.inv(matrix)
        step = np.zeros(n + 1)
        step[:n] = inverse @ self.slope
        length = float(np.abs(step).max())
        share = 1.0
        if not length > CLOSE * (1.0 + float(np.abs(self.tilt).max())):
            return None
        for _ in range(HALVINGS):
            new = _State(self.factor, self.lower, self.upper, self.tilt + share * step)
            again = np.abs(inverse @ new.slope).max(initial=0.0)
            if new.variance.min() > 0 and again < length * (1.0 - 0.25 * share):
                return new
            share *= 0.5
        return None


class WeighedPoints(NamedTuple):
    """Points in replicates that are estimates of their own."""

    log_weights: Array  # (replicates, n) psi
    points: Array  # (replicates, n, m), or of no length


def head(p: Proposal, m: int) -> Proposal:
    """Return the proposal of the first m coordinates alone."""
    vectors = {name: np.ascontiguousarray(getattr(p, name)[:m]) for name in p._fields}
    vectors["factor"] = np.ascontiguousarray(p.factor[:m, :m])
    vectors["place"] = np.argsort(np.argsort(vectors["place"]))
    return Proposal(**vectors)


class ByTilting:
    """Numbers of a box by tilted quasi-random points, and draws by rejection from the proposal."""

    method = "tilting"

    def __init__(self, form: BoxForm) -> None:
        self.form = form

    @cached_property
    def _tilted(self) -> Tilting:
        form = self.form
        return tilting(form.mean, form.cov, form.lower, form.upper)

    def probability(self, n_points: int, seed: int) -> BoxProbability:
        """Return the log of the probability of the box, of which the first m coordinates matter."""
        tilted, m = self._tilted, self.form.bounded.size
        bound = tilted.bound
        if m == 0:
            return BoxProbability(0.0, 0.0, 0.0, 0, "tilting")
        proposal = head(tilted.proposal, m)
        rounding = 4 * (EPSILON + tilted.rounding)
        if m == 1:
            log = float(standard_moments(proposal.lower, proposal.upper)[0, 0])
            return BoxProbability(log, rounding, log, 0, "tilting")
        weighed = weighed_points(proposal, n_points, seed, with_points=False)
        highest = float(weighed.log_weights.max())
        if not np.isfinite(highest):  # no point has found the box: near to singular, and far out
            size = int(weighed.log_weights.size)
            return BoxProbability(float("-inf"), float("inf"), float("inf"), size, "tilting")
        relative = np.exp(weighed.log_weights - highest).mean(1)
        mean = float(relative.mean())
        error = spread_factor(relative.size) * float(relative.std(ddof=1)) / mean
        log = highest + float(np.log(mean))
        error = float(np.hypot(error, rounding + WEIGHING * m))
        bound = max(bound, log) if bound_holds(tilted, highest) else float("inf")
        return BoxProbability(log, error, bound, int(weighed.log_weights.size), "tilting")

    def moments(
        self, mean: Array, cov: Array, n_points: int, seed: int
    ) -> tuple[Estimate, Estimate]:
        """Return weighed averages of the coordinates y that have ends; x is normal given y."""
        form, m = self.form, self.form.bounded.size
        weighed = weighed_points(head(self._tilted.proposal, m), n_points, seed, with_points=True)
        # Points about the centre of all: an average of squares far out would lose its digits.
        weights = np.exp(weighed.log_weights - weighed.log_weights.max())
        centre = np.average(weighed.points.reshape(-1, m), axis=0, weights=weights.ravel())
        away = weighed.points - centre
        share = weights / weights.sum(1, keepdims=True)
        first = np.einsum("rn,rnk->rk", share, away)
        second = (away * share[:, :, None]).transpose(0, 2, 1) @ away
        second = 0.5 * (second + second.transpose(0, 2, 1))
        inner = second - first[:, :, None] * first[:, None, :]
        # x of which y = E[x | y] nothing is left: its moments are those of y, to the last digit.
        rest = mean - form.gain @ form.mean[form.bounded]
        means = rest + (centre + first) @ form.gain.T
        covs = form.rest + form.gain @ inner @ form.gain.T
        total = weights.sum(1) / weights.sum()
        return _combined(means, total), _combined(covs, total)

    def draws(self, count: int, seed: int) -> tuple[Array, DrawInfo]:
        """Return so many draws, (count, d), and how they were had."""
        form, tilted = self.form, self._tilted
        proposal, bound, rounding = tilted
        if not rounding <= COARSE:
            raise RuntimeError(
                f"exact draws need log densities right to {COARSE}, and the last digits of ends "
                f"change them by {rounding:.1g}, so far out or so near to singular is the box"
            )
        d = proposal.tilt.size
        draws, filled, first = np.empty((count, d)), 0, 0
        weights, rate = 0.0, 1.0
        most = max(1, NUMBERS // (ROW * d))
        while filled < count:
            missing = (count - filled) / max(rate, LEAST)
            blocks = int(min(most, 1 + 1.02 * missing / ROW))
            drawn, counts = np.empty((blocks, ROW, d)), np.empty(blocks, np.int64)
            totals = np.empty((blocks, 2))
            with computing(blocks * ROW * d * (0.5 * d + 2 * UNIT)):
                sequential.accept(proposal, np.uint64(seed), first, bound, drawn, counts, totals)
            if not bound_holds(tilted, highest := float(totals[:, 1].max())):
                raise RuntimeError(
                    f"the bound on the ratio of densities does not hold, {highest} above {bound}: "
                    "cov is too near to singular for its saddle point; "
                    "tf.distributions.truncmvn_gibbs draws chains"
                )
            for part, n in zip(drawn, counts, strict=True):
                taken = min(int(n), count - filled)
                draws[filled : filled + taken] = part[:taken]
                filled += taken
            first += blocks
            weights += float(totals[:, 0].sum())
            rate = weights / (first * ROW)
            if rate < LEAST and first * ROW >= TRIED:
                raise RuntimeError(
                    f"exact draws are hopeless: {rate:.1g} of {first * ROW} proposals would be "
                    "accepted; tf.distributions.truncmvn_gibbs and truncmvn_hmc draw Markov chains "
                    "instead"
                )
        rate = weights / (first * ROW) if first else float("nan")
        if form.back is not None and form.offset is not None:
            draws = draws @ form.back.T + form.offset
        return draws, DrawInfo(rate, first * ROW, bound, "tilting")


def _combined(replicates: Array, total: Array) -> Estimate:
    """Return the average of replicates by their weights, and its error by their spread."""
    value = np.einsum("r,r...->...", total, replicates)
    away = np.einsum("r,r...->r...", total, replicates - value)
    n = replicates.shape[0]
    deviation = np.sqrt((away**2).sum(0) * n * n / (n - 1))
    return Estimate(value, spread_factor(n) * deviation)


def spread_factor(replicates: int) -> float:
    """Return what turns the deviation of replicates into the error of their average.

    Student's factor at three standard errors, over three: so few replicates know their deviation to
    a fifth, and three errors are exceeded once in 370 times nevertheless.
    """
    from scipy.special import ndtr, stdtrit

    return float(stdtrit(replicates - 1, ndtr(3.0)) / 3.0 / np.sqrt(replicates))


def replicates_of(n_points: int) -> tuple[int, int]:
    """Return how many scramblings of how many points, a power of two, are at most n_points."""
    each = 1 << max(0, (n_points // LEAST_REPLICATES).bit_length() - 1)
    return max(n_points // each, 2), each


def weighed_points(
    proposal: Proposal, n_points: int, seed: int, *, with_points: bool
) -> WeighedPoints:
    """Return tilted points of the box and psi there, in pieces between which Ctrl-C is heard."""
    m = proposal.tilt.size
    replicates, each = replicates_of(n_points)
    used = m if with_points else m - 1  # what weighs the last coordinate needs no draw of it
    n = replicates * each
    log_weights, points = np.empty(n), np.empty((n if with_points else 0, m))
    width = min(each, 1 << max(NUMBERS // m, ROW).bit_length() - 1)  # points of a piece
    sources = np.random.SeedSequence(seed).spawn(replicates)
    pieces = (piece for source in sources for piece in _scrambled(used, each, width, source))
    done, together = 0, max(1, NUMBERS // (m * width))
    while batch := list(islice(pieces, together)):
        count = width * len(batch)
        uniform = np.full((m, -(-count // ROW) * ROW), 0.5)
        uniform[:used, :count] = np.concatenate(batch).T
        found = np.empty(uniform.shape[1])
        places = np.empty((found.size if with_points else 0, m))
        with computing(uniform.size * (0.5 * m + 2 * UNIT)):
            sequential.weigh(proposal, uniform, found, places)
        log_weights[done : done + count] = found[:count]
        points[done : done + count] = places[:count]
        done += count
    shaped = points.reshape(replicates, each, m) if with_points else points[None]
    return WeighedPoints(log_weights.reshape(replicates, each), shaped)


def _scrambled(
    dimensions: int, n: int, width: int, source: np.random.SeedSequence
) -> Iterator[Array]:
    """Yield the n points of a scrambling, so many at a time."""
    from scipy.stats import qmc  # 0.3 s to import

    generator = np.random.default_rng(source)
    if dimensions > qmc.Sobol.MAXDIM:
        for _ in range(0, n, width):
            yield generator.random((width, dimensions)) * (1 - 2.0**-52) + 2.0**-53
        return
    bits = 30
    sobol = qmc.Sobol(dimensions, scramble=True, bits=bits, seed=generator)
    for _ in range(0, n, width):
        points: Array = sobol.random(width) + 0.5 ** (bits + 1)
        yield points  # in the middle of cells: never 0
