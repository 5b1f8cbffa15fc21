"""The restricted Boltzmann machine: hidden units TruG or Bernoulli, visible ones of any kind.

Parameters lie by sites and states where all visible units are categorical, else by columns.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
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
from trug_fast.units.kinds import BERNOULLI, KINDS, TRUNCATED, Run, Runs, log_norms
from trug_fast.units.layer import (
    IN_FILES,
    WORDS,
    Layer,
    from_file,
    run_of,
    runs_of_each,
    to_file,
    usual_runs,
)

from . import gibbs_sampling as sampling
from .model import FieldType, OptionalParameter, Parameter, model, parameter
from .two_layers import TwoLayers

Static = TypeVar("Static", bound="RBM")
CHUNK = 4096  # rows evaluated at a time, so that working arrays stay small


class HiddenMoments(NamedTuple):
    """Conditional moments of the hidden units, each of shape (rows, hidden)."""

    mean: FloatArray
    variance: FloatArray


@model
class RBM(TwoLayers):
    """What both RBMs share: everything but the hidden units' own parameters."""

    weights: Parameter = parameter("n_visible", "n_hidden")
    visible_bias: Parameter = parameter("n_visible")
    hidden_bias: Parameter = parameter("n_hidden")
    visible: FieldType[str, Any] = dataclasses.field(default=None, kw_only=True)  # type: ignore[arg-type]
    shown = ("n_visible", "n_states", "n_hidden", "visible")
    kinds_in_files = IN_FILES

    def __post_init__(self) -> None:
        """Lay parameters by columns to be checked, and as users see them then."""
        self._lay_out(vars(self).pop("visible"))
        super().__post_init__()
        shape = self.visible_units.shape
        if len(shape) > 1:
            self.weights = self.weights.reshape(*shape, -1)
            self.visible_bias = self.visible_bias.reshape(shape)
        self.visible = self.visible_units.name

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
        rows = rows_for_kernels(self.hidden_units.within("H", H, self.dtype))
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
        return units.shown(mean) if average else units.states(visible)

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
        own, units = self.column_arrays(), self.visible_units
        stay = np.repeat(free, units.columns_each)
        weights, values = own["weights"], units.columns(held)
        drive = values[0, ~stay] @ weights[~stay].astype(np.float64)
        own |= {name: own[name][stay] for name in self.names if name.startswith("visible_")}
        own |= {"weights": weights[stay], "hidden_bias": own["hidden_bias"] + drive}
        return self.told(self.remade(own, units.chosen(free)), free)

    def with_letters(self: Static, letters: str | None) -> Static:
        """Return the same model, which remembers the letters that its states stand for.

        They are in its file and, as ``letters``, in the model that :meth:`load` returns, and what
        functions of sequences take as ``alphabet``.  ``trug-fast`` reads sequences by them, and
        writes samples as sequences.

        Parameters
        ----------
        letters : str or None
            One for each state, all different.

        Raises
        ------
        TypeError, ValueError
            If they are not as many as states, or the model has no number of states.

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> model = tf.BernoulliRBM(np.zeros((3, 5, 2)), 0.0, 0.0, visible="categorical")
        >>> model = model.with_letters("-ACGU")
        >>> tf.datasets.decode_sequences(model.sample(start=[[1, 2, 3]], clamp=[1, 2, 3]), "rna")
        ['ACG']
        """
        if letters is not None:
            checks.kind("letters", letters, str)
            if self.n_states is None:
                raise ValueError(f"letters are for categorical units, these are {self.visible}")
            if not len(letters) == len(set(letters)) == self.n_states:
                raise ValueError(
                    f"letters must be {self.n_states} different ones, as the model has so many "
                    f"states, got {letters!r}"
                )
        other = copy.copy(self)
        other.letters = letters
        return other

    @property
    def n_visible(self) -> int:
        """Number of visible units."""
        return sum(run.sites for run in self.runs)

    @property
    def n_states(self) -> int | None:
        """Number of states of categorical visible units, if all have as many; else None."""
        return self.runs[0].states if self.visible_units.are("counted") else None

    def remade(self: Static, parameters: dict[str, Any], runs: Runs | None = None) -> Static:
        """Return a model of this class from parameters by columns, of its visible units."""
        own = self.runs if runs is None else runs
        kept = {k: v for k, v in parameters.items() if k != "visible_precision"}
        if any(KINDS[run.kind].real for run in own):
            kept = parameters
        return type(self)(**kept, visible=own)

    def column_arrays(self) -> dict[str, Any]:
        """Return the parameters, those of visible units by columns, sharing memory."""
        own = {"weights": self.column_weights, "visible_bias": self.column_bias}
        return self.arrays() | own

    def _kinds_to_file(self) -> dict[str, Any]:
        return to_file(self.runs)

    @classmethod
    def _kinds_of_file(cls, arrays: dict[str, Any]) -> dict[str, Any]:
        return {"visible": from_file(arrays)}

    def zero_sum(self: Static) -> Static:
        """Return the same distribution with parameters that sum to zero over each site's states.

        Of categorical units a constant may be added to the weights of a hidden unit to all states
        of a site, and to the biases of all its states: the hidden biases make up for it
        (mathematics 2.12).  Of all these models one has weights and visible biases whose sums over
        states are 0; in it, weights tell how a state differs from the average one.

        Raises
        ------
        ValueError
            If no visible unit is categorical.

        Examples
        --------
        >>> import numpy as np, trug_fast as tf
        >>> weights = np.array([[[1.0], [4.0], [1.0]]])
        >>> model = tf.BernoulliRBM(weights, 0.0, 0.0, visible="categorical")
        >>> other = model.zero_sum()
        >>> other.weights.ravel(), other.hidden_bias
        (array([-1.,  2., -1.]), array([2.]))
        """
        if not self.visible_units.some("counted"):
            raise ValueError(f"zero_sum is for categorical visible units, these are {self.visible}")
        names = ("weights", "visible_bias", "hidden_bias")
        own = self.column_arrays()
        own |= {name: own[name].astype(np.float64) for name in names}
        self.visible_units.to_zero_sum(*(own[name] for name in names))
        return self.told(self.remade({k: v.astype(self.dtype) for k, v in own.items()}))

    def _lay_out(self, visible: Any) -> None:
        """Find the runs that ``visible`` stands for; bring parameters by columns."""
        array = checks.numbers("weights", self.weights)
        if visible is None:
            if array.ndim == 3:
                raise ValueError(
                    "weights of shape (n_visible, n_states, n_hidden) need visible='categorical'"
                )
            given = None if self.visible_precision is None else np.ones(1)
            self.runs = usual_runs(len(array) if array.ndim else 0, given)
            return
        known = isinstance(visible, tuple) and all(isinstance(each, Run) for each in visible)
        self.runs = visible if known else _runs(visible, array.shape)
        layer, bias = Layer(self.runs), checks.numbers("visible_bias", self.visible_bias)
        shapes = [layer.shape, (layer.n_columns,)] if known else [layer.shape]
        if array.shape[:-1] not in shapes:
            rows = ": a row for each visible unit, of a categorical one for each of its states"
            rows = f" of {layer.shape[1]} states" if layer.are("counted") else rows
            raise ValueError(
                f"weights must have shape ({', '.join(map(str, layer.shape))}, n_hidden) with "
                f"{layer.name} visible units{rows}, got {array.shape}"
            )
        if bias.ndim and bias.shape not in shapes:
            raise ValueError(
                f"visible_bias must be a number or have shape {layer.shape}, got {bias.shape}"
            )
        self.weights = array.reshape(layer.n_columns, -1)
        self.visible_bias = bias.reshape(-1) if bias.ndim else bias
        self.visible_precision = _precision(layer, self.visible_precision)


def _runs(visible: Any, shape: tuple[int, ...]) -> Runs:
    """Return the runs of units of a model with weights of this shape."""
    for each in visible if isinstance(visible, list | tuple) else [visible]:
        for name in ("precision", "learn_precision", "missing"):
            if getattr(each, name, None) not in (None, False):
                raise ValueError(
                    f"visible: {name} has no effect in a model, got {each!r}; visible_precision is "
                    "what it takes"
                )
    kind = getattr(visible, "kind", visible)
    if not isinstance(kind, str):
        if not isinstance(visible, Sequence):
            raise TypeError(
                f"visible must be one of {', '.join(map(repr, WORDS))}, made by SpinUnits, "
                "CategoricalUnits or TruncatedUnits, or a sequence of a kind for each column, got "
                f"{visible!r}"
            )
        return runs_of_each("visible", visible)
    checks.choice("visible", kind, WORDS)
    if not shape:
        raise ValueError("weights must be a matrix (rows, columns), got shape ()")
    run = run_of(visible, shape[0])
    if not KINDS[run.kind].counted:
        return (run,)
    if len(shape) != 3 or 0 in shape or shape[1] < 2:
        raise ValueError(
            f"weights must have shape (n_visible, n_states, n_hidden) with visible={kind!r}, "
            f"n_states 2 or more, got {shape}"
        )
    return (run._replace(states=getattr(visible, "n_states", None) or shape[1]),)


def _precision(layer: Layer, given: ArrayLike | None) -> ArrayLike | None:
    """Return the precisions of real columns, 1 in others; None if there is none."""
    real = layer.real
    if not real.any():
        if given is not None:
            raise ValueError(
                "visible_precision is for Gaussian and truncated visible units, these are "
                f"{layer.name}"
            )
        return None
    if given is None:
        raise ValueError("visible_precision must be given for Gaussian and truncated visible units")
    array = checks.numbers("visible_precision", given)
    if array.ndim == 0:
        return np.where(real, array, np.ones_like(array))
    if array.shape == real.shape and (array[~real] != 1).any():
        column = int(np.argmax((array != 1) & ~real))
        raise ValueError(
            "visible_precision must be 1 where visible units are not Gaussian or truncated, got "
            f"{array[column]} in column {column}"
        )
    return array


@model
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

    precision: Parameter = parameter("n_hidden")
    lower: Parameter = parameter("n_hidden", infinite=True)
    upper: Parameter = parameter("n_hidden", infinite=True)
    visible_precision: OptionalParameter = parameter("n_visible", positive=True, default=None)
    hidden_kind = TRUNCATED


@model
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

    visible_precision: OptionalParameter = parameter("n_visible", positive=True, default=None)
    hidden_kind = BERNOULLI


def require_rbm(call: str, model: object, kinds: str = "TruGRBM or BernoulliRBM") -> None:
    """Refuse what is no model, such as data where two arguments were swapped.

    call : the function as it should be called
    kinds : all that it takes
    """
    if not isinstance(model, RBM):
        raise TypeError(f"{call}: model must be a {kinds}, got {type(model).__name__}")
