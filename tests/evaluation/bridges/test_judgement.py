"""Estimates that look certain and are wrong: each must come with a warning that says why."""

import itertools

import numpy as np
import pytest

import trug_fast as tf
from reproduction.datasets import load_binarized_mnist
from tests.support.models import exact_draws, model_of
from trug_fast.evaluation.bridges import judgement, weights


def hidden_mode_model():
    """Return a model with a mode that holds all of the mass but e**-149, and data without it.

    Its first eight pixels are nearly always off, since their biases are.  All eight on together
    switch four units on, which outweighs the biases by far; but at no temperature does a chain
    that starts from the data's pixel means come near.
    """
    weights = np.zeros((16, 6))
    weights[:8, :4] = 20.0
    rng = np.random.default_rng(0)
    weights[8:, 4:] = rng.normal(0, 0.5, (8, 2))
    bias = np.concatenate([np.full(8, -30.0), np.zeros(8)])
    model = tf.TruGRBM(weights, bias, np.array([-60.0] * 4 + [0.0] * 2), 1.0, 0.0, 1.0)
    data = (rng.random((200, 16)) < 0.5).astype(float)
    data[:, :8] = 0.0
    return model, data


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_a_missed_mode_is_called_impossible(direction):
    model, data = hidden_mode_model()
    exact = tf.exact.log_partition(model)
    with pytest.warns(
        tf.evaluation.PartitionWarning, match="impossible: log Z = .* mean-field bound"
    ):
        estimate = tf.log_partition(
            model, n_temperatures=500, base=data, direction=direction, rng=0
        )
    # Wrong by far, and both its own error bar and the other direction call it certain.
    assert estimate.log_z < exact - 100
    assert estimate.std_error < 0.05
    if direction == "both":
        assert abs(estimate.forward.log_z - estimate.reverse.log_z) < 0.1
    assert len(estimate.warnings) == 1
    assert exact - 1 < estimate.mean_field <= exact


def reasons_of(model, **options):
    """Return an estimate and all the reasons it warned with, as one text."""
    with pytest.warns(tf.evaluation.PartitionWarning) as record:
        estimate = tf.log_partition(model, rng=0, **options)
    given = tuple(str(warning.message) for warning in record)
    assert given == estimate.warnings
    return estimate, " ".join(given)


def test_draws_of_the_model_show_a_missed_mode_too():
    model, data = hidden_mode_model()
    draws = exact_draws(model, 100, seed=0)
    options = {"n_temperatures": 500, "base": data, "direction": "both", "start": draws}
    estimate, reasons = reasons_of(model, **options)
    assert "forward and reverse apart: " in reasons and "take more temperatures" in reasons
    assert estimate.reverse.log_z > tf.exact.log_partition(model) > estimate.forward.log_z + 100


def test_reverse_chains_that_start_in_the_wrong_place():
    # Two modes, all pixels on and all off.  The starts are in the lesser one.
    model = tf.BernoulliRBM(np.full((12, 4), 6.0), -12.0, -35.0)
    off = np.zeros((1, 12))
    estimate, reasons = reasons_of(model, n_temperatures=300, direction="both", start=off)
    assert "forward above reverse: " in reasons and "(n_gibbs)" in reasons
    assert abs(estimate.forward.log_z - tf.exact.log_partition(model)) < 0.5


def test_collapsed_weights():
    model = model_of("[0,1]", n_visible=12, n_hidden=60)
    strong = tf.TruGRBM(6 * model.weights, model.visible_bias, model.hidden_bias, 1.0, 0.0, 1.0)
    estimate, reasons = reasons_of(strong, n_temperatures=3)
    assert "weights collapsed: " in reasons and " of 100 chains are effective" in reasons
    assert estimate.ess < 10
    assert "hardly overlap: " in reasons_of(strong, n_temperatures=3, direction="both")[1]


def test_warnings_of_the_sides_reach_the_whole():
    # Sides that agree, each carried by a few chains.
    rng = np.random.default_rng(0)
    forward, reverse = rng.normal(-4.5, 3.0, 100), rng.normal(-1.0, 3.0, 100)
    whole = judgement.judge(forward, reverse, **KNOWN, starts=3.4)
    assert whole.ess == min(whole.forward.ess, whole.reverse.ess) < 30
    text = " ".join(whole.warnings)
    for side in (whole.forward, whole.reverse):
        assert side.warnings
        for reason in side.warnings:
            assert f"{side.direction}: {reason}" in whole.warnings
    assert "reverse: few draws: the 100 reverse chains started from what counts as 3.4" in text
    bounded = judgement.judge(forward, reverse, **KNOWN | {"mean_field": 30.0})
    assert sum("impossible" in reason for reason in bounded.warnings) == 1
    assert all("impossible" in side.warnings[0] for side in (bounded.forward, bounded.reverse))


def test_two_directions_that_disagree_widen_the_error():
    # Sharp weights two nats apart, which reverse chains far from the model's draws give.
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.0, 0.1, 100), rng.normal(2.0, 0.1, 100)
    whole = judgement.judge(low, high, **KNOWN)
    assert whole.std_error == pytest.approx(1.0, abs=0.05)
    agreeing = judgement.judge(low, low + 0.01, **KNOWN)
    assert agreeing.std_error == weights.bennett(low, low + 0.01).std_error


KNOWN = {"path": "", "temperatures": np.zeros(0), "mean_field": -np.inf, "fingerprint": ""}


def test_a_mode_that_one_hidden_unit_holds_is_found():
    # One unit on needs all pixels on; that holds all but 1 in 150 of the mass, and no chain comes
    # near at any temperature.  Its weights' sign pattern does.
    model = tf.BernoulliRBM(np.full((16, 1), 40.0), 0.0, -640 + 16 * np.log(2) + 5)
    exact = tf.exact.log_partition(model)
    assert exact == pytest.approx(16 * np.log(2) + np.log1p(np.exp(5)), abs=1e-12)
    for direction in ("forward", "both"):
        estimate, reasons = reasons_of(model, n_temperatures=300, direction=direction)
        assert exact - 0.01 < estimate.mean_field <= exact
        assert "impossible: " in reasons
    # Every other pixel on: a pattern far from noise and from all on or off.
    sign = np.where(np.arange(16) % 2, 40.0, -40.0)[:, None]
    model = tf.BernoulliRBM(sign, 0.0, -320 + 16 * np.log(2) + 5)
    estimate, _ = reasons_of(model, n_temperatures=300)
    assert tf.exact.log_partition(model) - 0.01 < estimate.mean_field


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_errors_are_numbers_without_overlap_and_with_equal_weights():
    model = tf.BernoulliRBM([[100.0]], 0.0, 0.0, visible_precision=1.0)
    options = {"n_temperatures": 10, "n_chains": 20, "direction": "both"}
    estimate, reasons = reasons_of(model, **options)
    low, high = estimate.forward.log_z, estimate.reverse.log_z
    assert low < estimate.log_z < high and estimate.std_error == pytest.approx((high - low) / 2)
    assert "apart" in reasons and "hardly overlap" in reasons
    free = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    estimate = tf.log_partition(free, n_chains=5, n_temperatures=10, direction="both", rng=0)
    assert estimate.std_error == 0 and estimate.warnings == ()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_warning_where_all_is_known(dtype):
    # Without weights every chain is right, errors vanish and the mean-field bound is the value:
    # rounding must not look like a contradiction.
    model = tf.TruGRBM(np.zeros((300, 200), dtype), 0.0, -0.7, 1.0, 0.0, 3.0)
    base = np.full((1, 300), 0.5)
    estimate = tf.log_partition(model, n_temperatures=50, base=base, direction="both", rng=0)
    assert estimate.warnings == ()
    assert abs(estimate.log_z - estimate.mean_field) < 1e-3


def small_digits():
    """Return the shipped digits at 4x4 pixels: few enough to enumerate all images."""
    grey = tf.datasets.load_digits().train.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return (grey > 0.5 * grey.max()).reshape(-1, 16).astype(np.float32)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::trug_fast.training.TrainingWarning", "ignore::trug_fast.evaluation.PartitionWarning"
)
def test_models_trained_at_too_high_a_rate():
    # RMSprop at such rates and from small weights (those chosen by the data, of 0.52, mostly end
    # well) throws a third of the models far from the data: their exact log-probabilities are -100
    # to -600 nats, where annealing says -10 to -20 and calls it certain.
    data, wrong = small_digits(), 0
    for rate, seed in itertools.product((0.1, 0.3), range(10)):
        model = tf.train_rbm(
            data, 30, truncation=(0, 1), optimizer="rmsprop", learning_rate=rate, epochs=60,
            batch_size=50, start=tf.training.RandomWeights(0.01), monitor=None, rng=seed,
        ).model  # fmt: skip
        exact = tf.exact.log_partition(model)
        estimate = tf.log_partition(model, n_temperatures=1000, base=data, rng=0)
        missed = exact - estimate.log_z
        if missed > 1 + 5 * estimate.std_error:
            assert estimate.warnings, (rate, seed, missed)
            wrong += missed > 10 and estimate.log_weights.std() < 2
    assert wrong > 0, "none of the models shows the failure any more"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
def test_estimates_of_a_model_that_forgets_its_modes():
    # RMSprop at 1e-2 for ten epochs: with few temperatures, of both directions and with base, all
    # are off by 1 to 5 nats.  With 10,000 they are right.
    try:
        images = load_binarized_mnist().train[:5000]
    except FileNotFoundError:
        pytest.skip("needs binarized MNIST")
    for seed in (1, 2):
        model = tf.train_rbm(
            images, 16, hidden="bernoulli", epochs=10, batch_size=100, monitor=None,
            start=tf.training.RandomWeights(0.01), optimizer=tf.training.RMSprop(average=0),
            learning_rate=1e-2, rng=seed,
        ).model  # fmt: skip
        exact = tf.exact.log_partition(model)
        for rng in (0, 1):
            for base in (None, images):
                options = {"base": base, "direction": "both", "rng": rng}
                both = tf.log_partition(model, n_temperatures=1000, **options)
                for found in (both, both.forward, both.reverse):
                    off = abs(found.log_z - exact)
                    assert off < 3 * found.std_error or found.warnings
