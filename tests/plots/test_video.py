"""Pictures of videos."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast import plots

pytest.importorskip("matplotlib")


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


def test_dictionaries_show_the_strongest_units():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in ((9, 4), (4, 9), (9, 9), (4, 4))]
    arrays[0][:, 2] = arrays[1][2] = 0.0  # the weakest
    model = tf.BernoulliTRBM(*arrays, 0, 0, 0, 0)
    figure = plots.dictionaries(model, (3, 3), n=3)
    shown = [np.asarray(ax.images[0].get_array()) for ax in figure.axes]
    assert len(shown) == 2 and shown[0].shape == (7, 7)
    sizes = np.linalg.norm(arrays[0], axis=0) ** 2 + np.linalg.norm(arrays[1], axis=1) ** 2
    first = int(sizes.argmax())
    for image, weights in zip(shown, (arrays[0].T, arrays[1]), strict=True):
        expected = weights[first].reshape(3, 3) / np.abs(weights[first]).max()
        np.testing.assert_allclose(image[:3, :3], expected)
