"""Warped images keep what they should, and change as much as they should."""

import numpy as np
import pytest

from reproduction import datasets

NONE = {"turn": 0.0, "stretch": 0.0, "slant": 0.0, "bend": 0.0}


def _blobs(count=20, seed=0):
    """Return images of three soft dots each, far from the border."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(9, 18, (count, 3, 2, 1, 1))
    rows, columns = np.indices((28, 28))
    distance = (rows - place[:, :, 0]) ** 2 + (columns - place[:, :, 1]) ** 2
    return np.exp(-distance / 4).max(axis=1)


def _centres(images):
    rows, columns = np.indices(images.shape[-2:])
    total = images.sum(axis=(-2, -1))
    return np.stack([(rows * images).sum((-2, -1)), (columns * images).sum((-2, -1))]) / total


def test_nothing_changes_without_amounts():
    images = _blobs()
    np.testing.assert_allclose(datasets.warp(images, 2, **NONE, rng=0), [images] * 2, atol=1e-12)


@pytest.mark.parametrize("one", ["turn", "stretch", "slant"])
def test_centre_and_longer_side_stay(one):
    images = _blobs()
    (warped,) = datasets.warp(images, **NONE | {one: 0.2}, rng=1)
    assert np.abs(warped - images).max() > 0.2
    np.testing.assert_allclose(_centres(warped), _centres(images), atol=0.3)

    def side(image):
        return np.ptp(np.argwhere(image > 0.25 * image.max()), axis=0).max()

    sides = [[side(image) for image in each] for each in (images, warped)]
    assert np.abs(np.diff(sides, axis=0)).max() <= 2  # pixels


def test_a_turn_is_the_turn_of_the_image():
    rows, columns = np.indices((28, 28)) - 13.5
    bar = ((np.abs(rows) < 9) & (np.abs(columns) < 1.5)).astype(float)
    warped = datasets.warp(np.stack([bar] * 200), **NONE | {"turn": 0.2}, rng=2)[0]
    moments = [(warped * a * b).sum((1, 2)) for a, b in ((rows, rows), (columns, rows))]
    angle = np.arctan(moments[1] / moments[0])
    # 200 draws: the deviation within 5 / sqrt(400) of itself, the mean within five errors of zero
    assert abs(angle.std() / 0.2 - 1) < 0.25 and abs(angle.mean()) < 5 * 0.2 / 200**0.5


def test_bend_displaces_by_pixels():
    # An image of a slope: its change is the displacement times the slope.
    image = np.tile(np.linspace(0, 27, 28), (28, 1))
    warped = datasets.warp(np.stack([image] * 50), **NONE | {"bend": 0.5}, rng=3)[0]
    inner = (slice(None), slice(4, -4), slice(4, -4))
    assert 0.4 < (warped - image)[inner].std() < 0.6


def test_one_small_image_is_bent_as_many_are():
    # Over 8 pixels displacements are nearly one number each way, whose own deviation is no scale:
    # of such a normal number of deviation 0.5 none in 200 is beyond 3, but by a chance of 4e-7.
    image = np.zeros((1, 8, 8))
    image[0, 3:5, 3:5] = 1
    warped = np.stack(
        [datasets.warp(image, **NONE | {"bend": 0.5}, rng=k)[0, 0] for k in range(200)]
    )
    assert warped.sum((1, 2)).min() > 2
    rows = np.indices((8, 8))[0]
    moved = (warped * rows).sum((1, 2)) / warped.sum((1, 2)) - 3.5
    assert abs(moved.std() / 0.5 - 1) < 0.35 and abs(moved).max() < 3


def test_types_and_ranges_stay():
    whole = np.rint(_blobs() * 255).astype(np.uint8)
    warped = datasets.warp(whole, 2, rng=0)
    assert warped.dtype == np.uint8 and warped.shape == (2, *whole.shape)
    single = datasets.warp(_blobs().astype(np.float32), rng=0)
    assert single.dtype == np.float32 and single.min() >= 0 and single.max() <= 1
    assert not datasets.warp(np.zeros((2, 5, 5)), rng=0).any()


def test_the_seed_decides():
    images = _blobs()
    first = datasets.warp(images, rng=4)
    assert (datasets.warp(images, rng=4) == first).all()
    assert (datasets.warp(images, rng=5) != first).any()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"images": np.ones((2, 3))},
            ValueError,
            r"images must have shape \(rows, height, width\)",
        ),
        ({"images": [[[np.nan]]]}, ValueError, "images must be numbers from 0 to 1e"),
        ({"images": [[[-1.0]]]}, ValueError, "images must be numbers from 0 to 1e"),
        ({"n_copies": 0}, ValueError, "n_copies must be"),
        ({"images": [[[1e301]]]}, ValueError, "images must be numbers from 0 to 1e"),
        ({"turn": -1.0}, ValueError, "turn must be"),
        ({"stretch": 1000.0}, ValueError, "stretch must be at most 3.0, got 1000.0"),
        ({"bend": "much"}, TypeError, "bend must be"),
    ],
)
def test_what_is_wrong_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        datasets.warp(**{"images": np.ones((1, 4, 4))} | given)
