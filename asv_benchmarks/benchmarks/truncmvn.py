"""Truncated normal vectors: exact draws, probabilities, and their errors; one thread."""

import numba
import numpy as np
from scipy import stats

import trug_fast as tf

from .common import some

DIMENSIONS = [2, 10, 50, 100]
N = 1000
METHODS = ["factor", "tilting"]


class Draws:
    """An orthant of correlations 1/2: N draws, setup included, and from a frozen distribution."""

    params = (some(DIMENSIONS), METHODS)
    param_names = ("d", "method")

    def setup(self, d, method):
        """Prepare, and compile."""
        numba.set_num_threads(1)
        self.parameters = np.zeros(d), 0.5 * (np.eye(d) + 1), np.zeros(d)
        self.frozen = tf.truncmvn(*self.parameters, method=method)
        self.frozen.rvs(N, rng=0)

    def time_rvs(self, d, method):
        """Draw, and find what proposals take."""
        tf.truncmvn(*self.parameters, method=method).rvs(N, rng=1)

    def time_frozen_rvs(self, d, method):
        """Draw."""
        self.frozen.rvs(N, rng=1)

    def track_acceptance(self, d, method):
        """Share of proposals accepted."""
        return self.frozen.rvs(N, rng=1, return_info=True)[1].acceptance


class Probabilities:
    """The probability of the same orthant, 1/(d + 1): an integral, or 10,000 points."""

    params = (some(DIMENSIONS), METHODS)
    param_names = ("d", "method")

    def setup(self, d, method):
        """Prepare, and compile."""
        numba.set_num_threads(1)
        self.mean, self.cov = np.zeros(d), 0.5 * (np.eye(d) + 1)
        self.frozen = tf.truncmvn(self.mean, self.cov, 0.0, method=method)
        self.frozen.logprob(rng=0)

    def time_logprob(self, d, method):
        """Time the estimate."""
        self.frozen.logprob(rng=1)

    def track_error(self, d, method):
        """Root mean square of the relative error."""
        errors = [np.expm1(self.frozen.logprob(rng=s).log + np.log(d + 1)) for s in range(8)]
        return float(np.sqrt(np.mean(np.square(errors))))

    def track_stated_error(self, d, method):
        """Return what is stated of it."""
        return self.frozen.logprob(rng=1).relative_error


class Peer:
    """SciPy's probability of the same orthant."""

    params = some(DIMENSIONS)
    param_names = ("d",)

    def setup(self, d):
        """Prepare."""
        self.mean, self.cov = np.zeros(d), 0.5 * (np.eye(d) + 1)

    def time_scipy_cdf(self, d):
        """Time it, of 10,000 points."""
        stats.multivariate_normal.cdf(
            self.mean, self.mean, self.cov, maxpts=10_000, abseps=0, releps=0
        )
