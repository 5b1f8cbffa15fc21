"""Weights of rows: what is refused, what stands for none, and what means of them are worth."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.diagnosis import Columns, Rise
from trug_fast.training.weighing import as_weights, mean_of, normalised, variance_of_mean

X = np.eye(4)
Y = np.arange(4.0)
VIDEOS = np.random.default_rng(0).integers(0, 2, (4, 3, 5)).astype(float)
CALLS = {
    "row": [
        lambda w: tf.train_rbm(X, 2, sample_weight=w),
        lambda w: tf.train_tggm(X, Y, 2, sample_weight=w),
    ],
    "sequence": [lambda w: tf.train_trbm(VIDEOS, 2, sample_weight=w)],
}
BAD = [
    ([1, 2, 3], ValueError, r"a weight for each WHAT, shape \(4,\), got shape \(3,\)"),
    ([[1], [1], [1], [1]], ValueError, r"a weight for each WHAT, shape \(4,\), got shape \(4, 1\)"),
    (1.0, ValueError, r"a weight for each WHAT, shape \(4,\), got shape \(\)"),
    ([1, -2, 1, 1], ValueError, r"finite and 0 or more, got -2.0 at WHAT 1"),
    ([1, 1, np.nan, 1], ValueError, r"finite and 0 or more, got nan at WHAT 2"),
    ([1, 1, 1, np.inf], ValueError, r"finite and 0 or more, got inf at WHAT 3"),
    ([0, 0, 0, 0], ValueError, r"above 0 for some WHAT, got zeros only"),
    (list("abcd"), TypeError, r"sample_weight must hold real numbers"),
]


@pytest.mark.parametrize(("weights", "kind", "words"), BAD)
@pytest.mark.parametrize("what", CALLS)
def test_bad_weights(what, weights, kind, words):
    for call in CALLS[what]:
        with pytest.raises(kind, match=words.replace("WHAT", what)):
            call(weights)


def test_equal_weights_are_none_and_the_scale_does_not_matter():
    assert as_weights([3, 3], 2) is None and as_weights(None, 2) is None
    given = np.array([1, 2, 5])
    for scale in (1, 0.1, 1e-300, 1e300):
        own = normalised(as_weights(scale * given, 3))
        np.testing.assert_allclose(own, given / given.mean(), rtol=1e-15)
        own = normalised(as_weights(scale * given, 3), np.array([4, 1, 1]))
        assert np.average(own, weights=[4, 1, 1]) == pytest.approx(1)
    np.testing.assert_array_equal(given, [1, 2, 5])


def test_means_of_weighted_rows_are_those_of_repeated_ones():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(30, 3)), rng.integers(1, 4, 30).astype(float)
    again = np.repeat(values, weights.astype(int), axis=0)
    np.testing.assert_allclose(mean_of(values, weights), again.mean(axis=0), atol=1e-14)
    found, wanted = Columns.of(values, True, weights), Columns.of(again, True)
    np.testing.assert_allclose(found.mean, wanted.mean, atol=1e-14)
    np.testing.assert_allclose(found.deviation, wanted.deviation, atol=1e-14)
    holes = np.where(rng.random(values.shape) < 0.2, np.nan, values)
    found = Columns.of(holes, True, weights)
    wanted = Columns.of(np.repeat(holes, weights.astype(int), axis=0), True)
    np.testing.assert_allclose(found.mean, wanted.mean, atol=1e-14)
    np.testing.assert_allclose(found.deviation, wanted.deviation, atol=1e-14)


def test_the_standard_error_of_a_weighted_mean():
    # 20,000 means of 40 values: the ratio of variances has a standard deviation of 1 %.
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 6, 40).astype(float)
    values = rng.normal(size=(20_000, 40))
    spread = np.average(values, axis=1, weights=weights).var()
    claimed = np.mean([variance_of_mean(row, weights) for row in values[:2000]])
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert spread * kish == pytest.approx(1, abs=0.05)
    assert claimed / spread == pytest.approx(1 - 1 / kish, abs=0.06)  # as of a plain mean
    row = values[0]
    assert variance_of_mean(row, np.ones(40)) == pytest.approx(variance_of_mean(row, None))
    for rise in (Rise.of, Rise.paired):
        even, none = rise(row, row + values[1], np.ones(40)), rise(row, row + values[1])
        np.testing.assert_allclose(
            [even.before, even.after, even.error], [none.before, none.after, none.error]
        )
