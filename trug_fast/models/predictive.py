"""What a regression says of y given x: densities, quantiles and intervals, of one model or several.

Tested in tests/models/test_ensemble.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import log_mean_exp

from .mixtures import LOG_TWO_PI, Mixture

Floats = NDArray[np.float64]


class Posterior(NamedTuple):
    """Mean field of the hidden units given x and y, each of shape (rows, hidden)."""

    mean: FloatArray
    variance: FloatArray


class LogLikelihood(NamedTuple):
    """Importance-sampled log p(y | x) and its standard error, each of shape (rows,)."""

    value: NDArray[np.float64]
    std_error: NDArray[np.float64]


class Predictive(ABC):
    """Predictions by normals of the exact mean and covariance of p(y | x), one for each model."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def mixture(self, X: ArrayLike) -> Mixture:
        """Return means and deviations of each output by each model, (models, rows, outputs).

        In float64, from predictions in the float type of the models.
        """

    @abstractmethod
    def _covariances(self, X: ArrayLike) -> list[FloatArray]:
        """Return the covariance of the outputs by each model, each (rows, outputs, outputs)."""

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike) -> Floats:
        """Values that lie above shares ``q`` of the predictive distribution of each output.

        Of one model those of the normal that has the exact mean and variance of p(y | x), of an
        ensemble those of the mixture of these, whose roots are found to full precision.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        q : float or array_like, shape (n,)
            Each above 0 and below 1.

        Returns
        -------
        ndarray of float64, shape (rows,) with one output, else (rows, n_outputs)
            With n shares an axis of length n comes first, as of :func:`numpy.quantile`.

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
        >>> model.predict_quantiles([[0.3], [0.9]], [0.1, 0.5, 0.9]).round(3)
        array([[-0.233, -0.021],
               [ 0.431,  0.634],
               [ 1.094,  1.289]])
        """
        shares = _shares("q", q)
        mixture = self.mixture(X)
        found = np.stack([mixture.quantile(float(share)) for share in shares.ravel()])
        return self._flat(found if shares.ndim else found[0])

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Interval that y lies in with probability ``level``, as likely below it as above.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        level : float
            Above 0 and below 1.

        Returns
        -------
        lower, upper : ndarray of float64, shape (rows,) with one output, else (rows, n_outputs)

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
        >>> lower, upper = model.predict_interval([[0.3]], level=0.8)
        >>> float(lower[0].round(3)), float(upper[0].round(3))
        (-0.233, 1.094)
        """
        level = checks.above_zero("level", level, below=1.0)
        share = 0.5 - 0.5 * level
        mixture = self.mixture(X)
        lower, upper = mixture.quantile(share), mixture.quantile(1.0 - share)
        return self._flat(lower), self._flat(upper)

    def probability_above(self, X: ArrayLike, threshold: float = 0.0) -> Floats:
        """Probability that y lies above a threshold, by the predictive distribution.

        Of a model that was trained by ``objective="probit"`` that of +1, at the threshold 0.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        threshold : float

        Returns
        -------
        ndarray of float64, shape (rows,) with one output, else (rows, n_outputs)

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
        >>> model.probability_above([[0.3], [0.9]], 0.5).round(3)
        array([0.447, 0.604])
        """
        threshold = checks.number("threshold", threshold)
        return self._flat(self.mixture(X).above(threshold))

    def log_density(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """Log of the predictive density at y, in nats.

        Of one model that of the normal which has the exact mean and covariance of p(y | x), all
        outputs together; of an ensemble that of the mixture of these in equal parts.  The density
        of one model itself, which is no normal, is what :meth:`TruGTGGM.log_likelihood` estimates.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        y : array_like, shape (rows,) or (rows, n_outputs)

        Returns
        -------
        ndarray of float64, shape (rows,)

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
        >>> model.log_density([[0.3], [0.9]], [0.4, 5.0]).round(2)
        array([ -0.26, -36.72])
        """
        mixture = self.mixture(X)
        found = checks.targets("y", y, mixture.mean.shape[1], self.n_outputs)
        aims = np.asarray(found, np.float64)
        if self.n_outputs == 1:
            one = Mixture(mixture.mean[..., 0], mixture.deviation[..., 0])
            return one.log_density(aims[:, 0])
        each = zip(mixture.mean, self._covariances(X), strict=True)
        return log_mean_exp(np.stack([_normal_logs(aims - mean, spread) for mean, spread in each]))

    def _flat(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values (..., outputs) without the last axis where there is one output."""
        return values[..., 0] if self.n_outputs == 1 else values


def _shares(name: str, value: ArrayLike) -> Floats:
    """Return shares above 0 and below 1, a number or a vector."""
    array = np.asarray(checks.numbers(name, value), np.float64)
    if array.ndim > 1 or array.size == 0:
        raise ValueError(f"{name} must be a number or a vector, got shape {array.shape}")
    if not ((array > 0) & (array < 1)).all():
        wrong = array[~((array > 0) & (array < 1))].ravel()[0]
        raise ValueError(f"{name} must lie above 0 and below 1, got {wrong}")
    return array


def _normal_logs(rest: Floats, covariance: FloatArray) -> Floats:
    """Return log N(rest | 0, covariance) of each row."""
    root = np.linalg.cholesky(np.asarray(covariance, np.float64))
    z = np.linalg.solve(root, rest[..., None])[..., 0]
    logs = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(-0.5 * ((z * z).sum(axis=1) + rest.shape[1] * LOG_TWO_PI) - logs)
