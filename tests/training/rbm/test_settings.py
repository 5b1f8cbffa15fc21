"""Where a training starts: at random weights, or at a model to go on from."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, same
from tests.support.models import exact_draws, strong_model

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

OPTIONS = {"n_hidden": 5, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}
STILL = {"learning_rate": 0.0, "optimizer": tf.training.SGD(truncation_rate=0.0)}
KINDS = {
    "per unit": {},
    "shared": {"truncation": "c-learn"},
    "fixed": {"truncation": "relu"},
    "bernoulli": {"hidden": "bernoulli"},
    "gaussian": {"visible": tf.GaussianUnits(precision=2.0)},
    "precision": {"hidden": tf.TruGUnits(learn_precision=True)},
}


@pytest.fixture(scope="module")
def data():
    return exact_draws(strong_model(), 300, seed=0)


def moving(options):
    """Return these options but for rates that have no effect on them."""
    fixed = options.get("truncation") == "relu" or options.get("hidden") == "bernoulli"
    return {k: v for k, v in STILL.items() if k != "optimizer" or not fixed}


@pytest.mark.parametrize("name", KINDS)
def test_training_goes_on_from_a_model(data, name):
    options = OPTIONS | KINDS[name]
    first = tf.train_rbm(data, **options).model
    # Without steps it stays what it is, in all that it has.
    rates = moving(options)
    hidden = options.get("hidden", "trug")
    if name == "precision":
        hidden = tf.TruGUnits(learn_precision=True, precision_rate=0.0)
    still = tf.train_rbm(data, **options | rates | {"start": first, "hidden": hidden}).model
    for field in first.names:
        expected = getattr(first, field)
        np.testing.assert_allclose(getattr(still, field), expected, rtol=1e-6, err_msg=field)
    # With steps it goes on, and repeats itself.
    again = tf.train_rbm(data, **options, start=first)
    assert_same(again, tf.train_rbm(data, **options, start=first))
    assert not same(again.model, first)


def test_a_good_model_is_where_training_goes_on(data):
    options = {"epochs": 20, "batch_size": 20, "learning_rate": (0.2, 0.01), "rng": 0}
    first = tf.train_rbm(data, 8, **options)
    short = options | {"epochs": 1, "learning_rate": 0.01}
    fresh = tf.train_rbm(data, 8, **short)
    further = tf.train_rbm(data, 8, **short, start=first.model)
    assert further.history["score"][0] > fresh.history["score"][0] + 0.5
    assert further.history["score"][0] > first.history["score"][-1] - 0.2


def test_ends_and_precisions_are_the_models(data):
    ends = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    start = tf.TruGRBM(np.full((8, 5), 0.1), 0, 0, [0.5, 1, 2, 1, 1], -1.0, ends)
    fit = tf.train_rbm(data, **OPTIONS | STILL, start=start)
    np.testing.assert_allclose(fit.model.upper, ends, rtol=1e-6)
    assert (fit.model.lower == -1).all() and fit.model.precision.tolist() == [0.5, 1, 2, 1, 1]
    moved = tf.train_rbm(
        data, **OPTIONS | {"optimizer": tf.training.SGD(truncation_rate=0.1)}, start=start
    ).model
    assert (moved.upper != ends.astype(np.float32)).all() and (moved.lower == -1).all()
    bent = tf.TruGUnits(learn_precision=True, precision_rate=20.0)
    moved = tf.train_rbm(data, **OPTIONS, hidden=bent, start=start).model
    assert (moved.precision != start.precision).all()


def test_a_run_from_a_model_knows_it_again(data, tmp_path):
    start = tf.train_rbm(data, **OPTIONS).model
    path = tmp_path / "run.npz"
    whole = tf.train_rbm(data, **OPTIONS, start=start, checkpoint=path)
    resume = tf.training.Checkpoint(path, resume=True)
    assert_same(whole, tf.train_rbm(data, **OPTIONS, start=start, checkpoint=resume))
    other = tf.TruGRBM(
        start.weights, start.visible_bias, 0.5, start.precision, start.lower, start.upper
    )
    for changed in (other, None):
        with pytest.raises(ValueError, match="belongs to another run: .*start is .TruGRBM.* there"):
            tf.train_rbm(data, **OPTIONS, start=changed, checkpoint=resume)


TRUG = tf.TruGRBM(np.zeros((8, 5)), 0, 0, 1, 0, [1, 2, 3, 4, 5])
EQUAL = tf.TruGRBM(np.zeros((8, 5)), 0, 0, 2, 0, np.inf)
BERNOULLI = tf.BernoulliRBM(np.zeros((8, 5)), 0, 0)
GAUSSIAN = tf.BernoulliRBM(np.zeros((8, 5)), 0, 0, visible_precision=[1, 2, 3, 4, 5, 6, 7, 8])
BAD = [
    ({"start": 3}, TypeError, "start must be a TruGRBM or BernoulliRBM or RandomWeights, got int"),
    ({"start": TRUG, "n_hidden": 4}, ValueError, "start must agree in the hidden units: 4 asked"),
    (
        {"start": tf.BernoulliRBM(np.zeros((7, 5)), 0, 0)},
        ValueError,
        "start must agree in the visible units: 8 asked for, 7 in it",
    ),
    (
        {"start": BERNOULLI, "hidden": "trug"},
        ValueError,
        "kind of hidden units: trug asked for, bernoulli in it",
    ),
    ({"start": TRUG, "hidden": "bernoulli"}, ValueError, "kind of hidden units: bernoulli asked"),
    ({"start": GAUSSIAN, "visible": "bernoulli"}, ValueError, "visible units: bernoulli asked"),
    ({"start": TRUG, "visible": "gaussian"}, ValueError, "kind of visible units: gaussian asked"),
    ({"start": TRUG, "truncation": (0, 1)}, ValueError, "truncation keeps upper=1.*with 1 to 5"),
    ({"start": TRUG, "truncation": "c-learn"}, ValueError, "one pair of ends for all .*upper=1 to"),
    ({"start": EQUAL, "truncation": "s-learn"}, ValueError, "finite ends, but start has upper=inf"),
    (
        {"start": EQUAL, "optimizer": tf.training.SGD(truncation_rate=0.1)},
        ValueError,
        "truncation_rate has no effect",
    ),
    ({"start": TRUG, "hidden": tf.TruGUnits(3.0)}, ValueError, "hidden has precision=3.0, but st"),
    (
        {"start": GAUSSIAN, "hidden": "bernoulli", "visible": tf.GaussianUnits(precision=2.0)},
        ValueError,
        "visible has precision=2.0, but start has units of precision 1 to 8",
    ),
]


@pytest.mark.parametrize(("options", "kind", "words"), BAD)
def test_models_that_training_cannot_go_on_from(data, options, kind, words, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(kind, match=words):
        tf.train_rbm(data, **OPTIONS | options, checkpoint=path)
    assert not path.exists()


@pytest.mark.parametrize("ends", [(0, np.inf), (-np.inf, 1), (-np.inf, np.inf)])
def test_ends_at_infinity_stay_there(data, ends):
    start = tf.TruGRBM(np.random.default_rng(0).normal(0, 0.1, (8, 5)), 0, 0, 2, *ends)
    model = tf.train_rbm(data, **OPTIONS, start=start).model
    assert (model.lower == ends[0]).all() and (model.upper == ends[1]).all()
    assert (model.precision == 2).all() and (model.weights != start.weights).all()


def test_random_weights_have_the_scale_that_is_asked_for(data):
    rates = {"learning_rate": 0.0}
    model = tf.train_rbm(
        data, **OPTIONS | {"n_hidden": 500}, **rates, start=tf.training.RandomWeights(0.3)
    )
    assert model.model.weights.std() == pytest.approx(0.3, rel=0.03)
