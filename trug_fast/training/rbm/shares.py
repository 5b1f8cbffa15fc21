"""Whether a model has lost the shares of the phases of its data.

Chains that never go from phase to phase keep the shares that they began with, whatever the model
gives the phases: then it is free to give one of them e^300 times what it has in the data, and
neither the chains' means nor a score of single pixels or reconstructions shows it.

So parts of the data, by the signs of their projections on the leading directions, are annealed to,
each from its own means.  Chains that come to a phase of its own measure its mass, others all of the
mass.  With Z_k by part k, and s_k its share of the rows, a good model has log Z_k no less than
log Z + log s_k, and no Z_k is above Z.  A model whose free energies hardly differ between
parts is not annealed.

Tested in tests/training/rbm/test_shares.py; calibrated by tools/calibrate_shares.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.bridges import mean_field
from trug_fast.evaluation.bridges.annealer import Annealer, AnnealingPlan
from trug_fast.evaluation.bridges.weights import one_sided
from trug_fast.models.rbm import RBM
from trug_fast.training.weighing import Weights, mean_of, variance_of_mean

from .turning import FARTHER, nearest

DIRECTIONS = 2  # leading ones, whose signs make up to four parts
LEAST = 0.05  # share of the rows of a part
CHAINS, TEMPERATURES = 20, 100  # for each part: what some ten updates cost
ERRORS = 3.0  # standard errors that are allowed for
# Nats that a part may lack.  Good models of magnets, clusters, mixtures and digits had 1 at most,
# those that were ruined 3.6 to 1,300.
ALLOWED = 3.0
# And for each nat of a row: models of 784 pixels after few epochs give parts of the data e^10 times
# too little, and lose more elsewhere.
PER_NAT = 0.2
POINTS = 5  # of noise, and of the data, from which modes are looked for
TURNS = 8  # of the iteration that finds directions
DRAWS, SWEEPS = 200, 25  # of chains that begin at the data, by which mass elsewhere is found


def lost(model: RBM, rows: NDArray[np.float64], weights: Weights | None, seed: int) -> float:
    """Return by how many nats the model gives a part of the data too little; 0 if by none.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    rows : ndarray, shape (rows, n_columns)
        Some of the data, by columns.
    weights : ndarray, shape (rows,), optional
    seed : int
    """
    share = np.full(len(rows), 1.0) if weights is None else weights
    share = share / share.sum()
    with one_blas_thread():
        parts = [part for part in parts_of(rows, share) if share[part].sum() >= LEAST]
    if len(parts) < 2 or not _differ(-model.column_energy(rows), parts):
        return 0.0
    lacking, log_z = lack(model, rows, share, parts, seed)
    nats = float(share @ model.column_energy(rows)) + log_z  # of a row, about
    return lacking if lacking > ALLOWED + PER_NAT * max(nats, 0.0) else 0.0


def lack(
    model: RBM,
    rows: NDArray[np.float64],
    share: NDArray[np.float64],
    parts: list[NDArray[np.int64]],
    seed: int,
    temperatures: int = TEMPERATURES,
) -> tuple[float, float]:
    """Return by how many nats at least some part of the rows has too little; below 0 if none has.

    And log Z, no more than which has been seen.

    share : of each row, 1 in all
    """
    found = []
    for part in parts:
        log_weights = _annealed(model, rows[part], temperatures, seed)
        estimate = one_sided(log_weights, "forward")
        spread = float(log_weights.std())
        # Means of weights that spread are low, by half of their variance about.
        low = estimate.log_z - ERRORS * estimate.std_error
        found.append((low, estimate.log_z + spread**2 / 2, np.log(share[part].sum())))
    low, high, logs = np.array(found).T
    return float((low.max() + logs - high).max()), float(low.max())


def beneath(
    model: RBM, rows: NDArray[np.float64], weights: Weights | None, seed: int
) -> tuple[float, float] | None:
    """Return the most that the rows' log-likelihood can be, if independent columns have more.

    And that of such columns, both on average.  It is certain, by the mean-field bound on log Z: the
    model has most of its mass where there are no data.
    """
    units = model.visible_units
    bias = np.asarray(units.bias(mean_of(rows, weights)), np.float64)
    alone = rows @ bias - units.energy(rows) - float(units.log_norm(bias))
    noise = units.noise(np.random.default_rng(seed), POINTS, model.column_bias)
    points = np.concatenate([noise, rows[:: max(1, len(rows) // POINTS)][:POINTS]])
    most = -model.column_energy(rows) - mean_field.bound(model, points)
    found = float(mean_of(most, weights)), float(mean_of(alone, weights))
    return found if found[0] < found[1] else None


def strayed(model: RBM, rows: NDArray[np.float64], weights: Weights | None, seed: int) -> float:
    """Return by how much log p* rises, on average, from rows to where chains take them; or 0.

    Of a model of the data draws have the log p* of the data.  Where they have more and are farther
    from rows than these from each other, the mass is a phase's that the data have not, as a
    disordered one between two that are each other turned over.  Of models that are only too sure
    draws have more, too, but are as near.
    """
    order = np.random.default_rng(seed).permutation(len(rows))
    rows, some = rows[order], rows[order[:DRAWS]]
    units = model.visible_units
    states = model.sample(start=units.states(some), n_gibbs=SWEEPS, rng=seed)
    drawn = np.asarray(units.columns(states), np.float64)
    rise = model.column_energy(some) - model.column_energy(drawn)
    share = None if weights is None else weights[order[:DRAWS]]
    if share is not None and not share.any():
        return 0.0
    mean, error = float(mean_of(rise, share)), float(np.sqrt(variance_of_mean(rise, share)))
    with one_blas_thread():
        away, apart = (float(np.median(nearest(each, rows))) for each in (drawn, some))
    return mean if mean - ERRORS * error > ALLOWED and away > FARTHER * apart else 0.0


def parts_of(rows: NDArray[np.float64], share: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return the rows of each part."""
    centred = rows - share @ rows
    scaled = np.sqrt(share)[:, None] * centred
    axes = np.random.default_rng(0).normal(size=(rows.shape[1], DIRECTIONS + 2))
    for _ in range(TURNS):
        axes, _ = np.linalg.qr(scaled.T @ (scaled @ axes))
    _, _, turned = np.linalg.svd(scaled @ axes, full_matrices=False)
    sides = centred @ (axes @ turned.T[:, :DIRECTIONS]) > 0
    number = sides @ (1 << np.arange(sides.shape[1]))
    return [np.flatnonzero(number == k) for k in range(1 << sides.shape[1])]


def _differ(heights: NDArray[np.float64], parts: list[NDArray[np.int64]]) -> bool:
    """Tell whether log p* differs between parts by so much that shares may be lost."""
    means = np.array([heights[part].mean() for part in parts])
    errors = np.array([heights[part].std() / np.sqrt(len(part)) for part in parts])
    top, bottom = means.argmax(), means.argmin()
    error = float(np.hypot(errors[top], errors[bottom]))
    return bool(means[top] - means[bottom] > ALLOWED + ERRORS * error)


def _annealed(
    model: RBM, rows: NDArray[np.float64], temperatures: int, seed: int
) -> NDArray[np.float64]:
    """Return estimates of log Z by chains that start from the means of rows."""
    base = model.visible_units.states(rows)
    plan = AnnealingPlan(model, base=base, n_chains=CHAINS, n_temperatures=temperatures)
    return Annealer(model, plan, seed).forward()
