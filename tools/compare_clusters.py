"""Compare how trajectory tempering and plain chains keep the shares of clusters of sequences.

Sequences of 20 sites of 21 states lie around four others, a tenth of their letters changed.  Prints
the shares of the clusters in the data, in exact draws of the trained model, in samples by the
ladder of its training and by plain chains from any letters::

    NUMBA_NUM_THREADS=1 python -m tools.compare_clusters
"""

import argparse
import time

import numpy as np

import trug_fast as tf
from tools.processor import describe

SITES, STATES, ROWS, HIDDEN, DRAWS = 20, 21, 1500, 10, 4000
SHARES = (0.4, 0.3, 0.2, 0.1)
LADDER = {(0, 40), (1, 10), (1, 40), (1, 160)}  # seeds of samples, exchanges before each row


def family(seed):
    """Return the middles of the clusters, and sequences around them."""
    rng = np.random.default_rng(seed)
    middles = rng.integers(0, STATES, (len(SHARES), SITES))
    X = middles[rng.choice(len(SHARES), ROWS, p=SHARES)]
    return middles, np.where(rng.random(X.shape) < 0.1, rng.integers(0, STATES, X.shape), X)


def shares(X, middles):
    """Return the share of rows that are nearest to each middle."""
    nearest = (X[:, None] == middles).sum(axis=2).argmax(axis=1)
    return np.bincount(nearest, minlength=len(middles)) / len(X)


def exact_draws(model, count):
    """Return independent draws: of the hidden states, which are few, then of letters."""
    H = ((np.arange(2**HIDDEN)[:, None] >> np.arange(HIDDEN)) & 1).astype(float)
    net = np.tensordot(H, model.weights, axes=[[1], [2]]) + model.visible_bias
    log_p = H @ model.hidden_bias + np.logaddexp.reduce(net, axis=2).sum(axis=1)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    rows = np.random.default_rng(0).choice(len(p), count, p=p / p.sum())
    return model.sample_visible(H[rows], rng=0)


def trained(X, sampler, seed, last_rate):
    """Return a fit, and its processor time."""
    begun = time.process_time()
    fit = tf.train_rbm(
        X,
        HIDDEN,
        hidden="bernoulli",
        visible=tf.CategoricalUnits(n_states=STATES),
        sampler=sampler,
        optimizer=tf.SGD(average=0.5),
        learning_rate=(0.02, last_rate),
        batch_size=100,
        epochs=400,
        monitor=None,
        progress=False,
        rng=seed,
    )
    return fit, time.process_time() - begun


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-chains", type=int, default=500)
    parser.add_argument("--last-rate", type=float, default=0.002)
    arguments = parser.parse_args()
    print(describe())
    print("| seed | trained by | shares | off by at most, standard errors | s |")
    print("| --- | --- | --- | --- | --- |")
    for seed in range(arguments.seeds):
        middles, X = family(seed)
        data = shares(X, middles)
        error = np.sqrt(data * (1 - data) / ROWS)
        print(f"| {seed} | the data | {data.round(3)} | | |")
        chains = arguments.n_chains
        for sampler in (tf.TrajectoryTempering(n_chains=chains), tf.PCD(n_chains=chains)):
            fit, seconds = trained(X, sampler, seed, arguments.last_rate)
            drawn = {f"{n} exact draws": exact_draws(fit.model, n) for n in (DRAWS, 10 * DRAWS)}
            drawn["plain chains"] = fit.model.sample(DRAWS, n_gibbs=1000, rng=0)
            for rng, count in sorted(LADDER) if fit.ladder is not None else ():
                drawn[f"ladder, rng={rng}, {count} exchanges"] = fit.ladder.sample(
                    DRAWS, fit.model, n_exchanges=count, rng=rng
                )
            for name, rows in drawn.items():
                found = shares(rows, middles)
                off = (abs(found - data) / error).max()
                words = f"{type(sampler).__name__}, {name} | {found.round(3)} | {off:.1f}"
                print(f"| {seed} | {words} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
