"""Log-likelihoods that are low on average: annealing from the data's side (RAISE)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from trug_fast._common import checks
from trug_fast._common.numerics import log_sum_exp
from trug_fast._common.progress import Progress, require_progress
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.announcing import announced
from trug_fast.models.rbm import RBM, require_rbm

from . import mean_field, paths
from .bridge import Bridge, cross
from .judgement import LogProbability, tell, too_probable

Floats = NDArray[np.float64]


def log_likelihood_bound(
    model: RBM,
    X: ArrayLike,
    *,
    n_chains: int = 10,
    n_temperatures: int = 1000,
    path: paths.PathName = "auto",
    base: ArrayLike | None = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> LogProbability:
    """Log-likelihood of each row by reverse annealing (RAISE), low on average.

    :func:`log_partition` finds log Z too low on average, hence log-likelihoods too high, and where
    its chains miss a mode by any amount.  Here chains begin at each row and go back to the base.
    They estimate without bias how probable the row is as the end of an annealed chain, and the log
    of that is low on average.  Rows in modes that annealing misses come out worse than they are, as
    improbable ends; with temperatures enough the two distributions agree.  Of modes far from these
    rows it knows nothing, and they make all rows less probable: a row therefore has at most what
    the mean-field bound on log Z allows, which finds some such modes, not all.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    X : array_like, shape (rows, n_visible)
        States: zeros and ones, or what the visible units are; no means.  A few hundred rows will
        do: much of the error of a mean is theirs.
    n_chains : int
        Chains that begin at each row; their mean weight counts.
    n_temperatures : int
        Steps to the base.
    path, base
        As of :func:`log_partition`.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.
    progress : bool, optional
        Show a bar; by default if standard error is a terminal.

    Returns
    -------
    LogProbability
        Arrays with an entry for each row.  ``value.mean()`` has the standard error ``value.std() /
        sqrt(rows)``, of rows and chains together; ``std_error`` is that of each row's chains alone,
        NaN for one chain.  It falls to 0 where the chains are above the mean-field bound: that has
        no chance in it, and is the most that such a row can have.  By how much the row has less, no
        error says.  ``warnings`` says if the bound is well below what annealing found, in which
        case the model has a mode that annealing misses.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, naming the argument.

    Warns
    -----
    PartitionWarning
        As ``warnings`` of the result.

    Notes
    -----
    mathematics 3.9, and 3.6 of the mean-field bound; Burda, Grosse and Salakhutdinov, "Accurate and
    conservative estimates of MRF log-likelihood using reverse annealing" (2015).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.TruGRBM(np.full((4, 3), 0.5), 0.0, 0.0, 1.0, 0.0, 1.0)
    >>> X = model.sample(100, rng=0)
    >>> bound = tf.evaluation.log_likelihood_bound(model, X, rng=0).value.mean()
    >>> bool(abs(bound - tf.exact.log_likelihood(model, X).mean()) < 0.01)
    True
    """
    require_rbm("log_likelihood_bound(model, X)", model)
    rows = model.checked_columns("X", X, soft=False)
    chains = checks.count("n_chains", n_chains)
    temperatures = checks.count("n_temperatures", n_temperatures)
    name = paths.automatic(model, path)
    data = None if base is None else model.checked_columns("base", base)
    require_progress(progress)
    seed = seed_from(rng, "log_likelihood_bound")
    forward = paths.along(name, paths.uniform(temperatures), paths.base_bias(model, data))
    way = Bridge(model.layers(), paths.turned_round(forward), seed)
    with announced("log_likelihood_bound", progress), one_blas_thread():
        log_z = paths.base_log_partition(model, forward)
        way = way.begun(chains * len(rows), np.repeat(rows, chains, axis=0))
        with Progress(way.steps, "annealing back", progress) as bar:
            way = cross(way, look=lambda _, steps: bar.advance(steps))
        own = -model.column_energy(rows)
        points = mean_field.starting_points(model, data, seed_from(seed, "mean field"))
        most = own - mean_field.bound(model, points)
    value, std_error = _means(own[:, None] - log_z + way.log_weight.reshape(-1, chains))
    reasons = too_probable(value, most)
    tell(reasons)
    return LogProbability(
        np.minimum(value, most), _capped_error(value, std_error, most), tuple(reasons)
    )


def _capped_error(value: Floats, std_error: Floats, most: Floats) -> Floats:
    """Return the standard deviation of normals of these means that are held at most there.

    Of z = (most - value) / std_error it is that of max(0, z - N(0, 1)), without which the whole of
    a normal is left from 10 on, and nothing below -10.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.clip((most - value) / std_error, -10.0, 10.0)
    z = np.where(std_error == 0, 0.0, z)
    density, below = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), ndtr(z)
    mean = z * below + density
    variance = np.maximum((z**2 + 1) * below + z * density - mean**2, 0.0)
    return np.asarray(std_error * np.sqrt(variance))


def _means(each: Floats) -> tuple[Floats, Floats]:
    """Return the log of each row's mean weight, and its standard error."""
    chains = each.shape[1]
    value = np.array([log_sum_exp(row) for row in each]) - np.log(chains)
    relative = np.exp(each - value[:, None])
    if chains == 1:
        return value, np.full(len(value), np.nan)
    return value, relative.std(axis=1, ddof=1) / np.sqrt(chains)
