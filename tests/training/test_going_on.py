"""Going on: from a model, whose units need not be said again; and by more epochs than a run had."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, interrupt_after, with_interrupts
from tests.support.rbm_runs import digits

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
interruptible = pytest.fixture(autouse=True)(with_interrupts)
data = pytest.fixture(scope="module")(digits)

YACHT = tf.datasets.load_yacht()
VIDEOS = tf.datasets.bouncing_balls(6, 8, size=4, rng=0)
RATES = {"learning_rate": 0.01, "optimizer": tf.training.Adam(truncation_rate=0.001)}
ONCE = {"validation": tf.training.HoldOut(0.1, refit=False)}


def train(kind, data, **options):
    """Train one of the three models for a moment."""
    if kind == "rbm":
        return tf.train_rbm(data, **{"n_hidden": 6, "batch_size": 20, "rng": 0} | options)
    if kind == "trbm":
        return tf.train_trbm(VIDEOS, **{"n_hidden": 5, "rng": 0} | options)
    X, y = YACHT.X, YACHT.y
    return tf.train_tggm(X, y, **{"n_hidden": 5, "rng": 0} | ONCE | options)


KINDS = [
    {},
    {"hidden": "bernoulli"},
    {"visible": tf.GaussianUnits(precision=3.0)},
    {"truncation": "relu"},
]


@pytest.mark.parametrize("kind", ["rbm", "trbm"])
@pytest.mark.parametrize("units", KINDS)
def test_units_are_those_of_the_model(data, kind, units):
    still = {"learning_rate": 0.0}
    if not {"hidden", "truncation"} & units.keys():
        still["optimizer"] = tf.training.Adam(truncation_rate=0.0)
    first = train(kind, data, epochs=1, **units).model
    second = train(kind, data, epochs=1, start=first, n_hidden=None, **still).model
    assert type(second) is type(first) and second.visible == first.visible
    for name in first.names:
        np.testing.assert_allclose(getattr(second, name), getattr(first, name), rtol=1e-6)


def test_without_a_model_units_must_be_counted():
    with pytest.raises(TypeError, match="n_hidden must be given where start is not a model"):
        tf.train_rbm(np.eye(4), start=tf.training.RandomWeights())


@pytest.mark.parametrize("noise", ["shared", "separate"])
@pytest.mark.parametrize(
    "truncation", ["tanh", "relu", tf.Truncation(-1, 2, learn="shared"), "s-learn"]
)
def test_a_regression_keeps_what_it_forecasts_and_its_ends(truncation, noise):
    first = train("tggm", None, epochs=3, truncation=truncation, noise=noise).model
    still = {"learning_rate": 0.0, "epochs": 1, "noise": tf.training.Noise(noise, learn=False)}
    chosen = still | {"start": first, "n_hidden": None, "truncation": truncation, "dtype": float}
    model = train(
        "tggm", None, **chosen, validation=tf.training.HoldOut(refit=False, calibrate=None)
    ).model
    for a, b in zip(model.predict(YACHT.X, True), first.predict(YACHT.X, True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    if truncation in ("tanh", "relu"):  # ends that are kept stay what they are called
        assert (model.lower == first.lower).all() and (model.upper == first.upper).all()


def test_ends_at_infinity_are_kept_unasked_and_others_are_refused():
    first = train("tggm", None, epochs=1, truncation="relu").model
    assert np.isinf(train("tggm", None, epochs=1, start=first).model.upper).all()
    for truncation, words in (
        ("tanh", "truncation keeps lower=-1.0, but start has units with 0 to 0"),
        ("s-learn", "truncation learns finite ends, but start has upper=inf"),
    ):
        with pytest.raises(ValueError, match=words):
            train("tggm", None, epochs=1, start=first, truncation=truncation)
    each = train("tggm", None, epochs=2, truncation="s-learn").model
    with pytest.raises(ValueError, match="one pair of ends for all units, but start has"):
        train("tggm", None, epochs=1, start=each, truncation="c-learn")
    with pytest.raises(ValueError, match="start must have n_hidden=4, got 5"):
        train("tggm", None, epochs=1, start=each, n_hidden=4)


def test_ends_are_the_same_in_float32():
    start = tf.TruGRBM(np.zeros((4, 2), np.float32), 0, 0, 1, 0.1, 0.7)
    fit = tf.train_rbm(np.eye(4), truncation=(0.1, 0.7), start=start, epochs=1, rng=0)
    np.testing.assert_array_equal(fit.model.upper, start.upper)


@pytest.mark.parametrize("kind", ["rbm", "trbm", "tggm"])
def test_a_run_with_steady_rates_that_is_made_longer_is_the_long_run(kind, data, tmp_path):
    sampler = {} if kind != "trbm" else {"sampler": tf.training.SequenceCD(n_gibbs=2)}
    options = {
        **RATES,
        **sampler,
        "checkpoint": tf.training.Checkpoint(tmp_path / "run", resume="auto"),
    }
    for epochs in (2, 3, 5):
        fit = train(kind, data, **options, epochs=epochs)
    assert_same(fit, train(kind, data, **options | {"checkpoint": None}, epochs=5))
    assert_same(fit, train(kind, data, **options, epochs=5))  # finished: as it is


def test_a_longer_run_is_interrupted_and_killed_like_any_other(data, tmp_path, monkeypatch):
    options = {"checkpoint": tf.training.Checkpoint(tmp_path / "run", every=0, resume="auto")}
    train("rbm", data, **options, **RATES, epochs=2)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 9)
        with pytest.warns(UserWarning, match="interrupted"):
            part = train("rbm", data, **options, **RATES, epochs=4)
    assert part.interrupted and len(part.history["epoch"]) == 3
    fit = train("rbm", data, **options, **RATES, epochs=4)
    assert_same(fit, train("rbm", data, **RATES, epochs=4))


def test_rates_that_decay_are_those_of_the_longer_run_from_there(data, tmp_path):
    rates = {"learning_rate": (0.1, 0.001)}
    path = tf.training.Checkpoint(tmp_path / "run", resume="auto")
    short = train("rbm", data, **rates, epochs=2, checkpoint=path)
    fit = train("rbm", data, **rates, epochs=4, checkpoint=path)
    whole = train("rbm", data, **rates, epochs=4)
    found = fit.history["learning_rate"]
    np.testing.assert_array_equal(found[:2], short.history["learning_rate"])
    np.testing.assert_array_equal(found[2:], whole.history["learning_rate"][2:])
    with pytest.raises(ValueError, match="epochs is 4 there, 2 here"):
        train("rbm", data, **rates, epochs=2, checkpoint=path)


def test_a_run_that_was_stopped_stays_so(data, tmp_path):
    path = tf.training.Checkpoint(tmp_path / "run", resume="auto")
    fit = train("rbm", data, epochs=4, checkpoint=path, callbacks=[lambda event: event.epoch == 2])
    assert_same(fit, train("rbm", data, epochs=9, checkpoint=path))


def test_a_regression_that_has_trained_on_all_rows_is_not_made_longer(tmp_path):
    options = {
        "checkpoint": tf.training.Checkpoint(tmp_path / "run", resume="auto"),
        "validation": 0.1,
    }
    train("tggm", None, **options, epochs=2)
    with pytest.raises(ValueError, match="epochs is 2 there, 3 here"):
        train("tggm", None, **options, epochs=3)


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_what_a_model_remembers_of_its_data_goes_on_with_it():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    scaling, names = tf.models.Scaling([1.0, 2.0, 3.0], [1.0, 0.5, 2.0]), ("a", "b", "c")
    options = dict(epochs=1, monitor=None, rng=0)
    for train, data in ((tf.train_rbm, rows), (tf.train_trbm, rows.reshape(4, 10, 3))):
        first = train(data, 2, visible="gaussian", **options).model
        assert first.scaling is None and first.columns is None
        start = first.with_scaling(scaling).with_columns(names)
        found = train(data, start=start, **options).model
        assert (found.scaling, found.columns) == (scaling, names)
    start = tf.train_tggm(rows, rows[:, 0], 2, **options).model.with_columns(names)
    assert tf.train_tggm(rows, rows[:, 0], start=start, **options).model.columns == names
