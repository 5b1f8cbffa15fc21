"""Chains on their way along a path, in this thread or in blocks that an executor hands out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, one_blas_thread, work
from trug_fast._common.workers import gathered
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm import annealing, gibbs
from trug_fast.kernels.rbm.hidden import NONPOSITIVE
from trug_fast.kernels.rbm.visible import VisibleKinds, want_kinds

Floats = NDArray[np.float64]

# Chains that share a matrix product, and that an executor hands out together.  BLAS rounds by the
# shape of a product, so a chain's numbers depend on this, and on nothing else that may differ
# between two ways to split the same run.  With 50 a product takes 1.25 times as long.
BLOCK = 100
STRETCH = 50  # temperatures between two looks at the clock and at Ctrl-C
ROUND_SECONDS = 2.0  # the same for work that travels to other processes


@dataclass(frozen=True)
class Bridge:
    """A path, and how far which chains have come on it with what weights.

    Nothing changes a bridge: to travel makes another one.
    """

    layers: gibbs.Layers
    path: annealing.AnnealingPath
    seed: int
    on_hidden: bool = False  # weigh the hidden layer, else the visible one
    step: int = 0  # transitions behind the chains
    values: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # of the weighed layer
    log_weight: Floats = field(default_factory=lambda: np.empty(0))  # (chains,)

    @property
    def steps(self) -> int:
        """Transitions from the first temperature to the last."""
        return int(self.path.hidden_scale.size) - 1

    def begun(self, chains: int, visible: NDArray[Any] | None = None) -> Bridge:
        """Draw chains at the path's first temperature, given visible vectors if there are any."""
        made = annealing.AnnealingChains.new(self.layers, chains)
        if visible is not None:
            made.visible[:] = visible
        layers, path = self._as_compiled()
        with computing(work(chains, *layers.weights.shape)):
            run = annealing.AnnealingRun(self.seed, 0, BLOCK, self.on_hidden)
            annealing.begin(layers, made, path, run, visible is not None)
        return self.at(made.hidden if self.on_hidden else made.visible)

    def at(self, values: FloatArray, step: int = 0, log_weight: Floats | None = None) -> Bridge:
        """Return the bridge with chains that are here, by default such as have just come to it."""
        weight = np.zeros(len(values)) if log_weight is None else log_weight
        return replace(self, values=values, step=step, log_weight=weight)

    def travel(self, stop: int, first_chain: int = 0) -> Bridge:
        """Return the bridge with its chains after ``stop`` transitions.

        first_chain : the number of the first one in the streams of random numbers
        """
        chains = annealing.AnnealingChains.new(self.layers, len(self.values))
        values = chains.hidden if self.on_hidden else chains.visible
        values[:] = self.values
        chains.log_weight[:] = self.log_weight
        layers, path = self._as_compiled()
        with computing(work(len(values), *layers.weights.shape)):
            run = annealing.AnnealingRun(self.seed, first_chain, BLOCK, self.on_hidden)
            annealing.anneal(layers, chains, path, self.step + 1, stop + 1, run)
        return self.at(values, stop, chains.log_weight)

    def _as_compiled(self) -> tuple[gibbs.Layers, annealing.AnnealingPath]:
        """Return layers and path with weights that are read-only and other arrays that are not.

        To Numba these are types.  Travelling between processes changes them, and a worker would
        compile all kernels again, for a minute.  Nor has it the kernels that few models need.
        """
        layers = self.layers
        want_kinds(layers.visible_kinds.spans)
        if layers.n_nonpositive > 0:
            want(NONPOSITIVE)
        names = ("visible_bias", "hidden_bias", "precision", "lower", "upper")
        small: dict[str, Any] = {name: _writeable(getattr(layers, name)) for name in names}
        small["visible_kinds"] = VisibleKinds(*map(_writeable, layers.visible_kinds))
        own = layers._replace(weights=read_only(layers.weights), **small)
        return own, annealing.AnnealingPath(*map(_writeable, self.path))


def cross(
    bridge: Bridge,
    end: int | None = None,
    executor: Executor | None = None,
    look: Callable[[Bridge, int], None] = lambda bridge, steps: None,
) -> Bridge:
    """Take all chains to step ``end``, or to the last.

    look : sees the bridge every now and then, and by how many steps it has moved on
    """
    end, stretch = bridge.steps if end is None else end, STRETCH
    # Held here as well, so that workers that are threads never see it end before their own.
    with one_blas_thread():
        while bridge.step < end:
            begun, before = time.perf_counter(), bridge.step
            stop = min(before + stretch, end)
            if executor is None:
                bridge = bridge.travel(stop)
            else:
                bridge = _in_blocks(bridge, stop, executor)
                taken = max(time.perf_counter() - begun, 1e-3)
                stretch = max(1, min(int(stretch * ROUND_SECONDS / taken), 10 * stretch))
            look(bridge, stop - before)
    return bridge


def _in_blocks(bridge: Bridge, stop: int, executor: Executor) -> Bridge:
    """Let each block of chains travel in a worker."""
    jobs = []
    for first in range(0, len(bridge.values), BLOCK):
        part = slice(first, first + BLOCK)
        block = bridge.at(bridge.values[part], bridge.step, bridge.log_weight[part])
        jobs.append((block, stop, first))
    values, log_weights = zip(*gathered(executor, _travelled, jobs), strict=True)
    return bridge.at(np.concatenate(values), stop, np.concatenate(log_weights))


def _travelled(block: Bridge, stop: int, first_chain: int) -> tuple[FloatArray, Floats]:
    """Return what a worker has to send back."""
    block = block.travel(stop, first_chain)
    return block.values, block.log_weight


def _writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a copy if it is read-only."""
    return array if array.flags.writeable else array.copy()
