"""Which models with Gaussian visible units have a density."""

import numpy as np
import pytest

import trug_fast as tf


def test_what_cannot_be_normalized_is_refused():
    def build(weights, upper=np.inf, d=1.0):
        return tf.TruGRBM(weights, 0, 0, d, 0.0, upper, visible_precision=[1.0, 4.0])

    with pytest.raises(
        ValueError, match=r"unit 1, which.* is 1\.25, .*below the unit's precision 1"
    ):
        build([[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"norm of A\^-1/2 W D\^-1/2 is 1\.131, below 1 is safe"):
        build([[0.8, 0.8], [0.0, 0.0]])  # neither alone, but both together
    for model in (
        build([[0.0, 1.0], [0.0, 1.0]], upper=5.0),
        build([[0.0, 1.0], [0.0, 1.0]], d=1.3),
        build([[0.0, 1.0], [0.0, 1.0]], upper=[np.inf, 9.0]),
        build([[0.8, -0.8], [0.0, 0.0]]),  # copositive: the units keep each other in check
    ):
        assert np.isfinite(model.free_energy(np.zeros((1, 2)))).all()
    tf.BernoulliRBM([[9.0], [9.0]], 0, 0, visible_precision=1.0)


def open_model(weights, visible="relu", lower=0.0, upper=np.inf):
    weights = np.array(weights, np.float64)
    return tf.TruGRBM(weights, 0, 0, 1.0, lower, upper, 1.0, visible=visible)


def energy_falls(weights, lower=0.0):
    """Tell whether some h and the best x for it, where both can go, make x'x + h'h < 2 x'Wh."""
    angles = np.linspace(0, 2 * np.pi, 20001)
    h = np.array([np.cos(angles), np.sin(angles)])
    h = h[:, (h >= 0).all(axis=0)] if lower == 0.0 else h
    return ((np.maximum(np.array(weights) @ h, 0) ** 2).sum(axis=0) >= 1).any()


@pytest.mark.parametrize(("lower", "scale"), [(0.0, 0.6), (-np.inf, 0.45)])
def test_of_units_with_one_end_what_is_refused_has_no_density_or_is_said_to_be_unsure(lower, scale):
    # Every direction of two hidden units is tried; up to a sixth are refused as unsure.
    rng = np.random.default_rng(0)
    told = {"fine": 0, "too": 0, "may": 0}
    for _ in range(300):
        weights = rng.normal(0.0, scale, (3, 2))
        falls = energy_falls(weights, lower)
        try:
            open_model(weights, lower=lower)
        except ValueError as error:
            may = "may be too large" in str(error)
            assert may or "are too large" in str(error)
            assert falls != may
            told["may" if may else "too"] += 1
        else:
            assert not falls
            told["fine"] += 1
    assert told["fine"] > 60 and told["too"] > 60 and told["may"] < 60, told


def test_what_each_message_says():
    with pytest.raises(ValueError, match=r"that drive both on is 1\.28, .* unit's precision 1;"):
        open_model([[0.8, -5.0], [0.8, 0.0]])
    with pytest.raises(ValueError, match=r"drive each other on 1\.131 times as strongly"):
        open_model([[0.8, 0.8], [-5.0, -5.0]])
    with pytest.raises(ValueError, match=r"weights may be too large .* on is 0\.8485, 1 would be"):
        open_model([[0.6, 0.6], [0.6, -5.0], [-5.0, 0.6]])
    # The positive parts alone are of norm 1.04; the units hold each other back.
    model = open_model([[0.6, 0.6], [0.6, -0.5], [-0.5, 0.6]])
    assert np.isfinite(model.free_energy(np.ones((1, 3)))).all()
    mirrored = open_model([[0.6, -0.6]], lower=[0, -np.inf], upper=[np.inf, 0])
    assert np.isfinite(mirrored.free_energy(np.ones((1, 1)))).all()
