"""The scalar samplers and moments inside a user's own compiled function."""

import numpy as np
from numba import njit

from trug_fast import kernels
from trug_fast.kernels.compiling import kernel

from .common import ratio_in_turns, some
from .truncnorm import REGIMES, N, regime


# What a user writes: plain njit, nothing of the package's options.
@njit
def residuals(rng, a, d, lower, upper, out):
    """Write the standardised residual of a draw of each unit."""
    for i in range(out.size):
        mean, variance = kernels.mean_variance(a[i], d[i], lower[i], upper[i])
        value = kernels.draw(rng, a[i], d[i], lower[i], upper[i])
        out[i] = (value - mean) / np.sqrt(variance)


@kernel
def own_loop(rng, a, d, lower, upper, out):
    """Do the same, compiled as the package compiles its own loops over numbers."""
    for i in range(out.size):
        mean, variance = kernels.mean_variance(a[i], d[i], lower[i], upper[i])
        value = kernels.draw(rng, a[i], d[i], lower[i], upper[i])
        out[i] = (value - mean) / np.sqrt(variance)


class Embedding:
    """A user's loop over 100,000 units of one regime."""

    params = some(REGIMES)
    param_names = ("regime",)

    def setup(self, regime_name):
        """Make the arrays and compile."""
        self.arguments = (kernels.stream(1), *regime(regime_name, "float64"), np.empty(N))
        residuals(*self.arguments)
        own_loop(*self.arguments)

    def time_residuals(self, regime_name):
        """Time a draw, a mean and a variance of each."""
        residuals(*self.arguments)

    def track_ratio_to_own_loop(self, regime_name):
        """Return the time of the user's loop over that of the package's."""
        return ratio_in_turns(lambda: residuals(*self.arguments), lambda: own_loop(*self.arguments))

    track_ratio_to_own_loop.unit = "ratio"
