"""Scores of an RBM that follow its training: a number for each row, or for many together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.evaluation.likelihood import log_likelihood, pseudo_log_likelihood
from trug_fast.evaluation.partition import log_partition
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.diagnosis import spread

CHAINS, TEMPERATURES = 100, 1000
SCORES = {"bernoulli": ("pseudo", "reconstruction", "ais"), "gaussian": ("reconstruction", "ais")}


def scores(
    model: TruGRBM | BernoulliRBM, kind: Any, sets: dict[str, NDArray[Any]], seed: int
) -> dict[str, float]:
    """Return the score of evenly spread rows of each set; AIS starts at the first one's.

    kind : the word of a score, or a function
    """
    rows = {name: spread(array) for name, array in sets.items()}
    if callable(kind):
        return {name: checks.number("score", kind(model, v)) for name, v in rows.items()}
    if kind == "pseudo":
        return {k: float(pseudo_log_likelihood(model, v, rng=seed).mean()) for k, v in rows.items()}
    if kind == "reconstruction":
        return {k: float(reconstruction(model, v).mean()) for k, v in rows.items()}
    estimate = log_partition(
        model,
        n_chains=CHAINS,
        n_temperatures=TEMPERATURES,
        base=next(iter(rows.values())),
        rng=seed,
        progress=False,
    )
    return {k: float(log_likelihood(model, v, estimate.log_z).mean()) for k, v in rows.items()}


def reconstruction(model: TruGRBM | BernoulliRBM, X: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return minus the squared error of each row's reconstruction from its hidden units' means."""
    rows = np.asarray(X, np.float64)
    net = model.visible_bias + model.hidden_moments(rows).mean @ model.weights.T
    error = rows - model.visible_units.mean(net)
    return np.asarray(-(error * error).sum(axis=1))
