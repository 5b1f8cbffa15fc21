"""Chains of draws of a truncated normal vector, and how far they can be trusted.

Tested in tests/distributions/multivariate/test_chains.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.progress import Progress
from trug_fast._common.threads import computing

from . import diagnostics

Vector = NDArray[np.float64]
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
        return np.asarray(self.std / np.sqrt(self._told(diagnostics.ess_mean)))

    @cached_property
    def rhat(self) -> Vector:
        """R-hat of split, rank-normalised chains, shape (d,): above 1.01, run them longer."""
        return self._told(diagnostics.rhat)

    @cached_property
    def ess(self) -> Vector:
        """Effective number of draws in the bulk, of all chains together; shape (d,)."""
        return self._told(diagnostics.ess_bulk)

    @cached_property
    def ess_tail(self) -> Vector:
        """Effective number of draws for the quantiles 5 % and 95 %, the lesser; shape (d,)."""
        return self._told(diagnostics.ess_tail)

    def _told(self, measure: Callable[[Vector], Vector]) -> Vector:
        if self.samples.shape[1] < diagnostics.LEAST:
            return np.full(self.samples.shape[2], np.nan)
        return diagnostics.by_coordinates(measure, self.samples)

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


def checked_start(
    start: ArrayLike | None, n_chains: int, lower: Vector, upper: Vector
) -> Vector | None:
    """Return where chains begin, (n_chains, d), between lower and upper; None stays None."""
    if start is None:
        return None
    array = checks.numbers("start", start)
    d = lower.size
    if array.shape not in ((d,), (n_chains, d)):
        raise ValueError(f"start must have shape ({d},) or ({n_chains}, {d}), got {array.shape}")
    states = np.array(np.broadcast_to(array, (n_chains, d)), np.float64, order="C")
    if not np.isfinite(states).all():
        chain, j = np.argwhere(~np.isfinite(states))[0]
        raise ValueError(
            f"start must be finite, got {states[chain, j]} at index {j} of chain {chain}"
        )
    outside = ~((lower <= states) & (states <= upper))
    if outside.any():
        chain, j = (int(k) for k in np.argwhere(outside)[0])
        raise ValueError(
            f"start must lie between lower and upper, got {states[chain, j]} outside "
            f"[{lower[j]}, {upper[j]}] at index {j} of chain {chain}"
        )
    return states


def run_stretches(
    run: Callable[[Vector, int, int, int], None],
    states: Vector,
    sizes: tuple[int, int, int],
    work: float,
    dtype: Any,
    progress: bool | None,
) -> TruncMVNChains:
    """Run chains in stretches, between which a bar moves and Ctrl-C is heard.

    run : called with rows (draws, chains, d) to write, the first step, how many steps to run
        before the first row, and how many for each
    sizes : n_samples, n_burn, thin
    work : multiply-adds of a step of all chains
    """
    n_samples, n_burn, thin = sizes
    samples = np.empty((states.shape[0], n_samples, states.shape[1]), dtype)
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


def checked_sizes(n_samples: int, n_burn: int, thin: int) -> tuple[int, int, int]:
    """Return the three, checked."""
    return (
        checks.count("n_samples", n_samples),
        checks.count("n_burn", n_burn, 0),
        checks.count("thin", thin),
    )
