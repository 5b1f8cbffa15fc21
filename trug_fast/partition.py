"""The log-partition function by annealed importance sampling (math.md 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks
from .kernels import annealing, gibbs
from .numerics import log_sum_exp
from .progress import Progress
from .randomness import RngLike, seed_from
from .rbm import RBM, TruGRBM
from .threads import one_blas_thread

PathName = Literal["auto", "quad", "quad2", "paper"]
SMOOTHING = 0.01  # added to the base's pixel means and to their complements
WIDE = 3.0  # whitened width from which quad2 is the better path (math.md 3.3)
STRETCH = 50  # temperatures between two looks at the clock and at Ctrl-C


@dataclass(frozen=True)
class LogPartition:
    """An estimate of log Z with what is needed to judge it.

    Attributes
    ----------
    log_z : float
        Log of the mean importance weight, plus the base's log Z.
    std_error : float
        Standard error of ``log_z`` from the spread of the weights.  It sees only modes that some
        chain has visited.
    log_weights : ndarray, shape (n_chains,), float64
        Each chain's own estimate of log Z.
    ess : float
        Effective number of chains, (sum w)^2 / sum w^2; between 1 and n_chains.
    path : str
        The path taken.
    """

    log_z: float
    std_error: float
    log_weights: NDArray[np.float64]
    ess: float
    path: str


def log_partition(
    model: RBM,
    *,
    n_chains: int = 100,
    n_temperatures: int = 10_000,
    path: PathName = "auto",
    base: ArrayLike | None = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> LogPartition:
    """Estimate log Z by forward annealed importance sampling.

    The estimate of Z is unbiased, hence that of log Z low on average: about half the variance of
    the log-weights over ``n_chains`` when that is small.  Log-likelihoods that use it are
    optimistic by as much.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    n_chains : int
        Independent chains.
    n_temperatures : int
        Steps from the base to the model.
    path : {"auto", "quad", "quad2", "paper"}
        "quad" keeps the hidden units' quadratic term along the path; "quad2" also brings the
        visible biases in with the square of the temperature, better for wide or infinite
        intervals; "paper" is the paper's, with its undefined end factors left out; "auto" takes
        quad up to a whitened width of 3, else quad2.
    base : array_like, shape (rows, n_visible), optional
        Data, usually the training set, whose pixel means make the base distribution; divides the
        spread of the weights by up to 13.  Without it the base is uniform.
    rng : None, int or numpy.random.Generator
        The result depends on it alone, not on the number of threads.
    progress : bool, optional
        Show a bar; by default if the run is long and standard error is a terminal.

    Returns
    -------
    LogPartition

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> machine = tf.TruGRBM(np.full((4, 3), 0.5), 0.0, 0.0, 1.0, 0.0, 1.0)
    >>> estimate = tf.log_partition(machine, n_temperatures=300, rng=0)
    >>> abs(estimate.log_z - tf.exact.log_partition(machine)) < 4 * estimate.std_error
    True
    """
    chains = checks.count("n_chains", n_chains, least=2)
    temperatures = checks.count("n_temperatures", n_temperatures)
    chosen = checks.choice("path", path, ("auto", "quad", "quad2", "paper"))
    if chosen == "auto":
        chosen = automatic_path(model)
    bias = np.zeros(model.n_visible) if base is None else base_bias(model, base)
    seed = seed_from(rng, "log_partition")
    weights = _run(model, schedule(chosen, temperatures, bias), chains, seed, progress)
    log_weights = weights + base_log_partition(model, chosen, bias)
    return summarise(log_weights, chosen)


def automatic_path(model: RBM) -> str:
    """Return "quad" for units no wider than 3 standard deviations, else "quad2"."""
    if not isinstance(model, TruGRBM):
        return "quad"
    width = np.sqrt(np.maximum(model.precision, 0)) * (model.upper - model.lower)
    return "quad" if np.median(width) <= WIDE else "quad2"


def base_bias(model: RBM, base: ArrayLike) -> NDArray[np.float64]:
    """Log-odds of the smoothed pixel means of data (math.md 3.2)."""
    data = checks.visible("base", base, model.n_visible, soft=True)
    mean = data.mean(axis=0, dtype=np.float64)
    odds: NDArray[np.float64] = np.log((mean + SMOOTHING) / (1 - mean + SMOOTHING))
    return odds


def schedule(path: str, temperatures: int, bias: NDArray[np.float64]) -> annealing.Path:
    """Return equally spaced temperatures from 0 to 1 along a path."""
    beta = np.linspace(0.0, 1.0, temperatures + 1)
    bias_scale = beta**2 if path == "quad2" else beta
    precision_scale = beta if path == "paper" else np.ones_like(beta)
    return annealing.Path(beta, bias_scale, precision_scale, bias)


def summarise(log_weights: NDArray[np.float64], path: str) -> LogPartition:
    """Return the estimate that log-weights make (each already an estimate of log Z)."""
    n = log_weights.size
    relative = np.exp(log_weights - log_weights.max())
    mean = relative.mean()
    return LogPartition(
        log_z=float(log_sum_exp(log_weights) - np.log(n)),
        std_error=float(relative.std(ddof=1) / mean / np.sqrt(n)),
        log_weights=log_weights,
        ess=float(relative.sum() ** 2 / (relative**2).sum()),
        path=path,
    )


def base_log_partition(model: RBM, path: str, bias: NDArray[np.float64]) -> float:
    """Log Z of the path's first distribution, without the end factors that the paper drops."""
    visible = float(np.logaddexp(0.0, bias).sum())
    if path == "paper":
        return visible
    # The hidden units at net input 0 are those of a machine without weights and hidden biases.
    layers = model.layers(np.float64)._replace(
        weights=np.zeros((1, model.n_hidden)), hidden_bias=np.zeros((1, model.n_hidden))
    )
    parts = np.zeros((1, gibbs.tile_count(1, model.n_hidden, gibbs.HIDDEN)))
    annealing.log_norm_rows(layers, np.zeros((1, 1)), np.zeros((1, model.n_hidden)), parts)
    return visible + float(parts.sum())


def log_intermediate(model: RBM, path: annealing.Path, k: int, X: ArrayLike) -> NDArray[np.float64]:
    """Return log p_k*(x) of each row, up to the constant that the paper's path drops."""
    rows = np.array(checks.matrix("X", X, model.n_visible), dtype=np.float64)
    t, s, q = path.hidden_scale[k], path.bias_scale[k], path.precision_scale[k]
    layers = model.layers(np.float64)
    linear: NDArray[np.float64] = rows @ ((1 - s) * path.base_bias + s * layers.visible_bias[0])
    if t == 0.0 and q == 0.0:
        return linear
    scaled = layers._replace(
        weights=t * layers.weights,
        hidden_bias=t * layers.hidden_bias,
        precision=q * layers.precision,
    )
    parts = np.zeros((len(rows), gibbs.tile_count(1, model.n_hidden, gibbs.HIDDEN)))
    with one_blas_thread():
        annealing.log_norm_rows(scaled, rows, np.zeros((len(rows), model.n_hidden)), parts)
    total: NDArray[np.float64] = linear + parts.sum(axis=1)
    return total


def _run(
    model: RBM, path: annealing.Path, chains: int, seed: int, progress: bool | None
) -> NDArray[np.float64]:
    """Anneal all chains along a path; return their log-weights."""
    layers, dtype = model.layers(), model.dtype
    walkers = annealing.Walkers(
        visible=np.zeros((chains, model.n_visible), dtype),
        visible_net=np.zeros((chains, model.n_visible), dtype),
        hidden=np.zeros((chains, model.n_hidden), dtype),
        net=np.zeros((chains, model.n_hidden), dtype),
        hidden_part=np.zeros((chains, gibbs.tile_count(1, model.n_hidden, gibbs.HIDDEN))),
        visible_part=np.zeros((chains, gibbs.tile_count(1, model.n_visible, gibbs.VISIBLE))),
        log_weight=np.zeros(chains),
    )
    steps = path.hidden_scale.size
    with one_blas_thread(), Progress(steps - 1, "annealing", progress) as bar:
        annealing.start_from_base(layers, walkers, path, seed, 0)
        for start in range(1, steps, STRETCH):
            stop = min(start + STRETCH, steps)
            annealing.anneal(layers, walkers, path, start, stop, seed, 0)
            bar.advance(stop - start)
    return walkers.log_weight
