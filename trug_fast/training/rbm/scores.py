"""Scores of an RBM that follow its training: a number for each row, or for many together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.evaluation.likelihood import pseudo_log_likelihood
from trug_fast.evaluation.partition import log_partition
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.diagnosis import spread
from trug_fast.training.options import Monitor
from trug_fast.training.samplers import Sampler, TrajectoryTempering
from trug_fast.training.settings import checked_monitor
from trug_fast.training.units import VisibleUnits, are_real
from trug_fast.training.weighing import Weights, mean_of

from .parts import Filling

CHAINS, TEMPERATURES = 100, 1000
WHOLE = ("ais", "log_likelihood")  # scores that need log Z, and whole rows
OF_REAL = ("reconstruction", *WHOLE)


def scored(
    monitor: Monitor | str | None,
    visible: VisibleUnits,
    held_out: object,
    sampler: Sampler,
) -> Monitor | None:
    """Return what is scored, if these units have it."""
    climbs, real = isinstance(sampler, TrajectoryTempering), are_real(visible)
    known = OF_REAL if real else ("pseudo", *OF_REAL)
    score = monitor.score if isinstance(monitor, Monitor) else monitor
    if real and isinstance(score, str) and score == "pseudo":
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
    filling: Filling | None,
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
        if filling is not None:
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
    model: TruGRBM | BernoulliRBM, X: NDArray[Any], seed: int, filling: Filling | None
) -> NDArray[np.float64]:
    """Return the pseudo-log-likelihood of each row."""
    if filling is not None and np.isnan(X).any():
        return filling.pseudo(model, X, seed)
    return pseudo_log_likelihood(model, X, rng=seed)


def reconstruction(
    model: TruGRBM | BernoulliRBM, X: NDArray[Any], seed: int = 0, filling: Filling | None = None
) -> NDArray[np.float64]:
    """Return minus the squared error of each row's reconstruction from its hidden units' means.

    Where values are missing, the mean error of those that are there stands for theirs.
    """
    drawn = X if filling is None else filling.drawn(model, X, seed)
    rows = model.visible_units.columns(np.asarray(drawn, np.float64))
    net = model.column_bias + model.column_moments(rows).mean @ model.column_weights.T
    error = rows - model.visible_units.mean(net)
    if filling is None:
        return np.asarray(-(error * error).sum(axis=1))
    there = ~np.isnan(X)
    return np.asarray(-(error * error * there).sum(axis=1) / there.mean(axis=1))


EACH = {"pseudo": pseudo, "reconstruction": reconstruction}
