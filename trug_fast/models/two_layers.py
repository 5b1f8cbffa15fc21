"""What an RBM and a temporal one share: a visible layer, a hidden layer, and their units.

Tested in tests/models/test_rbm.py and test_trbm.py.
"""

from __future__ import annotations

import copy
from functools import cached_property
from itertools import compress
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import work
from trug_fast.kernels.rbm import gibbs
from trug_fast.units.kinds import Kind, Run, Runs
from trug_fast.units.layer import Layer, usual_runs
from trug_fast.units.normalizable import require_normalizable

from .model import LETTERS, SCALING, Model, OptionalParameter, Parameter
from .scaling import Scaling


class Sparsity(NamedTuple):
    """Numbers of the weights of each unit; float64 arrays of shape (units,)."""

    norm: NDArray[np.float64]  # root of the sum of the squares
    participation: NDArray[np.float64]  # so many weights matter (mathematics 2.14)
    zeros: NDArray[np.float64]  # share of the weights that are exactly zero


Self = TypeVar("Self", bound="TwoLayers")
Other = TypeVar("Other", bound="TwoLayers")


class TwoLayers(Model):
    """A model of visible and hidden units.  A temporal one is an RBM whose biases change by row."""

    weights: Parameter
    visible_bias: Parameter
    hidden_bias: Parameter
    visible_precision: OptionalParameter  # of visible units of real numbers
    runs: Runs  # the kinds of the visible units
    hidden_kind: ClassVar[Kind]
    shown: ClassVar[tuple[str, ...]] = ("n_visible", "n_hidden", "visible")
    counted = "n_visible"

    def __post_init__(self) -> None:
        """Check that both layers have a density together."""
        super().__post_init__()
        if not hasattr(self, "runs"):
            self.runs = usual_runs(len(self.weights), self.visible_precision)
        require_normalizable(self.column_weights, self.visible_units, self.hidden_units)

    def with_scaling(self: Self, scaling: Scaling | None) -> Self:
        """Return the same model, which remembers how its data were standardised.

        The model's own numbers stay those of standardised data: what it takes and gives are not
        rescaled.  :meth:`save` writes the scaling into the file, and the model that :meth:`load`
        returns has it as ``scaling``; ``trug-fast`` gives samples and forecasts in the units of the
        data by it.

        Parameters
        ----------
        scaling : Scaling or None

        Raises
        ------
        TypeError
            If it is none.
        ValueError
            If visible units are not Gaussian, or not as many as the scaling has columns.

        Examples
        --------
        >>> import trug_fast as tf
        >>> scaling = tf.models.Scaling([20.0, -3.0], [5.0, 0.1])
        >>> plain = tf.TruGRBM([[1.0], [1.0]], 0.0, 0.0, 1.0, 0.0, 1.0, visible_precision=4.0)
        >>> model = plain.with_scaling(scaling)
        >>> draws = model.scaling.undo(model.sample(1000, n_gibbs=50, rng=0))
        >>> draws.mean(axis=0).round()
        array([20., -3.])
        """
        if scaling is not None:
            checks.kind("scaling", scaling, Scaling)
            if not self.visible_units.are("standardised"):
                raise ValueError(
                    "scaling is for Gaussian visible units, which take real numbers; these are "
                    f"{self.visible}"
                )
            if scaling.mean.size != self.n_visible:
                raise ValueError(
                    f"scaling must have {self.n_visible} columns, as the model has visible units, "
                    f"got {scaling.mean.size}"
                )
        other = copy.copy(self)
        other.scaling = scaling
        return other

    def told(self, model: Other, chosen: NDArray[np.bool_] | None = None) -> Other:
        """Return another model of these visible units, or some, with their scaling and names."""
        scaling, columns = self.scaling, self.columns
        if chosen is not None and scaling is not None:
            scaling = Scaling(scaling.mean[chosen], scaling.deviation[chosen])
        if chosen is not None and columns is not None:
            columns = tuple(compress(columns, chosen))
        told: Any = model.with_scaling(scaling).with_columns(columns)
        return told if self.letters is None else told.with_letters(self.letters)  # type: ignore[no-any-return]

    def _reminded(self: Self, found: dict[str, Any]) -> Self:
        model: Any = self
        if LETTERS in found:
            if not hasattr(self, "with_letters"):
                return super()._reminded(found)
            model = model.with_letters(str(found.pop(LETTERS)))
        scales = {name: found[own] for name, own in SCALING.items() if own in found}
        return model.with_scaling(Scaling(**scales)) if scales else model  # type: ignore[no-any-return]

    def sparsity(self, matrix: str = "weights") -> Sparsity:
        """Return how sparse the connections of each hidden unit are.

        Parameters
        ----------
        matrix : str
            Name of a matrix of weights; of those of a temporal model other than ``weights`` the
            units are those that it acts on, such as the visible ones of ``visible_to_visible``.

        Returns
        -------
        Sparsity
            Named tuple of arrays of shape (units,): ``norm`` of the unit's weights,
            ``participation``, the number of weights that matter, which is that of all that are not
            zero if they are alike (mathematics 2.14; 0 of a unit without any), and ``zeros``,
            the share of weights that are exactly zero.

        Raises
        ------
        ValueError
            If the model has no such matrix.

        Examples
        --------
        >>> import trug_fast as tf
        >>> model = tf.BernoulliRBM([[2.0, 1.0], [0.0, 1.0], [0.0, 1.0]], 0.0, 0.0)
        >>> model.sparsity().participation
        array([1., 3.])
        """
        matrices = tuple(field.name for field in self.fields if len(field.shape) > 1)
        matrices = tuple(name for name in matrices if name in self.names)
        values = getattr(self, checks.choice("matrix", matrix, matrices))
        values = values if matrix == "weights" else values.T
        own = values.reshape(-1, values.shape[-1]).astype(np.float64)
        largest = np.abs(own).max(axis=0)
        scaled = own / np.where(largest > 0, largest, 1.0)  # squares of squares stay in range
        squares = np.square(scaled).sum(axis=0)
        fourth = np.square(np.square(scaled)).sum(axis=0)
        participation = np.square(squares) / np.where(fourth > 0, fourth, 1.0)
        return Sparsity(largest * np.sqrt(squares), participation, np.mean(own == 0, axis=0))

    @property
    def n_visible(self) -> int:
        """Number of visible units."""
        return int(self.weights.shape[0])

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return int(self.weights.shape[-1])

    @property
    def column_precision(self) -> FloatArray | None:
        """Precisions of the columns, 0 where units have none; None if all have none."""
        return None if self.visible_precision is None else self.visible_units.precision

    @property
    def n_columns(self) -> int:
        """Number of columns that kernels see: of categorical units one for each state."""
        return len(self.column_weights)

    @property
    def column_weights(self) -> FloatArray:
        """The weights, shape (n_columns, n_hidden), sharing memory."""
        return self.weights.reshape(-1, self.weights.shape[-1])

    @property
    def column_bias(self) -> FloatArray:
        """The visible biases, shape (n_columns,), sharing memory."""
        return self.visible_bias.reshape(-1)

    @property
    def visible(self) -> str:
        """Kind of the visible units: "bernoulli", "gaussian", or others of an RBM."""
        return self.visible_units.name

    @cached_property
    def visible_units(self) -> Layer:
        """The visible units, by whose kinds all differs that differs."""
        return Layer(self.runs, self.visible_precision)

    @cached_property
    def hidden_units(self) -> Layer:
        """The hidden units."""
        run, own = Run(self.hidden_kind.word, self.n_hidden), vars(self)
        if not self.hidden_kind.cut:
            return Layer((run,))
        return Layer((run,), own["precision"], (own["lower"], own["upper"]))

    def layers(self, dtype: Any = None) -> gibbs.Layers:
        """Return both layers as the kernels take them, in the model's or another float type."""
        dtype = dtype or self.dtype
        return gibbs.Layers(
            read_only(self.column_weights.astype(dtype, copy=False)),
            self.column_bias.astype(dtype)[None],
            self.hidden_bias.astype(dtype)[None],
            *self.hidden_units.as_hidden(dtype),
            self.visible_units.as_visible(dtype),
        )

    def _work(self, rows: int) -> float:
        """Return what a half step of so many rows costs."""
        return work(rows, self.n_columns, self.n_hidden)
