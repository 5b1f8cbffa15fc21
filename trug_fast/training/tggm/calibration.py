"""The noise of a regression by rows that it was not trained on (mathematics 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_mean_exp
from trug_fast.kernels.random.philox import USER
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.checkpoints import State, copy_into

from .scaling import Examples

Floats = NDArray[np.float64]

FOLDS = 5  # of cross-validation
LEAST, MOST = -18.0, 5.0  # of log variances


class Residuals(NamedTuple):
    """What a model of standardised rows leaves unexplained, each (rows, outputs)."""

    error: Floats
    variance: Floats  # of y by the hidden units
    noise: Floats  # what the variance that is sought is multiplied by: 1, or the noise by input

    @classmethod
    def of(cls, model: TruGTGGM, rows: Examples) -> Residuals:
        """Take them from rows that the model was not trained on."""
        mean, deviation = model.predict(rows.inputs, return_std=True)
        shape = (len(rows.inputs), -1)
        noise = model.predict_noise(rows.inputs).reshape(shape)
        variance = deviation.reshape(shape) ** 2 - noise
        factor = np.ones_like(noise) if model.noise_weights is None else noise
        return cls(rows.targets - mean.reshape(shape), variance, np.asarray(factor, float))


def calibrated(found: Sequence[Residuals], rows: Examples) -> Floats:
    """Return each output's log noise variance of the highest likelihood of the rows.

    Where the noise depends on the inputs, the log of what it is to be multiplied by.  The
    likelihood is moment-matched, of several models that of their mixture (mathematics 5.7); that of
    weighted rows is weighted.
    """
    from scipy.optimize import minimize_scalar  # here, since its import takes a while

    error, variance, noise = (np.stack(parts) for parts in zip(*found, strict=True))
    square = error**2
    result = np.empty(square.shape[2])
    for o in range(result.size):

        def loss(log_noise: float, o: int = o) -> float:
            spread = variance[..., o] + np.exp(log_noise) * noise[..., o]
            costs = np.log(spread) + square[..., o] / spread
            return rows.mean(costs[0] if len(costs) == 1 else -2 * log_mean_exp(-0.5 * costs))

        result[o] = minimize_scalar(loss, bounds=(LEAST, MOST), method="bounded").x
    return result


def calibrated_together(crossed: Sequence[CrossedResiduals]) -> Floats | None:
    """Return the log noise that models share whose residuals are of the same parts of the rows.

    By all rows whose residuals are known; None without any.
    """
    known = np.flatnonzero(np.all([each.known for each in crossed], axis=0))
    if not known.size:
        return None
    own = [Residuals(*(part[known] for part in each.found)) for each in crossed]
    return calibrated(own, crossed[0].rows.at(known))


class CrossedResiduals:
    """Residuals of all rows, each by a model that was trained without it.

    Parameters
    ----------
    rows : Examples
        All that are trained on.
    seed : int
        Which fixes the parts.
    """

    def __init__(self, rows: Examples, seed: int) -> None:
        counter = 1 << 192  # far from the draws of rows that are held back
        generator = np.random.Generator(np.random.Philox(key=[seed, USER], counter=counter))
        self.rows = rows
        self._fold = generator.permutation(len(rows.inputs)) % FOLDS
        self.found = Residuals(*np.full((3, *rows.targets.shape), np.nan))

    def trained(self, fold: int) -> Examples:
        """Return the rows that are trained on without a part."""
        return self.rows.at(np.flatnonzero(self._fold != fold))

    def note(self, fold: int, model: TruGTGGM) -> None:
        """Take the residuals of a part, by a model that was trained without it."""
        own = np.flatnonzero(self._fold == fold)
        for target, values in zip(self.found, Residuals.of(model, self.rows.at(own)), strict=True):
            target[own] = values

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of which rows residuals are known."""
        known = np.isfinite(self.found.error).all(axis=1)
        return np.asarray(known, bool)

    @property
    def complete(self) -> bool:
        """Whether the residuals of all rows are known."""
        return bool(self.known.all())

    def state(self) -> State:
        """Return the residuals so far, sharing memory."""
        return dict(self.found._asdict())

    def restore(self, state: State) -> None:
        """Go back to a state; raises ValueError if it is none."""
        copy_into(self.state(), state)
