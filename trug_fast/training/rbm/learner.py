"""Updates of an RBM: what moves its parameters, and in which order.

Tested in tests/training/rbm/test_learner.py and test_train.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast._common.threads import computing, work
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm import updates
from trug_fast.kernels.rbm.gibbs import Phase
from trug_fast.kernels.rbm.updates import START, Course
from trug_fast.kernels.rbm.weighing import WEIGHTED
from trug_fast.kernels.tiles import gather
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training import diagnosis
from trug_fast.training.chunks import RowSource
from trug_fast.training.diagnosis import Columns
from trug_fast.training.learner import Learner, Part, Update
from trug_fast.training.rates import Time
from trug_fast.training.steps import Averages, Shrinking, Steps
from trug_fast.training.transform import Transform
from trug_fast.training.weighing import Weighted, Weights, mean_of

from .core import NAMES, Core
from .data import means_of
from .negatives import NEGATIVES
from .parts import Filling, parts_of
from .settings import RBMSettings
from .turning import Turns, for_kernels

NONE = np.empty(0)  # weights of rows that have none
RATES = "learning_rate", "truncation_rate", "precision_rate"  # in the order of updates.py


class RBMLearner(Learner):
    """The state of a training run; every update changes it in place."""

    settings: RBMSettings

    def __init__(
        self,
        data: NDArray[Any] | RowSource,
        settings: RBMSettings,
        seed: int,
        sample_weight: Weights | None = None,
        turns: Turns | None = None,
        transform: Transform | None = None,
    ) -> None:
        self.settings, self.seed = settings, seed
        self.steps = Steps(settings.optimizer)
        self.core = core = Core(settings, seed, self.steps)
        self.units, self.learned = core.units, core.learned()
        self._rates = [settings.rates[name] for name in RATES]
        self.shrinking = Shrinking(settings.rates, {"weights": core.weights})
        if sample_weight is not None:
            want(WEIGHTED)
        self._turns = for_kernels(turns, settings.dtype)
        self.means = means_of(data, sample_weight)
        core.visible_offset[:] = self.means if turns is None else turns.middle
        core.keep_normalizable()
        self._batch = Phase.new(
            np.zeros((settings.batch_size, settings.n_visible), settings.dtype), settings.n_hidden
        )
        self._rows = self._batch.visible  # of all batches of a call
        self.filling = Filling(settings.missing, self.means)
        base = core.visible_units.bias(self.means.astype(settings.dtype))
        self.negative = NEGATIVES[type(settings.sampler)].of(self, base, data)
        self.parts = [self.negative, *parts_of(self, transform)]
        self._alone = any(part.alone for part in self.parts)
        self._moves = any(part.moves for part in self.parts)
        self._early = [part for part in self.parts if type(part).before is not Part.before]
        first = data.head(settings.n_chains) if isinstance(data, RowSource) else data
        self.negative.start(self, self._start(first, base, sample_weight))
        self.averages = Averages(self.learned, settings.average, core.averaged())

    def _start(self, data: NDArray[Any], base: FloatArray, weights: Weights | None) -> NDArray[Any]:
        """Start offsets and chains at data; set biases such that visible means are those of it.

        Returns the net inputs of the hidden units.
        """
        core = self.core
        rows = np.arange(self.settings.n_chains) % data.shape[0]
        visible = np.zeros((rows.size, data.shape[1]), core.weights.dtype)
        phase = Phase.new(visible, core.weights.shape[1])
        biases = self.settings.biases()
        with computing(self.work(rows.size)):
            gather(data, rows, phase.visible)
            phase.visible[:] = self.filling.by_means(phase.visible)
            for name, values in biases.items():
                getattr(core, name)[:] = values
            core.run(phase, self.negative.chains, self._course(START, [], NONE))
            if weights is None or not weights[rows].any():
                core.hidden_offset[:] = phase.means()[0]
            else:
                core.hidden_offset[:] = mean_of(phase.mean, weights[rows])
            if not biases:
                core.visible_bias[:] = base - core.weights @ core.hidden_offset
        if not self.settings.sampler.centred:
            core.visible_offset[:] = 0.0
            core.hidden_offset[:] = 0.0
        return phase.net

    def arrays(self) -> State:
        arrays = self.core.arrays()
        for part in self.parts:
            arrays |= part.arrays()
        return arrays

    def state(self) -> State:
        return super().state() | self.negative.grown()

    def restore(self, state: State) -> None:
        super().restore(state)
        self.negative.restore(state)

    def parameters(self) -> State:
        found = self.core.parameters() | self.averages.parameters(self.updates)
        return self.shrinking.parameters(found)

    def model(self, parameters: State | None = None) -> TruGRBM | BernoulliRBM:
        kind = BernoulliRBM if self.units.bernoulli else TruGRBM
        runs, found = self.settings.runs, dict(parameters or self.parameters())
        if self.settings.gauge:  # which rounding may have left a little
            found |= {name: found[name].copy() for name in NAMES}
            self.core.visible_units.to_zero_sum(*(found[name] for name in NAMES))
        return self.settings.remembering(kind(**found, visible=runs))

    def seen(self) -> TruGRBM | BernoulliRBM:
        """Return the model of the current parameters, not averaged."""
        return self.model(self.core.parameters())

    def fault(self, columns: Columns) -> str | None:
        """Say which parameter is nonsense, if one is; ``columns`` are those of the data."""
        centred = self.settings.sampler.centred
        return diagnosis.fault(self.learned, lambda: self.core.pulls(columns, centred=centred))

    def update(
        self,
        data: NDArray[Any] | Weighted,
        batches: Sequence[NDArray[np.int64]],
        times: Sequence[Time],
    ) -> None:
        done, data = 0, data if isinstance(data, Weighted) else Weighted(data, NONE)
        while done < len(batches):
            size, alike = batches[done].size, done + 1
            while alike < len(batches) and batches[alike].size == size and not self._alone:
                alike += 1
            done += self._take(data, batches[done:alike], times[done:alike])

    def _take(
        self, data: Weighted, batches: Sequence[NDArray[np.int64]], times: Sequence[Time]
    ) -> int:
        """Do so with batches of one size; return with how many, which may be fewer."""
        order, size = np.concatenate(batches), batches[0].size
        if order.size > len(self._rows):
            self._rows = np.empty((order.size, data.rows.shape[1]), self.core.weights.dtype)
        weights = data.weights[order] if data.weights.size else NONE
        u = Update(self._rows[: order.size], size, weights, times)
        if self._early:  # all needs the lock of kernels by itself, as what callers do there may
            with computing(self.work(size)):
                gather(data.rows, order, u.rows)
            for part in self._early:
                part.before(self, u)
        course = self._course(self.negative.mode, times, weights)
        with computing(self.work(size)):
            if not self._early:
                gather(data.rows, order, u.rows)
            u.chains = self.negative.sweep(self, u)
            batch = self._batch.first(size)._replace(visible=self._rows)
            done = self.core.run(batch, u.chains, course)
        self.updates += done
        self.steps.taken += done
        self.sweeps += sum(self.negative.n_gibbs(time) for time in times[:done])
        for part in self.parts:
            part.after(self, u)
        if self._moves:
            self.averages.follow(self.updates)
        return done

    def _course(self, mode: int, times: Sequence[Time], weights: Weights) -> Course:
        shrinking, dtype = self.shrinking, self.core.weights.dtype
        rows = [  # in the order of updates.py
            (
                *self._paces(time),
                self.negative.n_gibbs(time),
                *self.steps.corrections(i),
                0.0 if self._moves else self.averages.share(i),
                *shrinking.amounts("weights", time),
                shrinking.steps("weights", i),
            )
            for i, time in enumerate(times, self.updates + 1)
        ]
        return Course(
            np.array(rows).reshape(-1, updates.PACES),
            self.steps.rule(0.0),
            mode,
            self.settings.sampler.centred,
            self.seed,
            self.updates,
            1 + self.sweeps,  # step 0 started the chains
            weights,
            shrinking.kept.get("weights", np.empty((0, 0), dtype)),
            self._turns,
        )

    def _paces(self, time: Time) -> list[float]:
        """Return the rates of weights, ends and precisions at some time."""
        brake = self.negative.brake
        return [brake * rate.at(*time) for rate in self._rates]

    def work(self, rows: int) -> float:
        """Return what a half step of a batch of so many rows, or of the chains, costs."""
        return work(max(rows, len(self.negative.chains.hidden)), *self.core.weights.shape)

    def brief(self, time: Time) -> dict[str, float]:
        rate, *others = self._paces(time)
        found = {"learning_rate": rate, "n_gibbs": float(self.negative.n_gibbs(time))}
        for part in self.parts:
            found |= part.brief(self, time)
        return found | self.units.brief(*others)
