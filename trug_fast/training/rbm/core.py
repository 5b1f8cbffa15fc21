"""The arrays of an RBM in training, where the kernel of its updates wants them.

Tested in tests/training/rbm/test_learner.py and test_gradients.py.
"""

from __future__ import annotations

import numpy as np

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast.kernels.compiling import want
from trug_fast.kernels.optimizer import VALUES
from trug_fast.kernels.rbm import gibbs, updates
from trug_fast.kernels.rbm.unit_steps import BENDING
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns
from trug_fast.training.steps import Steps
from trug_fast.training.unit_parameters import UnitParameters
from trug_fast.units.layer import Layer

from .settings import RBMSettings

NAMES = "weights", "visible_bias", "hidden_bias"


class Core:
    """Parameters, their gradients and memories; every update changes them in place."""

    def __init__(self, settings: RBMSettings, seed: int, steps: Steps) -> None:
        n_visible, n_hidden, dtype = settings.n_visible, settings.n_hidden, settings.dtype
        precision = settings.visible_precision()
        self._real = precision > 0
        self._learns_precision = settings.learns_visible_precision
        self.visible_units = Layer(settings.runs, precision)
        self.visible_kinds = self.visible_units.as_visible(dtype)
        self.visible_ends = self.visible_units.cut_ends
        self.units = UnitParameters(settings.shape(), steps, dtype)
        if self.units.start.learn_precision:
            want(BENDING)
        weights = steps.stack(settings.weights(seed), "weights")
        visible, hidden = np.zeros(n_visible, dtype), np.zeros(n_hidden, dtype)
        visible = steps.stack(visible, "visible_bias", updates.VISIBLE_ROWS)
        hidden = steps.stack(hidden, "hidden_bias", updates.HIDDEN_ROWS)
        self._stacked = updates.Stacked(weights, visible, hidden, np.zeros((8, n_hidden)))
        self.weights, self.visible_bias, self.hidden_bias = (
            part[VALUES] for part in (weights, visible, hidden)
        )
        self.visible_offset, self.hidden_offset = visible[updates.OFFSET], hidden[updates.OFFSET]
        shapes = weights[VALUES].shape, n_visible, (4, n_hidden)
        self._averaged = updates.Averaged(*map(np.empty, shapes))

    @property
    def visible_precision(self) -> FloatArray:
        """The precisions of columns, 0 of those without; or none at all."""
        own = self.visible_kinds.precision
        return own if self._real.all() else np.where(self._real, own, 0).astype(own.dtype)

    def arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""
        names = (*NAMES, "visible_offset", "hidden_offset")
        return {name: getattr(self, name) for name in names} | self.units.arrays()

    def layers(self) -> gibbs.Layers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return gibbs.Layers(
            read_only(self.weights),
            self.visible_bias[None],
            self.hidden_bias[None],
            *self.units.layer(),
            self.visible_kinds,
        )

    def parameters(self) -> State:
        """Return the current parameters, sharing memory."""
        found = {name: getattr(self, name) for name in NAMES} | self.units.parameters()
        if self.visible_precision.size:
            found["visible_precision"] = self.visible_kinds.precision
        return found

    def learned(self) -> State:
        """Return those of them that are learned, sharing memory."""
        own = {name: getattr(self, name) for name in NAMES}
        if self._learns_precision:
            own["visible_precision"] = self.visible_kinds.precision
        return own | self.units.learned()

    def averaged(self) -> State:
        """Return where the kernel keeps averages of parameters, by name."""
        names = ("precision", "lower", "upper", "hidden_bias")
        own = dict(zip(names, self._averaged.hidden, strict=True))
        return own | {
            "weights": self._averaged.weights,
            "visible_bias": self._averaged.visible_bias,
        }

    def run(self, batches: gibbs.Phase, chains: gibbs.Chains, course: updates.Course) -> int:
        """Take updates from batches of one size; return how many were taken."""
        layers = self.layers()
        given = updates.Given(
            layers.weights, layers.visible_kinds, layers.kind, layers.n_nonpositive
        )
        done: int = updates.run_updates(
            given, self._stacked, self.units.moved, self._averaged, batches, chains, course
        )
        return done

    def keep_normalizable(self) -> None:
        """Scale weights down where units of both layers without ends leave no density."""
        self.units.keep_normalizable(self.weights, self.visible_precision, self.visible_ends)

    def pulls(self, columns: Columns, *, centred: bool) -> State:
        """Return what weights and biases do to units, as diagnosis.LIMIT counts it."""
        hidden = self.units.ranges(self.hidden_offset if centred else None)
        scale = columns.scale(self.visible_precision)
        visible = self.visible_bias + self.weights @ hidden.mean
        if self.visible_precision.size:
            visible -= self.visible_precision * columns.mean
        return {
            "weights": diagnosis.pull(scale, self.weights, hidden.width),
            "visible_bias": visible * scale,
        }
