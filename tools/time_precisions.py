"""Time updates of an RBM by the signs of its units' precisions.

Prints milliseconds of processor time an update: persistent contrastive divergence in batches of
100, 784 visible and 500 hidden units on [0, 1], float32, the least of several epochs::

    NUMBA_NUM_THREADS=1 python -m tools.time_precisions
"""

import argparse
import time

import numpy as np

import trug_fast as tf
from tools.processor import describe

VISIBLE, HIDDEN, ROWS, BATCH = 784, 500, 2000, 100


def model(share, rng):
    """Return a model of which this share of units has d < 0."""
    d = np.where(rng.random(HIDDEN) < share, -2.0, 5.0)
    weights = 0.01 * rng.normal(size=(VISIBLE, HIDDEN))
    zero, one = np.zeros(HIDDEN), np.ones(HIDDEN)
    arrays = weights, np.zeros(VISIBLE), zero - 0.5, d, zero, one
    return tf.TruGRBM(*(values.astype(np.float32) for values in arrays))


def seconds(rows, start, learn_precision, learn_ends, epochs):
    """Return the least processor time of an epoch, the first apart, over its updates."""
    times = []
    precision = {"learn_precision": True, "precision_rate": 1e-6} if learn_precision else {}
    tf.train_rbm(
        rows,
        truncation="s-learn" if learn_ends else "sigmoid",
        hidden=tf.TruGUnits(**precision),
        start=start,
        batch_size=BATCH,
        epochs=epochs,
        learning_rate=1e-5,
        monitor=None,
        callbacks=[lambda event: times.append(time.process_time())],
        progress=False,
        rng=0,
    )
    return min(np.diff(times)) / (ROWS // BATCH)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    print(describe())
    rows = (np.random.default_rng(0).random((ROWS, VISIBLE)) < 0.3).astype(np.float32)
    cases = [(s, p, False) for s in (0.0, 0.5, 1.0) for p in (False, True)] + [(0.5, True, True)]
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(arguments.rounds + 1):  # the first compiles
        for case in cases:
            start = model(case[0], np.random.default_rng(1))
            best[case] = min(best[case], seconds(rows, start, *case[1:], arguments.epochs))
    print("| units with d < 0 | learned | ms an update |")
    print("| --- | --- | --- |")
    for (share, precision, ends), found in best.items():
        names = [name for name, on in (("d", precision), ("ends", ends)) if on]
        print(f"| {share:.0%} | {' and '.join(names) or 'neither'} | {1e3 * found:.2f} |")


if __name__ == "__main__":
    main()
