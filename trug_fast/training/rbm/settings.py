"""How an RBM is trained and where that starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import INITIAL
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.options import SGD, RandomWeights
from trug_fast.training.settings import Settings
from trug_fast.units.kinds import Runs
from trug_fast.units.layer import Layer

StaticModel = TruGRBM | BernoulliRBM


@dataclass(frozen=True)
class RBMSettings(Settings):
    """How to train an RBM, checked by the caller."""

    n_chains: int

    @property
    def missing(self) -> int:
        """Sweeps that draw missing values, 0 where none may be missing."""
        return int(self.visible.missing or 0)

    @property
    def runs(self) -> Runs:
        """The kinds of the visible units."""
        return self.visible.runs(self.n_visible // (self.visible.n_states or 1))

    @property
    def gauge(self) -> bool:
        """Whether parameters of categorical units are kept at a sum of zero over their states."""
        some = Layer(self.runs).some("counted")
        own = self.optimizer.l1, self.optimizer.l1_squared  # which choose a gauge, with more zeros
        chosen = any(not isinstance(each, int | float) or each > 0 for each in own)
        return some and not chosen and self.visible.zero_sum

    @property
    def keeps_gauge(self) -> bool:
        """Whether updates keep it by themselves (mathematics 2.12)."""
        return isinstance(self.optimizer, SGD) and bool(self.sampler.centred)

    @property
    def learns_visible_precision(self) -> bool:
        """Whether precisions of visible units move."""
        return bool(self.learned_precisions.any())

    @property
    def learned_precisions(self) -> NDArray[np.bool_]:
        """Which columns learn their precision."""
        return self.visible.learned(self.n_visible)

    def visible_precision(self) -> FloatArray:
        """Return the precisions of columns, 0 of those without; or none at all."""
        if not self.real:
            return np.empty(0, self.dtype)
        if self.from_model:
            return np.array(self.start.column_precision, self.dtype)
        return self.visible.precisions(self.n_visible).astype(self.dtype)

    def weights(self, seed: int) -> FloatArray:
        """Return the weights at the start."""
        if self.from_model:
            return np.array(self.start.column_weights, self.dtype)
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        shape = self.n_visible, self.n_hidden
        weights = generator.normal(0.0, self.start.scale or 0.0, shape).astype(self.dtype)
        if self.gauge:
            Layer(self.runs).to_zero_sum(weights, *map(np.zeros, shape))
        return weights

    def biases(self) -> State:
        """Return the biases of the model to go on from, if there is one."""
        if not self.from_model:
            return {}
        found = {"visible_bias": self.start.column_bias, "hidden_bias": self.start.hidden_bias}
        return {name: np.array(bias, self.dtype) for name, bias in found.items()}


def checked_start(start: StaticModel | RandomWeights | None) -> StaticModel | RandomWeights:
    """Return where training starts, random weights unless it is said."""
    if start is None:
        return RandomWeights()
    checks.kind("start", start, TruGRBM, BernoulliRBM, RandomWeights)
    return start
