"""What an estimate of log Z consists of, and the warning that it cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NORMAL = 1.96  # standard errors to either side of a 95 % interval


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
