"""How an RBM is trained and where that starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import INITIAL
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.checkpoints import State
from trug_fast.training.options import RandomWeights
from trug_fast.training.samplers import CD, ParallelTempering, TrajectoryTempering
from trug_fast.training.settings import Settings
from trug_fast.training.units import BernoulliUnits

StaticModel = TruGRBM | BernoulliRBM


@dataclass(frozen=True)
class RBMSettings(Settings):
    """How to train an RBM, checked by the caller."""

    n_chains: int
    start: RandomWeights | StaticModel

    @property
    def missing(self) -> int:
        """Sweeps that draw missing values, 0 where none may be missing."""
        return int(self.visible.missing or 0)

    @property
    def persistent(self) -> bool:
        """Whether chains go on from update to update."""
        return not isinstance(self.sampler, CD)

    @property
    def betas(self) -> tuple[float, ...]:
        """Inverse temperatures of parallel tempering, else none."""
        return self.sampler.ladder if isinstance(self.sampler, ParallelTempering) else ()

    @property
    def climbs(self) -> bool:
        """Whether the run leaves a ladder of its models behind."""
        return isinstance(self.sampler, TrajectoryTempering)

    def visible_precision(self) -> FloatArray:
        """Return the precisions of Gaussian visible units, none of Bernoulli ones."""
        if isinstance(self.visible, BernoulliUnits):
            return np.empty(0, self.dtype)
        if isinstance(self.start, RandomWeights):
            return np.full(self.n_visible, self.visible.precision or 1.0, self.dtype)
        return np.array(self.start.visible_precision, self.dtype)

    def weights(self, seed: int) -> FloatArray:
        """Return the weights at the start."""
        if not isinstance(self.start, RandomWeights):
            return np.array(self.start.weights, self.dtype)
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        shape = self.n_visible, self.n_hidden
        return generator.normal(0.0, self.start.scale or 0.0, shape).astype(self.dtype)

    def biases(self) -> State:
        """Return the biases of the model to go on from, if there is one."""
        if isinstance(self.start, RandomWeights):
            return {}
        names = ("visible_bias", "hidden_bias")
        return {name: np.array(getattr(self.start, name), self.dtype) for name in names}


def checked_start(start: StaticModel | RandomWeights | None) -> StaticModel | RandomWeights:
    """Return where training starts, random weights unless it is said."""
    if start is None:
        return RandomWeights()
    checks.kind("start", start, TruGRBM, BernoulliRBM, RandomWeights)
    return start
