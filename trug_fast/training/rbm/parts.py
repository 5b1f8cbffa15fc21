"""Parts of an RBM's training: missing values, visible precisions, density, gauge, transforms.

Tested in tests/training/rbm/test_missing.py, test_precisions.py, test_kinds.py and
tests/training/test_transform.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.randomness import seed_from
from trug_fast._common.threads import computing
from trug_fast.evaluation.likelihood import pseudo_at
from trug_fast.kernels.rbm.gibbs import Chains, Layers
from trug_fast.models import gibbs_sampling
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.learner import Part, Update
from trug_fast.training.precisions import VisiblePrecisions
from trug_fast.training.rates import Schedule, Time
from trug_fast.training.settings import VISIBLE_RATE
from trug_fast.training.steps import Steps
from trug_fast.training.transform import Call, Transform
from trug_fast.training.weighing import Weights

from .data import transformed

FIRST_STEP = 1 << 41  # of the streams, far from those of the chains and of their starts
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Filling(Part):
    """Missing values, drawn given what is there, for every update.

    The gradient of the log-likelihood of what is there is that of whole rows, averaged over what
    the model says is missing: E[.|there] - E[.].

    Parameters
    ----------
    sweeps : int
        0 where none may be missing.
    means : ndarray, shape (columns,)
        Where their chains begin.
    """

    sweeps: int = 0
    means: Floats = field(default_factory=lambda: np.empty(0))

    def before(self, learner: Any, u: Update) -> None:
        with computing(learner.work(u.size)):
            self.fill(learner.core.layers(), u.rows, learner.seed, learner.updates)

    def fill(self, layers: Layers, rows: NDArray[Any], seed: int, update: int) -> None:
        """Draw what is missing in a batch, in place."""
        free = np.isnan(rows)
        if not free.any():
            return
        held = rows.copy()
        np.copyto(rows, self.means.astype(rows.dtype), where=free)
        chains = Chains.new(rows, layers.weights.shape[1], statistics=False)
        first = FIRST_STEP + self.sweeps * update
        gibbs_sampling.run_held(layers, chains, held, self.sweeps, seed, first)

    def by_means(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows with means in place of what is missing."""
        free = np.isnan(rows)
        return np.where(free, self.means, rows) if free.any() else rows

    def drawn(self, model: TruGRBM | BernoulliRBM, rows: NDArray[Any], seed: int) -> NDArray[Any]:
        """Return rows of which a model has drawn what is missing."""
        if not np.isnan(rows).any():
            return rows
        key = seed_from(seed, "missing values of scores")
        held = rows.astype(np.float64)
        found, _ = gibbs_sampling.run(model, self.by_means(held), held, self.sweeps, key)
        return found

    def pseudo(self, model: TruGRBM | BernoulliRBM, rows: NDArray[Any], seed: int) -> Floats:
        """Return the pseudo-log-likelihood of rows: a random pixel that is there stands for all.

        What is missing is drawn as if that pixel were missing too.  So on average this is a lower
        bound on what the model says of the pixel given all others that are there.
        """
        key = seed_from(seed, "pixels of scores")
        there = ~np.isnan(rows)
        pixel = np.where(there, np.random.default_rng(key).random(rows.shape), -1).argmax(axis=1)
        each, held = np.arange(len(rows)), rows.astype(np.float64)
        held[each, pixel] = np.nan
        found = self.drawn(model, held, seed).astype(np.float64)
        found[each, pixel] = rows[each, pixel]
        return pseudo_at(model, found, pixel)


class CentredPrecisions(VisiblePrecisions):
    """Precisions a of visible units with the energy a (x - centre)^2 / 2.

    Parameters
    ----------
    values, steps, rate, learned
        As of VisiblePrecisions.
    centre : ndarray, shape (columns,)
        The data's means: a step of a is not to move them.
    """

    def __init__(
        self,
        values: FloatArray,
        steps: Steps,
        rate: Schedule,
        centre: Floats,
        learned: NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(values, steps, rate, learned)
        self._centre = centre.astype(values.dtype)

    def after(self, learner: Any, u: Update) -> None:
        """Move by the phases of the update that was just taken."""
        chains, core = u.chains, learner.core
        # States have been exchanged, their means have not; the variance of others is not 1 / a.
        if learner.negative.exchanged or core.visible_ends is not None:
            model = self.squares(chains.phase.visible)
        else:
            model = self.squares(chains.visible_mean, means=True)
        if u.weights.size:
            model = model * u.weights.mean()
        data = self.squares(u.rows, u.weights)
        core.visible_bias += self.move(data, model, u.times[0])

    def squares(
        self, rows: FloatArray, weights: Weights | None = None, *, means: bool = False
    ) -> Floats:
        """Return the mean over rows of (x - centre)^2, by their weights.

        means : whether rows are means given the hidden units, each of a draw of variance 1/a
        """
        squares = np.square(rows - self._centre)
        if weights is not None and weights.size:
            squares *= weights.astype(rows.dtype)[:, None]
        found = squares.mean(axis=0, dtype=np.float64)
        return np.asarray(found + 1.0 / self.values if means else found)

    def move(self, data: Floats, model: Floats, time: Time) -> FloatArray:
        """Move along the gradient; return what is to be added to the visible biases.

        data, model : ``squares`` of both phases, the model's times the mean weight of the data
        """
        before = self.climb(0.5 * self.values * (model - data), time)
        return np.asarray(self._centre * (self.values - before))


class Normalizable(Part):
    """Weights are scaled down where units of both layers without ends would leave no density."""

    moves = True

    def after(self, learner: Any, u: Update) -> None:
        learner.core.keep_normalizable()


class Gauge(Part):
    """Parameters of categorical units keep a sum of zero over the states of each."""

    moves = True

    def after(self, learner: Any, u: Update) -> None:
        core = learner.core
        core.visible_units.to_zero_sum(core.weights, core.visible_bias, core.hidden_bias)


class Transforming(Part):
    """The caller's function changes the rows of each batch."""

    def __init__(self, transform: Transform) -> None:
        self._transform, self.alone = transform, transform.sees_model

    def before(self, learner: Any, u: Update) -> None:
        call = Call(learner.seed, learner.updates, 0.0, learner.seen)
        shares = [time.share for time in u.times]
        units = learner.core.visible_units
        transformed(self._transform, u.rows, shares, call, learner.settings, units)


def parts_of(learner: Any, transform: Transform | None) -> list[Part]:
    """Return the parts of a learner beside its negative, in the order in which they take part."""
    settings, core = learner.settings, learner.core
    found: list[Part] = [] if transform is None else [Transforming(transform)]
    if learner.filling.sweeps:
        found.append(learner.filling)
    if settings.learns_visible_precision:
        values, rate = core.visible_kinds.precision, settings.rates[VISIBLE_RATE]
        learned = settings.learned_precisions
        found.append(CentredPrecisions(values, learner.steps, rate, learner.means, learned))
    if core.units.loose(core.visible_precision, core.visible_ends):
        found.append(Normalizable())
    if settings.gauge and not settings.keeps_gauge:
        found.append(Gauge())
    return found
