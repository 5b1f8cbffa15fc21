"""Annealed importance sampling: 100 chains, 784 visible and 500 hidden units, float32."""

import math

import numba

import trug_fast as tf

from .common import (
    CHAINS,
    HIDDEN,
    THREADS,
    VISIBLE,
    Products,
    random_machine,
    ratio,
)

INTERVALS = {"[0, 1]": (0.0, 1.0), "[0, 4]": (0.0, 4.0), "[0, inf)": (0.0, math.inf)}
TEMPERATURES = 20


class Temperatures:
    """Twenty temperatures."""

    params = (["[0, 1]", "[0, 4]"], THREADS)
    param_names = ("interval", "threads")

    def setup(self, interval, threads):
        """Make the machine and compile."""
        numba.set_num_threads(threads)
        self.machine = random_machine(VISIBLE, HIDDEN, INTERVALS[interval], "float32")
        self.products = Products(threads)
        self.anneal(1)

    def anneal(self, temperatures=TEMPERATURES):
        """Run all chains."""
        tf.log_partition(
            self.machine, n_chains=CHAINS, n_temperatures=temperatures, rng=0, progress=False
        )

    def time_temperatures(self, interval, threads):
        """Time twenty temperatures."""
        self.anneal()

    def track_ratio_to_products(self, interval, threads):
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
    """Estimates for a machine small enough to enumerate: 1,000 temperatures, 100 chains."""

    params = list(INTERVALS)
    param_names = ("interval",)

    def setup(self, interval):
        """Estimate log Z."""
        self.machine = random_machine(12, 40, INTERVALS[interval], "float64")
        self.estimate = tf.log_partition(self.machine, n_temperatures=1000, rng=0)

    def track_standard_error(self, interval):
        """Return the estimate's own error bar, in nats."""
        return self.estimate.std_error

    def track_error(self, interval):
        """Return the estimate minus the exact value, in nats."""
        return self.estimate.log_z - tf.exact.log_partition(self.machine)
