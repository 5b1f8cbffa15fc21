"""Temporal models: generation, files, what is refused.

Filter and forecasts are tested in test_sequences.py and test_prediction.py, exact values in
evaluation/exact/test_trbm.py.
"""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import exact_predictions, temporal_model


@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "gaussian"])
def test_files_and_generation(kind, tmp_path):
    model = temporal_model(kind)
    model.save(tmp_path / "m.npz")
    again = type(model).load(tmp_path / "m.npz")
    assert again.visible == ("gaussian" if kind == "gaussian" else "bernoulli")
    first = model.generate(6, rng=0)
    np.testing.assert_array_equal(first, again.generate(6, rng=0))
    assert kind == "gaussian" or set(np.unique(first)) <= {0.0, 1.0}
    means = model.generate(3, rng=0, prefix=first, return_mean=True)
    assert kind == "gaussian" or ((means > 0) & (means < 1)).all()


def test_generated_frames_follow_the_model():
    # The first frame of 500 sequences against the exact means; 5 standard errors, 4 numbers.
    model = temporal_model()
    draws = np.array([model.generate(1, rng=k, n_gibbs=20)[0] for k in range(500)])
    exact = exact_predictions(model, np.zeros((1, 4)))[0]
    assert (abs(draws.mean(0) - exact) < 5 * np.sqrt(exact * (1 - exact) / 500)).all()


@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "gaussian"])
def test_the_next_frame_is_an_rbm(kind):
    model = temporal_model(kind, n_visible=2, n_hidden=2)
    x = np.random.default_rng(0).integers(0, 2, (3, 2))
    each = tf.evaluation.frame_log_likelihood(model, [x], method="exact").value[0]
    for t in range(3):
        frame = model.next_frame(x[:t] if t else None)
        found = tf.exact.log_likelihood(frame, x[t : t + 1])[0]
        assert found == pytest.approx(each[t], abs=1e-12)
    with pytest.raises(ValueError, match="prefix must have 2 columns"):
        model.next_frame([[1, 0, 0]])


def test_what_cannot_be_normalized_is_refused():
    n, m = 3, 2
    rest = (np.zeros((m, n)), np.zeros((n, n)), np.zeros((m, m)), 0, 0, 0, 0, 1.0, 0.0)
    large = np.full((n, m), 0.7)  # norm 1.7
    tf.TruGTRBM(large, *rest, 4.0, visible_precision=1.0)
    with pytest.raises(ValueError, match="too large to normalize"):
        tf.TruGTRBM(large, *rest, np.inf, visible_precision=1.0)
    # Of opposite signs the two units keep each other in check: copositive, not positive definite.
    opposed = np.array([[0.8, -0.8], [0.0, 0.0], [0.0, 0.0]])
    tf.TruGTRBM(opposed, *rest, np.inf, visible_precision=1.0)
    with pytest.raises(ValueError, match="visible_precision must be positive"):
        tf.TruGTRBM(large, *rest, 1.0, visible_precision=0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"visible_to_hidden": np.zeros((3, 2))}, "visible_to_hidden must have shape"),
        ({"hidden_bias": [0.0]}, "hidden_bias must be a number or have shape"),
        ({"lower": 2.0}, "lower must be below upper"),
    ],
)
def test_bad_parameters(change, words):
    good = {
        "weights": np.zeros((3, 2)),
        "visible_to_hidden": np.zeros((2, 3)),
        "visible_to_visible": np.zeros((3, 3)),
        "hidden_to_hidden": np.zeros((2, 2)),
        "precision": 1.0,
        "lower": 0.0,
        "upper": 1.0,
    } | {f"{i}{k}_bias": 0.0 for i in ("", "initial_") for k in ("visible", "hidden")}
    tf.TruGTRBM(**good)
    with pytest.raises(ValueError, match=words):
        tf.TruGTRBM(**(good | change))
