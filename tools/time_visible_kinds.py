"""Time updates and annealing of an RBM by the kind of its visible units, beside dense products.

Prints milliseconds of processor time, the least of several, of one thread: batches and chains of
100, 53 units of 21 states (or as many columns of another kind), 200 hidden units, float32::

    NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tools.time_visible_kinds
"""

import argparse
import time
import warnings

import numpy as np

import trug_fast as tf
from tools.processor import describe
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.partition import paths, runs

SITES, STATES, HIDDEN, ROWS = 53, 21, 200, 100
COLUMNS, UPDATES, TEMPERATURES = SITES * STATES, 10, 20


def least(function, calls):
    """Return the least processor time of a call in milliseconds; the first compiles."""
    function()
    found = []
    for _ in range(calls):
        begun = time.process_time()
        function()
        found.append(time.process_time() - begun)
    return 1e3 * min(found)


def data_of(kind):
    """Return rows of this kind, as users have them, and as kernels do."""
    rng, rows = np.random.default_rng(0), UPDATES * ROWS
    if kind == "gaussian":
        found = rng.normal(size=(rows, COLUMNS))
        return found, found
    states = rng.integers(0, STATES, (rows, SITES))
    columns = np.eye(STATES)[states].reshape(rows, COLUMNS)
    if kind == "categorical":
        return states, columns
    found = 2 * columns - 1 if kind == "spin" else columns
    return found, found


def products():
    """Return the times of the products of an update and of a temperature."""
    x = data_of("categorical")[1][:ROWS].astype(np.float32)
    h, w = np.ones((ROWS, HIDDEN), np.float32), np.ones((COLUMNS, HIDDEN), np.float32)
    with one_blas_thread():
        up, down, outer = (least(f, 40) for f in (lambda: x @ w, lambda: h @ w.T, lambda: x.T @ h))
    return 2 * up + down + 2 * outer, up + down


def update(kind, calls):
    """Return the time of an update of persistent contrastive divergence."""
    X, ends = data_of(kind)[0], []
    tf.train_rbm(
        X, HIDDEN, truncation="s-learn", visible=kind, sampler=tf.PCD(n_chains=ROWS),
        batch_size=ROWS, epochs=calls, learning_rate=1e-4, monitor=None, progress=False, rng=0,
        callbacks=[lambda epoch: ends.append(time.process_time())],
    )  # fmt: skip
    return 1e3 * min(np.diff(ends)) / UPDATES


def temperature(kind, on_hidden, calls):
    """Return the time of a temperature, half way through 10,000."""
    w = np.random.default_rng(1).normal(0, 0.05, (COLUMNS, HIDDEN)).astype(np.float32)
    shape = (SITES, STATES, HIDDEN) if kind == "categorical" else w.shape
    precision = 1.0 if kind == "gaussian" else None
    model = tf.TruGRBM(
        w.reshape(shape), 0.0, 0.0, 1.0, 0.0, 1.0, visible_precision=precision, visible=kind
    )
    path = paths.along("quad", paths.uniform(10_000), np.zeros(COLUMNS))
    leg = runs.AnnealingLeg(model.layers(), path, 0, on_hidden)
    state = runs.begin(leg, ROWS)._replace(step=5000)
    return least(lambda: runs.advance(leg, state, 0, 5000 + TEMPERATURES), calls) / TEMPERATURES


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=12)
    calls = parser.parse_args().calls
    warnings.simplefilter("ignore", tf.TrainingWarning)  # random data teach nothing
    print(describe())
    five, two = products()
    print(f"\nfive dense products {five:.2f} ms, two {two:.2f} ms\n")
    print("| visible units | update | over five | temperature, weights on x | on h | over two |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in ("bernoulli", "categorical", "spin", "gaussian"):
        own = update(kind, calls)
        on_x, on_h = (temperature(kind, layer, calls) for layer in (False, True))
        print(
            f"| {kind} | {own:.2f} | {own / five:.2f} | {on_x:.2f} | {on_h:.2f} "
            f"| {on_x / two:.2f}, {on_h / two:.2f} |"
        )


if __name__ == "__main__":
    main()
