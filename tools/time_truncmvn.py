"""Time exact draws and probabilities of truncated normal vectors beside other packages.

Prints microseconds of processor time a draw, setup included, and for probabilities milliseconds and
the error over the known value: orthants of d coordinates whose correlations are 1/2, 1/(d + 1).
Peers are taken where they are installed; SciPy is always::

    NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tools.time_truncmvn

The peer of exact draws is the module minimax_tilting_sampler of brunzema/truncated-mvn-sampler.
"""

import argparse
import time
import warnings

import numpy as np
from scipy import stats

import trug_fast as tf
from tools.processor import describe

DIMENSIONS = (2, 10, 50, 100)
METHODS = ("factor", "tilting")  # the first is what "auto" takes here


def orthant(d):
    """Return mean, covariance and ends."""
    return np.zeros(d), 0.5 * (np.eye(d) + 1), np.zeros(d), np.full(d, np.inf)


def ours(method):
    """Return a function that draws with this package."""
    return lambda parameters, n, seed: tf.truncmvn(*parameters, method=method).rvs(n, rng=seed)


def samplers():
    """Return the samplers there are, by name."""
    found = {f"trug_fast, {method}": ours(method) for method in METHODS}
    try:
        from minimax_tilting_sampler import TruncatedMVN
    except ImportError:
        return found
    found["minimax_tilting_sampler"] = lambda parameters, n, seed: TruncatedMVN(
        *parameters, seed=seed
    ).sample(n)
    return found


def probabilities():
    """Return functions of parameters and a seed that give a probability, by name."""

    def scipys(parameters, seed):
        # P(x > 0) is P(-x < 0).
        mean, cov, _, _ = parameters
        return stats.multivariate_normal.cdf(
            mean, mean, cov, maxpts=10_000, abseps=0, releps=0, rng=np.random.default_rng(seed)
        )

    def ours_by(method):
        def found(parameters, seed):
            return np.exp(tf.truncmvn(*parameters, method=method).logprob(rng=seed).log)

        return found

    ours = {f"trug_fast, {method}": ours_by(method) for method in METHODS}
    return ours | {"scipy, 10,000 points": scipys}


def seconds(call):
    """Return the processor time of a call, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def print_draws(n, rounds):
    """Print the table of draws."""
    found = samplers()
    print(f"\nmicroseconds a draw, of {n}\n\n| d | {' | '.join(found)} |")
    print("| --- " * (len(found) + 1) + "|")
    for d in DIMENSIONS:
        best = dict.fromkeys(found, np.inf)
        for seed in range(rounds + 1):  # the first compiles
            for name, draw in found.items():
                spent, _ = seconds(lambda draw=draw, d=d, seed=seed: draw(orthant(d), n, seed))
                best[name] = min(best[name], spent)
        print(f"| {d} | {' | '.join(f'{1e6 * s / n:.3f}' for s in best.values())} |", flush=True)


def print_probabilities(rounds):
    """Print the table of probabilities."""
    found = probabilities()
    print(
        f"\nmilliseconds, and root mean square error over the value\n\n| d | {' | '.join(found)} |"
    )
    print("| --- " * (len(found) + 1) + "|")
    for d in DIMENSIONS:
        cells = []
        for call in found.values():
            runs = [
                seconds(lambda call=call, d=d, seed=seed: call(orthant(d), seed))
                for seed in range(rounds + 1)
            ]
            errors = [value * (d + 1) - 1 for _, value in runs]
            spent = min(spent for spent, _ in runs)
            cells.append(f"{1e3 * spent:.1f}, {np.sqrt(np.mean(np.square(errors))):.1e}")
        print(f"| {d} | {' | '.join(cells)} |", flush=True)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # the peer's, about its solver
    print(describe())
    print_draws(arguments.draws, arguments.rounds)
    print_probabilities(arguments.rounds)


if __name__ == "__main__":
    main()
