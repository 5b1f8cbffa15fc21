"""What chains say of log Z, and the one judge of whether to believe them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.rbm import RBM

from .weights import bennett, one_sided

Floats = NDArray[np.float64]

NORMAL = 1.96  # standard errors to either side of a 95 % interval
# Share of the chains below which the effective ones are too few.  Where reverse chains did not
# start from draws of the model, the spread of their weights is the only sign.  Measured on trained
# models (notes/partition.md).
FEW = {"forward": 0.3, "reverse": 0.5}
OVERLAP = 0.1  # share of the chains that must lie where the other direction's do
DOUBTFUL = 2.0  # standard errors between two directions beyond which half their gap is the error
APART = 3.0  # standard errors between two numbers that do not agree, beyond ...
ROUNDING = 1e-3  # ... nats, far more than single precision leaves in a weight
HARDLY = 0.05  # least overlap of a ladder's neighbours that carries an estimate
MATTERS = 0.05  # nats by which certain bounds must be lower, on average, to be warned of


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

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    >>> tf.log_partition(model, n_temperatures=10, rng=0)
    LogPartition(3.466 +- 0, direction='forward', n_chains=100, ess=100.0, warnings=())
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


class LogProbability(NamedTuple):
    """Estimates of log-probabilities with their standard errors, 0 of exact ones.

    ``value`` and ``std_error`` are arrays (of sequences, lists of arrays); ``warnings`` are reasons
    not to trust some, each also given as a :class:`PartitionWarning`.
    """

    value: Any
    std_error: Any
    warnings: tuple[str, ...]


def fingerprint(model: RBM) -> str:
    """Return the class of a model and a hash of its parameters, whatever float type holds them."""
    sha = hashlib.sha256()
    if not model.visible_units.are("plain"):  # else parameters tell
        ends = 5 if model.visible_units.some("cut") else 3
        sha.update(str([tuple(run)[:ends] for run in model.runs]).encode())
    for name in model.names:
        parameter = np.ascontiguousarray(getattr(model, name), dtype=np.float64)
        sha.update(f"{parameter.dtype.str}{parameter.shape}".encode())
        sha.update(parameter.tobytes())
    return f"{type(model).__name__} {sha.hexdigest()[:16]}"


def judge(
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
    sides = []
    for log_weights, direction in ((forward, "forward"), (reverse, "reverse")):
        if log_weights is not None:
            found = one_sided(log_weights, direction)
            side = LogPartition(
                *found, log_weights, path, direction, mean_field, temperatures, fingerprint
            )
            reasons = (*impossible(side), *collapsed(side), *repeated(side, starts))
            sides.append(replace(side, warnings=reasons))
    return sides[0] if len(sides) == 1 else together(sides[0], sides[1], starts)


def together(low: LogPartition, high: LogPartition, starts: float | None) -> LogPartition:
    """Return what both directions say; what speaks against a side speaks against the whole."""
    log_z, error, overlap = bennett(low.log_weights, high.log_weights)
    gap, expected = abs(high.log_z - low.log_z), np.hypot(low.std_error, high.std_error)
    if gap > DOUBTFUL * expected or not np.isfinite(error):
        error = max(error if np.isfinite(error) else 0.0, gap / 2)
    every = np.concatenate([low.log_weights, high.log_weights])
    whole = replace(
        low,
        log_z=log_z,
        std_error=error,
        ess=min(low.ess, high.ess),
        log_weights=every,
        direction="both",
        forward=low,
        reverse=high,
    )
    found = [*impossible(whole), *apart(low, high, overlap)]
    for side in (low, high):
        reasons = [*collapsed(side), *repeated(side, starts)]
        reasons += [] if impossible(whole) else impossible(side)
        found += [f"{side.direction}: {reason}" for reason in reasons]
    return replace(whole, warnings=tuple(found))


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


def broken(overlap: float) -> list[str]:
    """Return the reason if two rungs of a ladder overlap so little that chains cannot climb."""
    if overlap >= HARDLY:
        return []
    return [f"rungs hardly overlap: {overlap:.2g} of their draws; the ladder is broken there"]


def too_probable(value: Floats, most: Floats) -> list[str]:
    """Return the reason if rows cannot be as probable as annealing says."""
    above = value - most
    error = above.std(ddof=1) / np.sqrt(len(above)) if len(above) > 1 else 0.0
    if above.mean() <= MATTERS + APART * error:
        return []
    return [
        f"annealing from the rows' side gives them {value.mean():.2f} nats on average, but by the "
        f"mean-field bound on log Z, which is certain, they have {most.mean():.2f} at most: the "
        "model has a mode that annealing misses"
    ]


def tell(reasons: Iterable[str], stacklevel: int = 2) -> None:
    """Warn of each; as seen from the caller, ``stacklevel`` is that of :func:`warnings.warn`."""
    for reason in reasons:
        warnings.warn(reason, PartitionWarning, stacklevel=stacklevel + 1)
