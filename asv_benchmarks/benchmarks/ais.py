"""Annealed importance sampling: 100 chains, 784 visible and 500 hidden units, float32."""

import numba
import numpy as np

import trug_fast as tf
from trug_fast.evaluation.bridges import paths
from trug_fast.evaluation.bridges.bridge import Bridge, cross

from .common import CHAINS, INTERVALS, THREADS, Products, model_of, random_model, ratio, some

TEMPERATURES = 5  # a call short enough that other work on the machine spares some


def way(model, temperatures=10_000):
    """Return the way to the model in steps as small as those of a real run."""
    path = paths.along("quad", paths.uniform(temperatures), np.zeros(model.n_visible))
    return Bridge(model.layers(), path, 0)


class Temperatures:
    """Five temperatures half way through a run of 10,000."""

    params = (["[0, 1]", "[0, 4]", "Bernoulli"], THREADS)
    param_names = ("units", "threads")

    def setup(self, units, threads):
        """Make the model and compile."""
        numba.set_num_threads(threads)
        begun = way(model_of(units)).begun(CHAINS)
        self.bridge = begun.at(begun.values, begun.steps // 2)
        self.products = Products(threads)
        self.anneal()

    def anneal(self):
        """Run all chains."""
        cross(self.bridge, self.bridge.step + TEMPERATURES)

    def time_temperatures(self, units, threads):
        """Time five temperatures."""
        self.anneal()

    def track_ratio_to_products(self, units, threads):
        """Return the time of a temperature over that of its two matrix products alone."""
        of_run = ratio(
            self.anneal, self.products.of_temperature, self.products.limit, rounds=4, calls=4
        )
        return of_run / TEMPERATURES


class TwoProducts:
    """The floor of a temperature: its matrix products alone, by NumPy."""

    params = THREADS
    param_names = ("threads",)

    def setup(self, threads):
        """Set the threads."""
        self.products = Products(threads)
        self.limit = self.products.limit()
        self.products.of_temperature()

    def teardown(self, threads):
        """Set the threads back."""
        self.limit.restore_original_limits()

    def time_products(self, threads):
        """Time two products."""
        self.products.of_temperature()


class Quality:
    """Estimates for a model small enough to enumerate: 1,000 temperatures, 100 chains."""

    params = some(INTERVALS)
    param_names = ("interval",)

    def setup(self, interval):
        """Estimate log Z."""
        self.model = random_model(12, 40, INTERVALS[interval], "float64")
        self.estimate = tf.log_partition(self.model, n_temperatures=1000, rng=0)

    def track_standard_error(self, interval):
        """Return the estimate's own error bar, in nats."""
        return self.estimate.std_error

    def track_error(self, interval):
        """Return the estimate minus the exact value, in nats."""
        return self.estimate.log_z - tf.exact.log_partition(self.model)
