"""Chains of truncated normal vectors: time of a draw, and of an independent one; one thread."""

import numba
import numpy as np
import scipy.sparse as sp

import trug_fast as tf

from .common import some

DIMENSIONS = [2, 50, 500]
N = 1000  # draws of all chains together
SAMPLERS = {"gibbs": tf.distributions.truncmvn_gibbs, "hmc": tf.distributions.truncmvn_hmc}


class Chains:
    """An orthant of correlations 1/2, by either sampler, of few chains and of many."""

    params = (list(SAMPLERS), some(DIMENSIONS), [4, 64])
    param_names = ("sampler", "d", "n_chains")

    def setup(self, sampler, d, n_chains):
        """Prepare, and compile."""
        numba.set_num_threads(1)
        self.cov, self.given = 0.5 * (np.eye(d) + 1), {"n_chains": n_chains, "progress": False}
        self.draws(sampler, n_samples=2, n_burn=0)

    def draws(self, sampler, **given):
        """Return chains."""
        return SAMPLERS[sampler](None, self.cov, 0.0, rng=1, **self.given, **given)

    def time_draws(self, sampler, d, n_chains):
        """Time the draws, setup included."""
        self.draws(sampler, n_samples=max(1, N // n_chains), n_burn=0)

    def track_ess(self, sampler, d, n_chains):
        """Return the least effective share of the draws."""
        chains = self.draws(sampler, n_samples=max(100, N // n_chains))
        return float(chains.ess.min() / chains.samples[..., 0].size)


class Lattice:
    """Gibbs sampling of a lattice of neighbours that are alike, above 0: a sparse precision."""

    params = some([30, 100])
    param_names = ("side",)

    def setup(self, side):
        """Prepare, and compile."""
        numba.set_num_threads(1)
        ones = np.ones(side - 1)
        line = sp.diags([-ones, -ones], offsets=[-1, 1])
        others = sp.csr_array(sp.kron(line, sp.eye(side)) + sp.kron(sp.eye(side), line))
        self.precision = (others + sp.diags(0.1 - others.sum(axis=0))).tocsr()
        self.time_sweeps(side, 2)

    def time_sweeps(self, side, n=50):
        """Time sweeps of four chains."""
        tf.distributions.truncmvn_gibbs(
            precision=self.precision, lower=0, n_samples=n, n_burn=0, rng=1, progress=False
        )
