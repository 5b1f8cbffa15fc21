"""Figures of images and videos hold what they promise; looking at them is a person's part."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast import plots

pytest.importorskip("matplotlib")


def test_images_are_laid_out_in_a_grid():
    ax = plots.images(np.eye(6)[:5], (2, 3), columns=3)
    mosaic = ax.get_images()[0].get_array()
    assert mosaic.shape == (2 * 3 - 1, 3 * 4 - 1)
    assert mosaic[0, 0] == 1
    with pytest.raises(ValueError, match="array must have 9 columns, got 6"):
        plots.images(np.eye(6), (3, 3))


def test_strips_show_every_frame(tmp_path):
    videos = tf.datasets.bouncing_balls(2, 6, size=8, rng=0)
    figure = plots.strips({"one": videos[0], "two": videos[1, :4]}, (8, 8))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["one", "two"]
    shown = figure.axes[0].images[0].get_array()
    assert shown.shape == (8, 6 * 9 - 1)
    np.testing.assert_allclose(shown[:, 9:17], videos[0, 1].reshape(8, 8))
    figure.savefig(tmp_path / "strips.png")


def test_animation_holds_every_frame(tmp_path):
    image = pytest.importorskip("PIL.Image")
    video = tf.datasets.bouncing_balls(1, 6, size=8, rng=0)[0]
    plots.save_video(video, (8, 8), tmp_path / "v.gif", zoom=3)
    with image.open(tmp_path / "v.gif") as found:
        assert found.size == (24, 24)
        assert found.n_frames == 6
        first = np.asarray(found.convert("L"))[1::3, 1::3] / 255
    np.testing.assert_allclose(first, video[0].reshape(8, 8), atol=0.02)
    with pytest.raises(ValueError, match="lie in"):
        plots.save_video(video * 2, (8, 8), tmp_path / "w.gif")


def test_weights_are_those_of_the_strongest_units():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in ((9, 4), (4, 9), (9, 9), (4, 4))]
    arrays[0][:, 2] = arrays[1][2] = 0.0  # the weakest
    one_lag = tf.BernoulliTRBM(*arrays, 0, 0, 0, 0)
    arrays[1:] = [np.stack([each, 0 * each]) for each in arrays[1:]]
    two_lags, rbm = tf.BernoulliTRBM(*arrays, 0, 0, 0, 0), tf.BernoulliRBM(arrays[0], 0, 0)
    for model, dictionaries in (
        (one_lag, (arrays[0].T, arrays[1][0])),
        (two_lags, (arrays[0].T, arrays[1][0])),
        (rbm, (arrays[0].T,)),
    ):
        figure = plots.weights(model, (3, 3), n=3)
        first = int(sum((each**2).sum(axis=1) for each in dictionaries).argmax())
        for ax, each in zip(figure.axes, dictionaries, strict=True):
            image = np.asarray(ax.images[0].get_array())
            assert image.shape == (7, 7)
            expected = each[first].reshape(3, 3) / np.abs(each[first]).max()
            np.testing.assert_allclose(image[:3, :3], expected)
    with pytest.raises(TypeError, match="model must have weights, which int has not"):
        plots.weights(3, (3, 3))
