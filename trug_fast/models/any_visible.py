"""A layer of visible units of any kinds above a hidden one: how its parameters lie, and its gauge.

Tested in tests/models/test_visible_kinds.py and test_gauge.py.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray

from .gauge import to_zero_sum
from .layout import VisibleKind, laid_out, shaped
from .mixed_units import VisibleUnits, units_of
from .two_layers import TwoLayers
from .visible_kinds import (
    CATEGORICAL,
    IN_FILES,
    Runs,
    column_ends,
    from_file,
    has_ends,
    kind_of,
    n_sites,
    real_columns,
    to_file,
)

Self = TypeVar("Self", bound="AnyVisible")


class AnyVisible(TwoLayers):
    """Two layers of which the visible one has runs of units of any kinds."""

    shown = ("n_visible", "n_states", "n_hidden", "visible")
    kinds_in_files = IN_FILES

    def __init__(self, visible: VisibleKind, *values: Any) -> None:
        self.runs, weights, bias, precision = laid_out(visible, values[0], values[1], values[-1])
        super().__init__(weights, bias, *values[2:-1], precision)
        for name, array in shaped(self.runs, self.arrays()).items():
            setattr(self, name, array)

    def with_letters(self: Self, letters: str | None) -> Self:
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
        return self._lettered(letters)

    def _lettered(self: Self, letters: str | None) -> Self:
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
    def visible_units(self) -> VisibleUnits:
        """What depends on the kind of the visible units."""
        return units_of(self.runs, self.visible_precision)

    @property
    def n_visible(self) -> int:
        """Number of visible units."""
        return n_sites(self.runs)

    @property
    def n_states(self) -> int | None:
        """Number of states of categorical visible units, if all have as many; else None."""
        return self.runs[0].states if kind_of(self.runs) == CATEGORICAL else None

    @property
    def column_precision(self) -> FloatArray | None:
        """Precisions of the columns, 0 where units have none; None if all have none."""
        own, real = self.visible_precision, real_columns(self.runs)
        return own if own is None or real.all() else np.where(real, own, 0).astype(own.dtype)

    @property
    def visible_ends(self) -> NDArray[np.float64] | None:
        """Ends of the columns, shape (2, n_columns), if some units are truncated; else None."""
        return column_ends(self.runs) if has_ends(self.runs) else None

    def remade(self: Self, parameters: dict[str, Any], runs: Runs | None = None) -> Self:
        """Return a model of this class from parameters by columns, of its visible units."""
        own = self.runs if runs is None else runs
        return type(self)(**shaped(own, parameters), visible=own)

    def column_arrays(self) -> dict[str, Any]:
        """Return the parameters, those of visible units by columns, sharing memory."""
        own = {"weights": self.column_weights, "visible_bias": self.column_bias}
        return self.arrays() | own

    def _kinds_to_file(self) -> dict[str, Any]:
        return to_file(self.runs)

    @classmethod
    def _kinds_of_file(cls, arrays: dict[str, Any]) -> dict[str, Any]:
        return {"visible": from_file(arrays)}

    def zero_sum(self: Self) -> Self:
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
        if all(run.kind != CATEGORICAL for run in self.runs):
            raise ValueError(f"zero_sum is for categorical visible units, these are {self.visible}")
        names = ("weights", "visible_bias", "hidden_bias")
        own = self.column_arrays()
        own |= {name: own[name].astype(np.float64) for name in names}
        to_zero_sum(self.runs, *(own[name] for name in names))
        return self._told(self.remade({k: v.astype(self.dtype) for k, v in own.items()}))
