"""Scaling: standardised and back, constants, models that remember it."""

import pickle

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of

RNG = np.random.default_rng(0)
X = RNG.normal([150.0, -2.0, 1e9], [20.0, 1e-3, 5e4], (50, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardised_columns_have_mean_0_and_deviation_1_and_come_back(dtype):
    data = X.astype(dtype)
    before = data.copy()
    scaling = tf.models.Scaling.fit(data)
    scaled = scaling.apply(data)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-10)
    np.testing.assert_allclose(scaling.undo(scaled), data, rtol=1e-14)
    np.testing.assert_array_equal(data, before)
    assert scaled.dtype == np.float64


def test_a_constant_column_becomes_0_and_comes_back_as_it_was():
    data = np.column_stack([X[:, 0], np.full(50, 0.1), np.zeros(50)])
    scaling = tf.models.Scaling.fit(data)
    assert scaling.varies.tolist() == [True, False, False]
    assert (scaling.apply(data)[:, 1:] == 0).all()
    # Whatever a model draws there.
    drawn = scaling.undo(RNG.normal(size=(9, 3)))
    np.testing.assert_allclose(drawn[:, 1], 0.1, rtol=1e-15)
    assert (drawn[:, 2] == 0).all()
    assert (scaling.apply(data + 5)[:, 1:] == 0).all()
    data[3] = np.nan  # is not hidden by a constant
    assert np.isnan(scaling.apply(data)[3]).all() and np.isnan(scaling.undo(data)[3]).all()
    assert repr(scaling) == "Scaling(columns=3, constant=2)"


def test_sequences_are_rows_of_more_dimensions():
    cube = X[:48].reshape(4, 12, 3)
    scaling = tf.models.Scaling.fit(cube)
    np.testing.assert_array_equal(scaling.mean, tf.models.Scaling.fit(X[:48]).mean)
    np.testing.assert_array_equal(scaling.apply(cube).reshape(-1, 3), scaling.apply(X[:48]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tf.models.Scaling.fit(X[:, 0]), ValueError, "X must have rows and columns"),
        (lambda: tf.models.Scaling.fit(X[:0]), ValueError, "X must not be empty"),
        (lambda: tf.models.Scaling.fit(X * np.nan), ValueError, "X must be finite"),
        (lambda: tf.models.Scaling.fit([["a"]]), TypeError, "X must hold real numbers"),
        (lambda: tf.models.Scaling.fit(X).apply(X[:, :2]), ValueError, "X must have 3 columns"),
        (lambda: tf.models.Scaling.fit(X).undo(3.0), ValueError, "X must have 3 columns"),
        (lambda: tf.models.Scaling([0.0], [-1.0]), ValueError, "deviation must be 0 or more"),
        (lambda: tf.models.Scaling([0.0, 1.0], [1.0]), ValueError, "deviation must have 2 entries"),
        (lambda: tf.models.Scaling(0.0, 1.0), ValueError, "mean must be a vector"),
    ],
)
def test_wrong_data(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("name", ["real", "real ordinary"])
def test_a_model_remembers_its_scaling_in_its_file(name, tmp_path):
    kind = tf.TruGRBM if name == "real" else tf.BernoulliRBM
    ends = (1.0, 0.0, 1.0) if name == "real" else ()
    model = kind(RNG.normal(size=(3, 2)), 0.0, 0.0, *ends, visible_precision=2.0)
    scaling = tf.models.Scaling.fit(X)
    scaled = model.with_scaling(scaling)
    assert model.scaling is None and scaled.scaling is scaling
    path = tmp_path / "model.npz"
    scaled.save(path)
    for again in (kind.load(path), pickle.loads(pickle.dumps(scaled))):
        np.testing.assert_array_equal(again.scaling.mean, scaling.mean)
        np.testing.assert_array_equal(again.scaling.deviation, scaling.deviation)
        # What the model computes is not rescaled.
        rows = scaling.apply(X)
        np.testing.assert_array_equal(again.free_energy(rows), model.free_energy(rows))
    scaled.with_scaling(None).save(path)
    assert kind.load(path).scaling is None


def test_a_scaling_that_does_not_fit_is_refused():
    real = tf.BernoulliRBM(np.zeros((2, 2)), 0.0, 0.0, visible_precision=1.0)
    with pytest.raises(ValueError, match="scaling must have 2 columns.*got 3"):
        real.with_scaling(tf.models.Scaling.fit(X))
    with pytest.raises(ValueError, match="scaling is for Gaussian visible units"):
        model_of("mixed").with_scaling(tf.models.Scaling.fit(X))
    with pytest.raises(TypeError, match="scaling must be a Scaling"):
        real.with_scaling(X)


def test_sequences_need_not_be_of_one_length():
    rng = np.random.default_rng(0)
    sequences = [rng.normal(3.0, 2.0, (n, 4)) for n in (1, 7, 12)]
    found, whole = (
        tf.models.Scaling.fit(sequences),
        tf.models.Scaling.fit(np.concatenate(sequences)),
    )
    np.testing.assert_array_equal(found.mean, whole.mean)
    np.testing.assert_array_equal(found.deviation, whole.deviation)
    with pytest.raises(ValueError, match=r"sequences of as many columns each, got \[3, 4\]"):
        tf.models.Scaling.fit([*sequences, np.ones((5, 3))])
    with pytest.raises(ValueError, match="X must"):
        tf.models.Scaling.fit([])


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_sequences_of_one_length_keep_their_shape(kind):
    sequences = np.random.default_rng(1).normal(3.0, 2.0, (4, 6, 3))
    scaling = tf.models.Scaling.fit(kind(sequences))
    scaled = scaling.apply(kind(sequences))
    assert scaled.shape == (4, 6, 3)
    np.testing.assert_allclose(scaling.undo(kind(scaled)), sequences, rtol=1e-14)


def test_what_is_left_of_a_model_keeps_scaling_and_names():
    names, scaling = ("rain", "sun", "wind"), tf.models.Scaling([1.0, 2.0, 3.0], [4.0, 0.0, 6.0])
    weights, clamp = np.ones((3, 2)), [np.nan, 0.5, np.nan]
    plain = tf.TruGRBM(weights, 0.0, 0.0, 1.0, 0.0, 1.0, visible_precision=2.0)
    given = plain.with_scaling(scaling).with_columns(names).clamped(clamp)
    assert given.columns == ("rain", "wind")
    assert given.scaling.mean.tolist() == [1.0, 3.0]
    assert given.scaling.deviation.tolist() == [4.0, 6.0]
    assert plain.clamped(clamp).scaling is None is plain.clamped(clamp).columns
    past = weights.T, np.zeros((3, 3)), np.zeros((2, 2))
    temporal = tf.BernoulliTRBM(weights, *past, 0, 0, 0, 0, visible_precision=2.0)
    temporal = temporal.with_scaling(scaling).with_columns(names)
    for prefix in (None, [[0.1, 0.2, 0.3]]):
        frame = temporal.next_frame(prefix)
        assert frame.columns == names and frame.scaling is scaling
