"""Truncated Gaussian visible units: real numbers in an interval (mathematics 2.11).

They are hidden units that are seen: what those need of kernels is all that these do.

Tested in tests/models/test_truncated_visible.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.mapping import blocks
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm import visible as kernels
from trug_fast.kernels.rbm.visible import VisibleKinds, one_kind, visible_kinds

from .hidden_units import TruGHidden, log_norms
from .visible_kinds import Run, interval_of
from .visible_units import SMOOTHING, Floats, Visible, require

STEPS = 100  # of the search for a net input, more than it ever takes
CLOSE = 1e-10  # of a mean, in standard deviations of its unit


class TruncatedVisible(Visible):
    """Real numbers in an interval; given the hidden ones, truncated normals.

    Parameters
    ----------
    run : Run
    precision : ndarray, shape (sites,)
        Before truncation.
    """

    code = kernels.TRUNCATED

    def __init__(self, run: Run, precision: FloatArray) -> None:
        self.run, self.precision = run, precision.astype(np.float64)

    def checked(
        self,
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of numbers in the interval."""
        array = checks.matrix(name, value, sites, missing=missing)
        for start, part in blocks(array):
            self.require_states(name, part, 0, start)
        return array

    def require_states(self, name: str, rows: NDArray[Any], first: int, start: int = 0) -> None:
        """Refuse columns of data, the first of which has this number, that lie outside."""
        # As float32 has them: models may be of that, and what they draw may end there.
        low, high = np.float32(self.run.lower), np.float32(self.run.upper)

        def within(x: NDArray[Any]) -> NDArray[np.bool_]:
            near = x.astype(np.float32)
            return np.asarray((near >= low) & (near <= high) & (abs(x) < np.inf))

        require(name, rows, f"in {interval_of(self.run)}", within, first, start)

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        self.require_states(name, values, first)

    def for_kernels(self, dtype: Any) -> VisibleKinds:
        """Return the units as the kernels take them."""
        ends = np.repeat([[self.run.lower], [self.run.upper]], self.run.sites, axis=1)
        return visible_kinds(self.spans(), self.precision.astype(dtype), ends.astype(dtype))

    def energy(self, X: Floats) -> Floats:
        """Return x'diag(a)x / 2 of each row."""
        return np.asarray(0.5 * (X * X) @ self.precision)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return self._moments(net).mean

    def variance(self, net: Floats) -> Floats:
        """Return the units' variances at their net inputs."""
        return self._moments(net).variance

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        rows = np.ascontiguousarray(np.atleast_2d(net), np.float64)
        with computing(work(len(rows), rows.shape[1], rows.shape[1])):
            found = log_norms(self._as_hidden(np.eye(rows.shape[1])), rows)
        return found.reshape(np.shape(net)[:-1])

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means, not quite those if they are at an end."""
        low, high = self.run.lower, self.run.upper
        if math.isfinite(high - low):
            inwards = SMOOTHING * (high - low)
            wanted = low + (mean.astype(np.float64) - low + inwards) / (1 + 2 * SMOOTHING)
        else:
            room = SMOOTHING / np.sqrt(self.precision)
            wanted = np.clip(mean.astype(np.float64), low + room, high - room)
        return self._net_of(wanted).astype(mean.dtype)

    def _net_of(self, mean: Floats) -> Floats:
        """Return the net inputs at which units inside their interval have these means.

        By Newton's steps, where they stay between bounds: away from an end a unit's mean is less
        than an exponential's, 1 over its steepness.
        """
        ends = self.run.lower, self.run.upper
        least, most = mean * self.precision, mean * self.precision
        if math.isfinite(ends[0]):
            least = ends[0] * self.precision - 1 / (mean - ends[0])
        if math.isfinite(ends[1]):
            most = ends[1] * self.precision + 1 / (ends[1] - mean)
        net = np.clip(mean * self.precision, least, most)
        for _ in range(STEPS):
            found = self._moments(net)
            gap = mean - found.mean
            if (abs(gap) <= CLOSE * np.sqrt(found.variance)).all():
                break
            least, most = np.where(gap > 0, net, least), np.where(gap < 0, net, most)
            with np.errstate(all="ignore"):
                step = net + gap / found.variance
            inside = (step > least) & (step < most)
            net = np.where(gap == 0, net, np.where(inside, step, 0.5 * (least + most)))
        return net

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return draws of the units without the hidden ones."""
        return self.independent(rng, rows, bias.astype(np.float64))

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        net, drawn = np.empty((rows, bias.size)), np.empty((rows, bias.size))
        net[:] = bias
        address = gibbs.Address(int(rng.integers(2**63)), HIDDEN, 0, 0)
        with computing(work(rows, bias.size, bias.size)):
            gibbs.draw_hidden(self._as_hidden(), net, address, drawn)
        return drawn

    def _as_hidden(self, weights: Floats | None = None) -> gibbs.Layers:
        """Return the units as hidden ones, with weights where net inputs are not given."""
        sites = self.run.sites
        low, high = (np.full(sites, end) for end in (self.run.lower, self.run.upper))
        none = np.zeros((1, sites))
        return gibbs.Layers(
            read_only(none if weights is None else weights),
            none,
            none,
            *TruGHidden(self.precision, low, high).for_kernels(),
            one_kind(sites, np.empty(0)),
        )

    def _moments(self, net: Floats) -> gibbs.Moments:
        """Return the moments of units at these net inputs, of any shape (..., sites)."""
        rows = np.ascontiguousarray(np.atleast_2d(net), np.float64)
        mean, variance, none = np.empty_like(rows), np.empty_like(rows), np.empty((0, 0))
        found = gibbs.Moments(rows, mean, variance, none, none)
        with computing(work(len(rows), 1, rows.shape[1])):
            gibbs.moments_from_net(self._as_hidden(), found)
        mean, variance = mean.reshape(np.shape(net)), variance.reshape(np.shape(net))
        return gibbs.Moments(net, mean, variance, none, none)
