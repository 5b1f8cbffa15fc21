"""Small models of any visible units, as kernels see them, with exact distributions."""

import itertools
from functools import cached_property

import numpy as np
from scipy import stats

from trug_fast._common.numerics import read_only
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import trug_units
from trug_fast.kernels.rbm.visible import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    SPIN,
    TRUNCATED,
    visible_kinds,
)
from trug_fast.units.kinds import log_norms

STEP = 0.02  # between points of a real unit
POINTS = np.arange(-6.0, 6.0, STEP)
ENDS = -0.5, 1.5  # of truncated units
INSIDE = np.arange(ENDS[0] + STEP / 2, ENDS[1], STEP)
REAL = GAUSSIAN, TRUNCATED

# Units one by one: kind and states.
UNITS = {
    "categorical": [(CATEGORICAL, 3), (CATEGORICAL, 3), (CATEGORICAL, 4)],
    "spins": [(SPIN, 1)] * 5,
    "truncated": [(TRUNCATED, 1)] * 2,
    "mixed": [(BERNOULLI, 1), (CATEGORICAL, 3), (SPIN, 1), (GAUSSIAN, 1), (BERNOULLI, 1)],
}


def spans_of(units):
    """Return spans of columns of units, neighbours of one kind together."""
    spans, column = [], 0
    for (kind, states), group in itertools.groupby(units):
        stop = column + states * len(list(group))
        spans.append((kind, column, stop, states))
        column = stop
    return spans


class Handmade:
    """An RBM of these units with random weights and three TruG units."""

    def __init__(self, units, dtype=np.float64, seed=0, scale=0.8, n_hidden=3):
        rng = np.random.default_rng(seed)
        self.units, self.dtype = units, np.dtype(dtype)
        self.n_visible, self.n_hidden = sum(states for _, states in units), n_hidden
        self.kinds = np.repeat([kind for kind, _ in units], [states for _, states in units])
        self.precision = np.where(np.isin(self.kinds, REAL), 2.5, 1.0)
        self.weights = rng.normal(0, scale, (self.n_visible, n_hidden)).astype(dtype)
        self.visible_bias = rng.normal(0, 0.5, self.n_visible).astype(dtype)
        self.hidden_bias = rng.normal(0, 0.5, n_hidden).astype(dtype)

    def layers(self):
        """Return both layers as kernels take them."""
        one, dtype = np.ones(self.n_hidden, self.dtype), self.dtype
        some = np.isin(self.kinds, REAL).any()
        cut = (self.kinds == TRUNCATED).any()
        ends = np.repeat([[ENDS[0]], [ENDS[1]]], self.n_visible, axis=1).astype(dtype)
        return gibbs.Layers(
            read_only(self.weights),
            self.visible_bias[None].copy(),
            self.hidden_bias[None].copy(),
            *trug_units(one, 0 * one, one),
            visible_kinds(
                spans_of(self.units),
                self.precision.astype(dtype)[: None if some else 0],
                ends if cut else None,
            ),
        )

    def log_density(self, X):
        """Return log p*(x) of rows of columns."""
        X = np.asarray(X, np.float64)
        real = np.isin(self.kinds, REAL)
        layers = self.layers()
        doubles = [
            part.astype(np.float64) if isinstance(part, np.ndarray) else part
            for part in layers[:-1]
        ]
        double = gibbs.Layers(read_only(doubles[0]), *doubles[1:], layers.visible_kinds)
        with one_blas_thread():
            found = log_norms(double, np.ascontiguousarray(X))
        energy = 0.5 * (X[:, real] ** 2 * self.precision[real]).sum(axis=1)
        return X @ self.visible_bias.astype(np.float64) - energy + found

    @cached_property
    def states(self):
        """All states of the visible units, those of real ones on a grid."""
        own = {BERNOULLI: [[0], [1]], SPIN: [[-1], [1]], GAUSSIAN: POINTS[:, None].tolist()}
        own[TRUNCATED] = INSIDE[:, None].tolist()
        each = [own.get(kind) or np.eye(states).tolist() for kind, states in self.units]
        return np.array([sum(parts, []) for parts in itertools.product(*each)], dtype=np.float64)

    def log_z(self):
        """Return log Z: a sum, over real units an integral."""
        log_p = self.log_density(self.states)
        cells = STEP ** sum(kind in REAL for kind, _ in self.units)
        return log_p.max() + np.log(np.exp(log_p - log_p.max()).sum() * cells)

    def draws(self, n, seed):
        """Return independent draws from the exact distribution, in columns."""
        rng = np.random.default_rng(seed)
        log_p = self.log_density(self.states)
        p = np.exp(log_p - log_p.max())
        found = self.states[rng.choice(len(p), n, p=p / p.sum())]
        real = np.isin(self.kinds, REAL)
        found[:, real] += rng.uniform(-STEP / 2, STEP / 2, (n, real.sum()))
        return found.astype(self.dtype)

    def sample_hidden(self, X, rng):
        """Return draws of the hidden units."""
        X = np.ascontiguousarray(X, self.dtype)
        net, sample = (np.empty((len(X), self.n_hidden), self.dtype) for _ in range(2))
        with one_blas_thread():
            gibbs.step_hidden(self.layers(), X, gibbs.Address(rng, 9, 0, 0), net, sample)
        return sample


def exact_mean(units, net, precision):
    """Return the means of units at these net inputs, (rows, columns) float64."""
    mean, column = np.empty(net.shape), 0
    for kind, states in units:
        own = net[:, column : column + states].astype(np.float64)
        if kind == CATEGORICAL:
            e = np.exp(own - own.max(axis=1, keepdims=True))
            value = e / e.sum(axis=1, keepdims=True)
        elif kind == GAUSSIAN:
            value = own / precision[column]
        elif kind == TRUNCATED:
            value = as_normals(own, precision[column]).mean()
        else:
            value = np.tanh(own) if kind == SPIN else 1 / (1 + np.exp(-own))
        mean[:, column : column + states] = value
        column += states
    return mean


def as_normals(net, precision):
    """Return truncated units at these net inputs as SciPy has them."""
    centre, scale = net / precision, precision**-0.5
    a, b = ((end - centre) / scale for end in ENDS)
    return stats.truncnorm(a, b, centre, scale)


def exact_log_norm(units, net, precision):
    """Return the sum of the units' log-normalisers, but for the constants of real ones."""
    total, column = np.zeros(len(net)), 0
    for kind, states in units:
        own = net[:, column : column + states].astype(np.float64)
        if kind == GAUSSIAN:
            total += own[:, 0] ** 2 / (2 * precision[column])
        elif kind == TRUNCATED:
            sides = stats.norm(own[:, 0] / precision[column], precision[column] ** -0.5)
            mass = sides.cdf(ENDS[1]) - sides.cdf(ENDS[0])
            total += own[:, 0] ** 2 / (2 * precision[column]) + np.log(mass)
        elif kind == CATEGORICAL:
            total += np.logaddexp.reduce(own, axis=1)
        else:
            total += np.logaddexp(-own if kind == SPIN else 0.0, own)[:, 0]
        column += states
    return total
