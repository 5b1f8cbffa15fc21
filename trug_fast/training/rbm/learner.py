"""Updates of an RBM: parameters, chains and optimizer, and how batches move them.

Tested in tests/training/rbm/test_learner.py and test_train.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.compiling import want
from trug_fast.kernels.optimizer import VALUES
from trug_fast.kernels.rbm import gibbs, updates
from trug_fast.kernels.rbm.gibbs import Chains, Phase
from trug_fast.kernels.rbm.unit_steps import BENDING
from trug_fast.kernels.rbm.updates import FROM_DATA, GIVEN, PERSISTENT, START, Averaged, Course
from trug_fast.kernels.rbm.weighing import WEIGHTED
from trug_fast.kernels.tiles import gather
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training import diagnosis
from trug_fast.training.averages import Averages
from trug_fast.training.checkpoints import State, counted, restore_counted
from trug_fast.training.chunks import RowSource
from trug_fast.training.diagnosis import Columns
from trug_fast.training.loop import shuffled
from trug_fast.training.optimizers import Steps
from trug_fast.training.penalties import NOTHING, Penalties, Shrinking
from trug_fast.training.settings import Pace
from trug_fast.training.transform import Call, Transform
from trug_fast.training.unit_parameters import UnitParameters
from trug_fast.training.weighing import Weighted, Weights, mean_of
from trug_fast.units.layer import Layer

from .data import means_of, transformed
from .missing import Filling
from .precisions import VisiblePrecisions
from .settings import RBMSettings
from .tempering import Replicas
from .trajectory import Trajectory, anchors_of
from .turning import Turns, for_kernels

NONE = np.empty(0)  # weights of rows that have none


class RBMLearner:
    """The state of a training run; every update changes it in place."""

    def __init__(
        self,
        data: NDArray[Any] | RowSource,
        settings: RBMSettings,
        seed: int,
        sample_weight: Weights | None = None,
        penalties: Penalties | None = None,
        turns: Turns | None = None,
        transform: Transform | None = None,
    ) -> None:
        n_visible, n_hidden, dtype = settings.n_visible, settings.n_hidden, settings.dtype
        self.settings, self.seed, self.transform = settings, seed, transform
        self.updates = self.sweeps = 0  # so far
        self.steps = Steps(settings.optimizer)
        precision = settings.visible_precision()
        self._real = precision > 0
        self.visible_units = Layer(settings.runs, precision)
        self.visible_kinds = self.visible_units.as_visible(dtype)
        self.precisions: VisiblePrecisions | None = None
        self.units = UnitParameters(settings.shape(), self.steps, dtype)
        if self.units.start.learn_precision:
            want(BENDING)
        self._turns = for_kernels(turns, dtype)
        weights = self.steps.stack(settings.weights(seed), "weights")
        matrices, sites = {"weights": weights[VALUES]}, {"weights": settings.sites}
        self.shrinking = Shrinking(penalties, matrices, sites)
        visible, hidden = np.zeros(n_visible, dtype), np.zeros(n_hidden, dtype)
        visible = self.steps.stack(visible, "visible_bias", updates.VISIBLE_ROWS)
        hidden = self.steps.stack(hidden, "hidden_bias", updates.HIDDEN_ROWS)
        self._stacked = updates.Stacked(weights, visible, hidden, np.zeros((8, n_hidden)))
        self.weights, self.visible_bias, self.hidden_bias = (
            part[VALUES] for part in (weights, visible, hidden)
        )
        self.visible_offset, self.hidden_offset = visible[updates.OFFSET], hidden[updates.OFFSET]
        if sample_weight is not None:
            want(WEIGHTED)
        means = means_of(data, sample_weight)
        self.filling = Filling(settings.missing, means) if settings.missing else None
        self.visible_offset[:] = means if turns is None else turns.middle  # between the phases
        if settings.learns_visible_precision:
            values, learned = self.visible_kinds.precision, settings.learned_precisions
            self.precisions = VisiblePrecisions(values, means, self.steps, learned)
        self._visible_ends = settings.visible_ends
        self._rescales = self.units.loose(self.visible_precision, self._visible_ends)
        self._keep_normalizable()
        self._batch = Phase.new(np.zeros((settings.batch_size, n_visible), dtype), n_hidden)
        self._rows = self._batch.visible  # of all batches of a call
        self._gauges = settings.gauge and not settings.keeps_gauge
        base = self.visible_units.bias(means.astype(dtype))
        self.replicas: Replicas | None = None
        self.trajectory: Trajectory | None = None
        if settings.betas:
            self.replicas = Replicas(settings.betas, settings.n_chains, base, n_hidden)
            self.chains = self.replicas.chains
        elif settings.climbs:
            anchors = anchors_of(data, self.filling, dtype)
            first_rung, count = self._without_weights(base), settings.n_chains
            self.trajectory = Trajectory(settings.sampler, first_rung, anchors, count, seed)
            self.chains = self.trajectory.chains
        else:
            self.chains = Chains.new(np.zeros((settings.n_chains, n_visible), dtype), n_hidden)
        self._averaged = Averaged(*map(np.empty, (weights[0].shape, n_visible, (4, n_hidden))))
        first = data.head(settings.n_chains) if isinstance(data, RowSource) else data
        self._start(first, base, sample_weight)
        if self.trajectory is not None and settings.from_model:
            self.trajectory.freeze(self.model(self._current()), 0)
        own = {name: getattr(self, name) for name in ("weights", "visible_bias", "hidden_bias")}
        if self.precisions is not None:
            own["visible_precision"] = self.visible_kinds.precision
        self.learned = own | self.units.learned()
        names = ("precision", "lower", "upper", "hidden_bias")
        places = dict(zip(names, self._averaged.hidden, strict=True))
        places |= {"weights": self._averaged.weights, "visible_bias": self._averaged.visible_bias}
        self.averages = Averages(self.learned, settings.average, places)

    def _start(self, data: NDArray[Any], base: FloatArray, weights: Weights | None) -> None:
        """Start offsets and chains at data; set biases such that visible means are those of it."""
        rows = np.arange(self.settings.n_chains) % data.shape[0]
        visible = np.zeros((rows.size, data.shape[1]), self.weights.dtype)
        phase = Phase.new(visible, self.weights.shape[1])
        biases = self.settings.biases()
        with computing(self._work(rows.size)):
            gather(data, rows, phase.visible)
            if self.filling is not None:
                phase.visible[:] = self.filling.by_means(phase.visible)
            for name, values in biases.items():
                getattr(self, name)[:] = values
            self._run(phase, self.chains, self._course(START, []))
            if weights is None or not weights[rows].any():
                self.hidden_offset[:] = phase.means()[0]
            else:
                self.hidden_offset[:] = mean_of(phase.mean, weights[rows])
            if not biases:
                self.visible_bias[:] = base - self.weights @ self.hidden_offset
            if self.replicas is not None:
                self.replicas.start(self.layers(), phase.net, self.seed, 0)
        if not self.settings.sampler.centred:
            self.visible_offset[:] = 0.0
            self.hidden_offset[:] = 0.0

    def _without_weights(self, base: FloatArray) -> TruGRBM | BernoulliRBM:
        """Return a model of the data's means alone."""
        none = {name: np.zeros_like(getattr(self, name)) for name in ("weights", "hidden_bias")}
        return self.model(self._current() | none | {"visible_bias": base})

    @property
    def visible_precision(self) -> FloatArray:
        """The precisions of columns, 0 of those without; or none at all."""
        own = self.visible_kinds.precision
        return own if self._real.all() else np.where(self._real, own, 0).astype(own.dtype)

    def _arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""
        names = ("weights", "visible_bias", "hidden_bias", "visible_offset", "hidden_offset")
        arrays = {name: getattr(self, name) for name in names} | self.units.arrays()
        if self.replicas is not None:
            arrays |= {"chains": self.replicas.scaled, "accepted": self.replicas.accepted}
        elif self.settings.persistent:
            arrays["chains"] = self.chains.hidden
        if self.trajectory is not None:
            arrays["acceptance"] = self.trajectory.recent
        if self.precisions is not None:
            arrays |= self.precisions.arrays()
        return arrays | self.steps.arrays() | self.averages.arrays() | self.shrinking.arrays()

    def state(self) -> State:
        """Return everything that later updates depend on, sharing memory."""
        beside = {} if self.trajectory is None else self.trajectory.arrays()
        return counted(self, self._arrays()) | beside

    def restore(self, state: State) -> None:
        """Go back to a state; raises ValueError if it is no state of such a learner."""
        restore_counted(self, self._arrays(), state)
        if self.trajectory is not None:
            self.trajectory.restore(state)

    def layers(self) -> gibbs.Layers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return gibbs.Layers(
            read_only(self.weights),
            self.visible_bias[None],
            self.hidden_bias[None],
            *self.units.layer(),
            self.visible_kinds,
        )

    def _current(self) -> State:
        """Return the current parameters, sharing memory."""
        names = ("weights", "visible_bias", "hidden_bias")
        found = {name: getattr(self, name) for name in names} | self.units.parameters()
        if self.visible_precision.size:
            found["visible_precision"] = self.visible_kinds.precision
        return found

    def parameters(self) -> State:
        """Return the current parameters, averaged if so set; they may share memory."""
        found = self._current() | self.averages.parameters(self.updates)
        return self.shrinking.parameters(found)

    def model(self, parameters: State | None = None) -> TruGRBM | BernoulliRBM:
        """Return the model of these parameters, by default the current ones."""
        kind = BernoulliRBM if self.units.bernoulli else TruGRBM
        runs, found = self.settings.runs, dict(parameters or self.parameters())
        if self.settings.gauge:  # which rounding may have left a little
            names = ("weights", "visible_bias", "hidden_bias")
            found |= {name: found[name].copy() for name in names}
            self.visible_units.to_zero_sum(*(found[name] for name in names))
        return self.settings.remembering(kind(**found, visible=runs))

    def fault(self, columns: Columns) -> str | None:
        """Say which parameter is nonsense, if one is; ``columns`` are those of the data."""
        return diagnosis.fault(self.learned, lambda: self._pulls(columns))

    def _pulls(self, columns: Columns) -> State:
        """Return what weights and biases do to units, as diagnosis.LIMIT counts it."""
        mean = self.hidden_offset if self.settings.sampler.centred else None
        hidden, scale = self.units.ranges(mean), columns.scale(self.visible_precision)
        visible = self.visible_bias + self.weights @ hidden.mean
        if self.visible_precision.size:
            visible -= self.visible_precision * columns.mean
        return {
            "weights": diagnosis.pull(scale, self.weights, hidden.width),
            "visible_bias": visible * scale,
        }

    def n_batches(self, rows: int) -> int:
        """Return the number of batches of an epoch."""
        return -(-rows // self.settings.batch_size)

    def batches(self, rows: int, epoch: int, chunk: int = 0) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each batch of an epoch, in an order that the seed and epoch fix."""
        return shuffled(self.seed, rows, self.settings.batch_size, epoch, chunk)

    def update(
        self,
        data: NDArray[Any] | Weighted,
        batches: Sequence[NDArray[np.int64]],
        paces: Sequence[Pace],
    ) -> None:
        """Take a step from each of these batches of rows of ``data``, each at its pace."""
        done, data = 0, data if isinstance(data, Weighted) else Weighted(data, NONE)
        while done < len(batches):
            size, alike = batches[done].size, done + 1
            while alike < len(batches) and batches[alike].size == size and not self._alone:
                alike += 1
            done += self._take(data, batches[done:alike], paces[done:alike])

    @property
    def _alone(self) -> bool:
        """Whether there is something to do in Python before or after each update."""
        tempered = self.replicas is not None or self.trajectory is not None
        watched = self.transform is not None and self.transform.sees_model
        return tempered or watched or self._adjusts or self.filling is not None

    @property
    def _adjusts(self) -> bool:
        """Whether parameters are changed after each update, which averages follow in Python."""
        return self._rescales or self._gauges or self.precisions is not None

    def _take(
        self, data: Weighted, batches: Sequence[NDArray[np.int64]], paces: Sequence[Pace]
    ) -> int:
        """Do so with batches of one size, and maybe only with the first; return with how many."""
        if self.trajectory is not None:
            if self.trajectory.due:
                diagnosis.require_finite(self.learned)  # the loop looks less often
                self.trajectory.freeze(self.model(self._current()), self.updates)
            self.trajectory.renew(self.updates)
            paces = [self.trajectory.braked(paces[0])]
        order, rows = np.concatenate(batches), batches[0].size
        weights = data.weights[order] if data.weights.size else NONE
        if order.size > len(self._rows):
            self._rows = np.empty((order.size, data.rows.shape[1]), self.weights.dtype)
        if self.transform is not None:
            with computing(self._work(rows)):
                gather(data.rows, order, self._rows[: order.size])
            call = Call(self.seed, self.updates, 0.0, lambda: self.model(self._current()))
            own, shares = self._rows[: order.size], [pace.share for pace in paces]
            transformed(self.transform, own, shares, call, self.settings, self.visible_units)
        with computing(self._work(rows)):
            if self.transform is None:
                gather(data.rows, order, self._rows[: order.size])
            if self.filling is not None:
                self.filling.fill(self.layers(), self._rows[:rows], self.seed, self.updates)
            done = self._step(rows, weights, paces)
        self.updates += done
        self.steps.taken += done
        self.sweeps += sum(pace.n_gibbs for pace in paces[:done])
        if self.precisions is not None:
            self._move_precisions(self._rows[:rows], weights, paces[0].visible_precision_rate)
        if self._rescales:
            self._keep_normalizable()
        if self._gauges:
            self.visible_units.to_zero_sum(self.weights, self.visible_bias, self.hidden_bias)
        if self._adjusts:
            self.averages.follow(self.updates)
        return done

    def _keep_normalizable(self) -> None:
        self.units.keep_normalizable(self.weights, self.visible_precision, self._visible_ends)

    def _move_precisions(self, rows: FloatArray, weights: Weights, rate: float) -> None:
        """Move visible precisions by the phases of the update that was just taken."""
        own, chains = self.precisions, self.chains
        assert own is not None
        # States have been exchanged, their means have not; the variance of others is not 1 / a.
        if self.replicas is not None or self._visible_ends is not None:
            count = len(chains.phase.visible) if self.settings.persistent else len(rows)
            model = own.squares(chains.phase.visible[:count])
        else:
            count = len(chains.hidden) if self.settings.persistent else len(rows)
            model = own.squares(chains.visible_mean[:count], means=True)
        if weights.size:
            model = model * weights.mean()
        self.visible_bias += own.move(own.squares(rows, weights), model, rate)

    def _step(self, rows: int, weights: Weights, paces: Sequence[Pace]) -> int:
        """Take the updates, each from so many rows; return how many were taken."""
        chains, kind = self.chains, PERSISTENT
        if self.replicas is not None:
            kind = GIVEN
            self.replicas.sweep(self.layers(), paces[0].n_gibbs, self.seed, 1 + self.sweeps)
        elif self.trajectory is not None:
            kind = GIVEN
            layers, first = self.layers(), 1 + self.sweeps
            self.trajectory.sweep(layers, paces[0].n_gibbs, self.seed, first, self.updates)
        elif not self.settings.persistent:
            chains, kind = chains.first(rows), FROM_DATA
        batches = self._batch.first(rows)._replace(visible=self._rows)
        return self._run(batches, chains, self._course(kind, paces, weights))

    def _run(self, batches: Phase, chains: Chains, course: Course) -> int:
        """Run the kernel with this object's arrays."""
        layers = self.layers()
        given = updates.Given(
            layers.weights, layers.visible_kinds, layers.kind, layers.n_nonpositive
        )
        done: int = updates.run_updates(
            given, self._stacked, self.units.moved, self._averaged, batches, chains, course
        )
        return done

    def _course(self, kind: int, paces: Sequence[Pace], weights: Weights = NONE) -> Course:
        """Return rates as the kernel takes them."""
        alone = self._adjusts
        rows = [  # in the order of updates.py
            (
                *(*pace[:4], *self.steps.corrections(i)),
                0.0 if alone else self.averages.share(i),
                *(*pace.penalties.get("weights", NOTHING), self.shrinking.steps("weights", i)),
            )
            for i, pace in enumerate(paces, self.updates + 1)
        ]
        return Course(
            np.array(rows).reshape(-1, updates.PACES),
            self.steps.rule(0.0),
            kind,
            self.settings.sampler.centred,
            self.seed,
            self.updates,
            1 + self.sweeps,  # step 0 started the chains
            weights,
            *self.shrinking.for_kernels("weights", self.weights.dtype),
            self._turns,
        )

    def _work(self, rows: int) -> float:
        """Return what a half step of a batch of so many rows, or of the chains, costs."""
        return work(max(rows, len(self.chains.hidden)), *self.weights.shape)

    def brief(self, pace: Pace) -> dict[str, float]:
        """Return what an update did last and the learned shapes of the units in brief."""
        result = {"learning_rate": pace.learning_rate, "n_gibbs": float(pace.n_gibbs)}
        if self.replicas is not None:
            swaps = self.replicas.rates(self.sweeps)
            result |= {"swap_mean": float(swaps.mean()), "swap_min": float(swaps.min())}
        if self.trajectory is not None:
            own = self.trajectory
            pace = own.braked(pace)
            result["learning_rate"] = pace.learning_rate
            result |= {"swap_mean": own.acceptance, "rungs": float(len(own.ladder))}
        if self.precisions is not None:
            result |= self.precisions.brief(pace.visible_precision_rate)
        return result | self.units.brief(pace.truncation_rate, pace.precision_rate)
