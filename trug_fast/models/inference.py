"""The parameters of a TruG-TGGM regression, and its hidden units given x, and given y too.

Mean field, bound and likelihood.  Tested in tests/models/test_tggm.py.
"""

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
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import HiddenUnits, trug_units
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.kernels.tggm import mean_field
from trug_fast.units.kinds import log_norms

from .model import Model, Number, OptionalParameter, Parameter, model, parameter
from .predictive import LogLikelihood, Posterior
from .readout import require_covariance, variance_of


@model
class Inference(Model):
    """The part of a TruGTGGM that knows its parameters, described there, and its hidden units."""

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
        noise: FloatArray = self.noise_variance * np.exp(mean @ self.noise_weights.T)
        return noise

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

    def _work(self, net: FloatArray, each: int) -> float:
        """Return what net inputs from so many numbers each, and the units, cost."""
        return work(len(net), each, self.n_hidden)

    def _z(self, inputs: FloatArray) -> FloatArray:
        z: FloatArray = inputs @ self.input_weights.T + self.input_bias
        return z

    def _units(self, weights: Any, bias: Any, precision: Any) -> gibbs.Layers:
        """Return hidden units as a layer of a model: net input inputs @ weights + bias."""
        dtype = weights.dtype
        each = np.broadcast_to(np.asarray(precision, dtype), (self.n_hidden,))
        own = (part.astype(dtype) for part in (each, self.lower, self.upper))
        units: HiddenUnits = trug_units(*own)
        return gibbs.Layers(
            read_only(np.ascontiguousarray(weights)),
            np.zeros((1, weights.shape[0]), dtype),
            np.asarray(bias, dtype).reshape(1, -1),
            *units,
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
        same = units._replace(weights=read_only(np.eye(self.n_hidden)))
        with computing(self._work(net, self.n_hidden)):
            return log_norms(same, np.ascontiguousarray(net, dtype=np.float64))

    def _mean_field(
        self, inputs: FloatArray, targets: FloatArray, n_cycles: int, dtype: np.dtype[Any]
    ) -> mean_field.Inferred:
        """Return net inputs, means, variances and bound of the mean field.

        Raises
        ------
        ValueError
            If the readout is uncertain, so that y depends on h by more than its mean.
        """
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
        with computing(self._work(net, each)):
            data = mean_field.Rows(*(rows.astype(dtype, copy=False) for rows in (inputs, targets)))
            mean_field.posterior(self.network(dtype), data, n_cycles, found)
        return found
