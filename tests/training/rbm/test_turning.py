"""Data with phases that a map takes into each other: chains must stay in all of them."""

import itertools
import warnings

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, with_interrupts
from tests.support.models import model_of
from tools import magnets
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm import gibbs, turning, updates
from trug_fast.kernels.rbm.turning import EVERY, GROUPS, Turns
from trug_fast.training.rbm.defaults import BEST_TRUNCATION, SYMMETRIC, ByData, usual_truncation
from trug_fast.training.rbm.turning import for_kernels, turns_of
from trug_fast.training.steps import Steps
from trug_fast.units.layer import Layer, run_of

MAGNET = (6, 1.9)
interrupts = pytest.fixture(with_interrupts)


@pytest.fixture(scope="module")
def magnet():
    return magnets.magnet(*MAGNET, 3000, 5, 0)


def below(model, rows):
    """Return how far rows are below their true log-probability, exactly."""
    truth = -magnets.energy(rows) / MAGNET[1] - magnets.log_z(*MAGNET)
    return (truth - tf.exact.log_likelihood(model, rows)).mean()


def trained(rows, **options):
    return tf.train_rbm(rows, monitor=None, progress=False, rng=0, **options).model


def test_an_ordinary_rbm_keeps_both_phases_of_a_magnet(magnet, monkeypatch):
    rows = magnets.magnet(*MAGNET, 1000, 20, 1)
    options = {"n_hidden": 12, "hidden": "bernoulli", "visible": "spin"}
    model = trained(magnet, **options)
    assert below(model, rows) < 3.0
    odds, error = magnets.log_odds(model, magnet, 0)
    assert abs(odds) < 0.3 + 3 * error
    monkeypatch.setattr(ByData, "turns", lambda self, runs: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tf.training.TrainingWarning)
        without = trained(magnet, **options)
    assert below(without, rows) > 2 * below(model, rows)


@pytest.mark.parametrize("hidden", ["bernoulli", "trug"])
@pytest.mark.parametrize("kind", ["spin", "bernoulli", "categorical"])
def test_phases_of_unequal_shares_keep_them(magnet, hidden, kind):
    up = np.where(magnet.sum(axis=1) < 0, -1, 1)[:, None] * magnet
    rows = np.where(np.random.default_rng(0).random((len(up), 1)) < 0.7, up, -up)
    X = rows if kind == "spin" else (rows + 1) // 2
    visible = tf.CategoricalUnits(2) if kind == "categorical" else kind
    model = trained(X, n_hidden=12, hidden=hidden, visible=visible)
    # Each phase's own log-probability, by annealing; shares by rows turned over.
    turned = -rows if kind == "spin" else 1 - X
    drawn = model.sample(start=X[::3], n_gibbs=300, rng=0)
    share = (drawn.mean(axis=1) > X.mean() / 2 + turned.mean() / 2).mean()
    assert share == pytest.approx(0.7, abs=0.07)


@pytest.mark.parametrize("reflected", [slice(None), slice(0, None, 2)])
def test_turns_leave_the_distribution_as_it_is(reflected):
    # Chains begin at exact draws of a model with fields, of which turned rows are less probable.
    model, n = model_of("[0,1]"), 40_000
    states = np.array(list(itertools.product([0.0, 1.0], repeat=model.n_visible)))
    p = np.exp(tf.exact.log_likelihood(model, states))
    rng = np.random.default_rng(0)
    rows = states[rng.choice(len(states), n, p=p / p.sum())]
    chains = gibbs.Chains.new(np.zeros_like(rows), model.n_hidden)
    chains.hidden[:] = model.sample_hidden(rows, rng=1)
    count = model.n_visible
    turns = Turns(np.tile(np.arange(count), (2, 1)), *np.ones((4, count)))
    turns.shift[:] = 0.0
    turns.sign[reflected], turns.shift[reflected] = -1.0, 1.0
    turns = for_kernels(turns, float)
    assert turns.whole == (reflected == slice(None))
    rule, paces, none = (
        Steps(tf.training.SGD()).rule(0.0),
        np.zeros((1, updates.PACES)),
        np.empty(0),
    )
    course = updates.Course(paces, rule, updates.PERSISTENT, True, 1, 0, 0, none, none[None], turns)
    batch = gibbs.Phase.new(rows, model.n_hidden)
    with one_blas_thread():
        for update in range(2 * EVERY + 1):  # the last of which offers turns
            updates.run_chains_from(model.layers(), batch, chains, course, update, 1, 5 + update)
    exact = model.hidden_moments(states)
    mean = p @ exact.mean
    error = np.sqrt((p @ (exact.variance + exact.mean**2) - mean**2) / n)
    assert abs((chains.hidden.mean(axis=0) - mean) / error).max() < 4
    # Some were turned: their net inputs are not those of the rows in the phase.
    own = chains.phase.visible @ model.weights + model.hidden_bias
    away = (abs(chains.phase.net - own) > 1e-9).any(axis=1)
    assert 0 < away.mean() < 1 / GROUPS


def test_what_a_turn_adds_is_what_energies_differ_by():
    kinds = ("spin", "gaussian", tf.CategoricalUnits(3), "bernoulli")
    runs = tuple(run_of(kind, 3) for kind in kinds)
    precision = np.where(np.arange(18) // 3 == 1, 2.5, 0.0)
    units, rng = Layer(runs, precision), np.random.default_rng(0)
    bias, source, sign, shift = rng.normal(size=18), np.arange(18), np.ones(18), np.zeros(18)
    there = source.copy()
    there[6:9] = 7, 8, 6  # one categorical unit goes round
    sign[[0, 3, 4, 15]], shift[[3, 4, 15]] = -1.0, (0.3, -0.2, 1.0)
    layers = tf.BernoulliRBM(np.zeros((18, 1)), bias, np.zeros(1)).layers()
    layers = layers._replace(visible_kinds=units.as_visible(float))
    turns = for_kernels(Turns(np.array([there, source]), sign, shift, shift, shift), float)
    rows, slope = rng.normal(size=(4, 18)), np.empty(18)
    constant = turning.slope_of(layers, turns, 0, slope)
    own, turned = (x @ bias - (x**2 @ precision) / 2 for x in (rows, shift + sign * rows[:, there]))
    assert rows @ slope + constant == pytest.approx(turned - own, abs=1e-12)


def sides(rows, columns, seed=0):
    """Return rows of two phases, each the other turned over, with shares of 0.7 and 0.3."""
    rng = np.random.default_rng(seed)
    return (rng.random((rows, columns)) < 0.1) ^ (rng.random((rows, 1)) < 0.3)


def test_which_data_are_turned_and_how():
    bits = sides(500, 40).astype(float)
    turns = turns_of(bits, (run_of("bernoulli", 40),))
    assert (turns.sign == -1).all() and (turns.shift == 1).all()
    turns = turns_of(2 * bits - 1, (run_of("spin", 40),))
    assert (turns.sign == -1).all() and (turns.shift == 0).all()
    real = 2 * bits - 1 + 0.3 * np.random.default_rng(1).normal(size=bits.shape)
    turns = turns_of(real, (run_of("gaussian", 40),))
    assert abs(turns.shift).max() < 0.3
    # Three states that go round: there and back again.
    letters = (np.random.default_rng(2).integers(3, size=(600, 1)) + (sides(600, 20) & 1)) % 3
    one_hot = np.eye(3)[letters].reshape(600, -1)
    turns = turns_of(one_hot, (run_of(tf.CategoricalUnits(3), 20),))
    there, back = turns.source
    assert (there[back] == np.arange(60)).all() and (there != np.arange(60)).all()


def test_other_data_are_not_turned():
    rng = np.random.default_rng(0)
    patterns = rng.random((2, 40)) < [[0.2], [0.6]]  # of which neither is the other turned over
    rows = patterns[rng.integers(2, size=500)] ^ (rng.random((500, 40)) < 0.1)
    few = np.array([[0.05], [0.4]])[rng.integers(2, size=500)]
    noise = rng.random((500, 40)) < few
    assert turns_of(noise.astype(float), (run_of("bernoulli", 40),)) is None
    assert turns_of(noise[:, :1] * np.ones(40), (run_of("relu", 40),)) is None
    assert ByData(rows.astype(float), None, 1.0).turns((run_of("bernoulli", 40),)) is None


def test_units_are_cut_on_both_sides_alike_where_turned_data_look_like_data(magnet):
    bits, fewer = (magnet + 1) // 2, np.random.default_rng(0).random((500, 40)) < 0.2
    fixed = np.column_stack([bits, np.ones(len(bits))])  # a column that does not vary
    noise = magnets.magnet(6, 3.0, 1000, 5, 0)
    for rows in (magnet, bits, fixed, noise, magnet[: len(magnet) // 2]):
        assert usual_truncation(rows, real=False) == SYMMETRIC
    missing = np.where(np.random.default_rng(1).random(noise.shape) < 0.05, np.nan, noise)
    assert usual_truncation(missing, real=False) == SYMMETRIC
    letters = np.eye(3)[np.random.default_rng(2).integers(3, size=(500, 20))].reshape(500, -1)
    ones = np.ones((50, 3))
    for rows, real in ((magnet * 1.0, True), (fewer, False), (letters, False), (ones, False)):
        assert usual_truncation(rows, real=real) == BEST_TRUNCATION
    given = {"n_hidden": 4, "epochs": 1, "visible": "spin"}
    model = trained(noise, **given)
    assert (model.lower == -4).all() and abs(model.upper - 4).max() < 0.5
    assert (trained(noise, truncation="tanh", **given).upper == 1).all()  # what is given is taken
    again = trained(noise, start=trained(noise, truncation=(0, 4), **given), **given)
    assert (again.lower == 0).all()  # and so are a model's


def test_a_magnet_without_phases_is_learned_better_by_symmetric_units():
    # 0.08 nats below the truth against 0.10 to 0.12, by four seeds.
    rows, others = (magnets.magnet(4, 3.0, n, k, n) for n, k in ((3000, 5), (1000, 20)))
    found = [
        tf.exact.log_likelihood(trained(rows, n_hidden=16, visible="spin", **given), others).mean()
        for given in ({}, {"truncation": BEST_TRUNCATION})
    ]
    assert found[0] > found[1] + 0.01


def test_a_run_of_turned_chains_goes_on_to_the_same_bits(magnet, tmp_path, monkeypatch, interrupts):
    options = {"n_hidden": 8, "visible": "spin", "epochs": 2, "monitor": None, "rng": 0}
    whole, path = tf.train_rbm(magnet, **options), tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 90)
        with pytest.warns(UserWarning, match="interrupted"):
            assert tf.train_rbm(magnet, **options, checkpoint=path).interrupted
    resumed = tf.train_rbm(magnet, **options, checkpoint=tf.training.Checkpoint(path, resume=True))
    assert_same(whole, resumed)
