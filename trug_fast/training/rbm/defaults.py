"""What :func:`trug_fast.train_rbm` chooses by the data where its caller leaves a choice open."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm.turning import Turns
from trug_fast.training.chunks import LOOKED, RowSource
from trug_fast.training.gathering import spaced, take
from trug_fast.training.unit_parameters import Shape
from trug_fast.training.weighing import Weights, normalised
from trug_fast.units.kinds import Runs
from trug_fast.units.layer import Layer
from trug_fast.units.truncation import Truncation

from .turning import mirrored, turns_of

# Measured on binarized MNIST with 500 hidden units; see notes/training.md.
BEST_TRUNCATION = Truncation(0.0, 4.0, learn="per_unit")
# Of data that look the same turned over, whose units see fields of both signs alike.  Measured by
# tools/magnets.py: [0, 4] makes terms of odd order at first, and learns noise by them.
SYMMETRIC = Truncation(-4.0, 4.0, learn="per_unit")
TRUNCATION_RATES = {"sgd": (0.005, 0.0005), "rmsprop": (1e-4, 1e-6), "adam": (1e-4, 1e-6)}
PRECISION_RATES = {"sgd": (30.0, 3.0), "rmsprop": (1e-2, 1e-4), "adam": (1e-2, 1e-4)}
# Of log a of visible units: the variance of its derivative by one row is 1/2, whatever the units.
VISIBLE_RATES = {"sgd": (0.05, 0.0025), "rmsprop": (2e-3, 1e-4), "adam": (2e-3, 1e-4)}
AVERAGE = 0.1  # share of the updates so far

# Measured by tools/compare_defaults.py; see notes/training.md.
N_CHAINS = 100  # fewer gather in one mode of small data sets: that costs nats and saves little time
INPUT = 0.2  # standard deviation of a unit's first input, in units of one over the unit's own
STEADY = 5.0  # variance along a direction of the data up to which the full rate is steady
# So many times that where chains are turned over; more for units with ends on both sides alike, by
# whether they have them: their rate follows the variance without input, and phases push them away.
BOLDER = {False: 2.0, True: 4.0}
RATED = 0.363  # variance of a unit on [0, 4], for which SGD's rates are
# By whether visible units are Gaussian and whether an end is infinite: units without a bound push
# themselves on, and diverge at twice these rates on some data.
SGD = {
    (False, False): 0.2,
    (False, True): 0.1,
    (True, False): 0.1,
    (True, True): 0.0125,
}
DECAY = 20.0  # of rates over a run
ADAPTIVE = (
    0.03  # rate of RMSprop and Adam, in initial weights; at twice that they pass the best point
)
REACH = 12.0  # standard deviations beyond which a Gaussian is nothing
NODES = 80  # of a quadrature, of whose result two digits are used


def usual_batch_size(rows: int) -> int:
    """Return the rows of a batch: 200 updates an epoch where 10 to 100 rows make that many."""
    return min(100, max(10, rows // 200))


def usual_truncation(data: NDArray[Any] | RowSource, *, real: bool) -> Truncation:
    """Return where units are cut: on both sides alike if discrete data look the same turned over.

    Real numbers had nothing of it: two sets of six columns or fewer lost 0.05 to 0.1 nats.
    """
    rows = data.spaced if isinstance(data, RowSource) else data
    symmetric = not real and mirrored(take(rows, spaced(len(rows), LOOKED)))
    return SYMMETRIC if symmetric else BEST_TRUNCATION


class ByData:
    """Choices for training units on some data.

    All are rounded to two digits, so that they do not depend on the order in which a machine sums.

    Parameters
    ----------
    data : ndarray or RowSource, shape (rows, n_visible)
    truncation : Truncation or None
        Where hidden units are cut at the start; None for Bernoulli units.
    precision : float
        d of TruG units.
    weights : ndarray, shape (rows,), optional
    """

    def __init__(
        self,
        data: NDArray[Any] | RowSource,
        truncation: Truncation | None,
        precision: float,
        weights: Weights | None = None,
    ) -> None:
        self._data = data.spaced if isinstance(data, RowSource) else data
        self._weights = None
        if weights is not None:
            self._weights = normalised(weights[spaced(weights.size, LOOKED)])
        self._truncation, self._precision = truncation, precision

    @classmethod
    def of(
        cls, data: NDArray[Any] | RowSource, shape: Shape, weights: Weights | None = None
    ) -> ByData:
        """Choose for units of these shapes, by the middle one of their numbers."""
        precision, lower, upper = (float(np.median(values)) for values in shape[:3])
        ends = None if shape.truncation is None else Truncation(lower, upper)
        return cls(data, ends, precision, weights)

    @property
    def scale(self) -> float:
        """Standard deviation of the initial weights.

        Weights of 0 are a saddle point, which training leaves slowly.  These give units of any
        width, on data of any number of columns, inputs that matter a little.
        """
        rows, shares = self._centred
        # Products may have too large a diagonal.
        total = float(np.trace(self._products))
        if shares is not None:
            total = float(((rows * rows).sum(axis=0) / shares).sum() / len(rows))
        if total == 0:
            return 0.01  # constant data, for which no weight matters
        return _rounded(INPUT / (self._deviation * math.sqrt(total)))

    def learning_rate(
        self, optimizer: str, *, real: bool, scale: float = 1.0, turned: bool = False
    ) -> tuple[float, float]:
        """Return the rate at the start and at the end.

        In coordinates in which the unit has variance 1, a step of SGD for its weights is the rate
        times its variance.  It grows like the variance of the data along the step, and overshoots
        where that is large.  Steps of the other optimizers are as large as their rate: it is a
        share of the weights' natural size.

        scale : of the distance of states, in that of zeros and ones.  Of spins, where it is 2, the
            weights are half, and the variances four times: a quarter of the rate makes the same of
            a model (mathematics 2.12).
        """
        if optimizer != "sgd":
            start = ADAPTIVE * self.scale
            return _rounded(start), _rounded(start / DECAY)
        less = scale**2
        ends = self._truncation
        symmetric = ends is not None and ends.lower == -ends.upper > -math.inf
        steady = STEADY * (BOLDER[symmetric] if turned else 1.0)
        factor = RATED / self._deviation**2 * steady / max(self._largest / less, steady) / less
        start = factor * SGD[real, self._endless]
        return _rounded(start), _rounded(start / DECAY)

    def turns(self, runs: Runs) -> Turns | None:
        """Return the map that turns rows over into another phase, if the data have one.

        Only where they vary along one direction so much that chains may stay on one side, and not
        of real numbers with hidden units without an end: those may be close to having no density.
        """
        layer = Layer(runs)
        if self._endless and layer.some("real"):
            return None
        if self._largest / layer.scale**2 <= STEADY:
            return None
        return turns_of(take(self._data, spaced(len(self._data), LOOKED)), runs)

    @property
    def _endless(self) -> bool:
        ends = self._truncation
        return ends is not None and math.isinf(ends.upper - ends.lower)

    @cached_property
    def _largest(self) -> float:
        """The variance along the direction in which the data vary most."""
        with one_blas_thread():
            return float(np.linalg.eigvalsh(self._products)[-1])

    @cached_property
    def _centred(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Rows less the means of columns, 0 where a value is missing; the shares of those there.

        Weighted rows are multiplied by the roots of their weights: so their products are weighted.
        """
        rows = take(self._data, spaced(len(self._data), LOOKED)).astype(np.float64)
        weights = np.ones(len(rows)) if self._weights is None else self._weights
        root, there = np.sqrt(weights)[:, None], ~np.isnan(rows)
        if there.all():
            return root * (rows - (weights[:, None] * rows).mean(axis=0)), None
        known = np.where(there, weights[:, None], 0).sum(axis=0)
        known = np.where(known > 0, known, 1.0)
        means = np.where(there, weights[:, None] * rows, 0).sum(axis=0) / known
        return root * np.where(there, rows - means, 0), known / len(rows)

    @cached_property
    def _products(self) -> NDArray[np.float64]:
        """The covariance of the columns, or a matrix with the same eigenvalues but for zeros.

        With missing values that of pairs that are there is what it has off the diagonal, on
        average.  The diagonal is larger then, so that rates come out lower, not higher.
        """
        rows, shares = self._centred
        if shares is not None:
            rows = rows / shares
        with one_blas_thread():
            products = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
        return np.asarray(products / len(rows))

    @cached_property
    def _deviation(self) -> float:
        """The standard deviation of a hidden unit without input.

        One that has its modes at its ends (``precision <= 0``) is taken where it prefers neither.
        """
        ends, precision = self._truncation, self._precision
        if ends is None:
            return 0.5
        low, high, centre = ends.lower, ends.upper, 0.0
        if precision > 0:
            mode, reach = min(max(0.0, low), high), REACH / math.sqrt(precision)
            low, high = max(low, mode - reach), min(high, mode + reach)
        else:
            centre = low / 2 + high / 2
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        at = (1 + nodes) / 2  # of the way from low to high
        with np.errstate(all="ignore"):
            exponent = -0.5 * precision * (low - centre + at * (high - low)) ** 2
            share = weights * np.exp(exponent - exponent.max())
            share /= share.sum()
            deviation = (high - low) * math.sqrt(share @ (at - share @ at) ** 2)
        # What has no density or is beyond floats is refused elsewhere.
        return deviation if 0 < deviation < math.inf else 1.0


def _rounded(value: float) -> float:
    return float(f"{value:.1e}")
