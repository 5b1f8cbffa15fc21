"""A lower bound on log Z that no sampling error can touch.

L is convex in the net input a, so for any point m of the unit cube and mu = E[h | a(m)]

    log p*(x) >= b.x + sum_j [L(a_j(m)) + mu_j (a_j(x) - a_j(m))],

which is linear in x, and its exponential can be summed over all x:

    log Z >= sum_j [L(a_j(m)) - mu_j (W'm)_j] + sum_i softplus((b + W mu)_i).

The best m obey m = sigmoid(b + W mu), which iteration reaches from anywhere: each step can only
raise the bound.  It is that of a factorised x and h.

With other visible units the units' own log-normaliser takes the place of softplus, and their mean
that of the sigmoid; of Gaussian ones the sum is an integral.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.rbm import RBM
from trug_fast.models.visible_kinds import BERNOULLI

STARTS = 16  # of each kind: data, noise, patterns
ITERATIONS = 50
STILL = 1e-3  # largest change of a pixel that ends the iteration


def starting_points(model: RBM, data: NDArray[np.generic] | None, seed: int) -> NDArray[np.float64]:
    """Return rows from which to look for modes: noise, patterns of the weights, and data.

    On models trained at too high a rate, noise found modes 700 nats above all others that neither
    data nor annealed chains came near; of a mode that needs many pixels at once it knows nothing.
    """
    rng = np.random.default_rng(seed)
    rows = [model.visible_units.noise(rng, STARTS, model.column_bias), best_patterns(model)]
    if data is not None:
        rows.append(data[rng.integers(0, len(data), STARTS)].astype(np.float64))
    return np.concatenate(rows)


def patterns(model: RBM) -> NDArray[np.float64]:
    """Return all pixels off, all on, and those that each hidden unit wants on, or off."""
    weights = np.float64(1) * model.column_weights.T
    if model.visible == BERNOULLI:
        ends = np.array([[0.0], [1.0]]) * np.ones(model.n_visible)
        return np.concatenate([ends, weights > 0, weights < 0])
    # Of other units: their means with one hidden unit at 1 or at -1, and with none.
    bias = model.column_bias.astype(np.float64)
    return model.visible_units.mean(np.concatenate([bias[None], bias + weights, bias - weights]))


def best_patterns(model: RBM) -> NDArray[np.float64]:
    """Return the most probable of those patterns: to iterate from all would cost too much."""
    found = patterns(model)
    return found[np.argsort(model.column_energy(found))[:STARTS]]


def bound(model: RBM, start: NDArray[np.float64]) -> float:
    """Return the largest lower bound on log Z that iteration from these rows finds."""
    double = model.remade({k: v.astype(np.float64) for k, v in model.column_arrays().items()})
    m, units = start, double.visible_units
    for _ in range(ITERATIONS):
        before, m = m, units.mean(_net(double, m))
        if np.abs(m - before).max() < STILL:
            break
    net = _net(double, m)
    # energy(m) - free_energy(m) = b.m + sum_j L(a_j(m)), and m.net = b.m + sum_j mu_j (W'm)_j.
    every = units.energy(m) - double.column_energy(m) - (m * net).sum(axis=1) + units.log_norm(net)
    return float(every.max())


def _net(model: RBM, m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Net input of the visible units where the hidden ones are at their means given m."""
    mean = model.column_moments(m).mean
    result: NDArray[np.float64] = model.column_bias + mean @ model.column_weights.T
    return result
