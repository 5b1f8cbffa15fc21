"""The TruG-TGGM: regression with a layer of truncated Gaussian units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray, as_weights
from trug_fast._common.numerics import rows_for_kernels
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import UNIT, computing, work
from trug_fast.kernels.random.philox import HIDDEN, INITIAL
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import trug_units
from trug_fast.kernels.tggm import mean_field
from trug_fast.units.kinds import hidden_alone, log_norms_at

from .mixtures import Mixture
from .model import Model, Number, OptionalParameter, Parameter, model, parameter
from .predictive import LogLikelihood, Posterior, Predictive
from .readout import posterior_covariance, require_covariance, variance_of


@model
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
    readout_covariance : array_like, shape (outputs, hidden + 1, hidden + 1), optional
        Covariance of each output's weights and bias, the bias last: what is not known of W1 and
        b1, which :meth:`with_readout_posterior` finds.  Predictions get wider by it.

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

    input_weights: Parameter = parameter("n_hidden", "n_inputs")
    input_bias: Parameter = parameter("n_hidden")
    output_weights: Parameter = parameter("n_outputs", "n_hidden")
    output_bias: Parameter = parameter("n_outputs")
    noise_variance: Parameter = parameter("n_outputs", positive=True)
    lower: Parameter = parameter("n_hidden", infinite=True)
    upper: Parameter = parameter("n_hidden", infinite=True)
    hidden_variance: Number = parameter(positive=True, default=None, kw_only=True)
    noise_weights: OptionalParameter = parameter(
        "n_outputs", "n_hidden", default=None, kw_only=True
    )
    readout_covariance: OptionalParameter = parameter(
        "n_outputs", "n_readout", "n_readout", default=None, kw_only=True
    )
    shown = ("n_inputs", "n_hidden", "n_outputs")
    counted = "n_inputs"

    def __post_init__(self) -> None:
        """Check what fields alone do not tell."""
        super().__post_init__()
        checks.intervals(np.ones(self.n_hidden), self.lower, self.upper)
        if self.readout_covariance is not None:
            require_covariance(self.readout_covariance)

    def _default(self, name: str) -> Any:
        if name != "hidden_variance":
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

    @property
    def n_readout(self) -> int:
        """Weights and bias of one output: the hidden units and one more."""
        return self.n_hidden + 1

    def _noise(self, mean: FloatArray) -> FloatArray:
        """Return the noise variance at means of h given x: of each row, or the same for all."""
        if self.noise_weights is None:
            return self.noise_variance
        return np.asarray(self.noise_variance * np.exp(mean @ self.noise_weights.T))

    def _doubt(self, mean: FloatArray) -> FloatArray | float:
        """Return the variance of y at means of h by what is not known of the readout."""
        if self.readout_covariance is None:
            return 0.0
        return variance_of(mean, self.readout_covariance)

    def _inputs(self, X: ArrayLike) -> FloatArray:
        array = checks.matrix("X", self.by_name("X", X), self.n_inputs)
        return rows_for_kernels(checks.cast("X", array, self.dtype))

    def _targets(self, y: ArrayLike, rows: int) -> FloatArray:
        array = checks.targets("y", y, rows, self.n_outputs)
        return rows_for_kernels(checks.cast("y", array, self.dtype))

    def _units(self, weights: Any, bias: Any, precision: Any) -> gibbs.Layers:
        """Return hidden units as a layer of a model: net input inputs @ weights + bias."""
        dtype = weights.dtype
        each = np.broadcast_to(np.asarray(precision, dtype), (self.n_hidden,))
        own = (part.astype(dtype) for part in (each, self.lower, self.upper))
        return hidden_alone(weights, np.asarray(bias, dtype), trug_units(*own))

    def _prior_units(self) -> gibbs.Layers:
        tau = self.dtype.type(1 / self.hidden_variance)
        return self._units(tau * self.input_weights.T, tau * self.input_bias, tau)

    def _prior(self, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the hidden units given x alone."""
        with computing(work(len(inputs), self.n_inputs, self.n_hidden)):
            found = gibbs.hidden_moments(self._prior_units(), inputs)
        return found.mean, found.variance

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Exact mean of p(y | x), and its standard deviation if asked for.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
        return_std : bool
            Return a pair (mean, standard deviation); noise of y and of the hidden units included,
            and the doubt of the readout if it is known.

        Returns
        -------
        ndarray, shape (rows,) with one output, else (rows, n_outputs), or two of them
        """
        checks.flag("return_std", return_std)
        mean, variance = self._prior(self._inputs(X))
        y = mean @ self.output_weights.T + self.output_bias
        if not return_std:
            return self._flat(y)
        spread = self._noise(mean) + variance @ (self.output_weights**2).T + self._doubt(mean)
        return self._flat(y), self._flat(np.sqrt(spread))

    def predict_noise(self, X: ArrayLike) -> FloatArray:
        """Noise variance of y given x, the same for all x without ``noise_weights``.

        Shape (rows,) with one output, else (rows, n_outputs); without the hidden units' share.
        """
        inputs = self._inputs(X)
        if self.noise_weights is None:
            return self._flat(np.repeat(self.noise_variance[None], len(inputs), axis=0))
        return self._flat(self._noise(self._prior(inputs)[0]))

    def predictive_covariance(self, X: ArrayLike) -> FloatArray:
        """Exact covariance of p(y | x) of each row; shape (rows, n_outputs, n_outputs)."""
        mean, variance = self._prior(self._inputs(X))
        weights = self.output_weights
        covariance = np.einsum("ij,rj,kj->rik", weights, variance, weights, optimize=True)
        diagonal = np.arange(self.n_outputs)
        covariance[:, diagonal, diagonal] += self._noise(mean) + self._doubt(mean)
        return np.asarray(covariance)

    def mixture(self, X: ArrayLike) -> Mixture:
        """Return means and deviations of the normals that predictions are, (1, rows, outputs)."""
        found = self.predict(X, return_std=True)
        shape = (1, -1, self.n_outputs)
        return Mixture(*(np.asarray(part, np.float64).reshape(shape) for part in found))

    def _covariances(self, X: ArrayLike) -> list[FloatArray]:
        return [self.predictive_covariance(X)]

    def sample(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw y from p(y | x) once for each row; shape as that of :meth:`predict`."""
        inputs = self._inputs(X)
        seed = seed_from(rng, "sample_tggm")
        net, hidden = (np.empty((len(inputs), self.n_hidden), self.dtype) for _ in range(2))
        with computing(work(len(net), self.n_inputs, self.n_hidden)):
            address = gibbs.Address(seed, HIDDEN, 0, 0)
            gibbs.step_hidden(self._prior_units(), inputs, address, net, hidden)
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        noise = generator.standard_normal((len(inputs), self.n_outputs), self.dtype)
        mean = hidden @ self.output_weights.T + self.output_bias
        spread = self.noise_variance
        if self.noise_weights is not None or self.readout_covariance is not None:
            given = self._prior(inputs)[0]
            spread = self._noise(given) + self._doubt(given)
        return self._flat(mean + noise * np.sqrt(spread))

    def with_readout_posterior(
        self,
        X: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        prior_precision: float | None = None,
    ) -> TruGTGGM:
        """Return the same model, whose readout is as uncertain as the rows of X leave it.

        The Laplace approximation of the last layer (mathematics 5.9): a normal posterior of W1 and
        b1 around their values, given the means of the hidden units.  Predictions get wider where
        these differ from those of the rows; their means stay.  The noise stays, too: if it was
        calibrated it has this doubt in it on average, and ``HoldOut(laplace=True)`` calibrates
        both together.

        Parameters
        ----------
        X : array_like, shape (rows, n_inputs)
            What the model was trained on.  Targets are not needed.
        sample_weight : array_like, shape (rows,), optional
            As in training: rows of weight 1 on average.
        prior_precision : float, optional
            Of the normal prior of W1, above 0; by default that of the highest evidence, for each
            output.  The prior of b1 is flat.

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> import numpy as np
        >>> import trug_fast as tf
        >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, -1.0, 1.0)
        >>> X = np.linspace(-0.2, 0.2, 9)[:, None]
        >>> doubtful = model.with_readout_posterior(X)
        >>> doubtful.predict([[0.0], [2.0]], return_std=True)[1].round(3)
        array([0.641, 1.129])
        >>> model.predict([[0.0], [2.0]], return_std=True)[1].round(3)
        array([0.608, 0.469])
        """
        inputs = self._inputs(X)
        weights = as_weights(sample_weight, len(inputs))
        if prior_precision is not None:
            prior_precision = checks.above_zero("prior_precision", prior_precision)
        mean, variance = self._prior(inputs)
        own = self.output_weights.astype(np.float64)
        spread = self._noise(mean) + variance @ (own**2).T
        counts = 1.0 if weights is None else (weights / weights.mean())[:, None]
        precision = counts / spread
        found = [
            posterior_covariance(mean.astype(np.float64), each, readout, prior_precision)
            for each, readout in zip(precision.T, own, strict=True)
        ]
        other = TruGTGGM(**self.arrays() | {"readout_covariance": np.stack(found)})
        return other.with_columns(self.columns)

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
        found = self._mean_field(*self._rows(X, y), n_cycles, self.dtype)
        return Posterior(found.mean, found.variance)

    def elbo(self, X: ArrayLike, y: ArrayLike, n_cycles: int = 10) -> NDArray[np.float64]:
        """Evidence lower bound of log p(y | x) at the mean field, (rows,), computed in float64."""
        return self._mean_field(*self._rows(X, y), n_cycles, np.dtype(np.float64)).bound

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
        inputs, targets = self._rows(X, y)
        if self.noise_weights is not None:
            options = {"n_samples": n_samples, "n_cycles": n_cycles}
            each = self._row_by_row(inputs, targets)
            found = [m.log_likelihood(*row, rng=seed + k, **options) for k, (m, *row) in each]
            return LogLikelihood(*(np.concatenate(part) for part in zip(*found, strict=True)))
        net = self._mean_field(inputs, targets, n_cycles, np.dtype(np.float64)).net
        network = self.network(np.float64)
        z = inputs @ self.input_weights.T + self.input_bias
        tau, stiffness = 1 / self.hidden_variance, network.stiffness
        given = self._units(np.zeros((1, self.n_hidden)), np.zeros(self.n_hidden), stiffness)
        alone = self._units(np.zeros((1, self.n_hidden)), np.zeros(self.n_hidden), tau)
        constant = self._log_norms(given, net) - self._log_norms(alone, tau * z)
        constant += 0.5 * (np.log(network.noise_precision) - mean_field.LOG_TWO_PI).sum()
        weights = np.empty((n_samples, len(net)))
        hidden = np.empty_like(net)
        for draw in range(n_samples):
            with computing(work(len(net), 0, self.n_hidden)):
                gibbs.draw_hidden(given, net, gibbs.Address(seed, HIDDEN, draw, 0), hidden)
            rest = targets - hidden @ self.output_weights.T - self.output_bias
            ratio = (tau * z - net) * hidden + 0.5 * (stiffness - tau) * hidden**2
            weights[draw] = ratio.sum(axis=1) - 0.5 * rest**2 @ network.noise_precision
        top = weights.max(axis=0)
        share = np.exp(weights - top)
        mean = share.mean(axis=0)
        error = share.std(axis=0, ddof=1) / np.sqrt(n_samples) / mean
        return LogLikelihood(top + np.log(mean) + constant, error)

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

    def _rows(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return inputs and targets, checked."""
        inputs = self._inputs(X)
        return inputs, self._targets(y, len(inputs))

    def _row_by_row(self, inputs: FloatArray, targets: FloatArray) -> Iterator[tuple[int, Any]]:
        """Yield number, model, input and target of each row: a model with the noise that is there.

        The mean field is compiled for a noise that all rows have; this is slow, and right.
        """
        noise = self._noise(self._prior(inputs)[0])
        own = self.arrays() | {"noise_weights": None}
        for k in range(len(inputs)):
            model = type(self)(**own | {"noise_variance": noise[k]})
            yield k, (model, inputs[k : k + 1], targets[k : k + 1])

    def _log_norms(self, units: gibbs.Layers, net: FloatArray) -> NDArray[np.float64]:
        """Return the sum over units of L at their net inputs, for each row."""
        with computing(work(len(net), self.n_hidden, self.n_hidden)):
            return log_norms_at(units, np.ascontiguousarray(net, dtype=np.float64))

    def _mean_field(
        self, inputs: FloatArray, targets: FloatArray, n_cycles: int, dtype: np.dtype[Any]
    ) -> mean_field.Inferred:
        """Return net inputs, means, variances and bound of the mean field."""
        if self.readout_covariance is not None:
            raise ValueError(
                "a model with readout_covariance has no mean field, as its readout is one of "
                "many; log_density has its density of y"
            )
        if self.noise_weights is not None:
            found_rows = (found for _, found in self._row_by_row(inputs, targets))
            single = [model._mean_field(*row, n_cycles, dtype) for model, *row in found_rows]
            return mean_field.Inferred(*map(np.concatenate, zip(*single, strict=True)))
        n_cycles = checks.count("n_cycles", n_cycles)
        net, mean, variance = (np.empty((len(inputs), self.n_hidden), dtype) for _ in range(3))
        found = mean_field.Inferred(net, mean, variance, np.empty(len(inputs), dtype))
        # In every cycle each unit hears of all outputs before it moves.
        each = self.n_inputs + n_cycles * (self.n_outputs + UNIT)
        with computing(work(len(net), each, self.n_hidden)):
            data = mean_field.Rows(*(rows.astype(dtype, copy=False) for rows in (inputs, targets)))
            mean_field.posterior(self.network(dtype), data, n_cycles, found)
        return found
