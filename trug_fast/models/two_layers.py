"""What an RBM and a temporal one share: a visible layer, a hidden layer, and their units.

Tested in tests/models/test_rbm.py and test_trbm.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import work
from trug_fast.kernels.rbm import gibbs

from .fields import Model
from .hidden_units import BernoulliHidden, HiddenLayer, TruGHidden
from .visible_units import VisibleUnits, units_of


class TwoLayers(Model):
    """A model of visible and hidden units.  A temporal one is an RBM whose biases change by row."""

    weights: FloatArray
    visible_bias: FloatArray
    hidden_bias: FloatArray
    visible_precision: FloatArray | None  # of Gaussian visible units
    hidden_kind: ClassVar[type[TruGHidden] | type[BernoulliHidden]]
    shown = ("n_visible", "n_hidden", "visible")

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.hidden_units.check(self.weights, self.visible_precision)

    @property
    def n_visible(self) -> int:
        """Number of visible units."""
        return int(self.weights.shape[0])

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return int(self.weights.shape[1])

    @property
    def visible(self) -> str:
        """Kind of the visible units, "bernoulli" or "gaussian"."""
        return self.visible_units.name

    @property
    def visible_units(self) -> VisibleUnits:
        """What depends on the kind of the visible units."""
        return units_of(self.visible_precision)

    @property
    def hidden_units(self) -> HiddenLayer:
        """What depends on the kind of the hidden units."""
        return self.hidden_kind.of(self)

    def layers(self, dtype: Any = None) -> gibbs.Layers:
        """Return both layers as the kernels take them, in the model's or another float type."""
        dtype = dtype or self.dtype
        return gibbs.Layers(
            read_only(self.weights.astype(dtype, copy=False)),
            self.visible_bias.astype(dtype)[None],
            self.hidden_bias.astype(dtype)[None],
            *self.hidden_units.for_kernels(dtype),
            self.visible_units.for_kernels(dtype),
        )

    def _work(self, rows: int) -> float:
        """Return what a half step of so many rows costs."""
        return work(rows, self.n_visible, self.n_hidden)
