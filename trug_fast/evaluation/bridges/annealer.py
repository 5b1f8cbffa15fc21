"""The ways of an estimate: a pilot run, forward, draws of the model, Gibbs sweeps there, and back.

What a call has decided is a plan.  Where the chains of each way are lies in memory, and in the file
of a checkpoint if there is one.

Tested in tests/evaluation/bridges/test_estimate.py, test_legs.py and test_annealing_file.py.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, files
from trug_fast._common.checkpoints import Arrays, RunFile, array_identity
from trug_fast._common.numerics import effective_size, resampled
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import seed_from
from trug_fast.kernels.rbm.annealing import AnnealingPath
from trug_fast.models.rbm import RBM

from . import paths
from .bridge import Bridge, cross
from .judgement import fingerprint
from .weights import one_sided

Floats = NDArray[np.float64]

SWEEP_SHARE = 10  # reverse chains have so many times fewer Gibbs sweeps at the model by default
PILOT_SHARE = 20  # the pilot run has so many times fewer temperatures
PILOT_LEAST, PILOT_BINS = 100, 50
TITLES = {
    "forward": "annealing",
    "starts": "annealing to draws",
    "mixing": "mixing",
    "reverse": "annealing back",
}
KIND = "log_partition_run"
VERSION = 1  # of what the arrays of a file mean and of how annealing uses them
FIELDS = ("step", "values", "log_weight")  # of the chains of a way


class AnnealingPlan:
    """The arguments of :func:`log_partition`, checked; base and start by columns."""

    def __init__(
        self,
        model: RBM,
        *,
        n_chains: int,
        n_temperatures: int,
        path: str = "auto",
        base: ArrayLike | None = None,
        start: ArrayLike | None = None,
        direction: str = "forward",
        schedule: str = "uniform",
        weights_on: str = "visible",
        n_gibbs: int | None = None,
    ) -> None:
        self.path = paths.automatic(model, path)
        self.weights_on = checks.choice("weights_on", weights_on, ("visible", "hidden"))
        if self.weights_on == "hidden" and self.path == "paper":
            raise ValueError("weights_on='hidden' needs path 'quad' or 'quad2', got 'paper'")
        self.base = None if base is None else model.checked_columns("base", base)
        self.start = None if start is None else model.checked_columns("start", start, soft=False)
        self.direction = checks.choice("direction", direction, ("forward", "reverse", "both"))
        if direction == "forward":
            for argument, value in (("start", start), ("n_gibbs", n_gibbs)):
                if value is not None:
                    raise ValueError(
                        f"{argument} is for the reverse chains; pass direction='reverse' or 'both'"
                    )
        self.n_temperatures = checks.count("n_temperatures", n_temperatures)
        if n_gibbs is None:
            n_gibbs = 0 if start is not None else -(-self.n_temperatures // SWEEP_SHARE)
        self.schedule = checks.choice("schedule", schedule, ("uniform", "adaptive"))
        self.n_chains = checks.count("n_chains", n_chains, least=2)
        self.n_gibbs = checks.count("n_gibbs", n_gibbs, least=0)
        self.fingerprint, self.dtype = fingerprint(model), model.dtype

    def identity(self) -> dict[str, Any]:
        """Return all of it as numbers and words, arrays as hashes."""
        own = {name: value for name, value in vars(self).items() if isinstance(value, str | int)}
        model = f"{own.pop('fingerprint')} {self.dtype}"
        return own | {
            "model": model,
            "base": None if self.base is None else array_identity(self.base),
            "start": None if self.start is None else array_identity(self.start),
        }


class Annealer:
    """Takes the chains of a plan over its bridges, from wherever the file has them."""

    def __init__(
        self,
        model: RBM,
        plan: AnnealingPlan,
        seed: int,
        file: AnnealingFile | None = None,
        executor: Executor | None = None,
        progress: bool | None = False,
    ) -> None:
        self._layers, self._plan, self._seed = model.layers(), plan, seed
        self._file = file = AnnealingFile(None) if file is None else file
        self._executor, self._progress = executor, progress
        self._bias = paths.base_bias(model, plan.base)
        known = file.temperatures(plan.n_temperatures + 1)
        if known is None:
            file.require_writable()
            uniform = plan.schedule == "uniform"
            known = paths.uniform(plan.n_temperatures) if uniform else self._adapted()
            file.keep_temperatures(known)
        self.temperatures = known
        self._path = paths.along(plan.path, known, self._bias)
        self.base_log_z = paths.base_log_partition(model, self._path)

    def forward(self) -> Floats:
        """Return each chain's estimate of log Z from the way to the model."""
        n_chains = self._plan.n_chains
        there = self._crossed("forward", self._path, lambda way: way.begun(n_chains))
        return self.base_log_z + there.log_weight

    def reverse(self) -> Floats:
        """Return each chain's estimate of log Z from the way back.

        Where no draws are given, a run of its own anneals to them.  That shares no chain with the
        forward one and costs as much as the Gibbs sweeps it needs less; draws from data after Gibbs
        sweeps, or from the forward chains' ends, were wrong more often (notes/partition.md).
        """
        stay = paths.at_model(self._plan.n_gibbs, self._bias)
        there = self._crossed("mixing", stay, self._first_at_model)
        to_base = paths.turned_round(self._path)
        back = self._crossed("reverse", to_base, lambda way: way.at(there.values))
        return self.base_log_z - back.log_weight

    def effective_starts(self) -> float | None:
        """Return of how many independent draws the reverse chains began; None if they were given.

        That is the effective number of the chains annealed to be drawn from.
        """
        way = self._bridge("starts", self._path)
        ends = self._file.chains("starts", way, self._plan.n_chains)
        return None if ends is None else effective_size(ends.log_weight)

    def _first_at_model(self, mixing: Bridge) -> Bridge:
        """Return chains at the given draws, or at draws by annealing, of no forward chain's."""
        start, n_chains = self._plan.start, self._plan.n_chains
        if start is not None:
            return mixing.begun(n_chains, start[np.arange(n_chains) % len(start)])
        ends = self._crossed("starts", self._path, lambda way: way.begun(n_chains))
        chosen = resampled(ends.log_weight, np.random.default_rng(mixing.seed))
        return mixing.at(ends.values[chosen])

    def _adapted(self) -> Floats:
        """Return temperatures that follow the spread of a pilot run's weights."""
        plan = self._plan
        steps = min(plan.n_temperatures, max(PILOT_LEAST, plan.n_temperatures // PILOT_SHARE))
        bins = min(PILOT_BINS, steps)
        pilot = paths.uniform(steps)
        edges = np.linspace(0, steps, bins + 1).round().astype(int)
        way = self._bridge("pilot", paths.along(plan.path, pilot, self._bias))
        way, spread = way.begun(plan.n_chains), []
        with Progress(steps, "pilot", self._progress) as bar:
            for stop in edges[1:]:
                before = way
                way = cross(way, int(stop), self._executor, lambda _, taken: bar.advance(taken))
                spread.append((way.log_weight - before.log_weight).std())
        return paths.adapted(pilot[edges], np.array(spread), plan.n_temperatures)

    def _bridge(self, name: str, path: AnnealingPath) -> Bridge:
        on_hidden = self._plan.weights_on == "hidden"
        return Bridge(self._layers, path, seed_from(self._seed, name), on_hidden)

    def _crossed(self, name: str, path: AnnealingPath, begin: Callable[[Bridge], Bridge]) -> Bridge:
        """Take chains from where the file has them, or from their begin, to a path's end."""
        way = self._bridge(name, path)
        found = self._file.chains(name, way, self._plan.n_chains)
        if found is None or found.step < way.steps:
            self._file.require_writable()
        begun = begin(way) if found is None else found
        sign = -1.0 if name == "reverse" else 1.0
        with Progress(way.steps, TITLES[name], self._progress) as bar:

            def look(now: Bridge, steps: int) -> None:
                figures = {}
                if name != "mixing":
                    # So far: that of the present temperature, or of the model without it.
                    so_far = one_sided(self.base_log_z + sign * now.log_weight, name)
                    figures = {"log_z": so_far.log_z, "ess": so_far.ess}
                bar.advance(steps, **figures)
                self._file.keep(name, now)

            bar.advance(begun.step)
            return cross(begun, executor=self._executor, look=look)


class AnnealingFile:
    """The temperatures of a run and where the chains of each way are, in a file if there is one.

    Leaving it as a context writes what the file lacks, also after an error or Ctrl-C.
    """

    def __init__(self, file: RunFile | None) -> None:
        names = ("temperatures", *(f"{way}_{field}" for way in TITLES for field in FIELDS))
        self._file = file
        self._arrays: Arrays = {name: np.zeros(0) for name in names}  # empty: not known yet
        self._unwritten = False  # there is something that the file lacks
        self._writable = False  # this process has written
        if file is None:
            return
        if file.found is None:
            self.require_writable()
        else:
            self._require(set(names) <= file.found.keys(), "arrays")
            self._arrays = {name: file.found[name] for name in names}

    def __enter__(self) -> AnnealingFile:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Write what the file lacks."""
        self._save()

    def require_writable(self) -> None:
        """Write once, so that a place that cannot be written to is refused before the work."""
        if self._file is not None and not self._writable:
            self._file.start(self._arrays)
            self._writable = True

    def temperatures(self, number: int) -> Floats | None:
        """Return the path's temperatures, if they are known."""
        found = self._arrays["temperatures"]
        if not found.size:
            return None
        self._require(found.shape == (number,) and found.dtype == np.float64, "temperatures")
        return found

    def keep_temperatures(self, value: Floats) -> None:
        """Keep the path's temperatures."""
        self._arrays["temperatures"], self._unwritten = value, True

    def chains(self, name: str, way: Bridge, number: int) -> Bridge | None:
        """Return a bridge with its chains, if it has been begun; refuse what no such run leaves."""
        step, values, log_weight = (self._arrays[f"{name}_{field}"] for field in FIELDS)
        if not step.size:
            return None
        weights = way.layers.weights
        shape = number, weights.shape[1 if way.on_hidden else 0]
        behind = files.whole(self._file.path, f"{name}_step", step) if self._file else int(step)
        possible = behind <= way.steps and values.shape == shape and values.dtype == weights.dtype
        possible &= log_weight.shape == (number,) and log_weight.dtype == np.float64
        possible = possible and bool(np.isfinite(log_weight).all())
        self._require(possible, f"chains of the leg {name}")
        return way.at(values, behind, log_weight)

    def keep(self, name: str, way: Bridge) -> None:
        """Keep where the chains of a bridge are; write if it is time."""
        found = {f"{name}_{field}": np.asarray(getattr(way, field)) for field in FIELDS}
        self._arrays |= found
        self._unwritten = True
        if self._file is not None and self._file.due():
            self._save()

    def _save(self) -> None:
        if self._file is not None and self._unwritten:
            self._unwritten = not self._file.save(self._arrays)

    def _require(self, possible: bool, what: str) -> None:
        """Refuse what no run with these settings writes."""
        if not possible:
            assert self._file is not None
            raise ValueError(
                f"{self._file.path} is damaged: its {what} are not those of such a run"
            )
