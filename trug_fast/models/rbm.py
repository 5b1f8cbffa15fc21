"""The restricted Boltzmann machine: hidden units TruG or Bernoulli, visible 0/1 or Gaussian."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, files
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels import tiles
from trug_fast.kernels.random.philox import HIDDEN, VISIBLE
from trug_fast.kernels.rbm import annealing, gibbs
from trug_fast.kernels.rbm.hidden import BERNOULLI, TRUG

from . import gibbs_sampling as sampling
from .normalizable import require_normalisable
from .visible_units import VisibleUnits, units_of

Self = TypeVar("Self", bound="RBM")
CHUNK = 4096  # rows evaluated at a time, so that working arrays stay small


class HiddenMoments(NamedTuple):
    """Conditional moments of the hidden units, each of shape (rows, hidden)."""

    mean: FloatArray
    variance: FloatArray


class RBM(ABC):
    """What both machines share: everything but the hidden units' own parameters.

    The machines are values: their arrays are copies of what was given and cannot be written to.
    """

    weights: FloatArray
    visible_bias: FloatArray
    hidden_bias: FloatArray
    visible_precision: FloatArray | None  # of Gaussian visible units
    names: tuple[str, ...]  # the parameters, in the order of the constructor

    def _set_common(
        self,
        weights: ArrayLike,
        visible_bias: ArrayLike,
        hidden_bias: ArrayLike,
        visible_precision: ArrayLike | None,
    ) -> None:
        array = checks.matrix("weights", weights)
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        n_visible, n_hidden = array.shape
        self.weights = np.array(array, dtype=dtype, order="C")
        self.visible_bias = checks.vector(
            "visible_bias", visible_bias, n_visible, dtype, infinite=False
        )
        self.hidden_bias = checks.vector(
            "hidden_bias", hidden_bias, n_hidden, dtype, infinite=False
        )
        self.visible_precision = None
        if visible_precision is not None:
            self.visible_precision = checks.vector(
                "visible_precision", visible_precision, n_visible, dtype, infinite=False
            )
            checks.positive("visible_precision", self.visible_precision)
            self.names = (*self.names, "visible_precision")

    def _freeze(self) -> None:
        for name in self.names:
            getattr(self, name).flags.writeable = False

    @property
    def n_visible(self) -> int:
        """Number of visible units."""
        return int(self.weights.shape[0])

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return int(self.weights.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float type of the parameters and of everything drawn from them."""
        return self.weights.dtype

    def __repr__(self) -> str:
        """Return the class and its sizes."""
        name = type(self).__name__
        sizes = f"n_visible={self.n_visible}, n_hidden={self.n_hidden}"
        kind = "" if self.visible_precision is None else "visible='gaussian', "
        return f"{name}({sizes}, {kind}dtype={self.dtype})"

    @property
    def visible_units(self) -> VisibleUnits:
        """What depends on the kind of the visible units."""
        return units_of(self.visible_precision)

    @abstractmethod
    def _units(self, dtype: Any) -> tuple[int, FloatArray, FloatArray, FloatArray, int]:
        """Return the hidden units' own fields of the layers."""

    def layers(self, dtype: Any = None) -> gibbs.Layers:
        """Return the machine as the kernels take it, in its own or another float type."""
        dtype = dtype or self.dtype
        precision = self.visible_precision
        return gibbs.Layers(
            read_only(self.weights.astype(dtype, copy=False)),
            self.visible_bias.astype(dtype)[None],
            self.hidden_bias.astype(dtype)[None],
            *self._units(dtype),
            np.empty(0, dtype) if precision is None else precision.astype(dtype),
        )

    def _work(self, rows: FloatArray) -> float:
        """Return what a half step of so many rows costs."""
        return work(len(rows), self.n_visible, self.n_hidden)

    def free_energy(self, X: ArrayLike) -> NDArray[np.float64]:
        """Free energy -log p*(x) of each row (math.md 2.1), in float64.

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
            rows = np.ascontiguousarray(array[start : start + CHUNK], dtype=np.float64)
            net = np.empty((rows.shape[0], self.n_hidden))
            parts = np.empty((rows.shape[0], tiles.tile_count(1, self.n_hidden, tiles.HIDDEN)))
            with computing(self._work(rows)):
                annealing.log_norm_rows(layers, rows, net, parts)
                linear = rows @ layers.visible_bias[0]
            energy = self.visible_units.energy(rows)
            result[start : start + CHUNK] = energy - (linear + parts.sum(axis=1))
        return result

    def hidden_moments(self, X: ArrayLike) -> HiddenMoments:
        """Mean and variance of the hidden units given visible vectors, each (rows, n_hidden)."""
        array = self.visible_units.checked("X", X, self.n_visible)
        rows = np.ascontiguousarray(checks.cast("X", array, self.dtype))
        with computing(self._work(rows)):
            found = gibbs.hidden_moments(self.layers(), rows)
        return HiddenMoments(found.mean, found.variance)

    def sample_hidden(self, X: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw hidden units given visible vectors; shape (rows, n_hidden)."""
        array = self.visible_units.checked("X", X, self.n_visible)
        rows = np.ascontiguousarray(checks.cast("X", array, self.dtype))
        net, hidden = (np.empty((rows.shape[0], self.n_hidden), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_hidden"), HIDDEN, 0, 0)
        with computing(self._work(rows)):
            gibbs.step_hidden(self.layers(), rows, address, net, hidden)
        return hidden

    def sample_visible(self, H: ArrayLike, *, rng: RngLike = None) -> FloatArray:
        """Draw visible units given hidden vectors; shape (rows, n_visible)."""
        array = checks.matrix("H", H, self.n_hidden)
        rows = np.ascontiguousarray(checks.cast("H", array, self.dtype))
        mean, visible = (np.empty((rows.shape[0], self.n_visible), self.dtype) for _ in range(2))
        address = gibbs.Address(seed_from(rng, "sample_visible"), VISIBLE, 0, 0)
        with computing(self._work(rows)):
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
            Sweeps of each chain.  Chains are independent; only the last state is returned.
        rng : None, int or numpy.random.Generator
        start : array_like, shape (n, n_visible), optional
            Where the chains start, e.g. data.  By default each pixel is 0 or 1 with equal chance;
            a Gaussian unit is drawn as without hidden units, from N(b / a, 1 / a).
        clamp : array_like, shape (n_visible,) or (n, n_visible), optional
            Pixels to hold at the given value; NaN marks the free ones.  Fills in missing parts of
            images (inpainting).
        return_mean : bool
            Return the means of the last draw instead of the draw: smoother images.

        Returns
        -------
        ndarray, shape (n, n_visible)

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> machine = tf.TruGRBM(np.zeros((3, 2)), 0.0, 0.0, 1.0, 0.0, 1.0)
        >>> machine.sample(4, n_gibbs=10, rng=0, clamp=[1, np.nan, np.nan])[:, 0]
        array([1., 1., 1., 1.])
        """
        sweeps = checks.count("n_gibbs", n_gibbs)
        average = checks.flag("return_mean", return_mean)
        held = None if clamp is None else sampling.checked_clamp(self, clamp)
        begin = sampling.starting_rows(self, n, start, held, seed_from(rng, "start"))
        visible, mean = sampling.run(self, begin, held, sweeps, seed_from(rng, "sample"))
        return mean if average else visible

    def save(self, path: str | Path) -> None:
        """Write the machine to ``path``, an ``.npz`` file that :meth:`load` reads back exactly.

        The file appears whole or not at all.
        """
        arrays = {name: getattr(self, name) for name in self.names}
        files.write(path, type(self).__name__, arrays)

    @classmethod
    def load(cls: type[Self], path: str | Path) -> Self:
        """Read a machine that :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, of another version, or holds another kind of machine.
        """
        optional = ("visible_precision",)  # of Gaussian visible units alone
        arrays = files.read(path, cls.__name__, cls.names, optional)
        with files.building_from(path):
            return cls(**arrays)


class TruGRBM(RBM):
    """RBM whose hidden units are doubly truncated Gaussians (paper section 3, math.md 2.1).

    p(x, h) is proportional to exp(x'Wh + b'x + c'h - h'diag(d)h/2) for x in {0, 1} and
    lower <= h <= upper; with ``visible_precision``, to that times exp(-x'diag(a)x/2) for real x
    (math.md 4.1), where x given h is N((Wh + b) / a, 1 / a).

    Parameters
    ----------
    weights : array_like, shape (n_visible, n_hidden)
        W.  float32 weights make a float32 machine; anything else a float64 one.
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
        If shapes do not agree, numbers are NaN, or the density cannot be normalised: with Gaussian
        visible units and infinite ends, weights must be small enough (math.md 4.1).

    Examples
    --------
    >>> import trug_fast as tf
    >>> machine = tf.TruGRBM([[1.0], [-1.0]], 0.0, 0.0, precision=1.0, lower=0.0, upper=1.0)
    >>> machine.free_energy([[1, 0]]).round(4)
    array([-0.3441])
    >>> real = tf.TruGRBM([[1.0], [-1.0]], 0.0, 0.0, 1.0, 0.0, 1.0, visible_precision=1.0)
    >>> real.free_energy([[1.5, 0]]).round(4)
    array([0.501])
    """

    names = ("weights", "visible_bias", "hidden_bias", "precision", "lower", "upper")

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
        self._set_common(weights, visible_bias, hidden_bias, visible_precision)
        size, dtype = self.n_hidden, self.dtype
        self.precision = checks.vector("precision", precision, size, dtype, infinite=False)
        self.lower = checks.vector("lower", lower, size, dtype, infinite=True)
        self.upper = checks.vector("upper", upper, size, dtype, infinite=True)
        checks.intervals(self.precision, self.lower, self.upper)
        require_normalisable(
            self.weights, self.precision, self.lower, self.upper, self.visible_precision
        )
        self._freeze()

    def _units(self, dtype: Any) -> tuple[int, FloatArray, FloatArray, FloatArray, int]:
        return (
            TRUG,
            self.precision.astype(dtype),
            self.lower.astype(dtype),
            self.upper.astype(dtype),
            int(np.count_nonzero(self.precision <= 0)),
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
    >>> machine = tf.BernoulliRBM([[1.0], [-1.0]], 0.0, 0.0)
    >>> machine.free_energy([[1, 0]]).round(4)
    array([-1.3133])
    """

    names = ("weights", "visible_bias", "hidden_bias")

    def __init__(
        self,
        weights: ArrayLike,
        visible_bias: ArrayLike,
        hidden_bias: ArrayLike,
        visible_precision: ArrayLike | None = None,
    ) -> None:
        self._set_common(weights, visible_bias, hidden_bias, visible_precision)
        self._freeze()

    def _units(self, dtype: Any) -> tuple[int, FloatArray, FloatArray, FloatArray, int]:
        unused = np.ones(self.n_hidden, dtype)
        return BERNOULLI, unused, unused, unused, 0


def require_rbm(call: str, model: object) -> None:
    """Refuse what is no model, such as data where two arguments were swapped.

    call : the function as it should be called
    """
    if not isinstance(model, RBM):
        raise TypeError(
            f"{call}: model must be a TruGRBM or BernoulliRBM, got {type(model).__name__}"
        )
