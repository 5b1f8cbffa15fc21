"""The restricted Boltzmann machine: hidden units TruG or Bernoulli, visible 0/1 or Gaussian."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import rows_for_kernels
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing
from trug_fast.kernels.random.philox import HIDDEN, VISIBLE
from trug_fast.kernels.rbm import gibbs

from . import gibbs_sampling as sampling
from .fields import Field
from .hidden_units import BernoulliHidden, TruGHidden, log_norms
from .two_layers import TwoLayers
from .visible_units import PRECISION

FIELDS = (
    Field("weights", ("n_visible", "n_hidden")),
    Field("visible_bias", ("n_visible",)),
    Field("hidden_bias", ("n_hidden",)),
)
Static = TypeVar("Static", bound="RBM")
CHUNK = 4096  # rows evaluated at a time, so that working arrays stay small


class HiddenMoments(NamedTuple):
    """Conditional moments of the hidden units, each of shape (rows, hidden)."""

    mean: FloatArray
    variance: FloatArray


class RBM(TwoLayers):
    """What both RBMs share: everything but the hidden units' own parameters."""

    def free_energy(self, X: ArrayLike) -> NDArray[np.float64]:
        """Free energy -log p*(x) of each row (mathematics 2.1), in float64.

        Parameters
        ----------
        X : array_like, shape (rows, n_visible)
            Visible vectors; of Bernoulli units, values between 0 and 1 are as meaningful as
            0 and 1.

        Returns
        -------
        ndarray, shape (rows,), float64

        Raises
        ------
        TypeError, ValueError
            If X does not hold such numbers, or any finite ones where units are Gaussian.
        """
        array = self.visible_units.checked("X", X, self.n_visible)
        layers = self.layers(np.float64)
        result = np.empty(array.shape[0])
        for start in range(0, array.shape[0], CHUNK):
            rows = rows_for_kernels(array[start : start + CHUNK], np.float64)
            with computing(self._work(len(rows))):
                total = log_norms(layers, rows)
                linear = rows @ layers.visible_bias[0]
            energy = self.visible_units.energy(rows)
            result[start : start + CHUNK] = energy - (linear + total)
        return result

    def hidden_moments(self, X: ArrayLike) -> HiddenMoments:
        """Mean and variance of the hidden units given visible vectors, each (rows, n_hidden)."""
        array = self.visible_units.checked("X", X, self.n_visible)
        rows = rows_for_kernels(checks.cast("X", array, self.dtype))
        with computing(self._work(len(rows))):
            found = gibbs.hidden_moments(self.layers(), rows)
        return HiddenMoments(found.mean, found.variance)

    def sample_hidden(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw hidden units given visible vectors; shape (rows, n_hidden)."""
        array = self.visible_units.checked("X", X, self.n_visible)
        rows = rows_for_kernels(checks.cast("X", array, self.dtype))
        net, hidden = (np.empty((rows.shape[0], self.n_hidden), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_hidden"), HIDDEN, 0, 0)
        with computing(self._work(len(rows))):
            gibbs.step_hidden(self.layers(), rows, address, net, hidden)
        return hidden

    def sample_visible(self, H: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw visible units given hidden vectors; shape (rows, n_visible).

        Parameters
        ----------
        H : array_like, shape (rows, n_hidden)
            Where hidden units may be: between their truncation points, or in [0, 1].
        rng : None, int or numpy.random.Generator

        Raises
        ------
        TypeError, ValueError
            If H does not hold such numbers.
        """
        rows = rows_for_kernels(self.hidden_units.states("H", H))
        mean, visible = (np.empty((rows.shape[0], self.n_visible), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_visible"), VISIBLE, 0, 0)
        with computing(self._work(len(rows))):
            gibbs.step_visible(self.layers(), rows, address, mean, visible)
        return visible

    def sample(
        self,
        n: int | None = None,
        *,
        n_gibbs: int = 1000,
        rng: RngLike = None,
        start: ArrayLike | None = None,
        clamp: ArrayLike | None = None,
        return_mean: bool = False,
    ) -> FloatArray:
        """Draw visible vectors by block Gibbs sampling.

        Parameters
        ----------
        n : int, optional
            Number of chains; by default as many as ``start`` or ``clamp`` has rows, or 1.
        n_gibbs : int
            Sweeps of each chain.  Chains are independent; only the last state is returned, so all
            sweeps are burn-in.
        rng : None, int or numpy.random.Generator
        start : array_like, shape (n, n_visible), optional
            Where the chains start, e.g. data.  By default each pixel is 0 or 1 with equal chance;
            a Gaussian unit is drawn as without hidden units, from N(b / a, 1 / a).
        clamp : array_like, shape (n_visible,) or (n, n_visible), optional
            Pixels to hold at the given value; NaN marks the free ones.  The free ones are drawn
            given those: missing parts of images, or images of a class whose label is held.
        return_mean : bool
            Return the means of the last draw instead of the draw: smoother images.

        Returns
        -------
        ndarray, shape (n, n_visible)

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> model = tf.TruGRBM(np.zeros((3, 2)), 0.0, 0.0, 1.0, 0.0, 1.0)
        >>> model.sample(4, n_gibbs=10, rng=0, clamp=[1, np.nan, np.nan])[:, 0]
        array([1., 1., 1., 1.])
        """
        sweeps = checks.count("n_gibbs", n_gibbs)
        average = checks.flag("return_mean", return_mean)
        held = None if clamp is None else sampling.checked_clamp(self, clamp)
        begin = sampling.starting_rows(self, n, start, held, seed_from(rng, "start"))
        visible, mean = sampling.run(self, begin, held, sweeps, seed_from(rng, "sample"))
        return mean if average else visible

    def clamped(self: Static, clamp: ArrayLike) -> Static:
        """Return the RBM of the free visible units while the others are held (mathematics 2.1).

        It is what these are given those: p(free | held), with the hidden units summed out.  So it
        can be sampled, annealed and enumerated as any other.

        Parameters
        ----------
        clamp : array_like, shape (n_visible,)
            Values to hold units at; NaN marks the free ones, which stay in their order.

        Returns
        -------
        TruGRBM or BernoulliRBM
            Of this class, with as many visible units as are free, and their scaling and names.

        Raises
        ------
        TypeError, ValueError
            If ``clamp`` is no such vector, or leaves no unit free.

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> model = tf.BernoulliRBM([[2.0], [2.0], [-2.0]], -1.0, 0.0)
        >>> given = model.clamped([1, np.nan, np.nan])
        >>> given
        BernoulliRBM(n_visible=2, n_hidden=1, visible='bernoulli', dtype=float64)
        >>> np.exp(tf.exact.log_likelihood(given, [[1, 0]])).round(2)  # p(1, 0 | 1)
        array([0.67])
        """
        held = sampling.checked_clamp(self, clamp)
        if len(held) > 1:
            raise ValueError(f"clamp must have shape ({self.n_visible},), got {held.shape}")
        free = np.isnan(held[0])
        if not free.any():
            raise ValueError("clamp must leave a unit free: mark it by NaN")
        own = self.arrays()
        weights = np.asarray(own["weights"])
        drive = held[0, ~free] @ weights[~free].astype(np.float64)
        own |= {name: own[name][free] for name in self.names if name.startswith("visible_")}
        own |= {"weights": weights[free], "hidden_bias": own["hidden_bias"] + drive}
        return self._told(type(self)(**own), free)


class TruGRBM(RBM):
    """RBM whose hidden units are doubly truncated Gaussians (paper section 3, mathematics 2.1).

    p(x, h) is proportional to exp(x'Wh + b'x + c'h - h'diag(d)h/2) for x in {0, 1} and
    lower <= h <= upper; with ``visible_precision``, to that times exp(-x'diag(a)x/2) for real x
    (mathematics 4.1), where x given h is N((Wh + b) / a, 1 / a).

    Parameters
    ----------
    weights : array_like, shape (n_visible, n_hidden)
        W.  float32 weights make a float32 model; anything else a float64 one.
    visible_bias : array_like, shape (n_visible,), or number
        b.
    hidden_bias : array_like, shape (n_hidden,), or number
        c.
    precision : array_like, shape (n_hidden,), or number
        d, of each unit before truncation: positive, or any number if both ends are finite.
    lower, upper : array_like, shape (n_hidden,), or number
        Truncation points, lower < upper; either may be infinite.
    visible_precision : array_like, shape (n_visible,), or number, optional
        a > 0 of Gaussian visible units; without it they are 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If shapes do not agree, numbers are NaN, or the density cannot be normalized: with Gaussian
        visible units and infinite ends, weights must be small enough (mathematics 4.1).

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.TruGRBM([[1.0], [-1.0]], 0.0, 0.0, precision=1.0, lower=0.0, upper=1.0)
    >>> model.free_energy([[1, 0]]).round(4)
    array([-0.3441])
    >>> real = tf.TruGRBM([[1.0], [-1.0]], 0.0, 0.0, 1.0, 0.0, 1.0, visible_precision=1.0)
    >>> real.free_energy([[1.5, 0]]).round(4)
    array([0.501])
    """

    hidden_kind = TruGHidden
    fields = (*FIELDS, *TruGHidden.fields, PRECISION)
    precision: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __init__(
        self,
        weights: ArrayLike,
        visible_bias: ArrayLike,
        hidden_bias: ArrayLike,
        precision: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        visible_precision: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            weights, visible_bias, hidden_bias, precision, lower, upper, visible_precision
        )


class BernoulliRBM(RBM):
    """The ordinary RBM: hidden units 0 or 1.

    Parameters
    ----------
    weights : array_like, shape (n_visible, n_hidden)
    visible_bias : array_like, shape (n_visible,), or number
    hidden_bias : array_like, shape (n_hidden,), or number
    visible_precision : array_like, shape (n_visible,), or number, optional
        As of :class:`TruGRBM`.

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.BernoulliRBM([[1.0], [-1.0]], 0.0, 0.0)
    >>> model.free_energy([[1, 0]]).round(4)
    array([-1.3133])
    """

    hidden_kind = BernoulliHidden
    fields = (*FIELDS, PRECISION)

    def __init__(
        self,
        weights: ArrayLike,
        visible_bias: ArrayLike,
        hidden_bias: ArrayLike,
        visible_precision: ArrayLike | None = None,
    ) -> None:
        super().__init__(weights, visible_bias, hidden_bias, visible_precision)


def require_rbm(call: str, model: object) -> None:
    """Refuse what is no model, such as data where two arguments were swapped.

    call : the function as it should be called
    """
    if not isinstance(model, RBM):
        raise TypeError(
            f"{call}: model must be a TruGRBM or BernoulliRBM, got {type(model).__name__}"
        )
