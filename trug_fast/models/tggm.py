"""The TruG-TGGM: regression with a layer of truncated Gaussian units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray, as_weights
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing
from trug_fast.kernels.random.philox import HIDDEN, INITIAL
from trug_fast.kernels.rbm import gibbs

from .inference import Inference
from .mixtures import Mixture
from .predictive import Predictive
from .readout import posterior_covariance


class TruGTGGM(Inference, Predictive):
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
        result: FloatArray = covariance
        return result

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
        with computing(self._work(net, self.n_inputs)):
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
        model = TruGTGGM(**self.arrays() | {"readout_covariance": np.stack(found)})
        return model.with_columns(self.columns)
