"""The temporal restricted Boltzmann machine with TruG or Bernoulli hidden units (mathematics 4)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.units.kinds import BERNOULLI, TRUNCATED

from .continuations import Forecast, Origin, continued, origin, prefixes_of
from .filter import LAGGED, Filtered, TemporalLayers, filtered, stacked
from .missing_frames import beginnings
from .model import Field, OptionalParameter, Parameter, model, parameter
from .rbm import RBM, BernoulliRBM, TruGRBM
from .sequences import Sequences, SequencesLike, as_sequences, checked_frames, dimensions
from .two_layers import TwoLayers

LAGS = "n_lags"
Method = Literal["gibbs", "mean_field", "last"]
N_GIBBS = {"gibbs": 100, "mean_field": 10, "last": 50}  # of one-step forecasts


@model
class TRBM(TwoLayers):
    """What both temporal models share: everything but the hidden units' own parameters.

    Weights named in LAGGED have a leading axis where there are several lags.
    """

    weights: Parameter = parameter("n_visible", "n_hidden")
    visible_to_hidden: Parameter = parameter("n_hidden", "n_visible")
    visible_to_visible: Parameter = parameter("n_visible", "n_visible")
    hidden_to_hidden: Parameter = parameter("n_hidden", "n_hidden")
    visible_bias: Parameter = parameter("n_visible")
    hidden_bias: Parameter = parameter("n_hidden")
    initial_visible_bias: Parameter = parameter("n_visible")
    initial_hidden_bias: Parameter = parameter("n_hidden")
    rbm: ClassVar[type[RBM]]  # what a frame is given its past

    @property
    def n_lags(self) -> int:
        """Number of frames before it that a frame depends on; one in the paper's model."""
        return self._sizes[LAGS]

    def _matrix(self, field: Field, value: Any) -> FloatArray:
        """Return a checked matrix; of temporal weights one for each lag, if there are several."""
        if field.name not in LAGGED:
            return super()._matrix(field, value)
        several = dimensions(value) == 3
        if several and not len(value):
            raise ValueError(f"{field.name} must have a lag or more, got none")
        parts = []
        for lag, part in enumerate(value if several else [value]):
            own = field._replace(name=f"{field.name}[{lag}]") if several else field
            parts.append(super()._matrix(own, part))
        n_lags = self._sizes.setdefault(LAGS, len(parts))
        if len(parts) != n_lags:
            raise ValueError(
                f"{field.name} must have {n_lags} lags, as {LAGGED[0]} has, got {len(parts)}"
            )
        return np.stack(parts) if n_lags > 1 else parts[0]

    def _shown(self) -> tuple[str, ...]:
        """Name the number of lags in print where there are several."""
        return (*self.shown, LAGS) if self.n_lags > 1 else self.shown

    def parameters(self) -> TemporalLayers:
        """Return the model as the kernels take it."""
        return TemporalLayers(
            self.layers(),
            self.initial_visible_bias,
            self.initial_hidden_bias,
            *(stacked(getattr(self, name)) for name in LAGGED),
        )

    def filter(self, sequence: ArrayLike) -> FloatArray:
        """Mean of the hidden units of each frame given that frame and those before.

        The means of one frame stand for its hidden state in the next (mathematics 4.2).

        Parameters
        ----------
        sequence : array_like, shape (T, n_visible)

        Returns
        -------
        ndarray, shape (T, n_hidden)
        """
        alone = self._alone(sequence)
        batch = alone.batch(np.arange(1))
        with computing(self._work(len(batch.rows))):
            return self.parameters().filter(alone.astype(self.dtype), batch).state

    def _alone(self, sequence: ArrayLike) -> Sequences:
        rows = [self.by_name("sequence", sequence)]
        return as_sequences("sequence", rows, self.n_visible, visible=self.visible)

    def checked_sequences(self, value: SequencesLike, missing: bool | None = None) -> Sequences:
        """Return sequences of the model's frames, checked; of frames with names its own columns."""
        own = self.by_name("sequences", value)
        name, kind = "sequences", self.visible
        return as_sequences(name, own, self.n_visible, visible=kind, missing=missing)

    def predict(
        self,
        sequence: ArrayLike,
        *,
        method: Method = "gibbs",
        n_gibbs: int | None = None,
        rng: RngLike = None,
    ) -> FloatArray:
        """Predict each frame from those before it.

        Parameters
        ----------
        sequence : array_like, shape (T, n_visible)
        method : {"gibbs", "mean_field", "last"}
            "gibbs" averages the conditional means of the visible units over a chain that starts
            at the frame before: near the best predictor of squared error, the exact mean.
            "mean_field" iterates means instead of draws, ten times cheaper.  "last" is the rule
            of the literature, the last conditional mean of a chain that starts at noise.
        n_gibbs : int, optional
            Sweeps, by default 100, 10 and 50.  "gibbs" drops the first fifth.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        ndarray, shape (T, n_visible)
            Row t predicts frame t; row 0 knows nothing but the model.

        Notes
        -----
        mathematics 4.3: in small models the averaged chain came within 2 % of the exact mean's
        error, mean field 1 to 12 % above it, "last" 15 to 40 %.
        """
        return predict_all(self.parameters(), self._alone(sequence), method, n_gibbs, rng)

    def generate(
        self,
        n_frames: int,
        *,
        prefix: ArrayLike | None = None,
        n_gibbs: int = 50,
        return_mean: bool = False,
        rng: RngLike = None,
    ) -> FloatArray:
        """Draw a sequence, from nothing or as the continuation of another.

        Parameters
        ----------
        n_frames : int
            Number of new frames.
        prefix : array_like, shape (T, n_visible), optional
            Frames that come before the new ones.
        n_gibbs : int
            Sweeps of each frame's chain, which starts at the frame before (the first at noise).
        return_mean : bool
            Make each frame the mean over the later half of its sweeps, and go on from that, as
            suits models of data between 0 and 1, and real data without the noise of observation.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        ndarray, shape (n_frames, n_visible)
        """
        frames, n_gibbs = checks.count("n_frames", n_frames), checks.count("n_gibbs", n_gibbs)
        checks.flag("return_mean", return_mean)
        seed = seed_from(rng, "generate")
        own, start, mean = self.parameters(), self._after(prefix, seed), return_mean
        drawn = continued(own, start, frames, n_gibbs=n_gibbs, seed=seed, return_mean=mean)
        return np.asarray(drawn[0])

    def _after(self, prefix: ArrayLike | None, seed: int) -> Origin:
        """Return where a frame after some others begins."""
        before = None
        if prefix is not None:
            own = self.by_name("prefix", prefix)
            before = checked_frames(self.visible, "prefix", own, self.n_visible)
        return origin(self.parameters(), [before], 1, seed)

    def forecast(
        self,
        prefix: ArrayLike | SequencesLike | None,
        n_frames: int,
        *,
        n_samples: int = 200,
        n_gibbs: int = 50,
        rng: RngLike = None,
    ) -> Forecast:
        """Draw many continuations of a sequence, all at once.

        Parameters
        ----------
        prefix : array_like, shape (T, n_visible), or None
            Frames from which to go on.  None, or one of no frames, forecasts sequences from their
            beginning.  Also several sequences: (n, T, n_visible) or a list of (T_i, n_visible).
            NaN marks what was not observed, single values or whole frames: it is drawn given what
            was.
        n_frames : int
            Number of frames ahead.
        n_samples : int
            Continuations of each sequence, two or more.
        n_gibbs : int
            Sweeps of each frame's chain, which starts at the frame before (the first at noise).
        rng : None, int or numpy.random.Generator
            The draws depend on it alone, not on the number of threads.

        Returns
        -------
        Forecast
            With ``draws``, ``mean``, ``std``, ``quantiles(q)`` and ``plot()``; where values were
            missing also ``filled`` and ``ess``.

        Warns
        -----
        ForecastWarning
            If fewer than ten draws, or a tenth of few, count for what was observed of a sequence
            with gaps.

        Raises
        ------
        TypeError, ValueError
            If ``prefix`` holds other frames than the model's, or a number is out of bounds.

        Notes
        -----
        Each draw is followed by the filter: the hidden units' means given it and its past stand
        for their state (mathematics 4.2).  So the draws of one frame ahead are of the model's
        exact conditional distribution, up to what ``n_gibbs`` sweeps leave of where they started.

        What is missing is drawn by a particle filter of ``n_samples`` particles, exact in the limit
        of many (mathematics 4.6).

        Examples
        --------
        >>> import trug_fast as tf
        >>> videos = tf.datasets.bouncing_balls(8, 20, size=8, rng=0)
        >>> model = tf.train_trbm(videos, 10, epochs=2, rng=0).model
        >>> ahead = model.forecast(videos[0], 5, n_samples=50, rng=0)
        >>> ahead.mean.shape, ahead.quantiles(0.9).shape
        ((5, 64), (5, 64))
        """
        found, many = prefixes_of(self.by_name("prefix", prefix), self.n_visible, self.visible)
        frames, n_gibbs = checks.count("n_frames", n_frames), checks.count("n_gibbs", n_gibbs)
        samples = checks.count("n_samples", n_samples, least=2)
        seed = seed_from(rng, "forecast")
        own = self.parameters()
        start, filled, ess = beginnings(own, found, samples, n_gibbs, seed)
        draws = continued(own, start, frames, n_gibbs=n_gibbs, seed=seed)
        if not many:
            return Forecast(draws, found[0], filled[0], ess[0])
        draws = draws.reshape(len(found), samples, frames, self.n_visible)
        return Forecast(draws, tuple(found), tuple(filled), tuple(ess))

    def next_frame(self, prefix: ArrayLike | None = None) -> TruGRBM | BernoulliRBM:
        """Return the RBM that the frame after some others is, given them (mathematics 4.1).

        Parameters
        ----------
        prefix : array_like, shape (T, n_visible), optional
            Without it, the RBM of first frames.

        Returns
        -------
        TruGRBM or BernoulliRBM
            With this model's scaling and names of columns.

        Raises
        ------
        TypeError, ValueError
            If ``prefix`` holds other frames than the model's.

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> zero = np.zeros
        >>> model = tf.BernoulliTRBM(zero((2, 1)), zero((1, 2)), 9 * np.eye(2), [[0]], 0, 0, 0, 0)
        >>> model.next_frame([[1, 0]]).visible_bias
        array([9., 0.])
        """
        visible_bias, hidden_bias = self._after(prefix, 0).biases
        return self.told(self.frame_model(visible_bias[0], hidden_bias[0]))

    def frame_model(
        self, visible_bias: ArrayLike, hidden_bias: ArrayLike, dtype: Any = None
    ) -> TruGRBM | BernoulliRBM:
        """Return the RBM that a frame is whose past has set these biases."""
        of_rbm = {field.name for field in self.rbm.fields}
        own = {name: value for name, value in self.arrays().items() if name in of_rbm}
        own |= {"visible_bias": visible_bias, "hidden_bias": hidden_bias}
        own["weights"] = self.weights.astype(dtype or self.dtype)
        return self.rbm(**own)  # type: ignore[return-value]


@model
class TruGTRBM(TRBM):
    """Temporal RBM whose hidden units are doubly truncated Gaussians (paper section 4).

    Given the frame before, (x', h'), a frame is a TruG-RBM with weights W1, visible biases
    b + W3 x' and hidden biases c + W2 x' + W4 h' (mathematics 4.1).  Visible units are 0 and 1
    (values between are taken as their means), or Gaussian with ``visible_precision``.  With several
    lags the biases are sums over as many frames before; the first frame of a sequence stands for
    those before it.

    Parameters
    ----------
    weights : array_like, shape (n_visible, n_hidden)
        W1.  float32 weights make a float32 model; anything else a float64 one.
    visible_to_hidden : array_like, shape (n_hidden, n_visible)
        W2.  Of a model that looks back further than one frame this and the next two have an axis
        of lags in front, the frame before first: (n_lags, n_hidden, n_visible).
    visible_to_visible : array_like, shape (n_visible, n_visible)
        W3.
    hidden_to_hidden : array_like, shape (n_hidden, n_hidden)
        W4.
    visible_bias, hidden_bias : array_like or number
        b and c.
    initial_visible_bias, initial_hidden_bias : array_like or number
        Biases of the first frame, which has no past.
    precision : array_like, shape (n_hidden,), or number
        d, positive, or any number if both ends are finite.
    lower, upper : array_like, shape (n_hidden,), or number
        Truncation points, lower < upper; either may be infinite.
    visible_precision : array_like, shape (n_visible,), or number, optional
        a, the precisions of Gaussian visible units.

    Raises
    ------
    TypeError, ValueError
        If shapes do not agree, numbers are NaN, or the density cannot be normalized: with Gaussian
        visible units and infinite ends, weights must be small enough (mathematics 4.1).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> model = tf.TruGTRBM(
    ...     zero((3, 2)), zero((2, 3)), 4 * np.eye(3) - 2, zero((2, 2)), 0, 0, 0, 0, 1, 0, 1
    ... )
    >>> model.predict([[1, 0, 0], [1, 0, 0]], rng=0).round(2)[1]
    array([0.88, 0.12, 0.12])
    """

    precision: Parameter = parameter("n_hidden")
    lower: Parameter = parameter("n_hidden", infinite=True)
    upper: Parameter = parameter("n_hidden", infinite=True)
    visible_precision: OptionalParameter = parameter("n_visible", positive=True, default=None)
    hidden_kind, rbm = TRUNCATED, TruGRBM


@model
class BernoulliTRBM(TRBM):
    """The ordinary temporal RBM: hidden units 0 or 1.

    Parameters are those of :class:`TruGTRBM`, without precision and truncation points.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> zero = np.zeros
    >>> tf.BernoulliTRBM(zero((3, 2)), zero((2, 3)), zero((3, 3)), zero((2, 2)), 0, 0, 0, 0)
    BernoulliTRBM(n_visible=3, n_hidden=2, visible='bernoulli', dtype=float64)
    """

    visible_precision: OptionalParameter = parameter("n_visible", positive=True, default=None)
    hidden_kind, rbm = BERNOULLI, BernoulliRBM


WEIGHTS = tuple(field.name for field in TRBM.fields if len(field.shape) == 2)
BIASES = tuple(field.name for field in TRBM.fields if len(field.shape) == 1)


def predict_all(
    own: TemporalLayers,
    sequences: Sequences,
    method: Method,
    n_gibbs: int | None = None,
    rng: RngLike = None,
) -> FloatArray:
    """Predict the frames of checked sequences; shape (all frames, n_visible)."""
    checks.choice("method", method, tuple(N_GIBBS))
    n_gibbs = checks.count("n_gibbs", N_GIBBS[method] if n_gibbs is None else n_gibbs)
    seed, weights = seed_from(rng, "predict"), own.layers.weights
    sequences = sequences.astype(weights.dtype)
    result = np.empty_like(sequences.frames)
    # The number of a batch fixes its streams.
    for number, (batch, seen) in enumerate(filtered(own, sequences)):
        with computing(work(batch.rows.size, *weights.shape)):
            result[batch.rows] = _predict(seen, batch.first, method, n_gibbs, seed, number)
    return result


def _predict(
    seen: Filtered, first: int, method: str, n_gibbs: int, seed: int, number: int
) -> FloatArray:
    """Predict the frames of one batch from their own biases."""
    visible, (layers, n_hidden) = np.empty_like(seen.visible), (seen.layers, seen.net.shape[1])
    visible[first:] = seen.past_visible[:, : visible.shape[1]]
    noise = np.random.Generator(np.random.Philox(key=[seed, number]))
    fresh = visible[: None if method == "last" else first]
    fresh[:] = noise.random(fresh.shape)
    if method == "mean_field":
        phase = gibbs.Phase.new(visible, n_hidden, statistics=False)
        gibbs.iterate_means(layers, phase, n_gibbs)
        return visible
    chains, step = gibbs.Chains.new(visible, n_hidden, statistics=False), number * n_gibbs
    if method == "last":
        gibbs.run_chains(layers, chains, n_gibbs, seed, step)
        return chains.visible_mean
    skip, total = n_gibbs // 5, np.zeros_like(visible)
    gibbs.run_chains(layers, chains, skip, seed, step)
    gibbs.sum_chains(layers, chains, total, n_gibbs - skip, seed, step + skip)
    return total / (n_gibbs - skip)
