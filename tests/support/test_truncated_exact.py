"""Exact results of truncated visible units, the package's and the oracle's, against integrals."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support import truncated_exact as oracle

INTERVALS = {"relu": (0.0, 16.0), "truncated": (0.0, 1.0), (-np.inf, 0.5): (-16.0, 0.5)}


def small(visible, n_visible, upper, hidden="trug", n_hidden=3, seed=0):
    """Return a model of a few units."""
    rng = np.random.default_rng(seed)
    scale = 0.5 if np.isfinite(upper) else 0.25
    weights, b = rng.normal(0, scale, (n_visible, n_hidden)), rng.normal(0, 0.5, n_visible)
    c, a = rng.normal(0, 0.5, n_hidden), rng.uniform(0.8, 2, n_visible)
    kinds = tf.TruncatedUnits(visible) if isinstance(visible, tuple) else visible
    if hidden == "bernoulli":
        return tf.BernoulliRBM(weights, b, c, a, visible=kinds)
    return tf.TruGRBM(weights, b, c, 1.3, 0.0, upper, a, visible=kinds)


def exact_of(model):
    """Return what has exact results of a model: the package, else the oracle."""
    return oracle if isinstance(model, tf.TruGRBM) else tf.exact


def by_quadrature(model, low, high):
    """Return log Z by Gauss-Legendre nodes over all visible units."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    half = (high - low) / 2
    grids = np.meshgrid(*[low + (nodes + 1) * half] * model.n_visible)
    shares = np.meshgrid(*[weights * half] * model.n_visible)
    rows = np.stack([grid.ravel() for grid in grids], axis=1)
    log_w = np.sum([np.log(share.ravel()) for share in shares], axis=0)
    return np.logaddexp.reduce(log_w - model.free_energy(rows))


def differences(model, X, shift=1e-5):
    """Return the gradient of the mean exact log-likelihood by differences."""
    found = {}
    for name in model.names:
        own = getattr(model, name)
        found[name] = np.zeros(own.shape)
        for index in np.ndindex(own.shape):
            if np.isinf(own[index]):
                continue
            ends = []
            for sign in (1, -1):
                moved = {key: value.copy() for key, value in model.arrays().items()}
                moved[name][index] += sign * shift
                other = type(model)(**moved, visible=model.runs)
                ends.append(exact_of(other).log_likelihood(other, X).mean())
            found[name][index] = (ends[0] - ends[1]) / (2 * shift)
    return found


@pytest.mark.parametrize("n_visible", [1, 2])
@pytest.mark.parametrize(("hidden", "upper"), [("trug", 2.0), ("trug", np.inf), ("bernoulli", 1.0)])
@pytest.mark.parametrize("visible", INTERVALS)
def test_log_z_and_gradients(visible, hidden, upper, n_visible):
    model = small(visible, n_visible, upper, hidden)
    log_z = exact_of(model).log_partition(model)
    assert log_z == pytest.approx(by_quadrature(model, *INTERVALS[visible]), abs=1e-10)
    if n_visible == 1 or hidden == "bernoulli":
        X = model.sample(5, n_gibbs=5, rng=0)
        gradient = exact_of(model).gradient(model, X)
        for name, value in differences(model, X).items():
            np.testing.assert_allclose(gradient[name], value, atol=2e-8)


@pytest.mark.parametrize("upper", [2.0, np.inf])
@pytest.mark.parametrize("visible", ["relu", "truncated"])
def test_layers_may_be_exchanged(visible, upper, monkeypatch):
    model = small(visible, 2, upper, n_hidden=2)
    own = oracle.log_integral(model), oracle.expectations(model)
    monkeypatch.setattr(oracle, "_few_visible", oracle._exchanged)
    assert oracle.log_integral(model) == pytest.approx(own[0], abs=1e-11)
    for name, value in oracle.expectations(model).items():
        np.testing.assert_allclose(value, own[1][name], atol=1e-10)


def test_many_visible_units_above_few_hidden_ones():
    one = small("truncated", 6, 2.0, n_hidden=1)
    held = one.clamped([0.5] * 4 + [np.nan] * 2)
    assert oracle.log_partition(held) == pytest.approx(by_quadrature(held, 0, 1), abs=1e-10)
    # All but two are held at nodes, with their weights, to integrate over these.
    nodes, weights = np.polynomial.legendre.leggauss(6)
    three = small("truncated", 3, 2.0, n_hidden=2)
    total = []
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        part = oracle.log_partition(three.clamped([node, np.nan, np.nan]))
        energy = node * three.visible_bias[0] - node**2 * three.visible_precision[0] / 2
        total.append(np.log(weight) + energy + part)
    assert oracle.log_partition(three) == pytest.approx(np.logaddexp.reduce(total), abs=1e-8)


def test_beside_units_of_other_kinds():
    kinds = ["spin", "relu", tf.CategoricalUnits(3)]
    weights = np.random.default_rng(0).normal(0, 0.4, (5, 2))
    model = tf.TruGRBM(weights, 0.1, 0.2, 1.0, 0.0, 2.0, 1.5, visible=kinds)
    parts = []
    for spin in (-1, 1):
        for state in range(3):
            given = model.clamped([spin, np.nan, state])
            linear = 0.1 * (spin + 1)
            parts.append(linear + by_quadrature(given, 0.0, 16.0))
    assert oracle.log_partition(model) == pytest.approx(np.logaddexp.reduce(parts), abs=1e-10)
    X = model.sample(4, n_gibbs=5, rng=0)
    gradient = oracle.gradient(model, X)
    assert set(gradient) == set(model.names)
    assert (gradient["visible_precision"][[0, 2, 3, 4]] == 0).all()
    moved = model.arrays() | {"visible_precision": np.array([1, 1.5 + 1e-5, 1, 1, 1])}
    up = oracle.log_likelihood(tf.TruGRBM(**moved, visible=model.runs), X).mean()
    moved["visible_precision"] = np.array([1, 1.5 - 1e-5, 1, 1, 1])
    down = oracle.log_likelihood(tf.TruGRBM(**moved, visible=model.runs), X).mean()
    assert gradient["visible_precision"][1] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_units_without_any_end():
    # Gaussian h summed out: x half-normal with x^2 (1 - w^2) in its exponent.
    model = tf.TruGRBM([[0.6]], 0, 0, 1, -np.inf, np.inf, 1.0, visible="relu")
    exact = 0.5 * np.log(2 * np.pi) + np.log(np.sqrt(np.pi / 2) / np.sqrt(1 - 0.36))
    assert oracle.log_partition(model) == pytest.approx(exact, abs=1e-9)


def test_too_many_units_are_refused():
    with pytest.raises(ValueError, match="at most 2 of them, or 2 TruG hidden units"):
        oracle.log_partition(small("relu", 3, 2.0))


@pytest.mark.parametrize("visible", ["truncated", ["relu", "spin"]])
def test_the_package_offers_them_beside_bernoulli_hidden_units_alone(visible):
    weights = np.zeros((2, 1))
    model = tf.TruGRBM(weights, 0, 0, 1, 0, 1, 1.0, visible=visible)
    for call in (
        lambda: tf.exact.log_partition(model),
        lambda: tf.exact.log_likelihood(model, [[1, 1]]),
        lambda: tf.exact.gradient(model, [[1, 1]]),
        lambda: tf.log_conditional(model, [[1, 1]], [False, True], method="exact"),
    ):
        words = "22 Bernoulli hidden units; anneal instead: log_partition, or method='annealing'"
        with pytest.raises(ValueError, match=words):
            call()
    many = tf.BernoulliRBM(np.zeros((2, 23)), 0, 0, 1.0, visible=visible)
    with pytest.raises(ValueError, match="up to 22 Bernoulli hidden units; anneal instead"):
        tf.exact.log_partition(many)
