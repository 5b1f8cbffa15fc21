"""Grey images to binary ones: by a threshold and by draws."""

import numpy as np
import pytest

from trug_fast import datasets


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
def test_bad_images(images, error, message):
    with pytest.raises(error, match=message):
        datasets.binarize(images)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "x"}, ValueError, "method must be 'threshold' or 'sample', got 'x'"),
        ({"threshold": 2}, ValueError, "threshold must be at most 1.0, got 2"),
        ({"threshold": np.nan}, ValueError, "threshold must be"),
        ({"max_value": 0}, ValueError, "max_value must be positive, got 0"),
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
