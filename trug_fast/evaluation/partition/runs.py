"""Running chains along a path: in this thread, or in blocks that an executor hands out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

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

# Chains that share a matrix product, and that an executor hands out together.  BLAS rounds by the
# shape of a product, so a chain's numbers depend on this, and on nothing else that may differ
# between two ways to split the same run.  With 50 a product takes 1.25 times as long.
BLOCK = 100
STRETCH = 50  # temperatures between two looks at the clock and at Ctrl-C
ROUND_SECONDS = 2.0  # the same for work that travels to other processes


@dataclass(frozen=True)
class AnnealingLeg:
    """One way along a path: all that a block of chains needs to know, wherever it runs."""

    layers: gibbs.Layers
    path: annealing.AnnealingPath
    seed: int
    on_hidden: bool  # weigh the hidden layer, else the visible one

    @property
    def steps(self) -> int:
        """Transitions from the first temperature to the last."""
        return int(self.path.hidden_scale.size) - 1


class ChainState(NamedTuple):
    """Where chains are."""

    step: int  # transitions behind them
    values: FloatArray  # (chains, units) of the layer that is weighed
    log_weight: NDArray[np.float64]  # (chains,)


def begin(leg: AnnealingLeg, chains: int, visible: NDArray[Any] | None = None) -> ChainState:
    """Draw the states at the path's first temperature, given visible vectors if there are any."""
    made = annealing.AnnealingChains.new(leg.layers, chains)
    if visible is not None:
        made.visible[:] = visible
    layers, path = _as_compiled(leg)
    with computing(work(chains, *layers.weights.shape)):
        run = annealing.AnnealingRun(leg.seed, 0, BLOCK, leg.on_hidden)
        annealing.begin(layers, made, path, run, visible is not None)
    return ChainState(0, made.hidden if leg.on_hidden else made.visible, made.log_weight)


def go_on(values: FloatArray) -> ChainState:
    """Return the first state of a leg whose chains are where another leg has left them."""
    return ChainState(0, values, np.zeros(len(values)))


def advance(leg: AnnealingLeg, state: ChainState, first_chain: int, stop: int) -> ChainState:
    """Return the state of a block of chains after ``stop`` transitions."""
    chains = annealing.AnnealingChains.new(leg.layers, len(state.values))
    values = chains.hidden if leg.on_hidden else chains.visible
    values[:] = state.values
    chains.log_weight[:] = state.log_weight
    layers, path = _as_compiled(leg)
    with computing(work(len(values), *layers.weights.shape)):
        run = annealing.AnnealingRun(leg.seed, first_chain, BLOCK, leg.on_hidden)
        annealing.anneal(layers, chains, path, state.step + 1, stop + 1, run)
    return ChainState(stop, values, chains.log_weight)


def travel(
    leg: AnnealingLeg,
    state: ChainState,
    end: int,
    executor: Executor | None = None,
    look: Callable[[ChainState], None] = lambda state: None,
) -> ChainState:
    """Take all chains to step ``end`` of a leg; ``look`` sees them every now and then."""
    stretch = STRETCH
    # Held here as well, so that workers that are threads never see it end before their own.
    with one_blas_thread():
        while state.step < end:
            begun = time.perf_counter()
            stop = min(state.step + stretch, end)
            if executor is None:
                state = advance(leg, state, 0, stop)
            else:
                state = _advance_blocks(leg, state, stop, executor)
                taken = max(time.perf_counter() - begun, 1e-3)
                stretch = max(1, min(int(stretch * ROUND_SECONDS / taken), 10 * stretch))
            look(state)
    return state


def _advance_blocks(
    leg: AnnealingLeg, state: ChainState, stop: int, executor: Executor
) -> ChainState:
    """Advance each block of chains in a worker."""
    jobs = []
    for first in range(0, len(state.values), BLOCK):
        part = slice(first, first + BLOCK)
        block = ChainState(state.step, state.values[part], state.log_weight[part])
        jobs.append((leg, block, first, stop))
    blocks = gathered(executor, advance, jobs)
    return ChainState(
        stop,
        np.concatenate([block.values for block in blocks]),
        np.concatenate([block.log_weight for block in blocks]),
    )


def _as_compiled(leg: AnnealingLeg) -> tuple[gibbs.Layers, annealing.AnnealingPath]:
    """Return layers and path with weights that are read-only and other arrays that are not.

    To Numba these are types.  Travelling between processes changes them, and a worker would compile
    all kernels again, for a minute.  Nor has it the kernels that few models need.
    """
    want_kinds(leg.layers.visible_kinds.spans)
    if leg.layers.n_nonpositive > 0:
        want(NONPOSITIVE)
    names = ("visible_bias", "hidden_bias", "precision", "lower", "upper")
    small: dict[str, Any] = {name: _writeable(getattr(leg.layers, name)) for name in names}
    small["visible_kinds"] = VisibleKinds(*map(_writeable, leg.layers.visible_kinds))
    layers = leg.layers._replace(weights=read_only(leg.layers.weights), **small)
    return layers, annealing.AnnealingPath(*map(_writeable, leg.path))


def _writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a copy if it is read-only."""
    return array if array.flags.writeable else array.copy()
