"""Compare how trajectory tempering and plain chains keep the shares of clusters of sequences.

Sequences of 20 sites of 21 states lie around four others, a tenth of their letters changed.
Prints the shares of the clusters in the data, in the trained model itself, and in samples: by the
ladder of its training, and by plain chains from any letters.  How far they are off is given for
the cluster that is worst, in standard errors of the data's shares and in those of both the data's
and the samples', and for all four: chi-squared of both, which where shares agree is 3 on average
and above 7.8 once in 20 times (those of four clusters sum to one)::

    NUMBA_NUM_THREADS=1 python -m reproduction.scripts.compare_clusters
"""

import argparse
import time
import warnings

import numpy as np
from scipy.stats import chi2

import trug_fast as tf
from tools.processor import describe

SITES, STATES, ROWS, HIDDEN, DRAWS = 20, 21, 1500, 10, 4000
SHARES = (0.4, 0.3, 0.2, 0.1)
EXACT = 200_000  # draws of a model with evenly spread hidden states


def family(seed):
    """Return the middles of the clusters, and sequences around them."""
    rng = np.random.default_rng(seed)
    middles = rng.integers(0, STATES, (len(SHARES), SITES))
    return middles, around(middles, rng)


def around(middles, rng):
    """Return sequences around the middles."""
    X = middles[rng.choice(len(SHARES), ROWS, p=SHARES)]
    return np.where(rng.random(X.shape) < 0.1, rng.integers(0, STATES, X.shape), X)


def nearest(X, middles):
    """Return which middle each row is nearest to, as zeros and a one."""
    which = (X[:, None] == middles).sum(axis=2).argmax(axis=1)
    return (which[:, None] == np.arange(len(middles))).astype(float)


def shares(X, middles, columns):
    """Return shares of clusters and their covariance, of rows of so many independent columns."""
    found = nearest(X, middles).reshape(-1, columns, len(middles)).mean(axis=0)
    return found.mean(axis=0), np.cov(found.T) / columns


def own_shares(model, middles):
    """Return the shares that a model gives to clusters: draws of its few hidden states are even."""
    H = ((np.arange(2**HIDDEN)[:, None] >> np.arange(HIDDEN)) & 1).astype(float)
    net = np.tensordot(H, model.weights, axes=[[1], [2]]) + model.visible_bias
    log_p = H @ model.hidden_bias + np.logaddexp.reduce(net, axis=2).sum(axis=1)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    rows = np.searchsorted(np.cumsum(p), (np.arange(EXACT) + 0.5) / EXACT).clip(0, len(p) - 1)
    parts = np.array_split(np.random.default_rng(0).permutation(rows), 10)
    each = [nearest(model.sample_visible(H[part], rng=k), middles) for k, part in enumerate(parts)]
    return np.concatenate(each).mean(axis=0), np.zeros((len(middles), len(middles)))


def trained(X, sampler, seed, optimizer, rate):
    """Return a fit, and its processor time."""
    begun = time.process_time()
    fit = tf.train_rbm(
        X,
        HIDDEN,
        hidden="bernoulli",
        visible=tf.CategoricalUnits(n_states=STATES),
        sampler=sampler,
        optimizer=optimizer,
        learning_rate=(rate, 0.002),
        batch_size=100,
        epochs=400,
        monitor=None,
        progress=False,
        rng=seed,
    )
    return fit, time.process_time() - begun


def samples(fit, middles):
    """Yield names of samples, and their shares with the covariance."""
    yield "the model itself", own_shares(fit.model, middles)
    if fit.ladder is not None:
        columns = fit.ladder.n_chains
        rows = fit.ladder.sample(DRAWS // columns * columns, fit.model, rng=0)
        yield "ladder", shares(rows, middles, columns)
    rows = fit.model.sample(DRAWS, n_gibbs=1000, rng=0)
    yield "plain chains", shares(rows, middles, DRAWS)


def compared(data, data_covariance, found, covariance):
    """Return how far the worst cluster is off, by data's errors and by both, and chi-squared."""
    off, both = found - data, data_covariance + covariance
    worst = (abs(off) / np.sqrt(each.diagonal()) for each in (data_covariance, both))
    return [*(values.max() for values in worst), off @ np.linalg.pinv(both) @ off]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4, help="data sets")
    parser.add_argument("--n-chains", type=int, default=500)
    parser.add_argument("--rate", type=float, default=0.05, help="at the start; 0.002 at the end")
    parser.add_argument("--average", type=float, help="of the optimizer, by default the library's")
    parser.add_argument("--renew", type=int, default=tf.training.TrajectoryTempering().renew)
    parser.add_argument("--freeze", type=float, default=tf.training.TrajectoryTempering().freeze)
    parser.add_argument("--only", choices=["ptt", "pt", "pcd"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", tf.training.TrainingWarning)  # plain chains that lose clusters
    chains, optimizer = arguments.n_chains, tf.training.SGD(average=arguments.average)
    own = {"freeze": arguments.freeze, "renew": arguments.renew}
    samplers = {
        "ptt": tf.training.TrajectoryTempering(n_chains=chains, **own),
        "pt": tf.training.ParallelTempering(10, n_chains=chains // 10),
        "pcd": tf.training.PCD(n_chains=chains),
    }
    totals = {}
    print(describe())
    print("| seed | trained by | shares of | | off: data's errors | both | chi2 | held out | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for seed in range(arguments.seeds):
        middles, X = family(seed)
        data, covariance = shares(X, middles, ROWS)
        print(f"| {seed} | | the data | {data.round(3)} | | | | | |")
        unseen = around(middles, np.random.default_rng(1000 + seed))
        for word, sampler in chosen(samplers, arguments.only):
            fit, seconds = trained(X, sampler, seed, optimizer, arguments.rate)
            held = tf.exact.log_likelihood(fit.model, unseen).mean()
            for name, (found, error) in samples(fit, middles):
                worst, both, total = compared(data, covariance, found, error)
                totals.setdefault((word, name), []).append(total)
                numbers = f"{worst:.1f} | {both:.1f} | {total:.1f} | {held:.2f} | {seconds:.0f}"
                print(f"| {seed} | {word} | {name} | {found.round(3)} | {numbers} |", flush=True)
    for (word, name), found in totals.items():
        p = chi2.sf(sum(found), 3 * len(found))
        print(f"{word}, {name}: chi2 {sum(found):.1f} of {3 * len(found)}, p = {p:.2g}")


def chosen(samplers, only):
    """Return words and samplers, all or one."""
    return [(word, each) for word, each in samplers.items() if only in (None, word)]


if __name__ == "__main__":
    main()
