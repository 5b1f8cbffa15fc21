"""Compare how trajectory tempering and plain chains keep the shares of clusters of sequences.

Sequences of 20 sites of 21 states lie around four others, a tenth of their letters changed.  Prints
the shares of the clusters in the data, in exact draws of the trained model, in samples by the
ladder of its training and by plain chains from any letters; and how far they are off, in standard
errors of the data's shares, and in those of both the data's and the samples'::

    NUMBA_NUM_THREADS=1 python -m tools.compare_clusters
"""

import argparse
import time

import numpy as np

import trug_fast as tf
from tools.processor import describe

SITES, STATES, ROWS, HIDDEN, DRAWS = 20, 21, 1500, 10, 4000
SHARES = (0.4, 0.3, 0.2, 0.1)
LADDER = (0, 1)  # seeds of samples


def family(seed):
    """Return the middles of the clusters, and sequences around them."""
    rng = np.random.default_rng(seed)
    middles = rng.integers(0, STATES, (len(SHARES), SITES))
    return middles, around(middles, rng)


def around(middles, rng):
    """Return sequences around the middles."""
    X = middles[rng.choice(len(SHARES), ROWS, p=SHARES)]
    return np.where(rng.random(X.shape) < 0.1, rng.integers(0, STATES, X.shape), X)


def shares(X, middles):
    """Return the share of rows that are nearest to each middle."""
    nearest = (X[:, None] == middles).sum(axis=2).argmax(axis=1)
    return np.bincount(nearest, minlength=len(middles)) / len(X)


def share_error(X, middles, columns):
    """Return the standard error of shares, by rows of which every ``columns`` are independent."""
    nearest = (X[:, None] == middles).sum(axis=2).argmax(axis=1).reshape(-1, columns)
    found = (nearest[..., None] == np.arange(len(middles))).mean(axis=0)  # of each column
    return found.std(axis=0, ddof=1) / np.sqrt(columns)


def exact_draws(model, count):
    """Return independent draws: of the hidden states, which are few, then of letters."""
    H = ((np.arange(2**HIDDEN)[:, None] >> np.arange(HIDDEN)) & 1).astype(float)
    net = np.tensordot(H, model.weights, axes=[[1], [2]]) + model.visible_bias
    log_p = H @ model.hidden_bias + np.logaddexp.reduce(net, axis=2).sum(axis=1)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    rows = np.random.default_rng(0).choice(len(p), count, p=p / p.sum())
    return model.sample_visible(H[rows], rng=0)


def trained(X, sampler, seed, last_rate, average):
    """Return a fit, and its processor time."""
    begun = time.process_time()
    fit = tf.train_rbm(
        X,
        HIDDEN,
        hidden="bernoulli",
        visible=tf.CategoricalUnits(n_states=STATES),
        sampler=sampler,
        optimizer=tf.SGD(average=average),
        learning_rate=(0.02, last_rate),
        batch_size=100,
        epochs=400,
        monitor=None,
        progress=False,
        rng=seed,
    )
    return fit, time.process_time() - begun


def draws(fit):
    """Yield names of samples, the samples, and how many of their rows are independent chains."""
    for count in (DRAWS, 10 * DRAWS):
        yield f"{count} exact draws", exact_draws(fit.model, count), count
    yield "plain chains", fit.model.sample(DRAWS, n_gibbs=1000, rng=0), DRAWS
    for seed in LADDER if fit.ladder is not None else ():
        columns = fit.ladder.n_chains
        rows = fit.ladder.sample(DRAWS // columns * columns, fit.model, n_exchanges=80, rng=seed)
        yield f"ladder, rng={seed}", rows, columns


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--n-chains", type=int, default=500)
    parser.add_argument("--last-rate", type=float, default=0.002)
    parser.add_argument("--average", type=float, default=0.2)
    parser.add_argument("--renew", type=int, default=20)
    parser.add_argument("--freeze", type=float, default=0.5)
    arguments = parser.parse_args()
    print(describe())
    print("| seed | trained by | shares | off: data's errors | both errors | held out | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for seed in range(arguments.seeds):
        middles, X = family(seed)
        data = shares(X, middles)
        error = np.sqrt(data * (1 - data) / ROWS)
        print(f"| {seed} | the data | {data.round(3)} | | | | |")
        chains = arguments.n_chains
        climbing = tf.TrajectoryTempering(
            n_chains=chains, freeze=arguments.freeze, renew=arguments.renew
        )
        for sampler in (climbing, tf.PCD(n_chains=chains)):
            fit, seconds = trained(X, sampler, seed, arguments.last_rate, arguments.average)
            held = tf.exact.log_likelihood(
                fit.model, around(middles, np.random.default_rng(1000 + seed))
            ).mean()
            for name, rows, columns in draws(fit):
                found = shares(rows, middles)
                off = abs(found - data)
                both = np.hypot(error, share_error(rows, middles, columns))
                words = f"{type(sampler).__name__}, {name} | {found.round(3)}"
                numbers = f"{(off / error).max():.1f} | {(off / both).max():.1f} | {held:.2f}"
                print(f"| {seed} | {words} | {numbers} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
