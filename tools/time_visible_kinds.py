"""Time updates and annealing of an RBM by the kind of its visible units, beside dense products.

Prints milliseconds of processor time, the least of several, of one thread: batches and chains of
100, 53 units of 21 states (or as many columns of another kind), 200 hidden units, float32::

    NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tools.time_visible_kinds
    ... python -m tools.time_visible_kinds --sizes 392,2,500 --kinds gaussian truncated
"""

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np

import trug_fast as tf
from tools.processor import describe
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.partition import paths, runs

ROWS, UPDATES, TEMPERATURES = 100, 10, 20
KINDS = ("bernoulli", "categorical", "spin", "gaussian", "truncated")
UNITS = {"truncated": tf.TruncatedUnits("sigmoid")}  # others by their words


class Sizes(NamedTuple):
    """Sizes of a model."""

    sites: int
    states: int
    hidden: int

    @property
    def columns(self):
        """How many columns there are, whatever their kind."""
        return self.sites * self.states


def least(function, calls):
    """Return the least processor time of a call in milliseconds; the first compiles."""
    function()
    found = []
    for _ in range(calls):
        begun = time.process_time()
        function()
        found.append(time.process_time() - begun)
    return 1e3 * min(found)


def data_of(kind, sizes):
    """Return rows of this kind, as users have them, and as kernels do."""
    rng, rows = np.random.default_rng(0), UPDATES * ROWS
    if kind in ("gaussian", "truncated"):
        draw = rng.normal if kind == "gaussian" else rng.random
        found = draw(size=(rows, sizes.columns))
        return found, found
    states = rng.integers(0, sizes.states, (rows, sizes.sites))
    columns = np.eye(sizes.states)[states].reshape(rows, sizes.columns)
    if kind == "categorical":
        return states, columns
    found = 2 * columns - 1 if kind == "spin" else columns
    return found, found


def products(sizes):
    """Return the times of the products of an update and of a temperature."""
    x = data_of("categorical", sizes)[1][:ROWS].astype(np.float32)
    h, w = (np.ones((rows, sizes.hidden), np.float32) for rows in (ROWS, sizes.columns))
    with one_blas_thread():
        up, down, outer = (least(f, 40) for f in (lambda: x @ w, lambda: h @ w.T, lambda: x.T @ h))
    return 2 * up + down + 2 * outer, up + down


def update(kind, sizes, calls):
    """Return the time of an update of persistent contrastive divergence."""
    X, ends, units = data_of(kind, sizes)[0], [], UNITS.get(kind, kind)
    tf.train_rbm(
        X, sizes.hidden, truncation="s-learn", visible=units,
        sampler=tf.training.PCD(n_chains=ROWS), batch_size=ROWS, epochs=calls,
        learning_rate=1e-4, monitor=None, progress=False, rng=0,
        callbacks=[lambda epoch: ends.append(time.process_time())],
    )  # fmt: skip
    return 1e3 * min(np.diff(ends)) / UPDATES


def temperature(kind, sizes, on_hidden, calls):
    """Return the time of a temperature, half way through 10,000."""
    shape = (sizes.columns, sizes.hidden)
    w = np.random.default_rng(1).normal(0, 0.05, shape).astype(np.float32)
    w = w.reshape(sizes) if kind == "categorical" else w
    precision = 1.0 if kind in ("gaussian", "truncated") else None
    units = UNITS.get(kind, kind)
    model = tf.TruGRBM(w, 0.0, 0.0, 1.0, 0.0, 1.0, precision, visible=units)
    path = paths.along("quad", paths.uniform(10_000), np.zeros(sizes.columns))
    leg = runs.AnnealingLeg(model.layers(), path, 0, on_hidden)
    state = runs.begin(leg, ROWS)._replace(step=5000)
    return least(lambda: runs.advance(leg, state, 0, 5000 + TEMPERATURES), calls) / TEMPERATURES


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--sizes", default="53,21,200", help="sites, states, hidden units")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    arguments = parser.parse_args()
    calls, sizes = arguments.calls, Sizes(*map(int, arguments.sizes.split(",")))
    warnings.simplefilter("ignore", tf.TrainingWarning)  # random data teach nothing
    print(describe())
    five, two = products(sizes)
    print(f"\nfive dense products {five:.2f} ms, two {two:.2f} ms\n")
    print("| visible units | update | over five | temperature, weights on x | on h | over two |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in arguments.kinds:
        own = update(kind, sizes, calls)
        on_x, on_h = (temperature(kind, sizes, layer, calls) for layer in (False, True))
        print(
            f"| {kind} | {own:.2f} | {own / five:.2f} | {on_x:.2f} | {on_h:.2f} "
            f"| {on_x / two:.2f}, {on_h / two:.2f} |"
        )


if __name__ == "__main__":
    main()
