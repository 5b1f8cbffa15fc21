"""How well an RBM's training goes: scores that follow it, and what is warned of.

Tested in tests/training/rbm/test_watch.py and test_scores.py.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.datasets import binarize
from trug_fast.evaluation.bridges import log_partition
from trug_fast.evaluation.bridges.reverse import log_likelihood_bound
from trug_fast.evaluation.likelihood import pseudo_log_likelihood
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import ContrastiveWatch, spread
from trug_fast.training.options import Monitor
from trug_fast.training.samplers import Sampler, TrajectoryTempering
from trug_fast.training.settings import checked_monitor
from trug_fast.training.units import Visible
from trug_fast.training.weighing import Weights, mean_of
from trug_fast.units.layer import Layer

from . import shares
from .negatives import LogZ
from .parts import Filling

JUDGED, TEMPERATURES = 200, 1000  # of the annealing that a certified score is compared with
# A look at phases while training goes takes as long as 5 to 15 updates.
FIRST_LOOK, UPDATES, EACH_LOOK = 4, 600, 4  # epoch, updates before it; of so many rows one is taken
# Nats that a part lacks, no less than at the last look, or at any.  Good runs of phases of unequal
# shares lacked up to 15 after epoch 4, 10 after 8, 6 after 16.
MUCH, MOST = 8.0, 25.0
SLACK, ERRORS = 0.5, 3.0  # nats that so short an annealing may fall short of, and standard errors
CHAINS = 100  # of a score by annealing
WHOLE = ("ais", "log_likelihood")  # scores that need log Z, and whole rows
OF_ALL = ("reconstruction", *WHOLE)


class RBMWatch(ContrastiveWatch):
    """Watches up to 1,000 rows of the training data."""

    name = "X"
    _told, _lack = False, math.inf  # of phases, while training goes; what lacked at the last look

    @property
    def yardstick(self) -> str:  # type: ignore[override]
        """The score, in words."""
        few = self.learner.core.visible_units.enumerable
        return "pseudo-log-likelihood" if few else "reconstruction score"

    def frames(self) -> NDArray[Any]:
        return np.asarray(self.rows)

    def each(self, model: Any) -> NDArray[np.float64]:
        units = self.learner.core.visible_units
        score = pseudo if units.enumerable else reconstruction
        return score(model, units.states(self.rows), self.learner.seed, self.learner.filling)

    def blind(self) -> float:
        units = self.learner.core.visible_units
        if units.enumerable:
            return float(units.log_norm(np.zeros(self.columns.mean.size)))
        units = Layer(self.learner.settings.runs, self.learner.core.visible_precision)
        own = units.variance(np.asarray(units.bias(self.columns.mean), np.float64))
        return float((self.columns.deviation**2 + own).sum())

    def measure(self, model: Any, sets: dict[str, Any]) -> dict[str, float]:
        learner = self.learner
        return scores(
            model,
            self.score,
            sets,
            learner.seed,
            learner.filling,
            self.weights,
            learner.negative,
        )

    def _standardise(self) -> str | None:
        own = self.learner.core.visible_units.by_column("standardised")
        return diagnosis.off_scale(self.name, self.frames()[:, own]) if own.any() else None

    def beside(self) -> tuple[str, ...]:
        return ("score_error",) if self.score == "log_likelihood" else ()

    def verdict(self, epochs: int, model: Any) -> str | None:
        """Return what must be said of a whole run, also of phases and of log-likelihoods."""
        said = super().verdict(epochs, model)
        if said is None or said.endswith(self.faster()):  # to go faster would ruin more
            said = self._ruined(epochs, model) or said
        if said is None and self.score == "log_likelihood":
            known = self.learner.negative.log_partition(model)
            said = optimistic(model, self.rows, known, self.learner.seed)
        return said

    def look(self, epoch: int) -> None:
        """Warn, once, that shares of phases are being lost: after epochs 4, 8, 16, ...

        While rates are high, good runs may lack some, but not so much, and less at each look.
        """
        learner, due = self.learner, epoch >= FIRST_LOOK and epoch & (epoch - 1) == 0
        if self._told or not due or learner.updates < UPDATES or learner.filling.sweeps:
            return
        model, rows, weights = learner.model(), np.asarray(self.rows, np.float64), self.weights
        few = rows[::EACH_LOOK] if weights is None else rows  # spares good runs time
        before, self._lack = self._lack, shares.lost(model, few, weights, learner.seed)
        said = None if self._lack < min(max(before, MUCH), MOST) else self._lost(model, rows)
        if said is not None:
            self._told = True
            warnings.warn(f"after epoch {epoch}, {said}", diagnosis.TrainingWarning, stacklevel=2)

    def _ruined(self, epochs: int, model: Any) -> str | None:
        """Say that a model has lost the shares of phases, or its mass is elsewhere, or nothing."""
        learner = self.learner
        if diagnosis.brief(epochs, learner.updates) or learner.filling.sweeps:
            return None
        rows, seed = np.asarray(self.rows, np.float64), learner.seed
        said = self._lost(model, rows)
        if said is not None:
            return said
        where = f"the model has its mass where there are no data; {self._slower()}"
        beneath = shares.beneath(model, rows, self.weights, seed)
        if beneath is not None:
            return (
                f"the log-likelihood of the training data is {beneath[0]:.4g} at most, by the mean "
                f"field; columns that know nothing of each other have {beneath[1]:.4g}: {where}"
            )
        rise = shares.strayed(model, rows, self.weights, seed)
        return (
            f"chains that begin at the training data go in {shares.SWEEPS} sweeps to where the "
            f"model gives e^{rise:.0f} times as much probability: {where}"
            if rise
            else None
        )

    def _lost(self, model: Any, rows: NDArray[np.float64]) -> str | None:
        learner = self.learner
        lack = shares.lost(model, rows, self.weights, learner.seed)
        if not lack:
            return None
        units = "hidden='trug' (TruG units lose less), " if learner.units.bernoulli else ""
        climbs = isinstance(learner.settings.sampler, TrajectoryTempering)
        tempered = "" if climbs else "sampler='ptt' or 'cd', "
        return (
            f"the model gives a part of the training data e^{lack:.0f} times less probability than "
            "the data: the chains did not go from phase to phase, and the shares of phases are "
            f"lost; take {tempered}{units}or a lower learning_rate (it began at "
            f"{self.rate.start:g}), such as a tenth, with more chains (PCD(n_chains=1000))"
        )

    def faster(self) -> str:
        return (
            f"take smaller batches or more epochs ({self.learner.updates} updates were made), a "
            "higher learning_rate or larger RandomWeights; if nothing helps, the columns may hold "
            "little beyond their means"
        )


def optimistic(
    model: TruGRBM | BernoulliRBM, rows: NDArray[Any], known: LogZ, seed: int
) -> str | None:
    """Say that log-likelihoods by this log Z are above what the data's side says, or nothing.

    A ladder knows the modes that some chain has seen.  Annealing back from the data knows no more,
    but what it misses makes log-likelihoods too low.
    """
    units = model.visible_units
    rows = units.states(rows)
    some = np.asarray(rows[:: max(1, len(rows) // JUDGED)], np.float64)
    if model.visible == "bernoulli":
        # Of soft pixels a draw; others stay.
        some = binarize(some, "sample", rng=seed).astype(np.float64)
    bound = log_likelihood_bound(
        model, some, n_chains=1, n_temperatures=TEMPERATURES, base=rows, rng=seed, progress=False
    )
    gap = -model.free_energy(some) - known.log_z - bound.value
    error = math.hypot(known.std_error, float(gap.std()) / math.sqrt(len(gap)))
    if gap.mean() <= SLACK + ERRORS * error:
        return None
    return (
        f"the log-likelihood by the ladder is {gap.mean():.1f} +- {error:.1f} nats above that by "
        f"annealing back from {len(some)} rows of the training data: chains may have missed modes "
        "of the model; take a lower learning_rate, and compare with log_likelihood_bound and "
        "log_partition(direction='both')"
    )


def scored(
    monitor: Monitor | str | None,
    visible: Visible,
    held_out: object,
    sampler: Sampler,
) -> Monitor | None:
    """Return what is scored, if these units have it."""
    climbs, few = isinstance(sampler, TrajectoryTempering), visible.enumerable
    known = ("pseudo", *OF_ALL) if few else OF_ALL
    score = monitor.score if isinstance(monitor, Monitor) else monitor
    if not few and isinstance(score, str) and score == "pseudo":
        raise ValueError(
            "monitor='pseudo' is for visible='bernoulli', 'spin' and 'categorical': Gaussian "
            "visible units have no pseudo-likelihood in closed form, nor have truncated ones; use "
            "'reconstruction', 'ais' or None"
        )
    whole, missing = isinstance(score, str) and score in WHOLE, visible.missing is not None
    if missing and whole:
        others = [repr(each) for each in known if each not in WHOLE]
        raise ValueError(
            f"monitor={score!r} needs whole rows: with missing values take {' or '.join(others)}"
        )
    if whole and score == "log_likelihood" and not climbs:
        raise ValueError(
            "monitor='log_likelihood' needs sampler=TrajectoryTempering(), whose ladder knows "
            "log Z; with others take 'ais'"
        )
    usual = ("log_likelihood",) if climbs and not missing else ()
    return checked_monitor(monitor, (*usual, *known), held_out)


def scores(
    model: TruGRBM | BernoulliRBM,
    kind: Any,
    sets: dict[str, NDArray[Any]],
    seed: int,
    filling: Filling,
    weights: Weights | None = None,
    negative: Any = None,
) -> dict[str, float]:
    """Return the score of evenly spread rows of each set; AIS starts at the first one's.

    kind : the word of a score, or a function
    weights : of those rows of the first set
    negative : what knows log Z, for "log_likelihood"
    """
    units = model.visible_units
    rows = {name: units.states(spread(array)) for name, array in sets.items()}
    if callable(kind):
        rows = {name: filling.drawn(model, v, seed) for name, v in rows.items()}
        return {name: checks.number("score", kind(model, v)) for name, v in rows.items()}
    weighing = dict.fromkeys(rows) | {next(iter(rows)): weights}
    if kind in EACH:
        each = {k: EACH[kind](model, v, seed, filling) for k, v in rows.items()}
        return {k: float(mean_of(v, weighing[k])) for k, v in each.items()}
    if kind == "log_likelihood":
        known = negative.log_partition(model)
        each = {k: -model.free_energy(v) - known.log_z for k, v in rows.items()}
        found = {k: float(mean_of(v, weighing[k])) for k, v in each.items()}
        return found | {"score_error": known.std_error}
    estimate = log_partition(
        model,
        n_chains=CHAINS,
        n_temperatures=TEMPERATURES,
        base=next(iter(rows.values())),
        rng=seed,
        progress=False,
    )
    each = {k: -model.free_energy(v) - estimate.log_z for k, v in rows.items()}
    return {k: float(mean_of(v, weighing[k])) for k, v in each.items()}


def pseudo(
    model: TruGRBM | BernoulliRBM, X: NDArray[Any], seed: int, filling: Filling
) -> NDArray[np.float64]:
    """Return the pseudo-log-likelihood of each row."""
    if np.isnan(X).any():
        return filling.pseudo(model, X, seed)
    return pseudo_log_likelihood(model, X, rng=seed)


def reconstruction(
    model: TruGRBM | BernoulliRBM, X: NDArray[Any], seed: int, filling: Filling
) -> NDArray[np.float64]:
    """Return minus the squared error of each row's reconstruction from its hidden units' means.

    Where values are missing, the mean error of those that are there stands for theirs.
    """
    drawn = filling.drawn(model, X, seed)
    rows = model.visible_units.columns(np.asarray(drawn, np.float64))
    net = model.column_bias + model.column_moments(rows).mean @ model.column_weights.T
    error = rows - model.visible_units.mean(net)
    there = ~np.isnan(X)
    if there.all():
        return np.asarray(-(error * error).sum(axis=1))
    return np.asarray(-(error * error * there).sum(axis=1) / there.mean(axis=1))


EACH = {"pseudo": pseudo, "reconstruction": reconstruction}
