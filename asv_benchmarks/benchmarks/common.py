"""What the benchmarks share: sizes, threads, and how two times are compared."""

import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import trug_fast as tf

# The tests' tables and their exact probability transform are used here too.
sys.path.append(str(Path(__file__).resolve().parents[2]))

T = TypeVar("T")
# Set where it only matters whether benchmarks run, as in `.ci/run`: of parameters that choose no
# other code one is enough, and one round of measurements.
ONCE = bool(os.environ.get("BENCHMARKS_ONCE"))


def some(values: Iterable[T]) -> list[T]:
    """Return parameters that choose no other code: the first alone where that is enough."""
    return list(values)[: 1 if ONCE else None]


def times(rounds: int) -> range:
    """Return what measures so many times, or once where that is enough."""
    return range(1 if ONCE else rounds)


CHAINS, VISIBLE, HIDDEN = 100, 784, 500  # of the timed models: binarized MNIST's usual size
INTERVALS = {"[0, 1]": (0.0, 1.0), "[0, 4]": (0.0, 4.0), "[0, inf)": (0.0, math.inf)}
MOST = numba.config.NUMBA_NUM_THREADS
THREADS = [MOST] if ONCE else sorted({1, MOST})
# Seconds of rest: idle threads of one runtime spin and slow the other.  OpenBLAS's do so for 0.1 s:
# after a rest of 0.05 s the first six updates on two threads took 10 ms instead of 3.
REST = 0.2
WARM = 0.05  # after it, threads share one core until the system moves them apart, for up to 0.03 s


def random_model(
    n_visible: int, n_hidden: int, interval: tuple[float, float], dtype: str
) -> tf.TruGRBM:
    """Return a model with small random weights, the same in every run."""
    rng = np.random.default_rng(1)
    weights = rng.normal(0.0, 0.05, (n_visible, n_hidden)).astype(dtype)
    return tf.TruGRBM(weights, -0.5, -0.2, 1.0, *interval)


def model_of(units: str) -> tf.TruGRBM | tf.BernoulliRBM:
    """Return a model of the usual size, of TruG units on an interval or of Bernoulli units."""
    if units == "Bernoulli":
        trug = random_model(VISIBLE, HIDDEN, INTERVALS["[0, 1]"], "float32")
        return tf.BernoulliRBM(trug.weights, trug.visible_bias, trug.hidden_bias)
    return random_model(VISIBLE, HIDDEN, INTERVALS[units], "float32")


def random_pixels(rows: int, columns: int, dtype: str) -> np.ndarray:
    """Return zeros and ones, a fifth of them ones."""
    return (np.random.default_rng(2).random((rows, columns)) < 0.2).astype(dtype)


class Products:
    """The matrix products alone, by NumPy, on a given number of BLAS threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.visible = random_pixels(CHAINS, VISIBLE, "float32")
        self.hidden = np.random.default_rng(3).random((CHAINS, HIDDEN), np.float32)
        self.weights = np.random.default_rng(4).random((VISIBLE, HIDDEN), np.float32)
        self._up, self._down = np.empty_like(self.hidden), np.empty_like(self.visible)
        self._outer = np.empty_like(self.weights)

    def up(self) -> None:
        """Multiply (chains, visible) by (visible, hidden)."""
        np.matmul(self.visible, self.weights, out=self._up)

    def down(self) -> None:
        """Multiply (chains, hidden) by (hidden, visible)."""
        np.matmul(self.hidden, self.weights.T, out=self._down)

    def outer(self) -> None:
        """Multiply (visible, chains) by (chains, hidden)."""
        np.matmul(self.visible.T, self.hidden, out=self._outer)

    def of_update(self) -> None:
        """Do the five products of an update."""
        self.up()
        self.down()
        self.up()
        self.outer()
        self.outer()

    def of_temperature(self) -> None:
        """Do the two products of an annealing step."""
        self.up()
        self.down()

    def limit(self) -> threadpool_limits:
        """Set the BLAS threads; the result undoes it."""
        return threadpool_limits(self.threads, "blas")


def fast_decile(times: list[float]) -> float:
    """Return a time that other work on the machine disturbs little."""
    return float(np.quantile(times, 0.1))


def seconds(
    function: Callable[[], object], calls: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Time each of some calls, after a rest and some calls that are not counted."""
    calls, warm = (1, 0.0) if ONCE else (calls, WARM)
    time.sleep(0.0 if ONCE else REST)
    found: list[float] = []
    skipped = 0
    while len(found) < calls + skipped:
        begun = clock()
        function()
        found.append(clock() - begun)
        if sum(found[:-1]) < warm:
            skipped += 1
    return found[skipped:]


def ratio(
    ours: Callable[[], object],
    products: Callable[[], object],
    limit: Callable[[], threadpool_limits],
    rounds: int = 4,
    calls: int = 8,
) -> float:
    """Return how much longer ours takes than products, measured in turns."""
    our_times: list[float] = []
    product_times: list[float] = []
    for _ in times(rounds):
        our_times += seconds(ours, calls)
        with limit():
            product_times += seconds(products, 2 * calls)
    return fast_decile(our_times) / fast_decile(product_times)


def ratio_in_turns(
    ours: Callable[[], object], other: Callable[[], object], rounds: int = 4, calls: int = 5
) -> float:
    """Return how much longer ours takes than another function, measured in turns."""
    our_times: list[float] = []
    other_times: list[float] = []
    for _ in times(rounds):
        our_times += seconds(ours, calls)
        other_times += seconds(other, calls)
    return fast_decile(our_times) / fast_decile(other_times)
