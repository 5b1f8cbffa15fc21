"""Scores that follow training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trug_fast.evaluation.likelihood import log_likelihood, pseudo_log_likelihood
from trug_fast.evaluation.partition import log_partition
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.diagnosis import spread

CHAINS, TEMPERATURES = 100, 1000


def scores(
    snapshot: Callable[[], TruGRBM | BernoulliRBM],
    kind: str | None,
    due: bool,
    data: NDArray[np.generic],
    held_out: NDArray[np.generic] | None,
    seed: int,
) -> dict[str, float]:
    """Return the mean score of evenly spread rows of each set; NaN in epochs without one."""
    if kind is None:
        return {}
    sets = {"score": data} | ({} if held_out is None else {"validation_score": held_out})
    if not due:
        return dict.fromkeys(sets, np.nan)
    model = snapshot()
    rows = {name: spread(array) for name, array in sets.items()}
    if kind == "pseudo":
        return {k: float(pseudo_log_likelihood(model, v, rng=seed).mean()) for k, v in rows.items()}
    if kind == "reconstruction":
        return {k: float(reconstruction(model, v).mean()) for k, v in rows.items()}
    estimate = log_partition(
        model,
        n_chains=CHAINS,
        n_temperatures=TEMPERATURES,
        base=rows["score"],
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
