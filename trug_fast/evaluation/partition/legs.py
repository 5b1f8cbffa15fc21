"""The legs of an estimate: pilot run, forward, draws of the model, Gibbs sweeps there, and back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.progress import Progress
from trug_fast._common.randomness import seed_from
from trug_fast.kernels.rbm.annealing import AnnealingPath

from . import log_weights, paths, runs
from .annealing_file import AnnealingFile
from .plan import AnnealingPlan
from .runs import AnnealingLeg, ChainState

Floats = NDArray[np.float64]

PILOT_SHARE = 20  # the pilot run has so many times fewer temperatures
PILOT_LEAST, PILOT_BINS = 100, 50
TITLES = {
    "forward": "annealing",
    "starts": "annealing to draws",
    "mixing": "mixing",
    "reverse": "annealing back",
}


class Annealer:
    """Takes the chains of a plan along its legs, from wherever the file has them."""

    def __init__(
        self,
        plan: AnnealingPlan,
        seed: int,
        file: AnnealingFile,
        executor: Executor | None,
        progress: bool | None,
    ) -> None:
        self._plan, self._seed, self._file = plan, seed, file
        self._executor, self._progress = executor, progress
        self._bias = paths.base_bias(plan.model, plan.base)
        known = file.temperatures(plan.n_temperatures + 1)
        if known is None:
            file.require_writable()
            uniform = plan.schedule == "uniform"
            known = paths.uniform(plan.n_temperatures) if uniform else self._adapted()
            file.keep_temperatures(known)
        self.temperatures = known
        self._path = paths.along(plan.path, self.temperatures, self._bias)
        self.base_log_z = paths.base_log_partition(plan.model, self._path)

    def forward(self) -> Floats:
        """Return each chain's estimate of log Z from the way to the model."""
        leg = self._leg("forward", self._path)
        state = self._travel("forward", leg, lambda: runs.begin(leg, self._plan.n_chains))
        return self.base_log_z + state.log_weight

    def reverse(self) -> Floats:
        """Return each chain's estimate of log Z from the way back.

        Where no draws are given, a run of its own anneals to them.  That shares no chain with the
        forward one and costs as much as the Gibbs sweeps it needs less; draws from data after Gibbs
        sweeps, or from the forward chains' ends, were wrong more often (notes/partition.md).
        """
        mixing = self._leg("mixing", paths.at_model(self._plan.n_gibbs, self._bias))
        there = self._travel("mixing", mixing, lambda: self._first_at_model(mixing))
        leg = self._leg("reverse", paths.turned_round(self._path))
        state = self._travel("reverse", leg, lambda: runs.go_on(there.values))
        return self.base_log_z - state.log_weight

    def effective_starts(self) -> float | None:
        """Return of how many independent draws the reverse chains began; None if they were given.

        That is the effective number of the chains annealed to be drawn from.
        """
        ends = self._found("starts", self._leg("starts", self._path))
        return None if ends is None else log_weights.one_sided(ends.log_weight, "forward").ess

    def _first_at_model(self, leg: AnnealingLeg) -> ChainState:
        """Return chains at the given draws, or at draws by annealing, of no forward chain's."""
        plan = self._plan
        if plan.start is not None:
            rows = plan.start[np.arange(plan.n_chains) % len(plan.start)]
            return runs.begin(leg, plan.n_chains, rows)
        there = self._leg("starts", self._path)
        ends = self._travel("starts", there, lambda: runs.begin(there, plan.n_chains))
        chosen = drawn(np.random.default_rng(leg.seed), ends.log_weight)
        return runs.go_on(ends.values[chosen])

    def _adapted(self) -> Floats:
        """Return temperatures that follow the spread of a pilot run's weights."""
        plan = self._plan
        steps = min(plan.n_temperatures, max(PILOT_LEAST, plan.n_temperatures // PILOT_SHARE))
        bins = min(PILOT_BINS, steps)
        pilot = paths.uniform(steps)
        leg = self._leg("pilot", paths.along(plan.path, pilot, self._bias))
        edges = np.linspace(0, steps, bins + 1).round().astype(int)
        state, spread = runs.begin(leg, plan.n_chains), []
        with Progress(steps, "pilot", self._progress) as bar:
            for stop in edges[1:]:
                before = state
                state = runs.travel(leg, state, int(stop), self._executor)
                spread.append((state.log_weight - before.log_weight).std())
                bar.advance(state.step - before.step)
        return paths.adapted(pilot[edges], np.array(spread), plan.n_temperatures)

    def _leg(self, name: str, path: AnnealingPath) -> AnnealingLeg:
        plan = self._plan
        seed = seed_from(self._seed, name)
        return AnnealingLeg(plan.model.layers(), path, seed, plan.weights_on == "hidden")

    def _found(self, name: str, leg: AnnealingLeg) -> ChainState | None:
        """Return where the file has a leg's chains, if it does; refuse what no run leaves."""
        units = leg.layers.weights.shape[1 if leg.on_hidden else 0]
        dtype = leg.layers.weights.dtype
        return self._file.chains(name, (self._plan.n_chains, units), dtype, leg.steps)

    def _travel(self, name: str, leg: AnnealingLeg, begin: Callable[[], ChainState]) -> ChainState:
        """Take a leg's chains from where the file has them, or from their begin, to its end."""
        found = self._found(name, leg)
        if found is None or found.step < leg.steps:
            self._file.require_writable()
        state = begin() if found is None else found
        sign = -1.0 if name == "reverse" else 1.0
        with Progress(leg.steps, TITLES[name], self._progress) as bar:

            def look(now: ChainState) -> None:
                nonlocal state
                # So far: that of the present temperature, or of the model without it.
                running = self.base_log_z + sign * now.log_weight
                figures = {}
                if name != "mixing":
                    found = log_weights.one_sided(running, name)
                    figures = {"log_z": found.log_z, "ess": found.ess}
                bar.advance(now.step - state.step, **figures)
                state = now
                self._file.keep(name, now)

            bar.advance(state.step)
            return runs.travel(leg, state, leg.steps, self._executor, look)


def drawn(rng: np.random.Generator, log_weight: Floats) -> NDArray[np.intp]:
    """Return as many chains, each about as often as its weight says."""
    share = np.exp(log_weight - log_weight.max())
    edges = np.cumsum(share) / share.sum()
    # One random number for all: no chain comes up more often than its share, rounded up.
    places = (np.arange(len(edges)) + rng.random()) / len(edges)
    return np.minimum(np.searchsorted(edges, places), len(edges) - 1)
