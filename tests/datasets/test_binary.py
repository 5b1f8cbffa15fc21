"""Grey images to binary ones: by a threshold, by draws, and by new draws for each epoch."""

import doctest

import numpy as np
import pytest

from trug_fast import datasets
from trug_fast.datasets import binary


def test_threshold_is_exclusive():
    assert datasets.binarize([0.0, 0.5, 0.5001, 1.0]).tolist() == [0, 0, 1, 1]
    assert datasets.binarize([0.2, 0.4], threshold=0.3).tolist() == [0, 1]
    grey = np.arange(256, dtype=np.uint8)
    assert datasets.binarize(grey, max_value=255).tolist() == [0] * 128 + [1] * 128


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_samples_have_the_right_mean_and_the_ends_are_certain(dtype):
    grey = np.tile(np.array([0, 51, 204, 255], dtype), (20_000, 1))
    before = grey.copy()
    binary = datasets.binarize(grey, "sample", max_value=255, rng=1)
    np.testing.assert_array_equal(grey, before)
    assert binary.dtype == np.uint8 and set(np.unique(binary)) == {0, 1}
    mean = binary.mean(axis=0)
    assert mean[0] == 0 and mean[3] == 1
    # 0.014 is five standard errors
    np.testing.assert_allclose(mean[1:3], [0.2, 0.8], atol=0.014)


def test_binarize_takes_booleans_and_generators():
    assert datasets.binarize(np.array([True, False])).tolist() == [1, 0]
    grey = np.full((4, 50), 0.5)
    by_int = datasets.binarize(grey, "sample", rng=3)
    by_generator = datasets.binarize(grey, "sample", rng=np.random.default_rng(3))
    np.testing.assert_array_equal(by_int, by_generator)
    assert (by_int != datasets.binarize(grey, "sample")).any()


@pytest.mark.parametrize("make", [datasets.binarize, datasets.resampler])
@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        ([0.2, 1.5], ValueError, r"images must lie in \[0, 1.0\].*from 0.2 to 1.5"),
        ([-0.1, 0.5], ValueError, "images must lie in"),
        ([0.1, np.nan], ValueError, "images must lie in .* nan"),
        ([0.1, np.inf], ValueError, "images must lie in"),
        ([], ValueError, "images must be an array that is not empty"),
        (0.5, ValueError, "images must be an array that is not empty"),
        (["a"], TypeError, "images must hold real numbers"),
        ([1j], TypeError, "images must hold real numbers, got dtype complex128"),
    ],
)
def test_bad_images(make, images, error, message):
    with pytest.raises(error, match=message):
        make(images)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "x"}, ValueError, "method must be 'threshold' or 'sample', got 'x'"),
        ({"threshold": 2}, ValueError, "threshold must be at most 1.0, got 2"),
        ({"threshold": np.nan}, ValueError, "threshold must be"),
        ({"max_value": 0}, ValueError, "max_value must be above 0, got 0"),
        ({"max_value": np.inf}, ValueError, "max_value must be finite"),
        ({"max_value": 10**400}, ValueError, "max_value must be finite"),
        ({"max_value": "1"}, TypeError, "max_value must be a number, got '1'"),
        ({"method": "sample", "rng": -1}, ValueError, "rng must not be a negative int, got -1"),
        ({"method": "sample", "rng": 1.5}, TypeError, "rng must be None, an int or .* got float"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        datasets.binarize([0.5], **options)


def test_epochs_do_not_depend_on_the_order_of_calls():
    grey = np.random.default_rng(0).random((20, 30))
    one, other = datasets.resampler(grey, rng=9), datasets.resampler(grey, rng=9)
    forward = [one.epoch(i) for i in range(4)]
    backward = [other.epoch(i) for i in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forward, backward)
    assert all((forward[0] != later).any() for later in forward[1:])
    assert (datasets.resampler(grey, rng=10).epoch(0) != forward[0]).any()


def test_epochs_average_to_the_intensities():
    images = datasets.resampler([[0, 51, 204, 255]] * 100, rng=1, max_value=255)
    mean = np.mean([images.epoch(i) for i in range(100)], axis=(0, 1))
    # 0.02 is five standard errors
    np.testing.assert_allclose(mean, [0, 0.2, 0.8, 1], atol=0.02)


def test_resampler_keeps_its_own_images_and_its_seed():
    grey = np.full((2, 40), 0.5)
    images = datasets.resampler(grey, rng=np.random.default_rng(1))
    before = images.epoch(3)
    grey[:] = 0
    np.testing.assert_array_equal(images.epoch(3), before)
    assert images.shape == before.shape == (2, 40)
    rebuilt = datasets.resampler(np.full((2, 40), 0.5), rng=images.seed)
    np.testing.assert_array_equal(rebuilt.epoch(3), before)


@pytest.mark.parametrize("index", [-1, 1.0, "1"])
def test_epoch_must_be_a_count(index):
    with pytest.raises(ValueError, match="index must be a whole number from 0"):
        datasets.resampler([[0.5]]).epoch(index)


def test_examples_run():
    failed, tried = doctest.testmod(binary)
    assert tried and not failed


def _marked(share, epochs, count=2000):
    """Return a resampler of dark images with two bright versions, of two pixels."""
    versions = np.zeros((2, count, 2))
    versions[0, :, 0] = versions[1, :, 1] = 255
    variants = datasets.Variants(versions, share, epochs, max_value=255)
    return datasets.resampler(np.zeros((count, 2)), 5, variants=variants)


def test_variants_stand_in_for_a_share_of_images():
    images = _marked(0.3, epochs=3)
    shares = np.mean([images.epoch(i) for i in range(3)], axis=(0, 1))
    # 6000 draws at 0.15: five standard errors
    np.testing.assert_allclose(shares, 0.15, atol=5 * (0.15 * 0.85 / 6000) ** 0.5)
    assert not images.epoch(3).any() and not images.epoch(100).any()
    assert (images.epoch(1) == _marked(0.3, epochs=3).epoch(1)).all()


def test_rows_of_a_resampler_keep_their_own_variants():
    images = _marked(1.0, epochs=1, count=4)
    images.variants.images[:, 2] = 0
    kept = np.array([False, True, True, False])
    assert images.rows(kept).epoch(0).sum(axis=1).tolist() == [1, 0]
    plain = datasets.resampler(np.eye(3), 1)
    assert plain.rows(np.array([2])).epoch(0).tolist() == [[0, 0, 1]]


@pytest.mark.parametrize(
    ("images", "given", "message"),
    [
        (np.zeros((1, 3, 2)), {}, r"variants.images must have shape \(versions, 2, 2\)"),
        (np.full((1, 2, 2), 2.0), {}, r"variants.images must lie in \[0, 1.0\]"),
        (np.full((1, 2, 2), np.nan), {}, r"variants.images must lie in"),
        (np.zeros((1, 2, 2)), {"max_value": 0}, "variants.max_value must be above 0, got 0"),
        (np.zeros((1, 2, 2)), {"share": 1.5}, "variants.share must be"),
        (np.zeros((1, 2, 2)), {"epochs": 0}, "variants.epochs must be"),
    ],
)
def test_variants_that_are_wrong_are_refused(images, given, message):
    variants = datasets.Variants(images, **{"share": 0.5, "epochs": 1} | given)
    with pytest.raises(ValueError, match=message):
        datasets.resampler(np.zeros((2, 2)), variants=variants)
