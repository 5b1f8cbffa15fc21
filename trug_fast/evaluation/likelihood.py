"""How probable data are: log-likelihood given log Z, and pseudo-likelihood without it."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.models.rbm import RBM, require_rbm
from trug_fast.units.kinds import log_norms_at

from .bridges.judgement import LogPartition, PartitionWarning, fingerprint

ERRORS = 3.0  # standard errors by which a probability may lie above 1
ROUNDING = 1e-9  # of a free energy
TOGETHER = 2**21  # net inputs of hidden units at a time
Floats = NDArray[np.float64]


def log_likelihood(model: RBM, X: ArrayLike, log_z: float | LogPartition) -> NDArray[np.float64]:
    """Log p(x) = log p*(x) - log Z of each row.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    X : array_like, shape (rows, n_visible)
    log_z : float or LogPartition
        The log-partition function, from :func:`log_partition` or :func:`exact.log_partition`.  Of
        an estimate in both directions, ``forward`` and ``reverse`` bound the result.

    Returns
    -------
    ndarray, shape (rows,), float64

    Raises
    ------
    TypeError, ValueError
        If ``log_z`` is an estimate for another model, or X does not hold what the visible units
        are: numbers in [0, 1], or any finite ones where they are Gaussian, or those of their
        interval where they are truncated; if a row of states has a probability above 1 by a
        ``log_z`` that is a number: then it is not log Z.

    Warns
    -----
    PartitionWarning
        If a row of states has a probability above 1 by three standard errors of an estimate.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    >>> tf.log_likelihood(model, [[0, 1, 1]], tf.exact.log_partition(model)).round(4)
    array([-2.0794])
    """
    require_rbm("log_likelihood(model, X, log_z)", model)
    array = model.checked_rows("X", X)
    if isinstance(log_z, LogPartition):
        if log_z.fingerprint != fingerprint(model):
            raise ValueError(
                f"log_z must be of this model, {fingerprint(model)}, got one of "
                f"{log_z.fingerprint}; pass log_partition of this model"
            )
        value, error = log_z.log_z, log_z.std_error
    else:
        value, error = checks.number("log_z", log_z), None
    found: NDArray[np.float64] = -model.free_energy(array) - value
    if not model.visible_units.some("real"):  # states, not densities
        _require_probabilities(found, value, error)
    return found


def _require_probabilities(found: NDArray[np.float64], value: float, error: float | None) -> None:
    """Refuse, or tell of, a log Z that gives a row of states a probability above 1."""
    row = int(found.argmax())
    most = float(found[row])
    if not most > ERRORS * (error or 0.0) + ROUNDING * (1.0 + abs(value)):
        return
    said = (
        f"log_z is too low: row {row} has the log-probability {most:+.3g}, and no probability is "
        f"above 1; log Z is {value + most:.6g} at least, got {value:.6g}"
    )
    if error is None:
        raise ValueError(said)
    warnings.warn(f"{said} +- {error:.2g}", PartitionWarning, stacklevel=3)


def pseudo_log_likelihood(model: RBM, X: ArrayLike, *, rng: RngLike = None) -> NDArray[np.float64]:
    """Stochastic pseudo-log-likelihood of each row: one random pixel stands for all.

    n_visible times the log-probability of one pixel given the others; needs no log Z.  Its mean
    over rows follows training at the cost of two free energies; it is no log-likelihood.  Of spins
    and categorical units a random one stands for all alike.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
        Without Gaussian or truncated visible units: the probability of one of the others needs no
        integral.
    X : array_like, shape (rows, n_visible)
        What the visible units are; of Bernoulli ones numbers in [0, 1].
    rng : None, int or numpy.random.Generator
        Chooses the pixels.

    Returns
    -------
    ndarray, shape (rows,), float64

    Raises
    ------
    TypeError, ValueError
        If the model is of another kind, or X does not hold such numbers.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    >>> tf.pseudo_log_likelihood(model, [[0, 1, 1]], rng=0).round(4)
    array([-2.0794])
    """
    require_rbm("pseudo_log_likelihood(model, X)", model)
    if not model.visible_units.enumerable:
        raise ValueError(
            "the pseudo-log-likelihood is not for Gaussian visible units or truncated ones, nor "
            "for others without a number of states: with such estimate the log-likelihood by "
            "log_partition and log_likelihood"
        )
    array = np.array(model.checked_rows("X", X), dtype=np.float64)
    generator = np.random.default_rng(seed_from(rng, "pseudo_log_likelihood"))
    pixel = generator.integers(0, model.n_visible, array.shape[0])
    return pseudo_at(model, array, np.asarray(pixel))


def pseudo_at(
    model: RBM, array: NDArray[np.float64], pixel: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Let this pixel of each row stand for all; changes the array."""
    rows, kind = np.arange(array.shape[0]), model.visible_units.only
    if kind is None or not kind.soft or kind.number != 2:
        return model.n_visible * site_log_probability(model, array, pixel)
    energy, ends = model.free_energy(array), kind.ends(model.runs[0])
    array[rows, pixel] = sum(ends) - array[rows, pixel]  # means too, which are no states
    return -model.n_visible * np.logaddexp(0.0, energy - model.free_energy(array))


def site_log_probability(model: RBM, X: Floats, site: NDArray[np.int64]) -> Floats:
    """Return the log-probability of one site of each row of states given all others of the row."""
    states = max(number or 0 for number in model.visible_units.states_each)
    step = max(1, TOGETHER // (states * model.n_hidden))
    parts = [slice(start, start + step) for start in range(0, len(X), step)]
    return np.concatenate([_log_probability(model, X[part], site[part]) for part in parts])


def _log_probability(model: RBM, X: Floats, site: NDArray[np.int64]) -> Floats:
    """Return it for some rows.

    The hidden units' net inputs change by the weights of one site alone, so that a state costs no
    product with all of the weights.
    """
    units, each = model.visible_units, np.arange(len(X))
    layers, rows = model.layers(np.float64), units.columns(X).astype(np.float64)
    at, value, there, chosen = units.candidates(X, site)
    own = value[chosen, each], at[chosen, each]
    with computing(work(at.size, model.n_columns, model.n_hidden)):
        net = layers.hidden_bias + rows @ layers.weights
        net -= own[0][:, None] * layers.weights[own[1]]
        nets = net + value[..., None] * layers.weights[at]
        norm = log_norms_at(layers, nets.reshape(-1, model.n_hidden)).reshape(at.shape)
    log_p = np.where(there, value * layers.visible_bias[0][at] + norm, -np.inf)
    return np.asarray(log_p[chosen, each] - np.logaddexp.reduce(log_p, axis=0))
