"""From log-weights to log Z: the estimates, their errors, and reasons not to believe them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..numerics import log_sum_exp

Floats = NDArray[np.float64]

FEW = 0.1  # share of the chains below which the effective ones are too few
NORMAL = 1.96  # standard errors to either side of a 95 % interval
APART = 3.0  # standard errors between two numbers that do not agree, beyond ...
ROUNDING = 1e-3  # ... nats, far more than single precision leaves in a weight


class PartitionWarning(UserWarning):
    """An estimate of log Z that cannot be trusted; its text says why."""


@dataclass(frozen=True)
class LogPartition:
    """An estimate of log Z with what is needed to judge it.

    Attributes
    ----------
    log_z : float
        Forward: log of the mean weight, low on average.  Reverse: minus the log of the mean inverse
        weight, high on average.  Both: Bennett's acceptance ratio of all weights.
    std_error : float
        Standard error of ``log_z`` from the spread of the weights.  It sees only modes that some
        chain has visited.
    ess : float
        Effective number of chains, (sum w)^2 / sum w^2, between 1 and n_chains; for both
        directions the smaller one.
    log_weights : ndarray, shape (n_chains,), or (2 n_chains,) for both directions, float64
        Each chain's own estimate of log Z; forward chains come first.
    path : str
        The path taken.
    direction : str
        "forward", "reverse" or "both".
    mean_field : float
        A lower bound on log Z by mean field: certain, free of sampling error.
    temperatures : ndarray, shape (n_temperatures + 1,), float64
        From 0, the base, to 1, the model.
    forward, reverse : LogPartition or None
        The two estimates by themselves, for both directions.
    warnings : tuple of str
        Reasons not to trust the estimate; each was also given as a :class:`PartitionWarning`.
    """

    log_z: float
    std_error: float
    ess: float
    log_weights: Floats
    path: str
    direction: str
    mean_field: float
    temperatures: Floats
    forward: LogPartition | None = None
    reverse: LogPartition | None = None
    warnings: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval, ``log_z`` +- 1.96 ``std_error``."""
        return self.log_z - NORMAL * self.std_error, self.log_z + NORMAL * self.std_error


def one_sided(log_weights: Floats, direction: str) -> tuple[float, float, float]:
    """Return log Z, its standard error and the effective number of chains, of one direction.

    The inverse weights of reverse chains are what has the mean 1/Z.
    """
    sign = 1.0 if direction == "forward" else -1.0
    relative = np.exp(sign * log_weights - (sign * log_weights).max())
    mean = relative.mean()
    return (
        sign * float(log_sum_exp(sign * log_weights) - np.log(log_weights.size)),
        float(relative.std(ddof=1) / mean / np.sqrt(relative.size)),
        float(relative.sum() ** 2 / (relative**2).sum()),
    )


def bennett(forward: Floats, reverse: Floats) -> tuple[float, float, float]:
    """Return log Z, its standard error and the overlap, by Bennett's acceptance ratio.

    The overlap is the number of chains of either direction that lie where the other's do.
    Bennett, J. Comput. Phys. 22 (1976); the error as in Shirts et al., PRL 91 (2003).
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    shift = np.log(forward.size / reverse.size)

    def imbalance(log_z: float) -> float:
        return float(expit(forward - log_z - shift).sum() - expit(log_z - reverse + shift).sum())

    every = np.concatenate([forward, reverse])
    margin = 1.0 + abs(shift)
    log_z = float(brentq(imbalance, every.min() - margin, every.max() + margin, xtol=1e-10))
    shares = expit(forward - log_z - shift), expit(log_z - reverse + shift)
    variance = sum(((s**2).mean() / s.mean() ** 2 - 1) / s.size for s in shares)
    return log_z, float(np.sqrt(variance)), float(sum(s.sum() for s in shares))


def estimate(
    forward: Floats | None,
    reverse: Floats | None,
    *,
    path: str,
    temperatures: Floats,
    mean_field: float,
) -> LogPartition:
    """Return what the log-weights of one direction, or of both, say, and whether to believe it."""

    def judged(log_z: float, error: float, ess: float, side: Floats, name: str) -> LogPartition:
        return LogPartition(log_z, error, ess, side, path, name, mean_field, temperatures)

    sides = [
        judged(*one_sided(side, name), side, name)
        for side, name in ((forward, "forward"), (reverse, "reverse"))
        if side is not None
    ]
    sides = [replace(side, warnings=(*impossible(side), *collapsed(side))) for side in sides]
    if len(sides) == 1:
        return sides[0]
    low, high = sides
    log_z, error, overlap = bennett(low.log_weights, high.log_weights)
    every = np.concatenate([low.log_weights, high.log_weights])
    both = judged(log_z, error, min(low.ess, high.ess), every, "both")
    found = (*impossible(both), *apart(low, high, overlap))
    return replace(both, forward=low, reverse=high, warnings=found)


def impossible(estimate: LogPartition) -> list[str]:
    """Return the reason if the estimate lies below what is certain."""
    if estimate.mean_field <= estimate.log_z + APART * estimate.std_error + ROUNDING:
        return []
    return [
        f"impossible: log Z = {estimate.log_z:.2f} +- {estimate.std_error:.2f} is below the "
        f"mean-field bound {estimate.mean_field:.2f}, which is certain; the chains have missed "
        "most of the mass"
    ]


def collapsed(estimate: LogPartition) -> list[str]:
    """Return the reason if few weights carry the estimate of one direction."""
    size, variance = estimate.log_weights.size, float(estimate.log_weights.var())
    # For normal log-weights of variance log(n)/2 the 95 % interval covers 88 % (measured, 20 to
    # 1000 chains); beyond, ever less.
    if estimate.ess >= FEW * size and variance <= 0.5 * np.log(size):
        return []
    return [
        f"weights collapsed: {estimate.ess:.1f} of {size} chains are effective, and the "
        f"log-weights spread by {variance**0.5:.2f}; take more temperatures"
    ]


def apart(low: LogPartition, high: LogPartition, overlap: float) -> list[str]:
    """Return the reasons if forward and reverse chains do not agree."""
    found = []
    gap = high.log_z - low.log_z
    allowed = APART * float(np.hypot(low.std_error, high.std_error)) + ROUNDING
    values = f"{low.log_z:.2f} +- {low.std_error:.2f} and {high.log_z:.2f} +- {high.std_error:.2f}"
    if gap > allowed:
        found.append(f"forward and reverse apart: {values}; take more temperatures")
    if -gap > allowed:
        found.append(
            f"forward above reverse: {values}; the reverse chains did not start from draws of the "
            "model: take more Gibbs sweeps (n_gibbs), or better draws (start)"
        )
    size = low.log_weights.size
    if overlap < FEW * size:
        found.append(
            f"forward and reverse weights hardly overlap: {overlap:.1f} of {2 * size} chains; "
            "take more temperatures"
        )
    return found
