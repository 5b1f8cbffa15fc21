"""From log-weights to log Z: the estimates, their errors, and reasons not to believe them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp

Floats = NDArray[np.float64]

# Share of the chains below which the effective ones are too few.  Where reverse chains did not
# start from draws of the model, the spread of their weights is the only sign.  Measured on trained
# models (docs/partition.md).
FEW = {"forward": 0.3, "reverse": 0.5}
OVERLAP = 0.1  # share of the chains that must lie where the other direction's do
NORMAL = 1.96  # standard errors to either side of a 95 % interval
DOUBTFUL = 2.0  # standard errors between two directions beyond which half their gap is the error
APART = 3.0  # standard errors between two numbers that do not agree, beyond ...
TINY = 1e-300  # share of a chain that stands for none
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
        Standard error of ``log_z`` from the spread of the weights, and for both directions at least
        half of what is between them where they do not agree.  It sees only modes that some chain
        has visited.
    ess : float
        Least effective number of chains, (sum w)^2 / sum w^2, between 1 and n_chains: of both
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
    fingerprint : str
        Of the model that this is the log Z of; :func:`log_likelihood` refuses another's.
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
    fingerprint: str
    forward: LogPartition | None = None
    reverse: LogPartition | None = None
    warnings: tuple[str, ...] = ()

    @property
    def n_chains(self) -> int:
        """Number of chains in each direction."""
        return self.log_weights.size // (2 if self.direction == "both" else 1)

    def __repr__(self) -> str:
        """Return what a reader needs to judge the estimate, without the arrays."""
        return (
            f"LogPartition({self.log_z:.3f} +- {self.std_error:.3g}, "
            f"direction={self.direction!r}, n_chains={self.n_chains}, ess={self.ess:.1f}, "
            f"warnings={self.warnings!r})"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval, ``log_z`` +- 1.96 ``std_error``."""
        return self.log_z - NORMAL * self.std_error, self.log_z + NORMAL * self.std_error


def one_sided(log_weights: Floats, direction: str) -> tuple[float, float, float]:
    """Return log Z, its standard error and the effective number of chains, of one direction.

    The inverse weights of reverse chains are what has the mean 1/Z.  The error is the spread of the
    weights by the root of the effective number of chains, not of all: where few weights carry the
    mean, their spread is larger than it looks.  On trained models whose log Z is known, forward
    errors without an alarm were 0.99, 0.92, 0.65 and 0.63 of it (root mean square) with at least
    90, 70, 50 and 30 of 100 chains effective.
    """
    sign = 1.0 if direction == "forward" else -1.0
    relative = np.exp(sign * log_weights - (sign * log_weights).max())
    ess = float(relative.sum() ** 2 / (relative**2).sum())
    return (
        sign * float(log_sum_exp(sign * log_weights) - np.log(log_weights.size)),
        float(relative.std(ddof=1) / relative.mean() / np.sqrt(ess)),
        ess,
    )


def bennett(forward: Floats, reverse: Floats) -> tuple[float, float, float]:
    """Return log Z, its standard error and the overlap, by Bennett's acceptance ratio.

    The overlap is the number of chains of either direction that lie where the other's do; without
    any, log Z lies between the two directions and the error is infinite.
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
    overlap = float(sum(s.sum() for s in shares))
    if min(s.max() for s in shares) < TINY:
        return log_z, np.inf, overlap
    # Relative to its largest, the square of a share cannot vanish; equal ones leave -1e-16.
    scaled = [s / s.max() for s in shares]
    variance = sum(((s**2).mean() / s.mean() ** 2 - 1) / s.size for s in scaled)
    return log_z, float(np.sqrt(max(variance, 0.0))), overlap


def estimate(
    forward: Floats | None,
    reverse: Floats | None,
    *,
    path: str,
    temperatures: Floats,
    mean_field: float,
    fingerprint: str,
    starts: float | None = None,
) -> LogPartition:
    """Return what the log-weights of one direction, or of both, say, and whether to believe it.

    starts : effective number of draws at which reverse chains began, where it is known
    """

    def judged(log_z: float, error: float, ess: float, side: Floats, name: str) -> LogPartition:
        return LogPartition(
            log_z, error, ess, side, path, name, mean_field, temperatures, fingerprint
        )

    sides = [
        judged(*one_sided(side, name), side, name)
        for side, name in ((forward, "forward"), (reverse, "reverse"))
        if side is not None
    ]
    sides = [
        replace(side, warnings=(*impossible(side), *collapsed(side), *repeated(side, starts)))
        for side in sides
    ]
    if len(sides) == 1:
        return sides[0]
    low, high = sides
    log_z, error, overlap = bennett(low.log_weights, high.log_weights)
    gap, expected = abs(high.log_z - low.log_z), np.hypot(low.std_error, high.std_error)
    if gap > DOUBTFUL * expected or not np.isfinite(error):
        error = max(error if np.isfinite(error) else 0.0, gap / 2)
    every = np.concatenate([low.log_weights, high.log_weights])
    both = judged(log_z, error, min(low.ess, high.ess), every, "both")
    found = [*impossible(both), *apart(low, high, overlap)]
    for side in sides:  # what speaks against a side speaks against the whole
        reasons = [*collapsed(side), *repeated(side, starts)]
        reasons += [] if impossible(both) else impossible(side)
        found += [f"{side.direction}: {reason}" for reason in reasons]
    return replace(both, forward=low, reverse=high, warnings=tuple(found))


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
    size = estimate.log_weights.size
    if estimate.ess >= FEW[estimate.direction] * size:
        return []
    return [
        f"weights collapsed: {estimate.ess:.1f} of {size} chains are effective, and the "
        f"log-weights spread by {estimate.log_weights.std():.2f}; take more temperatures"
    ]


def repeated(estimate: LogPartition, starts: float | None) -> list[str]:
    """Return the reason if reverse chains began at the same few draws."""
    size = estimate.n_chains
    if estimate.direction != "reverse" or starts is None or starts >= FEW["forward"] * size:
        return []
    return [
        f"few draws: the {size} reverse chains started from what counts as {starts:.1f} draws of "
        "the model; take more temperatures, or better draws (start)"
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
    if overlap < OVERLAP * size:
        found.append(
            f"forward and reverse weights hardly overlap: {overlap:.1f} of {2 * size} chains; "
            "take more temperatures"
        )
    return found
