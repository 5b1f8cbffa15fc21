"""Chains of draws of a truncated normal vector, and how far they can be trusted (mathematics 1.16).

Tested in tests/distributions/multivariate/test_chains.py and test_diagnostics.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from trug_fast._common import checks
from trug_fast._common.progress import Progress, require_progress
from trug_fast._common.threads import computing

from .checking import Array, CutNormal, CutPrecision

Vector = NDArray[np.float64]  # of samples (chains, draws, coordinates)
NORMAL = {
    "mean : array_like, shape (d,), optional": """
        Of the normal before truncation, or a number for all; 0 by default.""",
    "cov : array_like, shape (d, d), optional": """
        Its covariance; a vector stands for a diagonal, a number for a multiple of the identity.""",
}
COURSE = {
    "n_samples : int, optional": "Draws of each chain.",
    "n_chains : int, optional": "Chains, independent of each other.",
    "n_burn : int, optional": "Steps before the first draw.",
    "thin : int, optional": "Steps for each draw.",
}
SOURCE = {
    "rng : None, int or numpy.random.Generator, optional": """
        The source of randomness.  The numbers drawn depend on the seed, the chain, the step and the
        coordinate alone: any number of threads gives the same bits.""",
    "progress : bool, optional": "Whether to show a bar; by default where a person is looking.",
}
STRETCH = 1e9  # multiply-adds of a call, between which Ctrl-C is heard
BUFFER = 2**23  # numbers that one stretch may write, at most


@dataclass(frozen=True, eq=False)
class TruncMVNChains:
    """Draws of a truncated normal vector from several chains.

    What is told of the draws is computed when it is first asked for, as in Vehtari, Gelman,
    Simpson, Carpenter and Bürkner (2021); NaN for chains of fewer than four draws, and for what
    does not vary.

    Attributes
    ----------
    samples : ndarray, shape (n_chains, n_samples, d)
        The draws; float32 where all that was given is, else float64.

    Raises
    ------
    TypeError
        If ``samples`` does not hold real numbers.
    ValueError
        If it is of another shape, or empty.

    Examples
    --------
    >>> import trug_fast as tf
    >>> gibbs = tf.distributions.truncmvn_gibbs
    >>> chains = gibbs([0, 0], [[1, 0.5], [0.5, 1]], 0, n_samples=500, rng=1)
    >>> chains
    TruncMVNChains(n_chains=4, n_samples=500, d=2)
    >>> chains.mean.shape, bool((chains.rhat < 1.05).all())
    ((2,), True)
    """

    samples: NDArray[np.floating[Any]]

    def __post_init__(self) -> None:
        samples = checks.numbers("samples", self.samples)
        if samples.ndim != 3 or samples.size == 0:
            raise ValueError(
                f"samples must have shape (n_chains, n_samples, d), got {samples.shape}"
            )
        if samples.dtype.kind != "f":
            samples = samples.astype(np.float64)
        object.__setattr__(self, "samples", samples)

    @property
    def mean(self) -> Vector:
        """Mean of all draws, shape (d,)."""
        return np.asarray(self.samples.mean(axis=(0, 1), dtype=np.float64))

    @property
    def std(self) -> Vector:
        """Standard deviation of all draws, shape (d,)."""
        return np.asarray(self.samples.std(axis=(0, 1), dtype=np.float64, ddof=1))

    @property
    def cov(self) -> Vector:
        """Covariance of all draws, shape (d, d)."""
        rows = self.samples.reshape(-1, self.samples.shape[2]).astype(np.float64)
        return np.atleast_2d(np.cov(rows, rowvar=False))

    @cached_property
    def std_error(self) -> Vector:
        """Standard error of ``mean``, given that the chains have mixed; shape (d,)."""
        return np.asarray(self.std / np.sqrt(self.told(ess_mean)))

    @cached_property
    def rhat(self) -> Vector:
        """R-hat of split, rank-normalised chains, shape (d,): above 1.01, run them longer."""
        return self.told(rhat)

    @cached_property
    def ess(self) -> Vector:
        """Effective number of draws in the bulk, of all chains together; shape (d,)."""
        return self.told(ess_bulk)

    @cached_property
    def ess_tail(self) -> Vector:
        """Effective number of draws for the quantiles 5 % and 95 %, the lesser; shape (d,)."""
        return self.told(ess_tail)

    def told(self, measure: Callable[[Vector], Vector]) -> Vector:
        if self.samples.shape[1] < _LEAST:
            return np.full(self.samples.shape[2], np.nan)
        return by_coordinates(measure, self.samples)

    def to_arviz(self, name: str = "x") -> Any:
        """Return the draws as ArviZ takes them, with one variable of dimension d.

        Parameters
        ----------
        name : str, optional
            Of the variable.

        Returns
        -------
        arviz.InferenceData, or since ArviZ 1.0 the xarray.DataTree that stands for it

        Raises
        ------
        TypeError
            If ``name`` is no string.
        ModuleNotFoundError
            Without ArviZ.
        """
        checks.kind("name", name, str)
        try:
            arviz = import_module("arviz")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                'to_arviz needs ArviZ: pip install "trug_fast[arviz]"', name=error.name
            ) from error
        groups = {"posterior": {name: self.samples}}
        if hasattr(arviz, "InferenceData"):  # before ArviZ 1.0
            return arviz.from_dict(**groups)
        return arviz.from_dict(groups)

    def __repr__(self) -> str:
        """Return the sizes."""
        chains, draws, d = self.samples.shape
        return f"TruncMVNChains(n_chains={chains}, n_samples={draws}, d={d})"


class ChainSizes(NamedTuple):
    """How chains go on, checked."""

    n_chains: int
    n_samples: int
    n_burn: int
    thin: int
    progress: bool | None


def sizes_of(n_chains: int, n_samples: int, n_burn: int, thin: int, progress: Any) -> ChainSizes:
    """Return what was given, checked."""
    require_progress(progress)
    return ChainSizes(
        checks.count("n_chains", n_chains),
        checks.count("n_samples", n_samples),
        checks.count("n_burn", n_burn, 0),
        checks.count("thin", thin),
        progress,
    )


def checked_start(
    start: ArrayLike | None, n_chains: int, cut: CutNormal | CutPrecision
) -> Vector | None:
    """Return where chains begin, (n_chains, d), all in the region; None stays None."""
    if start is None:
        return None
    array, d = checks.numbers("start", start), cut.mean.size
    if array.shape not in ((d,), (n_chains, d)):
        raise ValueError(f"start must have shape ({d},) or ({n_chains}, {d}), got {array.shape}")
    states = np.array(np.broadcast_to(array, (n_chains, d)), np.float64, order="C")
    if not np.isfinite(states).all():
        chain, j = np.argwhere(~np.isfinite(states))[0]
        raise ValueError(
            f"start must be finite, got {states[chain, j]} at index {j} of chain {chain}"
        )
    A = getattr(cut, "A", None)
    values = states if A is None else states @ A.T
    outside = ~((cut.lower <= values) & (values <= cut.upper))
    if outside.any():
        chain, j = (int(k) for k in np.argwhere(outside)[0])
        rule, place = ("lie", "index") if A is None else ("keep A x", "row")
        raise ValueError(
            f"start must {rule} between lower and upper, got {values[chain, j]} outside "
            f"[{cut.lower[j]}, {cut.upper[j]}] for {place} {j}{' of A' if A is not None else ''}, "
            f"chain {chain}"
        )
    return states


def run_chains(
    run: Callable[[Vector, int, int, int], None],
    states: Vector,
    sizes: ChainSizes,
    work: float,
    dtype: Any,
) -> TruncMVNChains:
    """Run chains in stretches, between which a bar moves and Ctrl-C is heard.

    run : called with rows (draws, chains, d) to write, the first step, how many steps to run
        before the first row, and how many for each
    work : multiply-adds of a step of one chain
    """
    chains, n_samples, n_burn, thin, progress = sizes
    work *= chains
    samples = np.empty((chains, n_samples, states.shape[1]), dtype)
    longest = max(1, int(STRETCH / work))  # steps
    most = max(1, min(longest // thin, BUFFER // states.size))  # draws
    parts = [(min(longest, n_burn - step), 0) for step in range(0, n_burn, longest)]
    parts += [(0, min(most, n_samples - done)) for done in range(0, n_samples, most)]
    step = done = 0
    with Progress(n_burn + n_samples * thin, "chains", progress) as bar:
        for burn, n in parts:
            rows = np.empty((n, *states.shape))
            with computing(work * (burn + n * thin)):
                run(rows, step, burn, thin)
            samples[:, done : done + n] = rows.transpose(1, 0, 2)
            done, step = done + n, step + burn + n * thin
            bar.advance(burn + n * thin)
    return TruncMVNChains(samples)


_LEAST = 4  # draws of a chain: two halves with a variance each
AT_ONCE = 2**22  # numbers that one pass over some coordinates takes


def by_coordinates(measure: Callable[[Vector], Vector], samples: Array) -> Vector:
    """Return a measure of each coordinate, of as many at once as fit."""
    d = samples.shape[2]
    width = max(1, AT_ONCE // (samples.shape[0] * samples.shape[1]))
    parts = [measure(samples[:, :, j : j + width].astype(np.float64)) for j in range(0, d, width)]
    return np.concatenate(parts)


def rhat(samples: Vector) -> Vector:
    """Return the larger of R-hat of split, rank-normalised chains, and of their distances."""
    halves = _split(samples)
    centre = np.median(halves, axis=(0, 1))
    bulk, tail = (_rhat(_ranked(values)) for values in (halves, np.abs(halves - centre)))
    return np.maximum(bulk, tail)


def ess_bulk(samples: Vector) -> Vector:
    """Return the effective number of draws for means, of split, rank-normalised chains."""
    return _ess(_ranked(_split(samples)))


def ess_tail(samples: Vector) -> Vector:
    """Return the lesser effective number of draws for the quantiles 5 % and 95 %."""
    low, high = np.quantile(samples, (0.05, 0.95), axis=(0, 1))
    found = [_ess(_split((samples <= level).astype(np.float64))) for level in (low, high)]
    return np.minimum(*found)


def ess_mean(samples: Vector) -> Vector:
    """Return the effective number of draws for the mean of the values as they are."""
    return _ess(_split(samples))


def _split(values: Vector) -> Vector:
    """Make two chains of each, without the draw in the middle of an odd number."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def _ranked(values: Vector) -> Vector:
    size = values.shape[0] * values.shape[1]
    ranks = rankdata(values.reshape(size, -1), axis=0)
    normal: Vector = ndtri((ranks - 0.375) / (size + 0.25))
    return normal.reshape(values.shape)


def _rhat(values: Vector) -> Vector:
    n = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Vector = np.sqrt((n - 1) / n + between / within)
    return result


def _autocovariance(values: Vector) -> Vector:
    """Return that of each chain at all lags, over the number of draws."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    result: Vector = np.fft.irfft(power, size, axis=1)[:, :n] / n
    return result


def _ess(values: Vector) -> Vector:
    """Return the effective number of draws, by Geyer's initial monotone sequence."""
    m, n, _ = values.shape
    covariance = _autocovariance(values).mean(axis=0)  # (lags, coordinates)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2][: n // 2]
    last = max(0, (n - 3) // 2)  # of the last pair only the first counts, and once
    positive = (
        np.logical_and.accumulate(pairs > 0, axis=0) & (np.arange(len(pairs)) < last)[:, None]
    )
    count = positive.sum(axis=0)
    falling = np.minimum.accumulate(pairs, axis=0)
    tau = -1.0 + 2.0 * np.where(positive, falling, 0.0).sum(axis=0)
    after = np.take_along_axis(rho, np.minimum(2 * count, n - 1)[None], axis=0)[0]
    tau += np.maximum(after, 0.0)
    tau = np.maximum(tau, 1.0 / np.log10(m * n))
    result: Vector = np.where(np.isfinite(total) & (total > 0), m * n / tau, np.nan)
    return result
