"""The noise of a regression by rows that it was not trained on (mathematics 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_mean_exp
from trug_fast.kernels.random.philox import USER
from trug_fast.models.mixtures import LOG_TWO_PI
from trug_fast.models.tggm import TruGTGGM

from .data import Examples

Floats = NDArray[np.float64]

FOLDS = 5  # of cross-validation
LEAST, MOST = -18.0, 5.0  # of log variances
SCALES, HEAVIEST = 5, 3.0  # of an ensemble's noise: how many, the deviation of their logs at most


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


def calibrated_together(crossed: CrossedResiduals) -> Floats | None:
    """Return the log noise by all rows whose residuals are known; None without any."""
    left = crossed.left_out()
    return calibrated([left.found], crossed.rows.at(left.rows)) if left.rows.size else None


class LeftOut(NamedTuple):
    """Rows that a model was not trained on, by their places, and what it leaves unexplained."""

    rows: NDArray[np.int64]
    found: Residuals


class MixtureNoise(NamedTuple):
    """The noise that the models of an ensemble share."""

    log_noise: Floats  # (outputs,), as `calibrated` returns it
    factors: Floats  # (scales, outputs), 1 on average: by what it is multiplied, as likely each
    log_density: Floats  # (outputs,), mean over the rows left out, of standardised targets
    square_error: Floats  # (outputs,), that of the models' mean, likewise


class _OutOfBag:
    """Rows left out, each predicted by the mixture of the models that left it out."""

    def __init__(self, models: Sequence[LeftOut], rows: Examples) -> None:
        places = np.concatenate([each.rows for each in models])
        order = np.argsort(places, kind="stable")
        own, self._starts, self._counts = np.unique(
            places[order], return_index=True, return_counts=True
        )
        self.rows = rows.at(own)
        parts = zip(*(each.found for each in models), strict=True)
        self.error, self.variance, self.noise = (np.concatenate(part)[order] for part in parts)
        self._row = np.repeat(np.arange(own.size), self._counts)

    def cost(self, log_noise: float, tail: float, o: int) -> float:
        """Return minus twice the mean log-density of an output, less a constant."""
        scales = np.exp(log_noise) * tailed(tail)
        spread = self.variance[:, o] + scales[:, None] * self.noise[:, o]
        logs = -0.5 * (np.log(spread) + self.error[:, o] ** 2 / spread)
        top = np.maximum.reduceat(logs.max(axis=0), self._starts)
        total = np.add.reduceat(np.exp(logs - top[self._row]).sum(axis=0), self._starts)
        return -2 * self.rows.mean(top + np.log(total / (SCALES * self._counts)))

    def square_error(self) -> Floats:
        """Return the mean square of what the mean of the models leaves unexplained, (outputs,)."""
        mean = np.add.reduceat(self.error, self._starts) / self._counts[:, None]
        return np.array([self.rows.mean(own) for own in mean.T**2])


def tailed(tail: float) -> Floats:
    """Return SCALES factors, 1 on average, whose logs have about this deviation: a log-normal's."""
    from scipy.special import ndtri

    sizes = np.exp(tail * ndtri((np.arange(SCALES) + 0.5) / SCALES))
    factors: Floats = sizes / sizes.mean()
    return factors


def calibrated_mixture(models: Sequence[LeftOut], rows: Examples) -> MixtureNoise:
    """Return the noise of the highest likelihood of rows under the models that left them out.

    Heavier tails than a normal's are taken where they raise the log-likelihood of all rows by more
    than 1 nat, as Akaike's criterion has it of one more parameter (mathematics 5.7).
    """
    from scipy.optimize import minimize, minimize_scalar

    bag = _OutOfBag(models, rows)
    outputs = bag.error.shape[1]
    log_noise, factors = np.empty(outputs), np.ones((SCALES, outputs))
    density = np.empty(outputs)
    for o in range(outputs):
        plain = minimize_scalar(
            lambda c, o=o: bag.cost(c, 0.0, o), bounds=(LEAST, MOST), method="bounded"
        )
        log_noise[o], cost = plain.x, plain.fun
        heavy = minimize(
            lambda p, o=o: bag.cost(p[0], p[1], o),
            (plain.x, 0.5),
            method="Nelder-Mead",
            bounds=((LEAST, MOST), (0.0, HEAVIEST)),
            options={"xatol": 1e-4, "fatol": 1e-8},
        )
        if (plain.fun - heavy.fun) * len(bag.rows.inputs) > 2:
            log_noise[o], factors[:, o], cost = heavy.x[0], tailed(heavy.x[1]), heavy.fun
        density[o] = -0.5 * (cost + LOG_TWO_PI)
    return MixtureNoise(log_noise, factors, density, bag.square_error())


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

    def left_out(self) -> LeftOut:
        """Return the rows whose residuals are known, and these."""
        known = np.flatnonzero(self.known)
        return LeftOut(known, Residuals(*(part[known] for part in self.found)))

    @property
    def complete(self) -> bool:
        """Whether the residuals of all rows are known."""
        return bool(self.known.all())
