"""The temporal machines: exact values, filter, predictions, files."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import exact_cases
from tests.support.temporal import temporal_model
from trug_fast.evaluation.exact import binary_states as states_of
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.prediction import predict_all
from trug_fast.models.sequences import as_sequences

CASES = {case["name"]: case for case in exact_cases() if case["kind"].startswith("trbm")}
BINARY = [name for name in CASES if "binary" in name]
GAUSS = [name for name in CASES if "gauss" in name]
NAMES = {
    "W1": "weights",
    "W2": "visible_to_hidden",
    "W3": "visible_to_visible",
    "W4": "hidden_to_hidden",
    "b": "visible_bias",
    "c": "hidden_bias",
    "b_init": "initial_visible_bias",
    "c_init": "initial_hidden_bias",
    "d": "precision",
    "xi1": "lower",
    "xi2": "upper",
    "a": "visible_precision",
}


def read(values):
    """A list of numbers, "inf" and null as an array; null becomes 0, the derivative at infinity."""
    if isinstance(values, list):
        return np.array([read(value) for value in values])
    return 0.0 if values is None else float(values)


def model_of(case):
    return tf.TruGTRBM(
        **(
            {"initial_visible_bias": 0, "initial_hidden_bias": 0}
            | {NAMES[k]: read(v) for k, v in case["params"].items()}
        )
    )


@pytest.mark.parametrize("name", BINARY)
def test_binary_cases(name):
    case = CASES[name]
    model, x, expected = model_of(case), read(case["x"]), case["expected"]
    np.testing.assert_allclose(model.filter(x), read(expected["h_filtered"]), atol=1e-14)
    np.testing.assert_allclose(
        [f.log_likelihood for f in temporal_exact._frames(model, x)],
        read(expected["logp"]),
        atol=1e-12,
    )
    assert abs(tf.exact.log_likelihood(model, [x])[0] - expected["sum_logp"]) < 1e-12
    for rule, field in (("paper", "grad"), ("full", "grad_full")):
        found = tf.exact.gradient(model, [x], rule=rule)
        assert set(found) == {NAMES[k] for k in expected[field]}
        for key, value in expected[field].items():
            np.testing.assert_allclose(found[NAMES[key]], read(value), atol=1e-11, err_msg=key)


@pytest.mark.parametrize("name", GAUSS)
def test_real_cases(name):
    case = CASES[name]
    model, expected = model_of(case), case["expected"]
    past, hidden, x = (read(case[k]) for k in ("x_prev", "h_prev", "x"))
    b, c = temporal_exact.biases(model, past, hidden)
    np.testing.assert_allclose(b, read(expected["b_t"]), atol=1e-14)
    np.testing.assert_allclose(c, read(expected["c_t"]), atol=1e-14)
    found = temporal_exact.frame(model, b, c, x)
    assert abs(found.log_likelihood - expected["logp"]) < 1e-12
    np.testing.assert_allclose(found.hidden_mean, read(expected["h_given_x"]), atol=1e-13)
    slope = dict(found.gradient)
    slope["visible_to_hidden"] = np.outer(slope["hidden_bias"], past)
    slope["visible_to_visible"] = np.outer(slope["visible_bias"], past)
    slope["hidden_to_hidden"] = np.outer(slope["hidden_bias"], hidden)
    for key, value in expected["grad"].items():
        np.testing.assert_allclose(slope[NAMES[key]], read(value), atol=1e-11, err_msg=key)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "real"])
def test_full_gradient_is_the_derivative(kind):
    size = {"n_visible": 2, "n_hidden": 2} if kind == "real" else {}
    model = temporal_model(kind, **size)
    rng = np.random.default_rng(1)
    x = [rng.random((4, model.n_visible)), rng.random((2, model.n_visible))]
    found = tf.exact.gradient(model, x, rule="full")
    step = 1e-5
    for name, value in found.items():
        at = np.unravel_index(np.argmax(abs(value)), value.shape)
        ends = []
        for sign in (1, -1):
            arrays = {
                n: np.array(getattr(model, n)) for n in model.names if getattr(model, n) is not None
            }
            arrays[name][at] += sign * step
            ends.append(tf.exact.log_likelihood(type(model)(**arrays), x).mean())
        assert abs((ends[0] - ends[1]) / (2 * step) - value[at]) < 1e-7, name


def test_sequences_of_different_lengths_filter_alone():
    model = temporal_model()
    rng = np.random.default_rng(0)
    x = [rng.random((t, 4)) for t in (3, 7, 1, 7, 5)]
    sequences = as_sequences("x", x, visible="bernoulli")
    batch = sequences.batch(np.array([4, 0, 1, 2, 3]))
    seen = model.parameters().filter(sequences, batch)
    for k, part in enumerate(x):
        rows = [
            int(np.flatnonzero(batch.rows == sequences.offsets[k] + t)[0]) for t in range(len(part))
        ]
        np.testing.assert_allclose(seen.state[rows], model.filter(part), atol=1e-14)
        np.testing.assert_allclose(seen.visible[rows], part)


def exact_predictions(model, x):
    """E[x_t | past] of a small binary machine, by enumeration."""
    rows, hidden = [], model.filter(x)
    states = states_of(model.n_visible)
    for t in range(len(x)):
        b, c = model.initial_visible_bias, model.initial_hidden_bias
        if t:
            b, c = temporal_exact.biases(model, x[t - 1], hidden[t - 1])
        p = [np.exp(temporal_exact.frame(model, b, c, s).log_likelihood) for s in states]
        rows.append(p @ states)
    return np.array(rows)


@pytest.mark.parametrize("name", BINARY)
def test_exact_predictions_are_the_cases(name):
    case = CASES[name]
    found = exact_predictions(model_of(case), read(case["x"]))
    np.testing.assert_allclose(found, read(case["expected"]["pred_mean"]), atol=1e-12)


def averaged(model, x, **options):
    """Predictions averaged over 400 sequences that are all alike."""
    copies = as_sequences("x", np.tile(x, (400, 1, 1)), visible=model.visible)
    found = predict_all(model, copies, "gibbs", 100, 0)
    return found.reshape(400, *x.shape).mean(axis=0)


def test_gibbs_predictions_come_near_the_exact_mean():
    model = temporal_model()
    x = np.random.default_rng(3).integers(0, 2, (5, 4)).astype(float)
    exact = exact_predictions(model, x)
    # Means of 32,000 states of chains that mix in a few sweeps: standard errors below 3e-3.
    assert abs(averaged(model, x) - exact).max() < 0.015
    field = model.predict(x, method="mean_field", n_gibbs=100)
    assert 0 < abs(field - exact).max() < 0.15
    error = tf.prediction_error(model, [x, x[:3]], method="mean_field", n_gibbs=100)
    square = ((field - x) ** 2)[1:].sum(axis=1)
    np.testing.assert_allclose(error, [square.mean(), square[:2].mean()], rtol=1e-12)


def test_real_predictions_come_near_the_exact_mean():
    model = temporal_model("real", n_visible=2, n_hidden=2)
    x = np.random.default_rng(3).normal(size=(4, 2))
    hidden, found = model.filter(x), averaged(model, x)
    for t in range(1, 4):
        b, c = temporal_exact.biases(model, x[t - 1], hidden[t - 1])
        exact = x[t] - temporal_exact.frame(model, b, c, x[t]).gradient["visible_bias"]
        np.testing.assert_allclose(found[t], exact, atol=0.02)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "real"])
def test_files_and_generation(kind, tmp_path):
    model = temporal_model(kind)
    model.save(tmp_path / "m.npz")
    again = type(model).load(tmp_path / "m.npz")
    assert again.visible == ("gaussian" if kind == "real" else "bernoulli")
    first = model.generate(6, rng=0)
    np.testing.assert_array_equal(first, again.generate(6, rng=0))
    assert kind == "real" or set(np.unique(first)) <= {0.0, 1.0}
    means = model.generate(3, rng=0, prefix=first, return_mean=True)
    assert kind == "real" or ((means > 0) & (means < 1)).all()


def test_generated_frames_follow_the_model():
    # The first frame of 500 sequences against the exact means; 5 standard errors, 4 numbers.
    model = temporal_model()
    draws = np.array([model.generate(1, rng=k, n_gibbs=20)[0] for k in range(500)])
    exact = exact_predictions(model, np.zeros((1, 4)))[0]
    assert (abs(draws.mean(0) - exact) < 5 * np.sqrt(exact * (1 - exact) / 500)).all()


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


def test_bad_sequences():
    model = temporal_model()
    with pytest.raises(ValueError, match="shape"):
        tf.prediction_error(model, np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"sequences\[1\] must have 4 columns"):
        tf.prediction_error(model, [np.zeros((3, 4)), np.zeros((3, 5))])
    with pytest.raises(ValueError, match="two frames"):
        tf.prediction_error(model, [np.zeros((3, 4)), np.zeros((1, 4))])
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        model.filter(np.full((2, 4), 1.5))
