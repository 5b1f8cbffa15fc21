"""Visible units of any kind: means, draws, sweeps, gradients and annealing, against exact ones."""

import numba
import numpy as np
import pytest
from scipy import stats

from tests.support.gradients import estimate
from tests.support.visible import (
    ENDS,
    REAL,
    UNITS,
    Handmade,
    exact_log_norm,
    exact_mean,
    spans_of,
)
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.bridges import paths
from trug_fast.evaluation.bridges.bridge import Bridge
from trug_fast.kernels.random.philox import HIDDEN, VISIBLE
from trug_fast.kernels.rbm import gibbs, tempering
from trug_fast.kernels.rbm.visible import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    SPIN,
    TRUNCATED,
    visible_kinds,
)
from trug_fast.training.rbm.negatives import Replicas

# Several tiles, and units that end tiles early or fill more than one.
WIDE = (
    [(BERNOULLI, 1)] * 70
    + [(CATEGORICAL, 21)] * 9
    + [(SPIN, 1)] * 5
    + [(CATEGORICAL, 150)]
    + [(GAUSSIAN, 1)] * 3
    + [(TRUNCATED, 1)] * 70
    + [(CATEGORICAL, 2)] * 40
    + [(CATEGORICAL, 3)]
)
KINDS = sorted(UNITS)


def step(model, hidden, *, seed=1, kinds=None):
    """Return means and draws of the visible units given hidden ones."""
    layers = model.layers()
    if kinds is not None:
        layers = layers._replace(visible_kinds=kinds)
    mean, sample = (np.empty((len(hidden), model.n_visible), model.dtype) for _ in range(2))
    hidden = np.ascontiguousarray(hidden, model.dtype)
    with one_blas_thread():
        gibbs.step_visible(layers, hidden, gibbs.Address(seed, VISIBLE, 0, 0), mean, sample)
        only = np.empty_like(mean)
        gibbs.step_visible(layers, hidden, gibbs.Address(seed, VISIBLE, 0, 0), only, mean[:0])
    np.testing.assert_allclose(only, mean, rtol=1e-5, atol=1e-30)
    return mean, sample


def code_of(model, X):
    """Return a number for each row: the states of its units, real ones in three classes."""
    code, column = np.zeros(len(X), np.int64), 0
    for kind, states in model.units:
        own = X[:, column : column + states]
        if kind in REAL:
            code = code * 3 + np.digitize(own[:, 0], [-0.3, 0.5])
        elif kind == CATEGORICAL:
            code = code * states + own.argmax(axis=1)
        else:
            code = code * 2 + (own[:, 0] > 0)
        column += states
    return code


def require_distribution(model, X, log_p):
    """Chi-square of independent rows: fails by chance in 1e-6 of seeds."""
    p = np.exp(log_p - log_p.max())
    codes = code_of(model, model.states)
    expected = np.bincount(codes, p / p.sum()) * len(X)
    counts = np.bincount(code_of(model, X), minlength=len(expected))
    assert stats.chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.parametrize(("dtype", "close"), [(np.float32, 2e-5), (np.float64, 3e-14)])
def test_means_of_all_kinds(dtype, close):
    model = Handmade(WIDE, dtype, scale=0.3)
    hidden = np.random.default_rng(0).random((5, 3)).astype(dtype)
    mean, sample = step(model, hidden)
    net = hidden.astype(float) @ model.weights.T.astype(float) + model.visible_bias
    exact = exact_mean(WIDE, net, model.precision)
    np.testing.assert_allclose(mean, exact, rtol=close, atol=close)
    column = 0
    for kind, states in WIDE:
        own = sample[:, column : column + states]
        if kind == CATEGORICAL:
            assert ((own == 1).sum(axis=1) == 1).all() and ((own == 0) | (own == 1)).all()
        elif kind == TRUNCATED:
            assert ((own >= ENDS[0]) & (own <= ENDS[1])).all()
        elif kind != GAUSSIAN:
            assert np.isin(own, [-1, 1] if kind == SPIN else [0, 1]).all()
        column += states


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [-1000.0, 0.0, 80.0, 1000.0])
def test_net_inputs_of_any_size(shift, dtype):
    # Beyond what exp can hold, and so far apart that all states but one or two are impossible.
    model = Handmade([(CATEGORICAL, 4)] * 3, dtype)
    model.weights[:] = 0
    model.visible_bias[:] = shift + np.array([0, 1, 2, 3, 0, 500, 500, -500, 700, 0, 0, 0])
    mean, sample = step(model, np.zeros((4000, 3)))
    exact = exact_mean(model.units, model.visible_bias[None], model.precision)
    np.testing.assert_allclose(mean, np.repeat(exact, 4000, axis=0), rtol=2e-6, atol=1e-30)
    assert (sample[:, 8] == 1).all() and (sample[:, [4, 7, 9, 10, 11]] == 0).all()
    for unit in range(3):
        own = slice(4 * unit, 4 * unit + 4)
        possible = exact[0, own] > 1e-30
        counts = sample[:, own].sum(axis=0)[possible]
        assert (
            stats.chisquare(counts, 4000 * exact[0, own][possible]).pvalue > 1e-6
            or len(counts) == 1
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_have_their_probabilities(dtype):
    # Chi-square of 20,000 draws of each unit, the smallest of 106 p-values: below 1e-8 by chance
    # in 1e-6 of seeds.
    units = [(CATEGORICAL, 2)] * 50 + [(CATEGORICAL, 21)] * 6 + [(SPIN, 1)] * 50
    model, rows = Handmade(units, dtype, scale=0.5), 20_000
    mean, sample = step(model, np.repeat([[0.2, 0.9, 0.4]], rows, axis=0))
    column, values = 0, []
    for kind, states in units:
        p, own = (
            mean[0, column : column + states].astype(float),
            sample[:, column : column + states],
        )
        counts = own.sum(axis=0) if kind == CATEGORICAL else [(own < 0).sum(), (own > 0).sum()]
        p = p / p.sum() if kind == CATEGORICAL else np.array([1 - p[0], 1 + p[0]]) / 2
        values.append(stats.chisquare(counts, p * rows).pvalue)
        column += states
    assert min(values) > 1e-8
    # Units and rows have numbers of their own.
    state = sample[:, 0::2][:, :50]
    correlation = np.corrcoef(state.T) - np.eye(50)
    assert abs(correlation).max() < 6 / np.sqrt(rows)
    assert abs(np.corrcoef(state[:-1, 0], state[1:, 0])[0, 1]) < 6 / np.sqrt(rows)


def test_draws_depend_neither_on_tiles_nor_on_threads():
    model = Handmade(WIDE, np.float32)
    model.weights[:] = 0  # products round by the tile's width
    hidden = np.zeros((300, 3))
    kinds = model.layers().visible_kinds
    whole = kinds._replace(cuts=np.array([0, model.n_visible]))
    many = kinds._replace(cuts=np.array([0, 1, 70, 91, 259, 264, 414, 415, model.n_visible]))
    first = step(model, hidden, kinds=kinds)
    for other in (whole, many):
        found = step(model, hidden, kinds=other)
        assert np.array_equal(found[0], first[0]) and np.array_equal(found[1], first[1])
    model = Handmade(WIDE, np.float32)
    runs_of = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        runs_of.append(sweeps(model, np.zeros((300, model.n_visible)), 3))
    assert np.array_equal(*runs_of)


def test_tiles_end_between_units():
    kinds = visible_kinds(spans_of(WIDE), np.ones(sum(states for _, states in WIDE)))
    edges = np.cumsum([0, *(states for _, states in WIDE)])
    assert np.isin(kinds.cuts, edges).all()
    assert kinds.cuts[0] == 0 and kinds.cuts[-1] == edges[-1] and (np.diff(kinds.cuts) > 0).all()
    plain = visible_kinds([(BERNOULLI, 0, 100, 1), (SPIN, 100, 150, 1)], np.empty(0))
    assert plain.cuts.tolist() == [0, 64, 128, 150]


def sweeps(model, start, n_gibbs):
    """Return where chains are after some sweeps."""
    chains = gibbs.Chains.new(np.array(start, model.dtype), model.n_hidden, statistics=False)
    with one_blas_thread():
        gibbs.run_chains(model.layers(), chains, n_gibbs, 5, 0)
    return chains.phase.visible


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_sweeps_are_stationary(kind, dtype):
    model = Handmade(UNITS[kind], dtype)
    start = model.draws(30_000, seed=1)
    end = sweeps(model, start, 2)
    require_distribution(model, end, model.log_density(model.states))
    assert (end != start).mean() > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_tempering_keeps_every_distribution(kind):
    model, betas, rows = Handmade(UNITS[kind]), (0.0, 0.4, 1.0), 10_000
    base = np.linspace(-0.4, 0.4, model.n_visible)
    layers, start, each = model.layers(), [], []
    replicas = Replicas(betas, rows, base, model.n_hidden)
    for k, t in enumerate(betas):
        hot = Handmade(UNITS[kind])
        hot.weights, hot.hidden_bias = t * model.weights, t * model.hidden_bias
        hot.visible_bias = (1 - t) * base + t * model.visible_bias
        start.append(hot.draws(rows, seed=k))
        each.append(hot)
    net = np.concatenate(start) @ model.weights + model.hidden_bias
    with one_blas_thread():
        replicas.states.net[:] = net
        tempering.draw_scaled(layers, replicas.states, gibbs.Address(11, HIDDEN, 0, 0))
        replicas.sweep(layers, 4, 3, 1)
    rates = replicas.rates(4)
    assert (rates > 0.1).all() and (rates < 1).all()
    for k, hot in enumerate(each):
        found = replicas.states.visible[k * rows : (k + 1) * rows]
        require_distribution(hot, found, hot.log_density(hot.states))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_exact_likelihood(kind):
    # As in tests/training/rbm/test_gradients.py.  20 repetitions give the standard error; of the 97
    # comparisons one exceeds 5.5 of them in 0.3 % of sets of seeds, which are fixed.
    model, shift = Handmade(UNITS[kind]), 1e-5
    data = Handmade(UNITS[kind], seed=3).draws(15, seed=2)

    def likelihood():
        return model.log_density(data).mean() - model.log_z()

    exact = {}
    for name in ("weights", "visible_bias", "hidden_bias"):
        values = getattr(model, name)
        exact[name] = np.empty_like(values)
        for index in np.ndindex(values.shape):
            kept = values[index]
            ends = []
            for sign in (1, -1):
                values[index] = kept + sign * shift
                ends.append(likelihood())
            values[index] = kept
            exact[name][index] = (ends[0] - ends[1]) / (2 * shift)
    found = [estimate(model, data, model.draws(3000, 100 + k), k)[0] for k in range(20)]
    for name, value in exact.items():
        draws = np.array([one[name] for one in found])
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert (abs(draws.mean(axis=0) - value) <= 5.5 * error + 1e-9).all(), name
        assert error.max() < 0.02, name


def leg(model, times, on_hidden, base):
    """Return a leg of annealing over these temperatures."""
    return Bridge(model.layers(), paths.along("quad", np.array(times), base), 1, on_hidden)


# Steps of all three sizes: one point, two points, the difference of log-normalisers.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", [(0.4, 0.4005), (0.4, 0.45), (0.4, 0.8), (1.0, 0.0), (1.0, 1.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_gains_of_a_step(kind, times, dtype):
    model = Handmade(UNITS[kind], dtype)
    base = np.linspace(-0.4, 0.4, model.n_visible)
    hidden = model.sample_hidden(model.draws(20, seed=1), 3)
    gain = leg(model, times, True, base).at(hidden).travel(1).log_weight
    h, log_p = hidden.astype(float), []
    for t in times:
        net = (1 - t) * base + t * (model.visible_bias + h @ model.weights.T.astype(float))
        log_p.append(t * h @ model.hidden_bias + exact_log_norm(model.units, net, model.precision))
    atol = 1e-9 if dtype == np.float64 else 3e-6
    np.testing.assert_allclose(gain, log_p[1] - log_p[0], rtol=1e-4, atol=atol)


@pytest.mark.parametrize("on_hidden", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_annealing_finds_the_exact_log_z(kind, on_hidden):
    # Five standard errors, which are below 0.02: exceeded by chance in 1e-6 of seeds, each of six.
    model, chains = Handmade(UNITS[kind], np.float32), 2000
    base = np.linspace(-0.4, 0.4, model.n_visible)
    whole = leg(model, paths.uniform(60), on_hidden, base)
    log_weight = whole.begun(chains).travel(60).log_weight
    weights = np.exp(log_weight - log_weight.max())
    error = weights.std() / weights.mean() / np.sqrt(chains)
    none = Handmade(UNITS[kind])
    none.weights, none.visible_bias, none.hidden_bias = 0 * none.weights, base, np.zeros(3)
    found = none.log_z() + log_weight.max() + np.log(weights.mean())
    assert error < 0.02 and abs(found - model.log_z()) < 5 * error
