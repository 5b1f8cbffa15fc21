"""One update of a temporal RBM: parameters and optimizer, and how a batch moves them.

Tested in tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.models.filter import LAGGED, TemporalLayers, of_lags
from trug_fast.models.sequences import Sequences
from trug_fast.models.trbm import BIASES, WEIGHTS, BernoulliTRBM, TruGTRBM
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns
from trug_fast.training.learner import Learner, Part
from trug_fast.training.precisions import VisiblePrecisions
from trug_fast.training.rates import Time
from trug_fast.training.settings import VISIBLE_RATE
from trug_fast.training.steps import Amounts, Averages, Shrinking, Steps
from trug_fast.training.transform import START, STARTED, Call, Transform
from trug_fast.training.unit_parameters import UnitParameters

from .gradients import Draws, Offsets, estimate
from .settings import SequenceSettings, TemporalModel
from .start import initial_parameters, mean_frame

MEMORY = 0.99  # of the running means of the hidden units and of the gradient's norm, per update
FRAME = 128  # columns of a tile of visible units: half as many calls save 0.7 ms of 5.4 a sweep
CLIP = 2.0  # times its usual norm is the most that a gradient may have


class Moves(NamedTuple):
    """The gradient of an update, and where it stands in the run."""

    slope: dict[str, Any]
    time: Time


class ForecastPrecisions(VisiblePrecisions):
    """Precisions a of visible units, whose steps leave the linear part of their mean as it is.

    The mean is (W1 h + b + W3 x') / a: were b and W3 not to follow a, each step would have to
    learn the forecast anew.
    """

    _follow = "visible_bias", "visible_to_visible"

    def before(self, learner: Any, u: Any) -> None:
        by_log = self.values * u.slope["visible_precision"]
        for name in self._follow:
            by_log += np.atleast_2d(learner.own[name] * u.slope[name]).sum(axis=0)
        # Penalties but weight decay are in no gradient: what they say of W3, which follows a.
        own = learner.own["visible_to_visible"]
        amounts, size = (
            learner.shrinking.amounts("visible_to_visible", u.time),
            abs(own).sum(axis=0),
        )
        by_log -= (amounts.l1 + amounts.l1_squared / len(own) * size) * size
        self._by_log = by_log

    def after(self, learner: Any, u: Any) -> None:
        factor = self.values / self.climb(self._by_log, u.time)
        for name in self._follow:
            learner.own[name] *= factor


class TRBMLearner(Learner):
    """The state of a training run.  Matrices but W1 lead from past to present, lag below lag."""

    settings: SequenceSettings

    def __init__(
        self,
        data: Sequences,
        settings: SequenceSettings,
        seed: int,
        transform: Transform | None = None,
    ) -> None:
        self.settings, self.seed, self.transform = settings, seed, transform
        self.steps = Steps(settings.optimizer)
        self.units = UnitParameters(settings.shape(), self.steps, settings.dtype)
        if transform is not None and not transform.sees_model:
            # What it starts at, as a forecast and its precision, must bear what it will see.
            first, kind = data.take(np.arange(min(data.shape[0], STARTED))), settings.visible.kind
            data = transform.sequences(first, Call(seed, START, 0.0), kind)[0]
        self.own = initial_parameters(settings, data, self.units, seed)
        self.visible_precision = self.own.pop("visible_precision")
        self.visible_kinds = one_kind(settings.n_visible, self.visible_precision, FRAME)
        self.units.keep_normalizable(self.own["weights"], self.visible_precision)
        self.offsets = self._offsets(data)
        self.usual_norm = np.zeros(1)  # of the gradient by the weights, a running mean
        self.learned = self.own | self.units.learned()
        for name, parameter in self.own.items():
            self.steps.remember(name, parameter)
        self.parts: list[Part] = []
        if settings.learns_visible_precision:
            self.learned["visible_precision"] = self.visible_precision
            rate = settings.rates[VISIBLE_RATE]
            self.parts.append(ForecastPrecisions(self.visible_precision, self.steps, rate))
        self.averages = Averages(self.learned, settings.average)
        self.shrinking = Shrinking(settings.rates, {name: self.own[name] for name in WEIGHTS})

    def _offsets(self, data: Sequences) -> Offsets:
        settings, sizes = self.settings, self.own["weights"].shape
        offsets = Offsets(*(np.zeros(size, settings.dtype) for size in sizes))
        if settings.sampler.centred:
            offsets.visible[:] = mean_frame(data)
            offsets.hidden[:] = 0.5 if self.units.bernoulli else self.units.middle(offsets.hidden)
        return offsets

    def arrays(self) -> State:
        arrays = {
            "visible_offset": self.offsets.visible,
            "hidden_offset": self.offsets.hidden,
            "usual_norm": self.usual_norm,
        }
        for part in self.parts:
            arrays |= part.arrays()
        return self.own | self.units.arrays() | arrays

    def layers(self) -> TemporalLayers:
        """Return the current parameters as the kernels take them, sharing memory."""
        own = self.own
        return TemporalLayers(
            gibbs.Layers(
                read_only(own["weights"]),
                own["visible_bias"][None],
                own["hidden_bias"][None],
                *self.units.layer(),
                self.visible_kinds,
            ),
            own["initial_visible_bias"],
            own["initial_hidden_bias"],
            own["visible_to_hidden"],
            own["visible_to_visible"],
            own["hidden_to_hidden"],
        )

    def parameters(self) -> State:
        averaged = self.averages.parameters(self.updates)
        return self._by_lag(self.shrinking.parameters(self._current() | averaged))

    def _current(self) -> State:
        found = self.own | self.units.parameters()
        return found | ({"visible_precision": self.visible_precision} if self.settings.real else {})

    def _by_lag(self, found: State) -> State:
        return found | {name: of_lags(found[name], self.settings.n_lags) for name in LAGGED}

    def model(self, parameters: State | None = None) -> TemporalModel:
        kind = BernoulliTRBM if self.units.bernoulli else TruGTRBM
        return self.settings.remembering(kind(**(parameters or self.parameters())))

    def _seen(self) -> TemporalModel:
        return self.model(self._by_lag(self._current()))

    def fault(self, columns: Columns) -> str | None:
        """Say which parameter is nonsense, if one is; ``columns`` are those of the data."""
        return diagnosis.fault(self.learned, lambda: self._pulls(columns))

    def _pulls(self, columns: Columns) -> State:
        """Return what weights and biases do to units, as diagnosis.LIMIT counts it."""
        own, mean = self.own, self.offsets.hidden if self.settings.sampler.centred else None
        hidden, scale = self.units.ranges(mean), columns.scale(self.visible_precision)
        width, past = hidden.width, columns.deviation
        visible = own["weights"] @ hidden.mean
        if self.settings.real:
            visible -= self.visible_precision * columns.mean
        lags = self.settings.n_lags
        moved = visible + np.tile(columns.mean, lags) @ own["visible_to_visible"]
        past, before = np.tile(past, lags), np.tile(width, lags)
        return {
            "weights": diagnosis.pull(scale, own["weights"], width),
            "visible_to_hidden": diagnosis.pull(past, own["visible_to_hidden"], width),
            "visible_to_visible": diagnosis.pull(past, own["visible_to_visible"], scale),
            "hidden_to_hidden": diagnosis.pull(before, own["hidden_to_hidden"], width),
            "visible_bias": (own["visible_bias"] + moved) * scale,
            "initial_visible_bias": (own["initial_visible_bias"] + visible) * scale,
        }

    def update(
        self, data: Sequences, batches: Sequence[NDArray[np.int64]], times: Sequence[Time]
    ) -> None:
        for rows, time in zip(batches, times, strict=True):
            self._take(data, rows, time)

    def _take(self, data: Sequences, rows: NDArray[np.int64], time: Time) -> None:
        sampler, n_gibbs = self.settings.sampler, self._n_gibbs(time)
        draws = Draws(n_gibbs, self.seed, self.updates, 1 + self.sweeps)
        start = self.units.start
        units = start.learns_ends or start.learn_precision
        known = None
        if self.transform is not None:
            call = Call(self.seed, self.updates, time.share, self._seen)
            kind = self.settings.visible.kind
            data, known = self.transform.sequences(data.take(rows), call, kind)
            rows = np.arange(rows.size)
        batch, own = data.batch(rows), self.layers()
        options: dict[str, Any] = {"units": units, "known": known}
        with computing(work(batch.rows.size, *self.own["weights"].shape)):
            slope = estimate(own, data, batch, self.offsets, sampler, draws, **options)
            fresh = slope.pop("hidden_offset")
            self._clip(slope)
            self._step(slope, time)
        if sampler.centred:
            offset = self.offsets.hidden
            offset += (1 - MEMORY) * (fresh - offset)
        self.sweeps += n_gibbs
        self.updates += 1
        self.averages.follow(self.updates)

    def _clip(self, slope: dict[str, Any]) -> None:
        """Scale a gradient down that is far above the usual one.

        On its way back through a hundred frames it sometimes explodes (to 50 from 5, on bouncing
        balls): one such step throws the parameters far away, and Adam, which remembers its square
        for a thousand updates, hardly moves them back.
        """
        norm = float(np.sqrt(sum(np.square(np.linalg.norm(slope[name])) for name in WEIGHTS)))
        limit = CLIP * float(self.usual_norm[0]) if self.updates else norm
        if norm > limit:
            for gradient in slope.values():
                gradient *= limit / norm
        share = 1 - MEMORY if self.updates else 1.0
        self.usual_norm += share * (min(norm, limit) - self.usual_norm)

    def _step(self, slope: dict[str, Any], time: Time) -> None:
        steps, rate, own = self.steps, self._rate("learning_rate", time), self.own
        steps.taken += 1
        amounts = {name: self.shrinking.amounts(name, time) for name in WEIGHTS}
        for name, each in amounts.items():
            if each.weight_decay:
                decay = each.weight_decay * own[name]
                slope[name] -= decay
                for bias, lost in self._at_offsets(name, decay).items():
                    slope[bias] += lost
        for part in self.parts:
            part.before(self, Moves(slope, time))
        for name in WEIGHTS:
            steps.move_weights(name, own[name], slope[name], rate)
        for name in BIASES:
            steps.move(name, own[name], slope[name], rate)
        for name, each in amounts.items():
            if self.shrinking.steps(name, steps.taken):
                self._shrink(name, each, rate)
        for part in self.parts:
            part.after(self, Moves(slope, time))
        if self.units.start.learn_precision:
            by_precision, by_mean = slope["precision"], slope["hidden_mean"]
            before = own["hidden_bias"].copy()
            shift = self.units.move_precision(
                by_precision, by_mean, self.offsets.hidden, self._rate("precision_rate", time)
            )
            own["hidden_bias"] += shift
            own["initial_hidden_bias"] += own["hidden_bias"] - before
        if self.units.start.learns_ends:
            self.units.move_ends(
                slope["lower"], slope["upper"], self._rate("truncation_rate", time)
            )
        self.units.keep_normalizable(own["weights"], self.visible_precision)

    def _shrink(self, name: str, amounts: Amounts, rate: float) -> None:
        """Shrink a matrix; biases follow in their steps' lengths (mathematics 2.14)."""
        steps, own, before = self.steps, self.own, self.own[name].copy()
        second = steps.memory[name][1]
        self.shrinking.shrink(name, own[name], second, steps.rule(rate), amounts, steps.taken)
        taken = (before - own[name]) * steps.lengths(name)
        for bias, lost in self._at_offsets(name, taken).items():
            own[bias] += lost / steps.lengths(bias)

    def _at_offsets(self, name: str, matrix: FloatArray) -> dict[str, Any]:
        """Return what a matrix in place of these weights is worth to biases at the offsets."""
        visible, hidden = self.offsets
        if name == "weights":
            ours, theirs = matrix @ hidden, visible @ matrix
            found = {"visible_bias": ours, "initial_visible_bias": ours}
            return found | {"hidden_bias": theirs, "initial_hidden_bias": theirs}
        past = hidden if name == "hidden_to_hidden" else visible
        bias = "visible_bias" if name == "visible_to_visible" else "hidden_bias"
        return {bias: np.tile(past, self.settings.n_lags) @ matrix}

    def _rate(self, name: str, time: Time) -> float:
        return self.settings.rates[name].at(*time)

    def _n_gibbs(self, time: Time) -> int:
        return round(self._rate("n_gibbs", time))

    def brief(self, time: Time) -> dict[str, float]:
        rate, *others = (
            self._rate(name, time)
            for name in ("learning_rate", "truncation_rate", "precision_rate")
        )
        result = {"learning_rate": rate, "n_gibbs": float(self._n_gibbs(time))}
        result |= self.units.brief(*others)
        for part in self.parts:
            result |= part.brief(self, time)
        return result
