"""Time chains of truncated normal vectors: sweeps of Gibbs sampling, and draws beside peers.

Prints processor time of one thread, the least of several runs::

    NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m tools.time_truncmvn_chains

Draws are of normals of variance 1 and correlation 1/2 on the positive orthant, also per effective
draw, by the least effective number (bulk) of any coordinate.  Peers are timed where they are
installed: tmg-hmc (the same paths in NumPy) and BoTorch's linear elliptical slices.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

import trug_fast as tf
from tools.processor import describe
from trug_fast.distributions.multivariate import gibbs
from trug_fast.distributions.multivariate.precision import cut_precision
from trug_fast.kernels import gibbs_step, stream
from trug_fast.kernels.multivariate.gibbs import Sweeps

Draws = Callable[[int], Any]  # of a number of draws: samples (chains, draws, d)


def equicorrelated(d: int) -> Any:
    """Return the covariance."""
    return 0.5 * np.eye(d) + 0.5


def lattice(rows: int) -> Any:
    """Return the precision of a square lattice: five entries a row."""
    ones = np.ones(rows - 1)
    line = sp.diags([-ones, -ones], offsets=[-1, 1])
    others = sp.csr_array(sp.kron(line, sp.eye(rows)) + sp.kron(sp.eye(rows), line))
    return (others + sp.diags(0.1 - others.sum(axis=0))).tocsr()


def sweep_seconds(precision: Any, chains: int, repeats: int) -> float:
    """Return the least processor time of a sweep of all chains."""
    problem = gibbs._problem_of(cut_precision(None, None, precision, 0, None))
    d = precision.shape[0]
    states, rows = np.ones((chains, d)), np.empty((0, chains, d))
    count = max(1, int(2e7 / (problem.work * chains)))
    best = float("inf")
    for i in range(repeats + 1):  # the first compiles
        start = time.process_time()
        sweeps = Sweeps(1, i * count, count, 1)
        problem.run(problem.coordinates, problem.others, states, rows, sweeps)
        best = min(best, (time.process_time() - start) / count)
    return best


@njit
def _steps(rng, x, mean, precision, lower, upper, count):  # type: ignore[no-untyped-def]
    for _ in range(count):
        gibbs_step(rng, x, mean, precision, lower, upper)


def step_seconds(precision: Any, repeats: int) -> float:
    """Return the same of one chain in a loop over ``kernels.gibbs_step``."""
    d = len(precision)
    x, zero, far = np.ones(d), np.zeros(d), np.full(d, np.inf)
    count = max(1, int(2e7 / (d * (d + 256))))
    best = float("inf")
    for i in range(repeats + 1):
        rng = stream(i)
        start = time.process_time()
        _steps(rng, x, zero, precision, zero, far, count)
        best = min(best, (time.process_time() - start) / count)
    return best


def ours(d: int) -> Iterator[tuple[str, Draws]]:
    """Yield what this library has."""
    cov = equicorrelated(d)
    for chains in (4, 32):
        for sampler in (tf.truncmvn_gibbs, tf.truncmvn_hmc):

            def draws(n: int, sampler: Any = sampler, chains: int = chains) -> Any:
                options = {"n_samples": n, "n_chains": chains, "rng": 1, "progress": False}
                return sampler(None, cov, 0, **options).samples

            yield f"{sampler.__name__}, {chains} chains", draws


def peers(d: int) -> Iterator[tuple[str, Draws]]:
    """Yield what others have."""
    cov = equicorrelated(d)
    try:
        tmg = import_module("tmg_hmc")
    except ImportError:
        print("tmg-hmc is not installed")
    else:

        def paths(n: int) -> Any:
            sampler = tmg.TMGSampler(np.zeros((d, 1)), cov)
            for row in np.eye(d):
                sampler.add_constraint(f=row[:, None], sparse=False)
            return np.asarray(sampler.sample(np.ones((d, 1)), n, 10))[None]

        yield "tmg-hmc, one chain", paths
    try:
        torch = import_module("torch")
        slices = import_module("botorch.utils.probability.lin_ess")
    except ImportError:
        print("BoTorch is not installed")
        return
    torch.set_num_threads(1)

    def slide(n: int) -> Any:
        double = torch.double
        sampler = slices.LinearEllipticalSliceSampler(
            inequality_constraints=(-torch.eye(d, dtype=double), torch.zeros(d, 1, dtype=double)),
            interior_point=torch.ones(d, 1, dtype=double),
            covariance_matrix=torch.as_tensor(cov),
            burnin=100,
            num_chains=32,
        )
        return sampler.draw(n).reshape(n, 32, d).transpose(0, 1).numpy()

    yield "BoTorch LinESS, 32 chains", slide


def worth(draws: Draws, n: int, repeats: int) -> tuple[float, float, float]:
    """Return the least seconds a draw, the effective share of draws, and the mean."""
    draws(min(n, 20))  # compiles
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        samples = draws(n)
        best = min(best, time.process_time() - start)
    chains = tf.TruncMVNChains(np.ascontiguousarray(samples))
    count = samples.shape[0] * samples.shape[1]
    return best / count, chains.ess.min() / count, float(chains.mean.mean())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draws", type=int, default=400)
    arguments = parser.parse_args()
    print(describe())
    print("| precision | chains | ms a sweep | ns a coordinate and chain |")
    print("| --- | --- | --- | --- |")
    cases: list[tuple[str, Any]] = [
        ("dense, d = 100", np.linalg.inv(equicorrelated(100))),
        ("dense, d = 1,000", np.linalg.inv(equicorrelated(1000))),
        ("sparse, d = 10,000", lattice(100)),
    ]
    for name, precision in cases:
        for chains in (1, 4, 32, 100):
            seconds = sweep_seconds(precision, chains, arguments.repeats)
            each = 1e9 * seconds / chains / precision.shape[0]
            print(f"| {name} | {chains} | {1e3 * seconds:.3g} | {each:.1f} |", flush=True)
    for name, precision in cases[:2]:
        seconds = step_seconds(precision, arguments.repeats)
        each = 1e9 * seconds / precision.shape[0]
        print(f"| `gibbs_step`, {name} | 1 | {1e3 * seconds:.3g} | {each:.1f} |", flush=True)
    print("| d | sampler | us a draw | effective share | us an effective draw | mean |")
    print("| --- | --- | --- | --- | --- | --- |")
    for d in (10, 50, 100):
        for name, draws in [*ours(d), *peers(d)]:
            seconds, share, mean = worth(draws, arguments.draws, arguments.repeats)
            figures = f"{1e6 * seconds:.3g} | {share:.2f} | {1e6 * seconds / share:.3g}"
            print(f"| {d} | {name} | {figures} | {mean:.3f} |", flush=True)


if __name__ == "__main__":
    main()
