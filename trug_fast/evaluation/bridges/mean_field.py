"""A lower bound on log Z that no sampling error can touch (mathematics 3.6).

L is convex in the net input a, so for any point m of the unit cube log p*(x) has a bound linear in
x, which can be summed over all x.  The best m are where iterating means of both layers stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import one_blas_thread
from trug_fast.models.rbm import RBM

STARTS = 16  # of each kind: data, noise, patterns
ITERATIONS = 50
WIDE = 6.0  # where units without an end are taken to end
FAR = 20.0  # nats below the best, from which a point adds nothing that would be seen
STILL = 1e-3  # largest change of a pixel that ends the iteration


def starting_points(model: RBM, data: NDArray[np.generic] | None, seed: int) -> NDArray[np.float64]:
    """Return rows from which to look for modes: noise, patterns of the weights, and data.

    On models trained at too high a rate, noise found modes 700 nats above all others that neither
    data nor annealed chains came near; of a mode that needs many pixels at once it knows nothing.
    """
    rng = np.random.default_rng(seed)
    rows = [model.visible_units.noise(rng, STARTS, model.column_bias)]
    for found in (patterns(model), wells(model)):  # the most probable: all would cost too much
        rows.append(found[np.argsort(model.column_energy(found))[:STARTS]])
    if data is not None:
        rows.append(data[rng.integers(0, len(data), STARTS)].astype(np.float64))
    return np.concatenate(rows)


def patterns(model: RBM) -> NDArray[np.float64]:
    """Return what single hidden units want: pixels on or off, means of other units."""
    weights = np.float64(1) * model.column_weights.T
    return model.visible_units.patterns(model.column_bias.astype(np.float64), weights)


def wells(model: RBM) -> NDArray[np.float64]:
    """Return means of visible units with all hidden ones at an end, those alike at the same one.

    Of each hidden unit those that pull the same way as it does go up and others down, and the other
    way round: a well that many units make together needs them all.
    """
    weights = np.float64(1) * model.column_weights.T
    ends = np.clip(model.hidden_units.ends.astype(np.float64), -WIDE, WIDE)
    along = weights @ weights.T > 0
    nets = [np.where(side, ends[1], ends[0]) @ weights for side in (along, ~along)]
    return model.visible_units.mean(np.float64(1) * model.column_bias + np.concatenate(nets))


def bound(model: RBM, start: NDArray[np.float64]) -> float:
    """Return the largest lower bound on log Z that iteration from these rows finds, together."""
    double = model.remade({k: v.astype(np.float64) for k, v in model.column_arrays().items()})
    m, units = start, double.visible_units
    with one_blas_thread():  # products of a few rows, a hundred of them
        for _ in range(ITERATIONS):
            before, m = m, units.mean(_net(double, m))
            if np.abs(m - before).max() < STILL:
                break
        return _together(double, m)


def _together(model: RBM, m: NDArray[np.float64]) -> float:
    """Return what the bounds at these points say together (mathematics 3.6).

    Points are added as long as the bound grows: those of separate modes add up, and one that is
    there already adds nothing.
    """
    units, net = model.visible_units, _net(model, m)
    # energy(m) - free_energy(m) = b.m + sum_j L(a_j(m)), and m.net = b.m + sum_j mu_j (W'm)_j.
    rest = units.energy(m) - model.column_energy(m) - (m * net).sum(axis=1)
    every = rest + units.log_norm(net)
    order = np.argsort(-every)
    order = order[every[order] > every[order[0]] - FAR]
    top, total, chosen = every[order[0]], 1.0, order[:1]
    for k in order[1:]:
        middle = (net[chosen] + net[k]) / 2
        shared = (rest[chosen] + rest[k]) / 2 + units.log_norm(middle) - top
        gain = np.exp(every[k] - top) - np.exp(shared).sum()
        if gain > 0:
            total, chosen = total + gain, np.append(chosen, k)
    return float(top + np.log(total))


def _net(model: RBM, m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Net input of the visible units where the hidden ones are at their means given m."""
    mean = model.column_moments(m).mean
    return np.asarray(model.column_bias + mean @ model.column_weights.T)
