"""Figures of many rows hold what they promise; looking at them is a person's part."""

import inspect

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from trug_fast import plots

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_inputs_of_a_unit(kind, tmp_path):
    model = model_of(kind, n_visible=9, n_hidden=7)
    X = RNG.integers(0, 2, (200, 9))
    weights = RNG.random(200)
    ax = plots.unit_inputs(model, X, 3, sample_weight=weights)
    curve, rows = ax.lines
    np.testing.assert_allclose(
        rows.get_xdata(), X @ model.weights[:, 3] + model.hidden_bias[3], rtol=1e-5
    )
    np.testing.assert_allclose(rows.get_ydata(), model.hidden_moments(X).mean[:, 3], rtol=1e-4)
    assert np.isfinite(curve.get_ydata()).all()
    bars = [patch.get_height() for patch in ax.figure.axes[1].patches]
    assert abs(sum(bars) - 1) < 1e-9
    plots.save(ax, tmp_path / "a.png")
    with pytest.raises(ValueError, match="unit must be less than n_hidden=7"):
        plots.unit_inputs(model, X, 7)
    with pytest.raises(TypeError, match="model must be a TruGRBM or BernoulliRBM"):
        plots.unit_inputs(X, model, 3)


@pytest.mark.skipif(
    "visible" not in inspect.signature(tf.TruGRBM).parameters,
    reason="models have no categorical visible units",
)
def test_inputs_of_a_unit_that_sees_letters():
    letters, weights = RNG.integers(0, 5, (40, 6)), RNG.normal(size=(6, 5, 2))
    options = {"visible": "categorical"}
    model = tf.TruGRBM(weights, 0.0, 0.3, 1.0, 0.0, 2.0, **options)
    _, rows = plots.unit_inputs(model, letters, 1).lines
    np.testing.assert_allclose(
        rows.get_ydata(), model.hidden_moments(letters).mean[:, 1], rtol=1e-4
    )


def test_letters_on_the_weights_of_two_units():
    letters, weights = RNG.integers(0, 5, (40, 6)), RNG.normal(size=(6, 5, 2))
    ax = plots.projection(letters, letters[:7], axes=weights)
    hot = np.eye(5)[letters].reshape(40, -1)
    expected = hot @ weights.reshape(30, 2)
    for line, rows in zip(ax.lines, (expected, expected[:7]), strict=True):
        np.testing.assert_allclose(line.get_xydata(), rows)
    flat = plots.projection(hot, axes=weights.reshape(30, 2))
    np.testing.assert_allclose(flat.lines[0].get_xydata(), expected)


def test_principal_axes():
    letters = RNG.integers(0, 3, (300, 4))
    letters[:, 1] = letters[:, 0]
    hot = np.eye(3)[letters].reshape(300, -1)
    _, values, axes = np.linalg.svd(hot - hot.mean(axis=0), full_matrices=False)
    for ax in (plots.projection(letters, n_states=3), plots.projection(hot)):
        found = ax.lines[0].get_xydata()
        np.testing.assert_allclose(np.abs(found), np.abs(hot @ axes[:2].T), atol=1e-5)
        share = values[0] ** 2 / (values**2).sum()
        assert ax.get_xlabel() == f"first principal axis ({100 * share:.0f} %)"


@pytest.mark.parametrize("count", [300, 5000])
def test_correlations(count, tmp_path):
    x = RNG.normal(size=(count // 10, 10))
    y = 0.5 * x + 0.1 * RNG.normal(size=x.shape)
    ax = plots.correlations(x, y)
    slope, pearson = np.polyfit(x.ravel(), y.ravel(), 1)[0], np.corrcoef(x.ravel(), y.ravel())[0, 1]
    assert ax.get_title() == f"slope {slope:.2f}, Pearson {pearson:.2f}"
    assert bool(ax.collections) == (count > 3000)
    ends = ax.lines[-1].get_xydata()
    np.testing.assert_allclose((ends[1] - ends[0])[1] / (ends[1] - ends[0])[0], slope)
    plots.save(ax, tmp_path / "a.png")


def test_what_is_refused():
    with pytest.raises(ValueError, match="data and samples must be finite numbers of one shape"):
        plots.correlations(np.ones(4), np.ones(3))
    with pytest.raises(ValueError, match="data and samples must vary"):
        plots.correlations(np.ones(4), np.ones(4))
    letters = RNG.integers(0, 5, (40, 6))
    with pytest.raises(ValueError, match=r"axes must have shape \(columns, 2\)"):
        plots.projection(letters, axes=np.ones((6, 3)))
    with pytest.raises(ValueError, match="n_states has no effect with axes"):
        plots.projection(letters, axes=np.ones((6, 5, 2)), n_states=5)
    with pytest.raises(ValueError, match="data must hold whole numbers from 0 to 3, got 4"):
        plots.projection(letters, axes=np.ones((6, 4, 2)))
    with pytest.raises(ValueError, match="samples must have 6 columns, got 5"):
        plots.projection(letters, letters[:, 1:], n_states=5)
    with pytest.raises(ValueError, match="data must have two columns or more, got 1"):
        plots.projection(letters[:, :1])
    assert tf.plots.projection(letters).lines
