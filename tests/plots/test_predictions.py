"""Predictions have the intervals, fans of forecasts the quantiles that they promise."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast import plots

pytest.importorskip("matplotlib")

DRAWS = np.random.default_rng(0).normal(size=(50, 4, 3)).cumsum(axis=1)
AHEAD = tf.models.Forecast(DRAWS, np.zeros((30, 3)))


def test_a_fan_has_the_mean_and_a_band_for_each_level():
    ax = plots.fan(AHEAD, 1, levels=(0.5, 0.8), actual=DRAWS[0])
    seen, mean, came = ax.lines
    assert seen.get_xdata().tolist() == list(range(-11, 1))
    np.testing.assert_allclose(mean.get_ydata(), AHEAD.mean[:, 1])
    np.testing.assert_allclose(came.get_ydata(), DRAWS[0, :, 1])
    for band, ends in zip(ax.collections, ([0.1, 0.9], [0.25, 0.75]), strict=True):
        drawn = band.get_paths()[0].vertices[:, 1]
        found = AHEAD.quantiles(ends)[:, :, 1]
        np.testing.assert_allclose([drawn.min(), drawn.max()], [found.min(), found.max()])


@pytest.mark.parametrize(("channels", "panels"), [(None, 3), (2, 1), ([0, 2], 2)])
def test_channels_have_a_panel_each(channels, panels):
    figure = AHEAD.plot(channels)
    assert len(figure.axes) == panels
    figure.canvas.draw()
    assert len(tf.models.Forecast(DRAWS).plot(channels).axes) == panels


def test_bad_arguments():
    several = tf.models.Forecast(np.zeros((2, 5, 4, 3)), (None, None))
    for call, words in (
        (lambda: plots.fan(AHEAD, 3), "channels must be below 3"),
        (lambda: plots.fan(AHEAD, levels=(1.0,)), "levels must be below 1"),
        (lambda: plots.fan(AHEAD, actual=np.zeros((4, 2))), "actual must have 3 columns"),
        (lambda: AHEAD.plot([]), "channels must name visible units, got none"),
        (several.plot, "ahead must be of one sequence, got 2"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="ahead must have draws, which ndarray has not"):
        plots.forecast(DRAWS)


def test_predictions_and_their_intervals():
    y, mean, std = np.arange(4.0), np.arange(4.0) + [0, 0, 1, 3], np.ones(4)
    ax = plots.predictions(y, mean, std)
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), y)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), mean)
    ends = ax.collections[0].get_segments()[3][:, 1]
    np.testing.assert_allclose(ends, 6 + 1.6448536 * np.array([-1, 1]))
    assert "75 % in their 90 % interval" in ax.get_title()  # 3 is further than 1.64 away
    assert not plots.predictions(y, mean).collections
    assert len(plots.predictions(np.arange(900), np.arange(900)).lines[-1].get_xdata()) == 300


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.zeros((2, 2)), np.zeros(2)), "y must be a vector, got"),
        ((np.zeros(2), np.zeros(3)), "mean must be a vector of 2 entries"),
        ((np.zeros(2), np.zeros(2), np.zeros(3)), "std must be a vector of 2 entries"),
    ],
)
def test_what_is_no_prediction(given, words):
    with pytest.raises(ValueError, match=words):
        plots.predictions(*given)


def test_a_fan_leaves_the_title_of_axes_that_are_given():
    ax = plots.family().axes[0]
    before = ax.get_title()
    assert before and plots.fan(AHEAD, 1, ax).get_title() == before
