"""What training chooses by the data: it must learn in the epochs that a first try takes."""

import inspect
import json
import math
import re

import numpy as np
import pytest

import trug_fast as tf
from reproduction import table1
from tests.support.data import ROOT
from trug_fast.training.rbm.defaults import BEST_TRUNCATION, N_CHAINS, ByData, usual_batch_size

WIDE = tf.Truncation(0.0, 4.0, learn="per_unit")


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


def patterns(rows, columns, seed):
    """Return rows near four patterns, a tenth of their bits flipped."""
    four = np.random.default_rng(99).random((4, columns)) < 0.5
    rng = np.random.default_rng(seed)
    noise = rng.random((rows, columns)) < 0.1
    return (four[rng.integers(4, size=rows)] ^ noise).astype(np.uint8)


def squares(rows, seed):
    """Return 28x28 images of a filled square each."""
    rng = np.random.default_rng(seed)
    top, left = rng.integers(2, 16, (2, rows, 1))
    size = rng.integers(6, 11, (rows, 1))
    at = np.arange(28)
    high, wide = ((at >= a) & (at < a + size) for a in (top, left))
    return (high[:, :, None] & wide[:, None, :]).reshape(rows, -1).astype(np.uint8)


def gain(train, test, **options):
    """Return how much better than independent columns held-out rows are scored, in nats."""
    mean = train.mean(axis=0).clip(1e-3, 1 - 1e-3)
    floor = (test * np.log(mean) + (1 - test) * np.log1p(-mean)).sum(axis=1).mean()
    fit = tf.train_rbm(train, validation=test, rng=0, **{"n_hidden": 30, "epochs": 10} | options)
    return fit.history["validation_score"][-1] - floor


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({}, 5.0),
        ({"hidden": "bernoulli"}, 3.5),
        ({"truncation": "sigmoid"}, 3.0),
        ({"truncation": "relu"}, 4.5),
        ({"optimizer": "adam"}, 2.5),
        ({"optimizer": "rmsprop"}, 2.0),
    ],
)
def test_digits_are_learned_in_ten_epochs(digits, options, least):
    assert gain(digits.train, digits.test, **options) > least


@pytest.mark.parametrize("options", [{}, {"hidden": "bernoulli"}])
def test_two_hundred_rows_of_twenty_columns_are_learned(options):
    # The patterns and the noise alone have 8 nats; independent columns 12.4.
    assert gain(patterns(200, 20, 0), patterns(1000, 20, 1), **options) > 3.0


@pytest.mark.parametrize("options", [{}, {"hidden": "bernoulli"}])
def test_images_of_28x28_are_learned(options):
    assert gain(squares(500, 0), squares(500, 1), epochs=5, **options) > 65.0


@pytest.mark.parametrize("options", [{}, {"hidden": "bernoulli"}])
def test_real_data_are_learned(options):
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], (2000, 1))
    rows = 0.8 * side * [1, 1, -1, 1] + 0.6 * rng.normal(size=(2000, 4))
    train, test = rows[:1000], rows[1000:]
    options = {"n_hidden": 3, "visible": tf.GaussianUnits(precision=2.5)} | options
    model = tf.train_rbm(train, **options, epochs=10, monitor=None, rng=0).model
    assert tf.exact.log_likelihood(model, test).mean() > -4.6  # independent columns: -5.7


@pytest.mark.parametrize("scale", [0.01, 1.0, 1e4])
def test_weights_and_rates_follow_the_scales_of_units(scale):
    # A unit on [0, 4 s] with precision 1 / s^2 is that on [0, 4] in other units (mathematics 2.4).
    data = patterns(300, 20, 0)
    one, other = (
        ByData(data, WIDE, 1.0),
        ByData(data, tf.Truncation(0.0, 4.0 * scale), 1.0 / scale**2),
    )
    assert other.scale == pytest.approx(one.scale / scale, rel=0.05)
    for optimizer, power in (("sgd", 2), ("adam", 1)):
        rates = [by.learning_rate(optimizer, real=False) for by in (one, other)]
        np.testing.assert_allclose(rates[1], np.array(rates[0]) / scale**power, rtol=0.1)


@pytest.mark.parametrize(
    ("ends", "d", "variance"),
    [
        ((0.0, 1e-3), 1.0, 1e-6 / 12),
        ((0.0, math.inf), 4.0, (1 - 2 / math.pi) / 4),
        ((-math.inf, math.inf), 0.25, 4.0),
        ((-1e6, 1e6), 1.0, 1.0),
        ((0.0, 1.0), -1e6, 0.25),
        ((3.0, 5.0), 0.0, 4 / 12),
        (None, 1.0, 0.25),
    ],
)
def test_the_variance_of_a_unit_without_input(ends, d, variance):
    by_data = ByData(np.eye(4), None if ends is None else tf.Truncation(*ends), d)
    assert by_data._deviation**2 == pytest.approx(variance, rel=2e-3)


def test_data_decide():
    rng = np.random.default_rng(0)
    for rows, size in ((3, 10), (2000, 10), (5000, 25), (100_000, 100)):
        assert usual_batch_size(rows) == size
    for columns in (20, 2000):  # fewer and more than rows
        data = rng.normal(size=(500, columns))
        expected = 0.2 / np.sqrt(0.363 * data.var(axis=0).sum())
        assert ByData(data, WIDE, 1.0).scale == pytest.approx(expected, rel=0.05)
    # All columns the same: the variance along their sum is 784 times that of one.
    same = np.repeat(rng.random((500, 1)) < 0.5, 784, axis=1)
    start, end = ByData(same, WIDE, 1.0).learning_rate("sgd", real=False)
    assert start == pytest.approx(0.2 * 5 / (784 / 4), rel=0.05)
    assert end == pytest.approx(start / 20, rel=0.05)
    constant = ByData(np.ones((50, 3)), WIDE, 1.0)
    assert constant.scale == 0.01
    assert constant.learning_rate("sgd", real=False) == (0.2, 0.01)


def test_choices_are_recorded_and_can_be_given(digits, tmp_path):
    options = {"n_hidden": 5, "epochs": 1, "monitor": None, "rng": 0}
    chosen = tf.train_rbm(digits.train, **options, checkpoint=tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        identity = json.loads(str(file["identity"]))
    names = ("batch_size", "n_chains", "start", "average")
    found = {name: identity[name] for name in names}
    assert found == dict(
        batch_size=10, n_chains=N_CHAINS, start="RandomWeights(scale=0.12)", average=0.1
    )
    ends = tuple(identity["truncation_rate"])
    given = {
        "batch_size": 10,
        "start": tf.training.RandomWeights(0.12),
        "sampler": tf.training.PCD(n_chains=100),
    }
    given |= {"truncation": BEST_TRUNCATION, "learning_rate": tuple(identity["learning_rate"])}
    given |= {"optimizer": tf.training.SGD(average=0.1, truncation_rate=ends)}
    again = tf.train_rbm(digits.train, **options, **given)
    for name in chosen.model.names:
        np.testing.assert_array_equal(getattr(again.model, name), getattr(chosen.model, name))


def test_the_first_example_of_the_docs_shows_learning():
    page = ROOT / "docs" / "training.md"
    names = {}
    exec(re.search(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S).group(1), names)
    for score, least in (("score", 7.0), ("validation_score", 6.0)):
        start = {"score": -24.6, "validation_score": -27.1}[score]  # as the page says
        assert names["fit"].history[score][-1] > start + least


def test_the_shipped_protocol_leaves_nothing_to_the_data():
    for quick in (False, True):
        for cell in table1.TABLE.cells(None, (), quick=quick):
            given = cell.options["train"].keys()
            assert {"batch_size", "n_chains", "start_scale", "learning_rate"} <= given


def test_the_estimator_has_the_same_defaults():
    estimators = pytest.importorskip("trug_fast.estimators")
    ours = inspect.signature(estimators.RBMTransformer).parameters
    theirs = inspect.signature(tf.train_rbm).parameters
    said = {"hidden": "trug", "visible": "bernoulli"}  # what None stands for
    for name in (ours.keys() & theirs.keys()) - {"n_hidden"}:
        assert ours[name].default == said.get(name, theirs[name].default), name
