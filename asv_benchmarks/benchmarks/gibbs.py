"""Sampling: block Gibbs sweeps of 100 chains, 784 visible and 500 hidden units, float32."""

import time

import numba
import numpy as np

import trug_fast as tf

from .common import (
    CHAINS,
    INTERVALS,
    THREADS,
    VISIBLE,
    fast_decile,
    model_of,
    random_model,
    random_pixels,
    some,
    times,
)

SWEEPS = 20


class Sweeps:
    """Twenty sweeps."""

    params = (["Bernoulli", *some(INTERVALS)], THREADS)
    param_names = ("units", "threads")

    def setup(self, units, threads):
        """Make the model and compile."""
        numba.set_num_threads(threads)
        self.model = model_of(units)
        self.start = random_pixels(CHAINS, VISIBLE, "float32")
        self.model.sample(start=self.start, n_gibbs=1, rng=0)

    def time_sweeps(self, units, threads):
        """Time twenty sweeps."""
        self.model.sample(start=self.start, n_gibbs=SWEEPS, rng=0)


class Speedup:
    """What more threads bring."""

    def track_all_threads_over_one(self):
        """Return the time of one thread over that of all."""
        target, start = model_of("[0, 4]"), random_pixels(CHAINS, VISIBLE, "float32")
        found = {threads: [] for threads in THREADS}
        for _ in times(8):
            for threads in THREADS:
                numba.set_num_threads(threads)
                begun = time.perf_counter()
                target.sample(start=start, n_gibbs=SWEEPS, rng=0)
                found[threads].append(time.perf_counter() - begun)
        return fast_decile(found[THREADS[0]]) / fast_decile(found[THREADS[-1]])


class Quality:
    """Whether the chains have the right distribution."""

    def track_worst_pixel_z_score(self):
        """Return the worst error of 10 pixel means in standard errors: seldom 4 if all is well."""
        target = random_model(10, 8, (0.0, 4.0), "float64")
        states = tf.exact.binary_states(10)
        weight = np.exp(-target.free_energy(states) - tf.exact.log_partition(target))
        mean = weight @ states
        n = 20_000
        drawn = target.sample(n, n_gibbs=50, rng=0).mean(axis=0)
        return float((np.abs(drawn - mean) / np.sqrt(mean * (1 - mean) / n)).max())
