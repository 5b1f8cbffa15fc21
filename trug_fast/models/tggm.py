"""The TruG-TGGM: regression with a layer of truncated Gaussian units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only, rows_for_kernels
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import UNIT, computing, work
from trug_fast.kernels.random.philox import HIDDEN, INITIAL
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.kernels.tggm import mean_field

from .fields import Field, Model
from .hidden_units import TruGHidden, log_norms
from .mixtures import Mixture
from .predictive import LogLikelihood, Posterior, Predictive


class TruGTGGM(Model, Predictive):
    """Regression whose hidden units are doubly truncated Gaussians.

    Formulas: paper section 5, mathematics 5.

    p(y, h | x) = N(y | W1 h + b1, noise) N(h | W0 x + b0, hidden) on lower <= h <= upper, the
    latter divided by its mass there.  The model is a value: its arrays are copies of what was
    given and cannot be written to.

    Parameters
    ----------
    input_weights : array_like, shape (hidden, inputs)
        W0.  float32 weights make a float32 model; anything else a float64 one.
    input_bias : array_like, shape (hidden,), or number
        b0.
    output_weights : array_like, shape (outputs, hidden)
        W1.
    output_bias : array_like, shape (outputs,), or number
        b1.
    noise_variance : array_like, shape (outputs,), or number
        Variance of each y around W1 h + b1, positive.
    lower, upper : array_like, shape (hidden,), or number
        Truncation points, lower < upper; either may be infinite.
    hidden_variance : number, optional
        Variance of h before truncation; by default ``noise_variance``, as in the paper, which then
        must be one number.
    noise_weights : array_like, shape (outputs, hidden), optional
        With them the noise depends on x: its variance is ``noise_variance`` times exp of these
        weights times the means of h given x (mathematics 5.8).

    Raises
    ------
    TypeError, ValueError
        If shapes do not agree or numbers are out of range, naming the argument.

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.TruGTGGM([[1.0], [-1.0]], 0.0, [[1.0, -1.0]], 0.5, 0.2, 0.0, 1.0)
    >>> model.predict([[0.3], [-0.3]]).round(3)
    array([0.67, 0.33])
    """

    fields = (
        Field("input_weights", ("n_hidden", "n_inputs")),
        Field("input_bias", ("n_hidden",)),
        Field("output_weights", ("n_outputs", "n_hidden")),
        Field("output_bias", ("n_outputs",)),
        Field("noise_variance", ("n_outputs",), positive=True),
        Field("lower", ("n_hidden",), infinite=True),
        Field("upper", ("n_hidden",), infinite=True),
        Field("hidden_variance", (), positive=True, optional=True),
        Field("noise_weights", ("n_outputs", "n_hidden"), optional=True),
    )
    shown = ("n_inputs", "n_hidden", "n_outputs")
    counted = "n_inputs"
    input_weights: FloatArray
    input_bias: FloatArray
    output_weights: FloatArray
    output_bias: FloatArray
    noise_variance: FloatArray
    lower: FloatArray
    upper: FloatArray
    hidden_variance: float
    noise_weights: FloatArray | None

    def __init__(
        self,
        input_weights: ArrayLike,
        input_bias: ArrayLike,
        output_weights: ArrayLike,
        output_bias: ArrayLike,
        noise_variance: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        hidden_variance: ArrayLike | None = None,
        noise_weights: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            input_weights,
            input_bias,
            output_weights,
            output_bias,
            noise_variance,
            lower,
            upper,
            hidden_variance,
            noise_weights,
        )
        checks.intervals(np.ones(self.n_hidden), self.lower, self.upper)

    def _default(self, name: str) -> Any:
        if name == "noise_weights":
            return None
        if (self.noise_variance != self.noise_variance[0]).any():
            raise ValueError(f"{name} must be given where noise_variance differs between outputs")
        return self.noise_variance[0]

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.input_weights.shape[1])

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return int(self.input_weights.shape[0])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.output_weights.shape[0])

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Exact mean of p(y | x), and its standard deviation if asked for.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        return_std : bool
            Return a pair (mean, standard deviation); noise of y and of the hidden units included.

        Returns
        -------
        ndarray, shape (rows,) with one output, else (rows, n_outputs), or two of them
        """
        checks.flag("return_std", return_std)
        mean, variance = self._prior(self._inputs(X))
        y = mean @ self.output_weights.T + self.output_bias
        if not return_std:
            return self._flat(y)
        spread = self._noise(mean) + variance @ (self.output_weights**2).T
        return self._flat(y), self._flat(np.sqrt(spread))

    def predict_noise(self, X: ArrayLike) -> FloatArray:
        """Noise variance of y given x, the same for all x without ``noise_weights``.

        Shape (rows,) with one output, else (rows, n_outputs); without the hidden units' share.
        """
        inputs = self._inputs(X)
        if self.noise_weights is None:
            return self._flat(np.repeat(self.noise_variance[None], len(inputs), axis=0))
        return self._flat(self._noise(self._prior(inputs)[0]))

    def _noise(self, mean: FloatArray) -> FloatArray:
        """Return the noise variance at means of h given x: of each row, or the same for all."""
        if self.noise_weights is None:
            return self.noise_variance
        noise: FloatArray = self.noise_variance * np.exp(mean @ self.noise_weights.T)
        return noise

    def predictive_covariance(self, X: ArrayLike) -> FloatArray:
        """Exact covariance of p(y | x) of each row; shape (rows, n_outputs, n_outputs)."""
        mean, variance = self._prior(self._inputs(X))
        weights = self.output_weights
        covariance = np.einsum("ij,rj,kj->rik", weights, variance, weights, optimize=True)
        diagonal = np.arange(self.n_outputs)
        covariance[:, diagonal, diagonal] += self._noise(mean)
        result: FloatArray = covariance
        return result

    def mixture(self, X: ArrayLike) -> Mixture:
        """Return means and deviations of the normals that predictions are, (1, rows, outputs)."""
        found = self.predict(X, return_std=True)
        shape = (1, -1, self.n_outputs)
        return Mixture(*(np.asarray(part, np.float64).reshape(shape) for part in found))

    def _covariances(self, X: ArrayLike) -> list[FloatArray]:
        return [self.predictive_covariance(X)]

    def posterior(self, X: ArrayLike, y: ArrayLike, n_cycles: int = 10) -> Posterior:
        """Mean-field posterior of the hidden units given x and y (mathematics 5).

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        y : array_like, shape (rows,) or (rows, n_outputs)
        n_cycles : int
            Passes over the units, started at the moments given x alone; the paper takes 10.

        Returns
        -------
        Posterior
            ``mean`` and ``variance``, each (rows, n_hidden), in the model's float type.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[2.0]], 0.0, 0.2, 0.0, 1.0)
        >>> model.posterior([[0.0], [0.0]], [0.0, 2.0]).mean.round(3)[:, 0]
        array([0.16 , 0.743])
        """
        found = self._mean_field(X, y, n_cycles, self.dtype)
        return Posterior(found.mean, found.variance)

    def elbo(self, X: ArrayLike, y: ArrayLike, n_cycles: int = 10) -> NDArray[np.float64]:
        """Evidence lower bound of log p(y | x) at the mean field, (rows,), computed in float64."""
        return self._mean_field(X, y, n_cycles, np.dtype(np.float64)).bound

    def log_likelihood(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_samples: int = 1000,
        n_cycles: int = 10,
        rng: RngLike = None,
    ) -> LogLikelihood:
        """Estimate log p(y | x) by importance sampling from the mean field, in float64.

        The likelihood's estimate is unbiased; its logarithm is low by about half its variance.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        y : array_like, shape (rows,) or (rows, n_outputs)
        n_samples : int
            Draws of the hidden units for each row, at least 2.
        n_cycles : int
            Of the mean field that is drawn from.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        LogLikelihood
            ``value`` and ``std_error``, each (rows,).
        """
        n_samples = checks.count("n_samples", n_samples, least=2)
        seed = seed_from(rng, "log_likelihood")
        if self.noise_weights is not None:
            options = {"n_samples": n_samples, "n_cycles": n_cycles}
            each = self._row_by_row(X, y)
            found = [m.log_likelihood(*row, rng=seed + k, **options) for k, (m, *row) in each]
            return LogLikelihood(*(np.concatenate(part) for part in zip(*found, strict=True)))
        net = self._mean_field(X, y, n_cycles, np.dtype(np.float64)).net
        inputs, targets = self._inputs(X), self._targets(y, len(net))
        network, z = self.network(np.float64), self._z(inputs)
        tau, stiffness = 1 / self.hidden_variance, network.stiffness
        given = self._units(np.zeros((1, self.n_hidden)), np.zeros(self.n_hidden), stiffness)
        alone = self._units(np.zeros((1, self.n_hidden)), np.zeros(self.n_hidden), tau)
        constant = self._log_norms(given, net) - self._log_norms(alone, tau * z)
        constant += 0.5 * (np.log(network.noise_precision) - mean_field.LOG_TWO_PI).sum()
        weights = np.empty((n_samples, len(net)))
        hidden = np.empty_like(net)
        for draw in range(n_samples):
            with computing(self._work(net, 0)):
                gibbs.draw_hidden(given, net, gibbs.Address(seed, HIDDEN, draw, 0), hidden)
            rest = targets - hidden @ self.output_weights.T - self.output_bias
            ratio = (tau * z - net) * hidden + 0.5 * (stiffness - tau) * hidden**2
            weights[draw] = ratio.sum(axis=1) - 0.5 * rest**2 @ network.noise_precision
        top = weights.max(axis=0)
        share = np.exp(weights - top)
        mean = share.mean(axis=0)
        error = share.std(axis=0, ddof=1) / np.sqrt(n_samples) / mean
        return LogLikelihood(top + np.log(mean) + constant, error)

    def sample(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw y from p(y | x) once for each row; shape as that of :meth:`predict`."""
        inputs = self._inputs(X)
        seed = seed_from(rng, "sample_tggm")
        net, hidden = (np.empty((len(inputs), self.n_hidden), self.dtype) for _ in range(2))
        with computing(self._work(net, self.n_inputs)):
            address = gibbs.Address(seed, HIDDEN, 0, 0)
            gibbs.step_hidden(self._prior_units(), inputs, address, net, hidden)
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        noise = generator.standard_normal((len(inputs), self.n_outputs), self.dtype)
        mean = hidden @ self.output_weights.T + self.output_bias
        spread = self.noise_variance
        if self.noise_weights is not None:
            spread = self._noise(self._prior(inputs)[0])
        return self._flat(mean + noise * np.sqrt(spread))

    def network(self, dtype: Any = None) -> mean_field.Network:
        """Return the model as the kernels take it, in its own or another float type."""
        dtype = np.dtype(dtype or self.dtype)
        network = mean_field.Network(
            self.input_weights.astype(dtype),
            self.input_bias.astype(dtype),
            self.output_weights.astype(dtype),
            self.output_bias.astype(dtype),
            (1 / self.noise_variance).astype(dtype),
            dtype.type(1 / self.hidden_variance),
            self.lower.astype(dtype),
            self.upper.astype(dtype),
            np.empty((0, self.n_hidden), dtype),
            np.empty(self.output_weights.shape, dtype),
            np.empty(self.n_hidden, dtype),
        )
        mean_field.derive(network)
        return network

    def _inputs(self, X: ArrayLike) -> FloatArray:
        array = checks.matrix("X", X, self.n_inputs)
        return rows_for_kernels(checks.cast("X", array, self.dtype))

    def _targets(self, y: ArrayLike, rows: int) -> FloatArray:
        array = checks.targets("y", y, rows, self.n_outputs)
        return rows_for_kernels(checks.cast("y", array, self.dtype))

    def _work(self, net: FloatArray, each: int) -> float:
        """Return what net inputs from so many numbers each, and the units, cost."""
        return work(len(net), each, self.n_hidden)

    def _row_by_row(self, X: ArrayLike, y: ArrayLike) -> Iterator[tuple[int, Any]]:
        """Yield number, model, input and target of each row: a model with the noise that is there.

        The mean field is compiled for a noise that all rows have; this is slow, and right.
        """
        inputs = self._inputs(X)
        targets = self._targets(y, len(inputs))
        noise = self._noise(self._prior(inputs)[0])
        own = self.arrays() | {"noise_weights": None}
        for k in range(len(inputs)):
            model = TruGTGGM(**own | {"noise_variance": noise[k]})
            yield k, (model, inputs[k : k + 1], targets[k : k + 1])

    def _z(self, inputs: FloatArray) -> FloatArray:
        z: FloatArray = inputs @ self.input_weights.T + self.input_bias
        return z

    def _units(self, weights: Any, bias: Any, precision: Any) -> gibbs.Layers:
        """Return hidden units as a layer of a model: net input inputs @ weights + bias."""
        dtype = weights.dtype
        each = np.broadcast_to(np.asarray(precision, dtype), (self.n_hidden,))
        return gibbs.Layers(
            read_only(np.ascontiguousarray(weights)),
            np.zeros((1, weights.shape[0]), dtype),
            np.asarray(bias, dtype).reshape(1, -1),
            *TruGHidden(each, self.lower, self.upper).for_kernels(dtype),
            one_kind(weights.shape[0], np.empty(0, dtype)),
        )

    def _prior_units(self) -> gibbs.Layers:
        tau = self.dtype.type(1 / self.hidden_variance)
        return self._units(tau * self.input_weights.T, tau * self.input_bias, tau)

    def _prior(self, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the hidden units given x alone."""
        with computing(self._work(inputs, self.n_inputs)):
            found = gibbs.hidden_moments(self._prior_units(), inputs)
        return found.mean, found.variance

    def _log_norms(self, units: gibbs.Layers, net: FloatArray) -> NDArray[np.float64]:
        """Return the sum over units of L at their net inputs, for each row."""
        same = units._replace(weights=read_only(np.eye(self.n_hidden)))
        with computing(self._work(net, self.n_hidden)):
            return log_norms(same, np.ascontiguousarray(net, dtype=np.float64))

    def _mean_field(
        self, X: ArrayLike, y: ArrayLike, n_cycles: int, dtype: np.dtype[Any]
    ) -> mean_field.Inferred:
        """Return net inputs, means, variances and bound of the mean field."""
        if self.noise_weights is not None:
            found_rows = (found for _, found in self._row_by_row(X, y))
            single = [model._mean_field(*row, n_cycles, dtype) for model, *row in found_rows]
            return mean_field.Inferred(*map(np.concatenate, zip(*single, strict=True)))
        inputs = self._inputs(X).astype(dtype, copy=False)
        rows = len(inputs)
        targets = self._targets(y, rows).astype(dtype, copy=False)
        n_cycles = checks.count("n_cycles", n_cycles)
        net, mean, variance = (np.empty((rows, self.n_hidden), dtype) for _ in range(3))
        found = mean_field.Inferred(net, mean, variance, np.empty(rows, dtype))
        # In every cycle each unit hears of all outputs before it moves.
        each = self.n_inputs + n_cycles * (self.n_outputs + UNIT)
        with computing(self._work(net, each)):
            data = mean_field.Rows(inputs, targets)
            mean_field.posterior(self.network(dtype), data, n_cycles, found)
        return found
