"""Truncation points and precisions in training: they move as asked, and stay where units exist."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import exact_draws, strong_model
from trug_fast.training.steps import Steps
from trug_fast.training.unit_parameters import Shape, UnitParameters

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


@pytest.mark.parametrize("learn", ["shared", "per_unit"])
@pytest.mark.parametrize(("low", "high"), [(False, True), (True, False), (True, True)])
def test_truncation_points_move_as_asked(digits, learn, low, high):
    truncation = tf.Truncation(-1.0, 1.0, learn=learn, learn_lower=low, learn_upper=high)
    optimizer = tf.training.SGD(truncation_rate=0.05)
    model = tf.train_rbm(
        digits.train, **ARGUMENTS, truncation=truncation, optimizer=optimizer
    ).model
    assert (model.lower < model.upper).all()
    for learned, ends, start in ((low, model.lower, -1.0), (high, model.upper, 1.0)):
        assert np.any(ends != start) == learned
        if learn == "shared":
            assert np.ptp(ends) == 0


def test_huge_truncation_rates_cannot_cross_the_ends(digits):
    optimizer = tf.training.Adam(truncation_rate=3.0)
    model = tf.train_rbm(digits.train, **ARGUMENTS, truncation="s-learn", optimizer=optimizer).model
    assert (model.lower < model.upper).all() and np.isfinite(model.weights).all()


def test_fixed_ends_stay(digits):
    model = tf.train_rbm(digits.train, **ARGUMENTS, truncation="relu").model
    assert (model.lower == 0).all() and np.isinf(model.upper).all()


def patterned_model():
    """A model of 8 pixels whose likelihood needs its three units binary.

    Their patterns are orthogonal.  By exact gradients on all states all precisions go below -90
    from any start.  With random weights (``strong_model``) one unit of any shape costs 0.001 nats
    only, and by 4,000 rows the best one has +24.
    """
    pixels = np.arange(8)[:, None]
    weights = 3.0 * np.where(pixels & [1, 2, 4], 1.0, -1.0)
    return tf.BernoulliRBM(weights, -weights.sum(axis=1) / 2, -weights.sum(axis=0) / 2)


@pytest.mark.slow
def test_learned_precision_nests_the_ordinary_rbm():
    # Data of an ordinary RBM: units on [0, 1] that can bend become binary and reach the truth.
    truth = patterned_model()
    data = exact_draws(truth, 4000, seed=0)
    model = tf.train_rbm(
        data,
        3,
        truncation="sigmoid",
        hidden=tf.TruGUnits(learn_precision=True, precision_rate=(300.0, 10.0)),
        learning_rate=(2.0, 0.02),
        epochs=60,
        sampler=tf.training.PCD(n_gibbs=3),
        rng=0,
        dtype="float64",
        monitor=None,
    ).model
    assert (model.precision < -10).all()
    reached = tf.exact.log_likelihood(model, data).mean()
    assert reached > tf.exact.log_likelihood(truth, data).mean() - 0.02


@pytest.mark.parametrize("upper", [1.5, np.inf])
def test_precisions_move_along_their_gradient(upper):
    # In the step's coordinates, curvature and the bias around the middle, the exact likelihood's
    # slope by differences must be the direction of the step, and the bias must follow.
    data = exact_draws(strong_model(), 100, seed=0)[:, :5]
    model = tf.TruGRBM(
        np.random.default_rng(0).normal(0, 0.5, (5, 2)), 0.1, 0.2, [0.7, 1.3], -0.5, upper
    )
    truncation, dtype = tf.Truncation(-0.5, upper), np.dtype(float)
    start = Shape.of(2, truncation, tf.TruGUnits(learn_precision=True), dtype)
    units = UnitParameters(start, Steps(tf.training.SGD()), dtype)
    mean = np.array([0.3, 0.6])
    middle = np.full(2, 0.5) if np.isfinite(upper) else mean
    start = model.precision * 2.0**2 if np.isfinite(upper) else np.log(model.precision)

    def moved(curvature):
        """Return the model at these curvatures."""
        d = curvature / 2.0**2 if np.isfinite(upper) else np.exp(curvature)
        c = model.hidden_bias + middle * (d - model.precision)
        return tf.TruGRBM(model.weights, model.visible_bias, c, d, model.lower, model.upper)

    def likelihood(curvature):
        return tf.exact.log_likelihood(moved(curvature), data).mean()

    step = 1e-5 * np.eye(2)
    slope = [(likelihood(start + e) - likelihood(start - e)) / 2e-5 for e in step]
    units.precision[:], units.curvature[:] = model.precision, start
    gradient = tf.exact.gradient(model, data)
    shift = units.move_precision(gradient["precision"], gradient["hidden_bias"], mean, 10.0)
    np.testing.assert_allclose(units.curvature - start, 10 * np.array(slope), rtol=1e-6)
    expected = moved(units.curvature)
    np.testing.assert_allclose(units.precision, expected.precision, rtol=1e-14)
    np.testing.assert_allclose(model.hidden_bias + shift, expected.hidden_bias, rtol=1e-13)


def test_precisions_stay_where_units_can_be_normalised(digits):
    for truncation in ("relu", (0.0, 2.0)):
        hidden = tf.TruGUnits(learn_precision=True, precision_rate=50.0)
        options = ARGUMENTS | {"optimizer": "adam", "hidden": hidden, "truncation": truncation}
        model = tf.train_rbm(digits.train, **options).model
        assert np.isfinite(model.precision).all() and np.isfinite(model.weights).all()
        assert np.isfinite(model.free_energy(digits.test)).all()
        assert truncation != "relu" or (model.precision > 0).all()
