"""Frames: their columns are found by name in every method of every model."""

import re

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from trug_fast._common.frames import arranged, names_of

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")


class Frame:
    """As much of a frame as is used, where pandas and polars are not installed."""

    def __init__(self, columns):
        self.data = {name: np.asarray(values) for name, values in columns.items()}
        self.columns = list(self.data)

    def __getitem__(self, names):
        return Frame({name: self.data[name] for name in names})

    def __array__(self, dtype=None, copy=None):
        return np.array(np.column_stack(list(self.data.values())), dtype)

    def __len__(self):
        return len(next(iter(self.data.values())))

    @property
    def shape(self):
        return len(self), len(self.columns)

    ndim = 2


def same(found, wanted):
    """A frame lies in memory column by column, so that products may round otherwise."""
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def maker(library):
    if library == "none":
        return Frame
    return pytest.importorskip(library).DataFrame


@pytest.fixture(params=["none", "pandas", "polars"])
def frame(request):
    """What makes a frame of columns by their names."""
    return maker(request.param)


def turned(frame, rows, names, order):
    """Return a frame of rows, its columns in another order, with a column of text beside them."""
    columns = {names[k]: rows[:, k] for k in order}
    return frame(columns | {"town": np.array(["Rome"] * len(rows))})


NAMES = ("a", "b", "c", "d")
ORDER = (3, 1, 0, 2)


def test_a_regression_finds_the_columns_that_it_was_trained_on(frame):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0]
    known = frame(dict(zip(NAMES, X.T, strict=True)))
    mixed = turned(frame, X, NAMES, ORDER)
    options = {"epochs": 3, "rng": 0, "progress": False}
    own = tf.train_tggm(known, y, 4, **options)
    assert own.model.columns == NAMES
    fresh = tf.train_tggm(known, y, 4, validation=(mixed, y), **options)
    plain = tf.train_tggm(X, y, 4, validation=(X, y), **options)
    assert plain.model.columns is None
    same(fresh.model.predict(X), plain.model.predict(X))
    ensemble = tf.train_ensemble(known, y, 2, 4, **options).model
    for model in (own.model, ensemble):
        assert model.columns == NAMES
        same(model.predict(mixed), model.predict(X))
        same(model.sample(mixed, rng=0), model.sample(X, rng=0))
    assert own.model.posterior(mixed, y).mean.shape == (80, 4)
    on = tf.train_tggm(mixed, y, start=own.model, **options).model
    same(on.predict(X), tf.train_tggm(X, y, start=own.model, **options).model.predict(mixed))


def test_an_rbm_finds_them_everywhere(frame):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 4)) < [0.1, 0.4, 0.6, 0.9]).astype(float)
    known, mixed = frame(dict(zip(NAMES, X.T, strict=True))), turned(frame, X, NAMES, ORDER)
    options = {"epochs": 2, "rng": 0, "progress": False}
    plain = tf.train_rbm(X, 3, validation=X, **options)
    fit = tf.train_rbm(known, 3, validation=mixed, **options)
    model = fit.model
    assert model.columns == NAMES and plain.model.columns is None
    same(fit.history["validation_score"], plain.history["validation_score"])
    log_z = tf.exact.log_partition(model)
    known_mask = turned(frame, np.ones((60, 4), bool) & [True, False, True, True], NAMES, ORDER)
    for of in (
        model.free_energy,
        lambda rows: model.hidden_moments(rows).mean,
        lambda rows: model.sample_hidden(rows, rng=0),
        lambda rows: model.sample(start=rows, rng=0),
        lambda rows: model.sample(n_gibbs=3, clamp=rows, rng=0),
        lambda rows: tf.log_likelihood(model, rows, log_z),
        lambda rows: tf.pseudo_log_likelihood(model, rows, rng=0),
        lambda rows: tf.exact.log_likelihood(model, rows),
        lambda rows: tf.exact.gradient(model, rows)["weights"],
        lambda rows: tf.log_partition(model, base=rows, n_temperatures=5, rng=0).log_weights,
        lambda rows: tf.evaluation.log_likelihood_bound(model, rows, n_temperatures=5, rng=0).value,
        lambda rows: tf.log_conditional(model, rows, known_mask, method="exact").value,
    ):
        same(of(mixed), of(X))
    with pytest.raises(ValueError, match=re.escape("X lacks the columns d; it has a, b, c")):
        model.free_energy(mixed[["a", "b", "c"]])


def test_a_temporal_model_finds_them_everywhere(frame):
    rng = np.random.default_rng(0)
    walks = [(rng.random((12, 4)) < 0.5).astype(float) for _ in range(3)]
    known = [frame(dict(zip(NAMES, walk.T, strict=True))) for walk in walks]
    mixed = [turned(frame, walk, NAMES, ORDER) for walk in walks]
    options = {"epochs": 2, "rng": 0, "progress": False}
    fit = tf.train_trbm([known[0], *mixed[1:]], 3, validation=mixed, **options)
    plain = tf.train_trbm(walks, 3, validation=walks, **options)
    model = fit.model
    assert model.columns == NAMES
    for name, values in plain.model.arrays().items():
        same(getattr(model, name), values)
    for of in (
        lambda rows: model.filter(rows[0]),
        lambda rows: model.predict(rows[0], method="mean_field"),
        lambda rows: model.next_frame(rows[0]).visible_bias,
        lambda rows: model.generate(3, prefix=rows[0], rng=0),
        lambda rows: model.forecast(rows[0], 2, n_samples=4, rng=0).mean,
        lambda rows: model.forecast(rows, 2, n_samples=4, rng=0).mean,
        lambda rows: tf.prediction_error(model, rows, rng=0),
    ):
        same(of(mixed), of(walks))
    with pytest.raises(ValueError, match=r"sequences\[1\] lacks the columns d; it has a, b, c"):
        tf.prediction_error(model, [mixed[0], mixed[1][["a", "b", "c"]]])


def test_what_is_lacking_is_named_with_what_comes_nearest(frame):
    model = model_of("[0,1]", n_visible=3, n_hidden=2).with_columns(["price", "rooms", "garden"])
    wrong = frame({"Price": [0.0, 1.0], "rooms": [0.0, 1.0], "graden": [1.0, 1.0]})
    words = "X lacks the columns price (is it 'Price'?), garden (is it 'graden'?); it has Price"
    with pytest.raises(ValueError, match=re.escape(words)):
        model.free_energy(wrong)


def test_arrays_and_columns_without_words_are_taken_by_position():
    X = np.eye(3)
    assert arranged("X", X, ("a", "b", "c")) is X
    assert arranged("X", X.tolist(), ("a", "b", "c")) == X.tolist()
    numbered = Frame({0: X[0], 1: X[1]})
    assert names_of(numbered) is None and arranged("X", numbered, ("a", "b")) is numbered
    assert names_of(X) is None and names_of([X, numbered]) is None
    twice = Frame({"a": X[0], "b": X[1]})
    twice.columns = ["a", "a"]
    assert names_of(twice) is None
    with pytest.raises(ValueError, match="X has several columns 'a'"):
        arranged("X", twice, ("a",))


def test_estimators_models_know_them(frame):
    estimators = pytest.importorskip("trug_fast.estimators")
    X = np.random.default_rng(0).random((30, 2))
    known = frame({"a": X[:, 0], "b": X[:, 1]})
    if frame is Frame:
        pytest.skip("scikit-learn asks for the frames of libraries")
    options = {"epochs": 2, "random_state": 0}
    regressor = estimators.TGGMRegressor(4, **options).fit(known, X[:, 0])
    rbm = estimators.RBMTransformer(4, **options).fit(known)
    assert regressor.model_.columns == rbm.model_.columns == ("a", "b")
    same(regressor.model_.predict(known[["b", "a"]]), regressor.predict(known))
