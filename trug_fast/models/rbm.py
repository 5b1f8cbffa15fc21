"""The restricted Boltzmann machine: hidden units TruG or Bernoulli, visible ones of any kind."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

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
from .any_visible import AnyVisible
from .fields import Field
from .hidden_units import BernoulliHidden, TruGHidden, log_norms
from .layout import VisibleKind
from .visible_kinds import chosen, columns_mask
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


class RBM(AnyVisible):
    """What both RBMs share: everything but the hidden units' own parameters."""

    def free_energy(self, X: ArrayLike) -> NDArray[np.float64]:
        """Free energy -log p*(x) of each row (mathematics 2.1), in float64.

        Parameters
        ----------
        X : array_like, shape (rows, n_visible)
            Visible vectors; of Bernoulli units, values between 0 and 1 are as meaningful as
            0 and 1.  Of categorical units states, whole numbers from 0; of spins -1 and 1.

        Returns
        -------
        ndarray, shape (rows,), float64

        Raises
        ------
        TypeError, ValueError
            If X does not hold such numbers, or any finite ones where units are Gaussian, or those
            of their interval where they are truncated.
        """
        return self.column_energy(self.checked_columns("X", X))

    def checked_rows(self, name: str, X: ArrayLike, *, soft: bool = True) -> NDArray[Any]:
        """Return data as visible units take them, checked; of a frame the model's columns."""
        own = self.by_name(name, X)
        return self.visible_units.checked(name, own, self.n_visible, soft=soft)

    def checked_columns(self, name: str, X: ArrayLike, *, soft: bool = True) -> NDArray[Any]:
        """Return them as columns that kernels see."""
        return self.visible_units.columns(self.checked_rows(name, X, soft=soft))

    def column_energy(self, array: NDArray[Any]) -> NDArray[np.float64]:
        """Return the free energy of rows by columns, which may be means."""
        layers, units = self.layers(np.float64), self.visible_units
        result = np.empty(array.shape[0])
        for start in range(0, array.shape[0], CHUNK):
            rows = rows_for_kernels(array[start : start + CHUNK], np.float64)
            with computing(self._work(len(rows))):
                total = log_norms(layers, rows)
                linear = rows @ layers.visible_bias[0]
            energy = units.energy(rows)
            result[start : start + CHUNK] = energy - (linear + total)
        return result

    def hidden_moments(self, X: ArrayLike) -> HiddenMoments:
        """Mean and variance of the hidden units given visible vectors, each (rows, n_hidden)."""
        return self.column_moments(self.checked_columns("X", X))

    def column_moments(self, array: NDArray[Any]) -> HiddenMoments:
        """Return moments of the hidden units given rows by columns, which may be means."""
        rows = rows_for_kernels(checks.cast("X", array, self.dtype))
        with computing(self._work(len(rows))):
            found = gibbs.hidden_moments(self.layers(), rows)
        return HiddenMoments(found.mean, found.variance)

    def sample_hidden(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw hidden units given visible vectors; shape (rows, n_hidden)."""
        rows = rows_for_kernels(checks.cast("X", self.checked_columns("X", X), self.dtype))
        net, hidden = (np.empty((rows.shape[0], self.n_hidden), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_hidden"), HIDDEN, 0, 0)
        with computing(self._work(len(rows))):
            gibbs.step_hidden(self.layers(), rows, address, net, hidden)
        return hidden

    def sample_visible(self, H: ArrayLike, *, rng: RngLike = None) -> NDArray[Any]:
        """Draw visible units given hidden vectors; shape (rows, n_visible).

        States of categorical units are int64, if all units are; else all is of the model's type.

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
        mean, visible = (np.empty((rows.shape[0], self.n_columns), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_visible"), VISIBLE, 0, 0)
        with computing(self._work(len(rows))):
            gibbs.step_visible(self.layers(), rows, address, mean, visible)
        return self.visible_units.states(visible)

    def sample(
        self,
        n: int | None = None,
        *,
        n_gibbs: int = 1000,
        rng: RngLike = None,
        start: ArrayLike | None = None,
        clamp: ArrayLike | None = None,
        return_mean: bool = False,
    ) -> NDArray[Any]:
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
            each state of a site has an equal chance; a Gaussian or truncated unit is drawn as
            without hidden units, from N(b / a, 1 / a).
        clamp : array_like, shape (n_visible,) or (n, n_visible), optional
            Pixels to hold at the given value; NaN marks the free ones.  The free ones are drawn
            given those: missing parts of images, or images of a class whose label is held.  Truth
            values are refused, since they might be meant as a mask.
        return_mean : bool
            Return the means of the last draw instead of the draw: smoother images.  Of categorical
            units the probabilities of states, (n, n_visible, n_states); where kinds are mixed, of
            all columns, (n, n_columns).

        Returns
        -------
        ndarray, shape (n, n_visible)
            Of the model's float type; states are int64 if all units are categorical.

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
        units = self.visible_units
        fixed = None if held is None else units.columns(held)
        visible, mean = sampling.run(self, begin, fixed, sweeps, seed_from(rng, "sample"))
        return units.means(mean) if average else units.states(visible)

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
        own, stay = self.column_arrays(), columns_mask(self.runs, free)
        weights, values = own["weights"], self.visible_units.columns(held)
        drive = values[0, ~stay] @ weights[~stay].astype(np.float64)
        own |= {name: own[name][stay] for name in self.names if name.startswith("visible_")}
        own |= {"weights": weights[stay], "hidden_bias": own["hidden_bias"] + drive}
        return self._told(self.remade(own, chosen(self.runs, free)), free)


class TruGRBM(RBM):
    """RBM whose hidden units are doubly truncated Gaussians (paper section 3, mathematics 2.1).

    p(x, h) is proportional to exp(x'Wh + b'x + c'h - h'diag(d)h/2) for x in {0, 1} and
    lower <= h <= upper; with ``visible_precision``, to that times exp(-x'diag(a)x/2) for real x
    (mathematics 4.1), where x given h is N((Wh + b) / a, 1 / a).  Other kinds of visible units:
    mathematics 2.11.

    Parameters
    ----------
    weights : array_like, shape (n_visible, n_hidden)
        W.  float32 weights make a float32 model; anything else a float64 one.  Of categorical
        visible units (n_visible, n_states, n_hidden); where kinds are mixed, (columns, n_hidden)
        with a column for each state of a categorical unit, and one for each other unit.
    visible_bias : array_like, shape (n_visible,), or number
        b.  Of categorical units (n_visible, n_states), of mixed ones (columns,).
    hidden_bias : array_like, shape (n_hidden,), or number
        c.
    precision : array_like, shape (n_hidden,), or number
        d, of each unit before truncation: positive, or any number if both ends are finite.
    lower, upper : array_like, shape (n_hidden,), or number
        Truncation points, lower < upper; either may be infinite.
    visible_precision : array_like, shape (n_visible,), or number, optional
        a > 0 of Gaussian and truncated visible units; where kinds are mixed, (columns,), and 1
        where they are neither.
    visible : str, SpinUnits, CategoricalUnits, TruncatedUnits or sequence, optional
        "bernoulli" (0 and 1), "gaussian", "spin" (-1 and 1), "categorical" (0 to n_states - 1),
        "truncated" ([0, 1]), "relu" ([0, inf)), ``TruncatedUnits(truncation)`` for other intervals,
        or the kind of each visible unit, with ``CategoricalUnits(n_states)`` for categorical ones.
        By default "gaussian" with ``visible_precision``, else "bernoulli".

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
    >>> sites = tf.TruGRBM([[[1.0], [0.0], [-1.0]]], 0.0, 0.0, 1, 0.0, 1.0, visible="categorical")
    >>> sites
    TruGRBM(n_visible=1, n_states=3, n_hidden=1, visible='categorical', dtype=float64)
    >>> sites.free_energy([[0], [2]]).round(4)
    array([-0.3441,  0.5769])
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
        *,
        visible: VisibleKind = None,
    ) -> None:
        super().__init__(
            *(visible, weights, visible_bias, hidden_bias),
            *(precision, lower, upper, visible_precision),
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
    visible : str, SpinUnits, CategoricalUnits or sequence, optional
        As there.

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
        *,
        visible: VisibleKind = None,
    ) -> None:
        super().__init__(visible, weights, visible_bias, hidden_bias, visible_precision)


def require_rbm(call: str, model: object) -> None:
    """Refuse what is no model, such as data where two arguments were swapped.

    call : the function as it should be called
    """
    if not isinstance(model, RBM):
        raise TypeError(
            f"{call}: model must be a TruGRBM or BernoulliRBM, got {type(model).__name__}"
        )
