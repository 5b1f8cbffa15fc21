"""The parameters of a TruG-TGGM regression, and its hidden units given x alone.

Tested in tests/models/test_tggm.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only, rows_for_kernels
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind

from .fields import Field, Model
from .hidden_units import TruGHidden
from .readout import require_covariance, variance_of


class Parameters(Model):
    """The part of a TruGTGGM that takes x alone; what they are is said there."""

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
        Field("readout_covariance", ("n_outputs", "n_readout", "n_readout"), optional=True),
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
    readout_covariance: FloatArray | None

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
        readout_covariance: ArrayLike | None = None,
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
            readout_covariance,
        )
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
